#include "simd/vector_math.h"

#include "simd/double_map.h"
#include "simd/double_math.h"

void vector_exp_anywhere_f64(double *to) {
  static const double kBounds[] = {-746, 710};
  f64x2 shifted, rest, x = f64x2_load(to);
  f64x2 clamped = f64x2_pmin(f64x2_pmax(x, f64x2_constant(kBounds, 0)), f64x2_constant(kBounds, 1));
  f64x2 r = f64x2_reduce_log2(clamped, &shifted, &rest), p = f64x2_one() + (r + f64x2_exp_tail(r, rest));
  f64x2 n = shifted - f64x2_rounder(), half = n * f64x2_half() + f64x2_rounder();
  f64x2 other = n - (half - f64x2_rounder()) + f64x2_rounder();
  f64x2_store(to, p * f64x2_power_of_2(half, f64x2_one()) * f64x2_power_of_2(other, f64x2_one()));
}

void vector_log_anywhere_f64(double *to) {
  const f64x2 x = f64x2_load(to), zero = f64x2_splat(0), infinity = f64x2_splat((double)INFINITY);
  i64x2 denormal = x < f64x2_splat(0x1p-1022);
  f64x2 f, e = f64x2_log_exponent(f64x2_select(denormal, x * f64x2_splat(0x1p54), x), &f);
  e = f64x2_select(denormal, e - f64x2_splat(54), e);
  f64x2 y = f64x2_select(x < infinity, f64x2_log_by_parts(e, f, zero), x); /* +infinity and NaN */
  y = f64x2_select(x == zero, -infinity, y);
  f64x2_store(to, f64x2_select(x < zero, f64x2_splat((double)NAN), y));
}

/* With e = (exp(2|x|) - 1) / 2: t = e / (e + 1), which is 1 for 2|x| >= 40. The rounding error of the sum
 * times t (t - 1) corrects it. */
SIMD_INLINE f64x2 hyperbolic_tangent(f64x2 x) {
  static const double kFar[] = {40};
  f64x2 a = f64x2_abs(x), one = f64x2_one(), e = f64x2_half_expm1(f64x2_pmin(a + a, f64x2_constant(kFar, 0)));
  f64x2 sum = e + one, t = e / sum, added = sum - e, lost = (e - (sum - added)) + (one - added);
  return f64x2_copysign(f64x2_madd(t * (t - one), lost, t), x);
}

/* 1 / (1 + exp(-x)), for negative x as exp(x) / (1 + exp(x)): nothing overflows, and tiny results stay exact.
 */
SIMD_INLINE f64x2 sigmoid(f64x2 x) {
  f64x2 e = f64x2_exp(-f64x2_abs(x)), one = f64x2_one();
  return f64x2_select(x < f64x2_splat(0), e, one) / (e + one);
}

/* max(x, 0) + log(1 + exp(-|x|)). NaN stays in the logarithm. */
SIMD_INLINE f64x2 softplus(f64x2 x) {
  f64x2 e = f64x2_exp(-f64x2_abs(x));
  return f64x2_pmax(x, f64x2_splat(0)) + f64x2_log1p_of_sum(e, e + f64x2_one());
}

SIMD_INLINE f64x2 elu(f64x2 x) { return f64x2_select(x < f64x2_splat(0), f64x2_expm1(x), x); }
SIMD_INLINE f64x2 selu(f64x2 x) {
  return f64x2_select(x < f64x2_splat(0), f64x2_expm1(x) * f64x2_splat(SELU_SCALE_ALPHA),
                      x * f64x2_splat(SELU_SCALE));
}

/* The sine of x, or of x + pi / 2 with `turns` = 1. */
SIMD_INLINE f64x2 sine(f64x2 x, int turns, double (*far)(double)) {
  f64x2 shifted, rest;
  i64x2 known;
  f64x2 r = f64x2_reduce_quarter_turns(x, &shifted, &rest, &known);
  u64x2 quadrant = (u64x2)shifted + (uint64_t)turns;
  i64x2 is_odd = -(i64x2)(quadrant & 1);
  f64x2 y = f64x2_select(is_odd, f64x2_cos_near(r, rest), f64x2_sin_near(r, rest));
  return f64x2_where(~known, x, (f64x2)((u64x2)y ^ ((quadrant & 2) << 62)), far);
}
SIMD_INLINE f64x2 sin_of(f64x2 x) { return f64x2_select(x == f64x2_splat(0), x, sine(x, 0, sin)); }
SIMD_INLINE f64x2 cos_of(f64x2 x) { return sine(x, 1, cos); }

/* erf(x) - x for |x| <= 1. */
SIMD_INLINE f64x2 erf_rest(f64x2 x) {
  static const double kP[] = {0.1283791670955126,     -0.37612638903183876,   0.11283791670958783,
                              -0.026866170645631883,  0.005223977629245334,   -0.0008548327199329069,
                              0.00012055338159935015, -1.492574813568391e-05, 1.6463246450343925e-06,
                              -1.637236137158663e-07, 1.4798277304950079e-08, -1.187621302578852e-09,
                              6.762168221046267e-11};
  return x * f64x2_polynomial(x * x, kP, 13);
}

