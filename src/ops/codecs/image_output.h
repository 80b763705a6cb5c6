/* Where decoders put their pixels: the output tensor of a decoding op.
 *
 * A decoder calls image_output_begin once, when it knows the size, and writes its samples. When it has
 * succeeded, the op calls image_output_finish, which converts the samples to the output's dtype.
 */
#ifndef TFCORE_OPS_CODECS_IMAGE_OUTPUT_H_
#define TFCORE_OPS_CODECS_IMAGE_OUTPUT_H_

#include "op/kernel.h"

/* Images with this many pixels (of all frames) or more are refused, as TensorFlow does for PNG and JPEG. */
#define IMAGE_MAX_PIXELS (1LL << 29)

/* How the shape of the output depends on the frames of an image. */
typedef enum FrameRule {
  FRAMES_OF_ANIMATIONS, /* a still image has three dimensions, a GIF has four */
  FRAMES_ALWAYS,        /* four dimensions */
  FRAMES_FIRST,         /* three dimensions, and of an animation only the first frame */
  FRAMES_SINGLE,        /* three dimensions; animations are refused */
} FrameRule;

typedef struct ImageOutput {
  KernelContext *context;
  DataType dtype; /* uint8, uint16 or float */
  FrameRule rule;
  int32_t channels; /* requested: 0 for those of the file, 1, 3 or 4 */
  Tensor *tensor;   /* NULL before image_output_begin */
  int sample_size;
} ImageOutput;

/* The size of an image. `frames` is 0 for a still image, which is different from an animation of one frame.
 */
typedef struct ImageSize {
  int64_t frames, height, width, channels;
} ImageSize;

/* Whether the decoder should make samples of 16 bits, because the output has more than 8. */
static inline bool image_output_is_wide(const ImageOutput *output) { return output->dtype != DT_UINT8; }
/* Allocates the output, and sets *samples to memory for all samples, row by row without gaps, which have
 * `sample_size` bytes (1, or 2 in the machine's byte order). */
MUST_CHECK bool image_output_begin(ImageOutput *output, const ImageSize *size, int sample_size,
                                   uint8_t **samples, Status *status);
/* Converts the samples. 8 bits become 16 by a factor of 256, and floats by division by the largest sample. */
void image_output_finish(ImageOutput *output);

#endif
