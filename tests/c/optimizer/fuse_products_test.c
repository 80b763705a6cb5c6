/* Which nodes the pass makes part of a product. */
#include "optimizer/fuse_products.h"

#include <string.h>

#include "graph/graph_walk.h"
#include "op/node_def.h"
#include "runtime/graph_fixture.h"
#include "shortage.h"

static const char kImage[] = "shape { dim { size: 1 } dim { size: 4 } dim { size: 4 } dim { size: 2 } }",
                  kFilter[] =
                      "tensor_shape { dim { size: 1 } dim { size: 1 } dim { size: 2 } dim { size: 3 } } "
                      "float_val: [1, 2, 3, 4, 5, 6]",
                  kThree[] = "tensor_shape { dim { size: 3 } } float_val: [2, 4, 8]";

static bool fuse_with(Graph *graph, const NodeSet *keep) {
  Status status;
  status_init(&status);
  bool changed = false;
  CHECK_OK(graph_fixup_source_and_sink_edges(graph, NULL, &status), &status);
  CHECK_OK(graph_fuse_products(graph, keep, &changed, &status), &status);
  return changed;
}

static NodeOutput convolution(Graph *graph, const char *name, NodeOutput x, NodeOutput filter) {
  Attr attrs[] = {{"strides", "list { i: [1, 1, 1, 1] }"}, {"padding", "s: 'VALID'"}};
  return out(add_node(graph, "Conv2D", name, (NodeOutput[]){x, filter}, 2, attrs, 2));
}

static void check_constant(const Node *node, const float *want, int count) {
  const TensorProto *proto;
  Tensor value = {0};
  Status status;
  status_init(&status);
  REQUIRE(node);
  REQUIRE_OK(node_attr_tensor(node->def, "value", &proto, &status), &status);
  REQUIRE_OK(tensor_from_proto(proto, &value, &status), &status);
  CHECK_INT_EQ(tensor_num_elements(&value), count);
  for (int i = 0; i < count && i < tensor_num_elements(&value); i++)
    CHECK_NEAR(tensor_f32(&value)[i], want[i], 1e-6);
  tensor_clear(&value);
}

/* "BiasAdd,Relu6" */
static void check_fused_ops(const Node *node, const char *want) {
  const AttrListValue *ops;
  char text[64] = "";
  Status status;
  status_init(&status);
  REQUIRE_OK(node_attr_list(node->def, "fused_ops", ATTR_STRING, &ops, &status), &status);
  for (size_t i = 0; i < ops->n_s; i++) {
    if (i > 0) strcat(text, ",");
    strncat(text, (const char *)ops->s[i].data, ops->s[i].len);
  }
  CHECK_STR_EQ(text, want);
}

/* (x w) * 2, 4, 8 + 1 = x (w * 2, 4, 8) + 1, and then a Relu6. */
TEST(constants_and_an_activation_become_part_of_a_convolution) {
  Graph *graph = graph_new();
  REQUIRE(graph);
  NodeOutput y =
      convolution(graph, "product", placeholder(graph, "x", kImage), constant(graph, "w", kFilter));
  y = binary(graph, "Mul", "scaled", y, constant(graph, "scale", kThree));
  y = binary(graph, "AddV2", "moved", constant(graph, "one", "tensor_shape { } float_val: 1"), y);
  NodeOutput end = unary(graph, "Tanh", "end", unary(graph, "Relu6", "relu", y));
  CHECK(fuse_with(graph, NULL));
  const Node *fused = end.node->inputs[0]->src;
  CHECK_STR_EQ(fused->def->op, "_FusedConv2D");
  CHECK_STR_EQ(fused->name, "product");
  check_fused_ops(fused, "BiasAdd,Relu6");
  check_constant(fused->inputs[1]->src, (float[]){2, 8, 24, 8, 20, 48}, 6);
  check_constant(fused->inputs[2]->src, (float[]){1, 1, 1}, 3);
  CHECK(shape_fully_defined(fused->output_shapes[0]));
  CHECK(!graph_find_node(graph, "scaled") && !graph_find_node(graph, "relu"));
  CHECK(!fuse_with(graph, NULL));
  graph_free(graph);
}

