/* JSON for test data: a whole text into a tree in an arena. */
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
  int64_t integer; /* of a number: exact when it was written without fraction and exponent and fits, else
                      `number` cut to int64 */
  char *string;    /* NUL-terminated UTF-8 */
  Json *items;     /* of an array or object, `count` of them */
  char **keys;     /* of an object, beside the items */
  int count;
  bool boolean;
};

/* NULL when the text is not one JSON value, or memory runs out. Values nest at most 200 deep. */
Json *json_parse(Arena *arena, const char *text, size_t length);
/* The value under a key; NULL when `object` is NULL, no object, or has no such key. */
const Json *json_get(const Json *object, const char *key);

#endif
