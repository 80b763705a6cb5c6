/* The coefficients are minimax for the relative error: least squares with weights raised where the error is
 * large, until it is level; then each is rounded in turn, and the later ones are fitted again. */
#include "ops/math/special_floats.h"

#include "simd/vector_map.h"
#include "simd/vector_math.h"

/* The y with erfc(y) / 2 = q, for q below 0.0017, NaN and negative: s with q = exp(-s^2) and a rational
 * function of s. In place, and not inlined: few numbers are so near to the ends. */
SIMD_NOINLINE void error_tail(float *values) {
  static const float kP[] = {-1.78757262f, -1.4459486f, -0.133671328f, -0.000355404336f};
  static const float kQ[] = {1.0f, 2.46137381f, 0.917185903f, 0.0497554131f};
  f32x16 q = f32x16_load(values), s = f32x16_sqrt(f32x16_neg(f32x16_log(q)));
  f32x16 y = s + f32x16_polynomial(s, kP, 4) / f32x16_polynomial(s, kQ, 4);
  f32x16_store(values, f32x16_select(f32x16_equal(q, f32x16_splat(0.0f)), f32x16_splat(INFINITY), y));
}

/* The y with erf(y) = x. The other arguments are 1 - x^2 and (1 - |x|) / 2, which x itself, as a rounded
 * number, does not have. As a function of w = -log(1 - x^2), y / x is smooth: a polynomial in w - 5/2 for w
 * < 5. */
SIMD_INLINE f32x16 inverse_error(f32x16 x, f32x16 rest_of_square, f32x16 q) {
  static const float kP[] = {1.50140941f,     0.24664028f,      -0.0041776686f,   -0.00125275564f,
                             0.000218577377f, -4.94347341e-06f, -3.52363691e-06f, 4.59947017e-07f,
                             2.81819386e-08f, -8.23653501e-09f};
  static const float kNumbers[] = {2.5f, -5.0f};
  f32x16 minus_w = f32x16_log(rest_of_square);
  f32x16 y = x * f32x16_polynomial(f32x16_neg(minus_w + f32x16_constant(kNumbers, 0)), kP, 10);
  i32x16 is_central = f32x16_less(f32x16_constant(kNumbers, 1), minus_w);
  if (i32x16_any(~is_central))
    y = f32x16_select(is_central, y, f32x16_copysign(f32x16_by_call(q, error_tail), x));
  return y;
}

SIMD_INLINE f32x16 erfinv(f32x16 x) {
  const f32x16 one = f32x16_one(), half = f32x16_constant(kVectorNumbers, 2);
  return inverse_error(x, (one - x) * (one + x), (one - f32x16_abs(x)) * half);
}

SIMD_INLINE f32x16 ndtri(f32x16 p) {
  static const float kNumbers[] = {4.0f, 1.41421356f};
  const f32x16 one = f32x16_one();
  f32x16 rest = one - p;
  f32x16 y = inverse_error(p + p - one, f32x16_constant(kNumbers, 0) * p * rest, f32x16_pmin(p, rest));
  return y * f32x16_constant(kNumbers, 1);
}

void special_floats_erfinv(int64_t count, const float *x, float *y) { vector_map(count, x, y, erfinv); }
void special_floats_ndtri(int64_t count, const float *x, float *y) { vector_map(count, x, y, ndtri); }

/* exp(-a) I(a) of a >= 0, or NaN: below 3.5 a polynomial in a - 1.75 times the factor, then one in 1 / a -
 * 0.125 over sqrt(a). The tables have 13 and 11 coefficients. */
SIMD_INLINE f32x16 scaled_bessel(f32x16 a, f32x16 factor, const float *near, const float *far) {
  static const float kNumbers[] = {3.5f, 1.75f, 0.125f};
  const f32x16 edge = f32x16_constant(kNumbers, 0);
  f32x16 inverse_root = f32x16_one() / f32x16_sqrt(f32x16_pmax(a, edge));
  f32x16 s = inverse_root * inverse_root - f32x16_constant(kNumbers, 2);
  return f32x16_select(f32x16_less(a, edge),
                       factor * f32x16_polynomial(a - f32x16_constant(kNumbers, 1), near, 13),
                       inverse_root * f32x16_polynomial(s, far, 11));
}

SIMD_INLINE f32x16 i0e(f32x16 x) {
  static const float kNear[] = {0.334558666f,    -0.116378956f,   0.0540417805f,   -0.02336419f,
                                0.00882851519f,  -0.00289408839f, 0.000829186873f, -0.000210390281f,
                                4.77418944e-05f, -9.5260757e-06f, 1.75642629e-06f, -3.72317231e-07f,
                                5.86653925e-08f};
  static const float kFar[] = {0.405686349f, 0.0587954782f, 0.0470502786f, 0.0949641988f,
                               0.326445639f, 0.30685243f,   -10.088356f,   -39.258625f,
                               226.448807f,  701.95874f,    -3394.06055f};
  return scaled_bessel(f32x16_abs(x), f32x16_one(), kNear, kFar);
}

SIMD_INLINE f32x16 i1e(f32x16 x) {
  static const float kNear[] = {0.124674119f,    -0.075982444f,    0.0342466868f,   -0.0127417808f,
                                0.00405670842f,  -0.00112783373f,  0.000277748244f, -6.1402854e-05f,
                                1.23443333e-05f, -2.22254948e-06f, 3.60563035e-07f, -6.68773197e-08f,
                                1.04404023e-08f};
  static const float kFar[] = {0.379412264f,  -0.163891494f, -0.0720417798f, -0.120698243f,
                               -0.388008237f, -0.433290094f, 10.5566158f,    43.0074081f,
                               -221.368164f,  -726.742432f,  3245.08228f};
  f32x16 a = f32x16_abs(x);
  return f32x16_copysign(scaled_bessel(a, a, kNear, kFar), x);
}

void special_floats_i0e(int64_t count, const float *x, float *y) { vector_map(count, x, y, i0e); }
void special_floats_i1e(int64_t count, const float *x, float *y) { vector_map(count, x, y, i1e); }
