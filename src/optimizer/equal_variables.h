/* Makes one variable of loop variables (graph/frame_loop.h) that always have the same value: they enter the
 * loop with equal values, and every round changes them alike. TensorFlow's loops over time count their rounds
 * twice, by the loop counter and by the time, and compare both with the same limit: such a condition is
 * computed once, and not converted if it is a scalar bool.
 */
#ifndef TFCORE_OPTIMIZER_EQUAL_VARIABLES_H_
#define TFCORE_OPTIMIZER_EQUAL_VARIABLES_H_

#include "graph/graph.h"

/* Nodes of `keep` (may be NULL) stay. On error (out of memory) the graph is valid. */
MUST_CHECK bool graph_join_equal_variables(Graph *graph, const NodeSet *keep, bool *changed, Status *status);

#endif
