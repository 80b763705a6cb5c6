#include "optimizer/loop_values.h"

#include <string.h>

#include "graph/frame_loop.h"
#include "op/node_def.h"
#include "optimizer/fusible_ops.h"
#include "optimizer/optimizer_internal.h"

const Edge *loop_value_source(const Edge *edge) {
  while (edge && node_is_identity(edge->src)) edge = edge->src->inputs[0];
  return edge;
}

static bool is_variable(const Edge *edge) { return node_is_loop_switch(edge->src) && edge->src_output == 1; }

bool loop_value_ends(const Node *merge, Node **enter, Node **next) {
  *enter = *next = NULL;
  if (!node_is_loop_merge(merge) || merge->num_inputs != 2) return false;
  for (int i = 0; i < 2; i++) {
    const Edge *from = merge->inputs[i];
    if (from && node_is_enter(from->src)) *enter = from->src;
    if (from && node_is_next_iteration(from->src)) *next = from->src;
  }
  return *enter && *next;
}

/* --- what is the same in every round --- */

const Node *loop_value_unchanged(const Edge *edge) {
  const Edge *merged = is_variable(edge) ? loop_value_source(edge->src->inputs[0]) : edge;
  Node *enter, *next;
  if (!merged || merged->src_output != 0 || !loop_value_ends(merged->src, &enter, &next)) return NULL;
  const Edge *passed = loop_value_source(next->inputs[0]);
  if (!passed || !is_variable(passed)) return NULL;
  const Edge *again = loop_value_source(passed->src->inputs[0]);
  return again && again->src == merged->src ? enter : NULL;
}

const Node *loop_value_entered(const Edge *edge) {
  edge = loop_value_source(edge);
  if (!edge) return NULL;
  const Node *enter = node_is_constant_enter(edge->src) ? edge->src
                      : is_variable(edge)               ? loop_value_unchanged(edge)
                                                        : NULL;
  return enter && enter->inputs[0] && !dtype_is_ref(enter->output_types[0]) ? enter : NULL;
}

/* Looks at `*left` more nodes at most. */
static bool is_of_loop(const Edge *edge, bool in_condition, int *left) {
  edge = loop_value_source(edge);
  if (!edge || --*left < 0) return false;
  if (is_variable(edge) || (in_condition && node_is_loop_merge(edge->src))) return true;
  if (node_is_control_flow(edge->src)) return false;
  for (int i = 0; i<edge->src->num_inputs && * left> 0; i++) {
    if (is_of_loop(edge->src->inputs[i], in_condition, left)) return true;
  }
  return false;
}

enum { MOST_NODES = 32 }; /* bounds the time and the depth; such values are few nodes away */

bool loop_value_is_of_round(const Edge *edge) {
  int left = MOST_NODES;
  return is_of_loop(edge, false, &left);
}

bool loop_value_is_of_condition(const Edge *edge) {
  int left = MOST_NODES;
  return is_of_loop(edge, true, &left);
}

/* --- constants --- */

const Node *loop_value_origin(const Edge *edge) {
  edge = loop_value_source(edge);
  const Node *enter = edge ? loop_value_entered(edge) : NULL;
  if (enter) edge = loop_value_source(enter->inputs[0]);
  return edge ? edge->src : NULL;
}

bool loop_value_fits_shape(const Edge *edge, ShapeHandle shape, int first, bool *fits, Status *status) {
  const Node *origin = loop_value_origin(edge);
  Tensor value = {0};
  bool is_known;
  *fits = false;
  if (!origin) return true;
  TRY(optimizer_constant(origin, &value, &is_known, status));
  if (!is_known) return true;
  bool is_any = value.shape.rank == 0 && tensor_int_at(&value, 0) == -1;
  *fits = is_any || (value.shape.rank == 1 && tensor_num_elements(&value) == shape_rank(shape) - first);
  for (int i = 0; *fits && !is_any && i < tensor_num_elements(&value); i++) {
    DimHandle own = shape->dims[first + i];
    int64_t wanted = tensor_int_at(&value, i);
    *fits = wanted == -1 || (dim_known(own) && wanted == dim_value(own));
  }
  tensor_clear(&value);
  return true;
}

