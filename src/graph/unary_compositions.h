/* Chains of elementwise functions that TensorFlow's optimizer has made one node of, in graphs that its
 * masters send: _UnaryOpsComposition, with the names of the ops in the attr op_names. */
#ifndef TFCORE_GRAPH_UNARY_COMPOSITIONS_H_
#define TFCORE_GRAPH_UNARY_COMPOSITIONS_H_

#include "graph/graph.h"

/* Makes such nodes of the GraphDef chains of nodes again. The last one keeps the name. `def` is changed; what
 * is new is in `arena`. INVALID_ARGUMENT when one names no ops. */
MUST_CHECK bool expand_unary_compositions(GraphDef *def, Arena *arena, Status *status);

#endif
