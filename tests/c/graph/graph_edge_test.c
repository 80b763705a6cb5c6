/* Edges by id, and the edges of source and sink. */
#include "graph_test_ops.h"

static const char kGraph[] =
    "node { name: 'a' op: 'TestInput' } node { name: 'x' op: 'ABC' } "
    "node { name: 'b' op: 'TestOneInputTwoOutputs' input: 'a' input: '^x' } "
    "node { name: 'c' op: 'TestMul' input: 'b:1' input: 'a:1' }";

static Graph *imported(Status *status) {
  Graph *graph = graph_new();
  CHECK_OK(ops_import(graph, kGraph, NULL, NULL, NULL, status), status);
  return graph;
}

/* All edges in the order of their ids, "[id=0 ...] ...". */
static const char *edges_text(Graph *graph, StrBuf *out) {
  Status status;
  status_init(&status);
  Edge *const *edges;
  int64_t count;
  strbuf_clear(out);
  if (!CHECK_OK(graph_edges(graph, &edges, &count, &status), status)) return "";
  CHECK_INT_EQ(count, graph_num_edge_ids(graph));
  for (int64_t id = 0; id < count; id++) {
    if (!edges[id]) continue;
    CHECK_INT_EQ(edges[id]->id, id);
    if (out->length > 0) strbuf_append(out, " ");
    edge_print(edges[id], out);
  }
  return strbuf_text(out);
}

TEST(an_import_ends_with_edges_from_source_and_to_sink) {
  Status status;
  status_init(&status);
  Graph *graph = imported(&status);
  StrBuf text = {0};
  CHECK_STR_EQ(edges_text(graph, &text),
               "[id=0 _SOURCE:-1 -> _SINK:-1] [id=1 a:0 -> b:0] [id=2 x:-1 -> b:-1] [id=3 b:1 -> c:0] "
               "[id=4 a:1 -> c:1] [id=5 _SOURCE:-1 -> a:-1] [id=6 _SOURCE:-1 -> x:-1] [id=7 c:-1 -> "
               "_SINK:-1]");
  CHECK_INT_EQ(graph_num_edges(graph), 8);
  bool changed = true;
  CHECK_OK(graph_fixup_source_and_sink_edges(graph, &changed, &status), status);
  CHECK(!changed);
  CHECK_INT_EQ(graph_num_edges(graph), 8);
  CHECK_INT_EQ(graph_mutation_count(graph), 0);
  ops_check_whole(graph);
  strbuf_free(&text);
  graph_free(graph);
}

TEST(an_import_looks_at_all_nodes_again) {
  Status status;
  status_init(&status);
  Graph *graph = imported(&status);
  StrBuf text = {0};
  Node *b = graph_find_node(graph, "b");
  /* Without inputs b becomes a start node; x has no consumers any more. */
  graph_remove_edge(graph, node_input_edge(b, 0));
  graph_remove_edge(graph, b->control_inputs[0]);
  CHECK_OK(ops_add(graph, "name: 'late' op: 'ABC'", "^c", &status), status);
  CHECK_OK(ops_import(graph, "node { name: 'n' op: 'TestParams' }", NULL, NULL, NULL, &status), status);
  CHECK_STR_EQ(edges_text(graph, &text),
               "[id=0 _SOURCE:-1 -> _SINK:-1] [id=3 b:1 -> c:0] [id=4 a:1 -> c:1] [id=5 _SOURCE:-1 -> a:-1] "
               "[id=6 _SOURCE:-1 -> x:-1] [id=7 c:-1 -> _SINK:-1] [id=8 c:-1 -> late:-1] "
               "[id=9 x:-1 -> _SINK:-1] [id=10 _SOURCE:-1 -> b:-1] [id=11 late:-1 -> _SINK:-1] "
               "[id=12 _SOURCE:-1 -> n:-1] [id=13 n:-1 -> _SINK:-1]");
  ops_check_whole(graph);
  strbuf_free(&text);
  graph_free(graph);
}

