/* Reachability and order. */
#include "graph_test_ops.h"

static Graph *diamond(Status *status) {
  /*   a -> b -> d -> e (control)      f alone
   *   a -> c -> d                     */
  Graph *graph = graph_new();
  CHECK_OK(ops_add(graph, "name: 'a' op: 'TestInput'", "", status), status);
  CHECK_OK(ops_add(graph, "name: 'f' op: 'TestParams'", "", status), status);
  CHECK_OK(ops_add(graph, "name: 'b' op: 'TestOneInputTwoOutputs'", "a", status), status);
  CHECK_OK(ops_add(graph, "name: 'c' op: 'TestOneInputTwoOutputs'", "a:1", status), status);
  CHECK_OK(ops_add(graph, "name: 'd' op: 'TestMul'", "b:1 c", status), status);
  CHECK_OK(ops_add(graph, "name: 'e' op: 'ABC'", "^d", status), status);
  return graph;
}

/* The names of a set or an order, "a b c". */
static const char *set_names(const Graph *graph, const NodeSet *set, char text[64]) {
  text[0] = '\0';
  for (int64_t id = 0; id < set->size; id++) {
    const Node *node = graph_node(graph, id);
    if (node && node_set_has(set, node)) snprintf(text + strlen(text), 64 - strlen(text), "%s ", node->name);
  }
  return text;
}

static const char *order_names(Node *const *order, int64_t count, char text[64]) {
  text[0] = '\0';
  for (int64_t i = 0; i < count; i++) snprintf(text + strlen(text), 64 - strlen(text), "%s ", order[i]->name);
  return text;
}

TEST(reverse_reachable_stops_at_fed_outputs) {
  Status status;
  status_init(&status);
  Graph *graph = diamond(&status);
  Arena *arena = arena_new();
  NodeSet set;
  char text[64];
  Node *e = graph_find_node(graph, "e"), *roots[] = {e, e};
  REQUIRE_OK(graph_reverse_reachable(graph, roots, 2, NULL, 0, arena, &set, &status), status);
  CHECK_STR_EQ(set_names(graph, &set, text), "a b c d e ");
  NodeOutput fed[] = {{graph_find_node(graph, "c"), 0},
                      {graph_find_node(graph, "b"), 0},
                      {graph_find_node(graph, "c"), 0}};
  REQUIRE_OK(graph_reverse_reachable(graph, roots, 1, fed, 3, arena, &set, &status), status);
  CHECK_STR_EQ(set_names(graph, &set, text), "a b d e "); /* b:0 is fed, but d reads b:1 */
  fed[1].index = 1;
  REQUIRE_OK(graph_reverse_reachable(graph, roots, 1, fed, 3, arena, &set, &status), status);
  CHECK_STR_EQ(set_names(graph, &set, text), "d e ");
  Node *none[] = {NULL};
  CHECK_ERROR(graph_reverse_reachable(graph, none, 1, NULL, 0, arena, &set, &status), status,
              CODE_INVALID_ARGUMENT, "Node is null");
  arena_free(arena);
  graph_free(graph);
}

TEST(topological_order_prefers_small_ids) {
  Status status;
  status_init(&status);
  Graph *graph = diamond(&status);
  Arena *arena = arena_new();
  Node **order;
  int64_t count;
  char text[64];
  REQUIRE_OK(graph_topological_order(graph, NULL, NULL, 0, arena, &order, &count, &status), status);
  CHECK_STR_EQ(order_names(order, count, text), "a f b c d e ");
  NodeSet set;
  Node *d = graph_find_node(graph, "d");
  REQUIRE_OK(graph_reverse_reachable(graph, &d, 1, NULL, 0, arena, &set, &status), status);
  REQUIRE_OK(graph_topological_order(graph, &set, NULL, 0, arena, &order, &count, &status), status);
  CHECK_STR_EQ(order_names(order, count, text), "a b c d ");
  /* a's place is after b now, so ids do not give the order. */
  Edge *edge;
  graph_remove_node(graph, graph_find_node(graph, "b"));
  REQUIRE_OK(graph_add_control_edge(graph, graph_find_node(graph, "f"), graph_find_node(graph, "a"), &edge,
                                    &status),
             status);
  REQUIRE_OK(graph_topological_order(graph, NULL, NULL, 0, arena, &order, &count, &status), status);
  CHECK_STR_EQ(order_names(order, count, text), "f a c d e ");
  arena_free(arena);
  graph_free(graph);
}

TEST(topological_order_names_a_node_on_a_cycle) {
  Status status;
  status_init(&status);
  Graph *graph = diamond(&status);
  Arena *arena = arena_new();
  Node **order;
  int64_t count;
  Edge *edge;
  Node *b = graph_find_node(graph, "b"), *d = graph_find_node(graph, "d");
  REQUIRE_OK(graph_add_control_edge(graph, d, b, &edge, &status), status);
  /* d and b are on the cycle; e is after it. */
  CHECK(!graph_topological_order(graph, NULL, NULL, 0, arena, &order, &count, &status));
  CHECK_INT_EQ(status.code, CODE_INVALID_ARGUMENT);
  CHECK_STR_CONTAINS(status.message, "3 nodes in a cycle");
  CHECK(strstr(status.message, "{{node b}}") || strstr(status.message, "{{node d}}"));
  /* Feeding cuts the data edge, and with it the cycle. */
  status_init(&status);
  NodeOutput fed = {b, 1};
  CHECK_OK(graph_topological_order(graph, NULL, &fed, 1, arena, &order, &count, &status), status);
  CHECK_INT_EQ(count, 6);
  REQUIRE_OK(graph_add_control_edge(graph, d, d, &edge, &status), status);
  CHECK_ERROR(graph_topological_order(graph, NULL, &fed, 1, arena, &order, &count, &status), status,
              CODE_INVALID_ARGUMENT, "{{node d}}");
  arena_free(arena);
  graph_free(graph);
}

TEST(algorithms_survive_lack_of_memory) {
  Status status;
  status_init(&status);
  Graph *graph = diamond(&status);
  NodeOutput fed = {graph_find_node(graph, "c"), 0};
  Node *root = graph_find_node(graph, "e");
  bool ok = false;
  for (int64_t after = 0; !ok; after++) {
    status_init(&status);
    Arena *arena = arena_new();
    NodeSet set;
    Node **order;
    int64_t count;
    mem_fail_after(after);
    ok = graph_reverse_reachable(graph, &root, 1, &fed, 1, arena, &set, &status) &&
         graph_topological_order(graph, &set, &fed, 1, arena, &order, &count, &status);
    mem_fail_after(-1);
    if (!ok) CHECK_INT_EQ(status.code, CODE_RESOURCE_EXHAUSTED);
    if (ok) CHECK_INT_EQ(count, 4);
    arena_free(arena);
    REQUIRE(after < 1000);
  }
  graph_free(graph);
}
