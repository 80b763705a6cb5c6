#include "ops/math/incomplete_functions.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "ops/math/gamma_pairs.h"
#include "simd/double_math.h"

static const double kTwoPi = 6.28318530717958647693;

/* As many elements are sorted by the way in which they are computed, so that pairs go the same way. */
enum { BLOCK = 128 };

/* --- factors without cancellation --- */

/* log(Gamma(z + 1)) minus Stirling's approximation of it, for z >= SHIFT: the asymptotic series. */
enum { SHIFT = 10 };
SIMD_INLINE f64x2 stirling_series(f64x2 z) {
  static const double kTerms[] = {1.0 / 12,   -1.0 / 360,        1.0 / 1260, -1.0 / 1680,
                                  1.0 / 1188, -691.0 / 360360.0, 1.0 / 156};
  f64x2 inverse = f64x2_one() / z;
  return inverse * f64x2_polynomial(inverse * inverse, kTerms, 7);
}

/* The same for z > 0. Below SHIFT that of b = z + SHIFT, by log(Gamma(b + 1) / ((z + 1) ... b)). */
SIMD_INLINE f64x2 stirling_rest(f64x2 z) {
  f64x2 shift = f64x2_splat(SHIFT);
  i64x2 is_small = z < shift;
  f64x2 b = f64x2_select(is_small, z + shift, z), rest = stirling_series(b);
  if (!i64x2_any(is_small)) return rest;
  f64x2 near = f64x2_select(is_small, z, f64x2_one()), inverse = f64x2_one() / b, product = f64x2_one();
  for (int k = 1; k < SHIFT; k++) product *= (near + f64x2_splat(k)) * inverse;
  f64x2 shifted = (near + f64x2_half()) * f64x2_log(b / near) - shift - f64x2_log_normal(product);
  return f64x2_select(is_small, shifted + rest, rest);
}

/* u - log(1 + u) for |u| <= 0.4. With r = u / (2 + u), log(1 + u) = 2 (r + r^3 / 3 + ...), and u - 2 r = u r.
 */
SIMD_INLINE f64x2 minus_log1p(f64x2 u) {
  static const double kTerms[] = {1.0 / 3,  1.0 / 5,  1.0 / 7,  1.0 / 9,  1.0 / 11, 1.0 / 13, 1.0 / 15,
                                  1.0 / 17, 1.0 / 19, 1.0 / 21, 1.0 / 23, 1.0 / 25, 1.0 / 27};
  f64x2 r = u / (f64x2_two() + u), z = r * r;
  return u * r - f64x2_two() * r * z * f64x2_polynomial(z, kTerms, 13);
}

/* x log(x / y) + y - x, the deviance of x from y, both positive. */
SIMD_INLINE f64x2 deviance(f64x2 x, f64x2 y) {
  f64x2 difference = y - x;
  i64x2 is_far = f64x2_abs(difference) > f64x2_splat(0.4) * x;
  f64x2 near = x * minus_log1p(f64x2_select(is_far, f64x2_splat(0), difference) / x);
  if (!i64x2_any(is_far)) return near;
  return f64x2_select(is_far, x * f64x2_log(x / y) + difference, near);
}

/* log(Gamma(1 + a)) for 0 < a < 1, with a small relative error: minus log(1 + t) + t (1 - gamma) + t^2 p(t)
 * with t = a, or from 1/2 on t = a - 1, where log(1 + t) is that of the factor between Gamma(a) and Gamma(1 +
 * a). */
SIMD_INLINE f64x2 log_gamma_1p(f64x2 a) {
  static const double kP[] = {0.3224670334241132,      -0.06735230105319757,   0.0205808084277824,
                              -0.007385551028772451,   0.002890510330948212,   -0.001192753906217129,
                              0.0005096695170189249,   -0.0002231548954555143, 9.945765830564511e-05,
                              -4.4924427341476366e-05, 2.0505666577480598e-05, -9.452980554154246e-06,
                              4.384523790766056e-06,   -1.982453203335187e-06, 9.201763951024484e-07,
                              -5.729853964025217e-07,  2.78862660393239e-07};
  i64x2 is_large = a > f64x2_half();
  f64x2 t = f64x2_select(is_large, a - f64x2_one(), a);
  f64x2 most = f64x2_madd(t * t, f64x2_polynomial(t, kP, 17), t * f64x2_splat(0.42278433509846713));
  return f64x2_select(is_large, most, most - f64x2_log1p(a));
}

