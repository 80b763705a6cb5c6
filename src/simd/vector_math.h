/* exp, log, tanh, ... of float32 vectors, and loops over arrays of float32 and float64.
 *
 * Bounds, tested against double precision over every exponent (in units in the last place, denormals
 * included):
 *
 *   exp, log                               2 ulp
 *   f32x16_exp_below_zero                  3 ulp
 *   expm1, log1p, tanh, sigmoid, sin, cos  4 ulp
 *   erf, erfc, softplus, elu, selu         4 ulp
 *   gelu, gelu_by_tanh                     4 + 2 x^2 ulp; gelu is -0 from -12.9 down, where it is no normal
 * float
 *
 * Special values are those of C's math.h: exp(-inf) = 0, log(0) = -inf, log(x < 0) = NaN, tanh(-0) = -0, NaN
 * stays NaN.
 *
 * The loops give each element the value of the inline function: neither length nor position matters. The
 * bounds of those over doubles, of which simd/double_math.h has the functions:
 *
 *   exp, expm1, log, log1p, sin, cos, elu  1.5 ulp
 *   tanh, erf, softplus, selu              2 ulp
 *   sigmoid                                3 ulp
 *   erfc                                   4 ulp
 */
#ifndef TFCORE_SIMD_VECTOR_MATH_H_
#define TFCORE_SIMD_VECTOR_MATH_H_

#include "simd/wide.h"

/* y[i] = f(x[i]) for i < count. y may be x, but must not overlap it otherwise. */
void vector_neg_f32(int64_t count, const float *x, float *y); /* these two are exact, also for NaN */
void vector_abs_f32(int64_t count, const float *x, float *y);
void vector_exp_f32(int64_t count, const float *x, float *y);
void vector_expm1_f32(int64_t count, const float *x, float *y);
void vector_log_f32(int64_t count, const float *x, float *y);
void vector_log1p_f32(int64_t count, const float *x, float *y);
void vector_tanh_f32(int64_t count, const float *x, float *y);
void vector_sigmoid_f32(int64_t count, const float *x, float *y);
void vector_sin_f32(int64_t count, const float *x, float *y);
void vector_cos_f32(int64_t count, const float *x, float *y);
void vector_erf_f32(int64_t count, const float *x, float *y);
void vector_erfc_f32(int64_t count, const float *x, float *y);
void vector_softplus_f32(int64_t count, const float *x, float *y); /* log(1 + exp(x)) */
void vector_elu_f32(int64_t count, const float *x, float *y);      /* x < 0 ? exp(x) - 1 : x */
/* x < 0 ? SELU_SCALE_ALPHA * (exp(x) - 1) : SELU_SCALE * x */
void vector_selu_f32(int64_t count, const float *x, float *y);
void vector_gelu_f32(int64_t count, const float *x, float *y); /* x * erfc(-x / sqrt(2)) / 2 */
/* x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) / 2 */
void vector_gelu_by_tanh_f32(int64_t count, const float *x, float *y);

void vector_exp_f64(int64_t count, const double *x, double *y);
void vector_expm1_f64(int64_t count, const double *x, double *y);
void vector_log_f64(int64_t count, const double *x, double *y);
void vector_log1p_f64(int64_t count, const double *x, double *y);
void vector_tanh_f64(int64_t count, const double *x, double *y);
void vector_sigmoid_f64(int64_t count, const double *x, double *y);
void vector_sin_f64(int64_t count, const double *x, double *y);
void vector_cos_f64(int64_t count, const double *x, double *y);
void vector_erf_f64(int64_t count, const double *x, double *y);
void vector_erfc_f64(int64_t count, const double *x, double *y);
void vector_softplus_f64(int64_t count, const double *x, double *y);
void vector_elu_f64(int64_t count, const double *x, double *y);
void vector_selu_f64(int64_t count, const double *x, double *y);

/* f32x16_exp_below_zero, f32x16_exp and f32x16_log of 16 numbers, in place: for numbers out of the usual
 * range, where a call keeps loops short. */
void vector_exp_far(float *x);
void vector_exp_anywhere(float *x);
void vector_log_anywhere(float *x);

/* The constants with which layers keep mean 0 and variance 1. */
#define SELU_SCALE 1.0507009873554804934193349852946
#define SELU_SCALE_ALPHA 1.7580993408473768599402175208123

/* ---- the functions on vectors ---- */

