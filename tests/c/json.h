/* JSON for test data: parses a whole text into a tree in an arena. */
#ifndef TFCORE_TESTS_JSON_H_
#define TFCORE_TESTS_JSON_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

typedef struct Json Json;
struct Json {
  enum { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT } kind;
  double number;
  int64_t integer; /* of a number: exact if it was written without fraction and exponent and fits, else
                    * `number` truncated to int64 */
  char *string;    /* NUL-terminated UTF-8 */
  Json *items;     /* of an array or object, `count` of them */
  char **keys;     /* of an object, parallel to the items */
  int count;
  bool boolean;
};

/* NULL when the text is not one JSON value, or memory runs out. Values nest at most 200 deep. */
Json *json_parse(Arena *arena, const char *text, size_t length);
/* The value of a key; NULL if `object` is NULL, not an object, or has no such key. */
const Json *json_get(const Json *object, const char *key);
/* Calls `line` for every line of a file of JSON values, each in an arena of its own, with `argument`. Tests
 * that fail name the line. The number of lines; -1 when the file cannot be read or a line is not JSON. */
int json_read_lines(const char *path, void (*line)(const Json *value, void *argument), void *argument);

#endif
