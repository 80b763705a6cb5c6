/* Several nodes of one name, and generated names. */
#include "graph_test_ops.h"

static Node *bare(Graph *graph, const char *name, const char *op) {
  Status status;
  status_init(&status);
  Node *node = NULL;
  NodeDef *def = node_def_new(graph_arena(graph), arena_strdup(graph_arena(graph), name), op);
  CHECK_OK(graph_add_node(graph, def, &node, &status), status);
  return node;
}

TEST(a_name_stands_for_the_first_node_that_has_it) {
  Graph *graph = graph_new();
  Node *dup[4];
  for (int i = 0; i < 4; i++) {
    dup[i] = bare(graph, "dup", "TestParams");
    bare(graph, i % 2 ? "other" : "third", "ABC");
  }
  CHECK(graph_find_node(graph, "dup") == dup[0]);
  ops_check_whole(graph);
  graph_remove_node(graph, dup[1]); /* not the first: nothing changes */
  CHECK(graph_find_node(graph, "dup") == dup[0]);
  graph_remove_node(graph, dup[0]);
  CHECK(graph_find_node(graph, "dup") == dup[2]);
  ops_check_whole(graph);
  graph_remove_node(graph, dup[2]);
  CHECK(graph_find_node(graph, "dup") == dup[3]);
  graph_remove_node(graph, dup[3]);
  CHECK(!graph_find_node(graph, "dup"));
  CHECK(bare(graph, "dup", "ABC") == graph_find_node(graph, "dup"));
  ops_check_whole(graph);
  graph_free(graph);
}

TEST(operations_and_imports_keep_names_unique) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  bare(graph, "dup", "TestParams");
  bare(graph, "dup", "TestParams");
  CHECK_ERROR(ops_add(graph, "name: 'dup' op: 'ABC'", "", &status), status, CODE_INVALID_ARGUMENT,
              "Duplicate node name in graph: 'dup'");
  CHECK_ERROR(ops_import(graph, "node { name: 'dup' op: 'ABC' }", NULL, NULL, NULL, &status), status,
              CODE_INVALID_ARGUMENT, "Node name 'dup' already exists in the Graph");
  CHECK_STR_EQ(graph_unique_name(graph, "dup"), "dup_1");
  NodeDef *def = node_def_new(graph_arena(graph), "_SINK", "ABC");
  Node *node;
  CHECK_ERROR(graph_add_node(graph, def, &node, &status), status, CODE_INVALID_ARGUMENT, "'_SINK'");
  graph_free(graph);
}

TEST(an_import_refuses_names_that_stand_for_several_nodes) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  Node *dup = bare(graph, "dup", "TestParams");
  bare(graph, "dup", "TestParams");
  const char *keys[] = {"in:0"};
  NodeOutput values[] = {{dup, 0}};
  ImportOptions map = {.input_map_keys = keys, .input_map_values = values, .num_input_map = 1};
  static const char kDef[] = "node { name: 'n' op: 'ABC' }";
  CHECK_ERROR(ops_import(graph, kDef, &map, NULL, NULL, &status), status, CODE_INVALID_ARGUMENT,
              "cannot resolve input_map because multiple nodes exist with name 'dup'");
  ImportOptions controls = {.control_dependencies = &dup, .num_control_dependencies = 1};
  CHECK_ERROR(ops_import(graph, kDef, &controls, NULL, NULL, &status), status, CODE_INVALID_ARGUMENT,
              "cannot resolve control_dependencies because multiple nodes exist with name 'dup'");
  graph_remove_node(graph, dup);
  dup = graph_find_node(graph, "dup");
  CHECK_OK(ops_import(graph, kDef, &controls, NULL, NULL, &status), status);
  graph_free(graph);
}

TEST(the_index_of_names_has_the_last_of_several) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  StringMap index = {0};
  bare(graph, "dup", "ABC");
  Node *other = bare(graph, "other", "ABC"), *last = bare(graph, "dup", "ABC");
  REQUIRE_OK(graph_build_name_index(graph, &index, &status), status);
  CHECK_INT_EQ(index.count, 4);
  CHECK(string_map_find(&index, "dup") == last && string_map_find(&index, "other") == other);
  CHECK(string_map_find(&index, "_SOURCE") == graph_node(graph, SOURCE_ID));
  CHECK(string_map_find(&index, "_SINK") == graph_node(graph, SINK_ID));
  string_map_free(&index);
  graph_free(graph);
}

TEST(new_names_are_counted_over_all_prefixes) {
  Graph *graph = graph_new();
  CHECK_STR_EQ(graph_new_name(graph, "n"), "n/_0");
  CHECK_STR_EQ(graph_new_name(graph, "a/b"), "a/b/_1");
  bare(graph, "n/_2", "ABC");
  CHECK_STR_EQ(graph_new_name(graph, "n"), "n/_2"); /* not compared with existing names */
  graph_free(graph);
}

TEST(names_survive_lack_of_memory) {
  for (int64_t after = 0;; after++) {
    Status status;
    status_init(&status);
    Graph *graph = graph_new();
    Node *first = bare(graph, "dup", "ABC"), *second = NULL;
    NodeDef *def = node_def_new(graph_arena(graph), "dup", "ABC");
    while (arena_bytes(graph_arena(graph)) < 16384) arena_alloc(graph_arena(graph), 16);
    mem_fail_after(after);
    bool ok = graph_add_node(graph, def, &second, &status);
    if (ok) graph_remove_node(graph, first); /* needs no memory */
    mem_fail_after(-1);
    CHECK(graph_find_node(graph, "dup") == (ok ? second : first));
    ops_check_whole(graph);
    graph_free(graph);
    if (ok) break;
    CHECK_INT_EQ(status.code, CODE_RESOURCE_EXHAUSTED);
    REQUIRE(after < 100);
  }
}
