/* Quotients of complex numbers. Each part is within 4 units in the last place, even if its terms cancel;
 * nothing overflows or underflows unless the result does. Infinities, NaN and division by 0 are C's. */
#ifndef TFCORE_OPS_SUPPORT_COMPLEX_QUOTIENT_H_
#define TFCORE_OPS_SUPPORT_COMPLEX_QUOTIENT_H_

#include "ops/support/double_double.h"
#include "ops/support/element_types.h"

/* In double, products of floats are exact and cannot overflow or underflow. */
ALWAYS_INLINE float _Complex complex_divide_c64(float _Complex x, float _Complex y) {
  double a = crealf(x), b = cimagf(x), c = crealf(y), d = cimagf(y), by = c * c + d * d;
  double re = (a * c + b * d) / by, im = (b * c - a * d) / by;
  if (!(isfinite(re) && isfinite(im))) return x / y;
  return (float _Complex)complex_of(re, im);
}

/* a c + b d with a single rounding. */
ALWAYS_INLINE double complex_two_products(DoubleDouble a, DoubleDouble c, DoubleDouble b, DoubleDouble d) {
  double p = (a.high + a.low) * (c.high + c.low), q = (b.high + b.low) * (d.high + d.low);
  DoubleDouble sum = dd_sum(p, q);
  return sum.high + (sum.low + (dd_product_rest(a, c, p) + dd_product_rest(b, d, q)));
}
/* (a + b i) (c - d i) / by, for factors whose larger parts are between 2^300 and 2^500: nothing overflows,
 * and the low parts of products are normal numbers wherever they matter. */
ALWAYS_INLINE double _Complex complex_divide_by(double a, double b, double c, double d, double by) {
  DoubleDouble ah = dd_halves(a), bh = dd_halves(b), ch = dd_halves(c), dh = dd_halves(d),
               minus_ah = {-ah.high, -ah.low};
  return complex_of(complex_two_products(ah, ch, bh, dh) / by,
                    complex_two_products(bh, ch, minus_ah, dh) / by);
}
/* The same for any numbers. */
double _Complex complex_divide_scaled(double _Complex x, double _Complex y);

ALWAYS_INLINE double _Complex complex_divide_c128(double _Complex x, double _Complex y) {
  double a = creal(x), b = cimag(x), c = creal(y), d = cimag(y);
  double over = fmax(fabs(a), fabs(b)), under = fmax(fabs(c), fabs(d));
  if (!(over > 0x1p-100 && over < 0x1p100 && under > 0x1p-100 && under < 0x1p100))
    return complex_divide_scaled(x, y);
  double _Complex z = complex_divide_by(a * 0x1p400, b * 0x1p400, c * 0x1p400, d * 0x1p400, c * c + d * d);
  return complex_of(creal(z) * 0x1p-800, cimag(z) * 0x1p-800);
}

#endif
