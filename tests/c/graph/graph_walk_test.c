/* Depth-first walks, orders, components: small graphs by hand, random ones compared with naive algorithms. */
#include "graph/graph_walk.h"

#include "graph_test_ops.h"

/* a -> c, b -> c, c -> d, c -> e; f alone. */
static const char kGraph[] =
    "node { name: 'a' op: 'TestParams' } node { name: 'b' op: 'TestParams' } "
    "node { name: 'c' op: 'TestMul' input: 'a' input: 'b' } "
    "node { name: 'd' op: 'TestOneInputTwoOutputs' input: 'c' } "
    "node { name: 'e' op: 'ABC' input: '^c' } node { name: 'f' op: 'ABC' }";

static Graph *imported(const char *text, Status *status) {
  Graph *graph = graph_new();
  CHECK_OK(ops_import(graph, text, NULL, NULL, NULL, status), status);
  return graph;
}

static void note_enter(void *argument, Node *node) { strbuf_printf(argument, "%s( ", node->name); }
static void note_leave(void *argument, Node *node) { strbuf_printf(argument, ")%s ", node->name); }

static bool is_data(void *argument, const Edge *edge) {
  (void)argument;
  return !edge_is_control(edge) || edge->src->id == SOURCE_ID;
}

static int names_backwards(const Node *a, const Node *b) { return node_compare_names(b, a); }

TEST(walks_enter_and_leave_every_node_once) {
  Status status;
  status_init(&status);
  Graph *graph = imported(kGraph, &status);
  StrBuf text = {0};
  Walk walk = {.enter = note_enter, .leave = note_leave, .compare = node_compare_names, .argument = &text};
  CHECK_OK(graph_dfs(graph, &walk, &status), status);
  CHECK_STR_EQ(strbuf_text(&text), "_SOURCE( f( _SINK( )_SINK )f b( c( e( )e d( )d )c )b a( )a )_SOURCE ");
  strbuf_clear(&text);
  walk.compare = names_backwards;
  CHECK_OK(graph_dfs(graph, &walk, &status), status);
  CHECK_STR_EQ(strbuf_text(&text), "_SOURCE( _SINK( )_SINK a( c( d( )d e( )e )c )a b( )b f( )f )_SOURCE ");
  /* Without a comparator the last edge is followed first. */
  strbuf_clear(&text);
  walk = (Walk){.enter = note_enter, .follow = is_data, .argument = &text};
  Node *start[] = {graph_find_node(graph, "a"), graph_find_node(graph, "c"), graph_find_node(graph, "a")};
  CHECK_OK(graph_dfs_from(graph, start, 2, &walk, &status), status);
  CHECK_STR_EQ(strbuf_text(&text), "c( d( a( ");
  strbuf_clear(&text);
  CHECK_OK(graph_dfs_from(graph, start, 3, &walk, &status), status);
  CHECK_STR_EQ(strbuf_text(&text), "a( c( d( ");
  strbuf_clear(&text);
  CHECK_OK(graph_dfs_from(graph, NULL, 0, &walk, &status), status);
  CHECK_STR_EQ(strbuf_text(&text), "");
  strbuf_free(&text);
  graph_free(graph);
}

TEST(reverse_walks_go_against_the_edges) {
  Status status;
  status_init(&status);
  Graph *graph = imported(kGraph, &status);
  StrBuf text = {0};
  Walk walk = {.enter = note_enter, .leave = note_leave, .compare = names_backwards, .argument = &text};
  CHECK_OK(graph_reverse_dfs(graph, &walk, &status), status);
  CHECK_STR_EQ(strbuf_text(&text), "_SINK( _SOURCE( )_SOURCE d( c( a( )a b( )b )c )d e( )e f( )f )_SINK ");
  strbuf_clear(&text);
  Node *start[] = {graph_find_node(graph, "f"), graph_find_node(graph, "c")};
  CHECK_OK(graph_reverse_dfs_from(graph, start, 2, &walk, &status), status);
  CHECK_STR_EQ(strbuf_text(&text), "c( a( _SOURCE( )_SOURCE )a b( )b )c f( )f ");
  Node *none = NULL;
  CHECK_ERROR(graph_reverse_dfs_from(graph, &none, 1, &walk, &status), status, CODE_INVALID_ARGUMENT,
              "Node is null");
  strbuf_free(&text);
  graph_free(graph);
}

