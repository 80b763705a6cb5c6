/* The tokens of JSON, for ops/parsing/json_example.c. */
#ifndef TFCORE_OPS_PARSING_JSON_TEXT_H_
#define TFCORE_OPS_PARSING_JSON_TEXT_H_

#include "base/str.h"

typedef struct JsonText {
  const char *begin, *at, *end;
} JsonText;

/* "Error while parsing JSON: <why> at byte N". Returns false. */
bool json_refuse(const JsonText *json, const char *why, Status *status);
/* The next character behind white space; NUL at the end. */
char json_peek(JsonText *json);
/* Takes that character if it is `c`. */
bool json_take(JsonText *json, char c);
MUST_CHECK bool json_expect(JsonText *json, char c, Status *status);
/* Takes `null`, if it is next. */
bool json_take_null(JsonText *json);
/* Replaces `text` by a string in quotes, with its escapes resolved. */
MUST_CHECK bool json_string(JsonText *json, StrBuf *text, Status *status);
/* The same for a key: a string, or a word without quotes. */
MUST_CHECK bool json_key(JsonText *json, StrBuf *text, Status *status);
/* The same for the characters of a number. */
MUST_CHECK bool json_number(JsonText *json, StrBuf *text, Status *status);
/* After an element of a list that ends with `close`: takes the comma. *more is false at the end of the list,
 * which is taken. */
MUST_CHECK bool json_next(JsonText *json, char close, bool *more, Status *status);

#endif
