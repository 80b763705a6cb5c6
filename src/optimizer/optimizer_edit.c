/* Building blocks for passes. */
#include <string.h>

#include "graph/graph_walk.h"
#include "graph/node_builder.h"
#include "op/node_def.h"
#include "optimizer/fusible_ops.h"
#include "optimizer/optimizer_internal.h"

/* --- order --- */

bool optimizer_order(const Graph *graph, Arena *arena, Node ***order, int64_t *count, Status *status) {
  const Walk walk = {.follow = walk_follow_forward, .compare = node_compare_ids};
  int64_t all;
  TRY(graph_reverse_post_order(graph, &walk, arena, order, &all, status));
  *count = 0;
  for (int64_t i = 0; i < all; i++) {
    if ((*order)[i]->id > SINK_ID) (*order)[(*count)++] = (*order)[i];
  }
  return true;
}

/* --- frames --- */

static bool has_enter(const Graph *graph) {
  for (int64_t id = SINK_ID + 1; id < graph_num_node_ids(graph); id++) {
    const Node *node = graph_node(graph, id);
    if (node && node_is_enter(node)) return true;
  }
  return false;
}

bool optimizer_frames(Graph *graph, Arena *arena, ControlFlowInfo **frames, Status *status) {
  Status misfit;
  status_init(&misfit);
  *frames = NULL;
  if (!has_enter(graph)) return true;
  TRY(graph_fixup_source_and_sink_edges(graph, NULL, status));
  if (graph_control_flow(graph, arena, frames, NULL, NULL, &misfit)) return true;
  *frames = NULL;
  return misfit.code != CODE_RESOURCE_EXHAUSTED ||
         status_set(status, CODE_RESOURCE_EXHAUSTED, "%s", misfit.message);
}

/* --- adding --- */

bool optimizer_add_no_op(Graph *graph, const char *name, const char *device, Node **node, Status *status) {
  NodeBuilder b;
  node_builder(&b, graph, "NoOp", name);
  node_builder_device(&b, device);
  return node_builder_finish_bare(&b, node, status);
}

bool optimizer_add_identity(Graph *graph, const char *name, const char *device, Node *from, int output,
                            Node **node, Status *status) {
  NodeBuilder b;
  node_builder(&b, graph, "Identity", name);
  node_builder_device(&b, device);
  node_builder_type(&b, "T", from->output_types[output]);
  node_builder_input(&b, (NodeOutput){from, output});
  return node_builder_finish_bare(&b, node, status);
}

bool optimizer_copy_node(Graph *graph, const Node *node, int input, NodeOutput from, Node **made,
                         Status *status) {
  Edge *edge;
  TRY(graph_copy_node(graph, node, made, status));
  for (int i = 0; i < node->num_inputs; i++) {
    NodeOutput value = i == input ? from : edge_value(node->inputs[i]);
    if (graph_add_edge(graph, value.node, value.index, *made, i, &edge, status)) continue;
    graph_remove_node(graph, *made);
    *made = NULL;
    return false;
  }
  return true;
}

bool optimizer_add_constant(Graph *graph, const Tensor *value, const Node *beside, NodeOutput *made,
                            Status *status) {
  NodeBuilder b;
  node_builder(&b, graph, "Const", graph_new_free_name(graph, beside->name));
  node_builder_place_as(&b, beside);
  node_builder_tensor(&b, value);
  for (int32_t i = 0; i < beside->num_control_inputs; i++)
    node_builder_control(&b, beside->control_inputs[i]->src);
  made->index = 0;
  TRY(node_builder_finish_bare(&b, &made->node, status));
  return graph_infer_shapes(graph, made->node, status);
}

/* --- redirecting --- */

bool optimizer_is_waited_for(const Node *node) {
  if (node->sink_edge) return true;
  for (int32_t i = 0; i < node->num_out_edges; i++) {
    if (edge_is_control(node->out_edges[i])) return true;
  }
  return false;
}

bool optimizer_is_free(const NodeSet *keep, const Node *node) {
  return node->num_control_inputs == 0 && !node->source_edge && !optimizer_is_waited_for(node) &&
         !kept(keep, node);
}

bool optimizer_may_replace(const NodeSet *keep, const Node *node) {
  return node->op && optimizer_is_free(keep, node) && node_has_own_kernel(node);
}

bool optimizer_same_device(const Node *a, const Node *b) {
  return a->assigned_device == b->assigned_device && strcmp(a->def->device, b->def->device) == 0;
}

bool optimizer_same_dim(DimHandle a, DimHandle b) {
  return a == b || (dim_known(a) && dim_known(b) && dim_value(a) == dim_value(b));
}

bool optimizer_are_ones(const Tensor *value) {
  for (int64_t i = 0; i < tensor_num_elements(value); i++) {
    if (tensor_int_at(value, i) != 1) return false;
  }
  return true;
}

bool optimizer_same_shape(ShapeHandle a, ShapeHandle b) {
  if (!a || !b || !shape_rank_known(a) || !shape_rank_known(b) || shape_rank(a) != shape_rank(b))
    return false;
  for (int32_t i = 0; i < shape_rank(a); i++) {
    if (!optimizer_same_dim(a->dims[i], b->dims[i])) return false;
  }
  return true;
}

bool optimizer_attr_is(const Node *node, const char *name, const char *text) {
  const AttrValue *value = node_def_attr(node->def, name);
  return value && value->s.len == strlen(text) && memcmp(value->s.data, text, value->s.len) == 0;
}

bool optimizer_constant(const Node *node, Tensor *value, bool *known, Status *status) {
  const TensorProto *proto;
  *known = node_is_const(node);
  return !*known ||
         (node_attr_tensor(node->def, "value", &proto, status) && tensor_from_proto(proto, value, status));
}

bool optimizer_added_axis(const Node *expand, int32_t *axis, Status *status) {
  Tensor value = {0};
  bool is_known;
  ShapeHandle shape = optimizer_shape(expand, 0);
  *axis = -1;
  if (!shape || !expand->inputs[0] || !expand->inputs[1]) return true;
  TRY(optimizer_constant(expand->inputs[1]->src, &value, &is_known, status));
  if (is_known && tensor_num_elements(&value) == 1) {
    int64_t at = tensor_int_at(&value, 0);
    if (at < 0) at += shape_rank(shape);
    if (at >= 0 && at < shape_rank(shape)) *axis = (int32_t)at;
  }
  tensor_clear(&value);
  return true;
}

bool optimizer_move_consumers(Graph *graph, Node *from, const NodeOutput *outputs, Node *control,
                              Status *status) {
  /* A moved edge leaves the list, and the last edge fills its place. */
  for (int32_t i = from->num_out_edges - 1; i >= 0; i--) {
    Edge *edge = from->out_edges[i];
    if (edge_is_control(edge)) {
      if (!control) continue;
      TRY(optimizer_control(graph, control, edge->dst, status));
      graph_remove_edge(graph, edge);
    } else if (outputs[edge->src_output].node) {
      NodeOutput to = outputs[edge->src_output];
      TRY(graph_update_edge(graph, to.node, to.index, edge->dst, edge->dst_input, status));
    }
  }
  if (!control || !from->sink_edge) return true;
  Node *sink = graph_node(graph, SINK_ID);
  TRY(optimizer_control(graph, control, sink, status));
  graph_remove_edge(graph, from->sink_edge);
  return true;
}
