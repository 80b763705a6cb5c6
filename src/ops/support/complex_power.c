/* Powers of complex numbers: e^w with w = y log x. An absolute error of w is a relative error of the result,
 * so w is computed with about twice the precision of a double. The angle of x is kept as a number of quarter
 * turns and a remainder: an integer power of a number near an axis is near an axis too, at a distance given
 * by the remainder and not by the rounding of pi / 2. */
#include "ops/support/complex_math.h"
#include "ops/support/double_double.h"
#include "ops/support/element_types.h"

/* log z = magnitude + i (quarters * pi / 2 + angle), |angle| <= pi / 4 */
typedef struct WideLog {
  DoubleDouble magnitude, angle;
  int quarters;
} WideLog;

/* z rotated by quarter turns to be nearest to the positive real axis. On the negative one, the sign of 0
 * selects the direction. */
static double _Complex turned_back(double _Complex z, int *quarters) {
  double x = creal(z), y = cimag(z);
  if (fabs(x) >= fabs(y)) {
    *quarters = x > 0 ? 0 : signbit(y) ? -2 : 2;
    return x > 0 ? z : complex_of(-x, -y);
  }
  *quarters = y > 0 ? 1 : -1;
  return y > 0 ? complex_of(y, -x) : complex_of(-y, x);
}

/* `part` with its missing low digits. For a tiny part they are negligible, because its own error is smaller
 * than that of the other part. */
static DoubleDouble refined(double part, DoubleDouble rest) {
  if (fabs(part) < 0x1p-40) return (DoubleDouble){part, 0};
  return dd_add((DoubleDouble){part, 0}, rest);
}

/* One step of Newton's method: if l + i t approximates log z, z e^-(l + i t) - 1 is the correction. Large and
 * small numbers are scaled. */
static WideLog wide_log(double _Complex number) {
  static const DoubleDouble kLn2 = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
  WideLog log;
  double _Complex z = turned_back(number, &log.quarters);
  int exponent = 0;
  if (!(creal(z) > 0.5 && creal(z) < 2)) frexp(creal(z), &exponent);
  double x = ldexp(creal(z), -exponent), y = ldexp(cimag(z), -exponent);
  double l = creal(complex_log(complex_of(x, y))), t = atan2(y, x);
  DoubleDouble sine, cosine, shrink = dd_exp(-l), dx = {x, 0}, dy = {y, 0};
  dd_sin_cos(t, &sine, &cosine);
  DoubleDouble along = dd_add(dd_mul(dx, cosine), dd_mul(dy, sine));
  DoubleDouble across = dd_add(dd_mul(dy, cosine), dd_scale(dd_mul(dx, sine), -1));
  log.angle = refined(t, dd_mul(shrink, across));
  log.magnitude = refined(l, dd_add(dd_mul(shrink, along), (DoubleDouble){-1, 0}));
  if (exponent != 0) log.magnitude = dd_add(log.magnitude, dd_mul(kLn2, (DoubleDouble){exponent, 0}));
  return log;
}

/* y * log = growth + i (quarters * pi / 2 + angle), with quarters from -3 to 3 */
static WideLog wide_product(double _Complex y, const WideLog *log) {
  static const DoubleDouble kHalfPi = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};
  DoubleDouble re = {creal(y), 0}, im = {cimag(y), 0};
  double quarters = creal(y) * log->quarters, whole = nearbyint(quarters);
  DoubleDouble turn = dd_add(dd_mul(re, log->angle), dd_mul(im, log->magnitude));
  DoubleDouble growth = dd_add(dd_mul(re, log->magnitude), dd_scale(dd_mul(im, log->angle), -1));
  if (log->quarters != 0)
    growth = dd_add(growth, dd_mul(kHalfPi, (DoubleDouble){-cimag(y) * log->quarters, 0}));
  if (quarters != whole) turn = dd_add(turn, dd_mul(kHalfPi, (DoubleDouble){quarters - whole, 0}));
  return (WideLog){growth, turn, (int)fmod(whole, 4)};
}

/* e^w. The low parts are so small that a linear term is enough. */
static double _Complex wide_exp(const WideLog *w) {
  double c = cos(w->angle.high), s = sin(w->angle.high), more = 1 + w->magnitude.low;
  double cosine = (c - w->angle.low * s) * more, sine = (s + w->angle.low * c) * more;
  double x = complex_exp_times(w->magnitude.high, cosine, 1);
  double y = complex_exp_times(w->magnitude.high, sine, 1);
  switch (w->quarters & 3) {
    case 0: return complex_of(x, y);
    case 1: return complex_of(-y, x);
    case 2: return complex_of(-x, -y);
    default: return complex_of(y, -x);
  }
}

/* The range in which products with y's parts are exact. */
static bool is_moderate(double _Complex y) {
  double size = fmax(fabs(creal(y)), fabs(cimag(y)));
  return size > 0x1p-500 && size < 0x1p500;
}

/* Operands without a logarithm, or with parts that are not finite. */
static bool is_special(double _Complex x, double _Complex y) {
  return x == 0 || y == 0 || !complex_is_finite(x) || !complex_is_finite(y);
}
static double _Complex special_power(double _Complex x, double _Complex y) {
  if (y == 0) return 1;
  return x == 0 && creal(y) > 0 ? 0 : cpow(x, y);
}

static double _Complex power_of_doubles(double _Complex x, double _Complex y) {
  return complex_exp(y * complex_log(x));
}

float _Complex complex_powf(float _Complex x, float _Complex y) {
  return (float _Complex)(is_special(x, y) ? special_power(x, y) : power_of_doubles(x, y));
}

double _Complex complex_pow(double _Complex x, double _Complex y) {
  if (is_special(x, y)) return special_power(x, y);
  if (!is_moderate(y)) return power_of_doubles(x, y);
  WideLog log = wide_log(x), w = wide_product(y, &log);
  return wide_exp(&w);
}