/* One of the functions in place. */
SIMD_INLINE f32x16 f32x16_by_call(f32x16 x, void (*function)(float *x)) {
  float values[16];
  f32x16_store(values, x);
  function(values);
  return f32x16_load(values);
}

/* A constant for use in loops; `numbers` is a static table (see simd_table). */
SIMD_INLINE f32x16 f32x16_constant(const float *numbers, int i) {
  return f32x16_load_splat(&simd_table(numbers)[i]);
}
static const float kVectorNumbers[] = {1.0f, 2.0f, 0.5f, -80.0f, 89.0f};
SIMD_INLINE f32x16 f32x16_one(void) { return f32x16_constant(kVectorNumbers, 0); }
SIMD_INLINE f32x16 f32x16_two(void) { return f32x16_constant(kVectorNumbers, 1); }
/* Below the first, exp(x) - 1 is -1; from the second on, exp(x) is not a float. */
SIMD_INLINE f32x16 f32x16_lowest_exponent(void) { return f32x16_constant(kVectorNumbers, 3); }
SIMD_INLINE f32x16 f32x16_highest_exponent(void) { return f32x16_constant(kVectorNumbers, 4); }

/* coefficients[0] + x * (coefficients[1] + x * ...), with count >= 1 a constant. */
SIMD_INLINE f32x16 f32x16_polynomial(f32x16 x, const float *coefficients, int count) {
  const float *table = simd_table(coefficients);
  f32x16 sum = f32x16_load_splat(&table[count - 1]);
  SIMD_UNROLL
  for (int i = count - 2; i >= 0; i--) sum = f32x16_madd(sum, x, f32x16_load_splat(&table[i]));
  return sum;
}

/* 2^n as a float, for -126 <= n <= 127. */
SIMD_INLINE f32x16 f32x16_power_of_2(i32x16 n) { return (f32x16)(((u32x16)n + 127) << 23); }

/* x = n * log(2) + r with |r| <= log(2) / 2 and an integer n, for |x| < 2000. Adding 1.5 * 2^23 rounds to an
 * integer, which is then in the low bits: `biased` is 0x4b400000 + n + 127, or n + 126 with `halved` (a
 * constant). log(2) is split so that n times its first part is exact. */
SIMD_INLINE f32x16 f32x16_reduce_log2(f32x16 x, int halved, u32x16 *biased) {
  static const float kNumbers[] = {0x1.715476p0f, 0x1.8p23f + 127, 0x1.8p23f + 126, -0x1.63p-1f,
                                   0x1.bd0106p-13f};
  const float *table = simd_table(kNumbers);
  f32x16 magic = f32x16_load_splat(&table[halved ? 2 : 1]);
  f32x16 shifted = f32x16_madd(x, f32x16_load_splat(&table[0]), magic);
  *biased = (u32x16)shifted;
  f32x16 whole = shifted - magic;
  f32x16 r = f32x16_madd(whole, f32x16_load_splat(&table[3]), x);
  return f32x16_madd(whole, f32x16_load_splat(&table[4]), r);
}

/* exp(r) - 1 to the accuracy of exp(r), for |r| <= log(2) / 2. */
SIMD_INLINE f32x16 f32x16_exp_reduced(f32x16 r) {
  /* exp(r) = 1 + r + r^2 * q(r); minimax for the relative error. */
  static const float kQ[] = {0.499999934314f, 0.166665203979f, 0.0416683909355f, 0.00836874522643f,
                             0.00138145327529f};
  return f32x16_madd(r * r, f32x16_polynomial(r, kQ, 5), r);
}

/* exp(x) = (1 + p) * 2^n; computes p. */
typedef f32x16 ExpParts(f32x16 x, u32x16 *biased);
SIMD_INLINE f32x16 f32x16_exp_parts(f32x16 x, u32x16 *biased) {
  return f32x16_exp_reduced(f32x16_reduce_log2(x, 0, biased));
}
/* One ulp less accurate, with three operations fewer. */
SIMD_INLINE f32x16 f32x16_exp_parts_short(f32x16 x, u32x16 *biased) {
  /* exp(r) = 1 + r * q(r); minimax for the relative error. */
  static const float kQ[] = {0.999999701977f, 0.499991476536f, 0.166676387191f, 0.0418981611729f,
                             0.00829027220607f};
  f32x16 r = f32x16_reduce_log2(x, 0, biased);
  return r * f32x16_polynomial(r, kQ, 5);
}

