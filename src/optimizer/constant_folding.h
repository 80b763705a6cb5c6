/* Constant folding: what a node computes from constants alone is computed once. */
#ifndef TFCORE_OPTIMIZER_CONSTANT_FOLDING_H_
#define TFCORE_OPTIMIZER_CONSTANT_FOLDING_H_

#include "graph/graph.h"

enum { CONSTANT_FOLDING_MAX_BYTES = 10 << 20 }; /* a larger result is not kept */

typedef struct FoldOptions {
  int64_t max_constant_size_in_bytes; /* of a tensor that is replaced; 0: CONSTANT_FOLDING_MAX_BYTES */
  bool trust_shapes;   /* Shape, ShapeN, Rank and Size are constant where inference knows the shapes */
  const NodeSet *keep; /* nodes whose values come from elsewhere, or that must stay; may be NULL */
  bool (*consider)(const Node *node); /* NULL, or false for nodes to leave alone */
} FoldOptions;

/* TensorFlow's ConstantFold on a whole graph: every tensor that follows from constants alone and is read by a
 * node that does not is replaced by a Const node `<node>/_0__cf__0`, with the control inputs of all that it
 * stands for. The nodes that computed it stay, until graph_remove_dead_nodes. No more is added to the graph
 * in one call than CONSTANT_FOLDING_MAX_TOTAL_BYTES. On error the graph is valid. */
enum { CONSTANT_FOLDING_MAX_TOTAL_BYTES = 128 << 20 };
MUST_CHECK bool graph_fold_constants(Graph *graph, const FoldOptions *options, bool *changed, Status *status);

#endif
