#include "ops/philox.h"

#include <math.h>
#include <string.h>

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
  uint32_t c0 = generator->counter[0], c1 = generator->counter[1], c2 = generator->counter[2], c3 = generator->counter[3];
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

float philox_uniform_f32(uint32_t word) {
  uint32_t bits = (word & 0x7fffffu) | 127u << 23; /* [1, 2) */
  float value;
  memcpy(&value, &bits, sizeof value);
  return value - 1.0f;
}

double philox_uniform_f64(uint32_t high, uint32_t low) {
  uint64_t bits = ((uint64_t)(high & 0xfffffu) << 32 | low) | (uint64_t)1023 << 52;
  double value;
  memcpy(&value, &bits, sizeof value);
  return value - 1.0;
}

void philox_normal_f32(uint32_t first, uint32_t second, float normals[2]) {
  float u = philox_uniform_f32(first);
  if (u < 1.0e-7f) u = 1.0e-7f;
  float angle = (float)(2.0 * kPi * (double)philox_uniform_f32(second));
  float radius = sqrtf(-2.0f * logf(u));
  normals[0] = sinf(angle) * radius;
  normals[1] = cosf(angle) * radius;
}

void philox_normal_f64(const uint32_t words[4], double normals[2]) {
  double u = philox_uniform_f64(words[0], words[1]);
  if (u < 1.0e-7) u = 1.0e-7;
  double angle = 2.0 * kPi * philox_uniform_f64(words[2], words[3]);
  double radius = sqrt(-2.0 * log(u));
  normals[0] = sin(angle) * radius;
  normals[1] = cos(angle) * radius;
}
