#include "ops/sparse/crosses.h"

#include "ops/support/string_hash.h"

/* --- rows --- */

/* Finds the features of a row; rows are entered in order from 0. */
static void enter_row(CrossColumn *column, int64_t row) {
  if (row == 0) column->cursor = 0;
  column->chosen = 0;
  if (column->indices) {
    int64_t count = tensor_num_elements(column->values), at = column->cursor;
    column->begin = at;
    while (at < count) {
      int64_t own = tensor_i64(column->indices)[2 * at];
      if (column->loose ? own > row : own != row) break;
      at++;
    }
    column->cursor = at;
    column->length = at - column->begin;
  } else if (column->splits) {
    column->begin = tensor_int_at(column->splits, row);
    column->length = tensor_int_at(column->splits, row + 1) - column->begin;
  } else {
    column->begin = row * column->width;
    column->length = column->width;
  }
}

/* The number of combinations of a row. */
static bool count_row(Crossing *crossing, int64_t row, int64_t *count, Status *status) {
  bool fits = true;
  *count = 1;
  for (int i = 0; i < crossing->count; i++) {
    CrossColumn *column = &crossing->columns[i];
    enter_row(column, row);
    if (*count == 0 || column->length == 0) *count = 0;
    else fits = fits && !__builtin_mul_overflow(*count, column->length, count);
  }
  return fits || status_invalid(status, "The crosses of row %lld are too many", (long long)row);
}

bool crosses_count(Crossing *crossing, int64_t *total, int64_t *longest, Status *status) {
  *total = *longest = 0;
  for (int64_t row = 0; row < crossing->rows; row++) {
    int64_t count = 0;
    TRY(count_row(crossing, row, &count, status));
    if (count > *longest) *longest = count;
    if (__builtin_add_overflow(*total, count, total))
      return status_invalid(status, "The crosses are too many");
  }
  return true;
}

/* The last column changes first. */
static void next_combination(Crossing *crossing) {
  for (int i = crossing->count - 1; i >= 0; i--) {
    CrossColumn *column = &crossing->columns[i];
    if (++column->chosen < column->length) return;
    column->chosen = 0;
  }
}

/* --- features --- */

static Str string_at(const CrossColumn *column) {
  return tstring_view(&tensor_strings(column->values)[column->begin + column->chosen]);
}

static int64_t number_at(const CrossColumn *column) {
  return tensor_i64(column->values)[column->begin + column->chosen];
}

static uint64_t hash_of(const Crossing *crossing, const CrossColumn *column) {
  bool strong = crossing->mode == CROSS_STRONG_HASH;
  if (column->values->dtype == DT_STRING)
    return strong ? sip_hash(crossing->salt, string_at(column)) : fingerprint64(string_at(column));
  int64_t number = number_at(column);
  if (crossing->mode == CROSS_HASH || (!strong && !column->indices)) return (uint64_t)number;
  Str bytes = {(const char *)&number, 4}; /* TensorFlow takes the lower half */
  return strong ? sip_hash(crossing->salt, bytes) : fingerprint64(bytes);
}

static uint64_t shift_mix(uint64_t x) { return x ^ x >> 47; }

/* TensorFlow's FingerprintCat64. */
static uint64_t join_hashes(uint64_t a, uint64_t b) {
  const uint64_t factor = 0xc6a4a7935bd1e995;
  uint64_t joined = ((a ^ factor) ^ shift_mix(b * factor) * factor) * factor;
  return shift_mix(shift_mix(joined) * factor);
}

static int64_t hash_combination(const Crossing *crossing) {
  bool keyed = crossing->mode == CROSS_HASH;
  uint64_t hash = crossing->key;
  for (int i = 0; i < crossing->count; i++) {
    uint64_t own = hash_of(crossing, &crossing->columns[i]);
    hash = i == 0 && !keyed ? own : join_hashes(hash, own);
  }
  return (int64_t)(hash % (crossing->num_buckets > 0 ? (uint64_t)crossing->num_buckets : INT64_MAX));
}

static void print_combination(const Crossing *crossing, StrBuf *text) {
  strbuf_clear(text);
  for (int i = 0; i < crossing->count; i++) {
    const CrossColumn *column = &crossing->columns[i];
    if (i > 0) strbuf_append_bytes(text, crossing->separator.data, crossing->separator.length);
    if (column->values->dtype == DT_STRING) {
      Str feature = string_at(column);
      strbuf_append_bytes(text, feature.data, feature.length);
    } else {
      strbuf_printf(text, "%lld", (long long)number_at(column));
    }
  }
}

static bool write_combination(const Crossing *crossing, StrBuf *text, Tensor *values, int64_t at,
                              Status *status) {
  if (crossing->mode != CROSS_TEXT) {
    tensor_i64(values)[at] = hash_combination(crossing);
    return true;
  }
  print_combination(crossing, text);
  return strbuf_ok(text, status) &&
         tstring_set(&tensor_strings(values)[at], strbuf_text(text), (size_t)text->length, status);
}

bool crosses_write(Crossing *crossing, Tensor *values, NoteCrosses *note, void *arg, Status *status) {
  StrBuf text = {0};
  int64_t at = 0;
  bool ok = true;
  for (int64_t row = 0; ok && row < crossing->rows; row++) {
    int64_t count = 0;
    ok = count_row(crossing, row, &count, status);
    if (ok) note(arg, row, at, count);
    for (int64_t i = 0; ok && i < count; i++, at++) {
      ok = write_combination(crossing, &text, values, at, status);
      next_combination(crossing);
    }
  }
  strbuf_free(&text);
  return ok;
}
