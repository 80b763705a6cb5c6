/* Elementary functions of two doubles at a time, as exact as results need to be that are rounded to floats:
 * their errors are a few units in the last place of doubles. */
#ifndef TFCORE_OPS_MATH_DOUBLE_PAIRS_H_
#define TFCORE_OPS_MATH_DOUBLE_PAIRS_H_

#include "simd/vector_math.h"

SIMD_INLINE int i64x2_any(i64x2 mask) { return (mask[0] | mask[1]) != 0; }

/* coefficients[0] + x * (coefficients[1] + x * ...), with count >= 2 a constant: of the even powers and of
 * the odd ones, which do not wait for each other. */
SIMD_INLINE f64x2 f64x2_polynomial(f64x2 x, const double *coefficients, int count) {
  f64x2 square = x * x, sum[2];
  sum[(count - 1) % 2] = f64x2_load_splat(&coefficients[count - 1]);
  sum[count % 2] = f64x2_load_splat(&coefficients[count - 2]);
  SIMD_UNROLL
  for (int i = count - 3; i >= 0; i--)
    sum[i % 2] = f64x2_madd(sum[i % 2], square, f64x2_load_splat(&coefficients[i]));
  return f64x2_madd(sum[1], x, sum[0]);
}

/* e log(2) + log(1 + f) for an integer e and 1 + f from sqrt(1/2) to sqrt(2): log(1 + f) = 2 atanh(s). */
SIMD_INLINE f64x2 f64x2_log_by_parts(f64x2 e, f64x2 f) {
  static const double kTerms[] = {2.0 / 3,  2.0 / 5,  2.0 / 7,  2.0 / 9,  2.0 / 11,
                                  2.0 / 13, 2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21};
  f64x2 s = f / (f + f64x2_splat(2)), z = s * s;
  f64x2 small = s * z * f64x2_polynomial(z, kTerms, 10) + e * f64x2_splat(0x1.ef35793c76730p-45);
  return e * f64x2_splat(0x1.62e42fefa3800p-1) + (s + s + small);
}

/* Of a normal x = 2^e (1 + f) the e and f for that. */
SIMD_INLINE f64x2 f64x2_log_exponent(f64x2 x, f64x2 *f) {
  const int64_t half_root = 0x3fe6a09e667f3bcd;
  i64x2 bits = (i64x2)x, exponent = (bits - i64x2_splat(half_root)) >> 52;
  f64x2 magic = f64x2_splat(0x1.8p52);
  *f = (f64x2)((u64x2)bits - ((u64x2)exponent << 52)) - f64x2_splat(1);
  return (f64x2)((i64x2)magic + exponent) - magic;
}

/* The logarithm of normal numbers. */
SIMD_INLINE f64x2 f64x2_log_of(f64x2 x) {
  f64x2 f, e = f64x2_log_exponent(x, &f);
  return f64x2_log_by_parts(e, f);
}

/* exp(x) for |x| <= 700: 2^n exp(r), and the series of exp(r). */
SIMD_INLINE f64x2 f64x2_exp_of(f64x2 x) {
  static const double kTerms[] =
      {1,          1,           1.0 / 2,      1.0 / 6,       1.0 / 24,       1.0 / 120,      1.0 / 720,
       1.0 / 5040, 1.0 / 40320, 1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600};
  f64x2 magic = f64x2_splat(0x1.8p52), shifted = x * f64x2_splat(0x1.71547652b82fep0) + magic;
  f64x2 n = shifted - magic;
  f64x2 r = (x - n * f64x2_splat(0x1.62e42fefa3800p-1)) - n * f64x2_splat(0x1.ef35793c76730p-45);
  f64x2 power = (f64x2)(((u64x2)shifted << 52) + (u64x2)f64x2_splat(1));
  return power * f64x2_polynomial(r, kTerms, 13);
}

/* sin(v) and cos(v) for |v| <= pi / 4. */
SIMD_INLINE void f64x2_sin_cos(f64x2 v, f64x2 *sine, f64x2 *cosine) {
  static const double kSine[] = {-1.0 / 6,          1.0 / 120,          -1.0 / 5040,           1.0 / 362880,
                                 -1.0 / 39916800.0, 1.0 / 6227020800.0, -1.0 / 1307674368000.0},
                      kCosine[] = {1,
                                   -1.0 / 2,
                                   1.0 / 24,
                                   -1.0 / 720,
                                   1.0 / 40320,
                                   -1.0 / 3628800,
                                   1.0 / 479001600.0,
                                   -1.0 / 87178291200.0,
                                   1.0 / 20922789888000.0};
  f64x2 z = v * v;
  *sine = v + v * z * f64x2_polynomial(z, kSine, 7);
  *cosine = f64x2_polynomial(z, kCosine, 9);
}

#endif
