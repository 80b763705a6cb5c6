/* Which elementwise nodes the pass makes part of a product. */
#include "optimizer/fuse_epilogues.h"

#include <string.h>

#include "graph/graph_walk.h"
#include "graph/node_builder.h"
#include "op/fused_op.h"
#include "op/node_def.h"
#include "optimizer/fuse_elementwise.h"
#include "optimizer/fuse_products.h"
#include "optimizer/graph_checker.h"
#include "runtime/graph_fixture.h"
#include "shortage.h"

#define SIZES(a, b, c, d) \
  "shape { dim { size: " #a " } dim { size: " #b " } dim { size: " #c " } dim { size: " #d " } }"

static const char kMatrix[] = "shape { dim { size: 5 } dim { size: 2 } }",
                  kWeights[] = "tensor_shape { dim { size: 2 } dim { size: 3 } } float_val: 1",
                  kResult[] = "shape { dim { size: 5 } dim { size: 3 } }",
                  kThree[] = "tensor_shape { dim { size: 3 } } float_val: [2, 4, 8]";

/* As graph_optimize does it. */
static bool fuse_with(Graph *graph, const NodeSet *keep) {
  Status status;
  status_init(&status);
  bool changed = false;
  const FuseOptions options = {NULL, NULL};
  CHECK_OK(graph_fixup_source_and_sink_edges(graph, NULL, &status), &status);
  CHECK_OK(graph_fuse_products(graph, keep, &changed, &status), &status);
  CHECK_OK(graph_fuse_elementwise(graph, keep, &options, &changed, &status), &status);
  CHECK_OK(graph_fuse_epilogues(graph, keep, &changed, &status), &status);
  CHECK(graph_is_whole(graph));
  return changed;
}

static NodeOutput window_product(Graph *graph, const char *op, NodeOutput x, const char *filter,
                                 const char *format) {
  Attr attrs[] = {{"strides", "list { i: [1, 1, 1, 1] }"},
                  {"padding", "s: 'VALID'"},
                  {"data_format", format}};
  return out(add_node(graph, op, "product", (NodeOutput[]){x, placeholder(graph, "w", filter)}, 2, attrs, 3));
}

static NodeOutput matrix_product(Graph *graph) {
  return binary(graph, "MatMul", "product", placeholder(graph, "x", kMatrix), constant(graph, "w", kWeights));
}

static NodeOutput biased(Graph *graph, NodeOutput x) {
  return binary(graph, "AddV2", "biased", x, constant(graph, "bias", kThree));
}

static NodeOutput number(Graph *graph, const char *name, const char *value) {
  char text[64];
  snprintf(text, sizeof text, "tensor_shape { } float_val: %s", value);
  return constant(graph, name, text);
}

/* "_FusedMatMul BiasAdd,Neg 0,1" */
static const char *text_of(const Node *node) {
  static char text[256];
  const AttrListValue *ops, *operands;
  Status status;
  status_init(&status);
  snprintf(text, sizeof text, "%s", node->def->op);
  if (!node_def_attr(node->def, FUSED_OPERANDS)) return text;
  if (!CHECK_OK(node_attr_list(node->def, "fused_ops", ATTR_STRING, &ops, &status), &status) ||
      !CHECK_OK(node_attr_list(node->def, FUSED_OPERANDS, ATTR_INT, &operands, &status), &status))
    return text;
  for (size_t i = 0; i < ops->n_s; i++) {
    strcat(text, i == 0 ? " " : ",");
    strncat(text, (const char *)ops->s[i].data, ops->s[i].len);
  }
  for (size_t i = 0; i < operands->n_i; i++) {
    size_t at = strlen(text);
    snprintf(text + at, sizeof text - at, "%s%d", i == 0 ? " " : ",", (int)operands->i[i]);
  }
  return text;
}

/* What computes the value that node "end" reads. */
static void check_fused(Graph *graph, NodeOutput y, const char *want) {
  NodeOutput end = unary(graph, "Softmax", "end", y);
  REQUIRE(end.node);
  CHECK(fuse_with(graph, NULL));
  const Node *fused = end.node->inputs[0]->src;
  CHECK_STR_EQ(text_of(fused), want);
  CHECK_STR_EQ(fused->name, "product");
  CHECK(shape_fully_defined(fused->output_shapes[0]));
  graph_free(graph);
}

