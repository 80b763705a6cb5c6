/* Lets fused elementwise nodes read parts of rows where they are:
 *
 *   i, f = Split(axis, z)                     axis: the last one
 *   y = _FusedElementwise(i, f, ...)          becomes     y = _FusedElementwise(z, z, ...)
 *
 * whose attr FUSED_PARTS (op/fused_op.h) says which columns each input has. The same goes for StridedSlice
 * and Slice. Cells of recurrent networks compute all gates by one product, and split it.
 */
#ifndef TFCORE_OPTIMIZER_FUSE_PARTS_H_
#define TFCORE_OPTIMIZER_FUSE_PARTS_H_

#include "graph/graph.h"

/* Runs after graph_fuse_elementwise and graph_fuse_epilogues. Static shapes show which columns a part has,
 * and only fused nodes read it. Nodes of `keep` (may be NULL) and nodes with control edges stay. On error
 * (out of memory) the graph computes the same as before. */
MUST_CHECK bool graph_fuse_parts(Graph *graph, const NodeSet *keep, bool *changed, Status *status);

#endif