/* x^a exp(-x) / Gamma(a + 1). */
SIMD_NOINLINE f64x2 gamma_factor(f64x2 a, f64x2 x) {
  f64x2 one = f64x2_one();
  i64x2 is_small = a < one;
  f64x2 large = f64x2_select(is_small, one, a), small = f64x2_select(is_small, a, f64x2_half());
  f64x2 exponent = f64x2_select(is_small, small * f64x2_log(x) - x - log_gamma_1p(small),
                                f64x2_splat(0) - stirling_rest(large) - deviance(large, x));
  f64x2 width = f64x2_select(is_small, one, f64x2_sqrt(f64x2_splat(kTwoPi) * large));
  return f64x2_exp(exponent) / width;
}

/* --- numbers and their derivatives by a --- */

typedef struct Dual {
  f64x2 value, slope;
} Dual;

/* Rounds of a series or fraction: enough for parameters up to 1e10. */
enum { MAX_ROUNDS = 1000000, AT_ONCE = 4 };

/* P(a, x) / gamma_factor: the sum of x^n / ((a + 1) ... (a + n)). A lane that is done adds zeros. */
SIMD_INLINE Dual gamma_series(f64x2 a, f64x2 x, bool with_slope) {
  f64x2 zero = f64x2_splat(0), n = a, limit = f64x2_splat(1e-17);
  Dual term = {f64x2_one(), zero}, sum = term;
  for (int round = 0; round < MAX_ROUNDS; round += AT_ONCE) {
    for (int k = 0; k < AT_ONCE; k++) {
      n += f64x2_one();
      if (with_slope) {
        f64x2 inverse = f64x2_one() / n, ratio = x * inverse;
        term.slope = ratio * (term.slope - term.value * inverse);
        term.value *= ratio;
        sum.slope += term.slope;
      } else {
        term.value *= x / n;
      }
      sum.value += term.value;
    }
    i64x2 done = term.value <= limit * sum.value;
    if (with_slope) done &= f64x2_abs(term.slope) <= limit * f64x2_abs(sum.slope);
    if (!i64x2_any(~done)) break;
    term.value = f64x2_select(done, zero, term.value);
    if (with_slope) term.slope = f64x2_select(done, zero, term.slope);
  }
  return sum;
}

/* A power of 2 that is at most 1, and more than 1 / (4 x), for finite x >= 1. */
SIMD_INLINE f64x2 reciprocal_power(f64x2 x) {
  i64x2 exponent = (i64x2)f64x2_pmin(x, f64x2_splat(0x1p1022)) & i64x2_splat(INT64_C(2047) << 52);
  return (f64x2)(i64x2_splat(INT64_C(2046) << 52) - exponent);
}

/* The same number for a fraction that is the quotient of two: their common factor, which may depend on a,
 * does not matter. */
SIMD_INLINE Dual divided(Dual x, f64x2 scale, f64x2 slope, bool with_slope) {
  Dual y = {x.value * scale, x.slope};
  if (with_slope) y.slope = (x.slope - y.value * slope) * scale;
  return y;
}

/* (1 - P(a, x)) / (gamma_factor a): Legendre's continued fraction 1 / (x + 1 - a - (1 - a) / (x + 3 - a -
 * ...)), by the recurrence of its convergents. Numerators and denominators are multiplied by powers of about
 * 1 / x, and now and then divided by the denominator, so that they stay small. A lane that is done keeps its
 * result. */