TEST(edges_of_source_and_sink_can_be_added_and_removed) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  Node *source = graph_node(graph, SOURCE_ID), *sink = graph_node(graph, SINK_ID);
  Node *node = ops_add(graph, "name: 'n' op: 'TestParams'", "", &status);
  Edge *edge, *same;
  REQUIRE_OK(graph_add_control_edge(graph, source, node, &edge, &status), status);
  CHECK(edge && node->source_edge == edge && edge->id == 1);
  CHECK_INT_EQ(node->num_control_inputs, 0);
  CHECK_INT_EQ(node->def->n_input, 0); /* not written into the NodeDef */
  CHECK_OK(graph_add_control_edge(graph, source, node, &same, &status), status);
  CHECK(!same);
  CHECK_OK(graph_add_edge(graph, source, CONTROL_SLOT, node, CONTROL_SLOT, &same, &status), status);
  CHECK(same == edge);
  REQUIRE_OK(graph_add_edge(graph, node, CONTROL_SLOT, sink, CONTROL_SLOT, &edge, &status), status);
  CHECK(node->sink_edge == edge && edge->id == 2);
  CHECK_INT_EQ(graph_num_edges(graph), 3);
  CHECK_ERROR(graph_add_control_edge(graph, sink, node, &edge, &status), status, CODE_INVALID_ARGUMENT,
              "cannot start at '_SINK'");
  CHECK_ERROR(graph_add_control_edge(graph, node, source, &edge, &status), status, CODE_INVALID_ARGUMENT,
              "end at '_SOURCE'");
  CHECK_ERROR(graph_add_edge(graph, source, 0, node, 0, &edge, &status), status, CODE_OUT_OF_RANGE,
              "Node '_SOURCE' (type: 'NoOp', num of outputs: 0) does not have output 0");
  graph_remove_edge(graph, node->source_edge);
  CHECK(!node->source_edge);
  graph_remove_edge(graph, sink->source_edge); /* edge 0 */
  CHECK_INT_EQ(graph_num_edges(graph), 1);
  ops_check_whole(graph);
  bool changed = false;
  REQUIRE_OK(graph_fixup_source_and_sink_edges(graph, &changed, &status), status);
  CHECK(changed);
  CHECK_INT_EQ(source->sink_edge->id, 3);
  CHECK_INT_EQ(node->source_edge->id, 4);
  graph_remove_node(graph, node);
  CHECK_INT_EQ(graph_num_edges(graph), 1);
  ops_check_whole(graph);
  graph_free(graph);
}

TEST(source_and_sink_do_not_show_in_exports) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  Graph *graph = graph_new();
  CHECK_OK(ops_add(graph, "name: 'a' op: 'TestInput'", "", &status), status);
  CHECK_OK(ops_add(graph, "name: 'c' op: 'TestMul'", "a a:1 ^a", &status), status);
  char *before = ops_export_text(graph, arena);
  REQUIRE_OK(graph_fixup_source_and_sink_edges(graph, NULL, &status), status);
  CHECK_INT_EQ(graph_num_edges(graph), 6);
  CHECK_STR_EQ(ops_export_text(graph, arena), before);
  arena_free(arena);
  graph_free(graph);
}

TEST(edges_are_found_by_id_while_the_graph_changes) {
  Status status;
  status_init(&status);
  Graph *graph = imported(&status);
  Node *a = graph_find_node(graph, "a"), *c = graph_find_node(graph, "c");
  Edge *edge, *found;
  CHECK_OK(graph_find_edge(graph, 3, &found, &status), status);
  CHECK(found == node_input_edge(c, 0));
  /* The table of ids exists now and is kept up to date. */
  REQUIRE_OK(graph_update_edge(graph, a, 0, c, 0, &status), status);
  CHECK_OK(graph_find_edge(graph, 3, &found, &status), status);
  CHECK(!found);
  CHECK_OK(graph_find_edge(graph, 8, &found, &status), status);
  CHECK(found == node_input_edge(c, 0) && found->src == a);
  REQUIRE_OK(graph_add_control_edge(graph, a, c, &edge, &status), status);
  CHECK_OK(graph_find_edge(graph, edge->id, &found, &status), status);
  CHECK(found == edge);
  CHECK_OK(ops_add(graph, "name: 'd' op: 'TestMul'", "c a ^b", &status), status);
  CHECK_OK(graph_find_edge(graph, 12, &found, &status), status);
  CHECK(found && edge_is_control(found) && strcmp(found->src->name, "b") == 0);
  graph_remove_node(graph, c);
  CHECK_OK(graph_find_edge(graph, 9, &found, &status), status);
  CHECK(!found);
  CHECK_OK(graph_find_edge(graph, -1, &found, &status), status);
  CHECK(!found);
  CHECK_OK(graph_find_edge(graph, 13, &found, &status), status);
  CHECK(!found);
  CHECK_OK(ops_import(graph,
                      "node { name: 'n' op: 'TestOneInputTwoOutputs' input: 'm' } "
                      "node { name: 'm' op: 'TestParams' }",
                      NULL, NULL, NULL, &status),
           status);
  CHECK_OK(graph_find_edge(graph, 13, &found, &status), status);
  CHECK(found && found == node_input_edge(graph_find_node(graph, "n"), 0));
  StrBuf text = {0};
  int64_t listed = 0;
  for (const char *at = edges_text(graph, &text); (at = strstr(at, "[id=")); at++) listed++;
  CHECK_INT_EQ(listed, graph_num_edges(graph));
  strbuf_free(&text);
  graph_free(graph);
}

