/* Walks over a graph: depth-first orders, strongly connected components, frames of loops. Nothing here
 * recurses, so a graph may be as deep as it likes. All take time linear in nodes and edges (and sorting,
 * where a comparator is given).
 *
 * Walks go over the edges that the graph has: they start at source or sink, so nodes that have no edge from
 * source yet are not met. graph_fixup_source_and_sink_edges comes first where that matters; after an import
 * it has been done.
 */
#ifndef TFCORE_GRAPH_GRAPH_WALK_H_
#define TFCORE_GRAPH_GRAPH_WALK_H_

#include "graph/graph.h"

/* --- depth first --- */

/* What a walk does at nodes, and where it goes. All of it may be left out. */
typedef struct Walk {
  void (*enter)(void *argument, Node *node);        /* before the nodes behind it */
  void (*leave)(void *argument, Node *node);        /* after them */
  bool (*follow)(void *argument, const Edge *edge); /* false: the walk does not go along this edge */
  /* As for qsort: of a node's neighbours the greatest is visited first, so that a reverse post order prefers
   * the smallest. Without it the edge that came last goes first. */
  int (*compare)(const Node *a, const Node *b);
  void *argument;
} Walk;

/* For `follow`: all edges but those that close loops, which come out of a NextIteration. */
bool walk_follow_forward(void *argument, const Edge *edge);
int node_compare_ids(const Node *a, const Node *b);
int node_compare_names(const Node *a, const Node *b);

/* Visits every node that can be reached from source once, along the edges. */
MUST_CHECK bool graph_dfs(const Graph *graph, const Walk *walk, Status *status);
/* From nodes of one's own; the last of them goes first. */
MUST_CHECK bool graph_dfs_from(const Graph *graph, Node *const *start, int64_t count, const Walk *walk,
                               Status *status);
/* From sink, or from nodes of one's own, against the direction of the edges. */
MUST_CHECK bool graph_reverse_dfs(const Graph *graph, const Walk *walk, Status *status);
MUST_CHECK bool graph_reverse_dfs_from(const Graph *graph, Node *const *start, int64_t count,
                                       const Walk *walk, Status *status);

/* Nodes reached from source, source and sink included, in the order in which a depth-first walk leaves them,
 * or in the reverse of it: that is a topological order when the edges followed have no cycle. `compare` and
 * `follow` as in Walk, may be NULL. */
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

/* Which frame a node runs in. Source is the frame of everything outside of loops. */
typedef struct ControlFlowInfo {
  Node *frame;            /* the nearest of the frame's Enter nodes, or source; NULL: not reached */
  Node *parent_frame;     /* the frame around it, in the same way */
  const char *frame_name; /* "" outside of loops */
} ControlFlowInfo;

/* Per node id. INVALID_ARGUMENT when a node has inputs from different frames, an Enter has no frame name, or
 * a loop has two conditions; INTERNAL when one frame has two parents. `unreachable`, when given, lists the
 * nodes that were not reached. */
MUST_CHECK bool graph_control_flow(const Graph *graph, Arena *arena, ControlFlowInfo **info,
                                   Node ***unreachable, int64_t *num_unreachable, Status *status);

#endif
