/* Copies of nodes and graphs. */
#include "graph_test_ops.h"

static const char kGraph[] =
    "node { name: 'in' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } "
    "  attr { key: 'shape' value { shape { dim { size: -1 } dim { size: 3 } } } } } "
    "node { name: 'i' op: 'Identity' input: 'in' attr { key: 'T' value { type: DT_FLOAT } } } "
    "node { name: 'v' op: 'VarHandleOp' attr { key: 'dtype' value { type: DT_FLOAT } } "
    "  attr { key: 'shape' value { shape { dim { size: 2 } } } } device: '/device:CPU:1' } "
    "node { name: 'w' op: 'Identity' input: 'v' attr { key: 'T' value { type: DT_RESOURCE } } } "
    "node { name: 'gone' op: 'ABC' } "
    "node { name: 'm' op: 'Merge' input: 'in' input: 'n' attr { key: 'T' value { type: DT_FLOAT } } "
    "  attr { key: 'N' value { i: 2 } } } "
    "node { name: 'n' op: 'NextIteration' input: 'm' attr { key: 'T' value { type: DT_FLOAT } } } "
    "node { name: 'f' op: 'Func' input: 'm' input: '^v' input: '^i' } "
    "library { function { signature { name: 'Func' input_arg { name: 'a' type: DT_FLOAT } "
    "  output_arg { name: 'b' type: DT_FLOAT } } ret { key: 'b' value: 'a' } } "
    "  gradient { function_name: 'Func' gradient_func: 'FuncGrad' } } "
    "versions { producer: 100 min_consumer: 12 bad_consumers: 5 bad_consumers: 7 }";

static Graph *imported(Status *status) {
  Graph *graph = graph_new();
  CHECK_OK(ops_import(graph, kGraph, NULL, NULL, NULL, status), status);
  graph_remove_node(graph, graph_find_node(graph, "gone"));
  CHECK_OK(graph_set_assigned_device(graph, graph_find_node(graph, "v"), "/device:CPU:0", status), status);
  return graph;
}

TEST(a_node_is_copied_without_edges) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new(), *from = imported(&status);
  Node *copy, *again;
  CHECK_ERROR(graph_copy_node(graph, graph_find_node(from, "f"), &copy, &status), status, CODE_NOT_FOUND,
              "Op type not registered 'Func'");
  CHECK_INT_EQ(graph_num_node_ids(graph), 2);
  REQUIRE_OK(graph_add_function(graph, graph_find_function(from, "Func"), &status), status);
  REQUIRE_OK(graph_copy_node(graph, graph_find_node(from, "f"), &copy, &status), status);
  CHECK(copy->graph == graph && copy->def != graph_find_node(from, "f")->def);
  CHECK_STR_EQ(copy->name, "f");
  CHECK_INT_EQ(copy->num_inputs, 1);
  CHECK(!copy->inputs[0] && copy->num_control_inputs == 0 && copy->num_out_edges == 0);
  CHECK_INT_EQ(copy->def->n_input, 3); /* the input names are kept */
  REQUIRE_OK(graph_copy_node(graph, graph_find_node(from, "v"), &copy, &status), status);
  CHECK_STR_EQ(node_assigned_device(copy), "/device:CPU:0");
  CHECK_STR_EQ(copy->def->device, "/device:CPU:1");
  /* Into the same graph: the name is not unique any more. */
  REQUIRE_OK(graph_copy_node(graph, copy, &again, &status), status);
  CHECK(again != copy && graph_find_node(graph, "v") == copy);
  CHECK_ERROR(graph_copy_node(graph, graph_node(from, SINK_ID), &copy, &status), status,
              CODE_INVALID_ARGUMENT, "'_SINK' cannot be copied");
  CHECK_ERROR(graph_copy_node(graph, NULL, &copy, &status), status, CODE_INVALID_ARGUMENT, "Node is null");
  ops_check_whole(graph);
  graph_free(from);
  ops_check_whole(graph); /* independent of the other graph */
  graph_free(graph);
}

TEST(control_inputs_named_by_a_copied_node_are_written_once) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  Graph *graph = graph_new();
  Node *copy;
  CHECK_OK(ops_add(graph, "name: 'p' op: 'TestParams'", "", &status), status);
  CHECK_OK(ops_add(graph, "name: 'q' op: 'TestParams'", "", &status), status);
  Node *i = ops_add(graph, "name: 'm' op: 'TestMul'", "p q ^p ^q", &status);
  REQUIRE(i);
  REQUIRE_OK(graph_copy_node(graph, i, &copy, &status), status);
  Edge *edge;
  REQUIRE_OK(graph_add_control_edge(graph, graph_find_node(graph, "q"), copy, &edge, &status), status);
  CHECK_INT_EQ(copy->def->n_input, 4);
  GraphDef *def;
  REQUIRE_OK(graph_to_def_range(graph, copy->id, true, arena, &def, &status), status);
  REQUIRE(def->n_node == 1 && def->node[0]->n_input == 3);
  CHECK_STR_EQ(def->node[0]->input[0], "p"); /* as given, though not connected */
  CHECK_STR_EQ(def->node[0]->input[2], "^q");
  arena_free(arena);
  graph_free(graph);
}

static void edges_text(Graph *graph, StrBuf *out) {
  Status status;
  status_init(&status);
  Edge *const *edges;
  int64_t count;
  if (!CHECK_OK(graph_edges(graph, &edges, &count, &status), status)) return;
  for (int64_t id = 0; id < count; id++) {
    if (!edges[id]) continue;
    strbuf_printf(out, "%s:%d %s:%d, ", edges[id]->src->name, edges[id]->src_output, edges[id]->dst->name,
                  edges[id]->dst_input);
  }
}

