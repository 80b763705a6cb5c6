#include "optimizer/cse.h"

#include <stdlib.h>

#include "graph/node_builder.h"
#include "op/op_facts.h"
#include "runtime/graph_fixture.h"

static const OpRegistration kInput = {.name = "Input",
                                      .outputs = {"o: float"},
                                      .is_stateful = true,
                                      .shape = shape_unknown_outputs};
static const OpTableRow kMoreOps[] = {{"Input", &kInput}};

/* For all tests of the module. */
BEFORE_EACH() {
  Status status;
  status_init(&status);
  CHECK_OK(op_registry_add_table(op_registry_global(), kOpTable, kOpTableSize, &status), &status);
  CHECK_OK(op_registry_add_table(op_registry_global(), kMoreOps, 1, &status), &status);
}
AFTER_EACH() { op_registry_clear(op_registry_global()); }

static const char *skipped_op; /* the op that the current fact skips */
static bool consider(const Node *node) { return !skipped_op || strcmp(node->def->op, skipped_op) != 0; }

/* Runs the pass with `stays` (may be NULL) in `keep`. */
static bool merge_common(Graph *graph, const Node *stays, Arena *arena) {
  Status status;
  status_init(&status);
  NodeSet keep;
  bool changed;
  if (!CHECK_OK(node_set_new(graph, arena, &keep, &status), &status)) return false;
  if (stays) keep.member[stays->id] = 1;
  return CHECK_OK(graph_fixup_source_and_sink_edges(graph, NULL, &status), &status) &&
         CHECK_OK(graph_merge_common(graph, &keep, consider, &changed, &status), &status);
}

static bool is_left(const Graph *graph, const char *name) { return graph_find_node(graph, name); }

static const char *input_of(const Graph *graph, const char *name) {
  return graph_find_node(graph, name)->inputs[0]->src->name;
}

/* --- the remaining graph, in the format of the facts --- */

static int compare_texts(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

static void write_sorted(char **texts, int count, StrBuf *out) {
  qsort(texts, (size_t)count, sizeof(char *), compare_texts);
  for (int i = 0; i < count; i++) strbuf_printf(out, "%s%s", i == 0 ? "" : ";", texts[i]);
}

static void write_rest(const Graph *graph, Arena *arena, StrBuf *out) {
  char *nodes[256], *edges[256];
  int num_nodes = 0, num_edges = 0;
  for (int64_t id = SINK_ID + 1; id < graph_num_node_ids(graph); id++) {
    const Node *node = graph_node(graph, id);
    if (!node) continue;
    nodes[num_nodes++] = arena_printf(arena, "%s(%s)", node->name, node->def->op);
    for (int i = 0; i < node->num_inputs; i++) {
      const Edge *edge = node->inputs[i];
      const char *source = edge->src->name;
      char from[64] = "", to[32] = "";
      if (edge->src_output > 0) snprintf(from, sizeof from, ":%d", edge->src_output);
      if (i > 0) snprintf(to, sizeof to, ":%d", i);
      edges[num_edges++] = arena_printf(arena, "%s%s->%s%s", source, from, node->name, to);
    }
    for (int64_t i = 0; i < node->num_control_inputs; i++) {
      const Node *source = node->control_inputs[i]->src;
      if (source->id > SINK_ID) {
        edges[num_edges++] = arena_printf(arena, "%s:control->%s:control", source->name, node->name);
      }
    }
  }
  write_sorted(nodes, num_nodes, out);
  strbuf_append(out, "|");
  write_sorted(edges, num_edges, out);
}

/* Exactly one node of each pair remains, and all other nodes. */
static bool one_of_each(const Graph *graph, const Json *pairs, StrBuf *why) {
  for (int i = 0; i < pairs->count; i++) {
    const char *a = pairs->items[i].items[0].string, *b = pairs->items[i].items[1].string;
    if (is_left(graph, a) == is_left(graph, b))
      return fact_differs(why, "what is left of a pair", a, "one of them");
  }
  return graph_num_nodes(graph) - (SINK_ID + 1) == pairs->count ||
         fact_differs(why, "the number of nodes", "another", "one for each pair");
}

static bool holds(const Json *fact, const Json *answer, Arena *arena, StrBuf *why) {
  Status status;
  status_init(&status);
  const Json *skip = json_get(fact, "skip_ops");
  skipped_op = !skip || skip->count == 0 ? NULL : skip->items[0].string;
  Graph *graph = graph_new();
  GraphDef *def = fact_parse(kGraphDef, fact_text(fact, "graphdef"), arena);
  StrBuf text = {0};
  bool ok = CHECK_OK(graph_import(graph, def, false, NULL, arena, NULL, &status), &status) &&
            merge_common(graph, NULL, arena);
  const Json *pairs = json_get(answer, "expect_one_of");
  if (ok && pairs) {
    ok = one_of_each(graph, pairs, why);
  } else if (ok) {
    write_rest(graph, arena, &text);
    const char *want = fact_text(answer, "expect");
    ok = strcmp(strbuf_text(&text), want) == 0 || fact_differs(why, "the graph", strbuf_text(&text), want);
  }
  strbuf_free(&text);
  graph_free(graph);
  return ok;
}

TEST(recorded_facts_about_common_subexpressions_hold) {
  facts_run_kind("tests/data/facts/optimizer.jsonl", "cse", 8, holds);
}

/* --- cases beyond the facts --- */

static Graph *import(const char *text, Arena *arena) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  CHECK_OK(graph_import(graph, fact_parse(kGraphDef, text, arena), false, NULL, arena, NULL, &status),
           &status);
  return graph;
}

