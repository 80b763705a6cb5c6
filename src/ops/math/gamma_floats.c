#include "ops/math/gamma_floats.h"

#include <math.h>
#include <string.h>

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
