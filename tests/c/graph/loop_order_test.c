/* Orders in which loops have no gaps, on random graphs of nested loops. */
#include <stdlib.h>

#include "graph/loop_tree.h"
#include "graph/node_class.h"
#include "graph_test_ops.h"
#include "shortage.h"

#define FLOAT " attr { key: 'T' value { type: DT_FLOAT } } "

enum { MOST_VALUES = 400 };

/* A GraphDef that is being written. Values are nodes "n0", "n1", ... of one output. */
typedef struct Writer {
  StrBuf text;
  unsigned seed;
  int values[MOST_VALUES]; /* that may be read at this place */
  int num_values, next, num_frames;
} Writer;

static int some_value(Writer *w) { return w->values[random_to(&w->seed, w->num_values) - 1]; }

static void add_value(Writer *w, int name) {
  if (w->num_values < MOST_VALUES) w->values[w->num_values++] = name;
}

static void write_nodes(Writer *w, int count, int depth);

/* Enters, Merges, a body, NextIterations and Exits. */
static void write_loop(Writer *w, int depth) {
  int outside = w->num_values, vars = random_to(&w->seed, 3), first = w->next;
  int frame = w->num_frames++;
  w->next += 4 * vars; /* Enters, Merges, NextIterations, Exits */
  int saved[MOST_VALUES];
  for (int i = 0; i < outside; i++) saved[i] = w->values[i];
  for (int v = 0; v < vars; v++) {
    strbuf_printf(&w->text,
                  "node { name: 'n%d' op: 'Enter' input: 'n%d'" FLOAT
                  "attr { key: 'frame_name' value { s: 'f%d' } } } ",
                  first + v, some_value(w), frame);
    strbuf_printf(&w->text,
                  "node { name: 'n%d' op: 'Merge' input: 'n%d' input: 'n%d'" FLOAT
                  "attr { key: 'N' value { i: 2 } } } ",
                  first + vars + v, first + v, first + 2 * vars + v);
  }
  w->num_values = 0;
  for (int v = 0; v < vars; v++) add_value(w, first + vars + v);
  write_nodes(w, random_to(&w->seed, 5), depth + 1);
  for (int v = 0; v < vars; v++) {
    strbuf_printf(&w->text, "node { name: 'n%d' op: 'NextIteration' input: 'n%d'" FLOAT "} ",
                  first + 2 * vars + v, some_value(w));
    strbuf_printf(&w->text, "node { name: 'n%d' op: 'Exit' input: 'n%d'" FLOAT "} ", first + 3 * vars + v,
                  first + vars + v);
  }
  for (int i = 0; i < outside; i++) w->values[i] = saved[i];
  w->num_values = outside;
  for (int v = 0; v < vars; v++) add_value(w, first + 3 * vars + v);
}

static void write_nodes(Writer *w, int count, int depth) {
  for (int i = 0; i < count; i++) {
    if (depth < 3 && random_to(&w->seed, 4) == 1) {
      write_loop(w, depth);
      continue;
    }
    int name = w->next++;
    strbuf_printf(&w->text, "node { name: 'n%d' op: 'TestMul' input: 'n%d' input: 'n%d' input: '^n%d' } ",
                  name, some_value(w), some_value(w), some_value(w));
    add_value(w, name);
  }
}

static Graph *random_graph(unsigned seed, Status *status) {
  Writer w = {.seed = seed, .next = 2, .values = {0, 1}, .num_values = 2};
  strbuf_append(&w.text, "node { name: 'n0' op: 'TestParams' } node { name: 'n1' op: 'TestParams' } ");
  write_nodes(&w, 12, 0);
  Graph *graph = graph_new();
  CHECK_OK(ops_import(graph, strbuf_text(&w.text), NULL, NULL, NULL, status), status);
  strbuf_free(&w.text);
  return graph;
}

static bool is_within(const LoopTree *tree, int32_t loop, int32_t around) {
  while (loop != 0 && loop != around) loop = tree->parent[loop];
  return loop == around;
}

