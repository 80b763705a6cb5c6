/* Constant folding: computes nodes that follow from constants alone once. */
#ifndef TFCORE_OPTIMIZER_CONSTANT_FOLDING_H_
#define TFCORE_OPTIMIZER_CONSTANT_FOLDING_H_

#include "graph/graph.h"

enum { CONSTANT_FOLDING_MAX_BYTES = 10 << 20 }; /* larger results are not kept */

typedef struct FoldOptions {
  int64_t max_constant_size_in_bytes; /* the limit for a replaced tensor; 0: CONSTANT_FOLDING_MAX_BYTES */
  bool trust_shapes;   /* Shape, ShapeN, Rank and Size are constant where inference knows the shapes */
  const NodeSet *keep; /* nodes that are fed or must stay; may be NULL */
  bool (*consider)(const Node *node); /* may be NULL; false: leave the node unchanged */
} FoldOptions;

/* TensorFlow's ConstantFold on a whole graph: every tensor that follows from constants alone, and is read by
 * a node that does not, is replaced by a Const node `<node>/_0__cf__0`, which gets the control inputs of all
 * nodes that it replaces. The nodes that computed it stay until graph_remove_dead_nodes. One call adds at
 * most CONSTANT_FOLDING_MAX_TOTAL_BYTES to the graph. On error the graph is valid. */
enum { CONSTANT_FOLDING_MAX_TOTAL_BYTES = 128 << 20 };
MUST_CHECK bool graph_fold_constants(Graph *graph, const FoldOptions *options, bool *changed, Status *status);

#endif
