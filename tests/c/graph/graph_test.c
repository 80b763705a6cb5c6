/* Graphs: creating and freeing, nodes and edges. */
#include "graph_test_ops.h"

#define PLACEHOLDER(name) "name: '" name "' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } }"
#define IDENTITY(name) "name: '" name "' op: 'Identity' attr { key: 'T' value { type: DT_FLOAT } }"

TEST(new_graph_has_source_and_sink) {
  Graph *graph = graph_new();
  REQUIRE(graph);
  CHECK_INT_EQ(graph_num_nodes(graph), 2);
  CHECK_INT_EQ(graph_num_edges(graph), 1);
  CHECK_STR_EQ(graph_node(graph, SOURCE_ID)->name, "_SOURCE");
  CHECK_STR_EQ(graph_node(graph, SINK_ID)->name, "_SINK");
  CHECK(ops_has_edge(graph, graph_node(graph, 0), CONTROL_SLOT, graph_node(graph, 1), CONTROL_SLOT));
  CHECK_INT_EQ(graph_versions(graph)->producer, 2314);
  CHECK_INT_EQ(graph_versions(graph)->min_consumer, 0);
  CHECK(!graph_find_node(graph, "_SOURCE"));
  CHECK(!graph_node(graph, 2) && !graph_node(graph, -1));
  ops_check_whole(graph);
  graph_free(graph);
  graph_free(NULL);
}

TEST(new_graph_reports_lack_of_memory) {
  for (int64_t after = 0;; after++) {
    mem_fail_after(after);
    Graph *graph = graph_new();
    mem_fail_after(-1);
    if (graph) {
      CHECK(after > 2);
      graph_free(graph);
      break;
    }
    REQUIRE(after < 1000);
  }
}

static Graph *small_graph(Status *status) {
  Graph *graph = graph_new();
  CHECK_OK(ops_add(graph, PLACEHOLDER("a"), "", status), status);
  CHECK_OK(ops_add(graph, PLACEHOLDER("b"), "", status), status);
  CHECK_OK(ops_add(graph, "name: 'two' op: 'TestOneInputTwoOutputs'", "a", status), status);
  CHECK_OK(ops_add(graph, "name: 'mul' op: 'TestMul'", "two:1 b", status), status);
  return graph;
}

TEST(nodes_and_outputs_are_found_by_name) {
  Status status;
  status_init(&status);
  Graph *graph = small_graph(&status);
  NodeOutput output;
  CHECK_OK(graph_find_output(graph, "two:1", &output, &status), status);
  CHECK(output.node == graph_find_node(graph, "two") && output.index == 1);
  CHECK_INT_EQ(node_output_type(output), DT_FLOAT);
  CHECK_OK(graph_find_output(graph, "two", &output, &status), status);
  CHECK_INT_EQ(output.index, 0);
  CHECK_ERROR(graph_find_output(graph, "none:0", &output, &status), status, CODE_NOT_FOUND, "'none'");
  CHECK_ERROR(graph_find_output(graph, "two:2", &output, &status), status, CODE_INVALID_ARGUMENT,
              "does not have output 2");
  CHECK_ERROR(graph_find_output(graph, "two:-1", &output, &status), status, CODE_INVALID_ARGUMENT, "");
  CHECK_ERROR(graph_find_output(graph, "^two", &output, &status), status, CODE_INVALID_ARGUMENT, "");
  CHECK_ERROR(graph_find_output(graph, "", &output, &status), status, CODE_INVALID_ARGUMENT, "");
  ops_check_whole(graph);
  graph_free(graph);
}

TEST(check_node_knows_its_graph) {
  Status status;
  status_init(&status);
  Graph *graph = small_graph(&status), *other = small_graph(&status);
  CHECK_OK(graph_check_node(graph, graph_find_node(graph, "a"), &status), status);
  CHECK_ERROR(graph_check_node(graph, graph_find_node(other, "a"), &status), status, CODE_INVALID_ARGUMENT,
              "Does it belong to a different graph?");
  CHECK_ERROR(graph_check_node(graph, NULL, &status), status, CODE_INVALID_ARGUMENT, "Node is null");
  Node *removed = graph_find_node(graph, "mul");
  graph_remove_node(graph, removed);
  CHECK_ERROR(graph_check_node(graph, removed, &status), status, CODE_INVALID_ARGUMENT, "removed");
  graph_free(graph);
  graph_free(other);
}

