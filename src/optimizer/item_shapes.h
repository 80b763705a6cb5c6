/* Lets nodes that read items of lists state their whole shapes: the rows of a tensor are as large as its
 * shape says, also where the graph was made for any batch. Inference knows of an item only what its node
 * states. */
#ifndef TFCORE_OPTIMIZER_ITEM_SHAPES_H_
#define TFCORE_OPTIMIZER_ITEM_SHAPES_H_

#include "graph/graph.h"

/* For items in loops, of lists that are the same in all rounds and were made of a tensor of known shape.
 * Nodes of `keep` (may be NULL) stay. On error (out of memory) the graph computes the same as before. */
MUST_CHECK bool graph_state_item_shapes(Graph *graph, const NodeSet *keep, bool *changed, Status *status);

#endif
