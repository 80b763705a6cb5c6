#include "json.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "harness.h"

enum { MAX_DEPTH = 200 };

typedef struct Reader {
  Arena *arena;
  const char *at, *end;
} Reader;

static bool read_value(Reader *r, Json *value, int depth);

static void skip_blanks(Reader *r) {
  while (r->at < r->end && strchr(" \t\r\n", *r->at) && *r->at != '\0') r->at++;
}

static bool take(Reader *r, char c) {
  skip_blanks(r);
  if (r->at == r->end || *r->at != c) return false;
  r->at++;
  return true;
}

static bool take_word(Reader *r, const char *word) {
  size_t length = strlen(word);
  if ((size_t)(r->end - r->at) < length || memcmp(r->at, word, length) != 0) return false;
  r->at += length;
  return true;
}

static bool read_hex4(Reader *r, uint32_t *code) {
  *code = 0;
  for (int i = 0; i < 4; i++, r->at++) {
    if (r->at == r->end || !isxdigit((unsigned char)*r->at)) return false;
    int c = tolower((unsigned char)*r->at);
    *code = *code * 16 + (uint32_t)(c <= '9' ? c - '0' : c - 'a' + 10);
  }
  return true;
}

static char *put_utf8(char *out, uint32_t code) {
  if (code < 0x80) {
    *out++ = (char)code;
  } else if (code < 0x800) {
    *out++ = (char)(0xC0 | code >> 6);
    *out++ = (char)(0x80 | (code & 63));
  } else if (code < 0x10000) {
    *out++ = (char)(0xE0 | code >> 12);
    *out++ = (char)(0x80 | (code >> 6 & 63));
    *out++ = (char)(0x80 | (code & 63));
  } else {
    *out++ = (char)(0xF0 | code >> 18);
    *out++ = (char)(0x80 | (code >> 12 & 63));
    *out++ = (char)(0x80 | (code >> 6 & 63));
    *out++ = (char)(0x80 | (code & 63));
  }
  return out;
}

static bool read_escape(Reader *r, char **out) {
  static const char kNames[] = "\"\\/bfnrt", kValues[] = "\"\\/\b\f\n\r\t";
  if (r->at == r->end) return false;
  char c = *r->at++;
  const char *name = c == '\0' ? NULL : strchr(kNames, c);
  if (name) {
    *(*out)++ = kValues[name - kNames];
    return true;
  }
  uint32_t code, low;
  if (c != 'u' || !read_hex4(r, &code)) return false;
  if (code >= 0xD800 && code < 0xDC00) {
    if (!take_word(r, "\\u") || !read_hex4(r, &low) || low < 0xDC00 || low > 0xDFFF) return false;
    code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
  }
  *out = put_utf8(*out, code);
  return true;
}

/* The text after the opening quote. An escape is never shorter than its decoded form. */
static bool read_string(Reader *r, char **string) {
  const char *close = r->at;
  while (close < r->end && *close != '"') close += *close == '\\' ? 2 : 1;
  if (close >= r->end) return false;
  char *out = *string = arena_alloc(r->arena, close - r->at + 1);
  if (!out) return false;
  while (r->at < close) {
    if (*r->at != '\\') {
      *out++ = *r->at++;
    } else {
      r->at++;
      if (!read_escape(r, &out)) return false;
    }
  }
  r->at = close + 1;
  *out = '\0';
  return true;
}

static bool read_number(Reader *r, Json *value) {
  const char *start = r->at;
  bool whole = true;
  while (r->at < r->end && *r->at != '\0' && strchr("+-.eE0123456789", *r->at)) {
    whole = whole && !strchr(".eE", *r->at);
    r->at++;
  }
  char *text = arena_strndup(r->arena, start, (size_t)(r->at - start)), *stop;
  if (!text || text[0] == '\0' || text[0] == '+') return false;
  value->kind = JSON_NUMBER;
  value->number = strtod(text, &stop);
  if (*stop != '\0') return false;
  errno = 0;
  if (whole) value->integer = strtoll(text, NULL, 10);
  if (!whole || errno != 0) {
    value->integer = value->number >= -9e18 && value->number <= 9e18 ? (int64_t)value->number : 0;
  }
  return true;
}

/* The elements of an array, or the members of an object, up to the closing bracket. */
static bool read_items(Reader *r, Json *value, char close, int depth) {
  int capacity = 0;
  bool object = close == '}';
  if (take(r, close)) return true;
  do {
    if (value->count == capacity) {
      int grown = capacity == 0 ? 4 : 2 * capacity;
      value->items =
          arena_grow(r->arena, value->items, capacity * (int64_t)sizeof(Json), grown * (int64_t)sizeof(Json));
      value->keys = arena_grow(r->arena, value->keys, capacity * (int64_t)sizeof(char *),
                               grown * (int64_t)sizeof(char *));
      if (!value->items || !value->keys) return false;
      capacity = grown;
    }
    value->keys[value->count] = NULL;
    if (object && !(take(r, '"') && read_string(r, &value->keys[value->count]) && take(r, ':'))) return false;
    if (!read_value(r, &value->items[value->count], depth + 1)) return false;
    value->count++;
  } while (take(r, ','));
  return take(r, close);
}

static bool read_value(Reader *r, Json *value, int depth) {
  *value = (Json){.kind = JSON_NULL};
  if (depth > MAX_DEPTH) return false;
  skip_blanks(r);
  if (take(r, '{')) {
    value->kind = JSON_OBJECT;
    return read_items(r, value, '}', depth);
  }
  if (take(r, '[')) {
    value->kind = JSON_ARRAY;
    return read_items(r, value, ']', depth);
  }
  if (take(r, '"')) {
    value->kind = JSON_STRING;
    return read_string(r, &value->string);
  }
  if (take_word(r, "null")) return true;
  value->boolean = take_word(r, "true");
  if (value->boolean || take_word(r, "false")) {
    value->kind = JSON_BOOL;
    return true;
  }
  return read_number(r, value);
}

Json *json_parse(Arena *arena, const char *text, size_t length) {
  Reader r = {.arena = arena, .at = text, .end = text + length};
  Json *value = arena_alloc(arena, sizeof *value);
  if (!value || !read_value(&r, value, 0)) return NULL;
  skip_blanks(&r);
  return r.at == r.end ? value : NULL;
}

const Json *json_get(const Json *object, const char *key) {
  if (!object || object->kind != JSON_OBJECT) return NULL;
  for (int i = 0; i < object->count; i++) {
    if (strcmp(object->keys[i], key) == 0) return &object->items[i];
  }
  return NULL;
}

/* --- files --- */

static bool read_whole(const char *path, StrBuf *all) {
  FILE *file = fopen(path, "rb");
  if (!file) return false;
  char chunk[4096];
  for (size_t got; (got = fread(chunk, 1, sizeof chunk, file)) > 0;) strbuf_append_bytes(all, chunk, got);
  fclose(file);
  return !all->failed;
}

int json_read_lines(const char *path, void (*line)(const Json *value, void *argument), void *argument) {
  StrBuf all = {0};
  bool ok = read_whole(path, &all);
  int number = 0;
  for (const char *at = strbuf_text(&all); ok && *at;) {
    size_t length = strcspn(at, "\n");
    Arena *arena = arena_new();
    const Json *value = json_parse(arena, at, length);
    harness_context("%s, line %d", path, ++number);
    ok = value != NULL;
    if (ok) line(value, argument);
    arena_free(arena);
    at += length + (at[length] == '\n');
  }
  harness_context("%s", "");
  strbuf_free(&all);
  return ok ? number : -1;
}
