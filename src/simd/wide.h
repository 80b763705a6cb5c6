/* Four vectors of simd.h together, as one of 64 bytes.
 *
 * In a long calculation each step waits for the previous one. Four interleaved calculations keep the units
 * busy, and share the loads of their constants. Each function applies simd.h's function of the same name to
 * the four quarters; +
 * - * / and the bit operators work as well, comparisons are functions (gcc splits those of wide vectors).
 * Everything is inlined: such vectors are never passed in calls.
 */
#ifndef TFCORE_SIMD_WIDE_H_
#define TFCORE_SIMD_WIDE_H_

#include "simd/simd.h"

typedef float f32x16 __attribute__((vector_size(64)));
typedef double f64x8 __attribute__((vector_size(64)));
typedef int32_t i32x16 __attribute__((vector_size(64)));
typedef uint32_t u32x16 __attribute__((vector_size(64)));

SIMD_INLINE f32x4 f32x16_quarter(f32x16 v, int k) {
  f32x4 q;
  memcpy(&q, (const char *)&v + 16 * k, sizeof q);
  return q;
}
SIMD_INLINE i32x4 i32x16_quarter(i32x16 v, int k) {
  i32x4 q;
  memcpy(&q, (const char *)&v + 16 * k, sizeof q);
  return q;
}
SIMD_INLINE f64x2 f64x8_quarter(f64x8 v, int k) {
  f64x2 q;
  memcpy(&q, (const char *)&v + 16 * k, sizeof q);
  return q;
}
SIMD_INLINE f32x16 f32x16_of_quarters(const f32x4 q[4]) {
  f32x16 v;
  memcpy(&v, q, sizeof v);
  return v;
}
SIMD_INLINE i32x16 i32x16_of_quarters(const i32x4 q[4]) {
  i32x16 v;
  memcpy(&v, q, sizeof v);
  return v;
}
SIMD_INLINE f64x8 f64x8_of_quarters(const f64x2 q[4]) {
  f64x8 v;
  memcpy(&v, q, sizeof v);
  return v;
}

/* The body of a function: `call`, an expression for quarter k, for all quarters. */
#define SIMD_EACH_QUARTER(type, quarter_type, call) \
  quarter_type quarters[4];                         \
  SIMD_UNROLL                                       \
  for (int k = 0; k < 4; k++) quarters[k] = call;   \
  return type##_of_quarters(quarters)

SIMD_INLINE f32x16 f32x16_load(const float *p) {
  f32x16 v;
  memcpy(&v, p, sizeof v);
  return v;
}
SIMD_INLINE f64x8 f64x8_load(const double *p) {
  f64x8 v;
  memcpy(&v, p, sizeof v);
  return v;
}
SIMD_INLINE void f32x16_store(float *p, f32x16 v) { memcpy(p, &v, sizeof v); }
SIMD_INLINE void f64x8_store(double *p, f64x8 v) { memcpy(p, &v, sizeof v); }
SIMD_INLINE f32x16 f32x16_splat(float x) { SIMD_EACH_QUARTER(f32x16, f32x4, f32x4_splat(x)); }
SIMD_INLINE f64x8 f64x8_splat(double x) { SIMD_EACH_QUARTER(f64x8, f64x2, f64x2_splat(x)); }
SIMD_INLINE f32x16 f32x16_load_splat(const float *p) {
  f32x4 v = f32x4_load_splat(p);
  SIMD_EACH_QUARTER(f32x16, f32x4, v);
}
/* Loads `count` <= 16 elements; the others are `padding`. */
SIMD_INLINE f32x16 f32x16_load_some(const float *p, int64_t count, float padding) {
  float v[16];
  int64_t i = 0;
  f32x16_store(v, f32x16_splat(padding));
  for (; i + 4 <= count; i += 4) f32x4_store(v + i, f32x4_load(p + i));
  for (; i < count; i++) v[i] = p[i];
  return f32x16_load(v);
}
SIMD_INLINE void f32x16_store_some(float *p, int64_t count, f32x16 a) {
  float v[16];
  int64_t i = 0;
  f32x16_store(v, a);
  for (; i + 4 <= count; i += 4) f32x4_store(p + i, f32x4_load(v + i));
  for (; i < count; i++) p[i] = v[i];
}
SIMD_INLINE f64x8 f64x8_load_some(const double *p, int64_t count, double padding) {
  f64x8 v = f64x8_splat(padding);
  memcpy(&v, p, sizeof *p * (size_t)count);
  return v;
}
SIMD_INLINE void f64x8_store_some(double *p, int64_t count, f64x8 a) {
  memcpy(p, &a, sizeof *p * (size_t)count);
}

