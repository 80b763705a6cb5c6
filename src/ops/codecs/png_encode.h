/* Encodes PNG files with libpng. */
#ifndef TFCORE_OPS_CODECS_PNG_ENCODE_H_
#define TFCORE_OPS_CODECS_PNG_ENCODE_H_

#include "base/str.h"

typedef struct PngPixels {
  const void *samples; /* row by row, without gaps */
  int64_t height, width;
  int channels;    /* 1 grey, 2 grey and alpha, 3 RGB, 4 RGBA */
  int sample_bits; /* 8, or 16 in the machine's byte order */
} PngPixels;

/* Appends the file. `compression` is zlib's level: 0 to 9, or -1 for the default. INTERNAL, without words for
 * the reason, for sizes that libpng refuses. */
MUST_CHECK bool png_encode_file(const PngPixels *pixels, int compression, StrBuf *out, Status *status);

#endif