TEST(activations_of_several_nodes_become_part_of_a_product) {
  Graph *graph = graph_new();
  REQUIRE(graph);
  NodeOutput x = biased(graph, matrix_product(graph));
  check_fused(graph, binary(graph, "Mul", "swish", unary(graph, "Sigmoid", "sigmoid", x), x),
              "_FusedMatMul BiasAdd,Sigmoid,Mul 0,1,0");

  graph = graph_new();
  REQUIRE(graph);
  x = biased(graph, matrix_product(graph));
  NodeOutput moved = binary(graph, "AddV2", "moved", x, number(graph, "three", "3"));
  NodeOutput part =
      binary(graph, "RealDiv", "part", unary(graph, "Relu6", "relu", moved), number(graph, "six", "6"));
  check_fused(graph, binary(graph, "Mul", "hard_swish", x, part),
              "_FusedMatMul BiasAdd,AddV2,Relu6,RealDiv,Mul 0,1,3,4,2,0,5");

  graph = graph_new();
  REQUIRE(graph);
  x = biased(graph, matrix_product(graph));
  NodeOutput scaled =
      binary(graph, "Mul", "scaled", unary(graph, "Neg", "neg", x), number(graph, "r", "0.7"));
  NodeOutput half = binary(graph, "Mul", "half", x, number(graph, "h", "0.5"));
  NodeOutput gelu = binary(graph, "Mul", "gelu", half, unary(graph, "Erfc", "erfc", scaled));
  NodeOutput end = unary(graph, "Softmax", "end", gelu);
  CHECK(fuse_with(graph, NULL));
  CHECK_INT_EQ(end.node->inputs[0]->src->num_inputs, 5); /* x, w, bias and two numbers */
  CHECK(strstr(text_of(end.node->inputs[0]->src), "Erfc"));
  graph_free(graph);
}

TEST(a_residual_becomes_an_input_of_a_convolution) {
  Graph *graph = graph_new();
  REQUIRE(graph);
  NodeOutput y = window_product(graph, "Conv2D", placeholder(graph, "x", SIZES(1, 4, 4, 2)),
                                SIZES(1, 1, 2, 3), "s: 'NHWC'");
  y = binary(graph, "AddV2", "sum", placeholder(graph, "z", SIZES(1, 4, 4, 3)), biased(graph, y));
  check_fused(graph, unary(graph, "Relu", "relu", y), "_FusedConv2D BiasAdd,AddV2,Relu 1,0,2");

  graph = graph_new();
  REQUIRE(graph);
  y = window_product(graph, "Conv2D", placeholder(graph, "x", SIZES(1, 4, 4, 2)), SIZES(1, 1, 2, 3),
                     "s: 'NHWC'");
  check_fused(graph, binary(graph, "AddV2", "sum", y, placeholder(graph, "z", SIZES(1, 4, 4, 3))),
              "_FusedConv2D AddV2 0,1");

  graph = graph_new();
  REQUIRE(graph);
  y = window_product(graph, "DepthwiseConv2dNative", placeholder(graph, "x", SIZES(2, 4, 4, 3)),
                     SIZES(2, 2, 3, 1), "s: 'NHWC'");
  y = unary(graph, "Elu", "elu", unary(graph, "Relu6", "relu", biased(graph, y)));
  check_fused(graph, y, "FusedDepthwiseConv2dNative BiasAdd,Relu6,Elu 0");
}

