#include "ops/support/philox.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "simd/simd.h"

static const double kPi = 3.14159265358979323846;

Philox philox_seed(uint64_t seed, uint64_t seed2) {
  return (Philox){{0, 0, (uint32_t)seed2, (uint32_t)(seed2 >> 32)}, {(uint32_t)seed, (uint32_t)(seed >> 32)}};
}

void philox_skip(Philox *generator, uint64_t count) {
  uint64_t low = generator->counter[0] | (uint64_t)generator->counter[1] << 32;
  uint64_t sum = low + count;
  generator->counter[0] = (uint32_t)sum;
  generator->counter[1] = (uint32_t)(sum >> 32);
  if (sum < low && ++generator->counter[2] == 0) generator->counter[3]++;
}

void philox_next(Philox *generator, uint32_t words[4]) {
  uint32_t c0 = generator->counter[0], c1 = generator->counter[1], c2 = generator->counter[2],
           c3 = generator->counter[3];
  uint32_t k0 = generator->key[0], k1 = generator->key[1];
  for (int round = 0; round < 10; round++) {
    uint64_t a = (uint64_t)0xD2511F53u * c0, b = (uint64_t)0xCD9E8D57u * c2;
    c0 = (uint32_t)(b >> 32) ^ c1 ^ k0;
    c1 = (uint32_t)b;
    c2 = (uint32_t)(a >> 32) ^ c3 ^ k1;
    c3 = (uint32_t)a;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  words[0] = c0, words[1] = c1, words[2] = c2, words[3] = c3;
  philox_skip(generator, 1);
}

uint32_t philox_stream_next(PhiloxStream *stream) {
  if (stream->left == 0) {
    philox_next(&stream->generator, stream->words);
    stream->left = 4;
  }
  return stream->words[4 - stream->left--];
}

/* The 64 bits of a[i] * b. */
SIMD_INLINE void multiply_wide(u32x4 a, uint32_t b, u32x4 *low, u32x4 *high) {
#ifdef __wasm_simd128__
  v128_t factor = wasm_u32x4_splat(b);
  u32x4 left = (u32x4)wasm_u64x2_extmul_low_u32x4((v128_t)a, factor);
  u32x4 right = (u32x4)wasm_u64x2_extmul_high_u32x4((v128_t)a, factor);
  *low = __builtin_shufflevector(left, right, 0, 2, 4, 6);
  *high = __builtin_shufflevector(left, right, 1, 3, 5, 7);
#elif defined(__SSE2__)
  __m128i factor = _mm_set1_epi32((int32_t)b);
  u32x4 even = (u32x4)_mm_mul_epu32((__m128i)a, factor);
  u32x4 odd = (u32x4)_mm_mul_epu32(_mm_srli_epi64((__m128i)a, 32), factor);
  *low = __builtin_shufflevector(even, odd, 0, 4, 2, 6);
  *high = __builtin_shufflevector(even, odd, 1, 5, 3, 7);
#else
  for (int i = 0; i < 4; i++) {
    uint64_t product = (uint64_t)a[i] * b;
    (*low)[i] = (uint32_t)product;
    (*high)[i] = (uint32_t)(product >> 32);
  }
#endif
}

SIMD_INLINE u32x4 splat(uint32_t x) { return (u32x4){x, x, x, x}; }

/* Two sets of four groups, one per lane: a single set would wait for its multiplications. */
enum { SETS = 2, ABREAST = 4 * SETS };

/* The first groups of generators that differ only in the first word of the counter, by `stride`. */
static void groups_abreast(const Philox *generator, uint32_t stride, uint32_t *words) {
  u32x4 c[SETS][4], k0 = splat(generator->key[0]), k1 = splat(generator->key[1]);
  SIMD_UNROLL
  for (uint32_t s = 0; s < SETS; s++) {
    c[s][0] = splat(generator->counter[0]) + (u32x4){4 * s, 4 * s + 1, 4 * s + 2, 4 * s + 3} * splat(stride);
    for (int i = 1; i < 4; i++) c[s][i] = splat(generator->counter[i]);
  }
  for (int round = 0; round < 10; round++) {
    SIMD_UNROLL
    for (int s = 0; s < SETS; s++) {
      u32x4 low_a, high_a, low_b, high_b;
      multiply_wide(c[s][0], 0xD2511F53u, &low_a, &high_a);
      multiply_wide(c[s][2], 0xCD9E8D57u, &low_b, &high_b);
      c[s][0] = high_b ^ c[s][1] ^ k0;
      c[s][1] = low_b;
      c[s][2] = high_a ^ c[s][3] ^ k1;
      c[s][3] = low_a;
    }
    k0 += splat(0x9E3779B9u);
    k1 += splat(0xBB67AE85u);
  }
  SIMD_UNROLL
  for (int s = 0; s < SETS; s++) {
    i32x4 rows[4] = {(i32x4)c[s][0], (i32x4)c[s][1], (i32x4)c[s][2], (i32x4)c[s][3]};
    i32x4_transpose(rows);
    memcpy(words + 16 * s, rows, sizeof rows);
  }
}

void philox_groups(const Philox *generator, uint64_t first, uint64_t stride, int count, uint32_t *words) {
  Philox next = *generator;
  philox_skip(&next, first);
  for (int i = 0; i < count;) {
    bool carries = stride > UINT32_MAX / ABREAST || next.counter[0] > UINT32_MAX - ABREAST * stride;
    if (count - i >= ABREAST && !carries) {
      groups_abreast(&next, (uint32_t)stride, words + 4 * i);
      philox_skip(&next, ABREAST * stride);
      i += ABREAST;
    } else {
      Philox one = next;
      philox_next(&one, words + 4 * i++);
      philox_skip(&next, stride);
    }
  }
}

/* [1, 2) - 1 with as many random bits as the 16-bit type has: 10 and 7. */
float philox_uniform_f16(uint32_t word) { return (float)(word & 0x3ffu) * 0x1p-10f; }
float philox_uniform_bf16(uint32_t word) { return (float)(word & 0x7fu) * 0x1p-7f; }

float philox_uniform_f32(uint32_t word) {
  uint32_t bits = (word & 0x7fffffu) | 127u << 23; /* [1, 2) */
  float value;
  memcpy(&value, &bits, sizeof value);
  return value - 1.0f;
}

void philox_uniforms_f32(const uint32_t *words, int64_t count, float *out) {
  for (int64_t i = 0; i < count; i++) out[i] = philox_uniform_f32(words[i]);
}

double philox_uniform_f64(uint32_t high, uint32_t low) {
  uint64_t bits = ((uint64_t)(high & 0xfffffu) << 32 | low) | (uint64_t)1023 << 52;
  double value;
  memcpy(&value, &bits, sizeof value);
  return value - 1.0;
}

/* Sine and cosine of an angle in [0, 2 pi]: Taylor series in double within pi / 4 of a multiple of pi / 2,
 * which round to the nearest floats except in near ties. */
static void sine_and_cosine(float angle, float *sine, float *cosine) {
  int quadrant = (int)((double)angle * (2 / kPi) + 0.5);
  double x = (double)angle - quadrant * (kPi / 2), z = x * x;
  double s =
      x * (1 + z * (-1.0 / 6 + z * (1.0 / 120 + z * (-1.0 / 5040 + z * (1.0 / 362880 - z / 39916800)))));
  double c =
      1 + z * (-1.0 / 2 +
               z * (1.0 / 24 + z * (-1.0 / 720 + z * (1.0 / 40320 + z * (-1.0 / 3628800 + z / 479001600)))));
  double swapped_sine = quadrant & 1 ? c : s, swapped_cosine = quadrant & 1 ? s : c;
  *sine = (float)(quadrant & 2 ? -swapped_sine : swapped_sine);
  *cosine = (float)((quadrant + 1) & 2 ? -swapped_cosine : swapped_cosine);
}

void philox_normal_f32(uint32_t first, uint32_t second, float normals[2]) {
  float u = philox_uniform_f32(first);
  if (u < 1.0e-7f) u = 1.0e-7f;
  float angle = (float)(2.0 * kPi * (double)philox_uniform_f32(second));
  float radius = sqrtf(-2.0f * logf(u));
  float sine, cosine;
  sine_and_cosine(angle, &sine, &cosine);
  normals[0] = sine * radius;
  normals[1] = cosine * radius;
}

void philox_normal_f64(const uint32_t words[4], double normals[2]) {
  double u = philox_uniform_f64(words[0], words[1]);
  if (u < 1.0e-7) u = 1.0e-7;
  double angle = 2.0 * kPi * philox_uniform_f64(words[2], words[3]);
  double radius = sqrt(-2.0 * log(u));
  normals[0] = sin(angle) * radius;
  normals[1] = cos(angle) * radius;
}
