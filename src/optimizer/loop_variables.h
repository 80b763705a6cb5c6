/* Removes variables of loops (graph/frame_loop.h) that need not be variables:
 *
 * - What is read of a variable that every round passes on unchanged is read from a constant Enter.
 * - A variable that nothing reads any longer is removed. It may be one whose rows a product has read in front
 *   of the loop (optimizer/hoist_products.h), or one whose Exit is only waited for by nodes that wait for
 *   another Exit of the loop: TensorFlow's lowering lets them wait for all.
 *
 * Each variable costs every round a Merge, a Switch and a NextIteration.
 */
#ifndef TFCORE_OPTIMIZER_LOOP_VARIABLES_H_
#define TFCORE_OPTIMIZER_LOOP_VARIABLES_H_

#include "graph/graph.h"

/* Nodes of `keep` (may be NULL) stay. On error (out of memory) the graph computes the same as before. */
MUST_CHECK bool graph_drop_loop_variables(Graph *graph, const NodeSet *keep, bool *changed, Status *status);

#endif
