/* exp, log, tanh, ... of float32 vectors, and loops over arrays of float32 and float64.
 *
 * Bounds, tested against double precision over every exponent (in units in the last place, denormals included):
 *   exp, log                              2 ulp
 *   expm1, log1p, tanh, sigmoid, sin, cos 4 ulp
 *   erf, softplus, elu, selu              4 ulp
 * Special values are those of C's math.h: exp(-inf) = 0, log(0) = -inf, log(x < 0) = NaN, tanh(-0) = -0, NaN stays NaN.
 *
 * The loops give each element the value that the inline function gives it: neither length nor position matters.
 * float64 goes through the C library, whose functions err by 1 or 2 ulp; sigmoid by 3.
 */
#ifndef TFCORE_SIMD_VECTOR_MATH_H_
#define TFCORE_SIMD_VECTOR_MATH_H_

#include "simd/simd.h"

/* y[i] = f(x[i]) for i < count. y may be x, but must not overlap it otherwise. */
void vector_exp_f32(int64_t count, const float *x, float *y);
void vector_expm1_f32(int64_t count, const float *x, float *y);
void vector_log_f32(int64_t count, const float *x, float *y);
void vector_log1p_f32(int64_t count, const float *x, float *y);
void vector_tanh_f32(int64_t count, const float *x, float *y);
void vector_sigmoid_f32(int64_t count, const float *x, float *y);
void vector_sin_f32(int64_t count, const float *x, float *y);
void vector_cos_f32(int64_t count, const float *x, float *y);
void vector_erf_f32(int64_t count, const float *x, float *y);
void vector_softplus_f32(int64_t count, const float *x, float *y); /* log(1 + exp(x)) */
void vector_elu_f32(int64_t count, const float *x, float *y);      /* x < 0 ? exp(x) - 1 : x */
void vector_selu_f32(int64_t count, const float *x, float *y);     /* x < 0 ? SELU_SCALE_ALPHA * (exp(x) - 1) : SELU_SCALE * x */

void vector_exp_f64(int64_t count, const double *x, double *y);
void vector_expm1_f64(int64_t count, const double *x, double *y);
void vector_log_f64(int64_t count, const double *x, double *y);
void vector_log1p_f64(int64_t count, const double *x, double *y);
void vector_tanh_f64(int64_t count, const double *x, double *y);
void vector_sigmoid_f64(int64_t count, const double *x, double *y);
void vector_sin_f64(int64_t count, const double *x, double *y);
void vector_cos_f64(int64_t count, const double *x, double *y);
void vector_erf_f64(int64_t count, const double *x, double *y);
void vector_softplus_f64(int64_t count, const double *x, double *y);
void vector_elu_f64(int64_t count, const double *x, double *y);
void vector_selu_f64(int64_t count, const double *x, double *y);

/* With these, layers keep mean 0 and variance 1. */
#define SELU_SCALE 1.0507009873554804934193349852946
#define SELU_SCALE_ALPHA 1.7580993408473768599402175208123

/* ---- the functions on vectors ---- */

typedef uint32_t u32x4 __attribute__((vector_size(16)));

/* A constant for the inside of loops; `numbers` is a static table (see simd_table). */
SIMD_INLINE f32x4 f32x4_constant(const float *numbers, int i) { return f32x4_load_splat(&simd_table(numbers)[i]); }
static const float kVectorNumbers[] = {1.0f, -0.0f, -80.0f};
SIMD_INLINE f32x4 f32x4_one(void) { return f32x4_constant(kVectorNumbers, 0); }
SIMD_INLINE f32x4 f32x4_minus_abs(f32x4 x) { return (f32x4)((i32x4)x | (i32x4)f32x4_constant(kVectorNumbers, 1)); }

/* coefficients[0] + x * (coefficients[1] + x * ...), with count >= 1 a constant. */
SIMD_INLINE f32x4 f32x4_polynomial(f32x4 x, const float *coefficients, int count) {
  const float *table = simd_table(coefficients);
  f32x4 sum = f32x4_load_splat(&table[count - 1]);
  SIMD_UNROLL for (int i = count - 2; i >= 0; i--) sum = f32x4_madd(sum, x, f32x4_load_splat(&table[i]));
  return sum;
}

/* 2^n as a float, for -126 <= n <= 127. */
SIMD_INLINE f32x4 f32x4_power_of_2(i32x4 n) { return (f32x4)(((u32x4)n + 127) << 23); }