static const char *names_of(Node *const *order, int64_t count, StrBuf *text) {
  strbuf_clear(text);
  for (int64_t i = 0; i < count; i++) strbuf_printf(text, "%s ", order[i]->name);
  return strbuf_text(text);
}

TEST(orders_are_stable_with_a_comparator) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  StrBuf text = {0};
  /* The same graph with its nodes in another order. */
  Graph *graphs[] =
      {imported(kGraph, &status),
       imported("node { name: 'f' op: 'ABC' } node { name: 'e' op: 'ABC' input: '^c' } "
                "node { name: 'b' op: 'TestParams' } node { name: 'd' op: 'TestOneInputTwoOutputs' "
                "input: 'c' } node { name: 'c' op: 'TestMul' input: 'a' input: 'b' } "
                "node { name: 'a' op: 'TestParams' }",
                &status)};
  for (int i = 0; i < 2; i++) {
    Node **order;
    int64_t count;
    Walk options = {.compare = node_compare_names};
    REQUIRE_OK(graph_post_order(graphs[i], &options, arena, &order, &count, &status), status);
    CHECK_STR_EQ(names_of(order, count, &text), "_SINK f e d c b a _SOURCE ");
    REQUIRE_OK(graph_reverse_post_order(graphs[i], &options, arena, &order, &count, &status), status);
    CHECK_STR_EQ(names_of(order, count, &text), "_SOURCE a b c d e f _SINK ");
    options.follow = is_data;
    REQUIRE_OK(graph_reverse_post_order(graphs[i], &options, arena, &order, &count, &status), status);
    CHECK_STR_EQ(names_of(order, count, &text), "_SOURCE _SINK a b c d f ");
    graph_free(graphs[i]);
  }
  strbuf_free(&text);
  arena_free(arena);
}

TEST(nodes_without_an_edge_from_source_are_not_met) {
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  Graph *graph = graph_new();
  Node **order;
  int64_t count;
  CHECK_OK(ops_add(graph, "name: 'a' op: 'ABC'", "", &status), status);
  REQUIRE_OK(graph_post_order(graph, NULL, arena, &order, &count, &status), status);
  CHECK_INT_EQ(count, 2);
  CHECK_OK(graph_fixup_source_and_sink_edges(graph, NULL, &status), status);
  REQUIRE_OK(graph_post_order(graph, NULL, arena, &order, &count, &status), status);
  CHECK_INT_EQ(count, 3);
  arena_free(arena);
  graph_free(graph);
}

/* --- random graphs --- */

static uint32_t next_random(uint32_t *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return *seed >> 8;
}

/* Nodes n2 ... with control edges between them, some of them backwards if `cycles`. */
static Graph *random_graph(uint32_t seed, int num_nodes, int num_edges, bool cycles) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  for (int i = 0; i < num_nodes; i++) {
    NodeDef *def = node_def_new(graph_arena(graph), arena_printf(graph_arena(graph), "n%d", i + 2), "ABC");
    Node *node;
    CHECK_OK(graph_add_node(graph, def, &node, &status), status);
  }
  for (int i = 0; i < num_edges; i++) {
    int64_t src = 2 + next_random(&seed) % (uint32_t)num_nodes,
            dst = 2 + next_random(&seed) % (uint32_t)num_nodes;
    Edge *edge;
    if (!cycles && src == dst) continue;
    if (!cycles && src > dst) {
      int64_t swap = src;
      src = dst;
      dst = swap;
    }
    CHECK_OK(graph_add_control_edge(graph, graph_node(graph, src), graph_node(graph, dst), &edge, &status),
             status);
  }
  for (int i = 0; i < num_nodes / 10; i++)
    graph_remove_node(graph, graph_node(graph, 2 + next_random(&seed) % (uint32_t)num_nodes));
  CHECK_OK(graph_fixup_source_and_sink_edges(graph, NULL, &status), status);
  return graph;
}

