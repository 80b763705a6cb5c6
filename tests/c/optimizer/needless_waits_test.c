/* Which control edges disappear, and that every node still waits for the same ones. */
#include "optimizer/needless_waits.h"

#include <stdlib.h>
#include <string.h>

#include "graph/graph_walk.h"
#include "optimizer/graph_checker.h"
#include "runtime/graph_fixture.h"
#include "shortage.h"

static void wait_for(Node *node, Node *other) {
  Status status;
  status_init(&status);
  Edge *edge;
  CHECK_OK(graph_add_control_edge(node->graph, other, node, &edge, &status), &status);
}

static bool drop(Graph *graph, const NodeSet *keep) {
  Status status;
  status_init(&status);
  bool changed = false;
  CHECK_OK(graph_fixup_source_and_sink_edges(graph, NULL, &status), &status);
  CHECK_OK(graph_drop_needless_waits(graph, keep, &changed, &status), &status);
  CHECK(graph_is_whole(graph));
  return changed;
}

/* --- single edges --- */

typedef struct Example {
  Graph *graph;
  NodeOutput x, a, b, other, same, end;
  Node *gate;
  Arena *arena;
  NodeSet keep;
} Example;

/* end = Neg(Identity(Neg(Neg(x)))); the Identity waits for a NoOp. */
static bool make_example(Example *e) {
  Status status;
  status_init(&status);
  *e = (Example){.graph = graph_new(), .arena = arena_new()};
  e->x = placeholder(e->graph, "x", "shape { }");
  e->a = unary(e->graph, "Neg", "a", e->x);
  e->b = unary(e->graph, "Neg", "b", e->a);
  e->other = unary(e->graph, "Tanh", "other", e->x);
  e->same = unary(e->graph, "Identity", "same", e->b);
  e->end = unary(e->graph, "Neg", "end", e->same);
  e->gate = add_node(e->graph, "NoOp", "gate", NULL, 0, NULL, 0);
  if (!CHECK(e->end.node && e->gate)) return false;
  wait_for(e->same.node, e->gate);
  if (!CHECK_OK(node_set_new(e->graph, e->arena, &e->keep, &status), &status)) return false;
  e->keep.member[e->end.node->id] = 1;
  return true;
}

static void free_example(Example *e) {
  graph_free(e->graph);
  arena_free(e->arena);
}

TEST(what_an_input_needs_is_not_waited_for) {
  Example e;
  REQUIRE(make_example(&e));
  wait_for(e.gate, e.a.node);
  CHECK(drop(e.graph, &e.keep));
  CHECK(e.end.node->inputs[0]->src == e.b.node);
  CHECK(!graph_find_node(e.graph, "gate"));
  CHECK(!drop(e.graph, &e.keep));
  free_example(&e);
}

TEST(what_runs_at_once_is_not_waited_for) {
  Example e;
  REQUIRE(make_example(&e));
  wait_for(e.gate, constant(e.graph, "k", "tensor_shape { } float_val: 1").node);
  CHECK(drop(e.graph, &e.keep));
  CHECK(e.end.node->inputs[0]->src == e.b.node);
  free_example(&e);
}

TEST(another_node_is_still_waited_for) {
  Example e;
  REQUIRE(make_example(&e));
  wait_for(e.gate, e.other.node);
  CHECK(drop(e.graph, &e.keep)); /* the NoOp */
  const Node *same = e.end.node->inputs[0]->src;
  CHECK(same == e.same.node);
  if (CHECK_INT_EQ(same->num_control_inputs, 1)) CHECK(same->control_inputs[0]->src == e.other.node);
  CHECK(!drop(e.graph, &e.keep));
  free_example(&e);
}

TEST(a_kept_no_op_stays) {
  Example e;
  REQUIRE(make_example(&e));
  wait_for(e.gate, e.other.node);
  e.keep.member[e.gate->id] = 1;
  CHECK(!drop(e.graph, &e.keep));
  CHECK(graph_find_node(e.graph, "gate") == e.gate);
  free_example(&e);
}

static NodeOutput merge(Graph *graph, NodeOutput a, NodeOutput b) {
  Status status;
  status_init(&status);
  Arena *arena = graph_arena(graph);
  NodeDef *def = node_def_new(arena, "merged", "Merge");
  const NodeOutput inputs[] = {a, b};
  Node *node = NULL;
  bool ok =
      CHECK_OK(node_def_set_attr(def, arena, "T", attr_value_type(arena, DT_FLOAT), &status), &status) &&
      CHECK_OK(node_def_set_attr(def, arena, "N", attr_value_int(arena, 2), &status), &status);
  if (ok) CHECK_OK(graph_add_operation(graph, def, inputs, 2, NULL, 0, &node, &status), &status);
  return out(node);
}

/* A Merge runs when one of its inputs is there. */
TEST(a_path_through_a_merge_is_not_enough) {
  Example e;
  REQUIRE(make_example(&e));
  NodeOutput merged = merge(e.graph, e.a, e.other);
  NodeOutput last = unary(e.graph, "Neg", "last", merged);
  REQUIRE(last.node);
  wait_for(last.node, e.a.node);
  drop(e.graph, NULL);
  CHECK_INT_EQ(last.node->num_control_inputs, 1);
  free_example(&e);
}

/* --- random graphs --- */

enum { MOST_NODES = 40 };

typedef struct Random {
  uint32_t seed;
  int64_t count;                                                      /* of ids */
  bool before[MOST_NODES][MOST_NODES], after[MOST_NODES][MOST_NODES]; /* [a][b]: b runs after a */
} Random;