static void check_same(Graph *a, Graph *b) {
  Arena *arena = arena_new();
  StrBuf x = {0}, y = {0};
  ops_check_whole(b);
  CHECK_STR_EQ(ops_export_text(b, arena), ops_export_text(a, arena));
  edges_text(a, &x);
  edges_text(b, &y);
  CHECK_STR_EQ(strbuf_text(&y), strbuf_text(&x)); /* in the order of ids */
  CHECK_INT_EQ(graph_num_edges(b), graph_num_edges(a));
  CHECK_INT_EQ(graph_num_nodes(b), graph_num_nodes(a));
  CHECK_INT_EQ(graph_num_edge_ids(b), graph_num_edges(b)); /* no holes */
  CHECK_INT_EQ(graph_num_node_ids(b), graph_num_nodes(b));
  strbuf_free(&x);
  strbuf_free(&y);
  arena_free(arena);
}

TEST(a_clone_equals_its_original) {
  Status status;
  status_init(&status);
  Graph *graph = imported(&status), *clone;
  REQUIRE_OK(graph_clone(graph, &clone, &status), status);
  check_same(graph, clone);
  CHECK_STR_EQ(graph_find_gradient_def(clone, "Func"), "FuncGrad");
  CHECK_INT_EQ(graph_versions(clone)->producer, 100);
  CHECK_INT_EQ(graph_versions(clone)->n_bad_consumers, 2);
  CHECK_STR_EQ(node_assigned_device(graph_find_node(clone, "v")), "/device:CPU:0");
  graph_free(graph);
  /* It is independent: Identity's output has the same shape handle as its input, as in the original. */
  Node *in = graph_find_node(clone, "in"), *i = graph_find_node(clone, "i"), *w = graph_find_node(clone, "w");
  CHECK(in->output_shapes[0] == i->output_shapes[0]);
  char text[64];
  ops_shape_text(clone, "i", text);
  CHECK_STR_EQ(text, "[?,3]");
  const HandleData *data = graph_find_node(clone, "v")->output_handles[0];
  REQUIRE(data && data->count == 1);
  CHECK_INT_EQ(data->entries[0].dtype, DT_FLOAT);
  CHECK_INT_EQ(data->entries[0].shape->dims[0]->value, 2);
  CHECK(!w->output_handles[0] || w->output_handles[0] == data);
  CHECK_OK(ops_add(clone, "name: 'more' op: 'TestOneInputTwoOutputs'", "i ^f", &status), status);
  bool changed;
  CHECK_OK(graph_fixup_source_and_sink_edges(clone, &changed, &status), status);
  CHECK(changed);
  ops_check_whole(clone);
  graph_free(clone);
}

TEST(a_graph_is_copied_into_an_empty_one_only) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new(), *from = imported(&status);
  CHECK_OK(ops_add(graph, "name: 'a' op: 'ABC'", "", &status), status);
  CHECK_ERROR(graph_copy(graph, from, &status), status, CODE_INVALID_ARGUMENT, "has no nodes");
  graph_clear(graph);
  int64_t bytes = arena_bytes(graph_arena(graph));
  CHECK_ERROR(graph_copy(graph, from, &status), status, CODE_NOT_FOUND, "Op type not registered 'Func'");
  CHECK_INT_EQ(graph_num_nodes(graph), 2);
  CHECK_INT_EQ(graph_num_node_ids(graph), 3);
  CHECK_INT_EQ(graph_versions(graph)->producer, 2314);
  CHECK(arena_bytes(graph_arena(graph)) == bytes && !graph_find_node(graph, "in"));
  REQUIRE_OK(graph_add_function(graph, graph_find_function(from, "Func"), &status), status);
  REQUIRE_OK(graph_copy(graph, from, &status), status);
  CHECK_INT_EQ(graph_find_node(graph, "in")->id, 3); /* ids continue to count up */
  CHECK_INT_EQ(graph_num_edges(graph), graph_num_edges(from));
  ops_check_whole(graph);
  graph_free(graph);
  graph_free(from);
}

TEST(copies_survive_lack_of_memory) {
  bool ok = false;
  for (int64_t after = 0; !ok; after++) {
    Status status;
    status_init(&status);
    Graph *graph = imported(&status), *clone = NULL, *copy = graph_new();
    CHECK_OK(graph_add_function(copy, graph_find_function(graph, "Func"), &status), status);
    CHECK_OK(graph_add_gradient_def(copy, "Func", "FuncGrad", &status), status);
    int64_t bytes = arena_bytes(graph_arena(copy));
    Node *node = NULL;
    mem_fail_after(after);
    ok = graph_copy(copy, graph, &status) && graph_clone(graph, &clone, &status) &&
         graph_copy_node(clone, graph_find_node(graph, "m"), &node, &status);
    mem_fail_after(-1);
    if (!ok) CHECK_INT_EQ(status.code, CODE_RESOURCE_EXHAUSTED);
    ops_check_whole(copy);
    if (graph_num_nodes(copy) > 2) {
      check_same(graph, copy);
    } else {
      CHECK_INT_EQ(arena_bytes(graph_arena(copy)), bytes);
      CHECK_INT_EQ(graph_num_edges(copy), 1);
    }
    if (clone) ops_check_whole(clone);
    graph_free(clone);
    graph_free(copy);
    graph_free(graph);
    REQUIRE(after < 2000);
  }
}
