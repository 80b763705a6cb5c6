/* Builds small graphs of doubles, computes them, and checks gradients against central differences. */
#ifndef TFCORE_TESTS_GRADIENT_GRADIENT_FIXTURE_H_
#define TFCORE_TESTS_GRADIENT_GRADIENT_FIXTURE_H_

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "function/text/function_text.h"
#include "gradient/graph_gradients.h"
#include "harness.h"
#include "op/node_def.h"

/* A node with only the attrs given as "name=value, ..." in function text, e.g. op(graph, "y", "Mul",
 * "T=double", 2, a, b). */
static inline NodeOutput graph_op_v(Graph *graph, const char *name, const char *op, const char *attrs,
                                    int num_inputs, va_list args) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  NodeOutput inputs[8], output = {NULL, 0};
  FunctionDef *function = NULL;
  char text[512];
  for (int i = 0; i < num_inputs; i++) inputs[i] = va_arg(args, NodeOutput);
  snprintf(text, sizeof text, "F() -> () { `%s` = %s[%s]() }", name, op, attrs);
  if (CHECK_OK(function_parse(str_of(text), arena, &function, &status), &status)) {
    CHECK_OK(graph_add_operation(graph, function->node_def[0], inputs, num_inputs, NULL, 0, &output.node,
                                 &status),
             &status);
  }
  arena_free(arena);
  return output;
}

static inline NodeOutput graph_op(Graph *graph, const char *name, const char *op, const char *attrs,
                                  int num_inputs, ...) {
  va_list args;
  va_start(args, num_inputs);
  NodeOutput output = graph_op_v(graph, name, op, attrs, num_inputs, args);
  va_end(args);
  return output;
}

static inline NodeOutput placeholder(Graph *graph, const char *name) {
  return graph_op(graph, name, "Placeholder", "dtype=double", 0);
}
static inline NodeOutput unary(Graph *graph, const char *name, const char *op, NodeOutput x) {
  return graph_op(graph, name, op, "T=double", 1, x);
}
static inline NodeOutput binary(Graph *graph, const char *name, const char *op, NodeOutput x, NodeOutput y) {
  return graph_op(graph, name, op, "T=double", 2, x, y);
}

static inline void add_function(Graph *graph, const char *text) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  FunctionDef *function;
  if (CHECK_OK(function_parse(str_of(text), arena, &function, &status), &status)) {
    CHECK_OK(graph_add_function(graph, function, &status), &status);
  }
  arena_free(arena);
}

/* The scalar `y` when the values xs, outputs 0, are fed. NaN if it cannot be computed. */
static inline double compute(Graph *graph, NodeOutput y, const NodeOutput *xs, const double *values,
                             int num_xs) {
  Status status;
  status_init(&status);
  double result = (double)__builtin_nan("");
  Arena *arena = arena_new();
  NodeSet set;
  Node **order;
  int64_t count, ids = graph_num_node_ids(graph);
  Tensor **tensors = mem_calloc(ids, sizeof(Tensor *));
  bool ok =
      CHECK_OK(graph_reverse_reachable(graph, &y.node, 1, xs, num_xs, arena, &set, &status), &status) &&
      CHECK_OK(graph_topological_order(graph, &set, xs, num_xs, arena, &order, &count, &status), &status);
  for (int k = 0; ok && k < num_xs; k++) {
    Tensor *fed = tensors[xs[k].node->id] = mem_calloc(xs[k].node->num_outputs + 1, sizeof(Tensor));
    ok = CHECK_OK(tensor_allocate_dims(&fed[0], DT_DOUBLE, 0, NULL, NULL, &status), &status);
    if (ok) tensor_f64(&fed[0])[0] = values[k];
  }
  for (int64_t i = 0; ok && i < count; i++) {
    Node *node = order[i];
    if (node->id <= SINK_ID || tensors[node->id]) continue;
    Tensor *outputs = tensors[node->id] = mem_calloc(node->num_outputs + 1, sizeof(Tensor));
    const Tensor *inputs[8];
    for (int k = 0; k < node->num_inputs && k < 8; k++)
      inputs[k] = &tensors[node->inputs[k]->src->id][node->inputs[k]->src_output];
    ok = CHECK_OK(op_evaluate(node->op, node->def, inputs, outputs, &status), &status);
  }
  if (ok) result = tensor_f64(&tensors[y.node->id][y.index])[0];
  for (int64_t id = 0; id < ids; id++) {
    for (int k = 0; tensors[id] && k < graph_node(graph, id)->num_outputs; k++) tensor_clear(&tensors[id][k]);
    mem_free(tensors[id]);
  }
  mem_free(tensors);
  arena_free(arena);
  return result;
}

/* Checks dxs[i] against (y(x + h) - y(x - h)) / 2h, at the given values. */
static inline void check_central(Graph *graph, NodeOutput y, const NodeOutput *xs, const NodeOutput *dxs,
                                 const double *values, int num_xs) {
  const double h = 1e-5;
  for (int i = 0; i < num_xs; i++) {
    double at[8];
    memcpy(at, values, sizeof(double) * (size_t)num_xs);
    at[i] = values[i] + h;
    double above = compute(graph, y, xs, at, num_xs);
    at[i] = values[i] - h;
    double below = compute(graph, y, xs, at, num_xs);
    double got = !dxs[i].node ? 0 : compute(graph, dxs[i], xs, values, num_xs);
    CHECK_NEAR(got, (above - below) / (2 * h), 1e-8);
  }
}

/* The number of nodes with that op. */
static inline int count_ops(const Graph *graph, const char *op) {
  int count = 0;
  for (int64_t id = 0; id < graph_num_node_ids(graph); id++) {
    const Node *node = graph_node(graph, id);
    count += node && node->op && strcmp(node->def->op, op) == 0;
  }
  return count;
}

#endif
