/* Splits products of joined values in loops:
 *
 *   y = MatMul(ConcatV2(x, h, axis 1), w)
 *
 * becomes
 *
 *   y = AddV2(MatMul(x, first rows of w), MatMul(h, the other rows))
 *
 * if w is the same in every round, and x or h is an item of a list that is. Many cells of recurrent networks
 * join the input of the step and the state. Apart, the products of the inputs move in front of the loop
 * (optimizer/hoist_products.h). */
#ifndef TFCORE_OPTIMIZER_SPLIT_PRODUCTS_H_
#define TFCORE_OPTIMIZER_SPLIT_PRODUCTS_H_

#include "graph/graph.h"

/* Of float or double, where static shapes show that the parts fit. Nodes of `keep` (may be NULL) and nodes
 * with control edges stay. Sums are rounded in another order. On error (out of memory) the graph computes the
 * same as before. */
MUST_CHECK bool graph_split_products(Graph *graph, const NodeSet *keep, bool *changed, Status *status);

#endif
