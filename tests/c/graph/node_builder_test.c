/* Nodes built from C: the same nodes as from a NodeDef, and errors that are reported at the end. */
#include "graph/node_builder.h"

#include "base/alloc.h"
#include "graph_test_ops.h"
#include "shortage.h"

/* The text of a node's NodeDef. */
static const char *text_of(const Node *node, Arena *arena) {
  StrBuf text = {0};
  proto_print_text(node->def, PROTO_TEXT_SHORT, &text);
  const char *copy = arena_strdup(arena, strbuf_text(&text));
  strbuf_free(&text);
  return copy;
}

static Node *bare(Graph *graph, const char *op, const char *name) {
  Status status;
  status_init(&status);
  Node *node = NULL;
  NodeBuilder b;
  node_builder(&b, graph, op, name);
  CHECK_OK(node_builder_finish(&b, &node, &status), &status);
  return node;
}

TEST(a_built_node_is_that_of_its_node_def) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  Arena *arena = arena_new();
  Node *p = bare(graph, "TestParams", "p"), *q = bare(graph, "TestParams", "q"), *built;
  REQUIRE(p && q);
  static const DataType kTypes[] = {DT_FLOAT, DT_FLOAT};
  NodeBuilder b;
  node_builder(&b, graph, "While", "w");
  node_builder_device(&b, "/cpu:0");
  node_builder_types(&b, "T", kTypes, 2);
  node_builder_int(&b, "_mark", 7);
  node_builder_type(&b, "_type", (DataType)(DT_INT32 + 100));
  node_builder_func(&b, "_f", "F");
  node_builder_input(&b, (NodeOutput){p, 0});
  node_builder_inputs(&b, &(NodeOutput){q, 0}, 1);
  node_builder_control(&b, q);
  node_builder_control(&b, q);
  REQUIRE_OK(node_builder_finish(&b, &built, &status), &status);
  CHECK_STR_EQ(text_of(built, arena),
               "name: \"w\" op: \"While\" input: \"p\" input: \"q\" input: \"^q\" device: \"/cpu:0\" "
               "attr { key: \"T\" value { list { type: DT_FLOAT type: DT_FLOAT } } } "
               "attr { key: \"_f\" value { func { name: \"F\" } } } attr { key: \"_mark\" value { i: 7 } } "
               "attr { key: \"_type\" value { type: DT_INT32 } }");
  CHECK_INT_EQ(built->num_control_inputs, 1);
  ops_check_whole(graph);
  arena_free(arena);
  graph_free(graph);
}

/* More inputs than fit inside the builder. */
TEST(a_builder_takes_any_number_of_inputs) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  enum { MANY = 37 };
  DataType types[MANY];
  NodeOutput inputs[MANY];
  NodeBuilder b;
  Node *node;
  char name[16];
  for (int i = 0; i < MANY; i++) {
    types[i] = DT_FLOAT;
    snprintf(name, sizeof name, "p%d", i);
    inputs[i] = (NodeOutput){bare(graph, "TestParams", name), 0};
  }
  node_builder(&b, graph, "While", "w");
  node_builder_types(&b, "T", types, MANY);
  node_builder_input(&b, inputs[0]);
  node_builder_inputs(&b, inputs + 1, MANY - 2);
  node_builder_input(&b, inputs[MANY - 1]);
  for (int i = 0; i < MANY; i++) node_builder_control(&b, inputs[i].node);
  REQUIRE_OK(node_builder_finish(&b, &node, &status), &status);
  CHECK_INT_EQ(node->num_control_inputs, MANY);
  for (int i = 0; i < MANY; i++)
    CHECK(node->inputs[i]->src == inputs[i].node && node->control_inputs[i]->src == inputs[i].node);
  ops_check_whole(graph);
  graph_free(graph);
}

TEST(a_bare_node_is_not_checked_and_has_its_edges) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  Node *p = bare(graph, "TestParams", "p"), *node;
  NodeBuilder b;
  node_builder(&b, graph, "TestOneInputTwoOutputs", "p");
  node_builder_type(&b, "_nobody_asks", DT_FLOAT);
  node_builder_input(&b, (NodeOutput){p, 0});
  node_builder_control(&b, p);
  REQUIRE_OK(node_builder_finish_bare(&b, &node, &status), &status);
  CHECK(node != p && node->inputs[0]->src == p && node->num_control_inputs == 1);
  CHECK(!shape_rank_known(graph_output_shape((NodeOutput){node, 0})));
  CHECK_OK(graph_infer_leniently(graph, node, &status), &status);
  graph_free(graph);
}

