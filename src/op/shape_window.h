/* Shape functions of ops with sliding windows (convolutions and pooling), and of batch normalisation, which
 * shares their data formats. Errors are TensorFlow's; attrs are read from the node, and attrs that an op
 * lacks (dilations, explicit_paddings, data_format) have their usual defaults. */
#ifndef TFCORE_OP_SHAPE_WINDOW_H_
#define TFCORE_OP_SHAPE_WINDOW_H_

#include "op/shape_inference.h"

typedef enum WindowPadding { PADDING_VALID, PADDING_SAME, PADDING_EXPLICIT } WindowPadding;

/* The number of output positions of a window of `filter` elements. before and after are used for
 * PADDING_EXPLICIT only. */
MUST_CHECK bool shape_windowed_size(InferenceContext *c, DimHandle input, DimHandle filter, int64_t dilation,
                                    int64_t stride, WindowPadding padding, int64_t before, int64_t after,
                                    DimHandle *out, Status *status);

bool shape_conv2d(InferenceContext *c, Status *status);
bool shape_conv2d_backprop_input(InferenceContext *c, Status *status);
bool shape_conv3d(InferenceContext *c, Status *status);
bool shape_depthwise_conv2d(InferenceContext *c, Status *status);
bool shape_max_pool(InferenceContext *c, Status *status);    /* attrs ksize and strides */
bool shape_max_pool_v2(InferenceContext *c, Status *status); /* with ksize and strides in inputs 1 and 2 */
bool shape_avg_pool(InferenceContext *c, Status *status);
bool shape_pool3d(InferenceContext *c, Status *status);
bool shape_fused_batch_norm(InferenceContext *c, Status *status);
bool shape_fused_batch_norm_grad(InferenceContext *c, Status *status);

#endif