TEST(a_pad_becomes_explicit_padding) {
  static const char *const kSizes[] = {"0, 0, 1, 2, 3, 4, 0, 0", "0, 0, 1, 2, 3, 4, 0, 1"};
  for (int i = 0; i < 2; i++) {
    Graph *graph = graph_new();
    REQUIRE(graph);
    char value[160];
    snprintf(value, sizeof value,
             "tensor { dtype: DT_INT32 tensor_shape { dim { size: 4 } dim { size: 2 } } int_val: [%s] }",
             kSizes[i]);
    Attr attrs[] = {{"dtype", "type: DT_INT32"}, {"value", value}};
    NodeOutput x =
        placeholder(graph, "x", "shape { dim { size: 1 } dim { size: 4 } dim { size: 4 } dim { size: 1 } }");
    NodeOutput padded =
        binary(graph, "Pad", "pad", x, out(add_node(graph, "Const", "sizes", NULL, 0, attrs, 2)));
    NodeOutput w =
        placeholder(graph, "w",
                    i == 0 ? "shape { dim { size: 1 } dim { size: 1 } dim { size: 1 } dim { size: 3 } }"
                           : "shape { dim { size: 1 } dim { size: 1 } dim { size: 2 } dim { size: 3 } }");
    NodeOutput end = unary(graph, "Tanh", "end", convolution(graph, "product", padded, w));
    CHECK(fuse_with(graph, NULL) == (i == 0));
    const Node *product = end.node->inputs[0]->src;
    CHECK_STR_EQ(product->def->op, "Conv2D");
    CHECK(product->inputs[0]->src == (i == 0 ? x.node : padded.node));
    if (i == 0) {
      const AttrListValue *sizes;
      Status status;
      status_init(&status);
      REQUIRE_OK(node_attr_list(product->def, "explicit_paddings", ATTR_INT, &sizes, &status), &status);
      REQUIRE(sizes->n_i == 8);
      CHECK_INT_EQ(sizes->i[5], 4);
    }
    graph_free(graph);
  }
}

/* A Conv1D of x, whose Pad and bias have a rank less than the convolution. `sizes` are those of the Pad. */
static NodeOutput line_convolution(Graph *graph, const char *sizes) {
  char value[160];
  snprintf(value, sizeof value,
           "tensor { dtype: DT_INT32 tensor_shape { dim { size: 3 } dim { size: 2 } } int_val: [%s] }",
           sizes);
  Attr attrs[] = {{"dtype", "type: DT_INT32"}, {"value", value}},
       axis[] = {{"dtype", "type: DT_INT32"},
                 {"value", "tensor { dtype: DT_INT32 tensor_shape { } int_val: -3 }"}};
  NodeOutput x = placeholder(graph, "x", "shape { dim { size: -1 } dim { size: 7 } dim { size: 2 } }"),
             w = placeholder(graph, "w",
                             "shape { dim { size: 1 } dim { size: 3 } dim { size: -1 } dim { size: 3 } }");
  NodeOutput y = binary(graph, "Pad", "pad", x, out(add_node(graph, "Const", "sizes", NULL, 0, attrs, 2)));
  y = binary(graph, "ExpandDims", "expanded", y, out(add_node(graph, "Const", "axis", NULL, 0, axis, 2)));
  y = convolution(graph, "product", y, w);
  y = out(add_node(graph, "Squeeze", "line", &y, 1, (Attr[]){{"squeeze_dims", "list { i: -3 }"}}, 1));
  y = binary(graph, "BiasAdd", "sum", y, constant(graph, "bias", kThree));
  return unary(graph, "Tanh", "end", unary(graph, "Relu", "relu", y));
}

TEST(a_convolution_of_lines_is_fused_behind_its_reshapes) {
  for (int i = 0; i < 3; i++) {
    Graph *graph = graph_new();
    REQUIRE(graph);
    /* A Pad of channels, and one that another node reads, stay. */
    NodeOutput end = line_convolution(graph, i == 1 ? "0, 0, 2, 1, 0, 1" : "0, 0, 2, 1, 0, 0");
    Node *padded = graph_find_node(graph, "pad");
    if (i == 2) REQUIRE(unary(graph, "Tanh", "reader", out(padded)).node);
    CHECK_CONTEXT("case %d", i);
    CHECK(fuse_with(graph, NULL));
    const Node *line = end.node->inputs[0]->src, *product = line->inputs[0]->src,
               *expanded = product->inputs[0]->src;
    CHECK_STR_EQ(line->def->op, "Squeeze");
    CHECK_STR_EQ(product->def->op, "_FusedConv2D");
    check_fused_ops(product, "BiasAdd,Relu");
    CHECK_STR_EQ(expanded->name, "expanded");
    CHECK_STR_EQ(expanded->inputs[0]->src->name, i == 0 ? "x" : "pad");
    if (i == 0) {
      const AttrListValue *list;
      Status status;
      status_init(&status);
      REQUIRE_OK(node_attr_list(product->def, "explicit_paddings", ATTR_INT, &list, &status), &status);
      REQUIRE(list->n_i == 8);
      for (int k = 0; k < 8; k++) CHECK_INT_EQ(list->i[k], k == 4 ? 2 : k == 5 ? 1 : 0);
      CHECK(!graph_find_node(graph, "pad"));
    }
    CHECK(!fuse_with(graph, NULL));
    graph_free(graph);
  }
  CHECK_CONTEXT("%s", "");
}

