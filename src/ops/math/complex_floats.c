#include "ops/math/complex_floats.h"

#include "ops/support/complex_math.h"
#include "ops/support/element_types.h"
#include "simd/circular_math.h"
#include "simd/double_math.h"
#include "simd/vector_math.h"

typedef struct ComplexPair {
  f64x2 real, imaginary;
} ComplexPair;
/* In place; returns in which lanes the result is right. In double, squares of floats are exact, and neither
 * too large nor too small. */
typedef i64x2 PairFunction(ComplexPair *z);

SIMD_INLINE i64x2 is_in_range(f64x2 x, double below) { return f64x2_abs(x) < f64x2_splat(below); }

/* Whether finite, and not 0. */
SIMD_INLINE i64x2 has_magnitude(f64x2 square) {
  return (square > f64x2_splat(0)) & is_in_range(square, (double)INFINITY);
}

SIMD_INLINE i64x2 sqrt_pair(ComplexPair *z) {
  f64x2 x = z->real, y = z->imaginary, half = f64x2_splat(0.5), square = x * x + y * y;
  f64x2 large = f64x2_sqrt((f64x2_abs(x) + f64x2_sqrt(square)) * half), small = half * f64x2_abs(y) / large;
  i64x2 is_left = x < f64x2_splat(0), sign = (i64x2)f64x2_splat(-0.0);
  z->real = f64x2_select(is_left, small, large);
  z->imaginary = (f64x2)((i64x2)f64x2_select(is_left, large, small) | ((i64x2)y & sign));
  return has_magnitude(square);
}

/* The real part only. Near 1 the square of the magnitude, less 1, is the sum of exact terms. */
SIMD_INLINE i64x2 log_pair(ComplexPair *z) {
  f64x2 x = f64x2_abs(z->real), y = f64x2_abs(z->imaginary), square = x * x + y * y, one = f64x2_splat(1);
  f64x2 larger = f64x2_pmax(x, y), smaller = f64x2_pmin(x, y), f, e = f64x2_log_exponent(square, &f);
  f = f64x2_select(e == f64x2_splat(0), (larger - one) * (larger + one) + smaller * smaller, f);
  z->real = f64x2_splat(0.5) * f64x2_log_by_parts(e, f, f64x2_splat(0));
  return has_magnitude(square);
}

SIMD_INLINE i64x2 exp_pair(ComplexPair *z) {
  f64x2 shifted, x = z->real, y = z->imaginary, r = f64x2_reduce_half_pi(y, &shifted), zero = f64x2_splat(0);
  f64x2 sine = f64x2_sin_near(r, zero), cosine = f64x2_cos_near(r, zero), e = f64x2_exp_near(x);
  i64x2 quadrant = (i64x2)shifted, is_odd = -(quadrant & 1);
  i64x2 sine_sign = (i64x2)((u64x2)(quadrant & 2) << 62),
        cosine_sign = (i64x2)((u64x2)((quadrant + 1) & 2) << 62);
  z->real = e * (f64x2)((i64x2)f64x2_select(is_odd, sine, cosine) ^ cosine_sign);
  f64x2 imaginary = e * (f64x2)((i64x2)f64x2_select(is_odd, cosine, sine) ^ sine_sign);
  z->imaginary = f64x2_select(y == zero, y, imaginary);
  return is_in_range(x, 700) & is_in_range(y, 0x1p20);
}

/* The other lanes are computed one by one. */
SIMD_INLINE void map_pair(const float *x, float *y, PairFunction *vector,
                          double _Complex (*one)(double _Complex)) {
  f32x4 parts = f32x4_load(x);
  DoublePair wide = f32x4_to_double(parts);
  ComplexPair z = {__builtin_shufflevector(wide.low, wide.high, 0, 2),
                   __builtin_shufflevector(wide.low, wide.high, 1, 3)};
  i64x2 is_right = vector(&z);
  wide.low = __builtin_shufflevector(z.real, z.imaginary, 0, 2);
  wide.high = __builtin_shufflevector(z.real, z.imaginary, 1, 3);
  f32x4_store(y, f32x4_of_double(wide));
  for (int k = 0; i64x2_any(~is_right) && k < 2; k++) {
    if (is_right[k]) continue;
    double _Complex w = one(complex_of((double)parts[2 * k], (double)parts[2 * k + 1]));
    y[2 * k] = (float)creal(w);
    y[2 * k + 1] = (float)cimag(w);
  }
}

SIMD_INLINE void map_complex(int64_t count, const float _Complex *x, float _Complex *y, PairFunction *vector,
                             double _Complex (*one)(double _Complex)) {
  const float *from = (const float *)x;
  float *to = (float *)y;
  for (; count >= 2; count -= 2, from += 4, to += 4) map_pair(from, to, vector, one);
  if (count <= 0) return;
  float last[4] = {from[0], from[1], 1, 1};
  map_pair(last, last, vector, one);
  to[0] = last[0];
  to[1] = last[1];
}

void complex_floats_sqrt(int64_t count, const float _Complex *x, float _Complex *y) {
  map_complex(count, x, y, sqrt_pair, complex_sqrt);
}

void complex_floats_exp(int64_t count, const float _Complex *x, float _Complex *y) {
  map_complex(count, x, y, exp_pair, complex_exp);
}

void complex_floats_log(int64_t count, const float _Complex *x, float _Complex *y) {
  enum { BLOCK = 64 };
  float real[BLOCK], imaginary[BLOCK];
  for (int64_t block; count > 0; count -= block, x += block, y += block) {
    block = count < BLOCK ? count : BLOCK;
    for (int64_t i = 0; i < block; i++) real[i] = crealf(x[i]), imaginary[i] = cimagf(x[i]);
    vector_atan2_f32(block, imaginary, real, imaginary);
    map_complex(block, x, y, log_pair, complex_log);
    for (int64_t i = 0; i < block; i++) ((float *)y)[2 * i + 1] = imaginary[i];
  }
}