/* p * 2^n, with n from f32x16_reduce_log2, in two steps, because 2^n may be outside of the normal numbers.
 * The first step is exact. */
SIMD_INLINE f32x16 f32x16_times_power(f32x16 p, u32x16 biased) {
  i32x16 n = (i32x16)(biased - (0x4b400000u + 127)), half = n >> 1;
  return p * f32x16_power_of_2(half) * f32x16_power_of_2(n - half);
}

/* The first is for all x. The second is for x in [-87, 87] and NaN: it is faster, with the same results. */
SIMD_INLINE f32x16 f32x16_exp_anywhere(f32x16 x, ExpParts *parts) {
  /* Beyond these bounds the result is 0 or infinity; pmin and pmax keep NaN. */
  u32x16 biased;
  f32x16 p =
      parts(f32x16_pmin(f32x16_pmax(x, f32x16_splat(-104.0f)), f32x16_splat(89.0f)), &biased) + f32x16_one();
  return f32x16_times_power(p, biased);
}
SIMD_INLINE f32x16 f32x16_exp_near(f32x16 x, ExpParts *parts) {
  u32x16 biased;
  f32x16 p = parts(x, &biased), power = (f32x16)(biased << 23);
  return f32x16_madd(p, power, power);
}
/* Whether all x, which must be at most zero, are in that range; pmin ignores NaN. */
SIMD_INLINE int f32x16_is_near(f32x16 x) {
  f32x4 furthest = f32x4_splat(0);
  SIMD_UNROLL
  for (int k = 0; k < 4; k++) furthest = f32x4_pmin(furthest, f32x16_quarter(x, k));
  return !i32x4_any(furthest < -87.0f);
}

SIMD_INLINE f32x16 f32x16_exp(f32x16 x) {
  return f32x16_is_near(f32x16_minus_abs(x)) ? f32x16_exp_near(x, f32x16_exp_parts)
                                             : f32x16_by_call(x, vector_exp_anywhere);
}
/* Within 3 ulp, and faster. The first is for x in [-87, 0] and NaN, the second for x <= 0 and NaN. */
SIMD_INLINE f32x16 f32x16_exp_near_zero(f32x16 x) { return f32x16_exp_near(x, f32x16_exp_parts_short); }
SIMD_INLINE f32x16 f32x16_exp_below_zero(f32x16 x) {
  return f32x16_is_near(x) ? f32x16_exp_near_zero(x) : f32x16_by_call(x, vector_exp_far);
}

/* exp(r) - 1 for |r| <= log(2) / 2. */
SIMD_INLINE f32x16 f32x16_expm1_reduced(f32x16 r) {
  static const float kQ[] = {0.499999981497f, 0.166665434248f, 0.0416672006301f, 0.00836654710685f,
                             0.00138825229175f};
  return f32x16_madd(r * r, f32x16_polynomial(r, kQ, 5), r);
}

/* exp(x) - 1 for x in [-80, 89] and NaN. */
SIMD_INLINE f32x16 f32x16_expm1_in_range(f32x16 x) {
  u32x16 biased;
  f32x16 p = f32x16_expm1_reduced(f32x16_reduce_log2(x, 1, &biased));
  /* 2^n * (p + 1) - 1, computed from its half, because 2^128 is not a float. 2^(n-1) - 1/2 is exact where it
   * matters. */
  f32x16 half = (f32x16)(biased << 23);
  f32x16 result = f32x16_madd(half, p, half - f32x16_constant(kVectorNumbers, 2));
  return result + result;
}

SIMD_INLINE f32x16 f32x16_expm1(f32x16 x) {
  f32x16 clamped = f32x16_pmin(f32x16_pmax(x, f32x16_lowest_exponent()), f32x16_highest_exponent());
  return f32x16_copysign(f32x16_expm1_in_range(clamped), x); /* restores the sign of a zero */
}

/* Whether all x are positive, normal and finite. */
SIMD_INLINE int f32x16_are_normal(f32x16 x) {
  /* Their bits are those from 2^-126 on and before infinity; the sum moves this range to the lowest integers.
   */
  static const float kBits[] = {INFINITY, -0x1p127f};
  i32x16 moved = (i32x16)((u32x16)x + (u32x16)f32x16_constant(kBits, 0));
  i32x4 highest = i32x16_quarter(moved, 0);
  SIMD_UNROLL
  for (int k = 1; k < 4; k++) highest = i32x4_max(highest, i32x16_quarter(moved, k));
  return !i32x4_any(highest >= (i32x4)f32x4_load_splat(&simd_table(kBits)[1]));
}

