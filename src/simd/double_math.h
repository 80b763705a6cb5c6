/* exp, log, sin, ... of pairs of doubles, of which the loops of vector_math_f64.c, circular_math_f64.c and
 * other files are made. Each function tells for which numbers it is; for others the result is unspecified,
 * but NaN stays NaN. Errors are in units in the last place (ulp).
 *
 * The coefficients are minimax for the relative error, found by Remez's exchange. Sums of a large and a small
 * term come last, so that the rounding of the small one does not matter.
 */
#ifndef TFCORE_SIMD_DOUBLE_MATH_H_
#define TFCORE_SIMD_DOUBLE_MATH_H_

#include "simd/wide.h"

/* See simd_table. */
SIMD_INLINE const double *simd_double_table(const double *numbers) {
  return (const double *)(const void *)simd_table((const float *)(const void *)numbers);
}
/* A constant for use in loops; `numbers` is a static table. */
SIMD_INLINE f64x2 f64x2_constant(const double *numbers, int i) {
  return f64x2_load_splat(&simd_double_table(numbers)[i]);
}

/* Among them 1.5 * 2^52: added to a number below 2^51, it rounds that to an integer, which is then in the low
 * bits. */
static const double kDoubleNumbers[] = {1.0, 2.0, 0.5, 0x1.8p52};
SIMD_INLINE f64x2 f64x2_one(void) { return f64x2_constant(kDoubleNumbers, 0); }
SIMD_INLINE f64x2 f64x2_two(void) { return f64x2_constant(kDoubleNumbers, 1); }
SIMD_INLINE f64x2 f64x2_half(void) { return f64x2_constant(kDoubleNumbers, 2); }
SIMD_INLINE f64x2 f64x2_rounder(void) { return f64x2_constant(kDoubleNumbers, 3); }

/* coefficients[0] + x * (coefficients[1] + x * ...), with count >= 4 a constant: the sum of four, or two, of
 * every fourth, or second, power, which do not wait for each other. */
SIMD_INLINE f64x2 f64x2_polynomial(f64x2 x, const double *coefficients, int count) {
  const int chains = count > 8 ? 4 : 2;
  const double *table = simd_double_table(coefficients);
  f64x2 square = x * x, power = chains == 4 ? square * square : square, sum[4];
  SIMD_UNROLL
  for (int i = count - 1; i >= 0; i--) {
    f64x2 coefficient = f64x2_load_splat(&table[i]);
    sum[i % chains] = i >= count - chains ? coefficient : f64x2_madd(sum[i % chains], power, coefficient);
  }
  f64x2 low = f64x2_madd(sum[1], x, sum[0]);
  return chains == 2 ? low : f64x2_madd(f64x2_madd(sum[3], x, sum[2]), square, low);
}

/* Replaces the lanes of the mask by results of the C library. */
SIMD_INLINE f64x2 f64x2_where(i64x2 mask, f64x2 x, f64x2 y, double (*function)(double)) {
  if (i64x2_any(mask))
    for (int i = 0; i < 2; i++) y[i] = mask[i] ? function(x[i]) : y[i];
  return y;
}

/* One of the functions in place, for numbers out of the usual range: a call keeps loops short. */
SIMD_INLINE f64x2 f64x2_by_call(f64x2 x, void (*function)(double *x)) {
  double values[2];
  f64x2_store(values, x);
  function(values);
  return f64x2_load(values);
}

/* ---- exponentials ---- */

/* x = n * log(2) + r with |r| <= log(2) / 2 and an integer n, for |x| < 2000: `shifted` has n in its low
 * bits, and `rest` is what r lacks. log(2) is split so that n times its first part is exact. */
SIMD_INLINE f64x2 f64x2_reduce_log2(f64x2 x, f64x2 *shifted, f64x2 *rest) {
  static const double kNumbers[] = {0x1.71547652b82fep0, -0x1.62e42fefa3800p-1, 0x1.ef35793c76730p-45};
  *shifted = f64x2_madd(x, f64x2_constant(kNumbers, 0), f64x2_rounder());
  f64x2 n = *shifted - f64x2_rounder();
  f64x2 near = f64x2_madd(n, f64x2_constant(kNumbers, 1), x), far = n * f64x2_constant(kNumbers, 2);
  f64x2 r = near - far;
  *rest = (near - r) - far;
  return r;
}

/* 2^n, or `one` as 2^-1 etc. times that. */
SIMD_INLINE f64x2 f64x2_power_of_2(f64x2 shifted, f64x2 one) {
  return (f64x2)(((u64x2)shifted << 52) + (u64x2)one);
}

