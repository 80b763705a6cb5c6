/* Images of any real type as floats: most ops on images compute in float. */
#ifndef TFCORE_OPS_IMAGE_IMAGE_FLOATS_H_
#define TFCORE_OPS_IMAGE_IMAGE_FLOATS_H_

#include "ops/support/window_attrs.h"

/* The elements of `tensor` as floats: its own memory if it is of type float, else a copy that image_drop
 * frees. */
MUST_CHECK bool image_floats(KernelContext *context, const Tensor *tensor, Image *floats, Status *status);
/* The same as doubles. */
MUST_CHECK bool image_doubles(KernelContext *context, const Tensor *tensor, Image *doubles, Status *status);
/* The inverse: rounds `values` to the type of `out`, which has as many elements; cuts off the fractions of
 * integers. */
void image_store(const double *values, Tensor *out);

#endif
