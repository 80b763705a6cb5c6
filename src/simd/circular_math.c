/* The coefficients are minimax for the relative error, found by Remez's exchange; each is rounded in turn,
 * and the later ones are fitted again. */
#include "simd/circular_math.h"

#include "simd/vector_map.h"
#include "simd/vector_math.h"

static const float kAngles[] = {3.14159265f, 1.57079633f, -4.37113883e-8f};
/* pi, pi / 2, and what the latter lacks. */
SIMD_INLINE f32x16 pi(void) { return f32x16_constant(kAngles, 0); }
SIMD_INLINE f32x16 half_pi(void) { return f32x16_constant(kAngles, 1); }
SIMD_INLINE f32x16 half_pi_rest(void) { return f32x16_constant(kAngles, 2); }
SIMD_INLINE f32x16 half(void) { return f32x16_constant(kVectorNumbers, 2); }
SIMD_INLINE f32x16 infinity(void) { return f32x16_splat(INFINITY); }

/* x + x * z * (coefficients[0] + z * ...) with z = x^2. */
SIMD_INLINE f32x16 odd_polynomial(f32x16 x, f32x16 z, const float *coefficients, int count) {
  return f32x16_madd(x * z, f32x16_polynomial(z, coefficients, count), x);
}

/* The tangent of what is left of multiples of pi / 2; of an odd multiple, minus its reciprocal. */
SIMD_INLINE f32x16 tangent(f32x16 x) {
  static const float kP[] = {0.333333492f,  0.133326754f,    0.0540589057f, 0.0212862976f,
                             0.0108270766f, 9.88741303e-05f, 0.00437231269f};
  i32x16 quadrant;
  f32x16 r = f32x16_reduce_half_pi(x, &quadrant), t = odd_polynomial(r, r * r, kP, 7);
  i32x16 is_odd = (quadrant << 31) >> 31;
  f32x16 y = f32x16_select(is_odd, f32x16_neg(f32x16_one()), t) / f32x16_select(is_odd, t, f32x16_one());
  y = f32x16_where_far(x, y, tanf);
  return f32x16_select(f32x16_equal(x, f32x16_splat(0.0f)), x, y);
}

/* For a >= 0: asin(a) up to 1/2, then half of acos(a), which is asin(sqrt((1 - a) / 2)). */
SIMD_INLINE f32x16 arc_near(f32x16 a, i32x16 is_far) {
  static const float kP[] = {0.166667521f, 0.0749530941f, 0.0454691462f, 0.0241848174f, 0.0421582125f};
  f32x16 z = f32x16_select(is_far, (f32x16_one() - a) * half(), a * a);
  return odd_polynomial(f32x16_select(is_far, f32x16_sqrt(z), a), z, kP, 5);
}

SIMD_INLINE f32x16 arcsine(f32x16 x) {
  f32x16 a = f32x16_abs(x);
  i32x16 is_far = f32x16_less(half(), a);
  f32x16 arc = arc_near(a, is_far);
  return f32x16_copysign(f32x16_select(is_far, half_pi() - (arc + arc - half_pi_rest()), arc), x);
}

SIMD_INLINE f32x16 arccosine(f32x16 x) {
  f32x16 a = f32x16_abs(x);
  i32x16 is_far = f32x16_less(half(), a);
  f32x16 arc = f32x16_copysign(arc_near(a, is_far), x);
  f32x16 far = f32x16_select((i32x16)x >> 31, pi(), f32x16_splat(0.0f)) + (arc + arc);
  return f32x16_select(is_far, far, half_pi() - arc);
}

/* atan(t) for 0 <= t <= 1. */
SIMD_INLINE f32x16 arctangent_near(f32x16 t) {
  static const float kP[] = {-0.333332986f, 0.199985296f,   -0.142640156f, 0.109508783f,   -0.0839928538f,
                             0.0578806475f, -0.0310957283f, 0.0108676627f, -0.00178249995f};
  return odd_polynomial(t, t * t, kP, 9);
}

SIMD_INLINE f32x16 arctangent(f32x16 x) {
  f32x16 a = f32x16_abs(x), one = f32x16_one();
  f32x16 arc = arctangent_near(f32x16_pmin(a, one) / f32x16_pmax(a, one));
  return f32x16_copysign(f32x16_select(f32x16_less(one, a), half_pi() - arc, arc), x);
}

SIMD_INLINE f32x16 angle(f32x16 y, f32x16 x) {
  /* A divisor that is too small to be the larger one of two, unless both are 0. */
  static const float kLeast[] = {0x1p-149f};
  f32x16 a = f32x16_abs(y), b = f32x16_abs(x), smaller = f32x16_pmin(b, a);
  f32x16 larger = f32x16_pmax(f32x16_pmax(b, a), f32x16_constant(kLeast, 0));
  /* Equal infinities are at an angle of pi / 4; NaN in y is lost so far. */
  f32x16 ratio = f32x16_select(f32x16_equal(smaller, infinity()), f32x16_one(), smaller / larger);
  ratio = f32x16_select(f32x16_equal(y, y), ratio, y);
  f32x16 arc = arctangent_near(ratio);
  arc = f32x16_select(f32x16_less(b, a), half_pi() - arc, arc);
  return f32x16_copysign(f32x16_select((i32x16)x >> 31, pi() - arc, arc), y);
}

