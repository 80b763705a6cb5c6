/* Walks over a graph: depth-first orders, strongly connected components, frames of loops. Nothing here
 * recurses, so graphs may be arbitrarily deep. All take time linear in nodes and edges (plus sorting, if a
 * comparator is given).
 *
 * Walks follow the graph's edges from source or sink, so they miss nodes without an edge from source. Call
 * graph_fixup_source_and_sink_edges first where that matters; an import has called it.
 */
#ifndef TFCORE_GRAPH_GRAPH_WALK_H_
#define TFCORE_GRAPH_GRAPH_WALK_H_

#include "graph/graph.h"

/* --- depth first --- */

/* The callbacks of a walk. Each may be NULL. */
typedef struct Walk {
  void (*enter)(void *argument, Node *node);        /* before the nodes that follow it */
  void (*leave)(void *argument, Node *node);        /* after them */
  bool (*follow)(void *argument, const Edge *edge); /* false: the walk does not follow this edge */
  /* As for qsort: the greatest neighbour of a node is visited first, so that a reverse post order prefers the
   * smallest. If NULL, the neighbour of the last edge is visited first. */
  int (*compare)(const Node *a, const Node *b);
  void *argument;
} Walk;

/* For `follow`: skips edges out of a NextIteration, which close loops. */
bool walk_follow_forward(void *argument, const Edge *edge);
int node_compare_ids(const Node *a, const Node *b);
int node_compare_names(const Node *a, const Node *b);

/* Visits every node that is reachable from source once. */
MUST_CHECK bool graph_dfs(const Graph *graph, const Walk *walk, Status *status);
/* The same from given nodes, the last one first. */
MUST_CHECK bool graph_dfs_from(const Graph *graph, Node *const *start, int64_t count, const Walk *walk,
                               Status *status);
/* From sink, or from given nodes, against the direction of the edges. */
MUST_CHECK bool graph_reverse_dfs(const Graph *graph, const Walk *walk, Status *status);
MUST_CHECK bool graph_reverse_dfs_from(const Graph *graph, Node *const *start, int64_t count,
                                       const Walk *walk, Status *status);

/* The nodes reachable from source, source and sink included, in depth-first post order, or in its reverse,
 * which is a topological order when the followed edges have no cycle. `compare` and `follow` as in Walk; may
 * be NULL. */
MUST_CHECK bool graph_post_order(const Graph *graph, const Walk *options, Arena *arena, Node ***order,
                                 int64_t *count, Status *status);
MUST_CHECK bool graph_reverse_post_order(const Graph *graph, const Walk *options, Arena *arena, Node ***order,
                                         int64_t *count, Status *status);

/* --- cycles --- */

/* The strongly connected components of all nodes, source and sink included: component[id] from 0 (-1 for the
 * id of a removed node), numbered so that every edge goes to the same component or to one with a smaller
 * number. A graph without cycles has as many components as nodes, and no edge from a node to itself. */
MUST_CHECK bool graph_components(const Graph *graph, Arena *arena, int32_t **component, int64_t *count,
                                 Status *status);
/* A node on a cycle, or NULL when there is no cycle. */
MUST_CHECK bool graph_find_cycle(const Graph *graph, Node **node, Status *status);

/* --- frames of loops (control_flow.c) --- */

/* The frame that a node runs in. Source stands for the root frame, outside of all loops. */
typedef struct ControlFlowInfo {
  Node *frame;            /* the nearest of the frame's Enter nodes, or source; NULL: not reached */
  Node *parent_frame;     /* likewise, for the surrounding frame */
  const char *frame_name; /* "" outside of loops */
} ControlFlowInfo;

/* Per node id. INVALID_ARGUMENT when a node has inputs from different frames, an Enter has no frame name, or
 * a loop has two conditions; INTERNAL when one frame has two parents. `unreachable`, when given, lists the
 * nodes that were not reached. */
MUST_CHECK bool graph_control_flow(const Graph *graph, Arena *arena, ControlFlowInfo **info,
                                   Node ***unreachable, int64_t *num_unreachable, Status *status);

#endif