static int pick(Random *r, int n) {
  r->seed = r->seed * 1664525u + 1013904223u;
  return (int)((r->seed >> 16) % (uint32_t)n);
}

static Node *any_node(Random *r, const Graph *graph) {
  return graph_node(graph, SINK_ID + 1 + pick(r, (int)graph_num_node_ids(graph) - SINK_ID - 1));
}

static NodeOutput any_value(Random *r, const Graph *graph) {
  Node *node = any_node(r, graph);
  while (node->num_outputs == 0) node = any_node(r, graph);
  return out(node);
}

static Graph *make_graph(Random *r) {
  Graph *graph = graph_new();
  placeholder(graph, "x", "shape { }");
  int size = 5 + pick(r, MOST_NODES - 8);
  while (graph_num_node_ids(graph) < size) {
    char name[16];
    snprintf(name, sizeof name, "n%d", (int)graph_num_node_ids(graph));
    int kind = pick(r, 10);
    Node *first = any_node(r, graph), *second = any_node(r, graph);
    Node *node = kind < 3   ? add_node(graph, "NoOp", name, NULL, 0, NULL, 0)
                 : kind < 4 ? constant(graph, name, "tensor_shape { } float_val: 1").node
                 : kind < 8 ? unary(graph, "Neg", name, any_value(r, graph)).node
                            : binary(graph, "Mul", name, any_value(r, graph), any_value(r, graph)).node;
    if (pick(r, 3) > 0) wait_for(node, first);
    if (pick(r, 2) > 0) wait_for(node, second);
  }
  return graph;
}

/* Which nodes run after which; the ids are a topological order. */
static void find_order(const Graph *graph, int64_t count, bool (*after)[MOST_NODES]) {
  memset(after, 0, sizeof(bool[MOST_NODES][MOST_NODES]));
  for (int64_t id = SINK_ID + 1; id < count; id++) {
    const Node *node = graph_node(graph, id);
    for (int64_t i = 0; node && i < node_num_in_edges(node); i++) {
      int64_t source = node_in_edge(node, i)->src->id;
      if (source <= SINK_ID) continue;
      after[source][id] = true;
      for (int64_t k = 0; k < count; k++) after[k][id] |= after[k][source];
    }
  }
}

/* Whether the node has no inputs, and waits only for others of that kind. */
static bool runs_at_once(const Node *node, const bool *at_once) {
  for (int64_t i = 0; i < node_num_in_edges(node); i++) {
    int64_t source = node_in_edge(node, i)->src->id;
    if (source > SINK_ID && !at_once[source]) return false;
  }
  return node->num_inputs == 0 && strcmp(node->def->op, "Placeholder") != 0;
}

TEST(random_graphs_keep_their_order) {
  for (uint32_t seed = 1; seed <= 400; seed++) {
    Status status;
    status_init(&status);
    CHECK_CONTEXT("seed %d", (int)seed);
    Random *r = calloc(1, sizeof *r);
    r->seed = seed;
    Graph *graph = make_graph(r);
    Arena *arena = arena_new();
    NodeSet keep;
    bool at_once[MOST_NODES] = {false};
    REQUIRE(CHECK_OK(node_set_new(graph, arena, &keep, &status), &status));
    r->count = graph_num_node_ids(graph);
    for (int64_t id = SINK_ID + 1; id < r->count; id++) {
      const Node *node = graph_node(graph, id);
      keep.member[id] = strcmp(node->def->op, "NoOp") != 0 || pick(r, 4) == 0;
      at_once[id] = runs_at_once(node, at_once);
    }
    find_order(graph, r->count, r->before);
    drop(graph, &keep);
    find_order(graph, r->count, r->after);
    for (int64_t a = SINK_ID + 1; a < r->count; a++) {
      for (int64_t b = SINK_ID + 1; b < r->count; b++) {
        if (!keep.member[a] || !keep.member[b] || at_once[a]) continue;
        CHECK_INT_EQ(r->after[a][b], r->before[a][b]);
      }
    }
    arena_free(arena);
    graph_free(graph);
    free(r);
  }
}

TEST(without_memory_waits_stay) {
  Shortage shortage = {.what = "control edges", .most = 200};
  do {
    Status status;
    status_init(&status);
    Example e;
    bool changed;
    REQUIRE(make_example(&e));
    wait_for(e.gate, e.a.node);
    CHECK_OK(graph_fixup_source_and_sink_edges(e.graph, NULL, &status), &status);
    shortage_begin(&shortage);
    bool ok = graph_drop_needless_waits(e.graph, &e.keep, &changed, &status);
    shortage_end(&shortage, ok, status.code);
    CHECK(graph_is_whole(e.graph));
    free_example(&e);
  } while (shortage_next(&shortage));
}

/* Searches for all of them would take a time that grows with the square of the size. */
TEST(many_waits_take_linear_time) {
  Graph *graph = graph_new();
  NodeOutput x = placeholder(graph, "x", "shape { }"), first = unary(graph, "Neg", "first", x), node = first;
  for (int i = 0; i < 20000; i++) {
    char name[16];
    snprintf(name, sizeof name, "n%d", i);
    node = unary(graph, "Neg", name, node);
    REQUIRE(node.node);
    wait_for(node.node, first.node);
    snprintf(name, sizeof name, "g%d", i);
    Node *gate = add_node(graph, "NoOp", name, NULL, 0, NULL, 0);
    wait_for(gate, node.node);
  }
  CHECK(drop(graph, NULL));
  graph_free(graph);
}
