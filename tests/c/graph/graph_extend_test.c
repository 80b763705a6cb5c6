/* Nodes that get more inputs and outputs. */
#include "graph/node_class.h"
#include "graph_test_ops.h"

static const char kNodes[] =
    "node { name: 'p' op: 'TestParams' } node { name: 'q' op: 'TestParams' } node { name: 'c' op: "
    "'TestParams' } "
    "node { name: 'w' op: 'While' input: 'p' input: '^c' attr { key: 'T' value { list { type: DT_FLOAT } } } "
    "} "
    "node { name: 'u' op: 'TestOneInputTwoOutputs' input: 'w' }";

static NodeDef *while_of(Arena *arena, const char *types, Status *status) {
  char text[256];
  void *def = NULL;
  snprintf(text, sizeof text, "name: 'other' op: 'While' attr { key: 'T' value { list { %s } } }", types);
  CHECK_OK(proto_parse_text(kNodeDef, str_of(text), arena, &def, status), status);
  return def;
}

TEST(nodes_are_extended_and_shrunk) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  Arena *arena = arena_new();
  const NodeBefore *before;
  REQUIRE_OK(ops_import(graph, kNodes, NULL, NULL, NULL, &status), status);
  char *text = ops_export_text(graph, arena);
  Node *w = graph_find_node(graph, "w"), *q = graph_find_node(graph, "q");
  const NodeDef *old = w->def;
  int64_t mutations = graph_mutation_count(graph);
  NodeOutput more[] = {{q, 0}, {q, 0}};
  NodeDef *def = while_of(arena, "type: DT_FLOAT type: DT_FLOAT type: DT_FLOAT", &status);
  REQUIRE_OK(graph_extend_node(graph, w, def, more, 2, &before, &status), status);
  CHECK_STR_EQ(w->name, "w");
  CHECK(graph_find_node(graph, "w") == w && w->def != old && graph_mutation_count(graph) > mutations);
  CHECK(node_is_while(w));
  CHECK_INT_EQ(w->num_inputs, 3);
  CHECK_INT_EQ(w->num_outputs, 3);
  CHECK(ops_has_edge(graph, q, 0, w, 1) && ops_has_edge(graph, q, 0, w, 2) &&
        ops_has_edge(graph, w, 0, graph_find_node(graph, "u"), 0));
  CHECK(strstr(ops_export_text(graph, arena), "input: \"p\" input: \"q\" input: \"q\" input: \"^c\"") !=
        NULL);
  ops_check_whole(graph);
  /* The node is used as any other. */
  Edge *edge;
  CHECK_OK(graph_update_edge(graph, graph_find_node(graph, "p"), 0, w, 2, &status), status);
  CHECK_OK(graph_add_control_edge(graph, q, w, &edge, &status), status);
  graph_remove_edge(graph, edge);
  CHECK_OK(graph_update_edge(graph, q, 0, w, 2, &status), status);
  ops_check_whole(graph);
  graph_shrink_node(graph, before);
  CHECK(w->def == old && w->num_inputs == 1 && w->num_outputs == 1);
  CHECK_STR_EQ(ops_export_text(graph, arena), text);
  ops_check_whole(graph);
  arena_free(arena);
  graph_free(graph);
}

TEST(shapes_and_handles_of_outputs_stay_when_a_node_is_extended) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  Arena *arena = arena_new();
  const NodeBefore *before;
  char text[64];
  REQUIRE_OK(
      ops_import(graph,
                 "node { name: 'q' op: 'TestParams' } node { name: 'v' op: 'VarHandleOp' attr { key: 'dtype' "
                 "value { type: DT_FLOAT } } attr { key: 'shape' value { shape { dim { size: 3 } } } } } "
                 "node { name: 'i' op: 'Identity' input: 'v' attr { key: 'T' value { type: DT_RESOURCE } } }",
                 NULL, NULL, NULL, &status),
      status);
  Node *i = graph_find_node(graph, "i"), *q = graph_find_node(graph, "q");
  /* Identity hands no handle data on here. */
  i->output_handles = graph_find_node(graph, "v")->output_handles;
  const HandleData *data = i->output_handles[0];
  CHECK(data);
  NodeOutput more[] = {{q, 0}};
  NodeDef *def = while_of(arena, "type: DT_RESOURCE type: DT_FLOAT", &status);
  REQUIRE_OK(graph_extend_node(graph, i, def, more, 1, &before, &status), status);
  ops_shape_text(graph, "i:0", text);
  CHECK_STR_EQ(text, "[]");
  ops_shape_text(graph, "i:1", text);
  CHECK_STR_EQ(text, "?");
  CHECK(i->output_handles[0] == data && !i->output_handles[1]);
  graph_shrink_node(graph, before);
  ops_shape_text(graph, "i:0", text);
  CHECK_STR_EQ(text, "[]");
  CHECK(i->output_handles[0] == data);
  arena_free(arena);
  graph_free(graph);
}

