#include "ops/support/complex_quotient.h"

/* The binary exponent of the larger part. */
static int exponent_of(double _Complex z) {
  int exponent;
  frexp(fmax(fabs(creal(z)), fabs(cimag(z))), &exponent);
  return exponent;
}

double _Complex complex_divide_scaled(double _Complex x, double _Complex y) {
  bool finite = isfinite(creal(x)) && isfinite(cimag(x)) && isfinite(creal(y)) && isfinite(cimag(y));
  if (!finite || x == 0 || y == 0) return x / y;
  enum { LARGE = 490 };
  int above = exponent_of(x), below = exponent_of(y);
  double c = ldexp(creal(y), -below), d = ldexp(cimag(y), -below);
  double _Complex z =
      complex_divide_by(ldexp(creal(x), LARGE - above), ldexp(cimag(x), LARGE - above),
                        ldexp(creal(y), LARGE - below), ldexp(cimag(y), LARGE - below), c * c + d * d);
  return complex_of(ldexp(creal(z), above - below - 2 * LARGE), ldexp(cimag(z), above - below - 2 * LARGE));
}
