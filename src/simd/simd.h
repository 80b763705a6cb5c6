/* 16-byte vectors: WebAssembly's simd128, or natively the compiler's vector extensions (SSE2, NEON).
 *
 * The types are compiler vectors on both platforms. So + - * / and unary minus are plain operators, and so
 * are the comparisons, which give a mask of the integer type of the same width: all bits set where true.
 * Everything else is a function named after its type. Loads and stores accept any alignment.
 *
 * The result of a lane never depends on its position: all lanes compute the same function.
 */
#ifndef TFCORE_SIMD_SIMD_H_
#define TFCORE_SIMD_SIMD_H_

#include <math.h>
#include <stdint.h>
#include <string.h>

#ifdef __wasm_simd128__
#include <wasm_simd128.h>
#elif defined(__SSSE3__)
#include <tmmintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

typedef float f32x4 __attribute__((vector_size(16)));
typedef double f64x2 __attribute__((vector_size(16)));
typedef int32_t i32x4 __attribute__((vector_size(16)));
typedef int64_t i64x2 __attribute__((vector_size(16)));
typedef uint32_t u32x4
    __attribute__((vector_size(16))); /* wraps around, where signed overflow is undefined */
typedef uint64_t u64x2 __attribute__((vector_size(16)));
typedef uint8_t u8x16 __attribute__((vector_size(16)));
typedef uint16_t u16x8 __attribute__((vector_size(16)));

#define SIMD_INLINE static inline __attribute__((always_inline))

/* A function that is not inlined. WebAssembly engines optimize a function as a whole, and run its slow first
 * code until then: a variant of a loop should not wait for all others. */
#define SIMD_NOINLINE static __attribute__((noinline))

/* Before a loop with few constant iterations over an array of vectors: unrolls it, so that the array ends up
 * in registers. */
#ifdef __clang__
#define SIMD_UNROLL _Pragma("clang loop unroll(full)")
#else
#define SIMD_UNROLL _Pragma("GCC unroll 16")
#endif
/* Before a loop over the remainder after the vectors: keeps its code small. */
#ifdef __clang__
#define SIMD_ROLLED _Pragma("clang loop vectorize(disable) unroll(disable)")
#else
#define SIMD_ROLLED _Pragma("GCC unroll 1")
#endif

/* A table of constants for use in loops. For a WebAssembly vector constant, engines emit several instructions
 * at each use; loading a number and splatting it takes one. So the compiler must not see the loaded value. */
SIMD_INLINE const float *simd_table(const float *table) {
#ifdef __wasm__
  __asm__("" : "+r"(table));
#endif
  return table;
}

/* ---- load and store ---- */

SIMD_INLINE f32x4 f32x4_load(const float *p) {
  f32x4 v;
  memcpy(&v, p, sizeof v);
  return v;
}
SIMD_INLINE f64x2 f64x2_load(const double *p) {
  f64x2 v;
  memcpy(&v, p, sizeof v);
  return v;
}
SIMD_INLINE i32x4 i32x4_load(const int32_t *p) {
  i32x4 v;
  memcpy(&v, p, sizeof v);
  return v;
}
SIMD_INLINE i64x2 i64x2_load(const int64_t *p) {
  i64x2 v;
  memcpy(&v, p, sizeof v);
  return v;
}
SIMD_INLINE void f32x4_store(float *p, f32x4 v) { memcpy(p, &v, sizeof v); }
SIMD_INLINE void f64x2_store(double *p, f64x2 v) { memcpy(p, &v, sizeof v); }
SIMD_INLINE void i32x4_store(int32_t *p, i32x4 v) { memcpy(p, &v, sizeof v); }
SIMD_INLINE void i64x2_store(int64_t *p, i64x2 v) { memcpy(p, &v, sizeof v); }

SIMD_INLINE f32x4 f32x4_splat(float x) { return (f32x4){x, x, x, x}; }
SIMD_INLINE f64x2 f64x2_splat(double x) { return (f64x2){x, x}; }
SIMD_INLINE i32x4 i32x4_splat(int32_t x) { return (i32x4){x, x, x, x}; }
SIMD_INLINE i64x2 i64x2_splat(int64_t x) { return (i64x2){x, x}; }

