#include "simd/circular_math.h"

#include "simd/double_map.h"
#include "simd/double_math.h"

/* pi and pi / 2 as two numbers each, and pi / 4. */
static const double kAngles[] = {0x1.921fb54442d18p1,   0x1.1a62633145c07p-53, 0x1.921fb54442d18p0,
                                 0x1.1a62633145c07p-54, 0x1.921fb54442d18p-1,  0x1.1a62633145c07p-55};
SIMD_INLINE f64x2 pi(void) { return f64x2_constant(kAngles, 0); }
SIMD_INLINE f64x2 pi_rest(void) { return f64x2_constant(kAngles, 1); }
SIMD_INLINE f64x2 half_pi(void) { return f64x2_constant(kAngles, 2); }
SIMD_INLINE f64x2 half_pi_rest(void) { return f64x2_constant(kAngles, 3); }
SIMD_INLINE f64x2 infinity(void) { return f64x2_splat((double)INFINITY); }

/* The tangent of what is left of multiples of pi / 2; of an odd multiple, minus its reciprocal. */
SIMD_INLINE f64x2 tangent(f64x2 x) {
  f64x2 shifted, rest;
  i64x2 known;
  f64x2 r = f64x2_reduce_quarter_turns(x, &shifted, &rest, &known);
  f64x2 sine = f64x2_sin_near(r, rest), cosine = f64x2_cos_near(r, rest);
  i64x2 is_odd = -((i64x2)shifted & 1);
  f64x2 y = f64x2_select(is_odd, -cosine, sine) / f64x2_select(is_odd, sine, cosine);
  return f64x2_select(x == f64x2_splat(0), x, f64x2_where(~known, x, y, tan));
}

/* For a >= 0: asin(a) up to 1/2, then half of acos(a), which is asin(sqrt(z)) with z = (1 - a) / 2. That is a
 * sum of which the other term, `most`, is exact: the root, of which few bits are taken, and what these lack.
 */
SIMD_INLINE f64x2 arc_near(f64x2 a, i64x2 is_far, f64x2 *most) {
  static const double kP[] = {0.16666666666666669,   0.07499999999998246,  0.044642857146715044,
                              0.03038194411148467,   0.02237217399200189,  0.01735236869724945,
                              0.013971561216347437,  0.011475856359349187, 0.010343931526219959,
                              0.0053688553753243684, 0.017636807555576384, -0.015212468367595112,
                              0.028998895104190122};
  f64x2 half = f64x2_half(), z = f64x2_select(is_far, (f64x2_one() - a) * half, a * a);
  f64x2 root = f64x2_sqrt(z), arc = f64x2_select(is_far, root, a),
        part = arc * z * f64x2_polynomial(z, kP, 13);
  f64x2 short_root = (f64x2)((i64x2)root & i64x2_splat(-(INT64_C(1) << 32)));
  f64x2 lost = (z - short_root * short_root) / (root + short_root);
  *most = f64x2_select(is_far, short_root, a);
  return f64x2_select(is_far & (root > f64x2_splat(0)), part + lost, part);
}

SIMD_INLINE f64x2 arcsine(f64x2 x) {
  f64x2 a = f64x2_abs(x), most;
  i64x2 is_far = a > f64x2_half();
  f64x2 part = arc_near(a, is_far, &most);
  /* pi / 4 - 2 most is exact */
  f64x2 quarter = half_pi() * f64x2_half(),
        far = quarter - (part + part - half_pi_rest() - (quarter - (most + most)));
  return f64x2_copysign(f64x2_select(is_far, far, most + part), x);
}

SIMD_INLINE f64x2 arccosine(f64x2 x) {
  f64x2 a = f64x2_abs(x), most;
  i64x2 is_far = a > f64x2_half(), is_negative = x < f64x2_splat(0);
  f64x2 part = arc_near(a, is_far, &most), arc = most + part;
  f64x2 far = f64x2_select(is_negative, pi() - (arc + arc - pi_rest()), arc + arc);
  f64x2 signed_part = f64x2_copysign(part, x);
  return f64x2_select(is_far, far, half_pi() - (x + (signed_part - half_pi_rest())));
}

/* atan(smaller / larger) for 0 <= smaller <= larger: up to tan(pi / 8) of the ratio itself, then pi / 4 and
 * that of (ratio - 1) / (ratio + 1). */
SIMD_INLINE f64x2 arctangent_near(f64x2 smaller, f64x2 larger) {
  static const double kP[] = {-0.3333333333333333,  0.1999999999999578,   -0.14285714284716178,
                              0.11111111018941089,  -0.0909090471713622,  0.07692186204846631,
                              -0.06664551248701299, 0.058584743280062315, -0.05087058034502706,
                              0.03927567633997963,  -0.019228100104737};
  static const double kNumbers[] = {0.41421356237309503};
  i64x2 is_far = smaller > larger * f64x2_constant(kNumbers, 0);
  f64x2 t = f64x2_select(is_far, smaller - larger, smaller) / f64x2_select(is_far, smaller + larger, larger);
  f64x2 z = t * t, arc = t * z * f64x2_polynomial(z, kP, 11);
  f64x2 far = f64x2_constant(kAngles, 4) + (t + (arc + f64x2_constant(kAngles, 5)));
  return f64x2_select(is_far, far, t + arc);
}

SIMD_INLINE f64x2 arctangent(f64x2 x) {
  f64x2 a = f64x2_abs(x), one = f64x2_one();
  i64x2 is_far = one < a;
  f64x2 arc = arctangent_near(f64x2_select(is_far, one, a), f64x2_select(is_far, a, one));
  return f64x2_copysign(f64x2_select(is_far, half_pi() - (arc - half_pi_rest()), arc), x);
}

