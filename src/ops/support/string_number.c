#include "ops/support/string_number.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/decimal.h"

static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static Str trimmed(Str text) {
  while (text.length > 0 && is_space(text.data[0])) text.data++, text.length--;
  while (text.length > 0 && is_space(text.data[text.length - 1])) text.length--;
  return text;
}

/* The magnitude of decimal digits behind an optional sign. */
static bool parse_integer(Str text, bool *negative, uint64_t *magnitude) {
  size_t i = text.length > 0 && (text.data[0] == '-' || text.data[0] == '+');
  *negative = i > 0 && text.data[0] == '-';
  *magnitude = 0;
  if (i == text.length) return false;
  for (; i < text.length; i++) {
    char c = text.data[i];
    if (c < '0' || c > '9') return false;
    if (__builtin_mul_overflow(*magnitude, UINT64_C(10), magnitude) ||
        __builtin_add_overflow(*magnitude, (uint64_t)(c - '0'), magnitude))
      return false;
  }
  return true;
}

static bool put_integer(Str text, Tensor *out, int64_t i) {
  bool negative, is_signed = out->dtype == DT_INT32 || out->dtype == DT_INT64;
  uint64_t magnitude;
  int bits = 8 * (int)dtype_size(out->dtype);
  if (!parse_integer(text, &negative, &magnitude) || (negative && !is_signed)) return false;
  uint64_t most = is_signed ? (UINT64_MAX >> (65 - bits)) + negative : UINT64_MAX >> (64 - bits);
  if (magnitude > most) return false;
  uint64_t value = negative ? 0 - magnitude : magnitude;
  if (bits == 32) tensor_i32(out)[i] = (int32_t)(uint32_t)value;
  else tensor_i64(out)[i] = (int64_t)value;
  return true;
}

/* strtod takes what TensorFlow takes, but needs an end, and is slow in WebAssembly. */
static bool put_float(Str text, Tensor *out, int64_t i) {
  if (out->dtype == DT_FLOAT ? decimal_easy_float(text.data, text.length, &tensor_f32(out)[i])
                             : decimal_easy(text.data, text.length, &tensor_f64(out)[i]))
    return true;
  char local[128];
  char *copy = text.length < sizeof local ? local : mem_alloc((int64_t)text.length + 1), *end;
  if (!copy || text.length == 0) return false;
  memcpy(copy, text.data, text.length);
  copy[text.length] = '\0';
  if (out->dtype == DT_FLOAT) tensor_f32(out)[i] = strtof(copy, &end);
  else tensor_f64(out)[i] = strtod(copy, &end);
  bool whole = end == copy + text.length;
  if (copy != local) mem_free(copy);
  return whole;
}

bool string_to_element(Str text, Tensor *out, int64_t i) {
  Status status;
  if (out->dtype == DT_STRING) return tstring_set(&tensor_strings(out)[i], text.data, text.length, &status);
  text = trimmed(text);
  return dtype_is_floating((int)out->dtype) ? put_float(text, out, i) : put_integer(text, out, i);
}
