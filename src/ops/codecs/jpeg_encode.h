/* Encodes JPEG files with libjpeg-turbo. */
#ifndef TFCORE_OPS_CODECS_JPEG_ENCODE_H_
#define TFCORE_OPS_CODECS_JPEG_ENCODE_H_

#include <stdint.h>

#include "base/str.h"

typedef struct JpegOptions {
  int32_t quality; /* 0 to 100 */
  bool progressive, optimize_size;
  bool chroma_downsampling; /* chroma planes have half the size */
  int density_unit;         /* 1: per inch, 2: per centimetre */
  int32_t x_density, y_density;
  Str xmp_metadata; /* borrowed */
} JpegOptions;

/* Appends the file of an image with 1 channel (grey) or 3 (RGB). INTERNAL, "JPEG encoding failed", for sizes
 * and metadata that the format does not have. */
MUST_CHECK bool jpeg_encode_file(const uint8_t *samples, int64_t height, int64_t width, int channels,
                                 const JpegOptions *options, StrBuf *out, Status *status);

#endif
