#include "optimizer/reciprocal_factors.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "graph/node_builder.h"
#include "optimizer/optimizer_internal.h"

static bool is_division(const NodeSet *keep, const Node *node) {
  const char *op = node->def->op;
  return (strcmp(op, "RealDiv") == 0 || strcmp(op, "Div") == 0) && optimizer_may_replace(keep, node) &&
         (node->output_types[0] == DT_FLOAT || node->output_types[0] == DT_DOUBLE) && node->inputs[0] &&
         node->inputs[1];
}

/* A reciprocal that is not normal has lost digits, and so has a divisor that is not. */
static bool reciprocals_of(const Tensor *divisors, Tensor *to) {
  int64_t count = tensor_num_elements(divisors);
  for (int64_t i = 0; i < count; i++) {
    if (divisors->dtype == DT_FLOAT) {
      float x = tensor_f32(divisors)[i], y = 1 / x;
      if (!isnormal(x) || !isnormal(y)) return false;
      tensor_f32(to)[i] = y;
    } else {
      double x = tensor_f64(divisors)[i], y = 1 / x;
      if (!isnormal(x) || !isnormal(y)) return false;
      tensor_f64(to)[i] = y;
    }
  }
  return true;
}

/* The constant of the reciprocals; no node if the divisor must stay. */
static bool add_reciprocals(Graph *graph, const Node *divisor, NodeOutput *made, Status *status) {
  Tensor value = {0}, reciprocals = {0};
  bool known;
  TRY(optimizer_constant(divisor, &value, &known, status));
  int64_t count = known ? tensor_num_elements(&value) : 0;
  bool ok = true;
  if (count > 0 && count <= RECIPROCAL_MOST_ELEMENTS) {
    ok = tensor_allocate_shared(&reciprocals, value.dtype, &value.shape, status);
    if (ok && reciprocals_of(&value, &reciprocals))
      ok = optimizer_add_constant(graph, &reciprocals, divisor, made, status);
  }
  tensor_clear(&value);
  tensor_clear(&reciprocals);
  return ok;
}

static bool add_product(Graph *graph, const Node *node, NodeOutput factor, Node **made, Status *status) {
  NodeBuilder b;
  node_builder(&b, graph, "Mul", node->name);
  node_builder_place_as(&b, node);
  node_builder_type(&b, "T", node->output_types[0]);
  node_builder_inputs(&b, (NodeOutput[]){edge_value(node->inputs[0]), factor}, 2);
  TRY(node_builder_finish_bare(&b, made, status));
  return graph_infer_shapes(graph, *made, status);
}

bool graph_multiply_by_reciprocals(Graph *graph, const NodeSet *keep, bool *changed, Status *status) {
  int64_t ids = graph_num_node_ids(graph);
  *changed = false;
  for (int64_t id = SINK_ID + 1; id < ids; id++) {
    Node *node = graph_node(graph, id), *product;
    NodeOutput factor = {NULL, 0};
    if (!node || !is_division(keep, node)) continue;
    TRY(add_reciprocals(graph, node->inputs[1]->src, &factor, status));
    if (!factor.node) continue;
    TRY(add_product(graph, node, factor, &product, status));
    TRY(optimizer_move_consumers(graph, node, &(NodeOutput){product, 0}, NULL, status));
    graph_remove_node(graph, node);
    *changed = true;
  }
  return true;
}
