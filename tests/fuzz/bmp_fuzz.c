/* Decodes a BMP file. The first byte selects the op and its attrs. */
#include "fuzz/image_decoding.h"

static const char *const kNodes[] = {
    "name: 'n' op: 'DecodeBmp' input: 'x'",
    "name: 'n' op: 'DecodeBmp' input: 'x' attr { key: 'channels' value { i: 4 } }",
    "name: 'n' op: 'DecodeImage' input: 'x' attr { key: 'dtype' value { type: DT_UINT16 } }",
    "name: 'n' op: 'DecodeImage' input: 'x' attr { key: 'dtype' value { type: DT_FLOAT } }",
};

static void run(const uint8_t *bytes, size_t size) {
  FuzzReader reader = {bytes, bytes + size};
  int choice = fuzz_byte(&reader);
  fuzz_decode(kNodes, sizeof kNodes / sizeof *kNodes, choice, fuzz_bytes(&reader, size));
}

const FuzzTarget k_bmp_fuzz = {"bmp", run, NULL};
