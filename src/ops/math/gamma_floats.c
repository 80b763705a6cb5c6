#include "ops/math/gamma_floats.h"

#include <math.h>
#include <string.h>

#include "ops/math/gamma_functions.h"
#include "ops/math/gamma_pairs.h"
#include "simd/double_math.h"
#include "simd/vector_math.h"

/* x - round(x), for |x| <= 2^50. */
SIMD_INLINE f64x2 from_integer(f64x2 x) {
  f64x2 magic = f64x2_splat(0x1.8p52);
  return x - ((x + magic) - magic);
}

static const double kPi = 3.14159265358979323846;

/* Arguments that the formulas allow; of those below -2^50, all floats are poles. */
SIMD_INLINE i64x2 is_known(f64x2 x) {
  return (x > f64x2_splat(-0x1p50)) & (x < f64x2_splat((double)INFINITY)) & (x != f64x2_splat(0));
}

SIMD_INLINE f64x2 digamma_pair(f64x2 x) {
  f64x2 nan = f64x2_splat((double)NAN), one = f64x2_splat(1);
  i64x2 known = is_known(x), negative = known & (x < f64x2_splat(0));
  f64x2 given = f64x2_select(known, x, one);
  f64x2 y = gamma_digamma_of_positive(f64x2_select(negative, one - given, given));
  if (i64x2_any(negative)) {
    /* the reflection: y - pi / tan(pi x) */
    f64x2 half = from_integer(given) * f64x2_splat(kPi / 2), zero = f64x2_splat(0);
    f64x2 sine = f64x2_sin_near(half, zero), cosine = f64x2_cos_near(half, zero);
    f64x2 tangent = f64x2_splat(kPi / 2) * (cosine * cosine - sine * sine) / (sine * cosine);
    y = f64x2_select(negative, f64x2_select(sine == zero, nan, y - tangent), y);
  }
  return f64x2_select(known, y, f64x2_select(x > one, x, nan));
}

typedef f64x2 PairFunction(f64x2 x);

/* Two and two of four, which do not wait for each other. */
SIMD_INLINE f32x4 map_four(f32x4 x, PairFunction *function) {
  DoublePair wide = f32x4_to_double(x);
  return f32x4_of_double((DoublePair){function(wide.low), function(wide.high)});
}

/* After the last four, with ones. */
SIMD_INLINE void map_floats(int64_t count, const float *x, float *y, PairFunction *function) {
  float rest[4] = {1, 1, 1, 1};
  for (; count >= 4; count -= 4, x += 4, y += 4) f32x4_store(y, map_four(f32x4_load(x), function));
  if (count <= 0) return;
  memcpy(rest, x, sizeof(float) * (size_t)count);
  f32x4_store(rest, map_four(f32x4_load(rest), function));
  memcpy(y, rest, sizeof(float) * (size_t)count);
}
void gamma_floats_digamma(int64_t count, const float *x, float *y) { map_floats(count, x, y, digamma_pair); }

/* Where gamma_zeta's sum is that of positive terms, and few of them count. */
SIMD_INLINE i64x2 is_plain(f64x2 s, f64x2 q) {
  const f64x2 zero = f64x2_splat(0), far = f64x2_splat((double)INFINITY);
  return (s > f64x2_one()) & (s < f64x2_splat(1e6)) & (q > zero) & (q < far);
}

/* As gamma_zeta: a sum up to q >= 10 and q >= s, and Euler and Maclaurin's formula for the remainder, unless
 * it became negligible before. */
SIMD_INLINE f64x2 zeta_pair(f64x2 s, f64x2 q) {
  /* B(2k) / (2k)! */
  static const double kTerms[] = {1.0 / 12,       -1.0 / 720,     1.0 / 30240,
                                  -1.0 / 1209600, 1.0 / 47900160, -691.0 / 1307674368000.0};
  const f64x2 zero = f64x2_splat(0), one = f64x2_one(), end = f64x2_pmax(f64x2_splat(10), s);
  f64x2 sum = zero;
  i64x2 open = i64x2_splat(-1);
  for (i64x2 adds = q < end; i64x2_any(adds); adds = open & (q < end)) {
    f64x2 term = f64x2_select(adds, f64x2_exp(-s * f64x2_log_normal(q)), zero);
    sum += term;
    i64x2 counts = term * (s - one + q) > f64x2_splat(1e-10) * sum * (s - one);
    open &= ~adds | (counts & (sum < f64x2_splat((double)INFINITY)));
    q = f64x2_select(adds, q + one, q);
  }
  f64x2 inverse = one / q, power = f64x2_exp(-s * f64x2_log_normal(q)), factor = s * power * inverse;
  f64x2 rest = q * power / (s - one) + f64x2_half() * power;
  for (int k = 0; k < 6; k++) {
    rest += f64x2_constant(kTerms, k) * factor;
    factor *= (s + f64x2_splat(2 * k + 1)) * inverse * ((s + f64x2_splat(2 * k + 2)) * inverse);
  }
  return f64x2_select(open, sum + rest, sum);
}

/* Lanes that are not plain are given numbers that are, and computed one by one. */
SIMD_INLINE f64x2 zeta_anywhere(f64x2 s, f64x2 q) {
  i64x2 plain = is_plain(s, q);
  f64x2 z = zeta_pair(f64x2_select(plain, s, f64x2_two()), f64x2_select(plain, q, f64x2_one()));
  for (int i = 0; i64x2_any(~plain) && i < 2; i++)
    if (!plain[i]) z[i] = gamma_zeta(s[i], q[i]);
  return z;
}

/* The derivatives 1 to 170 of the digamma function are those whose factorials are doubles. */
SIMD_INLINE f64x2 polygamma_anywhere(f64x2 n, f64x2 x) {
  f64x2 one = f64x2_one(), shifted = n + f64x2_rounder(), whole = shifted - f64x2_rounder();
  i64x2 plain = is_plain(n + one, x) & (n >= one) & (n <= f64x2_splat(170)) & (n == whole);
  f64x2 order = f64x2_select(plain, n, one), product = one;
  for (f64x2 k = f64x2_two(); i64x2_any(k <= order); k += one) product *= f64x2_select(k <= order, k, one);
  f64x2 z = product * zeta_pair(order + one, f64x2_select(plain, x, one));
  z = (f64x2)((i64x2)z ^ (i64x2)(~(u64x2)shifted << 63)); /* positive for odd n */
  for (int i = 0; i64x2_any(~plain) && i < 2; i++)
    if (!plain[i]) z[i] = gamma_polygamma(n[i], x[i]);
  return z;
}

SIMD_INLINE void map_two(int64_t count, const float *x, const float *y, float *z,
                         f64x2 (*function)(f64x2 x, f64x2 y)) {
  for (; count > 0; count -= 2, x += 2, y += 2, z += 2) {
    int last = count > 1;
    f64x2 result = function((f64x2){(double)x[0], (double)x[last]}, (f64x2){(double)y[0], (double)y[last]});
    for (int i = 0; i <= last; i++) z[i] = (float)result[i];
  }
}
void gamma_floats_zeta(int64_t count, const float *s, const float *q, float *z) {
  map_two(count, s, q, z, zeta_anywhere);
}
void gamma_floats_polygamma(int64_t count, const float *n, const float *x, float *z) {
  map_two(count, n, x, z, polygamma_anywhere);
}
