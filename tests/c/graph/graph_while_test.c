/* Recorded while loops, and inputs of While nodes. */
#include "graph_test_ops.h"

static const char kNodes[] =
    "node { name: 'p' op: 'TestParams' } node { name: 'q' op: 'TestOneInputTwoOutputs' input: 'p' } "
    "node { name: 'r' op: 'TestOneInputTwoOutputs' input: 'q' }";

TEST(loops_are_known_by_their_frames_and_exits) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  CHECK_OK(ops_import(graph, kNodes, NULL, NULL, NULL, &status), status);
  Node *p = graph_find_node(graph, "p"), *q = graph_find_node(graph, "q"), *r = graph_find_node(graph, "r");
  char frame[] = "f";
  Node *enters[] = {p, q}, *exits[] = {q, r};
  NodeOutput inputs[] = {{p, 0}, {q, 1}}, outputs[] = {{q, 0}, {r, 1}};
  WhileContext loop = {.frame_name = frame,
                       .num_loop_vars = 2,
                       .enter_nodes = enters,
                       .exit_nodes = exits,
                       .cond_output = {p, 0},
                       .body_inputs = inputs,
                       .body_outputs = outputs};
  const WhileContext *added, *none;
  REQUIRE_OK(graph_add_while_context(graph, &loop, &added, &status), status);
  frame[0] = 'g'; /* everything was copied */
  exits[0] = inputs[1].node = NULL;
  CHECK_STR_EQ(added->frame_name, "f");
  CHECK_INT_EQ(added->num_loop_vars, 2);
  CHECK(added->enter_nodes[1] == q && added->exit_nodes[0] == q && added->exit_nodes[1] == r);
  CHECK(added->cond_output.node == p && added->body_inputs[1].node == q && added->body_inputs[1].index == 1);
  CHECK(added->body_outputs[1].node == r && added->body_outputs[1].index == 1);
  CHECK(graph_find_while_context(graph, "f") == added && !graph_find_while_context(graph, "g"));
  CHECK(node_while_context(q) == added && node_while_context(r) == added && !node_while_context(p));
  loop.frame_name = "f";
  CHECK_ERROR(graph_add_while_context(graph, &loop, &none, &status), status, CODE_INVALID_ARGUMENT,
              "WhileContext with frame name 'f' already exists");
  loop.frame_name = "g";
  CHECK_ERROR(graph_add_while_context(graph, &loop, &none, &status), status, CODE_INVALID_ARGUMENT,
              "Node is null");
  exits[0] = inputs[1].node = q;
  inputs[1].index = 2;
  CHECK_ERROR(graph_add_while_context(graph, &loop, &none, &status), status, CODE_OUT_OF_RANGE,
              "does not have output 2");
  CHECK(!graph_find_while_context(graph, "g") && node_while_context(r) == added);
  /* A record outlives its nodes, whose pointers are then stale. */
  graph_remove_node(graph, r);
  CHECK_ERROR(graph_check_node(graph, added->exit_nodes[1], &status), status, CODE_INVALID_ARGUMENT,
              "removed");
  graph_clear(graph);
  CHECK(!graph_find_while_context(graph, "f"));
  graph_free(graph);
}

TEST(loops_survive_lack_of_memory) {
  bool ok = false;
  for (int64_t after = 0; !ok; after++) {
    Status status;
    status_init(&status);
    Graph *graph = graph_new();
    CHECK_OK(ops_import(graph, kNodes, NULL, NULL, NULL, &status), status);
    Node *p = graph_find_node(graph, "p");
    NodeOutput value = {p, 0};
    WhileContext loop = {"f", 1, &p, &p, value, &value, &value};
    const WhileContext *added;
    while (arena_bytes(graph_arena(graph)) < 16384) arena_alloc(graph_arena(graph), 16);
    mem_fail_after(after);
    ok = graph_add_while_context(graph, &loop, &added, &status) &&
         graph_set_assigned_device(graph, p, "/device:CPU:0", &status);
    mem_fail_after(-1);
    if (!ok) CHECK_INT_EQ(status.code, CODE_RESOURCE_EXHAUSTED);
    CHECK((node_while_context(p) != NULL) == (graph_find_while_context(graph, "f") != NULL));
    CHECK_STR_EQ(node_assigned_device(p), ok ? "/device:CPU:0" : "");
    graph_free(graph);
    REQUIRE(after < 100);
  }
}

