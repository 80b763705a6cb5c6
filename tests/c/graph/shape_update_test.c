/* Shapes after edges were redirected. */
#include "graph_test_ops.h"

#define PLACEHOLDER(name, dims)                                                                     \
  "name: '" name                                                                                    \
  "' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } attr { key: 'shape' value { " \
  "shape { " dims " } } }"
#define DIMS(rows, columns) "dim { size: " rows " } dim { size: " columns " }"
#define UNARY(name, op) "name: '" name "' op: '" op "' attr { key: 'T' value { type: DT_FLOAT } }"
#define VECTOR(name, size, values)                                                                    \
  "name: '" name                                                                                      \
  "' op: 'Const' attr { key: 'dtype' value { type: DT_INT32 } } attr { key: 'value' value { tensor {" \
  " dtype: DT_INT32 tensor_shape { dim { size: " size " } } " values " } } }"
#define HANDLE(name, dims)                                                                          \
  "name: '" name                                                                                    \
  "' op: 'VarHandleOp' attr { key: 'dtype' value { type: DT_FLOAT } } attr { key: 'shape' value { " \
  "shape { " dims " } } }"

typedef struct Line {
  const char *def, *inputs;
} Line;

static Graph *build(const Line *lines) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  for (; lines->def; lines++) CHECK_OK(ops_add(graph, lines->def, lines->inputs, &status), status);
  return graph;
}

static void check_shape(Graph *graph, const char *output, const char *want) {
  char text[64];
  ops_shape_text(graph, output, text);
  CHECK_STR_EQ(text, want);
}

static void redirect(Graph *graph, const char *src, const char *dst, int input) {
  Status status;
  status_init(&status);
  CHECK_OK(graph_update_edge(graph, graph_find_node(graph, src), 0, graph_find_node(graph, dst), input,
                             &status),
           status);
}

static void update(Graph *graph, const char *name, bool want_refined) {
  Status status;
  status_init(&status);
  bool refined = false;
  CHECK_OK(graph_update_shapes(graph, graph_find_node(graph, name), &refined, &status), status);
  CHECK_INT_EQ(refined, want_refined);
}

static const Line kChain[] = {{PLACEHOLDER("x", DIMS("2", "3")), ""},
                              {PLACEHOLDER("y", DIMS("-1", "3")), ""},
                              {PLACEHOLDER("z", DIMS("2", "4")), ""},
                              {PLACEHOLDER("w", DIMS("3", "7")), ""},
                              {UNARY("i", "Identity"), "x"},
                              {UNARY("j", "Identity"), "i"},
                              {UNARY("m", "MatMul"), "j w"},
                              {UNARY("other", "Identity"), "x"},
                              {NULL, NULL}};

TEST(consumers_follow_a_redirected_edge) {
  Graph *graph = build(kChain);
  ShapeHandle other = graph_output_shape((NodeOutput){graph_find_node(graph, "other"), 0});
  redirect(graph, "y", "i", 0);
  check_shape(graph, "m", "[2,7]"); /* until it is inferred again */
  update(graph, "i", true);
  check_shape(graph, "i", "[?,3]");
  check_shape(graph, "j", "[?,3]");
  check_shape(graph, "m", "[?,7]");
  ShapeHandle y = graph_output_shape((NodeOutput){graph_find_node(graph, "y"), 0});
  ShapeHandle m = graph_output_shape((NodeOutput){graph_find_node(graph, "m"), 0});
  CHECK(m->dims[0] == y->dims[0]);
  CHECK(graph_output_shape((NodeOutput){graph_find_node(graph, "other"), 0}) == other);
  update(graph, "i", false);
  graph_free(graph);
}

TEST(an_update_that_fails_leaves_the_shapes) {
  Status status;
  status_init(&status);
  Graph *graph = build(kChain);
  redirect(graph, "z", "i", 0);
  ShapeHandle i = graph_output_shape((NodeOutput){graph_find_node(graph, "i"), 0});
  int64_t bytes = arena_bytes(graph_arena(graph));
  bool refined = false;
  CHECK_ERROR(graph_update_shapes(graph, graph_find_node(graph, "i"), &refined, &status), status,
              CODE_INVALID_ARGUMENT, "Dimensions must be equal, but are 4 and 3 for '{{node m}} = MatMul[");
  CHECK(!refined);
  CHECK(graph_output_shape((NodeOutput){graph_find_node(graph, "i"), 0}) == i);
  check_shape(graph, "j", "[2,3]");
  check_shape(graph, "m", "[2,7]");
  CHECK_INT_EQ(arena_bytes(graph_arena(graph)), bytes);
  graph_free(graph);
}

/* Both paths to d change: it must not be inferred in between. */
TEST(a_node_waits_for_all_its_inputs) {
  Graph *graph = build((Line[]){{PLACEHOLDER("x", "dim { size: 2 }"), ""},
                                {PLACEHOLDER("y", "dim { size: 3 }"), ""},
                                {UNARY("a", "Identity"), "x"},
                                {UNARY("b", "Identity"), "a"},
                                {UNARY("b2", "Identity"), "b"},
                                {UNARY("c", "Identity"), "a"},
                                {"name: 'd' op: 'TestMergeShapes'", "b2 c"},
                                {"name: 'e' op: 'TestMergeShapes'", "c b2"},
                                {NULL, NULL}});
  redirect(graph, "y", "a", 0);
  update(graph, "a", true);
  check_shape(graph, "d", "[3]");
  check_shape(graph, "e", "[3]");
  graph_free(graph);
}

