/* Decodes BMP files without compression, with 8, 24 or 32 bits a pixel. */
#ifndef TFCORE_OPS_CODECS_BMP_DECODE_H_
#define TFCORE_OPS_CODECS_BMP_DECODE_H_

#include "ops/codecs/image_output.h"

/* Samples have 8 bits; a pixel of 8 bits is grey, palettes are not read. INVALID_ARGUMENT unless the file has
 * exactly the pixels that its header tells. */
MUST_CHECK bool bmp_decode(Str file, ImageOutput *output, Status *status);

#endif
