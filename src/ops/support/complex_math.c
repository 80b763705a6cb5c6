/* Roots, logarithms and exponentials of complex numbers. */
#include "ops/support/complex_math.h"

#include "ops/support/complex_quotient.h"
#include "ops/support/double_double.h"
#include "ops/support/element_types.h"

#define LN2 0x1.62e42fefa39efp-1

/* A number z of ordinary size, z * 4^*half_exponent. */
static double _Complex scaled(double _Complex z, int *half_exponent) {
  double size = fmax(fabs(creal(z)), fabs(cimag(z)));
  *half_exponent = size > 0x1p1000 ? 50 : size < 0x1p-900 ? -100 : 0;
  double factor = size > 0x1p1000 ? 0x1p-100 : size < 0x1p-900 ? 0x1p200 : 1;
  return complex_of(creal(z) * factor, cimag(z) * factor);
}

double _Complex complex_sqrt(double _Complex z) {
  if (!complex_is_finite(z) || z == 0) return csqrt(z);
  int exponent;
  double _Complex w = scaled(z, &exponent);
  double x = creal(w), y = cimag(z), large = ldexp(sqrt((fabs(x) + hypot(x, cimag(w))) / 2), exponent),
         small = fabs(y) / (2 * large);
  return x < 0 ? complex_of(small, copysign(large, y)) : complex_of(large, copysign(small, y));
}

double _Complex complex_rsqrt(double _Complex z) {
  if (!complex_is_finite(z) || z == 0) return 1 / csqrt(z);
  int exponent;
  frexp(fmax(fabs(creal(z)), fabs(cimag(z))), &exponent);
  exponent /= 2;
  double x = ldexp(creal(z), -2 * exponent), y = ldexp(cimag(z), -2 * exponent), scale = ldexp(1, -exponent),
         size = hypot(x, y);
  double large = sqrt((fabs(x) + size) / 2), small = fabs(y) * scale / (2 * large * size);
  large *= scale / size;
  return x < 0 ? complex_of(small, copysign(large, -y)) : complex_of(large, copysign(small, -y));
}

double _Complex complex_sign(double _Complex z) {
  if (!complex_is_finite(z) || z == 0) return z == 0 ? z : z / cabs(z);
  int exponent;
  double _Complex w = scaled(z, &exponent);
  double size = hypot(creal(w), cimag(w));
  return complex_of(creal(w) / size, cimag(w) / size);
}

double complex_log_magnitude(double x, double y) {
  double size = fmax(fabs(x), fabs(y));
  if (size > 0x1p1000) return log(hypot(x * 0x1p-4, y * 0x1p-4)) + 4 * LN2;
  if (size < 0x1p-900) return log(hypot(x * 0x1p200, y * 0x1p200)) - 200 * LN2;
  return log(hypot(x, y));
}

/* Near 1, the logarithm of the magnitude is half that of 1 + (x^2 + y^2 - 1), a small number whose terms
 * cancel. */
double _Complex complex_log(double _Complex z) {
  double x = creal(z), y = cimag(z), size = hypot(x, y), angle = atan2(y, x);
  if (!(size > 0.5 && size < 2))
    return complex_of(complex_is_finite(z) && z != 0 ? complex_log_magnitude(x, y) : log(size), angle);
  DoubleDouble x2 = dd_product(x, x), y2 = dd_product(y, y);
  double terms[] = {x2.low, y2.low, y2.high, x2.high, -1};
  return complex_of(log1p(dd_sum_of(terms, 5)) / 2, angle);
}

/* |1 + z|^2 - 1 = 2 x + x^2 + y^2. If x^2 is negligible against 2 x and y^2 is subnormal, everything is
 * scaled.
 */
static double square_of_one_more(double x, double y) {
  bool tiny = fabs(x) < 0x1p-540 && fabs(y) < 0x1p-270;
  double scale = tiny ? 0x1p300 : 1;
  DoubleDouble x2 = dd_product(tiny ? 0 : x, x), y2 = dd_product(y * scale, y * scale);
  double terms[] = {x2.low, y2.low, x2.high, y2.high, 2 * x * scale * scale};
  return dd_sum_of(terms, 5) / scale / scale;
}

double _Complex complex_log1p(double _Complex z) {
  double x = creal(z), y = cimag(z), size = hypot(1 + x, y);
  if (!(size > 0.5 && size < 2)) return complex_log(complex_of(1 + x, y));
  return complex_of(log1p(square_of_one_more(x, y)) / 2, atan2(y, 1 + x));
}

double complex_exp_times(double x, double factor, double scale) {
  enum { STEP = 500 };
  for (x = fmin(x, 2000); x > 700; x -= STEP) factor *= 0x1.45ba2a9f7e439p+721; /* e^500 */
  return exp(x) * (factor * scale);
}

double _Complex complex_exp(double _Complex z) {
  double x = creal(z), y = cimag(z);
  if (!complex_is_finite(z)) return cexp(z);
  return complex_of(complex_exp_times(x, cos(y), 1), y == 0 ? y : complex_exp_times(x, sin(y), 1));
}