/* For t >= 0.7, erfc(t) = exp(-t^2) * q(y) / (t + 2.25) with y = (t - 2.25) / (t + 2.25), without the factor
 * 2^n of the exponential. That is computed from t rounded to multiples of 2^-20, whose square is exact, and
 * from the rest; with q(y) = c + p, the largest of the terms of (1 + e) (c + p) comes last. */
SIMD_INLINE f64x2 erfc_parts(f64x2 t, f64x2 *shifted) {
  static const double kQ[] = {-0.751959017590407,     0.371517473333027,      -0.1012104018806326,
                              -0.0036109109346008504, 0.011658682803245389,   -0.0007970915566748875,
                              -0.0016356683682054968, 8.072962406006681e-05,  0.0002857166229352459,
                              2.3627744351416163e-05, -5.112584335489983e-05, -1.6177727482684452e-05,
                              6.689090723431069e-06,  5.574423398941791e-06,  3.8919943114460093e-07,
                              -1.241084972348409e-06, -7.467418097634822e-07, 2.1401469157555044e-07,
                              3.2568934236465954e-07, -1.2155688443396932e-07};
  static const double kNumbers[] = {2.25, 0x1.8p32, 1.0398926642867634, 1 / 4.5};
  const f64x2 middle = f64x2_constant(kNumbers, 0), magic = f64x2_constant(kNumbers, 1),
              first = f64x2_constant(kNumbers, 2);
  f64x2 width = t + middle, lost = t - (width - middle), y = (t - middle) / width;
  f64x2 inverse = (f64x2_one() - y) * f64x2_constant(kNumbers, 3);
  f64x2 upper = (t + magic) - magic, more;
  f64x2 r = f64x2_reduce_log2(-upper * upper, shifted, &more), rest = (upper - t) * (t + upper) + more;
  f64x2 sum = r + rest, e = sum + (f64x2_exp_tail(sum, (r - sum) + rest) - lost * inverse);
  f64x2 p = y * f64x2_polynomial(y, kQ, 20);
  return (first + f64x2_madd(e, first + p, p)) / width;
}

/* From 6 on the result is 1. */
SIMD_INLINE f64x2 error_function(f64x2 x) {
  static const double kFar[] = {6};
  f64x2 a = f64x2_abs(x), near = x + erf_rest(x), shifted;
  i64x2 is_near = a < f64x2_one();
  if (!i64x2_any(~is_near)) return near;
  f64x2 parts = erfc_parts(f64x2_pmin(a, f64x2_constant(kFar, 0)), &shifted);
  f64x2 far = f64x2_one() - parts * f64x2_power_of_2(shifted, f64x2_one());
  return f64x2_select(is_near, near, f64x2_copysign(far, x));
}

/* Below 0.8 1 - erf(x), from 1/4 on as 1/2 - (erf(x) - 1/2). Above, a negative x has as much less than 2.
 * From 27.3 on the result is 0; before, 2^n may be below the normal numbers, and is two factors. */
SIMD_INLINE f64x2 complementary_error_function(f64x2 x) {
  static const double kBounds[] = {27.3, 0.25, 0x1p-100, 0.8};
  const f64x2 one = f64x2_one();
  f64x2 t = f64x2_pmin(f64x2_abs(x), f64x2_constant(kBounds, 0)), shifted;
  f64x2 base = f64x2_select(x < f64x2_constant(kBounds, 1), one, f64x2_half());
  f64x2 near = base - ((x - (one - base)) + erf_rest(x));
  i64x2 is_near = t < f64x2_constant(kBounds, 3);
  if (!i64x2_any(~is_near)) return near;
  f64x2 parts = erfc_parts(t, &shifted);
  f64x2 power = f64x2_power_of_2(shifted + f64x2_splat(100), one);
  f64x2 far = parts * power * f64x2_constant(kBounds, 2);
  return f64x2_select(is_near, near, f64x2_select(x < f64x2_splat(0), f64x2_two() - far, far));
}

#define LOOP(name, function) \
  void vector_##name##_f64(int64_t count, const double *x, double *y) { double_map(count, x, y, function); }
LOOP(exp, f64x2_exp)
LOOP(expm1, f64x2_expm1)
LOOP(log, f64x2_log)
LOOP(log1p, f64x2_log1p)
LOOP(tanh, hyperbolic_tangent)
LOOP(sigmoid, sigmoid)
LOOP(sin, sin_of)
LOOP(cos, cos_of)
LOOP(erf, error_function)
LOOP(erfc, complementary_error_function)
LOOP(softplus, softplus)
LOOP(elu, elu)
LOOP(selu, selu)
