#include "ops/math/incomplete_functions.h"

#include <math.h>
#include <stdbool.h>

#include "ops/math/gamma_functions.h"

static const double kTwoPi = 6.28318530717958647693;

/* Rounds of a series or fraction: enough for parameters up to 1e10. */
enum { MAX_ROUNDS = 1000000 };

/* --- factors without cancellation --- */

/* log(Gamma(z + 1)) minus Stirling's approximation of it, for z > 0. */
static double stirling_rest(double z) {
  double rest = 0;
  for (; z < 15; z++) rest += (z + 0.5) * log1p(1 / z) - 1;
  double r = 1 / (z * z);
  return rest +
         (1.0 / 12 -
          r * (1.0 / 360 -
               r * (1.0 / 1260 - r * (1.0 / 1680 - r * (1.0 / 1188 - r * (691.0 / 360360 - r / 156)))))) /
             z;
}

/* u - log(1 + u) for |u| <= 0.4. */
static double minus_log1p(double u) {
  /* With r = u / (2 + u), log(1 + u) = 2 (r + r^3 / 3 + ...), and u - 2 r = u r. */
  double r = u / (2 + u), power = r, sum = 0;
  for (int k = 3; k < 60; k += 2) {
    power *= r * r;
    sum += power / k;
    if (fabs(power) < 1e-18 * fabs(sum)) break;
  }
  return u * r - 2 * sum;
}

/* x log(x / y) + y - x, the deviance of x from y. */
static double deviance(double x, double y) {
  if (fabs(y - x) > 0.4 * x) return x * log(x / y) + y - x;
  return x * minus_log1p((y - x) / x);
}

/* x^a exp(-x) / Gamma(a + 1). */
static double gamma_factor(double a, double x) {
  if (a < 1) return pow(x, a) * exp(-x) / tgamma(a + 1);
  return exp(-stirling_rest(a) - deviance(a, x)) / sqrt(kTwoPi * a);
}

/* --- a number and its derivative by a --- */

typedef struct Dual {
  double value, slope;
} Dual;

/* P(a, x) / gamma_factor: the sum of x^n / ((a + 1) ... (a + n)). */
static Dual gamma_series(double a, double x) {
  Dual term = {1, 0}, sum = {1, 0};
  for (int n = 1; n < MAX_ROUNDS; n++) {
    double ratio = x / (a + n);
    term.slope = ratio * (term.slope - term.value / (a + n));
    term.value *= ratio;
    sum.value += term.value;
    sum.slope += term.slope;
    if (term.value <= 1e-17 * sum.value && fabs(term.slope) <= 1e-17 * fabs(sum.slope)) break;
  }
  return sum;
}

/* (1 - P(a, x)) / (gamma_factor a): Legendre's continued fraction 1 / (x + 1 - a - (1 - a) / (x + 3 - a -
 * ...)), by the recurrence of its convergents. */
static Dual gamma_fraction(double a, double x) {
  Dual p0 = {0, 0}, p1 = {1, 0}, q0 = {1, 0}, q1 = {x + 1 - a, -1}, result = {1 / q1.value, 0};
  result.slope = 1 / (q1.value * q1.value);
  /* Roundings keep the convergents moving: a bound on the rounds that the fraction needs. */
  int rounds = (int)fmin(300 + 30 * sqrt(a), MAX_ROUNDS);
  for (int n = 1; n < rounds; n++) {
    double c = -n * (n - a), dc = n, b = x + 2 * n + 1 - a;
    Dual p = {b * p1.value + c * p0.value, b * p1.slope - p1.value + c * p0.slope + dc * p0.value};
    Dual q = {b * q1.value + c * q0.value, b * q1.slope - q1.value + c * q0.slope + dc * q0.value};
    double scale = 1 / q.value;
    Dual next = {p.value * scale, (p.slope - p.value * scale * q.slope) * scale};
    p0 = (Dual){p1.value * scale, p1.slope * scale}, q0 = (Dual){q1.value * scale, q1.slope * scale};
    p1 = (Dual){p.value * scale, p.slope * scale}, q1 = (Dual){1, q.slope * scale};
    bool still = fabs(next.value - result.value) <= 4e-16 * fabs(next.value) &&
                 fabs(next.slope - result.slope) <= 1e-15 * fabs(next.slope);
    result = next;
    if (still) break;
  }
  return result;
}

/* --- the incomplete gamma function --- */

static bool gamma_domain(double a, double x) { return a > 0 && x >= 0; }
static bool by_series(double a, double x) { return x < 1 || x < a; }