SIMD_INLINE Dual gamma_fraction(f64x2 a, f64x2 x, bool with_slope) {
  f64x2 zero = f64x2_splat(0), one = f64x2_one(), unit = reciprocal_power(x), n = zero;
  f64x2 first = (x + one - a) * unit, scaled_a = a * unit;
  Dual p0 = {zero, zero}, p1 = {one, zero}, q0 = {one, zero}, q1 = {first, -unit}, result = p0;
  /* Roundings keep the convergents moving: a bound on the rounds that the fraction needs. */
  f64x2 rounds = f64x2_pmin(f64x2_splat(300) + f64x2_splat(30) * f64x2_sqrt(a), f64x2_splat(MAX_ROUNDS));
  i64x2 open = i64x2_splat(-1);
  for (f64x2 round = zero; i64x2_any(open); round += f64x2_splat(AT_ONCE)) {
    for (int k = 0; k < AT_ONCE; k++) {
      n += unit;
      f64x2 b = first + (n + n), c = n * (scaled_a - n);
      Dual p = {f64x2_madd(b, p1.value, c * p0.value), zero};
      Dual q = {f64x2_madd(b, q1.value, c * q0.value), zero};
      if (with_slope) {
        f64x2 dc = n * unit;
        p.slope = (b * p1.slope - unit * p1.value) + (c * p0.slope + dc * p0.value);
        q.slope = (b * q1.slope - unit * q1.value) + (c * q0.slope + dc * q0.value);
      }
      p0 = p1, p1 = p, q0 = q1, q1 = q;
    }
    f64x2 scale = one / q1.value, slope = q1.slope;
    p0 = divided(p0, scale, slope, with_slope), q0 = divided(q0, scale, slope, with_slope);
    p1 = divided(p1, scale, slope, with_slope), q1 = (Dual){one, zero};
    i64x2 still = f64x2_abs(p1.value - result.value) <= f64x2_splat(4e-16) * f64x2_abs(p1.value);
    result.value = f64x2_select(open, p1.value, result.value);
    if (with_slope) {
      still &= f64x2_abs(p1.slope - result.slope) <= f64x2_splat(1e-15) * f64x2_abs(p1.slope);
      result.slope = f64x2_select(open, p1.slope, result.slope);
    }
    open &= ~still & (round < rounds);
  }
  result.value *= unit;
  result.slope *= unit;
  return result;
}

/* (dP / da) / gamma_factor. */
SIMD_NOINLINE f64x2 slope_by_series(f64x2 a, f64x2 x) {
  Dual s = gamma_series(a, x, true);
  return s.slope + s.value * (f64x2_log(x) - gamma_digamma_of_positive(a + f64x2_one()));
}
SIMD_NOINLINE f64x2 slope_by_fraction(f64x2 a, f64x2 x) {
  Dual f = gamma_fraction(a, x, true);
  return -a * (f.slope + f.value * (f64x2_log(x) - gamma_digamma_of_positive(a)));
}

/* --- the incomplete gamma function --- */

static f64x2 by_series(f64x2 a, f64x2 x) { return gamma_factor(a, x) * gamma_series(a, x, false).value; }
static f64x2 by_fraction(f64x2 a, f64x2 x) {
  return gamma_factor(a, x) * a * gamma_fraction(a, x, false).value;
}
static f64x2 rest_of_series(f64x2 a, f64x2 x) { return f64x2_one() - by_series(a, x); }
static f64x2 rest_of_fraction(f64x2 a, f64x2 x) { return f64x2_one() - by_fraction(a, x); }

