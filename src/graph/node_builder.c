#include "graph/node_builder.h"

#include <string.h>

#include "graph/graph_internal.h"

void node_builder(NodeBuilder *b, Graph *graph, const char *op, const char *name) {
  b->graph = graph;
  b->def = name ? node_def_new(graph->arena, name, op) : NULL;
  b->inputs = b->few_inputs;
  b->controls = b->few_controls;
  b->num_inputs = b->num_controls = 0;
  b->assigned_device = 0;
  b->input_capacity = b->control_capacity = NODE_BUILDER_FEW;
}

void node_builder_device(NodeBuilder *b, const char *device) {
  if (!b->def || !device[0]) return;
  b->def->device = arena_strdup(b->graph->arena, device);
  if (!b->def->device) b->def = NULL;
}

void node_builder_place_as(NodeBuilder *b, const Node *node) {
  node_builder_device(b, node->def->device);
  b->assigned_device = node->assigned_device;
}

/* --- attrs --- */

void node_builder_attr(NodeBuilder *b, const char *name, AttrValue *value) {
  Status ignored;
  if (!b->def) return;
  if (!value || !node_def_set_attr(b->def, b->graph->arena, name, value, &ignored)) b->def = NULL;
}

void node_builder_copy_attrs(NodeBuilder *b, const AttrEntry *const *attrs, int count) {
  for (int i = 0; i < count; i++)
    node_builder_attr(b, attrs[i]->key, proto_copy(attrs[i]->value, b->graph->arena));
}

void node_builder_type(NodeBuilder *b, const char *name, DataType type) {
  node_builder_attr(b, name, attr_value_type(b->graph->arena, dtype_base((int)type)));
}

void node_builder_types(NodeBuilder *b, const char *name, const DataType *types, int count) {
  Arena *arena = b->graph->arena;
  int *numbers = arena_calloc(arena, count, sizeof *numbers);
  for (int i = 0; numbers && i < count; i++) numbers[i] = (int)types[i];
  node_builder_attr(b, name, numbers ? attr_value_type_list(arena, numbers, (size_t)count) : NULL);
}

void node_builder_int(NodeBuilder *b, const char *name, int64_t value) {
  node_builder_attr(b, name, attr_value_int(b->graph->arena, value));
}

void node_builder_func(NodeBuilder *b, const char *name, const char *function) {
  node_builder_attr(b, name, attr_value_func(b->graph->arena, function, NULL));
}

void node_builder_tensor(NodeBuilder *b, const Tensor *value) {
  TensorProto *tensor;
  Status ignored;
  node_builder_type(b, "dtype", value->dtype);
  bool ok = tensor_to_proto(value, b->graph->arena, &tensor, &ignored);
  node_builder_attr(b, "value", ok ? attr_value_tensor(b->graph->arena, tensor) : NULL);
}

void node_builder_scalar(NodeBuilder *b, DataType type, int value) {
  Tensor scalar = {0};
  Status ignored;
  if (!tensor_allocate_dims(&scalar, type, 0, NULL, NULL, &ignored)) {
    b->def = NULL;
    return;
  }
  if (type == DT_INT32) {
    *tensor_i32(&scalar) = value;
  } else {
    *tensor_f32(&scalar) = (float)value;
  }
  node_builder_tensor(b, &scalar);
  tensor_clear(&scalar);
}

/* --- inputs --- */

/* Makes space for `more` elements in the graph's arena. NULL when out of memory. */
static void *reserve(const NodeBuilder *b, void *array, int count, int more, int *capacity, size_t size) {
  int64_t wanted = (int64_t)count + more;
  if (wanted <= *capacity) return array;
  if (wanted < 2 * (int64_t)count) wanted = 2 * (int64_t)count;
  if (wanted > INT32_MAX) return NULL;
  *capacity = (int)wanted;
  return arena_grow(b->graph->arena, array, count * (int64_t)size, wanted * (int64_t)size);
}

void node_builder_inputs(NodeBuilder *b, const NodeOutput *inputs, int count) {
  if (!b->def || count == 0) return;
  NodeOutput *array = reserve(b, b->inputs, b->num_inputs, count, &b->input_capacity, sizeof *array);
  if (!array) {
    b->def = NULL;
    return;
  }
  memcpy(array + b->num_inputs, inputs, (size_t)count * sizeof *array);
  b->inputs = array;
  b->num_inputs += count;
}

void node_builder_input(NodeBuilder *b, NodeOutput input) { node_builder_inputs(b, &input, 1); }

void node_builder_control(NodeBuilder *b, Node *node) {
  if (!b->def) return;
  Node **array = reserve(b, b->controls, b->num_controls, 1, &b->control_capacity, sizeof *array);
  if (!array) {
    b->def = NULL;
    return;
  }
  array[b->num_controls++] = node;
  b->controls = array;
}

/* --- the node --- */

bool node_builder_ok(const NodeBuilder *b, Status *status) { return b->def || status_oom(status, "a node"); }

bool node_builder_finish(NodeBuilder *b, Node **node, Status *status) {
  TRY(node_builder_ok(b, status));
  TRY(graph_take_operation(b->graph, b->def, b->inputs, b->num_inputs, b->controls, b->num_controls, node,
                           status));
  (*node)->assigned_device = b->assigned_device;
  return true;
}

static bool add_edges(const NodeBuilder *b, Node *node, Status *status) {
  Edge *edge;
  for (int i = 0; i < b->num_inputs; i++)
    TRY(graph_add_edge(b->graph, b->inputs[i].node, b->inputs[i].index, node, i, &edge, status));
  for (int i = 0; i < b->num_controls; i++)
    TRY(graph_add_control_edge(b->graph, b->controls[i], node, &edge, status));
  return true;
}

bool node_builder_finish_bare(NodeBuilder *b, Node **node, Status *status) {
  *node = NULL;
  TRY(node_builder_ok(b, status));
  TRY(graph_add_node(b->graph, b->def, node, status));
  if (!add_edges(b, *node, status)) {
    graph_remove_node(b->graph, *node);
    *node = NULL;
    return false;
  }
  (*node)->assigned_device = b->assigned_device;
  return true;
}