SIMD_INLINE f32x16 f32x16_madd(f32x16 a, f32x16 b, f32x16 c) {
  SIMD_EACH_QUARTER(f32x16, f32x4,
                    f32x4_madd(f32x16_quarter(a, k), f32x16_quarter(b, k), f32x16_quarter(c, k)));
}
SIMD_INLINE f32x16 f32x16_pmin(f32x16 a, f32x16 b) {
  SIMD_EACH_QUARTER(f32x16, f32x4, f32x4_pmin(f32x16_quarter(a, k), f32x16_quarter(b, k)));
}
SIMD_INLINE f32x16 f32x16_pmax(f32x16 a, f32x16 b) {
  SIMD_EACH_QUARTER(f32x16, f32x4, f32x4_pmax(f32x16_quarter(a, k), f32x16_quarter(b, k)));
}
SIMD_INLINE f64x8 f64x8_pmin(f64x8 a, f64x8 b) {
  SIMD_EACH_QUARTER(f64x8, f64x2, f64x2_pmin(f64x8_quarter(a, k), f64x8_quarter(b, k)));
}
SIMD_INLINE f64x8 f64x8_pmax(f64x8 a, f64x8 b) {
  SIMD_EACH_QUARTER(f64x8, f64x2, f64x2_pmax(f64x8_quarter(a, k), f64x8_quarter(b, k)));
}
SIMD_INLINE f32x16 f32x16_sign_bit(void) {
  f32x4 bit = f32x4_sign_bit();
  SIMD_EACH_QUARTER(f32x16, f32x4, bit);
}
SIMD_INLINE f32x16 f32x16_neg(f32x16 a) { return (f32x16)((i32x16)a ^ (i32x16)f32x16_sign_bit()); }
SIMD_INLINE f32x16 f32x16_abs(f32x16 a) { return (f32x16)((i32x16)a & ~(i32x16)f32x16_sign_bit()); }
SIMD_INLINE f32x16 f32x16_minus_abs(f32x16 a) { return (f32x16)((i32x16)a | (i32x16)f32x16_sign_bit()); }
SIMD_INLINE f32x16 f32x16_copysign(f32x16 a, f32x16 sign) {
  SIMD_EACH_QUARTER(f32x16, f32x4, f32x4_copysign(f32x16_quarter(a, k), f32x16_quarter(sign, k)));
}
SIMD_INLINE f32x16 f32x16_sqrt(f32x16 a) {
  SIMD_EACH_QUARTER(f32x16, f32x4, f32x4_sqrt(f32x16_quarter(a, k)));
}
SIMD_INLINE i32x16 f32x16_less(f32x16 a, f32x16 b) {
  SIMD_EACH_QUARTER(i32x16, i32x4, f32x16_quarter(a, k) < f32x16_quarter(b, k));
}
SIMD_INLINE i32x16 f32x16_equal(f32x16 a, f32x16 b) {
  SIMD_EACH_QUARTER(i32x16, i32x4, f32x16_quarter(a, k) == f32x16_quarter(b, k));
}
SIMD_INLINE f32x16 f32x16_select(i32x16 mask, f32x16 a, f32x16 b) {
  SIMD_EACH_QUARTER(f32x16, f32x4,
                    f32x4_select(i32x16_quarter(mask, k), f32x16_quarter(a, k), f32x16_quarter(b, k)));
}
SIMD_INLINE i32x16 i32x16_max(i32x16 a, i32x16 b) {
  SIMD_EACH_QUARTER(i32x16, i32x4, i32x4_max(i32x16_quarter(a, k), i32x16_quarter(b, k)));
}
SIMD_INLINE f32x16 f32x16_from_i32x16(i32x16 a) {
  SIMD_EACH_QUARTER(f32x16, f32x4, f32x4_from_i32x4(i32x16_quarter(a, k)));
}
SIMD_INLINE int i32x16_any(i32x16 mask) {
  return i32x4_any((i32x16_quarter(mask, 0) | i32x16_quarter(mask, 1)) |
                   (i32x16_quarter(mask, 2) | i32x16_quarter(mask, 3)));
}

/* Combines the four vectors: their sum, the maximum, the minimum. */
#define SIMD_FOLD(type, join, a) \
  join(join(type##_quarter(a, 0), type##_quarter(a, 2)), join(type##_quarter(a, 1), type##_quarter(a, 3)))
SIMD_INLINE f32x4 f32x16_fold(f32x16 a) {
  return (f32x16_quarter(a, 0) + f32x16_quarter(a, 2)) + (f32x16_quarter(a, 1) + f32x16_quarter(a, 3));
}
SIMD_INLINE f64x2 f64x8_fold(f64x8 a) {
  return (f64x8_quarter(a, 0) + f64x8_quarter(a, 2)) + (f64x8_quarter(a, 1) + f64x8_quarter(a, 3));
}
SIMD_INLINE f32x4 f32x16_fold_pmax(f32x16 a) { return SIMD_FOLD(f32x16, f32x4_pmax, a); }
SIMD_INLINE f64x2 f64x8_fold_pmax(f64x8 a) { return SIMD_FOLD(f64x8, f64x2_pmax, a); }
SIMD_INLINE f32x4 f32x16_fold_pmin(f32x16 a) { return SIMD_FOLD(f32x16, f32x4_pmin, a); }
SIMD_INLINE f64x2 f64x8_fold_pmin(f64x8 a) { return SIMD_FOLD(f64x8, f64x2_pmin, a); }

#endif