TEST(values_are_computed_again) {
  Graph *graph = build((Line[]){{VECTOR("a", "2", "int_val: 2 int_val: 3"), ""},
                                {VECTOR("b", "2", "int_val: 10 int_val: 20"), ""},
                                {"name: 's' op: 'Add' attr { key: 'T' value { type: DT_INT32 } }", "a a"},
                                {"name: 'f' op: 'TestFill'", "s"},
                                {NULL, NULL}});
  check_shape(graph, "f", "[4,6]");
  redirect(graph, "b", "s", 1);
  update(graph, "s", false); /* its own shape is unchanged, so its consumers are not inferred again */
  update(graph, "f", true);
  check_shape(graph, "f", "[12,23]");
  graph_free(graph);
}

TEST(handle_data_follows) {
  Graph *graph =
      build((Line[]){{HANDLE("u", "dim { size: 3 }"), ""},
                     {HANDLE("v", "dim { size: 5 }"), ""},
                     {"name: 'i' op: 'Identity' attr { key: 'T' value { type: DT_RESOURCE } }", "u"},
                     {"name: 'r' op: 'ReadVariableOp' attr { key: 'dtype' value { type: DT_FLOAT } }", "i"},
                     {NULL, NULL}});
  check_shape(graph, "r", "[3]");
  redirect(graph, "v", "i", 0);
  update(graph, "i", true);
  check_shape(graph, "r", "[5]");
  graph_free(graph);
}

/* c has the length of c and v together, so no length is consistent. */
TEST(what_grows_in_a_loop_becomes_unknown) {
  Graph *graph = build((Line[]){{VECTOR("v", "2", "int_val: 1"), ""},
                                {VECTOR("axis", "1", "int_val: 0"), ""},
                                {"name: 'c' op: 'ConcatV2' attr { key: 'N' value { i: 2 } } attr { key: 'T' "
                                 "value { type: DT_INT32 } }",
                                 "v v axis"},
                                {"name: 'i' op: 'Identity' attr { key: 'T' value { type: DT_INT32 } }", "c"},
                                {NULL, NULL}});
  check_shape(graph, "i", "[4]");
  redirect(graph, "i", "c", 0);
  update(graph, "c", true);
  check_shape(graph, "c", "[?]");
  check_shape(graph, "i", "[?]");
  update(graph, "i", true); /* another unknown size: a sum with an unknown one */
  check_shape(graph, "c", "[?]");
  graph_free(graph);
}

TEST(nodes_that_are_gone_are_refused) {
  Status status;
  status_init(&status);
  Graph *graph = build(kChain), *other = build(kChain);
  Node *gone = graph_find_node(graph, "m"), *foreign = graph_find_node(other, "i");
  graph_remove_node(graph, gone);
  CHECK_ERROR(graph_infer_shapes(graph, gone, &status), status, CODE_INVALID_ARGUMENT, "It was removed");
  CHECK_ERROR(graph_update_shapes(graph, gone, NULL, &status), status, CODE_INVALID_ARGUMENT,
              "It was removed");
  CHECK_ERROR(graph_infer_shapes(graph, foreign, &status), status, CODE_INVALID_ARGUMENT, "different graph");
  CHECK_ERROR(graph_update_shapes(graph, NULL, NULL, &status), status, CODE_INVALID_ARGUMENT, "Node is null");
  graph_free(graph);
  graph_free(other);
}

TEST(shape_functions_may_be_required) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  static const char *const kDef = "name: 'n' op: 'TestNoShape'";
  static const OpRegistration kOpTestNoShape = {.name = "TestNoShape", .outputs = {"y: float"}};
  REQUIRE_OK(op_registry_add(op_registry_global(), &kOpTestNoShape, &status), status);
  graph_require_shape_fns(graph, true);
  CHECK(!ops_add(graph, kDef, "", &status));
  CHECK_INT_EQ(status.code, CODE_INVALID_ARGUMENT);
  CHECK_STR_EQ(status.message,
               "No shape inference function exists for op 'TestNoShape', did you forget to define it?");
  graph_require_shape_fns(graph, false);
  status_init(&status);
  CHECK_OK(ops_add(graph, kDef, "", &status), status);
  check_shape(graph, "n", "?");
  graph_free(graph);
}

TEST(updates_survive_lack_of_memory) {
  bool ok = false;
  for (int64_t after = 0; !ok && after < 1000; after++) {
    Status status;
    status_init(&status);
    Graph *graph = build(kChain);
    redirect(graph, "y", "i", 0);
    int64_t bytes = arena_bytes(graph_arena(graph));
    mem_fail_after(after);
    ok = graph_update_shapes(graph, graph_find_node(graph, "i"), NULL, &status);
    mem_fail_after(-1);
    if (!ok) {
      CHECK_INT_EQ(status.code, CODE_RESOURCE_EXHAUSTED);
      CHECK_INT_EQ(arena_bytes(graph_arena(graph)), bytes);
      check_shape(graph, "m", "[2,7]");
      update(graph, "i", true);
    }
    check_shape(graph, "m", "[?,7]");
    graph_free(graph);
  }
  CHECK(ok);
}
