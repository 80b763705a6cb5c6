/* Which divisions become products. */
#include "optimizer/reciprocal_factors.h"

#include <string.h>

#include "graph/graph_walk.h"
#include "optimizer/graph_checker.h"
#include "optimizer/optimizer_internal.h"
#include "runtime/graph_fixture.h"
#include "shortage.h"

static const char kVector[] = "shape { dim { size: 3 } }",
                  kSome[] = "tensor_shape { dim { size: 3 } } float_val: [2, -3, 0.0625]",
                  kSix[] = "tensor_shape { } float_val: 6";

static bool multiply_with(Graph *graph, const NodeSet *keep) {
  Status status;
  status_init(&status);
  bool changed = false;
  CHECK_OK(graph_fixup_source_and_sink_edges(graph, NULL, &status), &status);
  CHECK_OK(graph_multiply_by_reciprocals(graph, keep, &changed, &status), &status);
  CHECK(graph_is_whole(graph));
  return changed;
}

TEST(division_by_a_constant_multiplies_by_its_reciprocals) {
  static const struct {
    const char *op, *divisors;
    int count;
    float want[3];
  } kCases[] = {{"RealDiv", kSome, 3, {1 / 2.0f, 1 / -3.0f, 16}}, {"Div", kSix, 1, {1 / 6.0f}}};
  for (size_t i = 0; i < sizeof kCases / sizeof *kCases; i++) {
    Graph *graph = graph_new();
    REQUIRE(graph);
    CHECK_CONTEXT("case %d", (int)i);
    NodeOutput x = placeholder(graph, "x", kVector), c = constant(graph, "c", kCases[i].divisors);
    NodeOutput end = unary(graph, "Neg", "end", binary(graph, kCases[i].op, "y", x, c));
    CHECK(multiply_with(graph, NULL));
    const Node *product = end.node->inputs[0]->src;
    CHECK_STR_EQ(product->def->op, "Mul");
    CHECK_STR_EQ(product->name, "y");
    CHECK(product->inputs[0]->src == x.node);
    Status status;
    status_init(&status);
    Tensor factors = {0};
    bool known = false;
    CHECK_OK(optimizer_constant(product->inputs[1]->src, &factors, &known, &status), &status);
    REQUIRE(known && tensor_num_elements(&factors) == kCases[i].count);
    for (int k = 0; k < kCases[i].count; k++) CHECK(tensor_f32(&factors)[k] == kCases[i].want[k]);
    tensor_clear(&factors);
    CHECK(!multiply_with(graph, NULL));
    CHECK_CONTEXT("%s", "");
    graph_free(graph);
  }
}

/* Divisors without a normal reciprocal, other divisors, other ops, and a node that is fetched. */
TEST(other_divisions_stay) {
  enum { DIVIDEND, PLACEHOLDER, FLOOR, FETCHED, ZERO, INFINITE, DENORMAL, LARGE, EMPTY, CASES };
  static const char *const kDivisors[CASES] = {
      kSix,
      kSix,
      kSix,
      kSix,
      "tensor_shape { dim { size: 3 } } float_val: [2, 0, 1]",
      "tensor_shape { } float_val: inf",
      "tensor_shape { } float_val: 1e-40",
      "tensor_shape { } float_val: 3e38",
      "tensor_shape { dim { size: 0 } }",
  };
  for (int i = 0; i < CASES; i++) {
    Status status;
    status_init(&status);
    Graph *graph = graph_new();
    Arena *arena = arena_new();
    REQUIRE(graph && arena);
    CHECK_CONTEXT("case %d", i);
    NodeOutput x = placeholder(graph, "x", i == EMPTY ? "shape { dim { size: 0 } }" : kVector);
    NodeOutput c = i == PLACEHOLDER ? placeholder(graph, "c", kVector) : constant(graph, "c", kDivisors[i]);
    NodeOutput y =
        binary(graph, i == FLOOR ? "FloorDiv" : "RealDiv", "y", i == DIVIDEND ? c : x, i == DIVIDEND ? x : c);
    REQUIRE(unary(graph, "Neg", "end", y).node);
    NodeSet keep;
    CHECK_OK(node_set_new(graph, arena, &keep, &status), &status);
    if (i == FETCHED) keep.member[y.node->id] = 1;
    CHECK(!multiply_with(graph, &keep));
    CHECK_CONTEXT("%s", "");
    arena_free(arena);
    graph_free(graph);
  }
}

TEST(without_memory_the_division_stays_or_is_a_product) {
  Shortage shortage = {.what = "multiplying by reciprocals"};
  do {
    Status status;
    status_init(&status);
    Graph *graph = graph_new();
    REQUIRE(graph);
    NodeOutput x = placeholder(graph, "x", kVector);
    NodeOutput y = binary(graph, "RealDiv", "y", x, constant(graph, "c", kSome));
    NodeOutput end = unary(graph, "Neg", "end", y);
    CHECK_OK(graph_fixup_source_and_sink_edges(graph, NULL, &status), &status);
    bool changed;
    shortage_begin(&shortage);
    bool ok = graph_multiply_by_reciprocals(graph, NULL, &changed, &status);
    shortage_end(&shortage, ok, status.code);
    const Node *read = end.node->inputs[0]->src;
    CHECK(strcmp(read->def->op, "Mul") == 0 || (!ok && read == y.node));
    graph_free(graph);
  } while (shortage_next(&shortage));
}