/* log(x / 2^scale) for positive normal x, with the bits of 2^scale without those of 1. */
SIMD_INLINE f32x16 f32x16_log_scaled(f32x16 x, i32x16 scale) {
  /* log(1 + f) = f - f^2 / 2 + f^3 * q(f) for 1 + f in [sqrt(1/2), sqrt(2)]; minimax for the relative
   * error. */
  static const float kQ[] = {0.333333317579f, -0.250008226221f, 0.200012243234f, -0.166232935236f,
                             0.142017656994f, -0.131608657009f, 0.127618794976f, -0.076329746264f};
  /* sqrt(1/2); minus infinity, whose bits select the exponent; -1; -1/2; log(2) / 2^23 as two numbers, of
   * which the first times an exponent is exact. */
  static const float kNumbers[] = {0x1.6a09e6p-1f, -INFINITY, -1.0f, -0.5f, 0x1.63p-24f, -0x1.bd0106p-36f};
  i32x16 bits = (i32x16)x;
  /* The exponent of x / sqrt(1/2), in its place in the bits of a float. */
  i32x16 exponent =
      (i32x16)((u32x16)bits - (u32x16)f32x16_constant(kNumbers, 0)) & (i32x16)f32x16_constant(kNumbers, 1);
  f32x16 f = (f32x16)((u32x16)bits - (u32x16)exponent) + f32x16_constant(kNumbers, 2);
  f32x16 e = f32x16_from_i32x16((i32x16)((u32x16)exponent - (u32x16)scale));
  f32x16 z = f * f;
  f32x16 y = f32x16_polynomial(f, kQ, 8) * f * z;
  y = f32x16_madd(e, f32x16_constant(kNumbers, 5), y);
  y = f32x16_madd(z, f32x16_constant(kNumbers, 3), y);
  return f32x16_madd(e, f32x16_constant(kNumbers, 4), f + y);
}
SIMD_INLINE f32x16 f32x16_log_normal(f32x16 x) { return f32x16_log_scaled(x, (i32x16){0}); }

SIMD_INLINE f32x16 f32x16_log(f32x16 x) {
  return f32x16_are_normal(x) ? f32x16_log_normal(x) : f32x16_by_call(x, vector_log_anywhere);
}

/* The rounding error of u = 1 + x, divided by u, corrects log(u). */
SIMD_INLINE f32x16 f32x16_log1p_correction(f32x16 x, f32x16 u) { return (x - (u - f32x16_one())) / u; }

SIMD_INLINE f32x16 f32x16_log1p(f32x16 x) {
  f32x16 u = x + f32x16_one(), y;
  if (f32x16_are_normal(u)) {
    y = f32x16_log_normal(u) + f32x16_log1p_correction(x, u);
  } else {
    f32x16 log = f32x16_by_call(u, vector_log_anywhere);
    i32x16 edge = f32x16_equal(u, f32x16_splat(0.0f)) | f32x16_equal(u, f32x16_splat(INFINITY));
    y = f32x16_select(edge, log, log + f32x16_log1p_correction(x, u));
  }
  return f32x16_select(f32x16_equal(x, f32x16_splat(0.0f)), x, y);
}

/* With e = exp(2|x|) - 1: e / (e + 2), which is 1 for 2|x| >= 20. */
SIMD_INLINE f32x16 f32x16_tanh(f32x16 x) {
  static const float kFar[] = {20.0f};
  f32x16 magnitude = f32x16_abs(x);
  f32x16 e = f32x16_expm1_in_range(f32x16_pmin(magnitude + magnitude, f32x16_constant(kFar, 0)));
  return f32x16_copysign(e / (e + f32x16_two()), x);
}

/* 1 / (1 + exp(-x)), for negative x as exp(x) / (1 + exp(x)): nothing overflows, and tiny results stay
 * exact. */
SIMD_INLINE f32x16 f32x16_sigmoid(f32x16 x) {
  f32x16 e = f32x16_exp_below_zero(f32x16_minus_abs(x));
  /* e, or 1 where x is not negative: the larger one, as integers too */
  i32x16 one = ~((i32x16)x >> 31) & (i32x16)f32x16_one();
  return (f32x16)i32x16_max((i32x16)e, one) / (e + f32x16_one());
}

