/* Builds small graphs of real ops with one line per node, for the tests of the runtime. Any error fails the
 * test and gives a NULL node. */
#ifndef TFCORE_TESTS_RUNTIME_GRAPH_FIXTURE_H_
#define TFCORE_TESTS_RUNTIME_GRAPH_FIXTURE_H_

#include <stdio.h>

#include "graph/graph.h"
#include "harness.h"
#include "ops/op_table.h"
#include "runtime/session.h"
#include "runtime/thread_pool.h"

/* Attrs are given as AttrValues in protobuf text format: "dtype", "type: DT_FLOAT". */
typedef struct Attr {
  const char *name, *text;
} Attr;

static inline Node *add_node(Graph *graph, const char *op, const char *name, const NodeOutput *inputs,
                             int num_inputs, const Attr *attrs, int num_attrs) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  Node *node = NULL;
  const Op *found;
  if (arena && CHECK_OK(graph_look_up_op(graph, op, &found, &status), status)) {
    NodeDefBuilder *builder = node_def_builder_new(arena, name, found->def);
    for (int i = 0; i < num_inputs; i++) {
      if (!inputs[i].node) return NULL;
      node_def_builder_input(builder, inputs[i].node->name, inputs[i].index, node_output_type(inputs[i]));
    }
    for (int i = 0; i < num_attrs; i++) {
      void *value;
      if (CHECK_OK(proto_parse_text(kAttrValue, str_of(attrs[i].text), arena, &value, &status), status)) {
        node_def_builder_attr(builder, attrs[i].name, value);
      }
    }
    NodeDef *def;
    bool ok = CHECK_OK(node_def_builder_finalize(builder, &def, &status), status) &&
              CHECK_OK(graph_add_operation(graph, def, inputs, num_inputs, NULL, 0, &node, &status), status);
    if (!ok) node = NULL;
  }
  arena_free(arena);
  return node;
}

static inline NodeOutput out(Node *node) { return (NodeOutput){node, 0}; }

static inline NodeOutput placeholder(Graph *graph, const char *name, const char *shape_text) {
  Attr attrs[] = {{"dtype", "type: DT_FLOAT"}, {"shape", shape_text}};
  return out(add_node(graph, "Placeholder", name, NULL, 0, attrs, 2));
}

static inline NodeOutput unary(Graph *graph, const char *op, const char *name, NodeOutput x) {
  return out(add_node(graph, op, name, &x, 1, NULL, 0));
}

static inline NodeOutput binary(Graph *graph, const char *op, const char *name, NodeOutput x, NodeOutput y) {
  NodeOutput inputs[] = {x, y};
  return out(add_node(graph, op, name, inputs, 2, NULL, 0));
}

static inline NodeOutput constant(Graph *graph, const char *name, const char *tensor_text) {
  char value[512];
  snprintf(value, sizeof value, "tensor { dtype: DT_FLOAT %s }", tensor_text);
  Attr attrs[] = {{"dtype", "type: DT_FLOAT"}, {"value", value}};
  return out(add_node(graph, "Const", name, NULL, 0, attrs, 2));
}

/* A float tensor of the caller's values. */
static inline bool float_tensor(Tensor *tensor, int rank, const int64_t *dims, const float *values) {
  Status status;
  status_init(&status);
  *tensor = (Tensor){0};
  if (!CHECK_OK(tensor_allocate_dims(tensor, DT_FLOAT, rank, dims, NULL, &status), status)) return false;
  for (int64_t i = 0; i < tensor_num_elements(tensor); i++) tensor_f32(tensor)[i] = values[i];
  return true;
}

#endif
