#include "base/hash64.h"

#include <string.h>

/* Words are little-endian, as the machines are that this runs on. */
static uint64_t word64(const char *p, size_t length) {
  uint64_t word = 0;
  memcpy(&word, p, length);
  return word;
}

uint64_t hash64(Str text) {
  const uint64_t m = 0xc6a4a7935bd1e995;
  uint64_t h = 0xDECAFCAFFE ^ text.length * m;
  size_t i = 0;
  for (; i + 8 <= text.length; i += 8) {
    uint64_t k = word64(text.data + i, 8) * m;
    h = (h ^ (k ^ k >> 47) * m) * m;
  }
  if (i < text.length) h = (h ^ word64(text.data + i, text.length - i)) * m;
  h = (h ^ h >> 47) * m;
  return h ^ h >> 47;
}

uint64_t hash64_combine(uint64_t a, uint64_t b) {
  return a ^ (b + 0x9e3779b97f4a7800 + (a << 10) + (a >> 4));
}