#define T_FLOAT " attr { key: 'T' value { type: DT_FLOAT } } "

static const char kChains[] =
    "node { name: 'x' op: 'Input' } node { name: 'a' op: 'Neg' input: 'x'" T_FLOAT
    "} node { name: 'b' op: 'Neg' input: 'x'" T_FLOAT "} node { name: 'c' op: 'Square' input: 'a'" T_FLOAT
    "} node { name: 'd' op: 'Square' input: 'b'" T_FLOAT
    "} node { name: 'e' op: 'Square' input: 'b' input: '^a'" T_FLOAT "}";

TEST(cse_follows_chains) {
  Arena *arena = arena_new();
  Graph *graph = import(kChains, arena);
  skipped_op = NULL;
  if (merge_common(graph, NULL, arena)) {
    CHECK(is_left(graph, "a") && !is_left(graph, "b"));
    CHECK(is_left(graph, "c") && !is_left(graph, "d"));
    CHECK_STR_EQ(input_of(graph, "e"), "a"); /* its control input distinguishes it from c */
  }
  graph_free(graph);
  arena_free(arena);
}

TEST(cse_leaves_nodes_that_are_kept) {
  Arena *arena = arena_new();
  Graph *graph = import(kChains, arena);
  skipped_op = NULL;
  if (merge_common(graph, graph_find_node(graph, "b"), arena)) {
    CHECK_STR_EQ(input_of(graph, "c"), "a");
    CHECK_STR_EQ(input_of(graph, "d"), "b");
  }
  graph_free(graph);
  arena_free(arena);
}

TEST(cse_survives_failing_allocations) {
  Status status;
  bool ok = false, changed;
  for (int64_t after = 0; !ok && after < 100; after++) {
    Arena *arena = arena_new();
    Graph *graph = import(kChains, arena);
    status_init(&status);
    REQUIRE_OK(graph_fixup_source_and_sink_edges(graph, NULL, &status), &status);
    mem_fail_after(after);
    ok = graph_merge_common(graph, NULL, NULL, &changed, &status);
    mem_fail_after(-1);
    if (!ok) CHECK_INT_EQ(status.code, CODE_RESOURCE_EXHAUSTED);
    graph_free(graph);
    arena_free(arena);
  }
  CHECK(ok);
}

