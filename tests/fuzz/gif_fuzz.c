/* Decodes a GIF file. The first byte selects the op and its attrs. */
#include "fuzz/image_decoding.h"

static const char *const kNodes[] = {
    "name: 'n' op: 'DecodeGif' input: 'x'",
    "name: 'n' op: 'DecodeImage' input: 'x' attr { key: 'dtype' value { type: DT_FLOAT } }",
    "name: 'n' op: 'DecodeImage' input: 'x' attr { key: 'expand_animations' value { b: false } }",
    "name: 'n' op: 'DecodePng' input: 'x'",
};

static void run(const uint8_t *bytes, size_t size) {
  FuzzReader reader = {bytes, bytes + size};
  int choice = fuzz_byte(&reader);
  fuzz_decode(kNodes, sizeof kNodes / sizeof *kNodes, choice, fuzz_bytes(&reader, size));
}

const FuzzTarget k_gif_fuzz = {"gif", run, NULL};