TEST(a_node_that_becomes_another_op_has_its_class) {
  static const char kIdentity[] =
      "node { name: 'p' op: 'TestParams' } "
      "node { name: 'b' op: 'Less' input: 'p' input: 'p' attr { key: 'T' value { type: DT_FLOAT } } } "
      "node { name: 'i' op: 'Identity' input: 'p' attr { key: 'T' value { type: DT_FLOAT } } }";
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  Arena *arena = arena_new();
  const NodeBefore *before;
  void *def;
  REQUIRE_OK(ops_import(graph, kIdentity, NULL, NULL, NULL, &status), status);
  REQUIRE_OK(proto_parse_text(kNodeDef,
                              str_of("name: 's' op: 'Switch' attr { key: 'T' value { type: DT_FLOAT } }"),
                              arena, &def, &status),
             status);
  Node *node = graph_find_node(graph, "i");
  CHECK(node_is_identity(node) && !node_is_control_flow(node));
  NodeOutput more = {graph_find_node(graph, "b"), 0};
  REQUIRE_OK(graph_extend_node(graph, node, def, &more, 1, &before, &status), status);
  CHECK(node_is_switch(node) && node_is_control_flow(node) && !node_is_identity(node));
  graph_shrink_node(graph, before);
  CHECK(node_is_identity(node) && !node_is_switch(node));
  arena_free(arena);
  graph_free(graph);
}

TEST(nodes_stay_what_they_are_when_they_cannot_be_extended) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  Arena *arena = arena_new();
  const NodeBefore *before;
  REQUIRE_OK(ops_import(graph, kNodes, NULL, NULL, NULL, &status), status);
  char *text = ops_export_text(graph, arena);
  Node *w = graph_find_node(graph, "w"), *q = graph_find_node(graph, "q");
  NodeOutput more[] = {{q, 0}};
  NodeDef *other = while_of(arena, "type: DT_INT32 type: DT_FLOAT", &status),
          *same = while_of(arena, "type: DT_FLOAT", &status),
          *wrong = while_of(arena, "type: DT_FLOAT type: DT_INT32", &status);
  CHECK_ERROR(graph_extend_node(graph, w, other, more, 1, &before, &status), status, CODE_INVALID_ARGUMENT,
              "Node 'w' cannot become a While with 2 inputs and 2 outputs");
  CHECK_ERROR(graph_extend_node(graph, w, same, more, 1, &before, &status), status, CODE_INVALID_ARGUMENT,
              "do not match 2 inputs specified");
  CHECK_ERROR(graph_extend_node(graph, w, wrong, more, 1, &before, &status), status, CODE_INVALID_ARGUMENT,
              "incompatible with expected int32");
  more[0].index = 7;
  CHECK_ERROR(graph_extend_node(graph, w, other, more, 1, &before, &status), status, CODE_OUT_OF_RANGE,
              "does not have output 7");
  other->op = (char *)"Nothing";
  CHECK_ERROR(graph_extend_node(graph, w, other, more, 0, &before, &status), status, CODE_NOT_FOUND,
              "Nothing");
  CHECK_STR_EQ(ops_export_text(graph, arena), text);
  ops_check_whole(graph);
  arena_free(arena);
  graph_free(graph);
}

