/* Pictures as PNG files. There is no compression: the data stands in stored blocks, which every reader
 * takes. */
#ifndef TFCORE_OPS_IO_PNG_H_
#define TFCORE_OPS_IO_PNG_H_

#include "base/str.h"

/* Appends the file of a picture of 8 bits a channel: 1 is grey, 3 RGB, 4 RGBA. Sizes are 1 and more.
 * INVALID_ARGUMENT when it is too large for the format. */
MUST_CHECK bool png_encode(const uint8_t *pixels, int64_t height, int64_t width, int channels, StrBuf *out,
                           Status *status);

#endif
