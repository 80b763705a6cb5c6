/* Formats text as snprintf does. Most formats have only %s, %.*s, %c, %d, %u, with `l`, `ll` and `z`, which a
 * short function writes; others are left to the C library. Its formatter is a large function, for which an
 * engine that compiles a function when it is called first takes some milliseconds. */
#ifndef TFCORE_BASE_TEXT_FORMAT_H_
#define TFCORE_BASE_TEXT_FORMAT_H_

#include <stdarg.h>
#include <stddef.h>

#include "base/status.h"

/* Returns the length of the whole text, or -1 if it is longer than INT_MAX. Writes at most `size` bytes with
 * the NUL behind the text; `to` may be NULL if it is 0. */
int text_format(char *to, size_t size, const char *format, ...) PRINTF_LIKE(3, 4);
int text_format_args(char *to, size_t size, const char *format, va_list args) PRINTF_LIKE(3, 0);

#endif
