#include "ops/support/half_precision.h"

#include "simd/simd.h"

/* Eight elements at once, and the others by the functions of tensor/dtype.h, which give the same numbers. */
enum { EIGHT = 8 };

/* Four halves as floats. The bits of a half, 13 places to the left, are those of the float, but that its
 * exponent is larger by 112. Below 2^-14 a half has no leading one: the float doubled, less 2^-14, is without
 * it, and is larger than the float for the other halves. From 2^16 on are infinity and NaN, whose exponents
 * have all bits. */
static const float kWiden[] = {0x1p-15f /* 112 as an exponent */, 0x1p-126f /* 1 as an exponent */, 0x1p-14f,
                               0x1p16f, INFINITY};
SIMD_INLINE f32x4 widen_half(u32x4 x, const float *numbers) {
  f32x4 usual = (f32x4)((x << 17 >> 4) + (u32x4)f32x4_load_splat(numbers));
  f32x4 small = (f32x4)((u32x4)usual + (u32x4)f32x4_load_splat(numbers + 1)) - f32x4_load_splat(numbers + 2);
  i32x4 special = (usual >= f32x4_load_splat(numbers + 3)) & (i32x4)f32x4_load_splat(numbers + 4);
  i32x4 sign = (i32x4)(x << 16) & (i32x4)f32x4_sign_bit();
  return (f32x4)((i32x4)f32x4_pmin(usual, small) | special | sign);
}
SIMD_INLINE f32x4 widen_bfloat(u32x4 x, const float *numbers) {
  (void)numbers;
  return (f32x4)(x << 16);
}

/* Four floats, none of them NaN, as halves. Adding 2^13 times its power of two, at least 2^-1, rounds a float
 * to the last bit of the half, and leaves the half's bits, but for the exponent, at the end of the sum. */
static const float kNarrow[] = {0x1p16f, INFINITY, 0x1p-14f, 0x1p-114f /* 13 as an exponent */,
                                0x1.0388p-114f /* and 113 as that of a half */};
SIMD_INLINE u32x4 narrow_half(f32x4 x, const float *numbers) {
  i32x4 sign = (i32x4)x & (i32x4)f32x4_sign_bit();
  f32x4 size = f32x4_pmin((f32x4)((i32x4)x ^ sign), f32x4_load_splat(numbers));
  i32x4 power =
      i32x4_max((i32x4)size & (i32x4)f32x4_load_splat(numbers + 1), (i32x4)f32x4_load_splat(numbers + 2));
  f32x4 sum = size + (f32x4)(power + (i32x4)f32x4_load_splat(numbers + 3));
  i32x4 bits = (i32x4)sum - power + (power >> 13) - (i32x4)f32x4_load_splat(numbers + 4);
  return (u32x4)bits | (u32x4)sign >> 16;
}
SIMD_INLINE u32x4 narrow_bfloat(f32x4 x, const float *numbers) {
  u32x4 bits = (u32x4)x;
  return (bits + (u32x4)f32x4_load_splat(numbers) + (bits << 15 >> 31)) >> 16;
}
static const float kNarrowBfloat[] = {0x1.fffcp-135f /* 0x7fff */};

SIMD_INLINE void widen_each(f32x4 (*four)(u32x4, const float *), float (*one)(uint16_t), const float *numbers,
                            const uint16_t *restrict x, float *restrict y, int64_t n) {
  int64_t i = 0;
  numbers = simd_table(numbers);
  for (; i + EIGHT <= n; i += EIGHT) {
    f32x4_store(y + i, four(u32x4_load_u16(x + i), numbers));
    f32x4_store(y + i + 4, four(u32x4_load_u16(x + i + 4), numbers));
  }
  SIMD_ROLLED
  for (; i < n; i++) y[i] = one(x[i]);
}

SIMD_INLINE void narrow_each(u32x4 (*four)(f32x4, const float *), uint16_t (*one)(float),
                             const float *numbers, const float *restrict x, uint16_t *restrict y, int64_t n) {
  numbers = simd_table(numbers);
  for (int64_t i = 0; i < n;) {
    if (i + EIGHT <= n) {
      f32x4 a = f32x4_load(x + i), b = f32x4_load(x + i + 4);
      if (!i32x4_any((a != a) | (b != b))) {
        u32x4_store_u16(y + i, four(a, numbers), four(b, numbers));
        i += EIGHT;
        continue;
      }
    }
    y[i] = one(x[i]);
    i++;
  }
}

void half_precision_widen(DataType type, const void *from, float *to, int64_t count) {
  if (type == DT_HALF) widen_each(widen_half, half_to_float, kWiden, from, to, count);
  else widen_each(widen_bfloat, bfloat16_to_float, kWiden, from, to, count);
}

void half_precision_narrow(DataType type, const float *from, void *to, int64_t count) {
  if (type == DT_HALF) narrow_each(narrow_half, float_to_half, kNarrow, from, to, count);
  else narrow_each(narrow_bfloat, float_to_bfloat16, kNarrowBfloat, from, to, count);
}

void half_precision_operand(DataType type, const void *from, bool still, int64_t at, int64_t count,
                            float *wide) {
  if (!still) half_precision_widen(type, (const uint16_t *)from + at, wide, count);
  if (!still || at > 0) return;
  half_precision_widen(type, from, wide, 1);
  for (int64_t i = 1; i < count; i++) wide[i] = wide[0];
}
