/* Decodes a PNG file. The first byte selects the op and its attrs, and whether the checksums of chunks are
 * made right, which no mutation would do. */
#include <zlib.h>

#include "base/alloc.h"
#include "fuzz/image_decoding.h"

#include <string.h>

enum { REPAIR = 0x80, START_BYTES = 8, AROUND_DATA = 12 };

static const char *const kNodes[] = {
    "name: 'n' op: 'DecodePng' input: 'x'",
    "name: 'n' op: 'DecodePng' input: 'x' attr { key: 'dtype' value { type: DT_UINT16 } }",
    "name: 'n' op: 'DecodePng' input: 'x' attr { key: 'channels' value { i: 1 } }",
    "name: 'n' op: 'DecodePng' input: 'x' attr { key: 'channels' value { i: 3 } }",
    "name: 'n' op: 'DecodePng' input: 'x' attr { key: 'channels' value { i: 4 } }",
    "name: 'n' op: 'DecodeImage' input: 'x' attr { key: 'dtype' value { type: DT_FLOAT } }",
};

static void repair_checksums(uint8_t *bytes, size_t size) {
  for (size_t at = START_BYTES; at + AROUND_DATA <= size;) {
    uint8_t *chunk = bytes + at;
    size_t length =
        (size_t)chunk[0] << 24 | (size_t)chunk[1] << 16 | (size_t)chunk[2] << 8 | (size_t)chunk[3];
    if (length > size - at - AROUND_DATA) return;
    uint32_t checksum = (uint32_t)crc32(0, chunk + 4, (uInt)length + 4);
    for (int i = 0; i < 4; i++) chunk[8 + length + (size_t)i] = (uint8_t)(checksum >> (24 - 8 * i));
    at += length + AROUND_DATA;
  }
}

static void run(const uint8_t *bytes, size_t size) {
  FuzzReader reader = {bytes, bytes + size};
  int choice = fuzz_byte(&reader);
  Str file = fuzz_bytes(&reader, size);
  uint8_t *copy = mem_alloc((int64_t)file.length);
  if (!copy) return;
  if (file.length > 0) memcpy(copy, file.data, file.length);
  if (choice & REPAIR) repair_checksums(copy, file.length);
  fuzz_decode(kNodes, sizeof kNodes / sizeof *kNodes, choice % REPAIR, (Str){(char *)copy, file.length});
  mem_free(copy);
}

const FuzzTarget k_png_fuzz = {"png", run, NULL};
