/* Decodes GIF files with giflib. */
#ifndef TFCORE_OPS_CODECS_GIF_DECODE_H_
#define TFCORE_OPS_CODECS_GIF_DECODE_H_

#include "ops/codecs/image_output.h"

/* Decodes all frames into RGB samples of 8 bits. As in TensorFlow, the image is as wide and high as the
 * widest and highest frame; where a frame has no pixel or a transparent one, the frame before shows through,
 * and black for the first one; the method of disposal has no effect; and frames count up to the first damaged
 * one. INVALID_ARGUMENT without a sound frame, or for a color that is not in the map. */
MUST_CHECK bool gif_decode(Str file, ImageOutput *output, Status *status);

#endif
