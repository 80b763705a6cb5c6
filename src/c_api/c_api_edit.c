/* Changes of operations that are in a graph. */
#include <string.h>

#include "c_api/c_api_internal.h"

/* What inference knows of the value of an input; NULL if the input is not connected. */
static ShapeHandle input_shape(const Node *node, int index) {
  const Edge *edge = node_input_edge(node, index);
  return edge ? graph_output_shape(edge_value(edge)) : NULL;
}

static bool shapes_agree(ShapeHandle a, ShapeHandle b) {
  if (!a || !b || !shape_rank_known(a) || !shape_rank_known(b)) return true;
  if (shape_rank(a) != shape_rank(b)) return false;
  for (int32_t i = 0; i < shape_rank(a); i++) {
    if (dim_known(a->dims[i]) && dim_known(b->dims[i]) && dim_value(a->dims[i]) != dim_value(b->dims[i]))
      return false;
  }
  return true;
}

static bool check_shapes(ShapeHandle old_shape, ShapeHandle new_shape, Status *status) {
  if (shapes_agree(old_shape, new_shape)) return true;
  StrBuf old_text = {0}, new_text = {0};
  shape_handle_print(old_shape, &old_text);
  shape_handle_print(new_shape, &new_text);
  if (strbuf_ok(&new_text, status) && strbuf_ok(&old_text, status)) {
    status_invalid(status, "Cannot update edge, incompatible shapes: %s and %s.", strbuf_text(&new_text),
                   strbuf_text(&old_text));
  }
  strbuf_free(&old_text);
  strbuf_free(&new_text);
  return false;
}

static bool update_edge(Graph *graph, NodeOutput from, Node *to, int index, Status *status) {
  TRY(graph_check_node(graph, from.node, status));
  TRY(graph_check_node(graph, to, status));
  if (from.index < 0 || from.index >= from.node->num_outputs) {
    return status_set(status, CODE_OUT_OF_RANGE,
                      "Cannot update edge. Output index [%d] is greater than the number of total outputs "
                      "[%d].",
                      from.index, from.node->num_outputs);
  }
  if (index < 0 || index >= to->num_inputs) {
    return status_set(status, CODE_OUT_OF_RANGE,
                      "Cannot update edge. Input index [%d] is greater than the number of total inputs [%d].",
                      index, to->num_inputs);
  }
  TRY(check_shapes(input_shape(to, index), graph_output_shape(from), status));
  const Edge *edge = node_input_edge(to, index);
  NodeOutput old = edge_value(edge);
  char *old_text = edge ? to->def->input[index] : NULL;
  TRY(graph_update_edge(graph, from.node, from.index, to, index, status));
  bool ok = graph_update_shapes(graph, to, NULL, status);
  if (!ok) graph_restore_edge(graph, old, old_text, to, index);
  return ok;
}

void TF_UpdateEdge(TF_Graph *graph, TF_Output new_src, TF_Input dst, TF_Status *status) {
  start_status(status);
  lock_graph(graph);
  reported(update_edge(graph->graph, to_node_output(new_src), operation_node(dst.oper), dst.index,
                       &status->status));
  unlock_graph(graph);
}

void TF_AddWhileInputHack(TF_Graph *graph, TF_Output new_src, TF_Operation *dst, TF_Status *status) {
  start_status(status);
  Edge *edge;
  lock_graph(graph);
  reported(graph_add_while_input(graph->graph, operation_node(new_src.oper), new_src.index,
                                 operation_node(dst), &edge, &status->status));
  unlock_graph(graph);
}

/* These calls have no status: they ignore an invalid operation. */
static bool is_of_graph(const TF_Graph *graph, const TF_Operation *op) {
  Status status;
  status_init(&status);
  return graph_check_node(graph->graph, operation_node(op), &status);
}

void TF_AddOperationControlInput(TF_Graph *graph, TF_Operation *op, TF_Operation *input) {
  Status status;
  status_init(&status);
  Edge *edge;
  lock_graph(graph);
  if (is_of_graph(graph, op) && is_of_graph(graph, input))
    reported(graph_add_control_edge(graph->graph, operation_node(input), operation_node(op), &edge, &status));
  unlock_graph(graph);
}

void TF_RemoveAllControlInputs(TF_Graph *graph, TF_Operation *op) {
  lock_graph(graph);
  const Node *node = operation_node(op);
  while (is_of_graph(graph, op) && node->num_control_inputs > 0)
    graph_remove_edge(graph->graph, node->control_inputs[node->num_control_inputs - 1]);
  unlock_graph(graph);
}

void TF_SetRequestedDevice(TF_Graph *graph, TF_Operation *op, const char *device) {
  lock_graph(graph);
  char *copy = is_of_graph(graph, op) ? arena_strdup(graph_arena(graph->graph), device) : NULL;
  if (copy) operation_node(op)->def->device = copy;
  unlock_graph(graph);
}

static bool set_attr(Graph *graph, Node *node, const char *name, const TF_Buffer *bytes, Status *status) {
  Arena *arena = graph_arena(graph);
  ArenaMark mark = arena_mark(arena);
  void *value;
  if (parse_given(kAttrValue, bytes->data, bytes->length, "Unparseable AttrValue proto", arena, &value,
                  status) &&
      node_def_set_attr(node->def, arena, name, value, status)) {
    return true;
  }
  arena_rollback(arena, mark);
  return false;
}

void TF_SetAttr(TF_Graph *graph, TF_Operation *op, const char *attr_name, TF_Buffer *attr_value_proto,
                TF_Status *status) {
  start_status(status);
  lock_graph(graph);
  if (graph_check_node(graph->graph, operation_node(op), &status->status)) {
    reported(set_attr(graph->graph, operation_node(op), attr_name, attr_value_proto, &status->status));
  }
  unlock_graph(graph);
}

static void clear_attr(NodeDef *def, const char *attr_name) {
  for (size_t i = 0; i < def->n_attr; i++) {
    if (strcmp(def->attr[i]->key, attr_name) != 0) continue;
    memmove(&def->attr[i], &def->attr[i + 1], (def->n_attr - i - 1) * sizeof *def->attr);
    def->n_attr--;
    return;
  }
}

void TF_ClearAttr(TF_Graph *graph, TF_Operation *op, const char *attr_name, TF_Status *status) {
  start_status(status);
  lock_graph(graph);
  if (graph_check_node(graph->graph, operation_node(op), &status->status))
    clear_attr(operation_node(op)->def, attr_name);
  unlock_graph(graph);
}