/* For |x| < 1 an odd polynomial; minimax for the relative error. */
SIMD_INLINE f32x16 f32x16_erf_near(f32x16 x) {
  static const float kP[] = {0.12837916612625122f,   -0.3761262595653534f, 0.1128358542919159f,
                             -0.026853810995817184f, 0.00518832728266716f, -0.0008010190795175731f,
                             7.853851275285706e-05f};
  return f32x16_madd(x, f32x16_polynomial(x * x, kP, 7), x);
}

/* Above 1 1 - exp(q(|x|)), as exact. From 4 on the result is 1. */
SIMD_INLINE f32x16 f32x16_erf(f32x16 x) {
  static const float kQ[] = {0.00018804533465299755f, -1.1295784711837769f,    -0.633219838142395f,
                             -0.10841862112283707f,   0.025208283215761185f,   -0.00420457124710083f,
                             0.0004413381975609809f,  -2.1686997570213862e-05f};
  static const float kFar[] = {4.0f};
  f32x16 t = f32x16_pmin(f32x16_abs(x), f32x16_constant(kFar, 0));
  f32x16 far = f32x16_one() - f32x16_exp_near(f32x16_polynomial(t, kQ, 8), f32x16_exp_parts);
  return f32x16_select(f32x16_less(t, f32x16_one()), f32x16_erf_near(x), f32x16_copysign(far, x));
}

/* Below 0.7 1 - erf(x). Above, with t = |x| and s = 1 / (t + 1.5): exp(-t^2) * s * q((t - 1.5) / (t + 1.5)),
 * minimax for the relative error; a negative x has as much less than 2. The exponential is that of t rounded
 * to multiples of 2^-8, whose square is exact, and of the rest. From 10.1 on it is 0. */
SIMD_INLINE f32x16 f32x16_erfc(f32x16 x) {
  static const float kQ[] = {0.9647562503814697f,     -0.5078502893447876f,   0.07562143355607986f,
                             0.04778080806136131f,    -0.008122640661895275f, -0.009611258283257484f,
                             -0.0006520292954519391f, 0.0022968596313148737f};
  static const float kNumbers[] = {10.5f, 1.5f, 0x1.8p15f, 0.7f};
  const f32x16 middle = f32x16_constant(kNumbers, 1), magic = f32x16_constant(kNumbers, 2);
  f32x16 t = f32x16_pmin(f32x16_abs(x), f32x16_constant(kNumbers, 0)), s = f32x16_one() / (t + middle);
  f32x16 scaled = s * f32x16_polynomial((t - middle) * s, kQ, 8);
  f32x16 upper = (t + magic) - magic, rest = (t - upper) * (t + upper),
         minus_square = f32x16_neg(upper) * upper;
  u32x16 biased;
  f32x16 r = f32x16_reduce_log2(minus_square, 0, &biased) - rest;
  f32x16 far = f32x16_madd(f32x16_exp_reduced(r), scaled, scaled);
  if (f32x16_is_near(minus_square)) far *= (f32x16)(biased << 23);
  else far = f32x16_times_power(far, biased);
  far = f32x16_select(f32x16_less(x, f32x16_splat(0.0f)), f32x16_two() - far, far);
  return f32x16_select(f32x16_less(t, f32x16_constant(kNumbers, 3)), f32x16_one() - f32x16_erf_near(x), far);
}

/* x * tail for negative x, else x - x * tail, with the tail of the normal distribution beyond |x|: with t =
 * -|x|, exp(-t^2 / 2) * p(t) / q(t), minimax for the relative error. From the lowest t on, the tail is 0;
 * infinity times 0 is NaN, as in the ops that this stands for. Few operations are products, of which
 * processors start fewer at a time than sums: the power of 2 is added to the exponent. */