/* Splats one element from memory to all lanes, in one instruction where possible. */
SIMD_INLINE f32x4 f32x4_load_splat(const float *p) {
#ifdef __wasm_simd128__
  return (f32x4)wasm_v128_load32_splat(p);
#else
  return f32x4_splat(*p);
#endif
}
SIMD_INLINE f64x2 f64x2_load_splat(const double *p) {
#ifdef __wasm_simd128__
  return (f64x2)wasm_v128_load64_splat(p);
#else
  return f64x2_splat(*p);
#endif
}

/* 16 bytes as 16 floats. */
SIMD_INLINE void f32x4_load_u8(const uint8_t *p, f32x4 v[4]) {
#ifdef __wasm_simd128__
  /* Engines on x86 convert unsigned integers in eight instructions. This builds the bits of 2^23 + x and
   * subtracts 2^23. */
  static const float kNumbers[] = {0x1p23f};
  const float *table = simd_table(kNumbers);
  f32x4 base = f32x4_load_splat(table);
  v128_t upper = wasm_v128_load16_splat((const char *)table + 2), bytes = wasm_v128_load(p);
  v128_t low = wasm_u16x8_extend_low_u8x16(bytes), high = wasm_u16x8_extend_high_u8x16(bytes);
  v[0] = (f32x4)wasm_i16x8_shuffle(low, upper, 0, 8, 1, 9, 2, 10, 3, 11) - base;
  v[1] = (f32x4)wasm_i16x8_shuffle(low, upper, 4, 12, 5, 13, 6, 14, 7, 15) - base;
  v[2] = (f32x4)wasm_i16x8_shuffle(high, upper, 0, 8, 1, 9, 2, 10, 3, 11) - base;
  v[3] = (f32x4)wasm_i16x8_shuffle(high, upper, 4, 12, 5, 13, 6, 14, 7, 15) - base;
#else
  for (int i = 0; i < 16; i++) v[i / 4][i % 4] = p[i];
#endif
}

/* Four 16-bit integers as 32-bit ones. */
SIMD_INLINE u32x4 u32x4_load_u16(const uint16_t *p) {
#ifdef __wasm_simd128__
  return (u32x4)wasm_u32x4_load16x4(p);
#else
  return (u32x4){p[0], p[1], p[2], p[3]};
#endif
}
/* Eight integers below 2^16 as 16-bit ones. */
SIMD_INLINE void u32x4_store_u16(uint16_t *p, u32x4 low, u32x4 high) {
#ifdef __wasm_simd128__
  wasm_v128_store(p, wasm_u16x8_narrow_i32x4((v128_t)low, (v128_t)high));
#else
  u16x8 v = __builtin_shufflevector((u16x8)low, (u16x8)high, 0, 2, 4, 6, 8, 10, 12, 14);
  memcpy(p, &v, sizeof v);
#endif
}

/* ---- arithmetic ---- */

/* a * b + c, rounded once or twice: whichever is faster here. */
SIMD_INLINE f32x4 f32x4_madd(f32x4 a, f32x4 b, f32x4 c) {
#ifdef TFCORE_RELAXED_SIMD
  return (f32x4)wasm_f32x4_relaxed_madd((v128_t)a, (v128_t)b, (v128_t)c);
#else
  return a * b + c;
#endif
}
SIMD_INLINE f64x2 f64x2_madd(f64x2 a, f64x2 b, f64x2 c) {
#ifdef TFCORE_RELAXED_SIMD
  return (f64x2)wasm_f64x2_relaxed_madd((v128_t)a, (v128_t)b, (v128_t)c);
#else
  return a * b + c;
#endif
}

/* mask ? a : b, lane by lane. */
SIMD_INLINE f32x4 f32x4_select(i32x4 mask, f32x4 a, f32x4 b) {
#ifdef __wasm_simd128__
  return (f32x4)wasm_v128_bitselect((v128_t)a, (v128_t)b, (v128_t)mask);
#else
  return (f32x4)((mask & (i32x4)a) | (~mask & (i32x4)b));
#endif
}
SIMD_INLINE f64x2 f64x2_select(i64x2 mask, f64x2 a, f64x2 b) {
#ifdef __wasm_simd128__
  return (f64x2)wasm_v128_bitselect((v128_t)a, (v128_t)b, (v128_t)mask);
#else
  return (f64x2)((mask & (i64x2)a) | (~mask & (i64x2)b));
#endif
}
SIMD_INLINE i32x4 i32x4_select(i32x4 mask, i32x4 a, i32x4 b) { return (mask & a) | (~mask & b); }
SIMD_INLINE i64x2 i64x2_select(i64x2 mask, i64x2 a, i64x2 b) { return (mask & a) | (~mask & b); }

