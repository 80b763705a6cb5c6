#include "ops/parsing/json_text.h"

#include <string.h>

bool json_refuse(const JsonText *json, const char *why, Status *status) {
  return status_invalid(status, "Error while parsing JSON: %s at byte %lld", why,
                        (long long)(json->at - json->begin));
}

char json_peek(JsonText *json) {
  while (json->at < json->end && strchr(" \t\r\n", *json->at)) json->at++;
  return json->at < json->end ? *json->at : '\0';
}

bool json_take(JsonText *json, char c) {
  bool is = json_peek(json) == c && json->at < json->end;
  json->at += is;
  return is;
}

bool json_expect(JsonText *json, char c, Status *status) {
  char why[] = "expected ' '";
  why[sizeof why - 3] = c;
  return json_take(json, c) || json_refuse(json, why, status);
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}

bool json_take_null(JsonText *json) {
  static const char kNull[] = "null";
  json_peek(json);
  size_t length = strlen(kNull), left = (size_t)(json->end - json->at);
  if (left < length || memcmp(json->at, kNull, length) != 0) return false;
  if (left > length && (is_letter(json->at[length]) || is_digit(json->at[length]))) return false;
  json->at += length;
  return true;
}

/* --- strings --- */

static bool hex_unit(JsonText *json, uint32_t *unit, Status *status) {
  *unit = 0;
  for (int i = 0; i < 4; i++) {
    char c = json->at < json->end ? *json->at : '\0';
    int digit = is_digit(c)              ? c - '0'
                : (c >= 'a' && c <= 'f') ? c - 'a' + 10
                : (c >= 'A' && c <= 'F') ? c - 'A' + 10
                                         : -1;
    if (digit < 0) return json_refuse(json, "invalid escape", status);
    *unit = *unit << 4 | (uint32_t)digit;
    json->at++;
  }
  return true;
}

static void append_code_point(uint32_t code, StrBuf *text) {
  if (code < 0x80) {
    strbuf_append_char(text, (char)code);
    return;
  }
  int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  static const uint32_t kFirst[] = {0, 0xC0, 0xE0, 0xF0};
  strbuf_append_char(text, (char)(kFirst[more] | code >> (6 * more)));
  while (more-- > 0) strbuf_append_char(text, (char)(0x80 | (code >> (6 * more) & 0x3F)));
}

/* Behind "\u": a pair of surrogates is one code point. */
static bool unicode_escape(JsonText *json, StrBuf *text, Status *status) {
  uint32_t code, low;
  TRY(hex_unit(json, &code, status));
  if (code >= 0xD800 && code < 0xDC00) {
    if (json->end - json->at < 2 || json->at[0] != '\\' || json->at[1] != 'u')
      return json_refuse(json, "a surrogate without its pair", status);
    json->at += 2;
    TRY(hex_unit(json, &low, status));
    if (low < 0xDC00 || low > 0xDFFF) return json_refuse(json, "a surrogate without its pair", status);
    code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
  } else if (code >= 0xDC00 && code < 0xE000) {
    return json_refuse(json, "a surrogate without its pair", status);
  }
  append_code_point(code, text);
  return true;
}

static bool escape(JsonText *json, StrBuf *text, Status *status) {
  static const char kEscapes[] = "\"\\/'bfnrt", kMeanings[] = "\"\\/'\b\f\n\r\t";
  if (json->at == json->end) return json_refuse(json, "unexpected EOF", status);
  char c = *json->at++;
  if (c == 'u') return unicode_escape(json, text, status);
  const char *found = c ? strchr(kEscapes, c) : NULL;
  if (!found) return json_refuse(json, "invalid escape", status);
  strbuf_append_char(text, kMeanings[found - kEscapes]);
  return true;
}

bool json_string(JsonText *json, StrBuf *text, Status *status) {
  char quote = json_peek(json);
  if (quote != '"' && quote != '\'') return json_refuse(json, "expected a string", status);
  json->at++;
  strbuf_clear(text);
  while (json->at < json->end && *json->at != quote) {
    char c = *json->at++;
    if (c == '\\') TRY(escape(json, text, status));
    else strbuf_append_char(text, c);
  }
  if (json->at == json->end) return json_refuse(json, "unexpected EOF", status);
  json->at++;
  return strbuf_ok(text, status);
}

bool json_key(JsonText *json, StrBuf *text, Status *status) {
  if (!is_letter(json_peek(json))) return json_string(json, text, status);
  strbuf_clear(text);
  while (json->at < json->end && (is_letter(*json->at) || is_digit(*json->at)))
    strbuf_append_char(text, *json->at++);
  return strbuf_ok(text, status);
}

/* --- numbers --- */

/* Takes digits; false if there are none. */
static bool take_digits(JsonText *json) {
  const char *begin = json->at;
  while (json->at < json->end && is_digit(*json->at)) json->at++;
  return json->at > begin;
}

static bool take_one_of(JsonText *json, const char *characters) {
  bool is = json->at < json->end && *json->at && strchr(characters, *json->at);
  json->at += is;
  return is;
}

bool json_number(JsonText *json, StrBuf *text, Status *status) {
  json_peek(json);
  const char *begin = json->at;
  bool ok = true;
  take_one_of(json, "-");
  ok = take_one_of(json, "0") || take_digits(json);
  if (ok && take_one_of(json, ".")) ok = take_digits(json);
  if (ok && take_one_of(json, "eE")) {
    take_one_of(json, "+-");
    ok = take_digits(json);
  }
  if (!ok) return json_refuse(json, "expected a number", status);
  strbuf_clear(text);
  strbuf_append_bytes(text, begin, (size_t)(json->at - begin));
  return strbuf_ok(text, status);
}

bool json_next(JsonText *json, char close, bool *more, Status *status) {
  bool comma = json_take(json, ',');
  *more = !json_take(json, close);
  return comma || !*more || json_refuse(json, "expected ','", status);
}
