/* The derivative of the logarithm of the gamma function, for pairs of doubles. */
#ifndef TFCORE_OPS_MATH_GAMMA_PAIRS_H_
#define TFCORE_OPS_MATH_GAMMA_PAIRS_H_

#include "simd/double_math.h"

/* x (x + 1) ... (x + GAMMA_SHIFT - 1), and its derivative: their quotient is the difference of the function
 * at x + GAMMA_SHIFT and at x. */
enum { GAMMA_SHIFT = 8 };
SIMD_INLINE f64x2 gamma_rising_product(f64x2 x, f64x2 *derivative) {
  f64x2 product = x, slope = f64x2_splat(1);
  SIMD_UNROLL
  for (int k = 1; k < GAMMA_SHIFT; k++) {
    f64x2 factor = x + f64x2_splat(k);
    slope = f64x2_madd(slope, factor, product);
    product *= factor;
  }
  *derivative = slope;
  return product;
}

/* For x > 0. The error is 1e-15, or less than 4 units in the last place of a larger result. */
SIMD_INLINE f64x2 gamma_digamma_of_positive(f64x2 x) {
  /* of the asymptotic series: Bernoulli numbers B(2k) / 2k */
  static const double kTerms[] = {1.0 / 12,  -1.0 / 120,     1.0 / 252, -1.0 / 240,
                                  1.0 / 132, -691.0 / 32760, 1.0 / 12};
  f64x2 one = f64x2_splat(1), slope;
  i64x2 small = x < f64x2_splat(GAMMA_SHIFT);
  f64x2 y = f64x2_select(small, x + f64x2_splat(GAMMA_SHIFT), x), inverse = one / y, z = inverse * inverse;
  f64x2 far = f64x2_log_normal(y) - (f64x2_splat(0.5) * inverse + z * f64x2_polynomial(z, kTerms, 7));
  if (!i64x2_any(small)) return far;
  f64x2 product = gamma_rising_product(f64x2_select(small, x, one), &slope);
  return f64x2_select(small, far - slope / product, far);
}

#endif