/* With more edges than its ends have space for. */
TEST(a_bare_node_that_lacks_memory_for_an_edge_is_not_in_the_graph) {
  enum { EDGES = 20 };
  Shortage shortage = {.what = "a bare node"};
  do {
    Status status;
    status_init(&status);
    Graph *graph = graph_new();
    Node *p = bare(graph, "TestParams", "p"), *node = p;
    DataType types[EDGES];
    NodeBuilder b;
    shortage_begin(&shortage);
    node_builder(&b, graph, "While", "w");
    for (int i = 0; i < EDGES; i++) {
      types[i] = DT_FLOAT;
      node_builder_input(&b, (NodeOutput){p, 0});
    }
    node_builder_types(&b, "T", types, EDGES);
    node_builder_control(&b, p);
    bool ok = node_builder_finish_bare(&b, &node, &status);
    shortage_end(&shortage, ok, status.code);
    CHECK(ok ? node && node->num_control_inputs == 1 : !node);
    CHECK_INT_EQ(p->num_out_edges, ok ? EDGES + 1 : 0);
    CHECK(!ok == !graph_find_node(graph, "w"));
    ops_check_whole(graph);
    graph_free(graph);
  } while (shortage_next(&shortage));
}

TEST(a_node_is_placed_as_another) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  Node *p, *nodes[2];
  NodeBuilder b;
  node_builder(&b, graph, "TestParams", "p");
  node_builder_device(&b, "/device:CPU:1");
  REQUIRE_OK(node_builder_finish(&b, &p, &status), &status);
  CHECK_STR_EQ(node_assigned_device(p), "");
  REQUIRE_OK(graph_set_assigned_device(graph, p, "/job:a/task:0/device:CPU:1", &status), &status);
  for (int bare = 0; bare < 2; bare++) {
    node_builder(&b, graph, "TestParams", bare ? "bare" : "checked");
    node_builder_place_as(&b, p);
    REQUIRE_OK((bare ? node_builder_finish_bare : node_builder_finish)(&b, &nodes[bare], &status), &status);
    CHECK_STR_EQ(nodes[bare]->def->device, "/device:CPU:1");
    CHECK_STR_EQ(node_assigned_device(nodes[bare]), "/job:a/task:0/device:CPU:1");
  }
  graph_free(graph);
}

TEST(the_finish_reports_what_graph_add_operation_would) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  Node *p = bare(graph, "TestParams", "p"), *node;
  int64_t nodes = graph_num_nodes(graph);
  NodeBuilder b;
  node_builder(&b, graph, "TestParams", "p");
  CHECK_ERROR(node_builder_finish(&b, &node, &status), &status, CODE_INVALID_ARGUMENT,
              "Duplicate node name in graph: 'p'");
  node_builder(&b, graph, "NoSuchOp", "n");
  CHECK_ERROR(node_builder_finish(&b, &node, &status), &status, CODE_NOT_FOUND, "Op type not registered");
  node_builder(&b, graph, "TestOneInputTwoOutputs", "n");
  node_builder_input(&b, (NodeOutput){p, 4});
  CHECK_ERROR(node_builder_finish(&b, &node, &status), &status, CODE_OUT_OF_RANGE, "does not have output 4");
  node_builder(&b, graph, "TestParams", NULL);
  node_builder_type(&b, "T", DT_FLOAT);
  node_builder_input(&b, (NodeOutput){p, 0});
  CHECK_ERROR(node_builder_finish(&b, &node, &status), &status, CODE_RESOURCE_EXHAUSTED, "a node");
  CHECK_INT_EQ(graph_num_nodes(graph), nodes);
  ops_check_whole(graph);
  graph_free(graph);
}

TEST(lack_of_memory_sticks_until_the_finish) {
  bool done = false;
  for (int64_t allowed = 0; !done && allowed < 500; allowed++) {
    Status status;
    status_init(&status);
    Graph *graph = graph_new();
    Node *p = bare(graph, "TestParams", "p"), *node = NULL;
    DataType types[9];
    NodeBuilder b;
    mem_fail_after(allowed);
    node_builder(&b, graph, "While", graph_unique_name(graph, "w"));
    node_builder_device(&b, "/cpu:0");
    for (int i = 0; i < 9; i++) {
      types[i] = DT_FLOAT;
      node_builder_input(&b, (NodeOutput){p, 0});
    }
    node_builder_types(&b, "T", types, 9);
    node_builder_scalar(&b, DT_INT32, 3);
    /* A value that fills blocks of the arena, so that the arena allocates more often. */
    static const char kLong[512];
    for (int i = 0; i < 50; i++)
      node_builder_attr(&b, "_long", attr_value_string(node_builder_arena(&b), kLong, sizeof kLong));
    done = node_builder_finish(&b, &node, &status);
    mem_fail_after(-1);
    CHECK(done || status.code == CODE_RESOURCE_EXHAUSTED);
    if (!done) ops_check_whole(graph);
    graph_free(graph);
  }
  CHECK(done);
}
