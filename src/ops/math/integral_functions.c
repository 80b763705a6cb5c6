#include "ops/math/integral_functions.h"

#include <math.h>

static const double kPi = 3.14159265358979323846, kEuler = 0.57721566490153286061;

/* --- Dawson's integral --- */

/* x (1 - 2 x^2 / 3 + 4 x^4 / 15 - ...). */
static double dawson_series(double x) {
  double term = x, sum = x;
  for (int k = 1; k < 30; k++) {
    term *= -2 * x * x / (2 * k + 1);
    sum += term;
  }
  return sum;
}

/* Rybicki's sum of exp(-(x - n h)^2) / n over odd n, whose error is about exp(-(pi / 2 h)^2). Terms n and -n
 * are added at once. */
static double dawson_sum(double x) {
  const double h = 0.2;
  double sum = 0;
  for (int n = 1; n * h < x + 7; n += 2) {
    double near = x - n * h, far = x + n * h;
    sum += (exp(-near * near) - exp(-far * far)) / n;
  }
  return sum / sqrt(kPi);
}

double integral_dawson(double x) {
  double size = fabs(x);
  if (size < 0.5) return dawson_series(x);
  if (size < 10) return copysign(dawson_sum(size), x);
  double z = 1 / (2 * x) / x, term = 1, sum = 1;
  for (int k = 1; k < 40 && fabs(term) > 1e-18; k++) {
    term *= (2 * k - 1) * z;
    sum += term;
  }
  return sum / (2 * x);
}

/* --- the exponential integral --- */

double integral_exponential(double x) {
  if (!(x > 0)) return x == 0 ? -(double)INFINITY : (double)NAN;
  if (x < 50) {
    double term = 1, sum = 0;
    for (int k = 1; k < 200; k++) {
      term *= x / k;
      sum += term / k;
      if (term < sum * 1e-18) break;
    }
    return kEuler + log(x) + sum;
  }
  if (isinf(x)) return x;
  double term = 1, sum = 1;
  for (int k = 1; k < 50 && term > 1e-18; k++) {
    term *= k / x;
    sum += term;
  }
  double half = exp(x / 2); /* exp(x) can overflow although exp(x) / x does not */
  return half / x * sum * half;
}

/* --- Fresnel's integrals --- */

/* C(x) = 1/2 + f sin(pi x^2 / 2) - g cos(pi x^2 / 2), S(x) = 1/2 - f cos(...) - g sin(...), where f and g are
 * integrals of exp(-pi x^2 s^2 / 2) / (1 + s^4), for g times s^2. The trapezoidal rule converges
 * geometrically. */
static void fresnel_integrals(double x, double *f, double *g) {
  double h = fmin(0.1, 0.38 / x), sum = 0.5, other = 0;
  for (int k = 1;; k++) {
    double s = k * h, square = s * s, exponent = kPi / 2 * x * x * square;
    if (exponent > 45) break;
    double term = exp(-exponent) / (1 + square * square);
    sum += term;
    other += square * term;
  }
  *f = sum * h * sqrt(2) / kPi;
  *g = other * h * sqrt(2) / kPi;
}

/* The asymptotic series, for x >= 5. */
static void fresnel_series(double x, double *f, double *g) {
  double z = 1 / (kPi * x) / x, term = 1, sums[2] = {0, 0};
  for (int k = 0; k < 40 && fabs(term) > 1e-18; k++) {
    sums[k % 2] += k / 2 % 2 == 0 ? term : -term;
    term *= (2 * k + 1) * z;
  }
  *f = sums[0] / (kPi * x);
  *g = sums[1] / (kPi * x);
}

/* pi x^2 / 2 modulo 2 pi, with the rounding error of x^2. */
static double quarter_turns(double x) {
  double square = x * x, rest = fma(x, x, -square);
  return kPi / 2 * (fmod(square, 4) + rest);
}

/* Powers of pi x^2 / 2 with alternating signs, in pairs; for C the even ones. */
static double fresnel_powers(double x, int first) {
  double z = kPi / 2 * x * x, term = first == 0 ? x : x * z, sum = 0;
  for (int k = first; k < 40; k += 2) {
    sum += term / (2 * k + 1);
    term *= -z * z / ((double)(k + 1) * (k + 2));
  }
  return sum;
}

static double fresnel(double x, int first) {
  double size = fabs(x), f, g;
  if (size < 1.2) return fresnel_powers(x, first);
  if (!(size < 1e15)) return x != x ? x : copysign(0.5, x); /* the waves are below half a unit */
  if (size < 5) {
    fresnel_integrals(size, &f, &g);
  } else {
    fresnel_series(size, &f, &g);
  }
  double angle = quarter_turns(size), c = cos(angle), s = sin(angle);
  return copysign(first == 0 ? 0.5 + f * s - g * c : 0.5 - f * c - g * s, x);
}

double integral_fresnel_cos(double x) { return fresnel(x, 0); }
double integral_fresnel_sin(double x) { return fresnel(x, 1); }

/* --- Spence's function --- */

/* For x from 1/2 to 2: the series of u = -log(x) with Bernoulli's numbers. */
static double spence_series(double x) {
  /* B(2k) / (2k + 1)! */
  static const double kTerms[] = {1.0 / 36,
                                  -1.0 / 3600,
                                  1.0 / 211680,
                                  -1.0 / 10886400,
                                  5.0 / 66 / 39916800,
                                  -691.0 / 2730 / 6227020800.0,
                                  7.0 / 6 / 1307674368000.0,
                                  -3617.0 / 510 / 355687428096000.0};
  double u = -log(x), z = u * u, sum = 0;
  for (int k = 7; k >= 0; k--) sum = z * (kTerms[k] + sum);
  return u + u * sum - z / 4;
}

/* For x up to 2. */
static double spence_up_to_2(double x) {
  if (x >= 0.5) return spence_series(x);
  return kPi * kPi / 6 - log(x) * log1p(-x) - spence_series(1 - x);
}

double integral_spence(double x) {
  if (!(x >= 0)) return (double)NAN;
  if (x == 0) return kPi * kPi / 6;
  if (isinf(x)) return -x;
  return x > 2 ? -log(x) * log(x) / 2 - spence_up_to_2(1 / x) : spence_up_to_2(x);
}
