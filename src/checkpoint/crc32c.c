#include "checkpoint/crc32c.h"

#include <string.h>

#include "base/sync.h"

/* The reversed polynomial. */
static const uint32_t kPolynomial = 0x82f63b78u;
static const uint32_t kMaskDelta = 0xa282ead8u;

/* tables[k][b]: the checksum of byte b followed by k zero bytes. Eight tables process eight bytes per
 * step. */
static uint32_t tables[8][256];
static Once tables_made = ONCE_INIT;

static void make_tables(void) {
  for (uint32_t b = 0; b < 256; b++) {
    uint32_t crc = b;
    for (int bit = 0; bit < 8; bit++) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
    tables[0][b] = crc;
  }
  for (int k = 1; k < 8; k++) {
    for (int b = 0; b < 256; b++) tables[k][b] = (tables[k - 1][b] >> 8) ^ tables[0][tables[k - 1][b] & 255];
  }
}

uint32_t crc32c_extend(uint32_t crc, const void *bytes, int64_t size) {
  once_run(&tables_made, make_tables);
  const unsigned char *p = bytes;
  crc = ~crc;
  for (; size >= 8; size -= 8, p += 8) {
    uint32_t low, high;
    memcpy(&low, p, 4);
    memcpy(&high, p + 4, 4);
    low ^= crc;
    crc = tables[7][low & 255] ^ tables[6][(low >> 8) & 255] ^ tables[5][(low >> 16) & 255] ^
          tables[4][low >> 24] ^ tables[3][high & 255] ^ tables[2][(high >> 8) & 255] ^
          tables[1][(high >> 16) & 255] ^ tables[0][high >> 24];
  }
  for (; size > 0; size--, p++) crc = (crc >> 8) ^ tables[0][(crc ^ *p) & 255];
  return ~crc;
}

uint32_t crc32c_mask(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + kMaskDelta; }

uint32_t crc32c_unmask(uint32_t masked) {
  uint32_t rotated = masked - kMaskDelta;
  return (rotated >> 17) | (rotated << 15);
}
