/* Snappy's block format: the length of the text, then literals and copies of earlier output. */
#include <string.h>

#include "checkpoint/coding.h"
#include "checkpoint/table.h"

bool snappy_length(Str compressed, uint64_t *length) {
  return take_varint(&compressed, length) && *length <= UINT32_MAX;
}

/* A little-endian number of `bytes` bytes. */
static bool take_number(Str *from, int bytes, uint64_t *value) {
  Str taken;
  if (!take_bytes(from, (uint64_t)bytes, &taken)) return false;
  *value = 0;
  for (int i = 0; i < bytes; i++) *value |= (uint64_t)(unsigned char)taken.data[i] << (8 * i);
  return true;
}

bool snappy_decompress(Str compressed, char *to, uint64_t length) {
  uint64_t at = 0, stated;
  if (!take_varint(&compressed, &stated) || stated != length) return false;
  while (compressed.length > 0) {
    unsigned tag = (unsigned char)compressed.data[0];
    uint64_t size, distance;
    Str literal;
    compressed.data++;
    compressed.length--;
    if ((tag & 3) == 0) {
      size = tag >> 2;
      if (size >= 60 && !take_number(&compressed, (int)size - 59, &size)) return false;
      if (++size > length - at || !take_bytes(&compressed, size, &literal)) return false;
      memcpy(to + at, literal.data, (size_t)size);
      at += size;
      continue;
    }
    if ((tag & 3) == 1) {
      if (!take_number(&compressed, 1, &distance)) return false;
      size = 4 + ((tag >> 2) & 7);
      distance |= (uint64_t)(tag >> 5) << 8;
    } else {
      if (!take_number(&compressed, (tag & 3) == 2 ? 2 : 4, &distance)) return false;
      size = 1 + (tag >> 2);
    }
    if (distance == 0 || distance > at || size > length - at) return false;
    /* Byte by byte, because a copy may overlap its own output, which then repeats. */
    for (uint64_t i = 0; i < size; i++, at++) to[at] = to[at - distance];
  }
  return at == length;
}
