/* Constant folding: what a node computes from constants alone is computed once. */
#ifndef TFCORE_OPTIMIZER_CONSTANT_FOLDING_H_
#define TFCORE_OPTIMIZER_CONSTANT_FOLDING_H_

#include "graph/graph.h"

enum { CONSTANT_FOLDING_MAX_BYTES = 10 << 20 }; /* a larger result is not kept */

/* Tries to compute `node`. `inputs` are the values of its inputs as far as they are constant, else NULL. Sets
 * *folded and, when true, all `outputs` (empty at entry). Stateful nodes, nodes with an input that is not
 * constant, results that are too large and nodes whose kernel fails are left alone: they run, and fail, in
 * their own time. With `trust_shapes`, Shape, ShapeN, Rank and Size of a value whose shape inference knows
 * are constants too. The only error is RESOURCE_EXHAUSTED. */
MUST_CHECK bool node_fold_constant(Graph *graph, const Node *node, const Tensor *const *inputs,
                                   bool trust_shapes, Tensor *outputs, bool *folded, Status *status);

#endif
