/* Which products of batches become products of matrices. */
#include "optimizer/flatten_products.h"

#include <string.h>

#include "graph/graph_walk.h"
#include "op/node_def.h"
#include "optimizer/graph_checker.h"
#include "runtime/graph_fixture.h"
#include "shortage.h"

static const char kWeights[] = "tensor_shape { dim { size: 2 } dim { size: 4 } } float_val: 1",
                  kTransposed[] = "tensor_shape { dim { size: 4 } dim { size: 2 } } float_val: 1",
                  kRows[] = "shape { dim { size: 3 } dim { size: 5 } dim { size: 2 } }";

static bool flatten_with(Graph *graph, const NodeSet *keep) {
  Status status;
  status_init(&status);
  bool changed = false;
  CHECK_OK(graph_fixup_source_and_sink_edges(graph, NULL, &status), &status);
  CHECK_OK(graph_flatten_products(graph, keep, &changed, &status), &status);
  CHECK(graph_is_whole(graph));
  return changed;
}

static NodeOutput batch_product(Graph *graph, NodeOutput x, NodeOutput w, bool adj_x, bool adj_y) {
  Attr attrs[] = {{"adj_x", adj_x ? "b: true" : "b: false"}, {"adj_y", adj_y ? "b: true" : "b: false"}};
  return out(add_node(graph, "BatchMatMulV2", "product", (NodeOutput[]){x, w}, 2, attrs, 2));
}

TEST(rows_times_a_constant_matrix_are_one_product) {
  for (int adjoint = 0; adjoint < 2; adjoint++) {
    Graph *graph = graph_new();
    REQUIRE(graph);
    NodeOutput x = placeholder(graph, "x", kRows);
    NodeOutput w = constant(graph, "w", adjoint ? kTransposed : kWeights);
    NodeOutput end = unary(graph, "Neg", "end", batch_product(graph, x, w, false, adjoint));
    CHECK(flatten_with(graph, NULL));
    const Node *result = end.node->inputs[0]->src, *product = graph_find_node(graph, "product");
    REQUIRE(product);
    CHECK_STR_EQ(result->def->op, "Reshape");
    CHECK_STR_EQ(product->def->op, "MatMul");
    CHECK(result->inputs[0]->src == product && product->inputs[1]->src == w.node);
    CHECK(node_def_attr(product->def, "transpose_b")->b == adjoint);
    const Node *rows = product->inputs[0]->src;
    CHECK(rows->inputs[0]->src == x.node);
    const int64_t want[] = {3, 5, 4};
    REQUIRE(shape_fully_defined(result->output_shapes[0]) && shape_rank(result->output_shapes[0]) == 3);
    for (int i = 0; i < 3; i++) CHECK_INT_EQ(dim_value(result->output_shapes[0]->dims[i]), want[i]);
    CHECK_INT_EQ(dim_value(rows->output_shapes[0]->dims[0]), 15);
    CHECK(!flatten_with(graph, NULL));
    graph_free(graph);
  }
}

TEST(other_products_of_batches_stay) {
  enum { FETCHED, FED_MATRIX, ADJOINT, BATCH_OF_MATRICES, UNKNOWN, EMPTY, CASES };
  static const char *const kShapes[CASES] = {
      kRows,
      kRows,
      "shape { dim { size: 3 } dim { size: 2 } dim { size: 5 } }",
      kRows,
      "shape { dim { size: -1 } dim { size: -1 } dim { size: 2 } }",
      "shape { dim { size: 0 } dim { size: -1 } dim { size: 2 } }",
  };
  for (int i = 0; i < CASES; i++) {
    Status status;
    status_init(&status);
    Graph *graph = graph_new();
    Arena *arena = arena_new();
    REQUIRE(graph && arena);
    NodeOutput x = placeholder(graph, "x", kShapes[i]);
    NodeOutput w =
        i == FED_MATRIX ? placeholder(graph, "w", "shape { dim { size: 2 } dim { size: 4 } }")
        : i == BATCH_OF_MATRICES
            ? constant(graph, "w",
                       "tensor_shape { dim { size: 1 } dim { size: 2 } dim { size: 4 } } float_val: 1")
            : constant(graph, "w", kWeights);
    NodeOutput product = batch_product(graph, x, w, i == ADJOINT, false);
    REQUIRE(unary(graph, "Neg", "end", product).node);
    NodeSet keep;
    CHECK_OK(node_set_new(graph, arena, &keep, &status), &status);
    if (i == FETCHED) keep.member[product.node->id] = 1;
    CHECK_CONTEXT("case %d", i);
    CHECK(!flatten_with(graph, &keep));
    CHECK_CONTEXT("%s", "");
    arena_free(arena);
    graph_free(graph);
  }
}

TEST(one_size_of_the_rows_may_be_unknown) {
  Graph *graph = graph_new();
  REQUIRE(graph);
  NodeOutput x = placeholder(graph, "x", "shape { dim { size: -1 } dim { size: 5 } dim { size: 2 } }");
  NodeOutput end =
      unary(graph, "Neg", "end", batch_product(graph, x, constant(graph, "w", kWeights), false, false));
  CHECK(flatten_with(graph, NULL));
  ShapeHandle shape = end.node->inputs[0]->src->output_shapes[0];
  REQUIRE(shape_rank_known(shape) && shape_rank(shape) == 3);
  CHECK(!dim_known(shape->dims[0]));
  CHECK_INT_EQ(dim_value(shape->dims[2]), 4);
  graph_free(graph);
}

TEST(without_memory_a_product_of_a_batch_computes_the_same) {
  Shortage shortage = {.what = "flattening products"};
  do {
    Status status;
    status_init(&status);
    Graph *graph = graph_new();
    REQUIRE(graph);
    NodeOutput x = placeholder(graph, "x", kRows);
    NodeOutput product = batch_product(graph, x, constant(graph, "w", kWeights), false, false);
    NodeOutput end = unary(graph, "Neg", "end", product);
    CHECK_OK(graph_fixup_source_and_sink_edges(graph, NULL, &status), &status);
    bool changed;
    shortage_begin(&shortage);
    bool ok = graph_flatten_products(graph, NULL, &changed, &status);
    shortage_end(&shortage, ok, status.code);
    const Node *read = end.node->inputs[0]->src;
    CHECK(strcmp(read->def->op, "Reshape") == 0 || (!ok && read == product.node));
    graph_free(graph);
  } while (shortage_next(&shortage));
}