SIMD_INLINE f32x16 f32x16_gelu(f32x16 x) {
  static const float kP[] = {0.5f, -0.43473345041275024f, 0.18060553073883057f, -0.039748962968587875f,
                             0.003985555376857519f};
  static const float kQ[] = {1.0f,
                             -1.6673518419265747f,
                             1.1915614604949951f,
                             -0.4625298082828522f,
                             0.09964361786842346f,
                             -0.009990153834223747f};
  /* 2^f = 1 + f * r(f) for |f| <= 1/2 */
  static const float kR[] = {0.6931470036506653f, 0.24022242426872253f, 0.05550733581185341f,
                             0.009671512991189957f, 0.001326472731307149f};
  static const float kNumbers[] = {-12.9f, -0.7213475204444817f, 0x1.8p23f, -0.0f};
  const f32x16 lowest = f32x16_constant(kNumbers, 0), magic = f32x16_constant(kNumbers, 2);
  /* x, or -x if it is positive; never below `lowest` then */
  f32x16 factor = f32x16_pmin(x, f32x16_pmax(f32x16_neg(x), lowest)), t = f32x16_pmax(factor, lowest);
  f32x16 ratio = f32x16_polynomial(t, kP, 5) / f32x16_polynomial(t, kQ, 6);
  f32x16 exponent = t * f32x16_constant(kNumbers, 1) * t, shifted = exponent + magic,
         rest = exponent - (shifted - magic);
  f32x16 tail = f32x16_madd(rest * ratio, f32x16_polynomial(rest, kR, 5), ratio);
  tail = (f32x16)(((u32x16)tail + ((u32x16)shifted << 23)) & (u32x16)f32x16_less(lowest, t));
  return f32x16_madd(factor, tail, f32x16_pmax(x, f32x16_constant(kNumbers, 3)));
}
/* x * sigmoid(2 * sqrt(2 / pi) * (x + 0.044715 * x^3)) */
SIMD_INLINE f32x16 f32x16_gelu_by_tanh(f32x16 x) {
  static const float kNumbers[] = {1.5957691216f, 0.0713548162726f};
  f32x16 slope = f32x16_madd(x * x, f32x16_constant(kNumbers, 1), f32x16_constant(kNumbers, 0));
  return x * f32x16_sigmoid(x * slope);
}

/* max(x, 0) + log(1 + exp(-|x|)), of which the logarithm is that of a number from 1 to 2. NaN stays in the
 * correction. */
SIMD_INLINE f32x16 f32x16_softplus(f32x16 x) {
  f32x16 e = f32x16_exp(f32x16_minus_abs(x)), u = e + f32x16_one();
  return f32x16_pmax(x, f32x16_splat(0.0f)) + (f32x16_log_normal(u) + f32x16_log1p_correction(e, u));
}

/* min(exp(x) - 1, 0), which keeps NaN. */
SIMD_INLINE f32x16 f32x16_expm1_or_zero(f32x16 x) {
  u32x16 biased;
  f32x16 r =
      f32x16_reduce_log2(f32x16_pmin(f32x16_pmax(x, f32x16_lowest_exponent()), f32x16_splat(0)), 0, &biased);
  f32x16 power = (f32x16)(biased << 23);
  return f32x16_madd(power, f32x16_expm1_reduced(r), power - f32x16_one());
}
SIMD_INLINE f32x16 f32x16_elu(f32x16 x) { return f32x16_pmax(x, f32x16_expm1_or_zero(x)); }
SIMD_INLINE f32x16 f32x16_selu(f32x16 x) {
  return f32x16_select(f32x16_less(x, f32x16_splat(0.0f)), f32x16_expm1_or_zero(x) * (float)SELU_SCALE_ALPHA,
                       x * (float)SELU_SCALE);
}

/* Converts four floats to two vectors of two doubles. */
typedef struct DoublePair {
  f64x2 low, high;
} DoublePair;

SIMD_INLINE DoublePair f32x4_to_double(f32x4 x) {
#ifdef __wasm_simd128__
  return (DoublePair){(f64x2)wasm_f64x2_promote_low_f32x4((v128_t)x),
                      (f64x2)wasm_f64x2_promote_low_f32x4((v128_t)__builtin_shufflevector(x, x, 2, 3, 2, 3))};
#else
  return (DoublePair){{x[0], x[1]}, {x[2], x[3]}};
#endif
}
SIMD_INLINE f32x4 f32x4_of_double(DoublePair x) {
#ifdef __wasm_simd128__
  f32x4 low = (f32x4)wasm_f32x4_demote_f64x2_zero((v128_t)x.low),
        high = (f32x4)wasm_f32x4_demote_f64x2_zero((v128_t)x.high);
  return __builtin_shufflevector(low, high, 0, 1, 4, 5);
#else
  return (f32x4){(float)x.low[0], (float)x.low[1], (float)x.high[0], (float)x.high[1]};
#endif
}

