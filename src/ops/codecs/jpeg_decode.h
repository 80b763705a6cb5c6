/* Decodes JPEG files with libjpeg-turbo. */
#ifndef TFCORE_OPS_CODECS_JPEG_DECODE_H_
#define TFCORE_OPS_CODECS_JPEG_DECODE_H_

#include "ops/codecs/image_output.h"

typedef struct JpegSettings {
  int32_t ratio;              /* the image is made smaller by this: 1, 2, 4 or 8 */
  bool fancy_upscaling;       /* of the chroma planes */
  bool try_recover_truncated; /* decodes a file that ends early as if the image ended there */
  float acceptable_fraction;  /* of the rows; those that are missing are black */
  bool accurate_dct;
} JpegSettings;

/* The settings of ops without attrs for them. */
extern const JpegSettings kJpegDefaults;

/* Decodes the file into samples of 8 bits. `crop` is NULL or a window of the image after it was made smaller:
 * y, x, height, width. INVALID_ARGUMENT for damaged or truncated files, for sizes that TensorFlow refuses and
 * for windows that are not inside of the image. */
MUST_CHECK bool jpeg_decode(Str file, const JpegSettings *settings, const int32_t *crop, ImageOutput *output,
                            Status *status);
/* The size of the image, from the header alone. */
MUST_CHECK bool jpeg_read_size(Str file, ImageSize *size, Status *status);

#endif
