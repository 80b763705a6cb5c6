/* Decodes PNG files with libpng. */
#ifndef TFCORE_OPS_CODECS_PNG_DECODE_H_
#define TFCORE_OPS_CODECS_PNG_DECODE_H_

#include "ops/codecs/image_output.h"

/* Samples have 16 bits if the output is wider than uint8, else 8. INVALID_ARGUMENT for damaged files, and for
 * sizes that TensorFlow refuses. */
MUST_CHECK bool png_decode(Str file, ImageOutput *output, Status *status);

#endif
