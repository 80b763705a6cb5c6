#include "optimizer/neutral_operands.h"

#include <string.h>

#include "op/node_def.h"
#include "optimizer/channel_terms.h"
#include "optimizer/dead_values.h"
#include "optimizer/fusible_ops.h"
#include "optimizer/optimizer_internal.h"

/* The outputs to read in place of those of a node. */
enum { MOST_OUTPUTS = 16 };

static bool is_free(const NodeSet *keep, const Node *node) {
  return node->op && node->num_out_edges > 0 && optimizer_is_free(keep, node);
}

/* Whether others may read what the edge carries, without waiting for its consumer. */
static bool can_be_read(const Edge *edge) {
  return edge && !dtype_is_ref(edge->src->output_types[edge->src_output]) && !node_is_switch(edge->src) &&
         !node_is_recv(edge->src);
}

/* --- constants --- */

/* The constant that changes nothing as operand `input`; -1: there is none. */
static int neutral_value(const Node *node, int input) {
  const char *op = node->def->op;
  if (strcmp(op, "Mul") == 0) return 1;
  if (strcmp(op, "AddV2") == 0 || strcmp(op, "Add") == 0) return 0;
  if (input == 1 && strcmp(op, "Sub") == 0) return 0;
  return input == 1 && strcmp(op, "RealDiv") == 0 ? 1 : -1;
}

static bool is_filled_with(const Tensor *value, double x) {
  int64_t count = tensor_num_elements(value);
  if (value->dtype != DT_FLOAT && value->dtype != DT_DOUBLE) return false;
  for (int64_t i = 0; i < count; i++) {
    if ((value->dtype == DT_FLOAT ? (double)tensor_f32(value)[i] : tensor_f64(value)[i]) != x) return false;
  }
  return true;
}

static bool is_neutral(const Node *node, int input, bool *neutral, Status *status) {
  int wanted = neutral_value(node, input);
  Tensor value = {0};
  *neutral = false;
  if (wanted < 0) return true;
  TRY(dead_values_constant(node->inputs[input]->src, edge_value(node->inputs[1 - input]), &value, neutral,
                           status));
  *neutral = *neutral && is_filled_with(&value, wanted);
  tensor_clear(&value);
  return true;
}

/* *from: what a Tile repeats once, or what has the shape already that a constant gives it. */
static bool find_shaped(const Node *node, NodeOutput *from, Status *status) {
  Tensor value = {0};
  bool is_known, is_tile = optimizer_is_op(node, "Tile");
  if (!is_tile && !optimizer_is_op(node, "Reshape") && !optimizer_is_op(node, "BroadcastTo")) return true;
  if (!can_be_read(node->inputs[0]) || !node->inputs[1] || !node_has_own_kernel(node)) return true;
  ShapeHandle shape = optimizer_shape(node, 0);
  bool is_same = shape && shape_fully_defined(shape) &&
                 optimizer_same_shape(optimizer_edge_shape(node->inputs[0]), shape);
  if (!is_tile && !is_same) return true;
  TRY(dead_values_constant(node->inputs[1]->src, edge_value(node->inputs[0]), &value, &is_known, status));
  if (is_known && (is_same || optimizer_are_ones(&value))) *from = edge_value(node->inputs[0]);
  tensor_clear(&value);
  return true;
}

/* *from: the other operand, if one of the two changes nothing. */
static bool find_operand(const Node *node, NodeOutput *from, Status *status) {
  if (node->num_inputs != 2 || node->num_outputs != 1 || !node_has_own_kernel(node)) return true;
  for (int i = 0; i < 2 && !from->node; i++) {
    const Edge *edge = node->inputs[1 - i];
    bool neutral;
    if (!can_be_read(edge) || !can_be_read(node->inputs[i])) continue;
    if (!optimizer_same_shape(edge->src->output_shapes[edge->src_output], node->output_shapes[0])) continue;
    TRY(is_neutral(node, i, &neutral, status));
    if (neutral) *from = edge_value(edge);
  }
  return true;
}

/* --- lists --- */

/* Whether consumers of an output of the list may read its input. */
static bool may_skip_list(const Node *list, int output, bool has_control_flow) {
  if (!can_be_read(list->inputs[output])) return false;
  for (int i = 0; has_control_flow && i < list->num_inputs; i++) {
    if (!dead_values_include(edge_value(list->inputs[output]), edge_value(list->inputs[i]))) return false;
  }
  return true;
}

static bool is_list_identity(const Node *node, bool has_control_flow) {
  bool is_read[MOST_OUTPUTS] = {false};
  if (strcmp(node->def->op, "IdentityN") != 0 || node->num_inputs != node->num_outputs ||
      node->num_inputs > MOST_OUTPUTS)
    return false;
  for (int i = 0; i < node->num_inputs; i++) {
    if (!node->inputs[i]) return false;
  }
  for (int32_t i = 0; i < node->num_out_edges; i++) is_read[node->out_edges[i]->src_output] = true;
  for (int i = 0; i < node->num_inputs; i++) {
    if (is_read[i] && !may_skip_list(node, i, has_control_flow)) return false;
  }
  return true;
}

static bool may_have_dead_values(const Graph *graph) {
  for (int64_t id = SINK_ID + 1; id < graph_num_node_ids(graph); id++) {
    const Node *node = graph_node(graph, id);
    if (node && (node_is_control_flow(node) || node_is_send(node) || node_is_recv(node))) return true;
  }
  return false;
}

/* Sets *from to what readers of the node's outputs may read instead, if there is something. */
typedef bool FindValues(const Node *node, NodeOutput *from, Status *status);

static void find_list(const Node *node, bool has_control_flow, NodeOutput *from) {
  if (!is_list_identity(node, has_control_flow)) return;
  for (int i = 0; i < node->num_inputs; i++) from[i] = edge_value(node->inputs[i]);
}

static bool find_list_with_control_flow(const Node *node, NodeOutput *from, Status *status) {
  (void)status;
  find_list(node, true, from);
  return true;
}

static bool find_list_without_control_flow(const Node *node, NodeOutput *from, Status *status) {
  (void)status;
  find_list(node, false, from);
  return true;
}

static bool remove_all(Graph *graph, const NodeSet *keep, FindValues *find, bool *changed, Status *status) {
  for (int64_t id = SINK_ID + 1; id < graph_num_node_ids(graph); id++) {
    Node *node = graph_node(graph, id);
    NodeOutput from[MOST_OUTPUTS] = {{NULL, 0}};
    if (!node || !is_free(keep, node)) continue;
    TRY(find(node, from, status));
    if (!from[0].node) continue;
    TRY(optimizer_move_consumers(graph, node, from, NULL, status));
    graph_remove_node(graph, node);
    *changed = true;
  }
  return true;
}

/* Lists first: the factor of x * Sigmoid(1 * x) may be in one, and the product still depends on it. */
bool graph_remove_neutral_operands(Graph *graph, const NodeSet *keep, bool *changed, Status *status) {
  FindValues *find_lists =
      may_have_dead_values(graph) ? find_list_with_control_flow : find_list_without_control_flow;
  *changed = false;
  return remove_all(graph, keep, find_lists, changed, status) &&
         remove_all(graph, keep, find_shaped, changed, status) &&
         remove_all(graph, keep, find_operand, changed, status);
}