/* Values that are fetched, that others read or wait for, factors of a filter that is fed, and a bias of a
 * size that is not known. */
TEST(other_nodes_stay) {
  enum { FETCHED, READ_TWICE, WAITED_FOR, FED_FILTER, UNKNOWN_BIAS, CASES };
  for (int i = 0; i < CASES; i++) {
    Status status;
    status_init(&status);
    Graph *graph = graph_new();
    Arena *arena = arena_new();
    REQUIRE(graph && arena);
    NodeOutput x = placeholder(graph, "x", "shape { dim { size: 5 } dim { size: 2 } }");
    NodeOutput w =
        i == FED_FILTER
            ? placeholder(graph, "w", "shape { dim { size: 2 } dim { size: 3 } }")
            : constant(graph, "w", "tensor_shape { dim { size: 2 } dim { size: 3 } } float_val: 1");
    NodeOutput product = binary(graph, "MatMul", "product", x, w);
    NodeOutput other = i == FED_FILTER     ? constant(graph, "scale", kThree)
                       : i == UNKNOWN_BIAS ? placeholder(graph, "bias", "shape { dim { size: -1 } }")
                                           : placeholder(graph, "bias", "shape { dim { size: 3 } }");
    NodeOutput sum = binary(graph, i == FED_FILTER ? "Mul" : "AddV2", "sum", product, other);
    NodeOutput end = unary(graph, "Tanh", "end", sum);
    NodeSet keep;
    Edge *edge;
    CHECK_OK(node_set_new(graph, arena, &keep, &status), &status);
    if (i == FETCHED) keep.member[product.node->id] = 1;
    if (i == READ_TWICE) REQUIRE(unary(graph, "Tanh", "reader", product).node);
    if (i == WAITED_FOR)
      CHECK_OK(graph_add_control_edge(graph, product.node, end.node, &edge, &status), &status);
    CHECK_CONTEXT("case %d", i);
    CHECK(!fuse_with(graph, &keep));
    CHECK_CONTEXT("%s", "");
    arena_free(arena);
    graph_free(graph);
  }
}

TEST(without_memory_the_graph_computes_the_same) {
  Shortage shortage = {.what = "fusing products"};
  do {
    Status status;
    status_init(&status);
    Graph *graph = graph_new();
    REQUIRE(graph);
    NodeOutput y =
        convolution(graph, "product", placeholder(graph, "x", kImage), constant(graph, "w", kFilter));
    y = binary(graph, "Mul", "scaled", y, constant(graph, "scale", kThree));
    NodeOutput end =
        unary(graph, "Tanh", "end",
              unary(graph, "Relu", "relu", binary(graph, "AddV2", "sum", y, constant(graph, "b", kThree))));
    CHECK_OK(graph_fixup_source_and_sink_edges(graph, NULL, &status), &status);
    bool changed;
    shortage_begin(&shortage);
    bool ok = graph_fuse_products(graph, NULL, &changed, &status);
    shortage_end(&shortage, ok, status.code);
    const Node *before = end.node->inputs[0]->src;
    CHECK_STR_EQ(before->def->op, strcmp(before->name, "relu") == 0 ? "Relu" : "_FusedConv2D");
    if (ok) CHECK_STR_EQ(before->name, "product");
    for (int64_t id = SINK_ID + 1; id < graph_num_node_ids(graph); id++) {
      const Node *node = graph_node(graph, id);
      for (int i = 0; node && i < node->num_inputs; i++) CHECK(node->inputs[i]);
    }
    graph_free(graph);
  } while (shortage_next(&shortage));
}

TEST(without_memory_a_convolution_of_lines_computes_the_same) {
  Shortage shortage = {.what = "fusing a convolution of lines"};
  do {
    Status status;
    status_init(&status);
    Graph *graph = graph_new();
    REQUIRE(graph);
    NodeOutput end = line_convolution(graph, "0, 0, 2, 1, 0, 0");
    CHECK_OK(graph_fixup_source_and_sink_edges(graph, NULL, &status), &status);
    bool changed;
    shortage_begin(&shortage);
    bool ok = graph_fuse_products(graph, NULL, &changed, &status);
    shortage_end(&shortage, ok, status.code);
    const Node *read = end.node->inputs[0]->src;
    bool is_fused = strcmp(read->name, "line") == 0;
    CHECK(is_fused || !ok);
    if (!is_fused) read = read->inputs[0]->src->inputs[0]->src; /* before the Relu and the bias */
    const Node *product = read->inputs[0]->src, *x = product->inputs[0]->src->inputs[0]->src;
    CHECK_STR_EQ(product->def->op, is_fused ? "_FusedConv2D" : "Conv2D");
    CHECK_STR_EQ(x->name, is_fused ? "x" : "pad");
    graph_free(graph);
  } while (shortage_next(&shortage));
}