/* x = n * log(2) + r with |r| <= log(2) / 2 and a whole n, for |x| < 2000. Adding 1.5 * 2^23 rounds to a whole number, which
 * then stands in the low bits: `biased` is 0x4b400000 + n + 127, or n + 126 with `halved` (a constant). log(2) is split so
 * that n times its first part is exact. */
SIMD_INLINE f32x4 f32x4_reduce_log2(f32x4 x, int halved, u32x4 *biased) {
  static const float kNumbers[] = {0x1.715476p0f, 0x1.8p23f + 127, 0x1.8p23f + 126, -0x1.63p-1f, 0x1.bd0106p-13f};
  const float *table = simd_table(kNumbers);
  f32x4 magic = f32x4_load_splat(&table[halved ? 2 : 1]);
  f32x4 shifted = f32x4_madd(x, f32x4_load_splat(&table[0]), magic);
  *biased = (u32x4)shifted;
  f32x4 whole = shifted - magic;
  f32x4 r = f32x4_madd(whole, f32x4_load_splat(&table[3]), x);
  return f32x4_madd(whole, f32x4_load_splat(&table[4]), r);
}

/* exp(x) = (1 + p) * 2^n; p is given. */
SIMD_INLINE f32x4 f32x4_exp_parts(f32x4 x, u32x4 *biased) {
  /* exp(r) = 1 + r + r^2 * q(r); minimax for the relative error. */
  static const float kQ[] = {0.499999934314f, 0.166665203979f, 0.0416683909355f, 0.00836874522643f, 0.00138145327529f};
  f32x4 r = f32x4_reduce_log2(x, 0, biased);
  return f32x4_madd(r * r, f32x4_polynomial(r, kQ, 5), r);
}

SIMD_INLINE f32x4 f32x4_exp(f32x4 x) {
  /* Beyond these the result is 0 or infinity; pmin and pmax keep NaN. */
  u32x4 biased;
  f32x4 p = f32x4_exp_parts(f32x4_pmin(f32x4_pmax(x, f32x4_splat(-104.0f)), f32x4_splat(89.0f)), &biased) + f32x4_one();
  /* In two steps, as 2^n itself may lie outside of the normal numbers. The first is exact. */
  i32x4 n = (i32x4)(biased - (0x4b400000u + 127)), half = n >> 1;
  return p * f32x4_power_of_2(half) * f32x4_power_of_2(n - half);
}

/* The same number for |x| <= 87, where it is neither denormal nor infinite, and NaN; anything for other x. */
SIMD_INLINE f32x4 f32x4_exp_normal(f32x4 x) {
  u32x4 biased;
  f32x4 p = f32x4_exp_parts(x, &biased), power = (f32x4)(biased << 23);
  return f32x4_madd(p, power, power);
}
/* Whether f32x4_exp_normal(x) is right for x up to `furthest` below zero. A NaN needs no care, and pmin leaves it out. */
SIMD_INLINE int f32x4_has_normal_exp(f32x4 furthest) { return !i32x4_any(furthest < -87.0f); }

/* exp(r) - 1 for |r| <= log(2) / 2. */
SIMD_INLINE f32x4 f32x4_expm1_reduced(f32x4 r) {
  static const float kQ[] = {0.499999981497f, 0.166665434248f, 0.0416672006301f, 0.00836654710685f, 0.00138825229175f};
  return f32x4_madd(r * r, f32x4_polynomial(r, kQ, 5), r);
}

/* exp(x) - 1 for x in [-80, 89] and NaN. */
SIMD_INLINE f32x4 f32x4_expm1_in_range(f32x4 x) {
  u32x4 biased;
  f32x4 p = f32x4_expm1_reduced(f32x4_reduce_log2(x, 1, &biased));
  /* 2^n * (p + 1) - 1, by way of half of it: 2^128 is no float. 2^(n-1) - 1/2 is exact where it matters. */
  f32x4 half = (f32x4)(biased << 23);
  f32x4 result = f32x4_madd(half, p, half - 0.5f);
  return result + result;
}

SIMD_INLINE f32x4 f32x4_expm1(f32x4 x) {
  f32x4 clamped = f32x4_pmin(f32x4_pmax(x, f32x4_splat(-80.0f)), f32x4_splat(89.0f));
  return f32x4_copysign(f32x4_expm1_in_range(clamped), x); /* the sign of a zero */
}