/* Objects that others may change are not shared between equal nodes. */
TEST(nodes_that_make_objects_are_not_merged) {
  Graph *graph = graph_new();
  Arena *arena = arena_new();
  Attr any[] = {{"dtype", "type: DT_INT32"},
                {"value", "tensor { dtype: DT_INT32 tensor_shape { } int_val: -1 }"}};
  Attr list[] = {{"element_dtype", "type: DT_FLOAT"}};
  NodeOutput sizes[2], made[2], filled[2], one = constant(graph, "one", "tensor_shape { } float_val: 1");
  for (int i = 0; i < 2; i++)
    sizes[i] = out(add_node(graph, "Const", i == 0 ? "any" : "same", NULL, 0, any, 2));
  for (int i = 0; i < 2; i++)
    made[i] = out(add_node(graph, "EmptyTensorList", i == 0 ? "a" : "b", sizes, 2, list, 1));
  for (int i = 0; i < 2; i++) {
    NodeOutput inputs[] = {made[i], one};
    filled[i] = out(add_node(graph, "TensorListPushBack", i == 0 ? "c" : "d", inputs, 2, list, 1));
  }
  skipped_op = NULL;
  if (CHECK(filled[1].node) && merge_common(graph, NULL, arena)) {
    CHECK(is_left(graph, "any") && !is_left(graph, "same"));
    CHECK(is_left(graph, "a") && is_left(graph, "b") && is_left(graph, "c") && is_left(graph, "d"));
  }
  arena_free(arena);
  graph_free(graph);
}

/* --- long constants --- */

enum { LONG = 1 << 12 }; /* floats; only the length and the ends are in a node's key */

/* A Const of LONG numbers that are zero but for one. */
static Node *long_constant(Graph *graph, const char *name, int64_t where, float number) {
  Status status;
  status_init(&status);
  const int64_t dims[] = {LONG};
  Tensor value = {0};
  NodeBuilder b;
  Node *made = NULL;
  if (!CHECK_OK(tensor_allocate_dims(&value, DT_FLOAT, 1, dims, NULL, &status), &status)) return NULL;
  memset(value.data, 0, LONG * sizeof(float));
  tensor_f32(&value)[where] = number;
  node_builder(&b, graph, "Const", name);
  node_builder_tensor(&b, &value);
  CHECK_OK(node_builder_finish_bare(&b, &made, &status), &status);
  tensor_clear(&value);
  return made;
}

TEST(long_constants_are_merged_when_all_their_bytes_are_equal) {
  Graph *graph = graph_new();
  Arena *arena = arena_new();
  const struct {
    const char *name;
    int64_t where;
    float number;
  } kConstants[] = {{"first", LONG / 2, 1}, {"last", LONG - 1, 1},       {"middle", LONG / 2 + 1, 1},
                    {"again", LONG / 2, 1}, {"other", LONG / 2, 2},      {"again_middle", LONG / 2 + 1, 1},
                    {"begin", 0, 1},        {"again_last", LONG - 1, 1}, {"again_begin", 0, 1}};
  for (size_t i = 0; i < sizeof kConstants / sizeof *kConstants; i++)
    REQUIRE(long_constant(graph, kConstants[i].name, kConstants[i].where, kConstants[i].number));
  skipped_op = NULL;
  if (merge_common(graph, NULL, arena)) {
    CHECK(is_left(graph, "first") && is_left(graph, "last") && is_left(graph, "middle") &&
          is_left(graph, "other") && is_left(graph, "begin"));
    CHECK(!is_left(graph, "again") && !is_left(graph, "again_middle") && !is_left(graph, "again_last") &&
          !is_left(graph, "again_begin"));
  }
  arena_free(arena);
  graph_free(graph);
}
