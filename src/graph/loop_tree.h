/* The loops of a graph with Enter, Exit and NextIteration. A loop is one unit: it ends before the readers of
 * its Exits run.
 *
 * A loop is a connected part of a frame. Two loops may have the same frame name, as in two copies of an
 * imported graph. TensorFlow runs both in one frame, but they are independent unless an edge connects them.
 * Loop 0 contains the nodes outside of all loops. A nested loop has a number of its own, and is a unit of the
 * loop around it.
 */
#ifndef TFCORE_GRAPH_LOOP_TREE_H_
#define TFCORE_GRAPH_LOOP_TREE_H_

#include "graph/graph.h"

typedef struct LoopTree {
  int32_t *loop_of;  /* per node id: the loop that the node runs in. Enter and Exit belong to the inner one */
  int32_t *parent;   /* per loop; the parent of loop 0 is 0 */
  int32_t num_loops; /* at least 1 */
} LoopTree;

/* Finds the loops of the nodes in `set`. Memory comes from `arena`. Errors are those of
 * graph_control_flow. */
MUST_CHECK bool loop_tree_of(const Graph *graph, const NodeSet *set, Arena *arena, LoopTree *tree,
                             Status *status);

/* The loop in which a node's outputs are read: for an Exit, the one around its own. */
int32_t loop_of_value(const LoopTree *tree, const Edge *edge);
/* The loop in which a node's inputs are computed: for an Enter, the one around its own. */
int32_t loop_of_inputs(const LoopTree *tree, const Node *node);

/* The nodes of `set` with every node behind its inputs and the nodes of a loop, inner loops included, without
 * other nodes between them: what reads an Exit comes behind the whole loop. Among nodes that could come next
 * the one with the smallest key does (`keys` per node id; NULL: the id). INVALID_ARGUMENT for a cycle that is
 * no loop. The array is in `arena`. */
MUST_CHECK bool graph_loop_order(const Graph *graph, const NodeSet *set, const LoopTree *tree,
                                 const int64_t *keys, Arena *arena, Node ***order, int64_t *count,
                                 Status *status);

#endif