SIMD_INLINE f32x4 f32x4_log(f32x4 x) {
  /* log(1 + f) = f - f^2 / 2 + f^3 * q(f) for 1 + f in [sqrt(1/2), sqrt(2)]; minimax for the relative error. */
  static const float kQ[] = {0.333333317579f, -0.250008226221f, 0.200012243234f,  -0.166232935236f,
                             0.142017656994f, -0.131608657009f, 0.127618794976f, -0.076329746264f};
  i32x4 denormal = x < 0x1p-126f;
  f32x4 scaled = f32x4_select(denormal, x * 0x1p23f, x);
  i32x4 bits = (i32x4)scaled;
  i32x4 exponent = (i32x4)((u32x4)bits - 0x3f3504f3u) >> 23; /* of bits / sqrt(1/2) */
  f32x4 f = (f32x4)((u32x4)bits - ((u32x4)exponent << 23)) - 1.0f;
  f32x4 e = f32x4_from_i32x4(exponent - (denormal & 23));
  f32x4 z = f * f;
  f32x4 y = f32x4_polynomial(f, kQ, 8) * f * z;
  y = f32x4_madd(e, f32x4_splat(-0x1.bd0106p-13f), y);
  y = f32x4_madd(z, f32x4_splat(-0.5f), y);
  y = f32x4_madd(e, f32x4_splat(0x1.63p-1f), f + y);
  y = f32x4_select(x < INFINITY, y, x); /* +infinity and NaN */
  y = f32x4_select(x == 0.0f, f32x4_splat(-INFINITY), y);
  return f32x4_select(x < 0.0f, f32x4_splat(NAN), y);
}

/* The rounding error of u = 1 + x, divided by u, is what log(u) misses. */
SIMD_INLINE f32x4 f32x4_log1p(f32x4 x) {
  f32x4 u = x + 1.0f;
  f32x4 y = f32x4_log(u) + (x - (u - 1.0f)) / u;
  i32x4 edge = (u == 0.0f) | (u == INFINITY);
  y = f32x4_select(edge, f32x4_log(u), y);
  return f32x4_select(x == 0.0f, x, y);
}

/* With e = exp(2|x|) - 1: e / (e + 2). From 2|x| = 20 on that is 1. */
SIMD_INLINE f32x4 f32x4_tanh(f32x4 x) {
  f32x4 magnitude = f32x4_abs(x);
  f32x4 e = f32x4_expm1_in_range(f32x4_pmin(magnitude + magnitude, f32x4_splat(20.0f)));
  return f32x4_copysign(e / (e + 2.0f), x);
}

/* 1 / (1 + exp(-x)), for negative x as exp(x) / (1 + exp(x)): nothing overflows, and tiny results stay exact. */
SIMD_INLINE f32x4 f32x4_sigmoid_of_exp(f32x4 x, f32x4 e) { return f32x4_select(x < 0.0f, e, f32x4_one()) / (e + f32x4_one()); }
SIMD_INLINE f32x4 f32x4_sigmoid(f32x4 x) { return f32x4_sigmoid_of_exp(x, f32x4_exp(f32x4_minus_abs(x))); }
/* The same number for |x| <= 87 and NaN. */
SIMD_INLINE f32x4 f32x4_sigmoid_normal(f32x4 x) { return f32x4_sigmoid_of_exp(x, f32x4_exp_normal(f32x4_minus_abs(x))); }

/* Below 1 an odd polynomial, above 1 - exp(q(|x|)); minimax for the relative error. From 4 on the result is 1. */
SIMD_INLINE f32x4 f32x4_erf(f32x4 x) {
  static const float kP[] = {0.12837916612625122f,    -0.3761262595653534f,     0.1128358542919159f,    -0.026853810995817184f,
                             0.00518832728266716f,    -0.0008010190795175731f,  7.853851275285706e-05f};
  static const float kQ[] = {0.00018804533465299755f, -1.1295784711837769f,     -0.633219838142395f,    -0.10841862112283707f,
                             0.025208283215761185f,   -0.00420457124710083f,    0.0004413381975609809f, -2.1686997570213862e-05f};
  f32x4 t = f32x4_pmin(f32x4_abs(x), f32x4_splat(4.0f));
  f32x4 near = f32x4_madd(x, f32x4_polynomial(x * x, kP, 7), x);
  f32x4 far = 1.0f - f32x4_exp(f32x4_polynomial(t, kQ, 8));
  return f32x4_select(t < 1.0f, near, f32x4_copysign(far, x));
}

