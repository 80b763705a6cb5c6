/* Fuses products with the elementwise nodes that read their results:
 *
 *   y = _FusedElementwise[Sigmoid,Mul](_FusedConv2D[BiasAdd](x, filter, bias))
 *
 * becomes y = _FusedConv2D[BiasAdd,Sigmoid,Mul](x, filter, bias), whose kernel runs the program on blocks of
 * the result while they are in the cache (op/fused_op.h). A residual is one more input:
 *
 *   y = Relu(AddV2(Conv2D(x, filter), z))   becomes   _FusedConv2D[AddV2,Relu](x, filter, z)
 *
 * The new node has the name of the product.
 */
#ifndef TFCORE_OPTIMIZER_FUSE_EPILOGUES_H_
#define TFCORE_OPTIMIZER_FUSE_EPILOGUES_H_

#include "graph/graph.h"

/* Runs after graph_fuse_products and graph_fuse_elementwise. The elementwise node has one output of the
 * product's shape and type, reduces no rows, and alone reads the product, or the matrix as which a Reshape
 * reads it, or the lines that a Squeeze makes of images. Its other inputs have one element, one for each
 * channel, or the same shape. Nodes of `keep` (may be NULL) and nodes with control edges stay. On error (out
 * of memory) the graph computes the same as before. */
MUST_CHECK bool graph_fuse_epilogues(Graph *graph, const NodeSet *keep, bool *changed, Status *status);

#endif
