#include "base/str.h"

#include <stdarg.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text_format.h"

Str str_of(const char *text) { return (Str){text, strlen(text)}; }

bool str_equal(Str a, Str b) {
  return a.length == b.length && (a.length == 0 || memcmp(a.data, b.data, a.length) == 0);
}

bool str_equal_text(Str a, const char *text) { return str_equal(a, str_of(text)); }

bool str_starts_with(Str text, const char *prefix) {
  size_t length = strlen(prefix);
  return text.length >= length && memcmp(text.data, prefix, length) == 0;
}

bool text_starts_with(const char *text, const char *prefix) {
  return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Makes space for `more` bytes and the terminating NUL. */
static bool reserve(StrBuf *buffer, size_t more) {
  if (buffer->failed) return false;
  if (more >= PTRDIFF_MAX - 1 ||
      !mem_grow((void **)&buffer->data, &buffer->capacity, buffer->length + (int64_t)more + 1, 1)) {
    buffer->failed = true;
    return false;
  }
  return true;
}

void strbuf_append_bytes(StrBuf *buffer, const void *bytes, size_t length) {
  if (!reserve(buffer, length)) return;
  if (length > 0) memcpy(buffer->data + buffer->length, bytes, length);
  buffer->length += (int64_t)length;
  buffer->data[buffer->length] = '\0';
}

void strbuf_append(StrBuf *buffer, const char *text) { strbuf_append_bytes(buffer, text, strlen(text)); }

void strbuf_append_char(StrBuf *buffer, char c) { strbuf_append_bytes(buffer, &c, 1); }

void strbuf_printf(StrBuf *buffer, const char *format, ...) {
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  int64_t room = buffer->capacity - buffer->length;
  char *end = room > 0 ? buffer->data + buffer->length : NULL;
  int length = text_format_args(end, (size_t)room, format, args);
  if (length >= room && reserve(buffer, (size_t)length))
    text_format_args(buffer->data + buffer->length, (size_t)length + 1, format, again);
  if (length >= 0 && !buffer->failed) buffer->length += length;
  else if (end) *end = '\0';
  va_end(args);
  va_end(again);
}

void strbuf_append_c_escaped(StrBuf *buffer, const void *bytes, size_t length) {
  const unsigned char *p = bytes;
  for (size_t i = 0; i < length; i++) {
    switch (p[i]) {
      case '\n': strbuf_append(buffer, "\\n"); break;
      case '\r': strbuf_append(buffer, "\\r"); break;
      case '\t': strbuf_append(buffer, "\\t"); break;
      case '"': strbuf_append(buffer, "\\\""); break;
      case '\'': strbuf_append(buffer, "\\'"); break;
      case '\\': strbuf_append(buffer, "\\\\"); break;
      default:
        if (p[i] < 0x20 || p[i] >= 0x7f) {
          strbuf_printf(buffer, "\\%03o", p[i]);
        } else {
          strbuf_append_char(buffer, (char)p[i]);
        }
    }
  }
}

const char *strbuf_text(const StrBuf *buffer) { return buffer->data ? buffer->data : ""; }

bool strbuf_ok(const StrBuf *buffer, Status *status) { return !buffer->failed || status_oom(status, "text"); }

void strbuf_clear(StrBuf *buffer) {
  buffer->length = 0;
  if (buffer->data) buffer->data[0] = '\0';
}

void strbuf_free(StrBuf *buffer) {
  mem_free(buffer->data);
  *buffer = (StrBuf){0};
}
