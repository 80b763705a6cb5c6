#include "ops/math/gamma_functions.h"

#include <math.h>

static const double kPi = 3.14159265358979323846;

/* From 10 on the asymptotic series; below, the recurrence psi(x) = psi(x + 1) - 1 / x. */
static double digamma_of_positive(double x) {
  /* Bernoulli numbers B(2k) / 2k */
  static const double kTerms[] = {1.0 / 12,  -1.0 / 120,     1.0 / 252, -1.0 / 240,
                                  1.0 / 132, -691.0 / 32760, 1.0 / 12};
  double sum = 0;
  for (; x < 10; x++) sum -= 1 / x;
  double z = 1 / (x * x), series = 0;
  for (int i = 6; i >= 0; i--) series = z * (kTerms[i] + series);
  return sum + (log(x) - 0.5 / x - series);
}

double gamma_digamma(double x) {
  if (x > 0 || x != x) return isinf(x) ? x : digamma_of_positive(x);
  double from_pole = x - round(x);
  if (!(fabs(from_pole) > 0)) return (double)NAN; /* at the poles, and at minus infinity */
  return digamma_of_positive(1 - x) - kPi / tan(kPi * from_pole);
}

/* Adds terms until Euler and Maclaurin's formula gives the remainder, which requires q >= 10 and q >= s, or
 * until that is negligible: with the term, it is at most 1 + q / (s - 1) times the term. */
static double zeta_of_positive(double s, double q) {
  /* B(2k) / (2k)! */
  static const double kTerms[] = {1.0 / 12,
                                  -1.0 / 720,
                                  1.0 / 30240,
                                  -1.0 / 1209600,
                                  1.0 / 47900160,
                                  -691.0 / 1307674368000.0,
                                  1.0 / 74724249600.0,
                                  -3617.0 / 10670622842880000.0,
                                  43867.0 / 5109094217170944000.0};
  double sum = 0;
  for (; q < 10 || q < s; q++) {
    double term = pow(q, -s);
    sum += term;
    if (!(term * (s - 1 + q) > sum * 1e-18 * (s - 1)) || isinf(sum)) return sum;
  }
  double power = pow(q, -s), factor = s * power / q;
  sum += q * power / (s - 1) + power / 2;
  for (int k = 0; k < 9; k++) {
    sum += kTerms[k] * factor;
    factor *= (s + 2 * k + 1) * (s + 2 * k + 2) / (q * q);
  }
  return sum;
}

double gamma_zeta(double s, double q) {
  if (!(s >= 1) || q != q) return (double)NAN;
  if (s == 1) return (double)INFINITY;
  if (q > 0) return isinf(q) ? 0 : zeta_of_positive(s, q);
  if (q == floor(q)) return (double)INFINITY;
  if (s != floor(s)) return (double)NAN;
  /* The terms with negative arguments are two sums with changed signs. */
  double below = zeta_of_positive(s, ceil(q) - q) - zeta_of_positive(s, 1 - q);
  return zeta_of_positive(s, q - floor(q)) + (fmod(s, 2) == 0 ? below : -below);
}

double gamma_polygamma(double n, double x) {
  if (!(n >= 0) || n != floor(n)) return (double)NAN;
  if (n == 0) return gamma_digamma(x);
  double magnitude = tgamma(n + 1) * gamma_zeta(n + 1, x);
  return fmod(n, 2) == 0 ? -magnitude : magnitude;
}