/* Dense layers of tensors of rank 3 reshape them. */
TEST(what_follows_a_reshaped_matrix_becomes_part_of_the_product) {
  Graph *graph = graph_new();
  REQUIRE(graph);
  Attr attrs[] = {{"dtype", "type: DT_INT32"},
                  {"value",
                   "tensor { dtype: DT_INT32 tensor_shape { dim { size: 3 } } int_val: [1, 5, 3] }"}};
  NodeOutput sizes = out(add_node(graph, "Const", "sizes", NULL, 0, attrs, 2));
  NodeOutput y = biased(graph, binary(graph, "Reshape", "rows", matrix_product(graph), sizes));
  NodeOutput z = placeholder(graph, "z", "shape { dim { size: 1 } dim { size: 5 } dim { size: 3 } }");
  NodeOutput sum = binary(graph, "AddV2", "sum", y, z), end = unary(graph, "Softmax", "end", sum);
  CHECK(fuse_with(graph, NULL));
  const Node *rows = end.node->inputs[0]->src, *fused = rows->inputs[0]->src;
  CHECK_STR_EQ(rows->def->op, "Reshape");
  CHECK_STR_EQ(rows->name, "rows");
  CHECK_INT_EQ(shape_rank(rows->output_shapes[0]), 3);
  CHECK_STR_EQ(text_of(fused), "_FusedMatMul BiasAdd,AddV2 0,1");
  CHECK(fused->inputs[3]->src == z.node);
  CHECK(!graph_find_node(graph, "biased") && !graph_find_node(graph, "sum"));
  graph_free(graph);
}

/* A vector has an element for each channel, a column has not. */
TEST(inputs_have_one_element_or_one_for_each_channel_or_the_same_shape) {
  static const struct {
    const char *shape;
    bool fits;
  } kShapes[] = {{"shape { dim { size: 5 } dim { size: 3 } }", true},
                 {"shape { dim { size: 3 } }", true},
                 {"shape { dim { size: 1 } dim { size: 3 } }", true},
                 {"shape { }", true},
                 {"shape { dim { size: 1 } dim { size: 1 } }", true},
                 {"shape { dim { size: 5 } dim { size: 1 } }", false},
                 {"shape { dim { size: -1 } dim { size: 3 } }", false},
                 {"shape { dim { size: 2 } dim { size: 5 } dim { size: 3 } }", false},
                 {"shape { unknown_rank: true }", false}};
  for (size_t i = 0; i < sizeof kShapes / sizeof *kShapes; i++) {
    Graph *graph = graph_new();
    REQUIRE(graph);
    CHECK_CONTEXT("shape %d", (int)i);
    NodeOutput y =
        binary(graph, "Mul", "scaled", matrix_product(graph), placeholder(graph, "z", kShapes[i].shape));
    NodeOutput end = unary(graph, "Tanh", "tanh", y);
    NodeOutput reader = unary(graph, "Softmax", "end", end);
    fuse_with(graph, NULL);
    bool fused = strcmp(reader.node->inputs[0]->src->def->op, "_FusedMatMul") == 0;
    CHECK(fused == kShapes[i].fits);
    CHECK_CONTEXT("%s", "");
    graph_free(graph);
  }
}

/* A Conv1D, whose residual has a rank less than the convolution. */
TEST(a_convolution_of_lines_adds_a_residual) {
  for (int i = 0; i < 2; i++) {
    Graph *graph = graph_new();
    REQUIRE(graph);
    const char *axes = i == 0 ? "list { i: 1 }" : "list { i: [1, 2] }"; /* the second is of steps */
    NodeOutput x = placeholder(graph, "x", i == 0 ? SIZES(2, 1, 5, 4) : SIZES(2, 1, 1, 4));
    NodeOutput y = window_product(graph, "Conv2D", x, SIZES(1, 1, 4, 3), "s: 'NHWC'");
    y = out(add_node(graph, "Squeeze", "line", &y, 1, (Attr[]){{"squeeze_dims", axes}}, 1));
    NodeOutput z = placeholder(graph, "z",
                               i == 0 ? "shape { dim { size: 2 } dim { size: 5 } dim { size: 3 } }"
                                      : "shape { dim { size: 2 } dim { size: 3 } }");
    NodeOutput end = unary(graph, "Softmax", "end", binary(graph, "AddV2", "sum", z, y));
    CHECK_CONTEXT("case %d", i);
    CHECK(fuse_with(graph, NULL));
    const Node *line = end.node->inputs[0]->src;
    CHECK_STR_EQ(line->name, "line");
    CHECK_STR_EQ(line->def->op, "Squeeze");
    CHECK_STR_EQ(text_of(line->inputs[0]->src), "_FusedConv2D AddV2 1,0");
    CHECK_STR_EQ(line->inputs[0]->src->inputs[2]->src->name, "z");
    graph_free(graph);
  }
  CHECK_CONTEXT("%s", "");
}

