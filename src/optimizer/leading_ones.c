#include "optimizer/leading_ones.h"

#include "graph/node_builder.h"
#include "optimizer/dead_values.h"
#include "optimizer/fusible_ops.h"
#include "optimizer/optimizer_internal.h"

static int32_t leading_ones(ShapeHandle shape) {
  int32_t count = 0;
  while (count < shape_rank(shape) && dim_known(shape->dims[count]) && dim_value(shape->dims[count]) == 1)
    count++;
  return count;
}

/* Whether all sizes after the leading ones are known, and equal. */
static bool same_but_leading_ones(ShapeHandle a, ShapeHandle b) {
  int32_t i = leading_ones(a), j = leading_ones(b);
  if (shape_rank(a) - i != shape_rank(b) - j) return false;
  for (; i < shape_rank(a); i++, j++) {
    if (!dim_known(a->dims[i]) || !dim_known(b->dims[j])) return false;
    if (dim_value(a->dims[i]) != dim_value(b->dims[j])) return false;
  }
  return true;
}

/* Whether the node only changes the shape of input 0, and is dead only with it. */
static bool is_reshape(const Node *node) {
  if (!node->op || node->num_control_inputs > 0 || dtype_is_ref((int)node->output_types[0])) return false;
  if (optimizer_is_op(node, "Squeeze")) return true;
  if (!optimizer_is_op(node, "Reshape") && !optimizer_is_op(node, "ExpandDims")) return false;
  const Edge *sizes = node->inputs[1];
  return sizes && node->inputs[0] && node_is_const(sizes->src) &&
         dead_values_include(edge_value(node->inputs[0]), edge_value(sizes));
}

/* Whether it broadcasts its two operands. A BiasAdd does if its bias is as long as the rows. */
static bool broadcasts(const Node *node) {
  static const char *const kOps[] = {"AddV2", "Mul", "Sub", "RealDiv", "Maximum", "Minimum"};
  for (size_t i = 0; i < sizeof kOps / sizeof *kOps; i++) {
    if (optimizer_is_op(node, kOps[i])) return true;
  }
  if (!optimizer_is_op(node, "BiasAdd") || optimizer_attr_is(node, "data_format", "NCHW")) return false;
  if (node->output_types[0] != DT_FLOAT && node->output_types[0] != DT_DOUBLE) return false;
  ShapeHandle x = optimizer_edge_shape(node->inputs[0]), bias = optimizer_edge_shape(node->inputs[1]);
  if (!x || !bias || shape_rank(x) < 1 || shape_rank(bias) != 1) return false;
  DimHandle last = x->dims[shape_rank(x) - 1];
  return dim_known(last) && dim_known(bias->dims[0]) && dim_value(last) == dim_value(bias->dims[0]);
}

/* The edge to read in place of operand `input`, or NULL. */
static const Edge *operand_behind(const Node *node, int input) {
  const Edge *edge = node->inputs[input];
  if (!edge || !is_reshape(edge->src)) return NULL;
  const Edge *from = edge->src->inputs[0];
  ShapeHandle before = optimizer_edge_shape(from), after = optimizer_edge_shape(edge),
              result = node->output_shapes[0];
  if (!before || !after || !result || !shape_rank_known(result)) return NULL;
  if (dtype_is_ref((int)from->src->output_types[from->src_output])) return NULL;
  bool fits = shape_rank(before) <= shape_rank(result) && same_but_leading_ones(before, after);
  /* The other operand must give the result its rank. */
  ShapeHandle other = optimizer_edge_shape(node->inputs[1 - input]);
  return fits && other && shape_rank(other) == shape_rank(result) ? from : NULL;
}

static bool add_sum(Graph *graph, const Node *bias_add, const Edge *bias, Node **made, Status *status) {
  NodeBuilder b;
  node_builder(&b, graph, "AddV2", bias_add->name);
  node_builder_place_as(&b, bias_add);
  node_builder_type(&b, "T", bias_add->output_types[0]);
  node_builder_inputs(&b, (NodeOutput[]){edge_value(bias_add->inputs[0]), edge_value(bias)}, 2);
  TRY(node_builder_finish_bare(&b, made, status));
  (*made)->output_shapes[0] = bias_add->output_shapes[0];
  return true;
}

static bool read_behind(Graph *graph, Node *node, int input, const Edge *from, Status *status) {
  if (!optimizer_is_op(node, "BiasAdd"))
    return graph_update_edge(graph, from->src, from->src_output, node, input, status);
  Node *sum;
  TRY(add_sum(graph, node, from, &sum, status));
  TRY(optimizer_move_consumers(graph, node, &(NodeOutput){sum, 0}, NULL, status));
  graph_remove_node(graph, node);
  return true;
}

bool graph_drop_leading_ones(Graph *graph, const NodeSet *keep, bool *changed, Status *status) {
  int64_t ids = graph_num_node_ids(graph);
  *changed = false;
  for (int64_t id = SINK_ID + 1; id < ids; id++) {
    Node *node = graph_node(graph, id);
    if (!node || !optimizer_may_replace(keep, node) || !broadcasts(node)) continue;
    int first = optimizer_is_op(node, "BiasAdd");
    for (int i = first; i < 2; i++) {
      const Edge *from = operand_behind(node, i);
      if (!from) continue;
      TRY(read_behind(graph, node, i, from, status));
      *changed = true;
      if (first) break; /* the node is gone */
    }
  }
  return true;
}
