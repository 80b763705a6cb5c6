#include "optimizer/item_shapes.h"

#include "optimizer/fusible_ops.h"
#include "optimizer/loop_values.h"
#include "optimizer/optimizer_internal.h"

/* The shape of the tensor of whose rows the list is made, if all is known; else NULL. */
static ShapeHandle rows_of(const Edge *edge) {
  const Node *enter = loop_value_entered(edge);
  const Edge *list = enter ? loop_value_source(enter->inputs[0]) : NULL;
  if (!list || !node_is_own(list->src, "TensorListFromTensor")) return NULL;
  ShapeHandle rows = optimizer_edge_shape(list->src->inputs[0]);
  bool is_known = rows && shape_rank(rows) >= 1 && shape_fully_defined(rows);
  return is_known && loop_value_has_sizes(&rows->dims[1], shape_rank(rows) - 1) ? rows : NULL;
}

static bool state_shape(Graph *graph, Node *item, ShapeHandle rows, const Node *stated, Status *status) {
  NodeOutput made;
  Tensor sizes = {0};
  TRY(loop_value_sizes(&rows->dims[1], shape_rank(rows) - 1, &sizes, status));
  bool ok = optimizer_add_constant(graph, &sizes, stated, &made, status) &&
            graph_update_edge(graph, made.node, 0, item, 2, status);
  tensor_clear(&sizes);
  return ok;
}

bool graph_state_item_shapes(Graph *graph, const NodeSet *keep, bool *changed, Status *status) {
  *changed = false;
  int64_t ids = graph_num_node_ids(graph);
  for (int64_t id = SINK_ID + 1; id < ids; id++) {
    Node *node = graph_node(graph, id);
    if (!node || !node_is_own(node, "TensorListGetItem") || kept(keep, node)) continue;
    ShapeHandle known = optimizer_shape(node, 0), rows = rows_of(node->inputs[0]);
    const Edge *stated = loop_value_source(node->inputs[2]);
    if (!rows || (known && shape_fully_defined(known)) || !stated || !node_is_const(stated->src)) continue;
    TRY(state_shape(graph, node, rows, stated->src, status));
    *changed = true;
  }
  return true;
}
