/* From graphs to GraphDefs and back: equal bytes. */
#include "graph_test_ops.h"

/* The text of the graph's GraphDef after a round trip through bytes and a new graph. */
static void check_round_trip(const Graph *graph) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  Graph *again = graph_new();
  GraphDef *def;
  StrBuf first = {0}, second = {0};
  REQUIRE_OK(graph_to_def(graph, arena, &def, &status) && proto_serialize(def, &first, &status), status);
  REQUIRE_OK(graph_import_bytes(again, first.data, (size_t)first.length, NULL, NULL, NULL, &status), status);
  REQUIRE_OK(graph_to_def(again, arena, &def, &status) && proto_serialize(def, &second, &status), status);
  CHECK_INT_EQ(second.length, first.length);
  if (second.length == first.length) CHECK_MEM_EQ(second.data, first.data, (size_t)first.length);
  ops_check_whole(again);
  strbuf_free(&first);
  strbuf_free(&second);
  graph_free(again);
  arena_free(arena);
}

TEST(export_writes_what_was_imported) {
  static const char kDef[] =
      "node { name: \"z\" op: \"TestInput\" device: \"/cpu:0\" } "
      "node { name: \"a\" op: \"TestParams\" attr { key: \"_x\" value { list { i: 1 i: 2 } } } } "
      "node { name: \"m\" op: \"TestMul\" input: \"z\" input: \"z:1\" input: \"^a\" input: \"^z\" } "
      "library { function { signature { name: \"f\" output_arg { name: \"y\" type: DT_FLOAT } } ret { key: "
      "\"y\" value: \"c:o:0\" } "
      "node_def { name: \"c\" op: \"TestParams\" } } gradient { function_name: \"f\" gradient_func: \"g\" } "
      "} "
      "versions { producer: 27 min_consumer: 13 bad_consumers: 5 }";
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  Arena *arena = arena_new();
  REQUIRE_OK(ops_import(graph, kDef, NULL, NULL, NULL, &status), status);
  void *def = NULL;
  GraphDef *exported;
  REQUIRE_OK(proto_parse_text(kGraphDef, str_of(kDef), arena, &def, &status), status);
  REQUIRE_OK(graph_to_def(graph, arena, &exported, &status), status);
  CHECK(proto_equal(exported, def));
  /* Nothing was rewritten. */
  CHECK(exported->node[2] == graph_find_node(graph, "m")->def);
  check_round_trip(graph);
  arena_free(arena);
  graph_free(graph);
}

TEST(export_writes_inputs_canonically) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  Arena *arena = arena_new();
  REQUIRE_OK(ops_import(graph,
                        "node { name: 'p' op: 'TestParams' } node { name: 'b' op: 'ABC' } node { name: 'a' "
                        "op: 'ABC' } "
                        "node { name: 'm' op: 'TestMul' input: 'p:0' input: 'p' input: '^b' input: '^a' } "
                        "versions { "
                        "producer: 1 }",
                        NULL, NULL, NULL, &status),
             status);
  GraphDef *def;
  REQUIRE_OK(graph_to_def(graph, arena, &def, &status), status);
  const NodeDef *m = def->node[3];
  CHECK_INT_EQ(m->n_input, 4);
  CHECK_STR_EQ(m->input[0], "p");
  CHECK_STR_EQ(m->input[1], "p");
  CHECK_STR_EQ(m->input[2], "^a");
  CHECK_STR_EQ(m->input[3], "^b");
  CHECK_STR_EQ(graph_find_node(graph, "m")->def->input[0], "p:0"); /* the graph's own is unchanged */
  check_round_trip(graph);
  arena_free(arena);
  graph_free(graph);
}

TEST(export_follows_the_edges) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  Arena *arena = arena_new();
  CHECK_OK(ops_add(graph, "name: 'in' op: 'TestInput'", "", &status), status);
  CHECK_OK(ops_add(graph, "name: 'w' op: 'TestParams'", "", &status), status);
  Node *m = ops_add(graph, "name: 'm' op: 'TestMul'", "in:1 in:1 ^w", &status),
       *w = graph_find_node(graph, "w");
  REQUIRE_OK(graph_update_edge(graph, w, 0, m, 0, &status), status);
  char *text = ops_export_text(graph, arena);
  CHECK_STR_CONTAINS(text, "node { name: \"m\" op: \"TestMul\" input: \"w\" input: \"in:1\" input: \"^w\" }");
  check_round_trip(graph);
  /* An input that is not connected keeps its original name. */
  graph_remove_edge(graph, node_input_edge(m, 1));
  CHECK_STR_CONTAINS(ops_export_text(graph, arena), "input: \"w\" input: \"in:1\" input: \"^w\"");
  graph_remove_node(graph, w);
  CHECK_STR_CONTAINS(ops_export_text(graph, arena), "versions { producer: 2314 }");
  CHECK(!strstr(ops_export_text(graph, arena), "\"^w\""));
  arena_free(arena);
  graph_free(graph);
}