SIMD_INLINE f64x2 angle(f64x2 y, f64x2 x) {
  /* Factors that keep sums finite and numbers normal; a divisor that is too small to be the larger one of
   * two, unless both are 0. */
  static const double kNumbers[] = {0x1p1000, 0x1p-200, 0x1p-800, 0x1p200, 0x1p-1074};
  f64x2 a = f64x2_abs(y), b = f64x2_abs(x), one = f64x2_one(), smaller = f64x2_pmin(b, a);
  f64x2 larger = f64x2_pmax(f64x2_pmax(b, a), f64x2_constant(kNumbers, 4));
  f64x2 scale = f64x2_select(larger > f64x2_constant(kNumbers, 0), f64x2_constant(kNumbers, 1), one);
  scale = f64x2_select(larger < f64x2_constant(kNumbers, 2), f64x2_constant(kNumbers, 3), scale);
  /* Equal infinities are at an angle of pi / 4; NaN in y is lost so far. */
  i64x2 is_same = smaller == infinity();
  f64x2 arc = arctangent_near(f64x2_select(is_same, one, smaller * scale),
                              f64x2_select(is_same, one, larger * scale));
  arc = f64x2_select(y == y, arc, y);
  i64x2 is_steep = b < a, is_left = f64x2_copysign(one, x) < f64x2_splat(0);
  f64x2 signed_arc = f64x2_select(is_steep ^ is_left, -arc, arc);
  f64x2 far =
      f64x2_select(is_steep, half_pi() + (signed_arc + half_pi_rest()), pi() + (signed_arc + pi_rest()));
  return f64x2_copysign(f64x2_select(is_steep | is_left, far, arc), y);
}

/* From 710 on the C library's: the results are near to infinity. */
SIMD_INLINE i64x2 is_huge(f64x2 a) {
  static const double kHuge[] = {710};
  return a > f64x2_constant(kHuge, 0);
}

SIMD_INLINE f64x2 hyperbolic_cosine(f64x2 x) {
  static const double kQuarter[] = {0.25};
  f64x2 a = f64x2_abs(x), e = f64x2_half_expm1(a) + f64x2_half();
  return f64x2_where(is_huge(a), x, e + f64x2_constant(kQuarter, 0) / e, cosh);
}

/* With h = (exp(a) - 1) / 2: h + h / (2h + 1). Half of a denormal number may be none. */
SIMD_INLINE f64x2 hyperbolic_sine(f64x2 x) {
  static const double kNear[] = {0x1p-28};
  f64x2 a = f64x2_abs(x), h = f64x2_half_expm1(a), y = h + h / (h + h + f64x2_one());
  y = f64x2_where(is_huge(a), x, f64x2_copysign(y, x), sinh);
  return f64x2_select(a < f64x2_constant(kNear, 0), x, y);
}

/* log(1 + 2h) for h >= 0, of which the double may be no number; NaN for NaN. */
SIMD_INLINE f64x2 log1p_of_double(f64x2 h) {
  f64x2 u = h + f64x2_half(), f, e = f64x2_log_exponent(u, &f) + f64x2_one();
  f64x2 y = f64x2_log_by_parts(e, f, (h - (u - f64x2_half())) / u);
  return f64x2_select(h < infinity(), y, h);
}

/* log(1 + a + a^2 / (1 + sqrt(1 + a^2))). The last fraction is a from 2^60 on, where the square could
 * overflow. */
SIMD_INLINE f64x2 hyperbolic_arcsine(f64x2 x) {
  static const double kBounds[] = {0x1p60, 0x1p-28};
  f64x2 a = f64x2_abs(x), one = f64x2_one(), b = f64x2_pmin(a, f64x2_constant(kBounds, 0));
  f64x2 part = b / (one + f64x2_sqrt(f64x2_madd(b, b, one))), halved = a * f64x2_half();
  f64x2 y = log1p_of_double(f64x2_madd(halved, part, halved));
  return f64x2_select(a < f64x2_constant(kBounds, 1), x, f64x2_copysign(y, x));
}

/* With t = x - 1: log(1 + t + sqrt(t (t + 2))). The sum is less than 2x, also when rounding. */
SIMD_INLINE f64x2 hyperbolic_arccosine(f64x2 x) {
  f64x2 t = x - f64x2_one(), half = f64x2_half(), root = f64x2_sqrt(t) * half;
  return log1p_of_double(f64x2_pmin(f64x2_madd(root, f64x2_sqrt(t + f64x2_two()), t * half), x));
}

/* log((1 + a) / (1 - a)) / 2 */
SIMD_INLINE f64x2 hyperbolic_arctangent(f64x2 x) {
  static const double kNear[] = {0x1p-28};
  f64x2 a = f64x2_abs(x), y = f64x2_log1p((a + a) / (f64x2_one() - a)) * f64x2_half();
  return f64x2_select(a < f64x2_constant(kNear, 0), x, f64x2_copysign(y, x));
}

#define LOOP(name, function) \
  void vector_##name##_f64(int64_t count, const double *x, double *y) { double_map(count, x, y, function); }
LOOP(tan, tangent)
LOOP(asin, arcsine)
LOOP(acos, arccosine)
LOOP(atan, arctangent)
LOOP(sinh, hyperbolic_sine)
LOOP(cosh, hyperbolic_cosine)
LOOP(asinh, hyperbolic_arcsine)
LOOP(acosh, hyperbolic_arccosine)
LOOP(atanh, hyperbolic_arctangent)

void vector_atan2_f64(int64_t count, const double *y, const double *x, double *z) {
  for (; count >= 2; count -= 2, y += 2, x += 2, z += 2) f64x2_store(z, angle(f64x2_load(y), f64x2_load(x)));
  if (count > 0) *z = angle(f64x2_load_splat(y), f64x2_load_splat(x))[0];
}