/* Values that are fetched, that others read or wait for; other devices; two outputs; the rows of a result
 * that are reduced; channels that are not last; a convolution without further inputs. */
TEST(other_nodes_stay) {
  enum { FETCHED, READ_TWICE, WAITED_FOR, DEVICE, TWO_OUTPUTS, FIRST, NO_INPUT, CASES };
  for (int i = 0; i < CASES; i++) {
    Status status;
    status_init(&status);
    Graph *graph = graph_new();
    Arena *arena = arena_new();
    REQUIRE(graph && arena);
    NodeOutput x = placeholder(graph, "x", SIZES(1, 4, 4, 4));
    NodeOutput product =
        window_product(graph, "Conv2D", x, SIZES(1, 1, 4, 4), i == FIRST ? "s: 'NCHW'" : "s: 'NHWC'");
    NodeOutput z = placeholder(graph, "z", SIZES(1, 4, 4, 4));
    NodeOutput sum =
        i == NO_INPUT ? unary(graph, "Sigmoid", "sum", product) : binary(graph, "AddV2", "sum", product, z);
    NodeOutput relu = unary(graph, "Relu", "relu", sum), end = unary(graph, "Softmax", "end", relu);
    NodeSet keep;
    Edge *edge;
    CHECK_OK(node_set_new(graph, arena, &keep, &status), &status);
    if (i == FETCHED) keep.member[product.node->id] = 1;
    if (i == READ_TWICE) REQUIRE(unary(graph, "Softmax", "reader", product).node);
    if (i == WAITED_FOR)
      CHECK_OK(graph_add_control_edge(graph, product.node, end.node, &edge, &status), &status);
    if (i == DEVICE) product.node->assigned_device = 1;
    if (i == TWO_OUTPUTS) REQUIRE(unary(graph, "Softmax", "reader", sum).node);
    CHECK_CONTEXT("case %d", i);
    fuse_with(graph, &keep);
    CHECK(graph_find_node(graph, "product") == product.node);
    CHECK_STR_EQ(end.node->inputs[0]->src->def->op, FUSED_OP);
    CHECK_CONTEXT("%s", "");
    arena_free(arena);
    graph_free(graph);
  }
}

/* A layer norm that begins with a product. */
TEST(reductions_of_rows_stay) {
  Graph *graph = graph_new();
  REQUIRE(graph);
  NodeOutput x = placeholder(graph, "x", kMatrix),
             w = placeholder(graph, "w", "shape { dim { size: 2 } dim { size: 100 } }");
  NodeOutput product = binary(graph, "MatMul", "product", x, w);
  Attr attrs[] = {{"dtype", "type: DT_INT32"},
                  {"value", "tensor { dtype: DT_INT32 tensor_shape { } int_val: -1 }"}},
       keeps[] = {{"keep_dims", "b: true"}};
  NodeOutput axis = out(add_node(graph, "Const", "axis", NULL, 0, attrs, 2));
  NodeOutput mean = out(add_node(graph, "Mean", "mean",
                                 (NodeOutput[]){unary(graph, "Neg", "neg", product), axis}, 2, keeps, 1));
  NodeOutput end = unary(graph, "Softmax", "end", binary(graph, "Sub", "sub", product, mean));
  fuse_with(graph, NULL);
  CHECK(graph_find_node(graph, "product") == product.node);
  CHECK_STR_EQ(end.node->inputs[0]->src->def->op, FUSED_OP);
  graph_free(graph);
}