/* The integers towards zero; INT32_MIN for numbers out of their range and NaN. */
SIMD_INLINE i32x4 i32x4_trunc(f32x4 a) {
  f32x4 limit = f32x4_splat(2147483648.0f);
#ifdef TFCORE_RELAXED_SIMD
  /* Below the range this instruction gives INT32_MIN on every machine. */
  i32x4 whole = (i32x4)wasm_i32x4_relaxed_trunc_f32x4((v128_t)a), fits = a < limit;
#elif defined(__wasm_simd128__)
  i32x4 whole = (i32x4)wasm_i32x4_trunc_sat_f32x4((v128_t)a), fits = a < limit;
#else
  i32x4 fits = (a >= -limit) & (a < limit);
  i32x4 whole = __builtin_convertvector((f32x4)((i32x4)a & fits), i32x4);
#endif
  return (whole & fits) | (i32x4_splat(INT32_MIN) & ~fits);
}

/* b < a ? b : a and a < b ? b : a, in one instruction. A NaN in `a` is kept, a NaN in `b` is dropped:
 * f32x4_pmax(x, zero) is a Relu that keeps NaN. */
SIMD_INLINE f32x4 f32x4_pmin(f32x4 a, f32x4 b) {
#ifdef __wasm_simd128__
  return (f32x4)wasm_f32x4_pmin((v128_t)a, (v128_t)b);
#elif defined(__SSE2__)
  return (f32x4)_mm_min_ps((__m128)b, (__m128)a);
#else
  return f32x4_select(b < a, b, a);
#endif
}
SIMD_INLINE f32x4 f32x4_pmax(f32x4 a, f32x4 b) {
#ifdef __wasm_simd128__
  return (f32x4)wasm_f32x4_pmax((v128_t)a, (v128_t)b);
#elif defined(__SSE2__)
  return (f32x4)_mm_max_ps((__m128)b, (__m128)a);
#else
  return f32x4_select(a < b, b, a);
#endif
}
SIMD_INLINE f64x2 f64x2_pmin(f64x2 a, f64x2 b) {
#ifdef __wasm_simd128__
  return (f64x2)wasm_f64x2_pmin((v128_t)a, (v128_t)b);
#elif defined(__SSE2__)
  return (f64x2)_mm_min_pd((__m128d)b, (__m128d)a);
#else
  return f64x2_select(b < a, b, a);
#endif
}
SIMD_INLINE f64x2 f64x2_pmax(f64x2 a, f64x2 b) {
#ifdef __wasm_simd128__
  return (f64x2)wasm_f64x2_pmax((v128_t)a, (v128_t)b);
#elif defined(__SSE2__)
  return (f64x2)_mm_max_pd((__m128d)b, (__m128d)a);
#else
  return f64x2_select(a < b, b, a);
#endif
}
#ifdef __wasm_simd128__
SIMD_INLINE i32x4 i32x4_min(i32x4 a, i32x4 b) { return (i32x4)wasm_i32x4_min((v128_t)a, (v128_t)b); }
SIMD_INLINE i32x4 i32x4_max(i32x4 a, i32x4 b) { return (i32x4)wasm_i32x4_max((v128_t)a, (v128_t)b); }
#else
SIMD_INLINE i32x4 i32x4_min(i32x4 a, i32x4 b) { return i32x4_select(b < a, b, a); }
SIMD_INLINE i32x4 i32x4_max(i32x4 a, i32x4 b) { return i32x4_select(a < b, b, a); }
#endif

SIMD_INLINE i64x2 i64x2_min(i64x2 a, i64x2 b) { return i64x2_select(b < a, b, a); }
SIMD_INLINE i64x2 i64x2_max(i64x2 a, i64x2 b) { return i64x2_select(a < b, b, a); }