TEST(edges_that_are_gone_are_recognised) {
  Status status;
  status_init(&status);
  Graph *graph = imported(&status), *other = imported(&status);
  Edge *edge = node_input_edge(graph_find_node(graph, "c"), 0),
       *foreign = node_input_edge(graph_find_node(other, "c"), 0);
  StrBuf text = {0};
  CHECK_OK(graph_check_edge(graph, edge, &status), status);
  CHECK_ERROR(graph_check_edge(graph, foreign, &status), status, CODE_INVALID_ARGUMENT, "different graph");
  CHECK_ERROR(graph_check_edge(graph, NULL, &status), status, CODE_INVALID_ARGUMENT, "Edge is null");
  graph_remove_edge(graph, foreign); /* nothing happens to either graph */
  CHECK_INT_EQ(graph_num_edges(graph), 8);
  CHECK_INT_EQ(graph_num_edges(other), 8);
  graph_remove_node(graph, graph_find_node(graph, "c"));
  CHECK_ERROR(graph_check_edge(graph, edge, &status), status, CODE_INVALID_ARGUMENT,
              "Edge with id 3 was removed from its graph");
  graph_remove_edge(graph, edge);
  edge_print(edge, &text);
  CHECK_STR_EQ(strbuf_text(&text), "[id=3 <NULL>:1 -> <NULL>:0]");
  ops_check_whole(graph);
  ops_check_whole(other);
  strbuf_free(&text);
  graph_free(graph);
  graph_free(other);
}

TEST(nodes_that_are_gone_are_refused_everywhere) {
  Status status;
  status_init(&status);
  Graph *graph = imported(&status);
  Node *gone = graph_find_node(graph, "x"), *b = graph_find_node(graph, "b"), *copy;
  Edge *edge;
  bool any;
  graph_remove_node(graph, gone);
  static const char kGone[] = "is different from the passed in node. Does it belong to a different graph?";
  CHECK_ERROR(graph_add_control_edge(graph, gone, b, &edge, &status), status, CODE_INVALID_ARGUMENT, kGone);
  CHECK_ERROR(graph_add_control_edge(graph, b, gone, &edge, &status), status, CODE_INVALID_ARGUMENT, kGone);
  CHECK_ERROR(graph_add_edge(graph, gone, 0, b, 0, &edge, &status), status, CODE_INVALID_ARGUMENT, kGone);
  CHECK_ERROR(graph_update_edge(graph, b, 0, gone, 0, &status), status, CODE_INVALID_ARGUMENT, kGone);
  CHECK_ERROR(graph_check_output_tensor(graph, gone, 0, &status), status, CODE_INVALID_ARGUMENT, kGone);
  CHECK_ERROR(graph_check_input_tensor(graph, gone, 0, &status), status, CODE_INVALID_ARGUMENT, kGone);
  CHECK_ERROR(graph_check_input_tensor(graph, b, 1, &status), status, CODE_OUT_OF_RANGE,
              "Node 'b' (type: 'TestOneInputTwoOutputs', num of inputs: 1) does not have input 1");
  CHECK_ERROR(graph_set_assigned_device(graph, gone, "/cpu:0", &status), status, CODE_INVALID_ARGUMENT,
              kGone);
  CHECK_ERROR(graph_copy_node(graph, gone, &copy, &status), status, CODE_INVALID_ARGUMENT, "removed");
  CHECK_ERROR(graph_prune_for_reverse_reachability(graph, &gone, 1, &any, &status), status,
              CODE_INVALID_ARGUMENT, kGone);
  CHECK_STR_EQ(node_assigned_device(gone), "");
  CHECK(!node_while_context(gone));
  graph_remove_node(graph, gone);
  ops_check_whole(graph);
  graph_free(graph);
}