TEST(add_operation_wires_and_completes) {
  Status status;
  status_init(&status);
  Graph *graph = small_graph(&status);
  Node *mul = graph_find_node(graph, "mul");
  CHECK_INT_EQ(mul->def->n_input, 2);
  CHECK_STR_EQ(mul->def->input[0], "two:1");
  CHECK_STR_EQ(mul->def->input[1], "b");
  Node *node = ops_add(graph, IDENTITY("i"), "mul ^a ^b ^a", &status);
  REQUIRE(node);
  CHECK_INT_EQ(node->num_control_inputs, 2);
  CHECK_INT_EQ(node->def->n_input, 3);
  CHECK_STR_EQ(node->def->input[1], "^a");
  CHECK_STR_EQ(node->def->input[2], "^b");
  Node *product =
      ops_add(graph, "name: 'p' op: 'MatMul' attr { key: 'T' value { type: DT_FLOAT } }", "a a", &status);
  REQUIRE(product);
  CHECK(node_def_attr(product->def, "transpose_a")); /* a default that was filled in */
  CHECK_INT_EQ(graph_mutation_count(graph), 0);
  ops_check_whole(graph);
  graph_free(graph);
}

typedef struct Refused {
  const char *def, *inputs;
  Code code;
  const char *message;
} Refused;

TEST(add_operation_refuses_and_leaves_everything_as_it_was) {
  static const Refused kCases[] = {
      {PLACEHOLDER("a"), "", CODE_INVALID_ARGUMENT, "Duplicate node name in graph: 'a'"},
      {PLACEHOLDER("_SINK"), "", CODE_INVALID_ARGUMENT, "Duplicate node name in graph: '_SINK'"},
      {"name: 'n'", "", CODE_INVALID_ARGUMENT, "does not specify an operation"},
      {"name: 'n' op: 'Nonsense'", "", CODE_NOT_FOUND, "Op type not registered 'Nonsense'"},
      {"name: 'n' op: 'Placeholder'", "", CODE_INVALID_ARGUMENT, "missing attr 'dtype'"},
      {"name: 'n' op: 'TestMul'", "a", CODE_INVALID_ARGUMENT, "do not match 1 inputs specified"},
      {"name: 'n' op: 'TestMul'", "a b a", CODE_INVALID_ARGUMENT, "do not match 3 inputs specified"},
      {"name: 'n' op: 'TestMul'", "a -", CODE_INVALID_ARGUMENT, "Input 1 of node 'n' is missing"},
      {"name: 'n' op: 'TestMul'", "a b ^nobody", CODE_INVALID_ARGUMENT,
       "Control input 0 of node 'n' is missing"},
      {"name: 'n' op: 'TestMul'", "a two:2", CODE_OUT_OF_RANGE,
       "Node 'two' (type: 'TestOneInputTwoOutputs', num of outputs: 2) does not have output 2"},
      {"name: 'n' op: 'TestInt'", "b", CODE_INVALID_ARGUMENT,
       "Input 0 of node n was passed float from b:0 incompatible with expected int32."},
      {"name: 'n' op: 'TestTakesRef'", "b", CODE_INVALID_ARGUMENT, "incompatible with expected float_ref."},
      {"name: 'n' op: 'MatMul' attr { key: 'T' value { type: DT_STRING } }", "a b", CODE_INVALID_ARGUMENT,
       "is not in the list of allowed values"},
      {"name: 'n' op: 'MatMul' attr { key: 'T' value { type: DT_FLOAT } }", "mul mul", CODE_INVALID_ARGUMENT,
       "Shape must be rank 2 but is rank 0 for '{{node n}} = MatMul[T=DT_FLOAT, "
       "transpose_a=false, transpose_b=false](mul, mul)' with input shapes: [], []."},
      {"name: 'n' op: 'BatchNormWithGlobalNormalization' attr { key: 'T' value { type: DT_FLOAT } } "
       "attr { key: 'variance_epsilon' value { f: 1 } } attr { key: 'scale_after_normalization' value { b: "
       "true } }",
       "a a a a a", CODE_UNIMPLEMENTED,
       "BatchNormWithGlobalNormalization is not available in GraphDef version 2314"},
  };
  Status status;
  status_init(&status);
  Graph *graph = small_graph(&status);
  Arena *arena = arena_new();
  char *before = ops_export_text(graph, arena);
  int64_t bytes = arena_bytes(graph_arena(graph)), ids = graph_num_node_ids(graph);
  for (size_t i = 0; i < sizeof kCases / sizeof *kCases; i++) {
    CHECK_CONTEXT("%s", kCases[i].message);
    CHECK_ERROR(ops_add(graph, kCases[i].def, kCases[i].inputs, &status), status, kCases[i].code,
                kCases[i].message);
    CHECK_INT_EQ(arena_bytes(graph_arena(graph)), bytes);
    CHECK_INT_EQ(graph_num_node_ids(graph), ids);
    CHECK(!graph_find_node(graph, "n"));
    ops_check_whole(graph);
  }
  CHECK_STR_EQ(ops_export_text(graph, arena), before);
  arena_free(arena);
  graph_free(graph);
}

