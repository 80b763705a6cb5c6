/* Resizing by weighted sums along both axes of an image: result = Y image X^T for each channel. A row of the
 * matrix Y or X has few weights that are not 0, and they are adjacent.
 *
 *   Resampling axis;
 *   TRY(resample_begin(context, in, out, width, &axis, status));
 *   for (int64_t i = 0; i < out; i++) axis.first[i] = ..., axis.weights[i * width + k] = ...;
 *
 * The gradient is resampling with both matrices transposed.
 */
#ifndef TFCORE_OPS_IMAGE_RESAMPLE_H_
#define TFCORE_OPS_IMAGE_RESAMPLE_H_

#include "op/kernel.h"

/* The matrix of one axis: element i of the result is the sum of elements first[i] + k of the source, times
 * weights[i * width + k]. Elements beyond the end of the source have weight 0. All zeros is empty. */
typedef struct Resampling {
  int64_t in, out, width;
  int64_t *first;
  float *weights;
  Buffer *buffer; /* owns both arrays */
} Resampling;

/* Memory for a matrix, filled with zeros. */
MUST_CHECK bool resample_begin(KernelContext *context, int64_t in, int64_t out, int64_t width,
                               Resampling *axis, Status *status);
/* The transposed matrix. */
MUST_CHECK bool resample_transpose(KernelContext *context, const Resampling *axis, Resampling *transposed,
                                   Status *status);
void resample_drop(Resampling *axis);

/* Resamples images [batch, y->in, x->in, channels] of floats into `out`, which is of type float or double. */
MUST_CHECK bool resample_images(KernelContext *context, const float *images, int64_t batch, int64_t channels,
                                const Resampling *y, const Resampling *x, Tensor *out, Status *status);

#endif
