/* The three products of convolutions in which an output uses one channel of the image. A filter with several
 * outputs per channel runs as one with a single output, on an image in which each channel is repeated. */
#ifndef TFCORE_OPS_NN_DEPTHWISE_PRODUCT_H_
#define TFCORE_OPS_NN_DEPTHWISE_PRODUCT_H_

#include "ops/support/window_attrs.h"

/* A WindowProduct in float or double: output channel o uses channel o / (out_channels / in_channels);
 * out_channels is a multiple of in_channels, and `groups` is ignored. */
MUST_CHECK bool depthwise_multiply(KernelContext *context, ConvProduct product, const Conv *conv,
                                   const void *a, const void *b, void *result, Status *status);

#endif