TEST(add_operation_survives_lack_of_memory) {
  Arena *arena = arena_new();
  for (int64_t after = 0;; after++) {
    Status status;
    status_init(&status);
    Graph *graph = small_graph(&status);
    void *def = NULL;
    Node *node, *controls[] = {graph_find_node(graph, "b"), graph_find_node(graph, "mul")};
    NodeOutput inputs[9]; /* many edges from one source: its list must grow several times */
    for (int i = 0; i < 9; i++) inputs[i] = (NodeOutput){graph_find_node(graph, "a"), 0};
    CHECK_OK(proto_parse_text(kNodeDef,
                              str_of("name: 'p' op: 'Pack' attr { key: 'N' value { i: 9 } } "
                                     "attr { key: 'T' value { type: DT_FLOAT } }"),
                              arena, &def, &status),
             status);
    while (arena_bytes(graph_arena(graph)) < 16384) arena_alloc(graph_arena(graph), 16);
    int64_t bytes = arena_bytes(graph_arena(graph));
    mem_fail_after(after);
    bool ok = graph_add_operation(graph, def, inputs, 9, controls, 2, &node, &status);
    mem_fail_after(-1);
    ops_check_whole(graph);
    if (!ok) {
      CHECK_INT_EQ(status.code, CODE_RESOURCE_EXHAUSTED);
      CHECK_INT_EQ(arena_bytes(graph_arena(graph)), bytes);
      status_init(&status);
      CHECK_OK(ops_add(graph, IDENTITY("p"), "a", &status), status);
      ops_check_whole(graph);
    }
    graph_free(graph);
    if (ok) break;
    REQUIRE(after < 1000);
  }
  arena_free(arena);
}

TEST(a_reference_may_be_read_as_a_value) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  CHECK_OK(ops_add(graph, "name: 'r' op: 'TestRef'", "", &status), status);
  CHECK_OK(ops_add(graph, "name: 't' op: 'TestTakesRef'", "r", &status), status);
  CHECK_OK(ops_add(graph, IDENTITY("i"), "r", &status), status);
  CHECK_INT_EQ(graph_find_node(graph, "r")->output_types[0], DT_FLOAT + DT_REF);
  graph_free(graph);
}

/* --- edges --- */

static Node *bare(Graph *graph, const char *text, Status *status) {
  void *def;
  Node *node = NULL;
  if (!CHECK_OK(proto_parse_text(kNodeDef, str_of(text), graph_arena(graph), &def, status), status))
    return NULL;
  CHECK_OK(graph_add_node(graph, def, &node, status), status);
  return node;
}

