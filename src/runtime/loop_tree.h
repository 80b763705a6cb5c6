/* The loops of a graph with Enter, Exit and NextIteration, each as one unit that runs to its end before what
 * reads its Exits begins.
 *
 * A loop is a connected part of a frame. Two loops may have one frame name, as copies of an imported graph
 * do: TensorFlow runs both in one frame, but what one computes does not depend on the other, unless they are
 * connected. Loop 0 is everything outside of loops. Nested loops have numbers of their own, and are units of
 * the loop around them.
 */
#ifndef TFCORE_RUNTIME_LOOP_TREE_H_
#define TFCORE_RUNTIME_LOOP_TREE_H_

#include "graph/graph.h"

typedef struct LoopTree {
  int32_t *loop_of;  /* per node id: the loop that the node runs in. Enter and Exit run in the inner one */
  int32_t *parent;   /* per loop; that of loop 0 is 0 */
  int32_t num_loops; /* at least 1 */
} LoopTree;

/* Of the nodes in `set`. All in `arena`. The errors of graph_control_flow, which it asks. */
MUST_CHECK bool loop_tree_of(const Graph *graph, const NodeSet *set, Arena *arena, LoopTree *tree,
                             Status *status);

/* The loop in which others see what comes out of an edge: for an Exit the one around its own. */
int32_t loop_of_value(const LoopTree *tree, const Edge *edge);
/* The loop in which a node waits for its inputs: for an Enter the one around its own. */
int32_t loop_of_inputs(const LoopTree *tree, const Node *node);

#endif
