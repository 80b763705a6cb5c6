/* Arithmetic on dimensions. When the result equals an operand by definition, the operand is returned, so that
 * an unknown size keeps its identity; other results are new dimensions. */
#include "op/shape_inference.h"
#include "op/shape_internal.h"

/* False when an operand is NULL because memory ran out. */
static bool begin(DimHandle a, DimHandle b, DimHandle *out, Status *status) {
  *out = NULL;
  return (a && b) || shape_oom(status);
}

bool dim_with_value(InferenceContext *c, DimHandle d, int64_t value, DimHandle *out, Status *status) {
  TRY(begin(d, d, out, status));
  if (d->value == value) return dim_ok(d, out, status);
  if (!dim_known(d)) return dim_ok(dim_make(c, value), out, status);
  return status_invalid(status, "Dimension must be %lld but is %lld", (long long)value, (long long)d->value);
}

bool dim_merge(InferenceContext *c, DimHandle a, DimHandle b, DimHandle *out, Status *status) {
  (void)c;
  TRY(begin(a, b, out, status));
  if (a == b || !dim_known(b) || a->value == b->value) return dim_ok(a, out, status);
  if (!dim_known(a)) return dim_ok(b, out, status);
  return status_invalid(status, "Dimensions must be equal, but are %lld and %lld", (long long)a->value,
                        (long long)b->value);
}

bool dim_add(InferenceContext *c, DimHandle a, DimHandle b, DimHandle *out, Status *status) {
  TRY(begin(a, b, out, status));
  if (a->value == 0) return dim_ok(b, out, status);
  if (b->value == 0) return dim_ok(a, out, status);
  if (!dim_known(a) || !dim_known(b)) return dim_ok(dim_unknown(c), out, status);
  int64_t sum;
  if (__builtin_add_overflow(a->value, b->value, &sum)) {
    return status_invalid(status, "Dimension size overflow from adding %lld and %lld", (long long)a->value,
                          (long long)b->value);
  }
  return dim_ok(dim_make(c, sum), out, status);
}

bool dim_subtract(InferenceContext *c, DimHandle a, DimHandle b, DimHandle *out, Status *status) {
  TRY(begin(a, b, out, status));
  if (b->value == 0) return dim_ok(a, out, status);
  if (!dim_known(a) || !dim_known(b)) return dim_ok(dim_unknown(c), out, status);
  if (a->value < b->value) {
    return status_invalid(status, "Negative dimension size caused by subtracting %lld from %lld",
                          (long long)b->value, (long long)a->value);
  }
  return dim_ok(dim_make(c, a->value - b->value), out, status);
}

bool dim_multiply(InferenceContext *c, DimHandle a, DimHandle b, DimHandle *out, Status *status) {
  TRY(begin(a, b, out, status));
  if (a->value == 0 || b->value == 1) return dim_ok(a, out, status);
  if (b->value == 0 || a->value == 1) return dim_ok(b, out, status);
  if (!dim_known(a) || !dim_known(b)) return dim_ok(dim_unknown(c), out, status);
  int64_t product;
  if (__builtin_mul_overflow(a->value, b->value, &product)) {
    return status_invalid(status, "Negative dimension size caused by overflow when multiplying %lld and %lld",
                          (long long)a->value, (long long)b->value);
  }
  return dim_ok(dim_make(c, product), out, status);
}

bool dim_divide(InferenceContext *c, DimHandle a, int64_t divisor, bool evenly, DimHandle *out,
                Status *status) {
  TRY(begin(a, a, out, status));
  if (divisor == 1) return dim_ok(a, out, status);
  if (!dim_known(a)) return dim_ok(dim_unknown(c), out, status);
  if (divisor <= 0) return status_invalid(status, "Divisor must be positive but is %lld", (long long)divisor);
  if (evenly && a->value % divisor != 0) {
    return status_invalid(status, "Dimension size must be evenly divisible by %lld but is %lld",
                          (long long)divisor, (long long)a->value);
  }
  return dim_ok(dim_make(c, a->value / divisor), out, status);
}

/* The minimum with zero is zero, whatever the other size is. */
bool dim_min(InferenceContext *c, DimHandle a, DimHandle b, DimHandle *out, Status *status) {
  TRY(begin(a, b, out, status));
  if (a->value == 0) return dim_ok(a, out, status);
  if (b->value == 0) return dim_ok(b, out, status);
  if (!dim_known(a) || !dim_known(b)) return dim_ok(dim_unknown(c), out, status);
  return dim_ok(a->value <= b->value ? a : b, out, status);
}

bool dim_max(InferenceContext *c, DimHandle a, DimHandle b, DimHandle *out, Status *status) {
  TRY(begin(a, b, out, status));
  if (!dim_known(a) || !dim_known(b)) return dim_ok(dim_unknown(c), out, status);
  return dim_ok(a->value >= b->value ? a : b, out, status);
}