bool loop_value_has_sizes(const DimHandle *dims, int rank) {
  for (int i = 0; i < rank; i++) {
    if (dim_value(dims[i]) > INT32_MAX) return false;
  }
  return true;
}

bool loop_value_sizes(const DimHandle *dims, int rank, Tensor *sizes, Status *status) {
  const int64_t count = rank;
  TRY(tensor_allocate_dims(sizes, DT_INT32, 1, &count, NULL, status));
  for (int i = 0; i < rank; i++) tensor_i32(sizes)[i] = (int32_t)dim_value(dims[i]);
  return true;
}

/* --- new nodes --- */

void loop_value_begin_node(NodeBuilder *b, Graph *graph, const char *op, const Node *like) {
  node_builder(b, graph, op, graph_unique_name(graph, like->name));
  node_builder_place_as(b, like);
}

bool loop_value_finish_node(NodeBuilder *b, Node **made, Status *status) {
  TRY(node_builder_finish_bare(b, made, status));
  return graph_infer_leniently(b->graph, *made, status);
}

void loop_value_copy_controls(NodeBuilder *b, const Node *like) {
  for (int32_t i = 0; i < like->num_control_inputs; i++)
    node_builder_control(b, like->control_inputs[i]->src);
}

bool loop_value_enter(Graph *graph, NodeOutput value, const Node *like, bool is_constant, Node **made,
                      Status *status) {
  static const char *const kSame[] = {"frame_name", "parallel_iterations"};
  NodeBuilder b;
  loop_value_begin_node(&b, graph, "Enter", like);
  node_builder_type(&b, "T", (DataType)dtype_base((int)node_output_type(value)));
  for (int i = 0; i < 2; i++) {
    const AttrValue *same = node_def_attr(like->def, kSame[i]);
    if (same) node_builder_attr(&b, kSame[i], (AttrValue *)same);
  }
  node_builder_attr(&b, "is_constant", attr_value_bool(node_builder_arena(&b), is_constant));
  node_builder_input(&b, value);
  loop_value_copy_controls(&b, like);
  return loop_value_finish_node(&b, made, status);
}

/* --- products --- */

bool loop_value_is_product(const NodeSet *keep, const Node *node) {
  return node_is_own(node, "MatMul") && optimizer_is_free(keep, node) && node->num_inputs == 2 &&
         (node->output_types[0] == DT_FLOAT || node->output_types[0] == DT_DOUBLE) &&
         !node_def_is_true(node->def, "transpose_a");
}

static bool is_product(const Node *node) {
  return (strcmp(node->def->op, "MatMul") == 0 || strcmp(node->def->op, "BatchMatMulV2") == 0) &&
         (node->output_types[0] == DT_FLOAT || node->output_types[0] == DT_DOUBLE);
}

bool graph_enter_weights(Graph *graph, const NodeSet *keep, bool *changed, Status *status) {
  *changed = false;
  int64_t ids = graph_num_node_ids(graph);
  for (int64_t id = SINK_ID + 1; id < ids; id++) {
    Node *node = graph_node(graph, id), *enter;
    if (!node || !node->op || !is_product(node) || kept(keep, node)) continue;
    const Node *variable = loop_value_entered(node->inputs[1]);
    if (!variable || node_is_constant_enter(variable) || !loop_value_is_of_round(node->inputs[0])) continue;
    const Edge *outside = variable->inputs[0];
    TRY(loop_value_enter(graph, edge_value(outside), variable, true, &enter, status));
    TRY(graph_update_edge(graph, enter, 0, node, 1, status));
    *changed = true;
  }
  return true;
}