TEST(bare_nodes_are_connected_edge_by_edge) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  Node *in = bare(graph, "name: 'in' op: 'TestInput'", &status),
       *mul = bare(graph, "name: 'mul' op: 'TestMul'", &status);
  REQUIRE(in && mul);
  Edge *edge, *same;
  CHECK(!node_input_edge(mul, 1));
  REQUIRE_OK(graph_add_edge(graph, in, 1, mul, 1, &edge, &status), status);
  CHECK(node_input_edge(mul, 1) == edge);
  CHECK_INT_EQ(mul->def->n_input, 2);
  CHECK_STR_EQ(mul->def->input[0], "");
  CHECK_STR_EQ(mul->def->input[1], "in:1");
  CHECK_ERROR(graph_add_edge(graph, in, 0, mul, 1, &edge, &status), status, CODE_INVALID_ARGUMENT,
              "connected already");
  CHECK_ERROR(graph_add_edge(graph, in, 2, mul, 0, &edge, &status), status, CODE_OUT_OF_RANGE,
              "does not have output 2");
  CHECK_ERROR(graph_add_edge(graph, in, 0, mul, 2, &edge, &status), status, CODE_OUT_OF_RANGE,
              "Node 'mul' (type: 'TestMul', num of inputs: 2) does not have input 2");
  CHECK_ERROR(graph_add_edge(graph, in, 0, mul, CONTROL_SLOT, &edge, &status), status, CODE_OUT_OF_RANGE,
              "input -1");
  CHECK_ERROR(graph_add_edge(graph, in, CONTROL_SLOT, mul, 0, &edge, &status), status, CODE_OUT_OF_RANGE,
              "output -1");
  REQUIRE_OK(graph_add_control_edge(graph, in, mul, &edge, &status), status);
  CHECK_STR_EQ(mul->def->input[2], "^in");
  CHECK_OK(graph_add_control_edge(graph, in, mul, &same, &status), status);
  CHECK(!same);
  CHECK_OK(graph_add_edge(graph, in, CONTROL_SLOT, mul, CONTROL_SLOT, &same, &status), status);
  CHECK(same == edge);
  REQUIRE_OK(graph_add_edge(graph, in, 0, mul, 0, &edge, &status), status);
  CHECK_STR_EQ(mul->def->input[0], "in");
  CHECK_INT_EQ(graph_num_edges(graph), 4);
  ops_check_whole(graph);
  graph_free(graph);
}

TEST(edges_are_removed_and_ids_are_not_reused) {
  Status status;
  status_init(&status);
  Graph *graph = small_graph(&status);
  Node *mul = graph_find_node(graph, "mul"), *b = graph_find_node(graph, "b");
  Edge *edge = node_input_edge(mul, 1), *control;
  int64_t id = edge->id;
  graph_remove_edge(graph, edge);
  graph_remove_edge(graph, edge); /* removed before: nothing happens */
  CHECK(!node_input_edge(mul, 1));
  CHECK_INT_EQ(b->num_out_edges, 0);
  REQUIRE_OK(graph_add_control_edge(graph, b, mul, &control, &status), status);
  CHECK(control->id > id);
  graph_remove_edge(graph, control);
  CHECK_INT_EQ(mul->def->n_input, 2);
  CHECK_INT_EQ(mul->num_control_inputs, 0);
  CHECK(graph_mutation_count(graph) > 0);
  ops_check_whole(graph);
  graph_free(graph);
}

TEST(update_edge_redirects_an_input) {
  Status status;
  status_init(&status);
  Graph *graph = small_graph(&status);
  Node *mul = graph_find_node(graph, "mul"), *a = graph_find_node(graph, "a"),
       *two = graph_find_node(graph, "two");
  REQUIRE_OK(graph_update_edge(graph, a, 0, mul, 0, &status), status);
  CHECK_STR_EQ(mul->def->input[0], "a:0"); /* always with the index */
  CHECK(node_input_edge(mul, 0)->src == a);
  CHECK_INT_EQ(two->num_out_edges, 0);
  CHECK_ERROR(graph_update_edge(graph, two, 2, mul, 0, &status), status, CODE_OUT_OF_RANGE,
              "Node 'two' (type: 'TestOneInputTwoOutputs', num of outputs: 2) does not have output 2");
  CHECK_ERROR(graph_update_edge(graph, a, 0, mul, 2, &status), status, CODE_OUT_OF_RANGE,
              "Node 'mul' (type: 'TestMul', num of inputs: 2) does not have input 2");
  graph_remove_edge(graph, node_input_edge(mul, 1));
  CHECK_ERROR(graph_update_edge(graph, a, 0, mul, 1, &status), status, CODE_INVALID_ARGUMENT,
              "Couldn't find edge to {{node mul}}");
  ops_check_whole(graph);
  graph_free(graph);
}