/* exp(r + rest) - 1 - r for |r| <= log(2) / 2. */
SIMD_INLINE f64x2 f64x2_exp_tail(f64x2 r, f64x2 rest) {
  static const double kQ[] = {0.5,
                              0.1666666666666667,
                              0.041666666666666685,
                              0.008333333333326122,
                              0.0013888888888874374,
                              0.0001984126987486571,
                              2.4801587347396348e-05,
                              2.7557255343565575e-06,
                              2.7557252857509666e-07,
                              2.5105240400433684e-08,
                              2.092160795328538e-09};
  return f64x2_madd(r * r, f64x2_polynomial(r, kQ, 11), rest);
}

/* For x from -708 to 709. 1 ulp. */
SIMD_INLINE f64x2 f64x2_exp_near(f64x2 x) {
  f64x2 shifted, rest, r = f64x2_reduce_log2(x, &shifted, &rest),
                       power = f64x2_power_of_2(shifted, f64x2_one());
  return f64x2_madd(r + f64x2_exp_tail(r, rest), power, power);
}
/* For all x, in place. The power of 2 may be outside of the normal numbers, so it is two factors. */
void vector_exp_anywhere_f64(double *x);
SIMD_INLINE f64x2 f64x2_exp(f64x2 x) {
  static const double kFar[] = {708};
  return i64x2_any(f64x2_abs(x) > f64x2_constant(kFar, 0)) ? f64x2_by_call(x, vector_exp_anywhere_f64)
                                                           : f64x2_exp_near(x);
}

/* (exp(x) - 1) / 2; above 710 a number whose double is infinite. 1 ulp. */
SIMD_INLINE f64x2 f64x2_half_expm1(f64x2 x) {
  static const double kBounds[] = {-40, 710};
  f64x2 shifted, rest,
      clamped = f64x2_pmin(f64x2_pmax(x, f64x2_constant(kBounds, 0)), f64x2_constant(kBounds, 1));
  f64x2 r = f64x2_reduce_log2(clamped, &shifted, &rest), power = f64x2_power_of_2(shifted, f64x2_half());
  /* 2^(n - 1) (1 + r + tail) - 1/2 */
  f64x2 first = power - f64x2_half(), second = power * r, sum = first + second;
  return sum + f64x2_madd(power, f64x2_exp_tail(r, rest), (first - sum) + second);
}
/* 2 ulp. Half of a denormal number may be none; a zero keeps its sign. */
SIMD_INLINE f64x2 f64x2_expm1(f64x2 x) {
  static const double kNear[] = {0x1p-54};
  f64x2 half = f64x2_half_expm1(x);
  return f64x2_select(f64x2_abs(x) < f64x2_constant(kNear, 0), x, half + half);
}

/* ---- logarithms ---- */

/* Where x is positive, normal and finite. */
SIMD_INLINE i64x2 f64x2_is_normal(f64x2 x) {
  static const double kBounds[] = {0x1p-1022, (double)INFINITY};
  return (x >= f64x2_constant(kBounds, 0)) & (x < f64x2_constant(kBounds, 1));
}

/* For positive normal x = 2^e (1 + f), with 1 + f from sqrt(1/2) to sqrt(2). */
SIMD_INLINE f64x2 f64x2_log_exponent(f64x2 x, f64x2 *f) {
  /* sqrt(1/2); minus infinity, whose bits select the exponent; 1, whose bits make it positive; 2^52, and with
   * the bias */
  static const double kNumbers[] = {0x1.6a09e667f3bcdp-1, (double)-INFINITY, 1.0, 0x1p52, 0x1p52 + 1023};
  u64x2 moved = (u64x2)x - (u64x2)f64x2_constant(kNumbers, 0);
  *f = (f64x2)((u64x2)x - (moved & (u64x2)f64x2_constant(kNumbers, 1))) - f64x2_one();
  u64x2 biased = (moved + (u64x2)f64x2_constant(kNumbers, 2)) >> 52;
  return (f64x2)(biased | (u64x2)f64x2_constant(kNumbers, 3)) - f64x2_constant(kNumbers, 4);
}

/* e * log(2) + log(1 + f) + rest. With s = f / (2 + f), log(1 + f) = 2 atanh(s), and 2 s = f - s f. */
SIMD_INLINE f64x2 f64x2_log_by_parts(f64x2 e, f64x2 f, f64x2 rest) {
  static const double kQ[] = {0.666666666666667,  0.39999999999898495, 0.28571428626377754,
                              0.2222221107629864, 0.1818289296923667,  0.15331605196762482,
                              0.1461777137286035};
  static const double kNumbers[] = {0x1.62e42fefa3800p-1, 0x1.ef35793c76730p-45};
  f64x2 s = f / (f + f64x2_two()), z = s * s;
  f64x2 small = f64x2_madd(e, f64x2_constant(kNumbers, 1), rest) - s * (f - z * f64x2_polynomial(z, kQ, 7));
  return f64x2_madd(e, f64x2_constant(kNumbers, 0), f + small);
}

