#include "ops/support/string_hash.h"

#include <string.h>

/* The words of the hashes are little-endian, as the machines are that this runs on. */
static uint64_t word64(const char *p) {
  uint64_t word;
  memcpy(&word, p, sizeof word);
  return word;
}

static uint64_t word32(const char *p) {
  uint32_t word;
  memcpy(&word, p, sizeof word);
  return word;
}

static uint64_t rotate_right(uint64_t x, int bits) { return bits == 0 ? x : x >> bits | x << (64 - bits); }
static uint64_t rotate_left(uint64_t x, int bits) { return x << bits | x >> (64 - bits); }

/* --- Fingerprint64 --- */

static const uint64_t k0 = 0xc3a5c85c97cb3127, k1 = 0xb492b66fbe98f273, k2 = 0x9ae16a3b2f90404f;

typedef struct Pair {
  uint64_t first, second;
} Pair;

static uint64_t shift_mix(uint64_t x) { return x ^ x >> 47; }

static uint64_t mix_pair(uint64_t u, uint64_t v, uint64_t factor) {
  uint64_t a = shift_mix((u ^ v) * factor);
  return shift_mix((v ^ a) * factor) * factor;
}

static uint64_t hash_up_to_16(const char *s, size_t n) {
  if (n >= 8) {
    uint64_t factor = k2 + n * 2, a = word64(s) + k2, b = word64(s + n - 8);
    return mix_pair(rotate_right(b, 37) * factor + a, (rotate_right(a, 25) + b) * factor, factor);
  }
  if (n >= 4) return mix_pair(n + (word32(s) << 3), word32(s + n - 4), k2 + n * 2);
  if (n == 0) return k2;
  const unsigned char *u = (const unsigned char *)s;
  uint32_t y = u[0] + ((uint32_t)u[n >> 1] << 8), z = (uint32_t)n + ((uint32_t)u[n - 1] << 2);
  return shift_mix(y * k2 ^ z * k0) * k2;
}

static uint64_t hash_up_to_32(const char *s, size_t n) {
  uint64_t factor = k2 + n * 2, a = word64(s) * k1, b = word64(s + 8);
  uint64_t c = word64(s + n - 8) * factor, d = word64(s + n - 16) * k2;
  return mix_pair(rotate_right(a + b, 43) + rotate_right(c, 30) + d, a + rotate_right(b + k2, 18) + c,
                  factor);
}

static uint64_t hash_up_to_64(const char *s, size_t n) {
  uint64_t factor = k2 + n * 2, a = word64(s) * k2, b = word64(s + 8);
  uint64_t c = word64(s + n - 8) * factor, d = word64(s + n - 16) * k2;
  uint64_t y = rotate_right(a + b, 43) + rotate_right(c, 30) + d;
  uint64_t z = mix_pair(y, a + rotate_right(b + k2, 18) + c, factor);
  uint64_t e = word64(s + 16) * factor, f = word64(s + 24);
  uint64_t g = (y + word64(s + n - 32)) * factor, h = (z + word64(s + n - 24)) * factor;
  return mix_pair(rotate_right(e + f, 43) + rotate_right(g, 30) + h, e + rotate_right(f + a, 18) + g, factor);
}

/* 32 bytes and two seeds. */
static Pair weak_hash(const char *s, uint64_t a, uint64_t b) {
  a += word64(s);
  b = rotate_right(b + a + word64(s + 24), 21);
  uint64_t c = a;
  a += word64(s + 8) + word64(s + 16);
  return (Pair){a + word64(s + 24), b + rotate_right(a, 44) + c};
}

static void swap(uint64_t *a, uint64_t *b) {
  uint64_t old = *a;
  *a = *b;
  *b = old;
}

uint64_t fingerprint64(Str text) {
  const char *s = text.data;
  size_t n = text.length;
  if (n <= 16) return hash_up_to_16(s, n);
  if (n <= 32) return hash_up_to_32(s, n);
  if (n <= 64) return hash_up_to_64(s, n);
  uint64_t x = 81, y = 81 * k1 + 113, z = shift_mix(y * k2 + 113) * k2;
  Pair v = {0, 0}, w = {0, 0};
  const char *end = s + (n - 1) / 64 * 64, *last = s + n - 64;
  x = x * k2 + word64(s);
  for (; s < end; s += 64) {
    x = rotate_right(x + y + v.first + word64(s + 8), 37) * k1 ^ w.second;
    y = rotate_right(y + v.second + word64(s + 48), 42) * k1 + v.first + word64(s + 40);
    z = rotate_right(z + w.first, 33) * k1;
    v = weak_hash(s, v.second * k1, x + w.first);
    w = weak_hash(s + 32, z + w.second, y + word64(s + 16));
    swap(&z, &x);
  }
  uint64_t factor = k1 + ((z & 0xff) << 1);
  s = last;
  w.first += (n - 1) & 63;
  v.first += w.first;
  w.first += v.first;
  x = rotate_right(x + y + v.first + word64(s + 8), 37) * factor ^ w.second * 9;
  y = rotate_right(y + v.second + word64(s + 48), 42) * factor + v.first * 9 + word64(s + 40);
  z = rotate_right(z + w.first, 33) * factor;
  v = weak_hash(s, v.second * factor, x + w.first);
  w = weak_hash(s + 32, z + w.second, y + word64(s + 16));
  swap(&z, &x);
  return mix_pair(mix_pair(v.first, w.first, factor) + shift_mix(y) * k0 + z,
                  mix_pair(v.second, w.second, factor) + x, factor);
}

/* --- SipHash --- */

static void sip_round(uint64_t v[4]) {
  v[0] += v[1], v[2] += v[3];
  v[1] = rotate_left(v[1], 13) ^ v[0], v[3] = rotate_left(v[3], 16) ^ v[2];
  v[0] = rotate_left(v[0], 32);
  v[2] += v[1], v[0] += v[3];
  v[1] = rotate_left(v[1], 17) ^ v[2], v[3] = rotate_left(v[3], 21) ^ v[0];
  v[2] = rotate_left(v[2], 32);
}

static void sip_word(uint64_t v[4], uint64_t word) {
  v[3] ^= word;
  sip_round(v);
  sip_round(v);
  v[0] ^= word;
}

uint64_t sip_hash(const uint64_t key[2], Str text) {
  uint64_t v[4] = {key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d, key[0] ^ 0x6c7967656e657261,
                   key[1] ^ 0x7465646279746573};
  size_t i = 0;
  for (; i + 8 <= text.length; i += 8) sip_word(v, word64(text.data + i));
  uint64_t rest = 0;
  if (i < text.length) memcpy(&rest, text.data + i, text.length - i);
  sip_word(v, rest | (uint64_t)text.length << 56);
  v[2] ^= 0xff;
  for (int k = 0; k < 4; k++) sip_round(v);
  return v[0] ^ v[1] ^ v[2] ^ v[3];
}