TEST(a_node_of_a_larger_graph_is_refused_by_its_id) {
  Status status;
  status_init(&status);
  Graph *small = graph_new(), *graph = imported(&status);
  CHECK_ERROR(graph_check_node(small, graph_find_node(graph, "c"), &status), status, CODE_INVALID_ARGUMENT,
              "node id 5 is >= than number of nodes in graph 2");
  graph_free(small);
  graph_free(graph);
}

TEST(edges_of_source_and_sink_survive_lack_of_memory) {
  for (int64_t after = 0;; after++) {
    Status status;
    status_init(&status);
    Graph *graph = graph_new();
    for (int i = 0; i < 40; i++) {
      char def[64];
      snprintf(def, sizeof def, "name: 'n%d' op: 'TestParams'", i);
      CHECK_OK(ops_add(graph, def, "", &status), status);
    }
    Edge *const *edges, *edge = NULL;
    int64_t count;
    Node *first = graph_find_node(graph, "n0");
    while (arena_bytes(graph_arena(graph)) < 32768) arena_alloc(graph_arena(graph), 16);
    mem_fail_after(after);
    bool ok = graph_add_control_edge(graph, graph_node(graph, SOURCE_ID), first, &edge, &status) &&
              graph_fixup_source_and_sink_edges(graph, NULL, &status) &&
              graph_edges(graph, &edges, &count, &status) &&
              graph_add_control_edge(graph, first, graph_find_node(graph, "n1"), &edge, &status);
    mem_fail_after(-1);
    ops_check_whole(graph);
    int64_t found = graph_num_edges(graph);
    if (!ok) CHECK_INT_EQ(status.code, CODE_RESOURCE_EXHAUSTED);
    if (ok) CHECK_INT_EQ(found, 82);
    if (!ok) CHECK(found == 1 || found == 2 || found == 81);
    graph_free(graph);
    if (ok) break;
    REQUIRE(after < 100);
  }
}

TEST(many_nodes_without_edges_come_and_go) {
  enum { COUNT = 100000 };
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  for (int i = 0; i < COUNT; i++) {
    NodeDef *def = node_def_new(graph_arena(graph), arena_printf(graph_arena(graph), "n%d", i), "ABC");
    Node *node;
    REQUIRE_OK(graph_add_node(graph, def, &node, &status), status);
    if (i % 10 == 0) REQUIRE_OK(graph_fixup_source_and_sink_edges(graph, NULL, &status), status);
  }
  REQUIRE_OK(graph_fixup_source_and_sink_edges(graph, NULL, &status), status);
  CHECK_INT_EQ(graph_num_edges(graph), 1 + 2 * COUNT);
  for (int64_t id = 2; id < graph_num_node_ids(graph); id++) graph_remove_node(graph, graph_node(graph, id));
  CHECK_INT_EQ(graph_num_edges(graph), 1);
  CHECK_INT_EQ(graph_num_nodes(graph), 2);
  graph_free(graph);
}

TEST(consumers_of_one_output_come_and_go_in_any_number) {
  enum { COUNT = 100000 };
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  Node *from = ops_add(graph, "name: 'from' op: 'TestParams'", "", &status),
       *to = ops_add(graph, "name: 'to' op: 'TestParams'", "", &status), *node;
  NodeOutput input = {from, 0};
  NodeDef *def = node_def_new(graph_arena(graph), "", "TestOneInputTwoOutputs");
  for (int i = 0; i < COUNT; i++) {
    def->name = arena_printf(graph_arena(graph), "n%d", i);
    REQUIRE_OK(graph_add_operation(graph, def, &input, 1, NULL, 0, &node, &status), status);
  }
  /* Removes the oldest edges first, which are not at the end of the list. */
  for (int64_t id = 4; id < graph_num_node_ids(graph); id++) {
    REQUIRE_OK(graph_update_edge(graph, to, 0, graph_node(graph, id), 0, &status), status);
  }
  CHECK_INT_EQ(from->num_out_edges, 0);
  CHECK_INT_EQ(to->num_out_edges, COUNT);
  for (int64_t id = 4; id < graph_num_node_ids(graph); id += 2)
    graph_remove_node(graph, graph_node(graph, id));
  CHECK_INT_EQ(to->num_out_edges, COUNT / 2);
  for (int32_t i = 0; i < to->num_out_edges; i++) {
    CHECK(to->out_edges[i]->place == i && to->out_edges[i]->dst->id % 2 == 1);
  }
  graph_free(graph);
}