/* Of large numbers themselves, of small ones the exponential. */
SIMD_INLINE f32x4 f32x4_softplus(f32x4 x) {
  return f32x4_pmax(x, f32x4_splat(0.0f)) + f32x4_log1p(f32x4_exp(-f32x4_abs(x)));
}

/* exp(x) - 1 where x < 0; anything elsewhere. */
SIMD_INLINE f32x4 f32x4_expm1_below_zero(f32x4 x) {
  u32x4 biased;
  f32x4 r = f32x4_reduce_log2(f32x4_pmax(x, f32x4_constant(kVectorNumbers, 2)), 0, &biased);
  f32x4 power = (f32x4)(biased << 23);
  return f32x4_madd(power, f32x4_expm1_reduced(r), power - f32x4_one());
}
SIMD_INLINE f32x4 f32x4_elu(f32x4 x) { return f32x4_select(x < 0.0f, f32x4_expm1_below_zero(x), x); }
SIMD_INLINE f32x4 f32x4_selu(f32x4 x) {
  return f32x4_select(x < 0.0f, f32x4_expm1_below_zero(x) * (float)SELU_SCALE_ALPHA, x * (float)SELU_SCALE);
}

/* x = quadrant * pi / 2 + r for |x| <= 2^20, in double precision: floats come close to multiples of pi / 2. */
SIMD_INLINE f64x2 f64x2_reduce_half_pi(f64x2 x, f64x2 *quadrant) {
  const f64x2 kMagic = f64x2_splat(0x1.8p52);
  f64x2 whole = (x * 0x1.45f306dc9c883p-1 + kMagic) - kMagic;
  *quadrant = whole;
  return (x - whole * 0x1.921fb544p0) - whole * 0x1.0b4611a626331p-34;
}

/* sin(x + shift * pi / 2) for |x| <= 2^20; anything for other x. */
SIMD_INLINE f32x4 f32x4_sine_in_range(f32x4 x, int shift) {
  static const float kSin[] = {-0.166666545732f, 0.00833215841329f, -0.000195149580402f};
  static const float kCos[] = {0.0416666456187f, -0.00138873130579f, 2.44327845623e-5f};
  x = f32x4_select(f32x4_abs(x) <= 0x1p20f, x, f32x4_splat(0.0f));
  f64x2 low_quadrant, high_quadrant;
  f64x2 low = f64x2_reduce_half_pi((f64x2){x[0], x[1]}, &low_quadrant);
  f64x2 high = f64x2_reduce_half_pi((f64x2){x[2], x[3]}, &high_quadrant);
  f32x4 r = {(float)low[0], (float)low[1], (float)high[0], (float)high[1]};
  i32x4 quadrant = {(int32_t)low_quadrant[0], (int32_t)low_quadrant[1], (int32_t)high_quadrant[0], (int32_t)high_quadrant[1]};
  quadrant += shift;
  f32x4 z = r * r;
  f32x4 sine = f32x4_madd(r * z, f32x4_polynomial(z, kSin, 3), r);
  f32x4 cosine = f32x4_madd(z * z, f32x4_polynomial(z, kCos, 3), f32x4_madd(z, f32x4_splat(-0.5f), f32x4_splat(1.0f)));
  f32x4 y = f32x4_select((quadrant & 1) == 0, sine, cosine);
  return (f32x4)((i32x4)y ^ ((quadrant & 2) << 30));
}

SIMD_INLINE f32x4 f32x4_sin(f32x4 x) {
  f32x4 y = f32x4_sine_in_range(x, 0);
  i32x4 far = ~(f32x4_abs(x) <= 0x1p20f);
  if (i32x4_any(far)) y = f32x4_select(far, (f32x4){sinf(x[0]), sinf(x[1]), sinf(x[2]), sinf(x[3])}, y);
  return f32x4_select(x == 0.0f, x, y);
}

SIMD_INLINE f32x4 f32x4_cos(f32x4 x) {
  f32x4 y = f32x4_sine_in_range(x, 1);
  i32x4 far = ~(f32x4_abs(x) <= 0x1p20f);
  if (i32x4_any(far)) y = f32x4_select(far, (f32x4){cosf(x[0]), cosf(x[1]), cosf(x[2]), cosf(x[3])}, y);
  return y;
}

#endif
