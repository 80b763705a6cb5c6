/* Fuses products (Conv2D, DepthwiseConv2dNative, MatMul) with what follows them:
 *
 *   y = Relu6(AddV2(Mul(Conv2D(Pad(x), filter), scale), offset))
 *
 * becomes y = _FusedConv2D(x, filter * scale, offset) with the paddings of Pad and fused_ops = ["BiasAdd",
 * "Relu6"]. Its kernel adds the bias and computes the activation before it stores a result. The new node has
 * the name of the product.
 *
 * Constant factors, constant terms and the batch norm of inference, all by channel, become part of a constant
 * filter and of one bias. A Reshape between a MatMul and them, or a Squeeze between a convolution and them,
 * which keeps the channels together, then follows the fused node. An ExpandDims between a Pad and a
 * convolution then reads what the Pad did: Conv1D has both. This changes results by rounding errors. A bias
 * that is computed in the step is added as it is.
 */
#ifndef TFCORE_OPTIMIZER_FUSE_PRODUCTS_H_
#define TFCORE_OPTIMIZER_FUSE_PRODUCTS_H_

#include "graph/graph.h"

/* Filters of at most this many bytes in all are multiplied with their factors: each is a second copy. */
enum { FUSE_PRODUCTS_MOST_BYTES = 128 << 20 };

/* Nodes of `keep` (may be NULL) and nodes with control edges stay. On error (out of memory) the graph
 * computes the same as before. */
MUST_CHECK bool graph_fuse_products(Graph *graph, const NodeSet *keep, bool *changed, Status *status);

#endif