enum { MOST = 64 };

/* reach[i][j]: there is a path of one edge or more from i to j. */
static void reachability(Graph *graph, uint8_t reach[MOST][MOST]) {
  Status status;
  status_init(&status);
  Edge *const *edges;
  int64_t count, size = graph_num_node_ids(graph);
  memset(reach, 0, MOST * MOST);
  CHECK_OK(graph_edges(graph, &edges, &count, &status), status);
  for (int64_t i = 0; i < count; i++) {
    if (edges[i]) reach[edges[i]->src->id][edges[i]->dst->id] = 1;
  }
  for (int64_t k = 0; k < size; k++) {
    for (int64_t i = 0; i < size; i++) {
      for (int64_t j = 0; j < size; j++) reach[i][j] |= reach[i][k] && reach[k][j];
    }
  }
}

TEST(reverse_post_order_is_topological) {
  for (uint32_t seed = 1; seed <= 60; seed++) {
    CHECK_CONTEXT("seed %u", seed);
    Status status;
    status_init(&status);
    Arena *arena = arena_new();
    Graph *graph = random_graph(seed, 40, (int)(seed * 3), false);
    Node **order;
    int64_t count, place[MOST], num_edges;
    Edge *const *edges;
    REQUIRE_OK(graph_reverse_post_order(graph, NULL, arena, &order, &count, &status), status);
    CHECK_INT_EQ(count, graph_num_nodes(graph));
    for (int64_t i = 0; i < count; i++) place[order[i]->id] = i;
    REQUIRE_OK(graph_edges(graph, &edges, &num_edges, &status), status);
    for (int64_t i = 0; i < num_edges; i++) {
      if (edges[i]) CHECK(place[edges[i]->src->id] < place[edges[i]->dst->id]);
    }
    arena_free(arena);
    graph_free(graph);
  }
  CHECK_CONTEXT("%s", "");
}

TEST(components_are_what_reaches_each_other) {
  static uint8_t reach[MOST][MOST];
  int graphs_with_cycles = 0;
  for (uint32_t seed = 1; seed <= 60; seed++) {
    CHECK_CONTEXT("seed %u", seed);
    Status status;
    status_init(&status);
    Arena *arena = arena_new();
    Graph *graph = random_graph(seed, 40, (int)(seed * 2), seed % 4 != 0);
    int32_t *component;
    int64_t count;
    Node *on_cycle;
    reachability(graph, reach);
    REQUIRE_OK(graph_components(graph, arena, &component, &count, &status), status);
    bool any_cycle = false;
    uint8_t used[MOST] = {0};
    for (int64_t i = 0; i < graph_num_node_ids(graph); i++) {
      if (!graph_node(graph, i)) {
        CHECK_INT_EQ(component[i], -1);
        continue;
      }
      CHECK(component[i] >= 0 && component[i] < count);
      used[component[i]] = 1;
      any_cycle |= reach[i][i];
      for (int64_t j = 0; j < graph_num_node_ids(graph); j++) {
        if (!graph_node(graph, j) || i == j) continue;
        CHECK_INT_EQ(component[i] == component[j], reach[i][j] && reach[j][i]);
        if (reach[i][j]) CHECK(component[j] <= component[i]);
      }
    }
    for (int64_t i = 0; i < count; i++) CHECK(used[i]);
    REQUIRE_OK(graph_find_cycle(graph, &on_cycle, &status), status);
    CHECK((on_cycle != NULL) == any_cycle);
    if (on_cycle) CHECK(reach[on_cycle->id][on_cycle->id]);
    graphs_with_cycles += any_cycle;
    arena_free(arena);
    graph_free(graph);
  }
  CHECK_CONTEXT("%s", "");
  CHECK(graphs_with_cycles > 20 && graphs_with_cycles < 60);
}

