/* Numbers as unevaluated sums of two doubles, with about 106 bits: for results that are small differences of
 * larger numbers. Products are exact as long as factors are at most 2^996 and results at least 2^-969. */
#ifndef TFCORE_OPS_SUPPORT_DOUBLE_DOUBLE_H_
#define TFCORE_OPS_SUPPORT_DOUBLE_DOUBLE_H_

#include <math.h>
#include <stdint.h>

typedef struct DoubleDouble {
  double high, low; /* |low| is at most half a unit in the last place of high */
} DoubleDouble;

/* The sum of two doubles, exactly. */
static inline DoubleDouble dd_sum(double a, double b) {
  double s = a + b, t = s - a;
  return (DoubleDouble){s, (a - (s - t)) + (b - t)};
}

/* Splits a double into halves, by Veltkamp: high + low is x, and products of halves are exact. */
static inline DoubleDouble dd_halves(double x) {
  double t = x * 134217729.0, high = t - (t - x);
  return (DoubleDouble){high, x - high};
}
/* The rounding error of p = a * b. */
static inline double dd_product_rest(DoubleDouble a, DoubleDouble b, double p) {
  return ((a.high * b.high - p) + a.high * b.low + a.low * b.high) + a.low * b.low;
}
/* The product of two doubles, exactly. */
static inline DoubleDouble dd_product(double a, double b) {
  double p = a * b;
  return (DoubleDouble){p, dd_product_rest(dd_halves(a), dd_halves(b), p)};
}

static inline DoubleDouble dd_add(DoubleDouble a, DoubleDouble b) {
  DoubleDouble s = dd_sum(a.high, b.high), t = dd_sum(a.low, b.low);
  s = dd_sum(s.high, s.low + t.high);
  return dd_sum(s.high, s.low + t.low);
}
static inline DoubleDouble dd_mul(DoubleDouble a, DoubleDouble b) {
  DoubleDouble p = dd_product(a.high, b.high);
  return dd_sum(p.high, p.low + (a.high * b.low + a.low * b.high));
}
static inline DoubleDouble dd_scale(DoubleDouble a, double power_of_two) {
  return (DoubleDouble){a.high * power_of_two, a.low * power_of_two};
}
static inline DoubleDouble dd_divide(DoubleDouble a, double by) {
  double q = a.high / by;
  DoubleDouble p = dd_product(q, by);
  return dd_sum(q, ((a.high - p.high) - p.low + a.low) / by);
}

/* The sum of `count` doubles with about one rounding error, however much cancels; the array is
 * overwritten. */
double dd_sum_of(double *terms, int count);
/* e^x - 1 for |x| <= 60, relatively exact near 0 too. */
DoubleDouble dd_expm1(double x);
/* e^x for |x| <= 60 */
DoubleDouble dd_exp(double x);
/* The range of dd_sin_cos: |y| is at most this. */
#define DD_LARGEST_ANGLE 33554432.0
/* sine and cosine, each relatively exact. */
void dd_sin_cos(double y, DoubleDouble *sine, DoubleDouble *cosine);

#endif
