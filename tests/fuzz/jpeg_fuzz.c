/* Decodes a JPEG file. The first byte selects the op and its attrs. */
#include "fuzz/image_decoding.h"

static const char *const kNodes[] = {
    "name: 'n' op: 'DecodeJpeg' input: 'x'",
    "name: 'n' op: 'DecodeJpeg' input: 'x' attr { key: 'try_recover_truncated' value { b: true } }",
    "name: 'n' op: 'DecodeJpeg' input: 'x' attr { key: 'acceptable_fraction' value { f: 0 } }"
    " attr { key: 'dct_method' value { s: 'INTEGER_ACCURATE' } }",
    "name: 'n' op: 'DecodeJpeg' input: 'x' attr { key: 'ratio' value { i: 4 } }"
    " attr { key: 'channels' value { i: 1 } }",
    "name: 'n' op: 'DecodeAndCropJpeg' input: 'x' input: 'w'",
    "name: 'n' op: 'DecodeAndCropJpeg' input: 'x' input: 'w' attr { key: 'fancy_upscaling' value { b: false "
    "} }"
    " attr { key: 'channels' value { i: 3 } } attr { key: 'try_recover_truncated' value { b: true } }",
    "name: 'n' op: 'ExtractJpegShape' input: 'x'",
};

static void run(const uint8_t *bytes, size_t size) {
  FuzzReader reader = {bytes, bytes + size};
  int choice = fuzz_byte(&reader);
  fuzz_decode(kNodes, sizeof kNodes / sizeof *kNodes, choice, fuzz_bytes(&reader, size));
}

const FuzzTarget k_jpeg_fuzz = {"jpeg", run, NULL};
