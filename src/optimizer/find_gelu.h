/* Puts one node in place of those that compute a GELU:
 *
 *   0.5 * x * erfc(-x / sqrt(2)),  0.5 * x * (1 + erf(x / sqrt(2)))                      _GeluExact
 *   0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))                            _GeluApproximate
 *
 * and whatever arithmetic with constants has their values: the nodes are computed for some x, and compared
 * with both functions. One loop takes half of the time of the loops of the ops.
 */
#ifndef TFCORE_OPTIMIZER_FIND_GELU_H_
#define TFCORE_OPTIMIZER_FIND_GELU_H_

#include "graph/graph.h"

/* Nodes of float32. Nodes of `keep` (may be NULL), nodes with control edges, and those whose Erf, Erfc or
 * Tanh others read, as gradients do, stay. On error (out of memory) the graph computes the same as before. */
MUST_CHECK bool graph_find_gelu(Graph *graph, const NodeSet *keep, bool *changed, Status *status);

#endif
