/* Removes reshapes in front of arithmetic that broadcasts anyway: those that only add or drop leading
 * dimensions of size one.
 *
 *   y = AddV2(x, Squeeze(m))     becomes     y = AddV2(x, m)        x [1,n], m [1,n], Squeeze(m) [n]
 *
 * A BiasAdd of such a vector becomes an AddV2. A recurrent cell with a batch of one adds its product that
 * way.
 */
#ifndef TFCORE_OPTIMIZER_LEADING_ONES_H_
#define TFCORE_OPTIMIZER_LEADING_ONES_H_

#include "graph/graph.h"

/* Where static shapes show that the result stays the same. Reshapes stay if others read them, and so do nodes
 * of `keep` (may be NULL) and nodes with control edges. On error (out of memory) the graph computes the same
 * as before. */
MUST_CHECK bool graph_drop_leading_ones(Graph *graph, const NodeSet *keep, bool *changed, Status *status);

#endif
