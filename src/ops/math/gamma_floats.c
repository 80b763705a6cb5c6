#include "ops/math/gamma_floats.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "simd/simd.h"

/* coefficients[0] + x * (coefficients[1] + x * ...), with count >= 2 a constant: of the even powers and of
 * the odd ones, which do not wait for each other. */
SIMD_INLINE f64x2 polynomial(f64x2 x, const double *coefficients, int count) {
  f64x2 square = x * x, sum[2];
  sum[(count - 1) % 2] = f64x2_load_splat(&coefficients[count - 1]);
  sum[count % 2] = f64x2_load_splat(&coefficients[count - 2]);
  SIMD_UNROLL
  for (int i = count - 3; i >= 0; i--)
    sum[i % 2] = f64x2_madd(sum[i % 2], square, f64x2_load_splat(&coefficients[i]));
  return f64x2_madd(sum[1], x, sum[0]);
}

/* The logarithm of normal numbers: x = 2^e * m with m from sqrt(1/2) to sqrt(2), and log(m) = 2 atanh(s). */
SIMD_INLINE f64x2 log_of(f64x2 x) {
  static const double kTerms[] = {2.0 / 3,  2.0 / 5,  2.0 / 7,  2.0 / 9,  2.0 / 11,
                                  2.0 / 13, 2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21};
  const int64_t half_root = 0x3fe6a09e667f3bcd;
  i64x2 bits = (i64x2)x, exponent = (bits - i64x2_splat(half_root)) >> 52;
  f64x2 m = (f64x2)((u64x2)bits - ((u64x2)exponent << 52)), one = f64x2_splat(1),
        magic = f64x2_splat(0x1.8p52);
  f64x2 e = (f64x2)((i64x2)magic + exponent) - magic, s = (m - one) / (m + one), z = s * s;
  f64x2 small = s * z * polynomial(z, kTerms, 10) + e * f64x2_splat(0x1.ef35793c76730p-45);
  return e * f64x2_splat(0x1.62e42fefa3800p-1) + (s + s + small);
}

/* sin(v) and cos(v) for |v| <= pi / 4. */
SIMD_INLINE void sin_and_cos(f64x2 v, f64x2 *sine, f64x2 *cosine) {
  static const double kSine[] = {-1.0 / 6,          1.0 / 120,          -1.0 / 5040,           1.0 / 362880,
                                 -1.0 / 39916800.0, 1.0 / 6227020800.0, -1.0 / 1307674368000.0},
                      kCosine[] = {1,
                                   -1.0 / 2,
                                   1.0 / 24,
                                   -1.0 / 720,
                                   1.0 / 40320,
                                   -1.0 / 3628800,
                                   1.0 / 479001600.0,
                                   -1.0 / 87178291200.0,
                                   1.0 / 20922789888000.0};
  f64x2 z = v * v;
  *sine = v + v * z * polynomial(z, kSine, 7);
  *cosine = polynomial(z, kCosine, 9);
}

/* x - round(x), for |x| <= 2^50. */
SIMD_INLINE f64x2 from_integer(f64x2 x) {
  f64x2 magic = f64x2_splat(0x1.8p52);
  return x - ((x + magic) - magic);
}

/* x (x + 1) ... (x + SHIFT - 1), and its derivative: their quotient is the difference of the function at
 * x + SHIFT and at x. */
enum { SHIFT = 8 };
SIMD_INLINE f64x2 rising_product(f64x2 x, f64x2 *derivative) {
  f64x2 product = x, slope = f64x2_splat(1);
  SIMD_UNROLL
  for (int k = 1; k < SHIFT; k++) {
    f64x2 factor = x + f64x2_splat(k);
    slope = f64x2_madd(slope, factor, product);
    product *= factor;
  }
  *derivative = slope;
  return product;
}

SIMD_INLINE bool any(i64x2 mask) { return (mask[0] | mask[1]) != 0; }

static const double kPi = 3.14159265358979323846;

/* Arguments that the formulas allow; of those below -2^50, all floats are poles. */
SIMD_INLINE i64x2 is_known(f64x2 x) {
  return (x > f64x2_splat(-0x1p50)) & (x < f64x2_splat((double)INFINITY)) & (x != f64x2_splat(0));
}

SIMD_INLINE f64x2 digamma_of_positive(f64x2 x) {
  /* of the asymptotic series: Bernoulli numbers B(2k) / 2k */
  static const double kTerms[] = {1.0 / 12,  -1.0 / 120,     1.0 / 252, -1.0 / 240,
                                  1.0 / 132, -691.0 / 32760, 1.0 / 12};
  f64x2 one = f64x2_splat(1), slope;
  i64x2 small = x < f64x2_splat(SHIFT);
  f64x2 y = f64x2_select(small, x + f64x2_splat(SHIFT), x), inverse = one / y, z = inverse * inverse;
  f64x2 far = log_of(y) - (f64x2_splat(0.5) * inverse + z * polynomial(z, kTerms, 7));
  if (!any(small)) return far;
  f64x2 product = rising_product(f64x2_select(small, x, one), &slope);
  return f64x2_select(small, far - slope / product, far);
}

SIMD_INLINE f64x2 digamma_pair(f64x2 x) {
  f64x2 nan = f64x2_splat((double)NAN), one = f64x2_splat(1);
  i64x2 known = is_known(x), negative = known & (x < f64x2_splat(0));
  f64x2 given = f64x2_select(known, x, one);
  f64x2 y = digamma_of_positive(f64x2_select(negative, one - given, given));
  if (any(negative)) {
    /* the reflection: y - pi / tan(pi x) */
    f64x2 sine, cosine;
    sin_and_cos(from_integer(given) * f64x2_splat(kPi / 2), &sine, &cosine);
    f64x2 tangent = f64x2_splat(kPi / 2) * (cosine * cosine - sine * sine) / (sine * cosine);
    y = f64x2_select(negative, f64x2_select(sine == f64x2_splat(0), nan, y - tangent), y);
  }
  return f64x2_select(known, y, f64x2_select(x > one, x, nan));
}

typedef f64x2 PairFunction(f64x2 x);

typedef float FloatPair __attribute__((vector_size(8)));

/* Two and two of four, which do not wait for each other. */
SIMD_INLINE f32x4 map_four(f32x4 x, PairFunction *function) {
  f64x2 low = function(__builtin_convertvector(((FloatPair){x[0], x[1]}), f64x2)),
        high = function(__builtin_convertvector(((FloatPair){x[2], x[3]}), f64x2));
  FloatPair first = __builtin_convertvector(low, FloatPair),
            second = __builtin_convertvector(high, FloatPair);
  return (f32x4){first[0], first[1], second[0], second[1]};
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
