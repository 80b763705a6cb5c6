/* Encodes images as PNG files without compression, in stored blocks. */
#ifndef TFCORE_OPS_IO_PNG_H_
#define TFCORE_OPS_IO_PNG_H_

#include "base/str.h"

/* Appends the file of an image with 8 bits per channel: 1 is grey, 3 RGB, 4 RGBA. Sizes are at least 1.
 * INVALID_ARGUMENT when it is too large for the format. */
MUST_CHECK bool png_encode(const uint8_t *pixels, int64_t height, int64_t width, int channels, StrBuf *out,
                           Status *status);

#endif