TEST(removed_nodes_leave_a_hole) {
  Status status;
  status_init(&status);
  Graph *graph = small_graph(&status);
  Node *two = graph_find_node(graph, "two");
  int64_t id = two->id, ids = graph_num_node_ids(graph);
  graph_remove_node(graph, two);
  CHECK(!graph_node(graph, id));
  CHECK(!graph_find_node(graph, "two"));
  CHECK(!node_input_edge(graph_find_node(graph, "mul"), 0));
  CHECK_INT_EQ(graph_num_nodes(graph), 5);
  Node *again = ops_add(graph, PLACEHOLDER("two"), "", &status);
  REQUIRE(again);
  CHECK_INT_EQ(again->id, ids);
  graph_remove_node(graph, graph_node(graph, SOURCE_ID)); /* not allowed: nothing happens */
  CHECK(graph_node(graph, SOURCE_ID));
  ops_check_whole(graph);
  graph_free(graph);
}

TEST(edge_changes_survive_lack_of_memory) {
  for (int64_t after = 0;; after++) {
    Status status;
    status_init(&status);
    Graph *graph = small_graph(&status);
    Node *a = graph_find_node(graph, "a"), *b = graph_find_node(graph, "b"),
         *mul = graph_find_node(graph, "mul");
    Arena *arena = arena_new();
    Edge *edge;
    bool ok = true;
    /* Uses up the arena's free memory, so that every further step needs the heap. */
    while (arena_alloc(graph_arena(graph), 16) && arena_bytes(graph_arena(graph)) < 16384) continue;
    mem_fail_after(after);
    ok = graph_add_control_edge(graph, a, mul, &edge, &status) &&
         graph_update_edge(graph, a, 0, mul, 0, &status) && graph_update_edge(graph, a, 0, mul, 1, &status) &&
         graph_add_control_edge(graph, b, mul, &edge, &status);
    for (int i = 0; i < 400 && ok; i++) {
      ok = graph_update_edge(graph, i % 2 ? a : b, 0, mul, 0, &status);
    }
    mem_fail_after(-1);
    if (!ok) CHECK_INT_EQ(status.code, CODE_RESOURCE_EXHAUSTED);
    ops_check_whole(graph);
    CHECK(strlen(ops_export_text(graph, arena)) > 0);
    arena_free(arena);
    graph_free(graph);
    if (ok) break;
    REQUIRE(after < 1000);
  }
}

/* --- names --- */

TEST(unique_names_avoid_nodes_and_scopes) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  CHECK_STR_EQ(graph_unique_name(graph, "x"), "x");
  CHECK_OK(ops_add(graph, PLACEHOLDER("x"), "", &status), status);
  CHECK_STR_EQ(graph_unique_name(graph, "x"), "x_1");
  CHECK_STR_EQ(graph_unique_name(graph, "x"), "x_1"); /* until it is used */
  CHECK_OK(ops_add(graph, PLACEHOLDER("x_1"), "", &status), status);
  CHECK_OK(ops_add(graph, PLACEHOLDER("x_2/inner/y"), "", &status), status);
  CHECK_STR_EQ(graph_unique_name(graph, "x"), "x_3");
  CHECK_STR_EQ(graph_unique_name(graph, "x_2/inner"), "x_2/inner_1");
  CHECK_STR_EQ(graph_unique_name(graph, "inner"), "inner");
  graph_remove_node(graph, graph_find_node(graph, "x_1"));
  CHECK_STR_EQ(graph_unique_name(graph, "x"), "x_1"); /* free again */
  graph_free(graph);
}

