#include "ops/math/bessel_functions.h"

#include <math.h>

static const double kPi = 3.14159265358979323846, kEuler = 0.57721566490153286061;

/* The power series of I_order; its terms are positive. */
static double i_series(int order, double x) {
  double z = x * x / 4, term = order == 0 ? 1 : x / 2, sum = term;
  for (int k = 1; term > sum * 1e-18; k++) {
    term *= z / ((double)k * (k + order));
    sum += term;
  }
  return sum;
}

/* Hankel's asymptotic series of exp(-x) I_order(x), for x >= 20. */
static double i_asymptotic(int order, double x) {
  double term = 1, sum = 1, mu = 4 * order * order;
  for (int k = 1; k < 40; k++) {
    double odd = 2 * k - 1;
    term *= -(mu - odd * odd) / (8 * k * x);
    sum += term;
    if (fabs(term) < 1e-18) break;
  }
  return sum / sqrt(2 * kPi * x);
}

static double i_scaled(int order, double x) {
  if (x < 20) return i_series(order, x) * exp(-x);
  return isinf(x) ? 0 : i_asymptotic(order, x);
}

double bessel_i0e(double x) { return i_scaled(0, fabs(x)); }
double bessel_i1e(double x) { return copysign(i_scaled(1, fabs(x)), x); }

/* exp(x) can overflow although its product with the scaled function does not. */
static double i_plain(int order, double x) {
  if (x < 20) return i_series(order, x);
  if (isinf(x)) return x;
  double half = exp(x / 2);
  return i_asymptotic(order, x) * half * half;
}

double bessel_i0(double x) { return i_plain(0, fabs(x)); }
double bessel_i1(double x) { return copysign(i_plain(1, fabs(x)), x); }

/* K_0 and K_1 for small x, by their series with a logarithm. */
static double k0_series(double x) {
  double z = x * x / 4, term = 1, harmonic = 0, sum = 0;
  for (int k = 1; k < 30; k++) {
    term *= z / ((double)k * k);
    harmonic += 1.0 / k;
    sum += term * harmonic;
  }
  return sum - (log(x / 2) + kEuler) * i_series(0, x);
}

static double k1_series(double x) {
  double z = x * x / 4, term = x / 2, harmonics = 1 - 2 * kEuler, sum = term * harmonics;
  for (int k = 1; k < 30; k++) {
    term *= z / ((double)k * (k + 1));
    harmonics += 1.0 / k + 1.0 / (k + 1);
    sum += term * harmonics;
  }
  return 1 / x + log(x / 2) * i_series(1, x) - sum / 2;
}

/* exp(x) K_order(x) is the integral of exp(-x (cosh t - 1)) cosh(order t) over t > 0, for which the
 * trapezoidal rule converges geometrically. */
static double k_integral(int order, double x) {
  double h = fmin(0.2, 0.6 / sqrt(x)), sum = 0.5;
  for (int k = 1;; k++) {
    double s = sinh(k * h / 2), exponent = 2 * x * s * s;
    if (!(exponent < 45)) break;
    sum += exp(-exponent) * (order == 0 ? 1 : 1 + 2 * s * s);
  }
  return sum * h;
}

static double k_scaled(int order, double x) {
  if (!(x > 0)) return x <= 0 ? (double)INFINITY : x;
  if (x < 1) return (order == 0 ? k0_series(x) : k1_series(x)) * exp(x);
  return isinf(x) ? 0 : k_integral(order, x);
}

static double k_plain(int order, double x) {
  if (x > 0 && x < 1) return order == 0 ? k0_series(x) : k1_series(x);
  return k_scaled(order, x) * exp(-x);
}

double bessel_y0(double x) { return x <= 0 ? -(double)INFINITY : y0(x); }
double bessel_y1(double x) { return x <= 0 ? -(double)INFINITY : y1(x); }

double bessel_k0(double x) { return k_plain(0, x); }
double bessel_k0e(double x) { return k_scaled(0, x); }
double bessel_k1(double x) { return k_plain(1, x); }
double bessel_k1e(double x) { return k_scaled(1, x); }
