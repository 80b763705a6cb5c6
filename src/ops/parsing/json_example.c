#include "ops/parsing/json_example.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "base/string_map.h"
#include "checkpoint/coding.h"
#include "ops/parsing/json_text.h"
#include "ops/parsing/wire.h"
#include "proto/proto.h"

enum { MOST_NESTED = 100 };

/* What is read: the text, and the text of the last token. */
typedef struct JsonReader {
  JsonText json;
  StrBuf token;
} JsonReader;

/* Reads the value of the member with that key, and appends its fields. False with status, also when there is
 * no such member. */
typedef bool ReadMember(JsonReader *reader, Str key, void *state, StrBuf *out, Status *status);

static void append_field(unsigned char tag, const void *bytes, size_t length, StrBuf *out) {
  strbuf_append_char(out, (char)tag);
  append_varint(out, length);
  strbuf_append_bytes(out, bytes, length);
}

static void append_message(unsigned char tag, const StrBuf *message, StrBuf *out) {
  append_field(tag, strbuf_text(message), (size_t)message->length, out);
}

static bool read_object(JsonReader *reader, ReadMember *read, void *state, StrBuf *out, Status *status) {
  StrBuf key = {0};
  bool ok = json_expect(&reader->json, '{', status), more = ok && !json_take(&reader->json, '}');
  while (ok && more)
    ok = json_key(&reader->json, &key, status) && json_expect(&reader->json, ':', status) &&
         read(reader, (Str){strbuf_text(&key), (size_t)key.length}, state, out, status) &&
         json_next(&reader->json, '}', &more, status);
  strbuf_free(&key);
  return ok;
}

/* --- values of features --- */

/* What a list holds, and what its values are in JSON. */
typedef struct ListKind {
  const char *name, *other_name;
  unsigned char tag;
  bool (*read)(JsonReader *reader, StrBuf *out, Status *status);
} ListKind;

static bool is_string(JsonReader *reader) {
  char c = json_peek(&reader->json);
  return c == '"' || c == '\'';
}

static bool read_number_token(JsonReader *reader, Status *status) {
  return is_string(reader) ? json_string(&reader->json, &reader->token, status)
                           : json_number(&reader->json, &reader->token, status);
}

/* Whether the token is what strtod or strtoll took from it; they also take white space before a number. */
static bool is_whole(const JsonReader *reader, const char *end) {
  const char *text = strbuf_text(&reader->token);
  return reader->token.length > 0 && end == text + reader->token.length && !strchr(" \t\r\n\v\f", *text);
}

static bool token_as_double(JsonReader *reader, double *value, Status *status) {
  char *end;
  if (decimal_easy(strbuf_text(&reader->token), (size_t)reader->token.length, value)) return true;
  *value = strtod(strbuf_text(&reader->token), &end);
  return is_whole(reader, end) || json_refuse(&reader->json, "invalid number", status);
}

static bool read_int(JsonReader *reader, StrBuf *out, Status *status) {
  TRY(read_number_token(reader, status));
  char *end;
  errno = 0;
  long long value = strtoll(strbuf_text(&reader->token), &end, 10);
  if (errno != 0 || !is_whole(reader, end)) {
    double number;
    TRY(token_as_double(reader, &number, status));
    if (!(number >= -0x1p63 && number < 0x1p63) || errno == ERANGE)
      return json_refuse(&reader->json, "JSON number out of range for int", status);
    value = (long long)number;
    if ((double)value != number) return json_refuse(&reader->json, "expected integer", status);
  }
  strbuf_append_char(out, WIRE_VARINT(1));
  append_varint(out, (uint64_t)value);
  return true;
}

static bool read_float(JsonReader *reader, StrBuf *out, Status *status) {
  double number;
  TRY(read_number_token(reader, status) && token_as_double(reader, &number, status));
  bool names_infinity =
      strstr(strbuf_text(&reader->token), "nf") || strstr(strbuf_text(&reader->token), "NF");
  if (fabs(number) > (double)FLT_MAX && !names_infinity)
    return json_refuse(&reader->json, "float out of range", status);
  float value = (float)number;
  strbuf_append_char(out, WIRE_FIXED32(1));
  strbuf_append_bytes(out, &value, sizeof value);
  return true;
}

/* The value of a digit of base64, in the usual alphabet or that of URLs; -1: none. */
static int base64_digit(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' || c == '-' ? 62 : c == '/' || c == '_' ? 63 : -1;
}

static bool decode_base64(const StrBuf *text, StrBuf *bytes) {
  int64_t length = text->length;
  if (length > 0 && length % 4 == 0) {
    for (int i = 0; i < 2 && text->data[length - 1] == '='; i++) length--;
  }
  uint32_t bits = 0;
  int count = 0;
  for (int64_t i = 0; i < length; i++) {
    int digit = base64_digit(text->data[i]);
    if (digit < 0) return false;
    bits = bits << 6 | (uint32_t)digit;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    strbuf_append_char(bytes, (char)(bits >> count & 0xFF));
  }
  return length % 4 != 1;
}

static bool read_bytes(JsonReader *reader, StrBuf *out, Status *status) {
  StrBuf bytes = {0};
  TRY(json_string(&reader->json, &reader->token, status));
  bool ok = decode_base64(&reader->token, &bytes) || json_refuse(&reader->json, "corrupt base64", status);
  if (ok) append_message(WIRE_BYTES(1), &bytes, out);
  ok = ok && strbuf_ok(&bytes, status);
  strbuf_free(&bytes);
  return ok;
}