/* exp(a) / 4 for a >= 0, or a number whose double is infinite. */
SIMD_INLINE f32x16 quarter_exp(f32x16 a) {
  static const float kHighest[] = {89.5f};
  u32x16 biased;
  f32x16 p = f32x16_exp_reduced(f32x16_reduce_log2(f32x16_pmin(a, f32x16_constant(kHighest, 0)), 0, &biased));
  f32x16 power = (f32x16)((biased - 2) << 23);
  return f32x16_madd(p, power, power);
}
SIMD_INLINE f32x16 sixteenth(void) {
  static const float kNumber[] = {0.0625f};
  return f32x16_constant(kNumber, 0);
}

SIMD_INLINE f32x16 hyperbolic_cosine(f32x16 x) {
  f32x16 e = quarter_exp(f32x16_abs(x)), sum = e + sixteenth() / e;
  return sum + sum;
}

SIMD_INLINE f32x16 hyperbolic_sine(f32x16 x) {
  static const float kP[] = {0.166666672f, 0.00833331048f, 0.000198428956f, 2.78221205e-06f};
  f32x16 a = f32x16_abs(x), e = quarter_exp(a), difference = e - sixteenth() / e;
  return f32x16_select(f32x16_less(a, f32x16_one()), odd_polynomial(x, x * x, kP, 4),
                       f32x16_copysign(difference + difference, x));
}

/* log(1 + 2h) for h >= 0, of which the double may be no float; NaN for NaN. */
SIMD_INLINE f32x16 log1p_of_double(f32x16 h) {
  f32x16 u = h + half(), rest = (h - (u - half())) / u;
  f32x16 y = f32x16_log_scaled(u, (i32x16){0} - (1 << 23)) + rest;
  return f32x16_select(f32x16_equal(h, infinity()), h, y);
}

/* log(1 + a + a^2 / (1 + sqrt(1 + a^2))). The last fraction is a from 2^60 on, where the square could
 * overflow. */
SIMD_INLINE f32x16 hyperbolic_arcsine(f32x16 x) {
  static const float kBounds[] = {0x1p60f, 0x1p-12f};
  f32x16 a = f32x16_abs(x), one = f32x16_one(), b = f32x16_pmin(a, f32x16_constant(kBounds, 0));
  f32x16 part = b / (one + f32x16_sqrt(f32x16_madd(b, b, one))), halved = a * half();
  f32x16 y = log1p_of_double(f32x16_madd(halved, part, halved));
  return f32x16_select(f32x16_less(a, f32x16_constant(kBounds, 1)), x, f32x16_copysign(y, x));
}

/* With t = x - 1: log(1 + t + sqrt(t (t + 2))). The sum is less than 2x, also when rounding. */
SIMD_INLINE f32x16 hyperbolic_arccosine(f32x16 x) {
  f32x16 t = x - f32x16_one(), root = f32x16_sqrt(t) * half();
  return log1p_of_double(f32x16_pmin(f32x16_madd(root, f32x16_sqrt(t + f32x16_two()), t * half()), x));
}

/* log((1 + a) / (1 - a)) / 2 */
SIMD_INLINE f32x16 hyperbolic_arctangent(f32x16 x) {
  f32x16 a = f32x16_abs(x);
  return f32x16_copysign(f32x16_log1p((a + a) / (f32x16_one() - a)) * half(), x);
}

void vector_tan_f32(int64_t count, const float *x, float *y) { vector_map(count, x, y, tangent); }
void vector_asin_f32(int64_t count, const float *x, float *y) { vector_map(count, x, y, arcsine); }
void vector_acos_f32(int64_t count, const float *x, float *y) { vector_map(count, x, y, arccosine); }
void vector_atan_f32(int64_t count, const float *x, float *y) { vector_map(count, x, y, arctangent); }
void vector_sinh_f32(int64_t count, const float *x, float *y) { vector_map(count, x, y, hyperbolic_sine); }
void vector_cosh_f32(int64_t count, const float *x, float *y) { vector_map(count, x, y, hyperbolic_cosine); }
void vector_asinh_f32(int64_t count, const float *x, float *y) {
  vector_map(count, x, y, hyperbolic_arcsine);
}
void vector_acosh_f32(int64_t count, const float *x, float *y) {
  vector_map(count, x, y, hyperbolic_arccosine);
}
void vector_atanh_f32(int64_t count, const float *x, float *y) {
  vector_map(count, x, y, hyperbolic_arctangent);
}

void vector_atan2_f32(int64_t count, const float *y, const float *x, float *z) {
  for (; count >= 16; count -= 16, y += 16, x += 16, z += 16)
    f32x16_store(z, angle(f32x16_load(y), f32x16_load(x)));
  if (count > 0)
    f32x16_store_some(z, count, angle(f32x16_load_some(y, count, 0), f32x16_load_some(x, count, 0)));
}