/* A node whose NodeDef has `count` control inputs, from new nodes, and no edges. */
static Node *with_written_controls(Graph *graph, int count, Node **sources, Status *status) {
  NodeDef *def = node_def_new(graph_arena(graph), "reader", "ABC");
  Node *node = NULL;
  for (int i = 0; i < count; i++) {
    char name[32];
    snprintf(name, sizeof name, "s%d", i);
    NodeDef *source = node_def_new(graph_arena(graph), arena_strdup(graph_arena(graph), name), "ABC");
    CHECK_OK(graph_add_node(graph, source, &sources[i], status), status);
    char *input = arena_printf(graph_arena(graph), "^s%d", i);
    CHECK_OK(proto_append(graph_arena(graph), (void ***)&def->input, &def->n_input, input, status), status);
  }
  CHECK_OK(graph_add_node(graph, def, &node, status), status);
  return node;
}

TEST(control_inputs_that_are_written_in_the_node_get_edges_in_any_order) {
  enum { COUNT = 5 };
  static const int kOrders[][COUNT] = {{0, 1, 2, 3, 4}, {4, 3, 2, 1, 0}, {2, 0, 4, 1, 3}};
  Status status;
  status_init(&status);
  for (int order = 0; order < 3; order++) {
    Graph *graph = graph_new();
    Node *sources[COUNT], *other;
    Edge *edge;
    Node *node = with_written_controls(graph, COUNT, sources, &status);
    NodeDef *def = node_def_new(graph_arena(graph), "other", "ABC");
    REQUIRE_OK(graph_add_node(graph, def, &other, &status), status);
    for (int i = 0; i < COUNT; i++) {
      REQUIRE_OK(graph_add_control_edge(graph, sources[kOrders[order][i]], node, &edge, &status), status);
      CHECK(edge);
      CHECK_INT_EQ(node->def->n_input, i < 3 ? COUNT : COUNT + 1);
      if (i == 2) REQUIRE_OK(graph_add_control_edge(graph, other, node, &edge, &status), status);
    }
    CHECK_INT_EQ(node->num_control_inputs, COUNT + 1);
    CHECK_STR_EQ(node->def->input[COUNT], "^other");
    graph_free(graph);
  }
}

TEST(many_written_control_inputs_take_linear_time) {
  enum { COUNT = 30000 };
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  Node **sources = calloc(COUNT, sizeof *sources);
  Node *node = with_written_controls(graph, COUNT, sources, &status);
  for (int i = 0; i < COUNT; i++) {
    Edge *edge;
    REQUIRE_OK(graph_add_control_edge(graph, sources[i], node, &edge, &status), status);
  }
  CHECK_INT_EQ(node->def->n_input, COUNT);
  free(sources);
  graph_free(graph);
}

TEST(many_unique_names_from_one_base_take_linear_time) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  char last[32];
  for (int i = 0; i < 20000; i++) {
    NodeDef *def = node_def_new(graph_arena(graph), graph_unique_name(graph, "n"), "ABC");
    Node *node;
    REQUIRE_OK(graph_add_node(graph, def, &node, &status), status);
  }
  snprintf(last, sizeof last, "n_%d", 19999);
  CHECK(graph_find_node(graph, last));
  graph_free(graph);
}

TEST(nodes_print_as_tensorflow_prints_them) {
  Status status;
  status_init(&status);
  Graph *graph = small_graph(&status);
  StrBuf out = {0};
  node_print(graph_find_node(graph, "mul"), &out);
  CHECK_STR_EQ(strbuf_text(&out),
               "{name:'mul' id:5 op device:{requested: '', assigned: ''} def:{{{node mul}} = "
               "TestMul[](two:1, b)}}");
  strbuf_clear(&out);
  node_print(graph_node(graph, SOURCE_ID), &out);
  CHECK_STR_EQ(strbuf_text(&out), "{name:'_SOURCE' id:0 source}");
  strbuf_free(&out);
  graph_free(graph);
}

TEST(a_graph_that_is_not_there_is_freed_all_the_same) { graph_free(NULL); }