/* Minimum and maximum; NaN when either is NaN, as in TensorFlow's reductions. */
SIMD_INLINE f32x4 f32x4_min(f32x4 a, f32x4 b) { return f32x4_select(b != b, b, f32x4_pmin(a, b)); }
SIMD_INLINE f32x4 f32x4_max(f32x4 a, f32x4 b) { return f32x4_select(b != b, b, f32x4_pmax(a, b)); }
SIMD_INLINE f64x2 f64x2_min(f64x2 a, f64x2 b) { return f64x2_select(b != b, b, f64x2_pmin(a, b)); }
SIMD_INLINE f64x2 f64x2_max(f64x2 a, f64x2 b) { return f64x2_select(b != b, b, f64x2_pmax(a, b)); }

/* Clears the sign bit, of a NaN too. */
#ifdef __wasm_simd128__ /* engines need no constant for it */
SIMD_INLINE f32x4 f32x4_abs(f32x4 a) { return (f32x4)wasm_f32x4_abs((v128_t)a); }
SIMD_INLINE f64x2 f64x2_abs(f64x2 a) { return (f64x2)wasm_f64x2_abs((v128_t)a); }
#else
SIMD_INLINE f32x4 f32x4_abs(f32x4 a) { return (f32x4)((i32x4)a & i32x4_splat(INT32_MAX)); }
SIMD_INLINE f64x2 f64x2_abs(f64x2 a) { return (f64x2)((i64x2)a & (i64x2){INT64_MAX, INT64_MAX}); }
#endif
/* -0, whose only bit is that of the sign. Engines would build it at each use; here it is loaded. */
SIMD_INLINE f32x4 f32x4_sign_bit(void) {
  static const float kSignBit[] = {-0.0f};
  return f32x4_load_splat(simd_table(kSignBit));
}
/* The magnitude of `a` with the sign bit of `sign`. */
SIMD_INLINE f32x4 f32x4_copysign(f32x4 a, f32x4 sign) {
  i32x4 bit = (i32x4)f32x4_sign_bit();
  return (f32x4)(((i32x4)a & ~bit) | ((i32x4)sign & bit));
}

SIMD_INLINE f64x2 f64x2_copysign(f64x2 a, f64x2 sign) {
  i64x2 bit = (i64x2)f64x2_splat(-0.0);
  return (f64x2)(((i64x2)a & ~bit) | ((i64x2)sign & bit));
}

/* Correctly rounded; NaN below zero, -0 stays -0. */
SIMD_INLINE f32x4 f32x4_sqrt(f32x4 a) {
#ifdef __wasm_simd128__
  return (f32x4)wasm_f32x4_sqrt((v128_t)a);
#elif defined(__SSE2__)
  return (f32x4)_mm_sqrt_ps((__m128)a);
#else
  return (f32x4){sqrtf(a[0]), sqrtf(a[1]), sqrtf(a[2]), sqrtf(a[3])};
#endif
}
SIMD_INLINE f64x2 f64x2_sqrt(f64x2 a) {
#ifdef __wasm_simd128__
  return (f64x2)wasm_f64x2_sqrt((v128_t)a);
#elif defined(__SSE2__)
  return (f64x2)_mm_sqrt_pd((__m128d)a);
#else
  return (f64x2){sqrt(a[0]), sqrt(a[1])};
#endif
}
SIMD_INLINE f32x4 f32x4_floor(f32x4 a) {
#ifdef __wasm_simd128__
  return (f32x4)wasm_f32x4_floor((v128_t)a);
#else
  return (f32x4){floorf(a[0]), floorf(a[1]), floorf(a[2]), floorf(a[3])};
#endif
}
SIMD_INLINE f64x2 f64x2_floor(f64x2 a) {
#ifdef __wasm_simd128__
  return (f64x2)wasm_f64x2_floor((v128_t)a);
#else
  return (f64x2){floor(a[0]), floor(a[1])};
#endif
}

/* ---- across lanes ---- */

/* (a0 + a2) + (a1 + a3): a fixed order, so that sums are reproducible. */
SIMD_INLINE float f32x4_sum(f32x4 a) { return (a[0] + a[2]) + (a[1] + a[3]); }
SIMD_INLINE double f64x2_sum(f64x2 a) { return a[0] + a[1]; }

