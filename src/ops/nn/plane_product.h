/* Convolutions by filters of one pixel of images in the format NCHW, without copies of these in the format of
 * blas/: an image is a matrix [channels, pixels], whose product with the filter is the result in the same
 * format. */
#ifndef TFCORE_OPS_NN_PLANE_PRODUCT_H_
#define TFCORE_OPS_NN_PLANE_PRODUCT_H_

#include "blas/conv.h"
#include "op/kernel.h"

/* Whether that is possible and faster than with copies: the filter is packed again for each image. */
bool plane_product_suits(const Conv *conv, DataType type);
/* Computes `out`. The inputs are those of a convolution or of one of its gradients, `a` and `b` as in
 * ConvProduct. */
MUST_CHECK bool plane_product(KernelContext *context, ConvProduct product, const Conv *conv, const void *a,
                              const void *b, Tensor *out, Status *status);

#endif