TEST(pruning_keeps_what_the_roots_need) {
  static uint8_t reach[MOST][MOST];
  for (uint32_t seed = 1; seed <= 60; seed++) {
    CHECK_CONTEXT("seed %u", seed);
    Status status;
    status_init(&status);
    Graph *graph = random_graph(seed, 40, (int)(seed * 2), seed % 2 != 0);
    Node *roots[2] = {NULL, NULL}, *before[MOST];
    for (int64_t id = 2, found = 0; found < 2; id++) {
      if (graph_node(graph, id)) roots[found++] = graph_node(graph, id);
    }
    int64_t size = graph_num_node_ids(graph), kept = 2;
    reachability(graph, reach);
    for (int64_t id = 0; id < size; id++) before[id] = graph_node(graph, id);
    bool any_removed, expected = false;
    REQUIRE_OK(graph_prune_for_reverse_reachability(graph, roots, 2, &any_removed, &status), status);
    for (int64_t id = 2; id < size; id++) {
      if (!before[id]) continue;
      bool needed = before[id] == roots[0] || before[id] == roots[1] || reach[id][roots[0]->id] ||
                    reach[id][roots[1]->id];
      CHECK((graph_node(graph, id) != NULL) == needed);
      CHECK((before[id]->graph != NULL) == needed);
      expected |= !needed;
      kept += needed;
    }
    CHECK_INT_EQ(any_removed, expected);
    CHECK_INT_EQ(graph_num_nodes(graph), kept);
    ops_check_whole(graph);
    CHECK_OK(graph_fixup_source_and_sink_edges(graph, NULL, &status), status);
    ops_check_whole(graph);
    /* All nodes are reachable backward from sink, except those that only lead into a cycle. */
    Node *sink = graph_node(graph, SINK_ID);
    reachability(graph, reach);
    for (int64_t id = 0; id < size; id++) before[id] = graph_node(graph, id);
    REQUIRE_OK(graph_prune_for_reverse_reachability(graph, &sink, 1, NULL, &status), status);
    for (int64_t id = 2; id < size; id++) {
      if (before[id]) CHECK((graph_node(graph, id) != NULL) == (reach[id][SINK_ID] != 0));
    }
    graph_free(graph);
  }
  CHECK_CONTEXT("%s", "");
}

TEST(clearing_leaves_source_and_sink) {
  Status status;
  status_init(&status);
  Graph *graph = imported(kGraph, &status);
  Node *c = graph_find_node(graph, "c");
  Edge *edge = node_input_edge(c, 0), *found;
  CHECK_OK(graph_find_edge(graph, 0, &found, &status), status);
  int64_t ids = graph_num_node_ids(graph), edge_ids = graph_num_edge_ids(graph);
  graph_clear(graph);
  CHECK_INT_EQ(graph_num_nodes(graph), 2);
  CHECK_INT_EQ(graph_num_edges(graph), 1);
  CHECK(!graph_find_node(graph, "c"));
  CHECK_ERROR(graph_check_node(graph, c, &status), status, CODE_INVALID_ARGUMENT, "removed");
  CHECK_ERROR(graph_check_edge(graph, edge, &status), status, CODE_INVALID_ARGUMENT, "removed");
  CHECK_OK(graph_find_edge(graph, 1, &found, &status), status);
  CHECK(!found);
  CHECK_STR_EQ(graph_unique_name(graph, "c"), "c");
  Node *again = ops_add(graph, "name: 'c' op: 'ABC'", "", &status);
  REQUIRE(again);
  CHECK_INT_EQ(again->id, ids);
  CHECK_OK(graph_fixup_source_and_sink_edges(graph, NULL, &status), status);
  CHECK_INT_EQ(again->source_edge->id, edge_ids);
  graph_clear(graph);
  graph_clear(graph);
  ops_check_whole(graph);
  graph_free(graph);
}

