#include "ops/io/png.h"

static const uint32_t kCrcPolynomial = 0xedb88320u; /* reversed */
static const uint32_t kAdlerModulus = 65521;
enum { STORED_MAX = 65535 };

static uint32_t crc_extend(uint32_t crc, const char *bytes, int64_t size) {
  for (int64_t i = 0; i < size; i++) {
    crc ^= (unsigned char)bytes[i];
    for (int bit = 0; bit < 8; bit++) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kCrcPolynomial : 0);
  }
  return crc;
}

static void append_word(StrBuf *out, uint32_t word) {
  const unsigned char bytes[4] = {(unsigned char)(word >> 24), (unsigned char)(word >> 16),
                                  (unsigned char)(word >> 8), (unsigned char)word};
  strbuf_append_bytes(out, bytes, sizeof bytes);
}

/* Writes length, kind, content, and the checksum of kind and content. */
static void append_chunk(StrBuf *out, const char kind[4], const void *content, int64_t size) {
  append_word(out, (uint32_t)size);
  strbuf_append_bytes(out, kind, 4);
  strbuf_append_bytes(out, content, (size_t)size);
  append_word(out, ~crc_extend(crc_extend(~0u, kind, 4), content, size));
}

static uint32_t adler(const char *bytes, int64_t size) {
  uint32_t a = 1, b = 0;
  for (int64_t i = 0; i < size; i++) {
    a = (a + (unsigned char)bytes[i]) % kAdlerModulus;
    b = (b + a) % kAdlerModulus;
  }
  return b << 16 | a;
}

/* Writes a zlib stream of stored blocks. */
static void append_stored(StrBuf *out, const char *bytes, int64_t size) {
  strbuf_append_bytes(out, "\x78\x01", 2);
  for (int64_t at = 0; at < size;) {
    int64_t length = size - at < STORED_MAX ? size - at : STORED_MAX;
    strbuf_append_char(out, at + length == size); /* the flag of the last block */
    strbuf_append_char(out, (char)length);
    strbuf_append_char(out, (char)(length >> 8));
    strbuf_append_char(out, (char)~length);
    strbuf_append_char(out, (char)(~length >> 8));
    strbuf_append_bytes(out, bytes + at, (size_t)length);
    at += length;
  }
  append_word(out, adler(bytes, size));
}

bool png_encode(const uint8_t *pixels, int64_t height, int64_t width, int channels, StrBuf *out,
                Status *status) {
  StrBuf header = {0}, rows = {0}, data = {0};
  int64_t row = width * channels;
  if (height > INT32_MAX || width > INT32_MAX / 4 || row + 1 > INT32_MAX / 2 / height) {
    return status_invalid(status, "A picture of %lld x %lld pixels is too large for PNG", (long long)height,
                          (long long)width);
  }
  for (int64_t y = 0; y < height; y++) {
    strbuf_append_char(&rows, 0); /* no filter */
    strbuf_append_bytes(&rows, pixels + y * row, (size_t)row);
  }
  append_word(&header, (uint32_t)width);
  append_word(&header, (uint32_t)height);
  strbuf_append_char(&header, 8); /* bits per channel */
  strbuf_append_char(&header, channels == 1 ? 0 : channels == 3 ? 2 : 6);
  strbuf_append_bytes(&header, "\0\0\0", 3); /* deflate, filters by row, not interlaced */
  append_stored(&data, strbuf_text(&rows), rows.length);
  strbuf_append_bytes(out, "\x89PNG\r\n\x1a\n", 8);
  append_chunk(out, "IHDR", strbuf_text(&header), header.length);
  append_chunk(out, "IDAT", strbuf_text(&data), data.length);
  append_chunk(out, "IEND", "", 0);
  out->failed |= header.failed | rows.failed | data.failed;
  strbuf_free(&header);
  strbuf_free(&rows);
  strbuf_free(&data);
  return strbuf_ok(out, status);
}
