/* Declarations shared by the passes. */
#ifndef TFCORE_OPTIMIZER_OPTIMIZER_INTERNAL_H_
#define TFCORE_OPTIMIZER_OPTIMIZER_INTERNAL_H_

#include <string.h>

#include "graph/graph_walk.h"
#include "graph/node_class.h"

static inline bool kept(const NodeSet *keep, const Node *node) { return keep && node_set_has(keep, node); }

/* Nodes in topological order, ignoring the edges that close loops; ties by id. Without source and sink, and
 * without nodes that are not reachable from source. */
MUST_CHECK bool optimizer_order(const Graph *graph, Arena *arena, Node ***order, int64_t *count,
                                Status *status);

/* The frames of all nodes, by id; NULL when the graph has no Enter, or frames that do not fit together, which
 * is an error when it is compiled. Adds edges from source. */
MUST_CHECK bool optimizer_frames(Graph *graph, Arena *arena, ControlFlowInfo **frames, Status *status);

/* A node without inputs, named `name` (in the graph's arena), on a device (copied). */
MUST_CHECK bool optimizer_add_no_op(Graph *graph, const char *name, const char *device, Node **node,
                                    Status *status);
/* Adds an input from output `output` of `from`. */
MUST_CHECK bool optimizer_add_identity(Graph *graph, const char *name, const char *device, Node *from,
                                       int output, Node **node, Status *status);

/* Adds a copy of the node, with its name, that reads `from` through input `input`. Its shapes are unknown. On
 * error there is no copy. */
MUST_CHECK bool optimizer_copy_node(Graph *graph, const Node *node, int input, NodeOutput from, Node **made,
                                    Status *status);

/* Adds a Const, which waits for what the Const `beside` waits for, so that it is in the same frame of a loop.
 */
MUST_CHECK bool optimizer_add_constant(Graph *graph, const Tensor *value, const Node *beside,
                                       NodeOutput *made, Status *status);

/* Adds an edge that the caller does not need. */
static inline bool optimizer_control(Graph *graph, Node *from, Node *to, Status *status) {
  Edge *edge;
  return graph_add_control_edge(graph, from, to, &edge, status);
}

/* Whether the node has control outputs; an edge to sink counts. */
bool optimizer_is_waited_for(const Node *node);
/* Whether a pass may replace the node: only data ties it to others, and it is not kept. */
bool optimizer_is_free(const NodeSet *keep, const Node *node);
/* Whether a pass may let another kernel do the work of the node: it is free, and runs its own kernel, which
 * is in the module that is loaded first. */
bool optimizer_may_replace(const NodeSet *keep, const Node *node);
/* Whether both are placed alike, and ask for the same device. */
bool optimizer_same_device(const Node *a, const Node *b);
/* The shape of an output, or of what an edge carries; NULL when its rank is unknown, or without an edge. */
static inline ShapeHandle optimizer_shape(const Node *node, int output) {
  ShapeHandle shape = node->output_shapes[output];
  return shape && shape_rank_known(shape) ? shape : NULL;
}
static inline ShapeHandle optimizer_edge_shape(const Edge *edge) {
  return edge ? optimizer_shape(edge->src, edge->src_output) : NULL;
}
static inline bool edge_is_reference(const Edge *edge) {
  return dtype_is_ref((int)edge->src->output_types[edge->src_output]);
}
/* Whether both are the same dimension, or have the same known size. */
bool optimizer_same_dim(DimHandle a, DimHandle b);
/* Whether both shapes have known rank and the same dimensions, whatever those that are unknown. */
bool optimizer_same_shape(ShapeHandle a, ShapeHandle b);
/* The axis of the result that an ExpandDims adds; -1: it is not known. RESOURCE_EXHAUSTED when out of memory.
 */
MUST_CHECK bool optimizer_added_axis(const Node *expand, int32_t *axis, Status *status);
/* Whether the node has the attr, with that text. */
bool optimizer_attr_is(const Node *node, const char *name, const char *text);
/* The value of a Const, to be cleared; *known is false for other nodes. RESOURCE_EXHAUSTED when out of
 * memory. */
MUST_CHECK bool optimizer_constant(const Node *node, Tensor *value, bool *known, Status *status);
/* Whether all elements of a tensor of integers are 1. */
bool optimizer_are_ones(const Tensor *value);
/* Redirects the consumers of output i of `from` to outputs[i], unless its node is NULL, and the control
 * outputs of `from` to `control`, unless that is NULL; an edge to sink counts. When memory runs out, some
 * edges are not moved. */
MUST_CHECK bool optimizer_move_consumers(Graph *graph, Node *from, const NodeOutput *outputs, Node *control,
                                         Status *status);

static inline bool optimizer_is_op(const Node *node, const char *op) {
  return strcmp(node->def->op, op) == 0;
}

#endif