/* Behind a product, with a shape that the graph states. */
TEST(a_given_program_that_makes_no_sense_stays) {
  static const int64_t kOperands[][3] = {{0, 1, -2}, {0, 1, 4}, {0, 1, 2}}, kResults[] = {1, 1, 0};
  static const DataType kTypes[] = {DT_FLOAT, DT_FLOAT};
  for (int i = 0; i < 3; i++) {
    CHECK_CONTEXT("case %d", i);
    Graph *graph = graph_new();
    REQUIRE(graph);
    Status status;
    status_init(&status);
    Node *fused;
    NodeBuilder b;
    const NodeOutput inputs[] = {matrix_product(graph), placeholder(graph, "z", kResult)};
    node_builder(&b, graph, FUSED_OP, "given");
    Arena *arena = node_builder_arena(&b);
    node_builder_types(&b, "Tin", kTypes, 2);
    node_builder_types(&b, "Tout", kTypes, 1);
    node_builder_types(&b, "types", kTypes, 2);
    const Str ops[] = {str_of("Mul"), str_of("Tanh")};
    node_builder_attr(&b, "ops", attr_value_string_list(arena, ops, 2));
    node_builder_attr(&b, "nodes", attr_value_string_list(arena, ops, 2));
    node_builder_attr(&b, "operands", attr_value_int_list(arena, kOperands[i], 3));
    node_builder_attr(&b, "results", attr_value_int_list(arena, &kResults[i], 1));
    node_builder_inputs(&b, inputs, 2);
    REQUIRE_OK(node_builder_finish_bare(&b, &fused, &status), &status);
    fused->output_shapes[0] = inputs[1].node->output_shapes[0];
    NodeOutput end = unary(graph, "Softmax", "end", out(fused));
    fuse_with(graph, NULL);
    CHECK(end.node->inputs[0]->src == fused && fused->inputs[0]->src == inputs[0].node);
    graph_free(graph);
  }
  CHECK_CONTEXT("%s", "");
}

TEST(a_product_has_few_inputs) {
  for (int count = FUSED_MOST_ARGS - 1; count <= FUSED_MOST_ARGS + 1; count++) {
    Graph *graph = graph_new();
    REQUIRE(graph);
    NodeOutput y = matrix_product(graph);
    for (int i = 0; i < count; i++) {
      char sum[16], z[16];
      snprintf(sum, sizeof sum, "sum%d", i), snprintf(z, sizeof z, "z%d", i);
      y = binary(graph, "AddV2", sum, y, placeholder(graph, z, kResult));
    }
    NodeOutput end = unary(graph, "Softmax", "end", y);
    fuse_with(graph, NULL);
    CHECK_STR_EQ(end.node->inputs[0]->src->def->op, count <= FUSED_MOST_ARGS ? "_FusedMatMul" : FUSED_OP);
    graph_free(graph);
  }
}

TEST(without_memory_the_graph_stays_whole) {
  Shortage shortage = {.what = "fusing products with what follows"};
  do {
    Status status;
    status_init(&status);
    Graph *graph = graph_new();
    REQUIRE(graph);
    Attr attrs[] = {{"dtype", "type: DT_INT32"},
                    {"value",
                     "tensor { dtype: DT_INT32 tensor_shape { dim { size: 3 } } int_val: [1, 5, 3] }"}};
    NodeOutput sizes = out(add_node(graph, "Const", "sizes", NULL, 0, attrs, 2));
    NodeOutput rows = binary(graph, "Reshape", "rows", matrix_product(graph), sizes);
    NodeOutput end = unary(graph, "Softmax", "end", unary(graph, "Tanh", "tanh", rows));
    CHECK_OK(graph_fixup_source_and_sink_edges(graph, NULL, &status), &status);
    bool changed;
    shortage_begin(&shortage);
    bool ok = graph_fuse_epilogues(graph, NULL, &changed, &status);
    shortage_end(&shortage, ok, status.code);
    const Node *before = end.node->inputs[0]->src, *product = before->inputs[0]->src;
    bool fused = strcmp(before->name, "rows") == 0;
    CHECK(fused || !ok);
    CHECK_STR_EQ(fused ? product->def->op : before->def->op, fused ? "_FusedMatMul" : "Tanh");
    for (int64_t id = SINK_ID + 1; id < graph_num_node_ids(graph); id++) {
      const Node *node = graph_node(graph, id);
      for (int i = 0; node && i < node->num_inputs; i++) CHECK(node->inputs[i]);
    }
    graph_free(graph);
  } while (shortage_next(&shortage));
}
