/* Builds a node, like TensorFlow's NodeBuilder: op and name, attrs, inputs, and one check at the end.
 *
 *   NodeBuilder b;
 *   node_builder(&b, graph, "ZerosLike", graph_unique_name(graph, "zeros"));
 *   node_builder_type(&b, "T", DT_FLOAT);
 *   node_builder_input(&b, x);
 *   TRY(node_builder_finish(&b, &node, status));
 *
 * Running out of memory is remembered, and node_builder_finish reports it. The NodeDef is allocated in the
 * graph's arena and stays there; a builder that fails or is abandoned leaves nothing else behind.
 */
#ifndef TFCORE_GRAPH_NODE_BUILDER_H_
#define TFCORE_GRAPH_NODE_BUILDER_H_

#include "graph/graph.h"

enum { NODE_BUILDER_FEW = 4 };

/* On the caller's stack; must not be copied or moved. */
typedef struct NodeBuilder {
  Graph *graph;
  NodeDef *def; /* NULL: a call has failed, and later calls do nothing */
  NodeOutput few_inputs[NODE_BUILDER_FEW];
  Node *few_controls[NODE_BUILDER_FEW];
  NodeOutput *inputs; /* points to few_inputs, or into the graph's arena */
  Node **controls;
  int num_inputs, input_capacity, num_controls, control_capacity;
  int32_t assigned_device; /* as in Node */
} NodeBuilder;

/* Both texts are copied. A NULL name counts as out of memory, so the result of graph_unique_name or
 * graph_new_free_name may be passed directly. */
void node_builder(NodeBuilder *b, Graph *graph, const char *op, const char *name);
void node_builder_device(NodeBuilder *b, const char *device); /* copied */
/* The device that a node of the graph asks for, and the one that it is assigned to. */
void node_builder_place_as(NodeBuilder *b, const Node *node);

/* --- attrs --- */

/* The value is shared and must live as long as the graph: allocate it in node_builder_arena. A NULL value
 * counts as out of memory, so the result of attr_value_...() may be passed directly. */
void node_builder_attr(NodeBuilder *b, const char *name, AttrValue *value);
/* The attrs of a function call; the values are copied. */
void node_builder_copy_attrs(NodeBuilder *b, const AttrEntry *const *attrs, int count);
void node_builder_type(NodeBuilder *b, const char *name,
                       DataType type); /* of a reference type, the base type */
void node_builder_types(NodeBuilder *b, const char *name, const DataType *types, int count);
void node_builder_int(NodeBuilder *b, const char *name, int64_t value);
void node_builder_func(NodeBuilder *b, const char *name, const char *function); /* a function without attrs */
/* The attrs of a Const: a tensor of numbers or strings, or a scalar of DT_INT32 or DT_FLOAT. */
void node_builder_tensor(NodeBuilder *b, const Tensor *value);
void node_builder_scalar(NodeBuilder *b, DataType type, int value);
static inline Arena *node_builder_arena(const NodeBuilder *b) { return graph_arena(b->graph); }

/* --- inputs --- */

void node_builder_input(NodeBuilder *b, NodeOutput input);
void node_builder_inputs(NodeBuilder *b, const NodeOutput *inputs, int count);
void node_builder_control(NodeBuilder *b, Node *node);

/* --- the node --- */

/* Whether memory has run out so far, for callers that need to know before node_builder_finish. */
MUST_CHECK bool node_builder_ok(const NodeBuilder *b, Status *status);

/* Checks, fills in defaults and infers shapes as graph_add_operation, with its errors. */
MUST_CHECK bool node_builder_finish(NodeBuilder *b, Node **node, Status *status);
/* For passes: as graph_add_node, plus an edge for each input. Attrs are not checked, defaults are not filled
 * in, names may repeat, and shapes are unknown (graph_infer_leniently). On error the graph is as before, and
 * *node is NULL. */
MUST_CHECK bool node_builder_finish_bare(NodeBuilder *b, Node **node, Status *status);

#endif
