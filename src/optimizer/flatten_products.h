/* Makes one product of matrices of each BatchMatMulV2 that multiplies all matrices of a tensor by one matrix:
 *
 *   y = BatchMatMulV2(x, w)   becomes   y = Reshape(MatMul(Reshape(x, [-1, k]), w), [batch..., n])
 *
 * whose kernel packs a constant w once, and which other passes fuse with what follows. The MatMul has the
 * name of the product.
 */
#ifndef TFCORE_OPTIMIZER_FLATTEN_PRODUCTS_H_
#define TFCORE_OPTIMIZER_FLATTEN_PRODUCTS_H_

#include "graph/graph.h"

/* Only constants w of float, products that do not transpose x, and shapes of which at most one size is not
 * known. Nodes of `keep` (may be NULL) and nodes with control edges stay. On error (out of memory) the graph
 * computes the same as before. */
MUST_CHECK bool graph_flatten_products(Graph *graph, const NodeSet *keep, bool *changed, Status *status);

#endif