TEST(a_while_node_gets_inputs_one_by_one) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  CHECK_OK(ops_import(graph, kNodes, NULL, NULL, NULL, &status), status);
  Node *p = graph_find_node(graph, "p"), *q = graph_find_node(graph, "q"), *loop;
  void *def;
  REQUIRE_OK(proto_parse_text(kNodeDef,
                              str_of("name: 'w' op: 'While' attr { key: 'T' value { list { type: DT_FLOAT "
                                     "type: DT_FLOAT type: DT_INT32 } } }"),
                              graph_arena(graph), &def, &status),
             status);
  REQUIRE_OK(graph_add_node(graph, def, &loop, &status), status);
  Edge *edge;
  REQUIRE_OK(graph_add_edge(graph, p, 0, loop, 0, &edge, &status), status);
  REQUIRE_OK(graph_add_control_edge(graph, p, loop, &edge, &status), status);
  REQUIRE_OK(graph_add_while_input(graph, q, 0, loop, &edge, &status), status);
  CHECK(edge == node_input_edge(loop, 1));
  CHECK_INT_EQ(loop->def->n_input, 3);
  CHECK_STR_EQ(loop->def->input[0], "p");
  CHECK_STR_EQ(loop->def->input[1], "q:0");
  CHECK_STR_EQ(loop->def->input[2], "^p");
  CHECK_ERROR(graph_add_while_input(graph, q, 1, loop, &edge, &status), status, CODE_INVALID_ARGUMENT,
              "Input 2 of node w was passed float from q:1 incompatible with expected int32.");
  CHECK_ERROR(graph_add_while_input(graph, q, 2, loop, &edge, &status), status, CODE_OUT_OF_RANGE,
              "does not have output 2");
  CHECK_ERROR(graph_add_while_input(graph, p, 0, q, &edge, &status), status, CODE_INTERNAL,
              "dst argument to AddWhileEdgeHack should be a While op, got: {name:'q' id:3 op device:");
  ops_check_whole(graph);
  graph_free(graph);
}

TEST(devices_are_kept_once_and_exported) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  Graph *graph = graph_new();
  CHECK_OK(ops_import(graph,
                      "node { name: 'a' op: 'ABC' device: '/job:x' } node { name: 'b' op: 'ABC' device: "
                      "'/job:x' }",
                      NULL, NULL, NULL, &status),
           status);
  Node *a = graph_find_node(graph, "a");
  int first, second, none;
  CHECK_OK(graph_intern_device(graph, "/device:CPU:0", &first, &status), status);
  CHECK_OK(graph_intern_device(graph, "/device:CPU:1", &second, &status), status);
  CHECK_OK(graph_intern_device(graph, "", &none, &status), status);
  CHECK_INT_EQ(none, 0);
  CHECK(first > 0 && second > 0 && first != second);
  int again;
  CHECK_OK(graph_intern_device(graph, "/device:CPU:0", &again, &status), status);
  CHECK_INT_EQ(again, first);
  CHECK_STR_EQ(graph_device(graph, second), "/device:CPU:1");
  CHECK_STR_EQ(graph_device(graph, 0), "");
  CHECK_STR_EQ(graph_device(graph, 99), "");
  CHECK_OK(graph_set_assigned_device(graph, a, "/device:CPU:1", &status), status);
  CHECK_INT_EQ(a->assigned_device, second);
  CHECK_STR_EQ(ops_export_text(graph, arena),
               "node { name: \"a\" op: \"ABC\" device: \"/device:CPU:1\" } node { name: \"b\" op: \"ABC\" "
               "device: \"/job:x\" } "
               "versions { }");
  CHECK_STR_EQ(a->def->device, "/job:x");
  StrBuf text = {0};
  node_print(a, &text);
  CHECK_STR_EQ(strbuf_text(&text),
               "{name:'a' id:2 op device:{requested: '/job:x', assigned: '/device:CPU:1'} "
               "def:{{{node a}} = ABC[_device=\"/job:x\"]()}}");
  strbuf_free(&text);
  CHECK_OK(graph_set_assigned_device(graph, a, "", &status), status);
  CHECK_STR_EQ(node_assigned_device(a), "");
  arena_free(arena);
  graph_free(graph);
}