/* e^x cos y - 1 where it is small: near 0 as (e^x - 1) cos y - 2 sin^2(y/2), even nearer as x - y^2/2. */
static double cancelled_expm1(double x, double y) {
  if (fabs(x) < 0x1p-540 && fabs(y) < 0x1p-270) {
    DoubleDouble y2 = dd_product(y * 0x1p300, y * 0x1p300);
    return dd_add((DoubleDouble){x * 0x1p600, 0}, dd_scale(y2, -0.5)).high * 0x1p-600;
  }
  DoubleDouble sine, cosine, half_sine, half_cosine;
  dd_sin_cos(y, &sine, &cosine);
  dd_sin_cos(y / 2, &half_sine, &half_cosine);
  if (fabs(x) > 1) return dd_add(dd_mul(dd_exp(x), cosine), (DoubleDouble){-1, 0}).high;
  return dd_add(dd_mul(dd_expm1(x), cosine), dd_scale(dd_mul(half_sine, half_sine), -2)).high;
}
/* e^x + cos y where it is small: near 0 as (e^x - 1) + 2 cos^2(y/2). */
static double cancelled_sum(double x, double y) {
  DoubleDouble sine, cosine;
  dd_sin_cos(fabs(x) > 1 ? y : y / 2, &sine, &cosine);
  if (fabs(x) > 1) return dd_add(dd_exp(x), cosine).high;
  return dd_add(dd_expm1(x), dd_scale(dd_mul(cosine, cosine), 2)).high;
}
static bool cancels(double a, double b, double x, double y) {
  return fabs(a + b) < fmax(fabs(a), fabs(b)) / 2 && fabs(x) <= 60 && fabs(y) <= DD_LARGEST_ANGLE;
}

double _Complex complex_expm1(double _Complex z) {
  double x = creal(z), y = cimag(z);
  if (!complex_is_finite(z)) {
    double _Complex e = cexp(z);
    return complex_of(creal(e) - 1, cimag(e));
  }
  if (x > 60) return complex_exp(z);
  double s = sin(y / 2), a = expm1(x) * cos(y), b = -2 * s * s;
  return complex_of(cancels(a, b, x, y) ? cancelled_expm1(x, y) : a + b, y == 0 ? y : exp(x) * sin(y));
}

/* (e^x + cos y + i sin y) / (2 cosh x + 2 cos y), arranged so that sums overflow or cancel only if
 * necessary. */
double _Complex complex_sigmoid(double _Complex z) {
  double x = creal(z), y = cimag(z), c = cos(y / 2), sum = expm1(x), twice = 2 * c * c;
  if (!complex_is_finite(z)) return 1 / (1 + cexp(-z));
  if (fabs(x) <= 1) {
    double half = sinh(x / 2), by = 4 * (half * half + c * c);
    double above = cancels(sum, twice, x, y) ? cancelled_sum(x, y) : sum + twice;
    return complex_of(above / by, sin(y) / by);
  }
  double e = exp(-fabs(x)), cosine = cos(y), by = 1 + e * (2 * cosine + e);
  if (x > 0) return complex_of((1 + e * cosine) / by, e * sin(y) / by);
  double above = cancels(e, cosine, x, y) ? cancelled_sum(x, y) : e + cosine;
  return complex_of(e * above / by, e * sin(y) / by);
}

double _Complex complex_sinh(double _Complex z) {
  double x = creal(z), y = cimag(z);
  if (!complex_is_finite(z)) return csinh(z);
  if (fabs(x) <= 700) return complex_of(sinh(x) * cos(y), y == 0 ? y : cosh(x) * sin(y));
  return complex_of(copysign(1, x) * complex_exp_times(fabs(x), cos(y), 0.5),
                    y == 0 ? y : complex_exp_times(fabs(x), sin(y), 0.5));
}
double _Complex complex_cosh(double _Complex z) {
  double x = creal(z), y = cimag(z);
  if (!complex_is_finite(z)) return ccosh(z);
  if (fabs(x) <= 700) return complex_of(cosh(x) * cos(y), x == 0 || y == 0 ? x * y : sinh(x) * sin(y));
  double sine = copysign(1, x) * sin(y);
  return complex_of(complex_exp_times(fabs(x), cos(y), 0.5),
                    y == 0 ? sine : complex_exp_times(fabs(x), sine, 0.5));
}

/* (sinh 2x + i sin 2y) / (2 sinh^2 x + 2 cos^2 y), for x >= 0, with m = e^(2x) - 1 in place of hyperbolic
 * functions. */
double _Complex complex_tanh(double _Complex z) {
  double x = creal(z), y = cimag(z);
  if (!complex_is_finite(z)) return ctanh(z);
  double c = cos(y), sine = fabs(y) < 0x1p1000 ? sin(2 * y) : 2 * sin(y) * c;
  if (fabs(x) > 22) return complex_of(copysign(1, x), y == 0 ? y : 2 * sine * exp(-2 * fabs(x)));
  double m = expm1(2 * fabs(x)), by = m * m + 4 * c * c * (m + 1);
  return complex_of(copysign(m * (m + 2) / by, x), y == 0 ? y : 2 * sine * (m + 1) / by);
}

/* Circular functions are hyperbolic functions of i z. */
static double _Complex turned(double _Complex z) { return complex_of(cimag(z), creal(z)); }
double _Complex complex_sin(double _Complex z) { return turned(complex_sinh(turned(z))); }
double _Complex complex_cos(double _Complex z) { return complex_cosh(complex_of(-cimag(z), creal(z))); }
double _Complex complex_tan(double _Complex z) { return turned(complex_tanh(turned(z))); }