/* For large a and x near a: Temme's expansion with two terms. */
static bool by_expansion(double a, double x) { return a > 1e5 && fabs(x - a) < 0.02 * a; }
static double upper_expansion(double a, double x, bool lower) {
  double mu = (x - a) / a, eta = copysign(sqrt(2 * minus_log1p(mu)), mu);
  double c0 =
      -1.0 / 3 +
      eta *
          (1.0 / 12 -
           eta * (2.0 / 135 - eta * (1.0 / 864 + eta * (1.0 / 2835 - eta * (139.0 / 777600 - eta / 25515)))));
  double c1 = -1.0 / 540 - eta * (1.0 / 288 - eta * (25.0 / 12096 - eta * 223.0 / 1632960));
  double rest = exp(-a * eta * eta / 2) / sqrt(kTwoPi * a) * (c0 + c1 / a);
  double tail = erfc((lower ? -eta : eta) * sqrt(a / 2)) / 2;
  return lower ? tail - rest : tail + rest;
}

double incomplete_gamma(double a, double x) {
  if (!gamma_domain(a, x)) return (double)NAN;
  if (x == 0 || isinf(a)) return 0;
  if (isinf(x)) return 1;
  if (by_expansion(a, x)) return upper_expansion(a, x, true);
  if (by_series(a, x)) return gamma_factor(a, x) * gamma_series(a, x).value;
  return 1 - gamma_factor(a, x) * a * gamma_fraction(a, x).value;
}

/* log(Gamma(1 + a)) for 0 < a < 1, with a small relative error. */
static double log_gamma_1p(double a) {
  if (a > 0.5) return log(tgamma(1 + a));
  double sum = a * (1 - 0.57721566490153286061) - log1p(a), power = -a;
  for (int k = 2; k < 40; k++) {
    power *= -a;
    double term = power * gamma_zeta(k, 2) / k;
    sum += term;
    if (fabs(term) < 1e-18 * fabs(sum)) break;
  }
  return sum;
}

/* For small a and x, 1 - P loses digits: 1 - x^a / Gamma(a + 1) from functions of differences. */
static double upper_of_small(double a, double x) {
  double power = expm1(a * log(x)), inverse = expm1(-log_gamma_1p(a)), sum = 0, term = 1;
  for (int n = 1; n < 100 && fabs(term) > 1e-18; n++) {
    term *= -x / n;
    sum += term * a / (a + n);
  }
  double factor = power + inverse + power * inverse; /* x^a / Gamma(a + 1) - 1 */
  return -factor - (1 + factor) * sum;
}

double incomplete_gamma_upper(double a, double x) {
  if (!gamma_domain(a, x)) return (double)NAN;
  if (x == 0 || isinf(a)) return 1;
  if (isinf(x)) return 0;
  if (by_expansion(a, x)) return upper_expansion(a, x, false);
  if (x < 1 && a < 1) return upper_of_small(a, x);
  if (by_series(a, x)) return 1 - gamma_factor(a, x) * gamma_series(a, x).value;
  return gamma_factor(a, x) * a * gamma_fraction(a, x).value;
}

/* (dP / da) / gamma_factor. */
static double slope_by_a(double a, double x) {
  if (by_series(a, x)) {
    Dual s = gamma_series(a, x);
    return s.slope + s.value * (log(x) - gamma_digamma(a + 1));
  }
  Dual f = gamma_fraction(a, x);
  return -a * (f.slope + f.value * (log(x) - gamma_digamma(a)));
}

double incomplete_gamma_by_a(double a, double x) {
  if (!gamma_domain(a, x)) return (double)NAN;
  if (x == 0 || isinf(a) || isinf(x)) return 0;
  return gamma_factor(a, x) * slope_by_a(a, x);
}

double incomplete_gamma_sample_by_a(double a, double sample) {
  if (!gamma_domain(a, sample)) return (double)NAN;
  if (sample == 0 || isinf(a) || isinf(sample)) return 0;
  return -slope_by_a(a, sample) * sample / a;
}

/* --- the incomplete beta function --- */

/* x^a y^b / B(a, b) for y = 1 - x. */
static double beta_factor(double a, double b, double x, double y) {
  double n = a + b;
  double rest = stirling_rest(n) - stirling_rest(a) - stirling_rest(b);
  return exp(rest - deviance(a, n * x) - deviance(b, n * y)) * sqrt(a * b / (kTwoPi * n));
}

/* I_x(a, b) a / beta_factor: the continued fraction of Lentz' method. */
static double beta_fraction(double a, double b, double x) {
  double c = 1, d = 1 / (1 - (a + b) * x / (a + 1)), result = d;
  for (int m = 1; m < MAX_ROUNDS; m++) {
    double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / (1 + even * d);
    c = 1 + even / c;
    result *= d * c;
    double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / (1 + odd * d);
    c = 1 + odd / c;
    result *= d * c;
    if (fabs(d * c - 1) < 1e-16) break;
  }
  return result;
}

double incomplete_beta(double a, double b, double x) {
  if (!(a > 0 && b > 0 && x >= 0 && x <= 1) || isinf(a) || isinf(b)) return (double)NAN;
  if (x == 0 || x == 1) return x;
  double y = 1 - x, factor = beta_factor(a, b, x, y);
  if (x < (a + 1) / (a + b + 2)) return factor * beta_fraction(a, b, x) / a;
  return 1 - factor * beta_fraction(b, a, y) / b;
}
