/* Which reshapes disappear in front of arithmetic that broadcasts. */
#include "optimizer/leading_ones.h"

#include <string.h>

#include "graph/graph_walk.h"
#include "optimizer/graph_checker.h"
#include "runtime/graph_fixture.h"
#include "shortage.h"

#define MATRIX(rows, columns) "shape { dim { size: " #rows " } dim { size: " #columns " } }"
#define VECTOR(size) "shape { dim { size: " #size " } }"

static bool drop(Graph *graph, const NodeSet *keep) {
  Status status;
  status_init(&status);
  bool changed = false;
  CHECK_OK(graph_fixup_source_and_sink_edges(graph, NULL, &status), &status);
  CHECK_OK(graph_drop_leading_ones(graph, keep, &changed, &status), &status);
  CHECK(graph_is_whole(graph));
  return changed;
}

static NodeOutput squeeze(Graph *graph, NodeOutput x) {
  return out(add_node(graph, "Squeeze", "flat", &x, 1, (Attr[]){{"T", "type: DT_FLOAT"}}, 1));
}

/* end = Neg(op(x, Squeeze(m))) */
static NodeOutput add_graph(Graph *graph, const char *op, const char *x_shape, const char *m_shape) {
  NodeOutput x = placeholder(graph, "x", x_shape), m = placeholder(graph, "m", m_shape);
  return unary(graph, "Neg", "end", binary(graph, op, "sum", x, squeeze(graph, m)));
}

TEST(a_row_is_added_without_a_reshape) {
  static const char *const kOps[] = {"AddV2", "Mul", "BiasAdd"}, *const kRows[] = {MATRIX(1, 3),
                                                                                   MATRIX(4, 3)};
  for (int i = 0; i < 6; i++) {
    CHECK_CONTEXT("case %d", i);
    Graph *graph = graph_new();
    REQUIRE(graph);
    const char *op = kOps[i / 2];
    NodeOutput end = add_graph(graph, op, kRows[i % 2], MATRIX(1, 3));
    CHECK(drop(graph, NULL));
    const Node *sum = end.node->inputs[0]->src;
    CHECK_STR_EQ(sum->name, "sum");
    CHECK_STR_EQ(sum->def->op, strcmp(op, "BiasAdd") == 0 ? "AddV2" : op);
    CHECK_STR_EQ(sum->inputs[0]->src->name, "x");
    CHECK_STR_EQ(sum->inputs[1]->src->name, "m");
    CHECK(shape_rank(sum->output_shapes[0]) == 2);
    CHECK(!drop(graph, NULL));
    graph_free(graph);
  }
  CHECK_CONTEXT("%s", "");
}

/* The row alone gives the result its rank; sizes are unknown; a column of one element is no row; fetched. */
TEST(other_reshapes_stay) {
  static const char *const kShapes[][2] = {{VECTOR(3), MATRIX(1, 3)},
                                           {MATRIX(2, 3), MATRIX(-1, 3)},
                                           {MATRIX(3, 3), MATRIX(3, 1)},
                                           {MATRIX(2, 3), MATRIX(1, 3)}};
  for (int i = 0; i < 4; i++) {
    CHECK_CONTEXT("case %d", i);
    Status status;
    status_init(&status);
    Graph *graph = graph_new();
    Arena *arena = arena_new();
    REQUIRE(graph && arena);
    add_graph(graph, "AddV2", kShapes[i][0], kShapes[i][1]);
    NodeSet keep;
    CHECK_OK(node_set_new(graph, arena, &keep, &status), &status);
    if (i == 3) keep.member[graph_find_node(graph, "sum")->id] = 1;
    CHECK(!drop(graph, &keep));
    arena_free(arena);
    graph_free(graph);
  }
  CHECK_CONTEXT("%s", "");
}

TEST(without_memory_a_reshape_stays_or_goes) {
  Shortage shortage = {.what = "dropping leading ones"};
  do {
    Status status;
    status_init(&status);
    Graph *graph = graph_new();
    REQUIRE(graph);
    NodeOutput end = add_graph(graph, "BiasAdd", MATRIX(1, 3), MATRIX(1, 3));
    CHECK_OK(graph_fixup_source_and_sink_edges(graph, NULL, &status), &status);
    bool changed = false;
    shortage_begin(&shortage);
    bool ok = graph_drop_leading_ones(graph, NULL, &changed, &status);
    shortage_end(&shortage, ok, status.code);
    const Node *sum = end.node->inputs[0]->src;
    CHECK_STR_EQ(sum->name, "sum");
    CHECK_STR_EQ(sum->def->op, ok ? "AddV2" : sum->def->op);
    graph_free(graph);
  } while (shortage_next(&shortage));
}
