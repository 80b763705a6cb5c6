/* Inverses of the circular and hyperbolic functions, by Kahan's formulas, whose sums do not cancel. */
#include "ops/support/complex_math.h"
#include "ops/support/element_types.h"

#define LN2 0x1.62e42fefa39efp-1
#define HALF_PI 0x1.921fb54442d18p+0

/* Above this magnitude, 1 is negligible against z^2. */
static bool is_large(double _Complex z) { return !(fabs(creal(z)) < 0x1p30 && fabs(cimag(z)) < 0x1p30); }
static bool has_nan(double _Complex z) { return isnan(creal(z)) || isnan(cimag(z)); }
static bool has_infinity(double _Complex z) { return isinf(creal(z)) || isinf(cimag(z)); }

/* log(2 |z|) of a large z, with the sign of `sign`. */
static double log_of_twice(double x, double y, double sign) {
  return copysign(isinf(x) || isinf(y) ? (double)INFINITY : complex_log_magnitude(x, y) + LN2, sign);
}

double _Complex complex_asin(double _Complex z) {
  double x = creal(z), y = cimag(z);
  if (has_nan(z) && !has_infinity(z)) return x == 0 ? complex_of(x, NAN) : complex_of(NAN, NAN);
  if (is_large(z)) return complex_of(atan2(x, fabs(y)), log_of_twice(x, y, y));
  double _Complex p = complex_sqrt(complex_of(1 - x, -y)), q = complex_sqrt(complex_of(1 + x, y));
  return complex_of(atan2(x, creal(p) * creal(q) - cimag(p) * cimag(q)),
                    asinh(creal(p) * cimag(q) - cimag(p) * creal(q)));
}

double _Complex complex_acos(double _Complex z) {
  double x = creal(z), y = cimag(z);
  if (has_nan(z) && !has_infinity(z)) return complex_of(x == 0 ? HALF_PI : (double)NAN, NAN);
  if (is_large(z)) return complex_of(atan2(fabs(y), x), log_of_twice(x, y, -y));
  double _Complex p = complex_sqrt(complex_of(1 - x, -y)), q = complex_sqrt(complex_of(1 + x, y));
  return complex_of(2 * atan2(creal(p), creal(q)), asinh(creal(q) * cimag(p) - cimag(q) * creal(p)));
}

double _Complex complex_acosh(double _Complex z) {
  if (has_nan(z) && !has_infinity(z)) return complex_of(NAN, NAN);
  double _Complex w = complex_acos(z);
  return complex_of(fabs(cimag(w)), copysign(creal(w), cimag(z)));
}

/* The real part of atanh: log(|1 + z|^2 / |1 - z|^2) / 4, with x >= 0. */
static double atanh_real(double x, double y) {
  double near = (1 - x) * (1 - x) + y * y;
  if (near < 0x1p-900) return (LN2 - log(fabs(y))) / 2; /* x is 1, because no other number is as close to 1 */
  return log1p(4 * x / near) / 4;
}
/* For large z: the real part of 1 / z. */
static double inverse_real(double x, double y) {
  double scale = fabs(x) > 0x1p1000 || fabs(y) > 0x1p1000 ? 0x1p-60 : 1;
  double size = hypot(x * scale, y * scale);
  return x * scale / size / size * scale;
}

double _Complex complex_atanh(double _Complex z) {
  double x = creal(z), y = cimag(z);
  if (isinf(y)) return complex_of(copysign(0, x), copysign(HALF_PI, y));
  if (isinf(x)) return complex_of(copysign(0, x), isnan(y) ? y : copysign(HALF_PI, y));
  if (has_nan(z)) return x == 0 ? z : complex_of(NAN, NAN);
  if (is_large(z)) return complex_of(inverse_real(x, y), copysign(HALF_PI, y) - inverse_real(y, x));
  double ax = fabs(x);
  return complex_of(copysign(atanh_real(ax, y), x), atan2(2 * y, (1 - ax) * (1 + ax) - y * y) / 2);
}

/* The circular inverses are the hyperbolic ones of i z, divided by i. */
static double _Complex turned(double _Complex z) { return complex_of(cimag(z), creal(z)); }
double _Complex complex_asinh(double _Complex z) { return turned(complex_asin(turned(z))); }
double _Complex complex_atan(double _Complex z) { return turned(complex_atanh(turned(z))); }
