/* Encoding of numbers in checkpoint files: little-endian words and varints. */
#ifndef TFCORE_CHECKPOINT_CODING_H_
#define TFCORE_CHECKPOINT_CODING_H_

#include "base/str.h"

static inline uint32_t load_u32(const void *bytes) {
  const unsigned char *p = bytes;
  return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline void append_u32(StrBuf *out, uint32_t value) {
  const unsigned char bytes[4] = {(unsigned char)value, (unsigned char)(value >> 8),
                                  (unsigned char)(value >> 16), (unsigned char)(value >> 24)};
  strbuf_append_bytes(out, bytes, sizeof bytes);
}

static inline void append_varint(StrBuf *out, uint64_t value) {
  while (value >= 128) {
    strbuf_append_char(out, (char)(value | 128));
    value >>= 7;
  }
  strbuf_append_char(out, (char)value);
}

/* Reads a varint from the front of `*bytes` and advances past it; false at the end of the bytes or when it
 * does not fit. */
static inline bool take_varint(Str *bytes, uint64_t *value) {
  *value = 0;
  for (int shift = 0; shift < 64 && bytes->length > 0; shift += 7) {
    uint64_t byte = (unsigned char)bytes->data[0];
    bytes->data++;
    bytes->length--;
    if (shift == 63 && byte > 1) return false;
    *value |= (byte & 127) << shift;
    if (byte < 128) return true;
  }
  return false;
}

/* Removes `length` bytes from the front. */
static inline bool take_bytes(Str *bytes, uint64_t length, Str *taken) {
  if (length > bytes->length) return false;
  *taken = (Str){bytes->data, (size_t)length};
  bytes->data += length;
  bytes->length -= (size_t)length;
  return true;
}

#endif