/* x = quadrant * pi / 2 + r for |x| < 2^20, in double precision, because floats come close to multiples of pi
 * / 2. Adding 1.5 * 2^52 rounds to an integer, which is then in the low bits. */
SIMD_INLINE f64x2 f64x2_reduce_half_pi(f64x2 x, f64x2 *shifted) {
  static const double kNumbers[] = {0x1.45f306dc9c883p-1, 0x1.8p52, 0x1.921fb544p0, 0x1.0b4611a626331p-34};
  const double *table = (const double *)simd_table((const float *)kNumbers);
  f64x2 magic = f64x2_load_splat(&table[1]);
  *shifted = x * f64x2_load_splat(&table[0]) + magic;
  f64x2 whole = *shifted - magic;
  return (x - whole * f64x2_load_splat(&table[2])) - whole * f64x2_load_splat(&table[3]);
}
SIMD_INLINE f32x4 f32x4_reduce_half_pi(f32x4 x, i32x4 *quadrant) {
  DoublePair r, whole, wide = f32x4_to_double(x);
  r.low = f64x2_reduce_half_pi(wide.low, &whole.low);
  r.high = f64x2_reduce_half_pi(wide.high, &whole.high);
  *quadrant = __builtin_shufflevector((i32x4)whole.low, (i32x4)whole.high, 0, 2, 4, 6);
  return f32x4_of_double(r);
}

/* The same for 16; `quadrant` is right in its lowest bits. Unspecified for other x. */
SIMD_INLINE f32x16 f32x16_reduce_half_pi(f32x16 x, i32x16 *quadrant) {
  f32x4 reduced[4], quadrants[4];
  SIMD_UNROLL
  for (int k = 0; k < 4; k++) {
    i32x4 quarter;
    reduced[k] = f32x4_reduce_half_pi(f32x16_quarter(x, k), &quarter);
    quadrants[k] = (f32x4)quarter;
  }
  *quadrant = (i32x16)f32x16_of_quarters(quadrants);
  return f32x16_of_quarters(reduced);
}

/* sin(x + shift * pi / 2) for |x| < 2^20; unspecified for other x. */
SIMD_INLINE f32x16 f32x16_sine_in_range(f32x16 x, int shift) {
  static const float kSin[] = {-0.166666545732f, 0.00833215841329f, -0.000195149580402f};
  static const float kCos[] = {0.0416666456187f, -0.00138873130579f, 2.44327845623e-5f};
  static const float kHalf[] = {-0.5f};
  i32x16 quadrant;
  f32x16 r = f32x16_reduce_half_pi(x, &quadrant), z = r * r;
  quadrant += shift;
  f32x16 sine = f32x16_madd(r * z, f32x16_polynomial(z, kSin, 3), r);
  f32x16 cosine = f32x16_madd(z * z, f32x16_polynomial(z, kCos, 3),
                              f32x16_madd(z, f32x16_constant(kHalf, 0), f32x16_one()));
  f32x16 y = f32x16_select((quadrant << 31) >> 31, cosine, sine);
  return (f32x16)((i32x16)y ^ ((quadrant & 2) << 30));
}

/* Replaces the lanes that are far from zero, infinite or NaN by the C library's results. */
SIMD_INLINE f32x16 f32x16_where_far(f32x16 x, f32x16 y, float (*function)(float)) {
  static const float kFar[] = {0x1p20f};
  if (i32x16_any(~f32x16_less(f32x16_abs(x), f32x16_constant(kFar, 0)))) {
    float from[16], to[16];
    f32x16_store(from, x);
    f32x16_store(to, y);
    for (int i = 0; i < 16; i++) to[i] = fabsf(from[i]) < 0x1p20f ? to[i] : function(from[i]);
    y = f32x16_load(to);
  }
  return y;
}

SIMD_INLINE f32x16 f32x16_sin(f32x16 x) {
  f32x16 y = f32x16_where_far(x, f32x16_sine_in_range(x, 0), sinf);
  return f32x16_select(f32x16_equal(x, f32x16_splat(0.0f)), x, y);
}
SIMD_INLINE f32x16 f32x16_cos(f32x16 x) { return f32x16_where_far(x, f32x16_sine_in_range(x, 1), cosf); }

#endif