/* For large a and x near a: Temme's expansion with two terms. */
static double expansion(double a, double x, bool lower) {
  double mu = (x - a) / a;
  double eta = copysign(sqrt(2 * minus_log1p(f64x2_splat(mu))[0]), mu);
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
static f64x2 lower_by_expansion(f64x2 a, f64x2 x) {
  return (f64x2){expansion(a[0], x[0], true), expansion(a[1], x[1], true)};
}
static f64x2 upper_by_expansion(f64x2 a, f64x2 x) {
  return (f64x2){expansion(a[0], x[0], false), expansion(a[1], x[1], false)};
}

/* For small a and x, 1 - P loses digits: 1 - x^a / Gamma(a + 1) from functions of differences. */
static f64x2 upper_by_differences(f64x2 a, f64x2 x) {
  f64x2 power = f64x2_expm1(a * f64x2_log(x)), inverse = f64x2_expm1(-log_gamma_1p(a)), sum = f64x2_splat(0);
  f64x2 term = a;
  for (int n = 1; n < 20; n++) {
    term *= x * f64x2_splat(-1.0 / n);
    sum += term / (a + f64x2_splat(n));
  }
  f64x2 factor = power + inverse + power * inverse; /* x^a / Gamma(a + 1) - 1 */
  return -factor - (f64x2_one() + factor) * sum;
}

static f64x2 by_a_by_series(f64x2 a, f64x2 x) { return gamma_factor(a, x) * slope_by_series(a, x); }
static f64x2 by_a_by_fraction(f64x2 a, f64x2 x) { return gamma_factor(a, x) * slope_by_fraction(a, x); }
static f64x2 sample_by_series(f64x2 a, f64x2 x) { return -slope_by_series(a, x) * x / a; }
static f64x2 sample_by_fraction(f64x2 a, f64x2 x) { return -slope_by_fraction(a, x) * x / a; }

/* The ways to compute a function. Without a pair function for one of the first two, others serve. */
typedef enum Way { BY_EXPANSION, BY_DIFFERENCES, BY_SERIES, BY_FRACTION, WAYS } Way;
typedef struct GammaFunction {
  double at_zero, at_infinity; /* of x; that of infinite a is the first */
  f64x2 (*ways[WAYS])(f64x2 a, f64x2 x);
} GammaFunction;

static Way way_of(const GammaFunction *function, double a, double x) {
  if (function->ways[BY_EXPANSION] && a > 1e5 && fabs(x - a) < 0.02 * a) return BY_EXPANSION;
  if (function->ways[BY_DIFFERENCES] && x < 1 && a < 1) return BY_DIFFERENCES;
  return x < 1 || x < a ? BY_SERIES : BY_FRACTION;
}

static void run_block(int count, const double *a, const double *x, double *z, const GammaFunction *function) {
  double results[BLOCK];
  int places[WAYS][BLOCK], counts[WAYS] = {0};
  for (int i = 0; i < count; i++) {
    if (!(a[i] > 0 && x[i] >= 0)) {
      results[i] = (double)NAN;
    } else if (x[i] == 0 || isinf(a[i])) {
      results[i] = function->at_zero;
    } else if (isinf(x[i])) {
      results[i] = function->at_infinity;
    } else {
      Way way = way_of(function, a[i], x[i]);
      places[way][counts[way]++] = i;
    }
  }
  for (int way = 0; way < WAYS; way++) {
    for (int k = 0; k < counts[way]; k += 2) { /* the last one may be in a pair with itself */
      int i = places[way][k], j = places[way][k + 1 < counts[way] ? k + 1 : k];
      f64x2 pair = function->ways[way]((f64x2){a[i], a[j]}, (f64x2){x[i], x[j]});
      results[i] = pair[0];
      results[j] = pair[1];
    }
  }
  memcpy(z, results, sizeof *z * (size_t)count);
}

static void run(int64_t count, const double *a, const double *x, double *z, const GammaFunction *function) {
  for (; count > 0; count -= BLOCK, a += BLOCK, x += BLOCK, z += BLOCK)
    run_block(count < BLOCK ? (int)count : BLOCK, a, x, z, function);
}

void incomplete_gamma(int64_t count, const double *a, const double *x, double *z) {
  static const GammaFunction kLower = {0, 1, {lower_by_expansion, NULL, by_series, rest_of_fraction}};
  run(count, a, x, z, &kLower);
}
void incomplete_gamma_upper(int64_t count, const double *a, const double *x, double *z) {
  static const GammaFunction kUpper = {1,
                                       0,
                                       {upper_by_expansion, upper_by_differences, rest_of_series,
                                        by_fraction}};
  run(count, a, x, z, &kUpper);
}
void incomplete_gamma_by_a(int64_t count, const double *a, const double *x, double *z) {
  static const GammaFunction kByA = {0, 0, {NULL, NULL, by_a_by_series, by_a_by_fraction}};
  run(count, a, x, z, &kByA);
}
void incomplete_gamma_sample_by_a(int64_t count, const double *a, const double *sample, double *z) {
  static const GammaFunction kSampleByA = {0, 0, {NULL, NULL, sample_by_series, sample_by_fraction}};
  run(count, a, sample, z, &kSampleByA);
}

/* --- the incomplete beta function --- */

/* x^a y^b / B(a, b) for y = 1 - x. */
SIMD_INLINE f64x2 beta_factor(f64x2 a, f64x2 b, f64x2 x, f64x2 y) {
  f64x2 n = a + b, rest = stirling_rest(n) - stirling_rest(a) - stirling_rest(b);
  f64x2 exponent = rest - deviance(a, n * x) - deviance(b, n * y);
  return f64x2_exp(exponent) * f64x2_sqrt(a * b / (f64x2_splat(kTwoPi) * n));
}

/* I_x(a, b) a / beta_factor: the continued fraction 1 / (1 + d1 / (1 + d2 / ...)), by the recurrence of its
 * convergents. A lane that is done keeps its result. */
SIMD_INLINE f64x2 beta_fraction(f64x2 a, f64x2 b, f64x2 x) {
  f64x2 one = f64x2_one(), zero = f64x2_splat(0), m = zero, wide = a, result = zero;
  f64x2 p0 = one, p1 = one, q0 = one, q1 = one - (a + b) * x / (a + one);
  /* Roundings keep the convergents moving: a bound on the rounds that the fraction needs. */
  f64x2 rounds = f64x2_splat(300) + f64x2_splat(30) * f64x2_sqrt(f64x2_pmax(a, b));
  rounds = f64x2_pmin(rounds, f64x2_splat(MAX_ROUNDS));
  i64x2 open = i64x2_splat(-1);
  while (i64x2_any(open)) {
    for (int k = 0; k < AT_ONCE; k++) {
      m += one;
      wide += f64x2_two();
      f64x2 even = m * (b - m) * x / ((wide - one) * wide);
      f64x2 odd = (a + m) * (a + b + m) * x / (wide * (wide + one));
      f64x2 p = f64x2_madd(even, p0, p1), q = f64x2_madd(even, q0, q1);
      p0 = p, p1 = p - odd * p1;
      q0 = q, q1 = q - odd * q1;
    }
    f64x2 scale = one / q1, next = p1 * scale;
    i64x2 still = f64x2_abs(next - result) <= f64x2_splat(4e-16) * f64x2_abs(next);
    result = f64x2_select(open, next, result);
    p0 *= scale, p1 = next, q0 *= scale, q1 = one;
    open &= ~still & (m < rounds);
  }
  return result;
}

static f64x2 beta_pair(f64x2 a, f64x2 b, f64x2 x) {
  f64x2 one = f64x2_one(), y = one - x, factor = beta_factor(a, b, x, y);
  i64x2 is_upper = x >= (a + one) / (a + b + f64x2_two());
  f64x2 first = f64x2_select(is_upper, b, a);
  f64x2 part =
      factor * beta_fraction(first, f64x2_select(is_upper, a, b), f64x2_select(is_upper, y, x)) / first;
  return f64x2_select(is_upper, one - part, part);
}

/* Pairs of those that need to be computed. */
void incomplete_beta(int64_t count, const double *a, const double *b, const double *x, double *z) {
  int64_t places[2];
  int waiting = 0;
  for (int64_t i = 0; i < count; i++) {
    if (!(a[i] > 0 && b[i] > 0 && x[i] >= 0 && x[i] <= 1) || isinf(a[i]) || isinf(b[i])) z[i] = (double)NAN;
    else if (x[i] == 0 || x[i] == 1) z[i] = x[i];
    else places[waiting++] = i;
    if (waiting == 2 || (waiting == 1 && i == count - 1)) {
      int64_t j = places[0], k = places[waiting - 1];
      f64x2 pair = beta_pair((f64x2){a[j], a[k]}, (f64x2){b[j], b[k]}, (f64x2){x[j], x[k]});
      z[j] = pair[0];
      z[k] = pair[1];
      waiting = 0;
    }
  }
}