static void check_order(const Graph *graph, const LoopTree *tree, Node *const *order, int64_t count) {
  int64_t ids = graph_num_node_ids(graph);
  int64_t *place = calloc((size_t)ids, sizeof *place);
  CHECK_INT_EQ(count, ids - 2);
  for (int64_t i = 0; i < count; i++) place[order[i]->id] = i + 1;
  for (int64_t id = 2; id < ids; id++) {
    const Node *node = graph_node(graph, id);
    CHECK(place[id] > 0);
    for (int32_t i = 0; i < node->num_out_edges && !node_is_next_iteration(node); i++)
      CHECK(place[node->out_edges[i]->dst->id] > place[id]);
  }
  for (int32_t loop = 1; loop < tree->num_loops; loop++) {
    int64_t first = count, last = 0, members = 0;
    for (int64_t i = 0; i < count; i++) {
      if (!is_within(tree, tree->loop_of[order[i]->id], loop)) continue;
      if (i < first) first = i;
      last = i;
      members++;
    }
    CHECK_INT_EQ(last - first + 1, members);
  }
  free(place);
}

/* Orders of the whole graph, by ids and then by random keys. */
static bool order_graph(const Graph *graph, unsigned seed, Arena *arena, LoopTree *tree, Node ***order,
                        int64_t *count, Status *status) {
  NodeSet set;
  int64_t ids = graph_num_node_ids(graph), *keys = arena_alloc(arena, ids * (int64_t)sizeof *keys);
  if (!keys) return status_oom(status, "keys");
  for (int64_t id = 0; id < ids; id++) keys[id] = seed == 0 ? id : random_to(&seed, 1000);
  TRY(node_set_new(graph, arena, &set, status));
  for (int64_t id = 2; id < ids; id++) set.member[id] = 1;
  return loop_tree_of(graph, &set, arena, tree, status) &&
         graph_loop_order(graph, &set, tree, seed == 0 ? NULL : keys, arena, order, count, status);
}

TEST(loops_have_no_gaps_in_a_loop_order) {
  Status status;
  status_init(&status);
  int loops = 0;
  for (unsigned seed = 1; seed <= 60; seed++) {
    CHECK_CONTEXT("seed %u", seed);
    Graph *graph = random_graph(seed, &status);
    for (unsigned keys = 0; keys < 3; keys++) {
      Arena *arena = arena_new();
      LoopTree tree;
      Node **order;
      int64_t count;
      if (CHECK_OK(order_graph(graph, keys, arena, &tree, &order, &count, &status), status)) {
        check_order(graph, &tree, order, count);
        loops += tree.num_loops - 1;
      }
      arena_free(arena);
    }
    graph_free(graph);
  }
  CHECK(loops > 500);
}

TEST(a_loop_order_without_loops_prefers_small_keys) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  CHECK_OK(ops_import(graph,
                      "node { name: 'a' op: 'TestParams' } node { name: 'b' op: 'TestParams' } "
                      "node { name: 'c' op: 'TestMul' input: 'b' input: 'b' }",
                      NULL, NULL, NULL, &status),
           status);
  Arena *arena = arena_new();
  const int64_t keys[] = {0, 0, 5, 1, 2};
  LoopTree tree;
  NodeSet set;
  Node **order;
  int64_t count;
  REQUIRE_OK(node_set_new(graph, arena, &set, &status), status);
  for (int64_t id = 2; id < 5; id++) set.member[id] = 1;
  REQUIRE_OK(loop_tree_of(graph, &set, arena, &tree, &status), status);
  REQUIRE_OK(graph_loop_order(graph, &set, &tree, keys, arena, &order, &count, &status), status);
  CHECK_INT_EQ(count, 3);
  CHECK_STR_EQ(order[0]->name, "b");
  CHECK_STR_EQ(order[1]->name, "c");
  CHECK_STR_EQ(order[2]->name, "a");
  REQUIRE_OK(graph_loop_order(graph, &set, &tree, NULL, arena, &order, &count, &status), status);
  CHECK_STR_EQ(order[0]->name, "a");
  arena_free(arena);
  graph_free(graph);
}

TEST(a_loop_order_says_that_memory_ran_out) {
  Status status;
  status_init(&status);
  Graph *graph = random_graph(7, &status);
  Shortage shortage = {.what = "an order of loops"};
  do {
    Arena *arena = arena_new();
    LoopTree tree;
    Node **order;
    int64_t count;
    shortage_begin(&shortage);
    bool ok = order_graph(graph, 1, arena, &tree, &order, &count, &status);
    shortage_end(&shortage, ok, status.code);
    if (ok) check_order(graph, &tree, order, count);
    arena_free(arena);
    status_init(&status);
  } while (shortage_next(&shortage));
  graph_free(graph);
}