/* --- deep graphs and little memory --- */

TEST(chains_of_any_depth_are_walked) {
  enum { COUNT = 100000 };
  Status status;
  status_init(&status);
  Arena *arena = arena_new();
  Graph *graph = graph_new();
  Node *before = NULL, **order;
  Edge *edge;
  for (int i = 0; i < COUNT; i++) {
    NodeDef *def = node_def_new(graph_arena(graph), arena_printf(graph_arena(graph), "n%d", i), "ABC");
    Node *node;
    REQUIRE_OK(graph_add_node(graph, def, &node, &status), status);
    if (before) REQUIRE_OK(graph_add_control_edge(graph, before, node, &edge, &status), status);
    before = node;
  }
  REQUIRE_OK(graph_fixup_source_and_sink_edges(graph, NULL, &status), status);
  int64_t count;
  Walk options = {.compare = node_compare_ids};
  REQUIRE_OK(graph_reverse_post_order(graph, &options, arena, &order, &count, &status), status);
  CHECK_INT_EQ(count, COUNT + 2);
  CHECK(order[0]->id == SOURCE_ID && order[1]->id == 2 && order[COUNT] == before &&
        order[COUNT + 1]->id == SINK_ID);
  int32_t *component;
  REQUIRE_OK(graph_components(graph, arena, &component, &count, &status), status);
  CHECK_INT_EQ(count, COUNT + 2);
  ControlFlowInfo *info;
  REQUIRE_OK(graph_control_flow(graph, arena, &info, NULL, NULL, &status), status);
  CHECK(info[before->id].frame == graph_node(graph, SOURCE_ID));
  Node *cycle;
  REQUIRE_OK(graph_add_control_edge(graph, before, graph_node(graph, 2), &edge, &status), status);
  REQUIRE_OK(graph_find_cycle(graph, &cycle, &status), status);
  CHECK(cycle && cycle->id > SINK_ID);
  REQUIRE_OK(graph_components(graph, arena, &component, &count, &status), status);
  CHECK_INT_EQ(count, 3);
  graph_clear(graph);
  CHECK_INT_EQ(graph_num_edges(graph), 1);
  arena_free(arena);
  graph_free(graph);
}

TEST(walks_survive_lack_of_memory) {
  Status status;
  status_init(&status);
  Graph *graph = random_graph(7, 60, 200, true);
  Node *root = NULL;
  for (int64_t id = 2; !root; id++) root = graph_node(graph, id);
  bool ok = false;
  for (int64_t after = 0; !ok; after++) {
    status_init(&status);
    Arena *arena = arena_new();
    Walk options = {.compare = node_compare_ids};
    Node **order, *cycle, **unreachable;
    int64_t count, num_unreachable;
    ControlFlowInfo *info;
    int64_t nodes = graph_num_nodes(graph);
    mem_fail_after(after);
    ok = graph_reverse_post_order(graph, &options, arena, &order, &count, &status) &&
         graph_find_cycle(graph, &cycle, &status) &&
         graph_control_flow(graph, arena, &info, &unreachable, &num_unreachable, &status) &&
         graph_prune_for_reverse_reachability(graph, &root, 1, NULL, &status);
    mem_fail_after(-1);
    if (!ok) CHECK_INT_EQ(status.code, CODE_RESOURCE_EXHAUSTED);
    if (!ok) CHECK_INT_EQ(graph_num_nodes(graph), nodes);
    arena_free(arena);
    REQUIRE(after < 1000);
  }
  ops_check_whole(graph);
  graph_free(graph);
}
