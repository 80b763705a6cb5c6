/* Strings: borrowed views and a growing buffer. */
#ifndef TFCORE_BASE_STR_H_
#define TFCORE_BASE_STR_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* A borrowed text, not NUL-terminated. Print with "%.*s", (int)s.length, s.data. */
typedef struct Str {
  const char *data;
  size_t length;
} Str;

Str str_of(const char *text);
bool str_equal(Str a, Str b);
bool str_equal_text(Str a, const char *text);
bool str_starts_with(Str text, const char *prefix);
/* True when `text` (NUL-terminated) starts with `prefix`. */
bool text_starts_with(const char *text, const char *prefix);

/* A growing NUL-terminated text. Appends return nothing: after an allocation failure the buffer is marked as
 * failed, further appends do nothing, and `strbuf_ok` reports it at the end. Zero-initialise, free with
 * strbuf_free. */
typedef struct StrBuf {
  char *data; /* NULL until something is appended; then NUL-terminated */
  int64_t length;
  int64_t capacity;
  bool failed;
} StrBuf;

void strbuf_append(StrBuf *buffer, const char *text);
void strbuf_append_bytes(StrBuf *buffer, const void *bytes, size_t length);
void strbuf_append_char(StrBuf *buffer, char c);
void strbuf_printf(StrBuf *buffer, const char *format, ...) PRINTF_LIKE(2, 3);
/* Appends bytes with C escapes: \n \r \t \" \' \\ and \ooo for other bytes outside of printable ASCII (absl's
 * CEscape). */
void strbuf_append_c_escaped(StrBuf *buffer, const void *bytes, size_t length);
/* Never NULL: "" when empty. */
const char *strbuf_text(const StrBuf *buffer);
/* False, with RESOURCE_EXHAUSTED, when an append failed. */
MUST_CHECK bool strbuf_ok(const StrBuf *buffer, Status *status);
/* Empties the buffer but keeps its memory. */
void strbuf_clear(StrBuf *buffer);
void strbuf_free(StrBuf *buffer);

#endif