TEST(export_of_a_bare_node_writes_missing_inputs) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  Arena *arena = arena_new();
  NodeDef *def = node_def_new(graph_arena(graph), "m", "TestMul");
  Node *node;
  REQUIRE_OK(graph_add_node(graph, def, &node, &status), status);
  CHECK_STR_CONTAINS(ops_export_text(graph, arena),
                     "node { name: \"m\" op: \"TestMul\" input: \"\" input: \"\" }");
  arena_free(arena);
  graph_free(graph);
}

/* Random graphs, connected to any earlier nodes: exported and imported, the bytes stay the same. */
TEST(random_graphs_make_the_round_trip) {
  uint32_t seed = 12345;
  for (int run = 0; run < 30; run++) {
    Status status;
    status_init(&status);
    Graph *graph = graph_new();
    CHECK_OK(ops_add(graph, "name: 'n0' op: 'TestInput'", "", &status), status);
    for (int i = 1; i < 40; i++) {
      char def[64], inputs[64];
      int pick[4];
      for (int k = 0; k < 4; k++) {
        seed = seed * 1664525u + 1013904223u;
        pick[k] = (int)((seed >> 8) % (uint32_t)i);
      }
      const char *op = i % 5 == 0 ? "TestInput" : i % 5 < 3 ? "TestOneInputTwoOutputs" : "TestMul";
      /* Output 1, if the op has two outputs. */
      int one = pick[0] % 5 == 3 || pick[0] % 5 == 4 ? 0 : 1;
      snprintf(def, sizeof def, "name: 'n%d' op: '%s'", i, op);
      snprintf(inputs, sizeof inputs,
               i % 5 == 0  ? "^n%d"
               : i % 5 < 3 ? "n%d:%d ^n%d"
                           : "n%d:%d n%d ^n%d ^n%d",
               pick[0], one, pick[1], pick[2], pick[3]);
      CHECK_OK(ops_add(graph, def, inputs, &status), status);
    }
    ops_check_whole(graph);
    check_round_trip(graph);
    graph_free(graph);
  }
}

TEST(export_survives_lack_of_memory) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  REQUIRE_OK(ops_import(graph,
                        "node { name: 'p' op: 'TestParams' } node { name: 'm' op: 'TestMul' input: 'p:0' "
                        "input: 'p' input: '^p' } "
                        "library { function { signature { name: 'f' } } gradient { function_name: 'f' "
                        "gradient_func: 'g' } }",
                        NULL, NULL, NULL, &status),
             status);
  bool ok = false;
  for (int64_t after = 0; !ok; after++) {
    status_init(&status);
    Arena *arena = arena_new();
    GraphDef *def;
    mem_fail_after(after);
    /* Pieces larger than the arena's first block, so that several of them need the heap. */
    ok = arena_alloc(arena, 1000) && graph_to_def(graph, arena, &def, &status);
    mem_fail_after(-1);
    if (ok) CHECK_INT_EQ(def->n_node, 2);
    arena_free(arena);
    REQUIRE(after < 1000);
  }
  graph_free(graph);
}

TEST(parts_of_a_graph_are_exported_by_id) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  Arena *arena = arena_new();
  REQUIRE_OK(ops_import(graph,
                        "node { name: 'p' op: 'TestParams' } node { name: 'q' op: 'TestParams' } "
                        "node { name: 'm' op: 'TestMul' input: 'p' input: 'q' } "
                        "library { function { signature { name: 'f' } } } versions { producer: 20 }",
                        NULL, NULL, NULL, &status),
             status);
  GraphDef *def;
  REQUIRE_OK(graph_to_def_range(graph, graph_find_node(graph, "q")->id, true, arena, &def, &status), status);
  REQUIRE(def->n_node == 2);
  CHECK_STR_EQ(def->node[0]->name, "q");
  CHECK_STR_EQ(def->node[1]->input[0], "p"); /* although p is left out */
  CHECK_INT_EQ(def->versions->producer, 20);
  CHECK(def->library && def->library->n_function == 1);
  REQUIRE_OK(graph_to_def_range(graph, 99, false, arena, &def, &status), status);
  CHECK(def->n_node == 0 && !def->library);
  REQUIRE_OK(graph_to_def_range(graph, -5, false, arena, &def, &status), status);
  CHECK_INT_EQ(def->n_node, 3);
  arena_free(arena);
  graph_free(graph);
}

TEST(versions_are_copied_in) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  int32_t bad[] = {3, 9};
  VersionDef versions = TENSORFLOW__VERSION_DEF__INIT;
  versions.producer = 21;
  versions.min_consumer = 2;
  versions.bad_consumers = bad;
  versions.n_bad_consumers = 2;
  REQUIRE_OK(graph_set_versions(graph, &versions, &status), status);
  bad[0] = 0;
  const VersionDef *got = graph_versions(graph);
  CHECK(got->producer == 21 && got->min_consumer == 2 && got->n_bad_consumers == 2);
  CHECK(got->bad_consumers[0] == 3 && got->bad_consumers[1] == 9);
  versions.n_bad_consumers = 0;
  REQUIRE_OK(graph_set_versions(graph, &versions, &status), status);
  CHECK_INT_EQ(graph_versions(graph)->n_bad_consumers, 0);
  graph_free(graph);
}
