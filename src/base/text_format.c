#include "base/text_format.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef enum Length { LENGTH_INT, LENGTH_LONG, LENGTH_LONG_LONG, LENGTH_SIZE } Length;

typedef struct Directive {
  bool has_precision; /* ".*" */
  Length length;
  char conversion;
} Directive;

/* Reads what follows a '%', and returns what is behind it; NULL if the C library has to format it. */
static const char *read_directive(const char *p, Directive *directive) {
  *directive = (Directive){0};
  if (p[0] == '.' && p[1] == '*') directive->has_precision = true, p += 2;
  if (p[0] == 'l' && p[1] == 'l') directive->length = LENGTH_LONG_LONG, p += 2;
  else if (p[0] == 'l') directive->length = LENGTH_LONG, p++;
  else if (p[0] == 'z') directive->length = LENGTH_SIZE, p++;
  directive->conversion = *p;
  bool is_number = *p == 'd' || *p == 'u', is_plain = directive->length == LENGTH_INT;
  bool is_read = *p == 's'
                     ? is_plain
                     : !directive->has_precision && (is_number || (is_plain && (*p == 'c' || *p == '%')));
  return is_read ? p + 1 : NULL;
}

static bool is_simple(const char *format) {
  Directive directive;
  while ((format = strchr(format, '%'))) {
    if (!(format = read_directive(format + 1, &directive))) return false;
  }
  return true;
}

typedef struct Out {
  char *to;
  size_t size, length; /* the length counts what does not fit as well */
} Out;

static void append(Out *out, const char *text, size_t length) {
  if (length > 0 && out->length < out->size) {
    size_t room = out->size - out->length;
    memcpy(out->to + out->length, text, length < room ? length : room);
  }
  out->length += length;
}

static void append_number(Out *out, uint64_t magnitude, bool is_negative) {
  char digits[24], *begin = digits + sizeof digits;
  do *--begin = (char)('0' + magnitude % 10);
  while (magnitude /= 10);
  if (is_negative) *--begin = '-';
  append(out, begin, (size_t)(digits + sizeof digits - begin));
}

static size_t bounded_length(const char *text, int most) {
  if (most == 0) return 0; /* the text may be NULL */
  if (most < 0) return strlen(text);
  const char *end = memchr(text, '\0', (size_t)most);
  return end ? (size_t)(end - text) : (size_t)most;
}

/* va_list is passed by a pointer to a structure, because it may be an array. */
typedef struct Args {
  va_list list;
} Args;

static int64_t next_signed(Args *args, Length length) {
  switch (length) {
    case LENGTH_LONG: return va_arg(args->list, long);
    case LENGTH_LONG_LONG: return va_arg(args->list, long long);
    case LENGTH_SIZE: return va_arg(args->list, ptrdiff_t);
    default: return va_arg(args->list, int);
  }
}

static uint64_t next_unsigned(Args *args, Length length) {
  switch (length) {
    case LENGTH_LONG: return va_arg(args->list, unsigned long);
    case LENGTH_LONG_LONG: return va_arg(args->list, unsigned long long);
    case LENGTH_SIZE: return va_arg(args->list, size_t);
    default: return va_arg(args->list, unsigned);
  }
}

static void append_argument(Out *out, const Directive *directive, Args *args) {
  switch (directive->conversion) {
    case 's': {
      int most = directive->has_precision ? va_arg(args->list, int) : -1;
      const char *text = va_arg(args->list, const char *);
      append(out, text, bounded_length(text, most));
      return;
    }
    case 'd': {
      int64_t value = next_signed(args, directive->length);
      append_number(out, value < 0 ? -(uint64_t)value : (uint64_t)value, value < 0);
      return;
    }
    case 'u': append_number(out, next_unsigned(args, directive->length), false); return;
    case 'c': append(out, &(char){(char)va_arg(args->list, int)}, 1); return;
    default: append(out, "%", 1);
  }
}

static void append_all(Out *out, const char *format, Args *args) {
  for (const char *sign; (sign = strchr(format, '%'));) {
    Directive directive;
    append(out, format, (size_t)(sign - format));
    format = read_directive(sign + 1, &directive);
    append_argument(out, &directive, args);
  }
  append(out, format, strlen(format));
}

int text_format_args(char *to, size_t size, const char *format, va_list args) {
  if (!is_simple(format)) return vsnprintf(to, size, format, args);
  Out out = {.to = to, .size = size};
  Args all;
  va_copy(all.list, args);
  append_all(&out, format, &all);
  va_end(all.list);
  if (size > 0) to[out.length < size ? out.length : size - 1] = '\0';
  return out.length <= INT_MAX ? (int)out.length : -1;
}

int text_format(char *to, size_t size, const char *format, ...) {
  va_list args;
  va_start(args, format);
  int length = text_format_args(to, size, format, args);
  va_end(args);
  return length;
}
