/* What the passes share. */
#ifndef TFCORE_OPTIMIZER_OPTIMIZER_INTERNAL_H_
#define TFCORE_OPTIMIZER_OPTIMIZER_INTERNAL_H_

#include "graph/node_class.h"

static inline bool kept(const NodeSet *keep, const Node *node) { return keep && node_set_has(keep, node); }

/* Nodes with every node behind its inputs, but for the edges that close loops; ties by id. Without source and
 * sink, and without nodes that no walk from source meets. */
MUST_CHECK bool optimizer_order(const Graph *graph, Arena *arena, Node ***order, int64_t *count,
                                Status *status);

/* A node without inputs, named `name` (in the graph's arena), on a device (copied). */
MUST_CHECK bool optimizer_add_no_op(Graph *graph, const char *name, const char *device, Node **node,
                                    Status *status);
/* Reads output `output` of `from`. */
MUST_CHECK bool optimizer_add_identity(Graph *graph, const char *name, const char *device, Node *from,
                                       int output, Node **node, Status *status);

/* Adds an edge without a use for it. */
static inline bool optimizer_control(Graph *graph, Node *from, Node *to, Status *status) {
  Edge *edge;
  return graph_add_control_edge(graph, from, to, &edge, status);
}

/* Whether the node has control outputs; an edge to sink counts. */
bool optimizer_is_waited_for(const Node *node);
/* What reads output i of `from` reads outputs[i] instead; where its node is NULL nothing changes. What waits
 * for `from` waits for `control`, unless that is NULL; an edge to sink counts. When memory runs out, some
 * edges are still as they were. */
MUST_CHECK bool optimizer_move_consumers(Graph *graph, Node *from, const NodeOutput *outputs, Node *control,
                                         Status *status);

#endif