/* The largest and the smallest lane; no lane is NaN. */
SIMD_INLINE float f32x4_largest(f32x4 a) {
  f32x4 pairs = f32x4_pmax(a, __builtin_shufflevector(a, a, 2, 3, 0, 1));
  return f32x4_pmax(pairs, __builtin_shufflevector(pairs, pairs, 1, 0, 3, 2))[0];
}
SIMD_INLINE float f32x4_smallest(f32x4 a) {
  f32x4 pairs = f32x4_pmin(a, __builtin_shufflevector(a, a, 2, 3, 0, 1));
  return f32x4_pmin(pairs, __builtin_shufflevector(pairs, pairs, 1, 0, 3, 2))[0];
}
SIMD_INLINE double f64x2_largest(f64x2 a) { return f64x2_pmax(a, __builtin_shufflevector(a, a, 1, 0))[0]; }
SIMD_INLINE double f64x2_smallest(f64x2 a) { return f64x2_pmin(a, __builtin_shufflevector(a, a, 1, 0))[0]; }

/* Whether a comparison held in any lane. */
SIMD_INLINE int i32x4_any(i32x4 mask) {
#ifdef __wasm_simd128__
  return wasm_v128_any_true((v128_t)mask);
#elif defined(__SSE2__)
  return _mm_movemask_epi8((__m128i)mask) != 0;
#else
  return (mask[0] | mask[1] | mask[2] | mask[3]) != 0;
#endif
}
SIMD_INLINE int i64x2_any(i64x2 mask) { return i32x4_any((i32x4)mask); }

/* rows[i][j] becomes rows[j][i]. */
SIMD_INLINE void f32x4_transpose(f32x4 rows[4]) {
  f32x4 a = __builtin_shufflevector(rows[0], rows[1], 0, 4, 1, 5),
        b = __builtin_shufflevector(rows[0], rows[1], 2, 6, 3, 7);
  f32x4 c = __builtin_shufflevector(rows[2], rows[3], 0, 4, 1, 5),
        d = __builtin_shufflevector(rows[2], rows[3], 2, 6, 3, 7);
  rows[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
  rows[1] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
  rows[2] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
  rows[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
}
SIMD_INLINE void f64x2_transpose(f64x2 rows[2]) {
  f64x2 a = rows[0];
  rows[0] = __builtin_shufflevector(a, rows[1], 0, 2);
  rows[1] = __builtin_shufflevector(a, rows[1], 1, 3);
}
SIMD_INLINE void i32x4_transpose(i32x4 rows[4]) {
  f32x4 bits[4];
  memcpy(bits, rows, sizeof bits);
  f32x4_transpose(bits);
  memcpy(rows, bits, sizeof bits);
}
SIMD_INLINE void i64x2_transpose(i64x2 rows[2]) {
  i64x2 a = rows[0];
  rows[0] = __builtin_shufflevector(a, rows[1], 0, 2);
  rows[1] = __builtin_shufflevector(a, rows[1], 1, 3);
}

/* Whether u8x16_pick is an instruction or two. */
#if defined(__wasm_simd128__) || defined(__SSSE3__)
enum { SIMD_PICKS_BYTES = 1 };
#else
enum { SIMD_PICKS_BYTES = 0 };
#endif

/* Byte i is v[places[i]], or 0 if the place is 255. Other places must be below 16. */
SIMD_INLINE u8x16 u8x16_pick(u8x16 v, u8x16 places) {
#if defined(TFCORE_RELAXED_SIMD)
  return (u8x16)wasm_i8x16_relaxed_swizzle((v128_t)v, (v128_t)places);
#elif defined(__wasm_simd128__)
  return (u8x16)wasm_i8x16_swizzle((v128_t)v, (v128_t)places);
#elif defined(__SSSE3__)
  return (u8x16)_mm_shuffle_epi8((__m128i)v, (__m128i)places);
#else
  u8x16 picked;
  for (int i = 0; i < 16; i++) picked[i] = places[i] < 16 ? v[places[i]] : 0;
  return picked;
#endif
}

/* ---- conversions ---- */

SIMD_INLINE f32x4 f32x4_from_i32x4(i32x4 a) { return __builtin_convertvector(a, f32x4); }
/* Truncates. For values in the range of int32; others give an unspecified number, never a trap. */
SIMD_INLINE i32x4 i32x4_from_f32x4(f32x4 a) {
#ifdef __wasm_simd128__
  return (i32x4)wasm_i32x4_trunc_sat_f32x4((v128_t)a);
#elif defined(__SSE2__)
  return (i32x4)_mm_cvttps_epi32((__m128)a);
#else
  return __builtin_convertvector(a, i32x4);
#endif
}

#endif
