/* Makes one dilated convolution of a convolution of blocks, which is how TensorFlow writes it:
 *
 *   y = BatchToSpaceND(Conv2D(SpaceToBatchND(x, block, paddings), filter), block, crops)
 *
 * becomes y = Conv2D(x, filter) with dilations = block and explicit paddings. Batch element i of the blocks
 * has every block-th position of the padded x, from position i on. A window of f adjacent positions there is
 * one of the padded x with dilation = block. Size n of an axis, padded to a multiple of the block, gives
 *
 *   block * ((n + p0 + p1) / block - f + 1) = n + p0 + p1 - block * (f - 1)
 *
 * results before the crops, as many as the dilated window has positions. The first and last result see the
 * first and last element of the padding, so the results that are left after crops c0 and c1 are those of
 * paddings p0 - c0 and p1 - c1. Larger crops would crop x itself, for which a convolution has no attr.
 *
 * One axis of size one may be added before the convolution and removed after it: Conv1D does that. Nodes that
 * compute each element, or add a bias, may follow the convolution. All these nodes are copied and keep their
 * names.
 */
#ifndef TFCORE_OPTIMIZER_DILATE_CONVOLUTIONS_H_
#define TFCORE_OPTIMIZER_DILATE_CONVOLUTIONS_H_

#include "graph/graph.h"

/* Conv2D and DepthwiseConv2dNative of any type and format, without padding, strides and dilations. The
 * blocks, paddings and crops are constants, and the sizes of blocked axes are known. Others may read the
 * blocks, as the two convolutions of a gated unit do. Nodes of `keep` (may be NULL), nodes with control
 * edges, and convolutions and what follows them with other consumers stay. On error (out of memory) the graph
 * computes the same as before. */
MUST_CHECK bool graph_dilate_convolutions(Graph *graph, const NodeSet *keep, bool *changed, Status *status);

#endif