static const ListKind kLists[] = {{"bytesList", "bytes_list", WIRE_BYTES(1), read_bytes},
                                  {"floatList", "float_list", WIRE_BYTES(2), read_float},
                                  {"int64List", "int64_list", WIRE_BYTES(3), read_int}};

/* null stands for 0 or an empty string. */
static void append_zero(const ListKind *kind, StrBuf *out) {
  static const char kZeros[sizeof(float)];
  if (kind->read == read_int) strbuf_append_bytes(out, (const char[]){WIRE_VARINT(1), 0}, 2);
  else if (kind->read == read_bytes) append_field(WIRE_BYTES(1), kZeros, 0, out);
  else strbuf_append_char(out, WIRE_FIXED32(1)), strbuf_append_bytes(out, kZeros, sizeof kZeros);
}

/* One value, or an array of values, which may contain arrays. */
static bool read_values(JsonReader *reader, const ListKind *kind, int depth, StrBuf *out, Status *status) {
  if (depth > MOST_NESTED) return json_refuse(&reader->json, "arrays are nested too deeply", status);
  if (json_take_null(&reader->json)) {
    if (depth > 0) append_zero(kind, out);
    return true;
  }
  if (!json_take(&reader->json, '[')) return kind->read(reader, out, status);
  for (bool more = !json_take(&reader->json, ']'); more;) {
    TRY(read_values(reader, kind, depth + 1, out, status));
    TRY(json_next(&reader->json, ']', &more, status));
  }
  return true;
}

/* --- messages --- */

static bool refuse_member(JsonReader *reader, Status *status) {
  return json_refuse(&reader->json, "no such field", status);
}

static bool list_member(JsonReader *reader, Str key, void *state, StrBuf *out, Status *status) {
  if (!str_equal_text(key, "value")) return refuse_member(reader, status);
  return read_values(reader, state, 0, out, status);
}

/* `state`: whether the feature has a list. */
static bool feature_member(JsonReader *reader, Str key, void *state, StrBuf *out, Status *status) {
  bool *has_list = state;
  for (int i = 0; i < 3; i++) {
    const ListKind *kind = &kLists[i];
    if (!str_equal_text(key, kind->name) && !str_equal_text(key, kind->other_name)) continue;
    if (json_take_null(&reader->json)) return true;
    if (*has_list) return json_refuse(&reader->json, "a second value of a feature", status);
    *has_list = true;
    StrBuf list = {0};
    bool ok = read_object(reader, list_member, (void *)kind, &list, status) && strbuf_ok(&list, status);
    if (ok) append_message(kind->tag, &list, out);
    strbuf_free(&list);
    return ok;
  }
  return refuse_member(reader, status);
}

/* The keys of the features. */
typedef struct Keys {
  Arena *arena;
  StringMap map;
} Keys;

static bool add_key(JsonReader *reader, Str key, Keys *keys, Status *status) {
  if (string_map_find_bytes(&keys->map, key.data, key.length))
    return json_refuse(&reader->json, "repeated map key", status);
  char *copy = arena_strndup(keys->arena, key.data, key.length);
  return copy ? string_map_set_bytes(&keys->map, copy, key.length, copy, status)
              : status_oom(status, "the features of an Example");
}

static bool entry_member(JsonReader *reader, Str key, void *state, StrBuf *out, Status *status) {
  StrBuf entry = {0}, feature = {0};
  bool has_list = false, is_null = json_take_null(&reader->json);
  bool ok = add_key(reader, key, state, status) &&
            (is_null || read_object(reader, feature_member, &has_list, &feature, status));
  append_field(WIRE_BYTES(1), key.data, key.length, &entry);
  if (!is_null) append_message(WIRE_BYTES(2), &feature, &entry);
  ok = ok && strbuf_ok(&feature, status) && strbuf_ok(&entry, status);
  if (ok) append_message(WIRE_BYTES(1), &entry, out);
  strbuf_free(&feature);
  strbuf_free(&entry);
  return ok;
}

static bool features_member(JsonReader *reader, Str key, void *state, StrBuf *out, Status *status) {
  if (!str_equal_text(key, "feature")) return refuse_member(reader, status);
  return json_take_null(&reader->json) || read_object(reader, entry_member, state, out, status);
}

static bool example_member(JsonReader *reader, Str key, void *state, StrBuf *out, Status *status) {
  if (!str_equal_text(key, "features")) return refuse_member(reader, status);
  if (json_take_null(&reader->json)) return true;
  Keys *keys = state;
  StrBuf features = {0};
  string_map_free(&keys->map);
  keys->map = (StringMap){0};
  bool ok = read_object(reader, features_member, keys, &features, status) && strbuf_ok(&features, status);
  if (ok) append_message(WIRE_BYTES(1), &features, out);
  strbuf_free(&features);
  return ok;
}

bool json_example_read(Str json, StrBuf *bytes, Status *status) {
  JsonReader reader = {.json = {json.data, json.data, json.data + json.length}};
  Keys keys = {.arena = arena_new()};
  if (!keys.arena) return status_oom(status, "an Example");
  bool ok = text_is_valid(json.data, json.length) || json_refuse(&reader.json, "invalid UTF-8", status);
  ok = ok && read_object(&reader, example_member, &keys, bytes, status);
  if (ok && (json_peek(&reader.json) != '\0'))
    ok = json_refuse(&reader.json, "extraneous characters after end of JSON object", status);
  strbuf_free(&reader.token);
  string_map_free(&keys.map);
  arena_free(keys.arena);
  return ok && strbuf_ok(bytes, status);
}
