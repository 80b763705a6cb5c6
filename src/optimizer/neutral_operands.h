/* Removes nodes that change nothing. x * 1, x / 1, x + 0 and x - 0 become x, where x has the shape of the
 * result. Only a zero may change its sign: -0 + 0 is 0. A Tile that repeats x once, and a Reshape or
 * BroadcastTo to the shape of x, become x, too.
 *
 * Keras writes such a factor in x * Sigmoid(1 * x). It also hands activations through IdentityN, a node with
 * several inputs that it returns: its readers read the inputs instead. Where there is control flow, all
 * outputs of the IdentityN are dead when one of its inputs is, so that must be so without it.
 */
#ifndef TFCORE_OPTIMIZER_NEUTRAL_OPERANDS_H_
#define TFCORE_OPTIMIZER_NEUTRAL_OPERANDS_H_

#include "graph/graph.h"

/* Nodes of `keep` (may be NULL) and nodes with control edges stay. On error (out of memory) the graph
 * computes the same as before. */
MUST_CHECK bool graph_remove_neutral_operands(Graph *graph, const NodeSet *keep, bool *changed,
                                              Status *status);

#endif