/* For positive normal x. 1 ulp. */
SIMD_INLINE f64x2 f64x2_log_normal(f64x2 x) {
  f64x2 f, e = f64x2_log_exponent(x, &f);
  return f64x2_log_by_parts(e, f, f64x2_splat(0));
}
/* For all x, in place. */
void vector_log_anywhere_f64(double *x);
SIMD_INLINE f64x2 f64x2_log(f64x2 x) {
  return i64x2_any(~f64x2_is_normal(x)) ? f64x2_by_call(x, vector_log_anywhere_f64) : f64x2_log_normal(x);
}

/* For x with a positive, normal and finite u = 1 + x. The rounding error of u, divided by u, corrects log(u).
 * 1 ulp. */
SIMD_INLINE f64x2 f64x2_log1p_of_sum(f64x2 x, f64x2 u) {
  f64x2 f, e = f64x2_log_exponent(u, &f);
  return f64x2_log_by_parts(e, f, (x - (u - f64x2_one())) / u);
}
SIMD_INLINE f64x2 f64x2_log1p(f64x2 x) {
  f64x2 u = x + f64x2_one(), zero = f64x2_splat(0), y;
  i64x2 known = f64x2_is_normal(u);
  if (!i64x2_any(~known)) {
    y = f64x2_log1p_of_sum(x, u);
  } else {
    y = f64x2_log1p_of_sum(f64x2_select(known, x, zero), f64x2_select(known, u, f64x2_one()));
    y = f64x2_select(known, y, f64x2_by_call(u, vector_log_anywhere_f64));
  }
  return f64x2_select(x == zero, x, y);
}

/* ---- circular functions ---- */

/* x = quadrant * pi / 2 + r for |x| < 2^20: `shifted` has the quadrant in its low bits, and `rest` is what r
 * lacks. The first two parts of pi / 2 are so short that their products are exact. Where r is small, but x is
 * not, it lacks more: these lanes are not `known`, and neither are those of larger, infinite and NaN x. */
SIMD_INLINE f64x2 f64x2_reduce_quarter_turns(f64x2 x, f64x2 *shifted, f64x2 *rest, i64x2 *known) {
  static const double kNumbers[] = {0x1.45f306dc9c883p-1,  0x1.921fb544p0, 0x1.0b4611a6p-34,
                                    0x1.3198a2e037073p-69, 0x1p20,         0x1p-20};
  *shifted = f64x2_madd(x, f64x2_constant(kNumbers, 0), f64x2_rounder());
  f64x2 whole = *shifted - f64x2_rounder();
  f64x2 near = x - whole * f64x2_constant(kNumbers, 1), part = whole * f64x2_constant(kNumbers, 2);
  f64x2 sum = near - part, taken = near - sum;
  f64x2 lost = (taken - part) + (near - (sum + taken)) - whole * f64x2_constant(kNumbers, 3);
  f64x2 r = sum + lost;
  *rest = (sum - r) + lost;
  *known = (f64x2_abs(x) < f64x2_constant(kNumbers, 4)) &
           ((f64x2_abs(r) > f64x2_constant(kNumbers, 5)) | (whole == f64x2_splat(0)));
  return r;
}

/* The sine and the cosine of r + rest for |r| <= pi / 4. 1 ulp. */
SIMD_INLINE f64x2 f64x2_sin_near(f64x2 r, f64x2 rest) {
  static const double kP[] = {-0.16666666666666666,   0.008333333333331,       -0.00019841269836760964,
                              2.7557316103633803e-06, -2.5051132044787624e-08, 1.591814221362816e-10};
  f64x2 z = r * r;
  return r + f64x2_madd(r * z, f64x2_polynomial(z, kP, 6), rest - f64x2_half() * z * rest);
}
SIMD_INLINE f64x2 f64x2_cos_near(f64x2 r, f64x2 rest) {
  static const double kP[] = {0.041666666666666664,   -0.0013888888888887398, 2.4801587298767014e-05,
                              -2.755731727232932e-07, 2.0876146379128608e-09, -1.1382639582912512e-11};
  f64x2 z = r * r, half = f64x2_half() * z, most = f64x2_one() - half;
  f64x2 small = f64x2_madd(z * z, f64x2_polynomial(z, kP, 6), ((f64x2_one() - most) - half) - r * rest);
  return most + small;
}

#endif
