/* Graphs over a separate registry, with ops described at run time. */
#include "base/alloc.h"
#include "graph/graph.h"
#include "harness.h"

/* Every output is a vector whose length is the op's shape data. */
static bool vector_shape(InferenceContext *c, Status *status) {
  const int64_t *length = c->shape_data;
  ShapeHandle shape;
  TRY(shape_ok(shape_vector(c, dim_make(c, *length)), &shape, status));
  for (int i = 0; i < c->num_outputs; i++) shape_set_output(c, i, shape);
  return true;
}

static bool make_vector_op(void *arg, Arena *arena, OpRegistrationData *data, Status *status) {
  int64_t *length = arena_alloc(arena, sizeof *length);
  if (!length) return status_oom(status, "length");
  *length = *(int64_t *)arg;
  OpDefSpec spec = {.name = *length == 3 ? "Three" : "Seven", .outputs = (const char *[]){"y: float", NULL}};
  data->shape = vector_shape;
  data->shape_data = length;
  return op_def_build(&spec, arena, &data->op_def, status);
}

static OpRegistry *vector_ops(void) {
  OpRegistry *ops = op_registry_new();
  Status status;
  status_init(&status);
  for (int64_t length = 3; length <= 7; length += 4) {
    CHECK_OK(op_registry_register(ops, make_vector_op, &length, NULL, &status), &status);
    op_registry_end_deferral(ops);
  }
  return ops;
}

static Node *add(Graph *graph, const char *name, const char *op, Status *status) {
  Arena *arena = arena_new();
  Node *node = NULL;
  NodeDef *def = node_def_new(arena, name, op);
  if (!graph_add_operation(graph, def, NULL, 0, NULL, 0, &node, status)) node = NULL;
  arena_free(arena);
  return node;
}

TEST(a_graph_has_the_ops_of_its_registry) {
  Status status;
  status_init(&status);
  OpRegistry *ops = vector_ops();
  Graph *graph = graph_new_with_ops(ops), *other = graph_new(), *clone = NULL;
  CHECK(graph_ops(graph) == ops && graph_ops(other) == op_registry_global());
  Node *three = add(graph, "a", "Three", &status), *seven = add(graph, "b", "Seven", &status);
  if (CHECK(three && seven)) {
    /* The same shape function told them apart by its data. */
    ShapeHandle shapes[] = {graph_output_shape((NodeOutput){three, 0}),
                            graph_output_shape((NodeOutput){seven, 0})};
    CHECK(shape_rank(shapes[0]) == 1 && dim_value(shapes[0]->dims[0]) == 3);
    CHECK(shape_rank(shapes[1]) == 1 && dim_value(shapes[1]->dims[0]) == 7);
  }
  CHECK(!add(other, "a", "Three", &status));
  CHECK_INT_EQ(status.code, CODE_NOT_FOUND);
  CHECK_STR_CONTAINS(status.message, "Op type not registered 'Three'");
  if (CHECK_OK(graph_clone(graph, &clone, &status), status)) {
    CHECK(graph_ops(clone) == ops);
    CHECK(add(clone, "c", "Three", &status));
  }
  graph_free(clone);
  graph_free(graph);
  graph_free(other);
  op_registry_free(ops);
}

TEST(a_function_may_not_be_called_as_an_op_of_the_registry) {
  Status status;
  status_init(&status);
  OpRegistry *ops = vector_ops();
  Graph *graph = graph_new_with_ops(ops), *other = graph_new();
  Arena *arena = arena_new();
  void *function;
  if (CHECK_OK(proto_parse_text(kFunctionDef, str_of("signature { name: 'Three' }"), arena, &function,
                                &status),
               status)) {
    CHECK_ERROR(graph_add_function(graph, function, &status), status, CODE_INVALID_ARGUMENT,
                "Cannot add function 'Three' because an op with the same name already exists.");
    CHECK_OK(graph_add_function(other, function, &status), status);
  }
  arena_free(arena);
  graph_free(graph);
  graph_free(other);
  op_registry_free(ops);
}