TEST(a_copy_follows_the_extensions_of_a_graph) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new(), *copy = graph_new();
  Arena *arena = arena_new();
  const NodeBefore *before;
  REQUIRE_OK(ops_import(graph, kNodes, NULL, NULL, NULL, &status), status);
  REQUIRE_OK(ops_import(copy, kNodes, NULL, NULL, NULL, &status), status);
  CHECK(!graph_extended_node(graph, 0) && !graph_extended_node(graph, -1));
  Node *w = graph_find_node(graph, "w"), *q = graph_find_node(graph, "q");
  NodeOutput more[] = {{q, 0}, {q, 0}};
  NodeDef *def = while_of(arena, "type: DT_FLOAT type: DT_FLOAT type: DT_FLOAT", &status);
  REQUIRE_OK(graph_extend_node(graph, w, def, more, 2, &before, &status), status);
  CHECK(graph_extended_node(graph, 0) == w && !graph_extended_node(graph, 1));
  REQUIRE_OK(graph_follow_extension(copy, graph_find_node(copy, "w"), w->def, &status), status);
  CHECK(graph_extended_node(copy, 0) == graph_find_node(copy, "w"));
  CHECK_STR_EQ(ops_export_text(copy, arena), ops_export_text(graph, arena));
  ops_check_whole(copy);
  /* Nothing is left to follow. */
  CHECK(!graph_follow_extension(copy, graph_find_node(copy, "w"), w->def, &status));
  CHECK_STR_EQ(status.message,
               "GraphDef argument to Extend includes node 'w', which was created by a previous "
               "call to Create or Extend in this session.");
  CHECK(!graph_extended_node(copy, 1));
  CHECK_STR_EQ(ops_export_text(copy, arena), ops_export_text(graph, arena));
  graph_shrink_node(graph, before);
  CHECK(!graph_extended_node(graph, 0));
  arena_free(arena);
  graph_free(graph);
  graph_free(copy);
}

TEST(a_node_does_not_follow_extensions_whose_inputs_are_not_there) {
  static const char *const kInputs[] = {"", "input: 'p' input: 'nothing'", "input: 'p' input: 'q:1'",
                                        "input: 'p' input: 'q:x:0'", "input: 'p' input: 'q' input: 'q'"};
  static const char *const kMessages[] =
      {"NodeDef expected inputs 'float, float' do not match 1 inputs specified",
       "Node 'nothing' is not in the graph",
       "Node 'q' (type: 'TestParams', num of outputs: 1) does not have output 1",
       "Input 'q:x:0' is malformed",
       "NodeDef expected inputs 'float, float' do not match 3 inputs specified"};
  for (int i = 0; i < 5; i++) {
    Status status;
    status_init(&status);
    Graph *graph = graph_new();
    Arena *arena = arena_new();
    REQUIRE_OK(ops_import(graph, kNodes, NULL, NULL, NULL, &status), status);
    char *text = ops_export_text(graph, arena), def_text[256];
    void *def = NULL;
    snprintf(def_text, sizeof def_text,
             "name: 'w' op: 'While' %s attr { key: 'T' value { list { type: DT_FLOAT type: DT_FLOAT } } }",
             kInputs[i]);
    REQUIRE_OK(proto_parse_text(kNodeDef, str_of(def_text), arena, &def, &status), status);
    CHECK(!graph_follow_extension(graph, graph_find_node(graph, "w"), def, &status));
    CHECK(strstr(status.message, kMessages[i]) == status.message);
    CHECK(!graph_extended_node(graph, 0));
    CHECK_STR_EQ(ops_export_text(graph, arena), text);
    arena_free(arena);
    graph_free(graph);
  }
}

TEST(extending_survives_lack_of_memory) {
  bool ok = false;
  for (int64_t after = 0; !ok; after++) {
    Status status;
    status_init(&status);
    Graph *graph = graph_new();
    Arena *arena = arena_new();
    const NodeBefore *before;
    REQUIRE_OK(ops_import(graph, kNodes, NULL, NULL, NULL, &status), status);
    char *text = ops_export_text(graph, arena);
    NodeDef *def = while_of(arena, "type: DT_FLOAT type: DT_FLOAT type: DT_FLOAT", &status);
    NodeOutput more[] = {{graph_find_node(graph, "q"), 0}, {graph_find_node(graph, "q"), 0}};
    mem_fail_after(after);
    ok = graph_extend_node(graph, graph_find_node(graph, "w"), def, more, 2, &before, &status);
    mem_fail_after(-1);
    if (!ok) {
      CHECK_INT_EQ(status.code, CODE_RESOURCE_EXHAUSTED);
      CHECK_STR_EQ(ops_export_text(graph, arena), text);
    }
    ops_check_whole(graph);
    arena_free(arena);
    graph_free(graph);
  }
}
