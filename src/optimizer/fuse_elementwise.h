/* Fuses elementwise nodes: each connected group becomes one node (op/fused_op.h), whose kernel computes it
 * tile by tile. What lies between the nodes is then not written to memory.
 *
 *   y = Mul(Mul(x, half), Add(Erf(Mul(x, r)), one))
 *
 * is one node with the inputs x, half, r and one. Values that other nodes read are outputs of the fused node,
 * which has the name of the last node of its group. A sum, mean or maximum of rows that fit the cache belongs
 * to the group as well, so that a layer norm is one node.
 */
#ifndef TFCORE_OPTIMIZER_FUSE_ELEMENTWISE_H_
#define TFCORE_OPTIMIZER_FUSE_ELEMENTWISE_H_

#include "graph/graph.h"

typedef struct FuseOptions {
  /* Whether the nodes may be in one group. NULL: yes. */
  bool (*may_join)(const void *owner, const Node *a, const Node *b);
  const void *owner;
} FuseOptions;

/* Nodes of `keep` (may be NULL) and nodes with control edges stay. No cycle arises, nor does one through
 * other devices. Nothing is fused across Switch, Merge and the nodes of loops, and there only values with one
 * reader, or groups whose values all are dead with the same nodes, so that no node runs or stays dead that
 * did not before: those of the rounds of a loop, for example. On error (out of memory) the graph computes the
 * same as before. */
MUST_CHECK bool graph_fuse_elementwise(Graph *graph, const NodeSet *keep, const FuseOptions *options,
                                       bool *changed, Status *status);

/* The NodeDef of a fused node that computes what the elementwise node does from the same inputs, in the arena
 * of the graph. NULL: out of memory. */
NodeDef *fused_def_of_one(Graph *graph, const Node *node);

#endif
