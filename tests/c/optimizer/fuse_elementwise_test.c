/* The groups that the pass makes of elementwise nodes. */
#include "optimizer/fuse_elementwise.h"

#include <string.h>

#include "graph/graph_walk.h"
#include "op/fused_op.h"
#include "op/kernel_registry.h"
#include "op/node_def.h"
#include "optimizer/graph_checker.h"
#include "runtime/graph_fixture.h"
#include "runtime/loop_text.h"
#include "shortage.h"

static const char kPair[] = "shape { dim { size: 2 } dim { size: 3 } }";

static bool fuse_with(Graph *graph, const NodeSet *keep, const FuseOptions *options) {
  Status status;
  status_init(&status);
  bool changed = false;
  CHECK_OK(graph_fixup_source_and_sink_edges(graph, NULL, &status), &status);
  CHECK_OK(graph_fuse_elementwise(graph, keep, options, &changed, &status), &status);
  CHECK_OK(graph_fixup_source_and_sink_edges(graph, NULL, &status), &status);
  CHECK(graph_is_whole(graph));
  return changed;
}

static bool fuse(Graph *graph) { return fuse_with(graph, NULL, &(FuseOptions){NULL, NULL}); }

/* "product,sum": the names of the nodes in a fused node; "" where there is none of that name. */
static const char *nodes_of(const Graph *graph, const char *name, char *text, size_t size) {
  const Node *node = graph_find_node(graph, name);
  const AttrListValue *names;
  Status status;
  status_init(&status);
  text[0] = '\0';
  if (!node || strcmp(node->def->op, FUSED_OP) != 0) return text;
  if (!CHECK_OK(node_attr_list(node->def, FUSED_NODES, ATTR_STRING, &names, &status), &status)) return text;
  for (size_t i = 0, at = 0; i < names->n_s && at < size; i++)
    at += (size_t)snprintf(text + at, size - at, "%s%.*s", i ? "," : "", (int)names->s[i].len,
                           (const char *)names->s[i].data);
  return text;
}

static void check_nodes(const Graph *graph, const char *name, const char *want) {
  char text[256];
  CHECK_STR_EQ(nodes_of(graph, name, text, sizeof text), want);
}

TEST(a_tree_becomes_one_node) {
  Graph *graph = graph_new();
  REQUIRE(graph);
  NodeOutput x = placeholder(graph, "x", kPair), y = placeholder(graph, "y", kPair);
  NodeOutput product = binary(graph, "Mul", "product", x, y), exp = unary(graph, "Exp", "exp", x);
  NodeOutput sum = binary(graph, "AddV2", "sum", product, exp);
  NodeOutput end = unary(graph, "Softmax", "end", sum);
  CHECK(fuse(graph));
  check_nodes(graph, "sum", "exp,product,sum");
  const Node *fused = end.node->inputs[0]->src;
  CHECK_STR_EQ(fused->name, "sum");
  CHECK_INT_EQ(fused->num_inputs, 2);
  CHECK_INT_EQ(fused->num_outputs, 1);
  CHECK(shape_fully_defined(fused->output_shapes[0]));
  CHECK(!fuse(graph));
  graph_free(graph);
}

static NodeOutput choose(Graph *graph, const char *op, NodeOutput condition, NodeOutput t, NodeOutput e) {
  NodeOutput inputs[] = {condition, t, e};
  return out(add_node(graph, op, "choice", inputs, 3, NULL, 0));
}

TEST(choices_between_elements_are_fused) {
  static const char *const kOps[] = {"Select", "SelectV2"};
  for (int i = 0; i < 2; i++) {
    Graph *graph = graph_new();
    REQUIRE(graph);
    NodeOutput x = placeholder(graph, "x", kPair), y = placeholder(graph, "y", kPair);
    NodeOutput less = binary(graph, "Less", "less", x, y);
    unary(graph, "Softmax", "end", choose(graph, kOps[i], less, unary(graph, "Square", "square", x), y));
    CHECK_CONTEXT("%s", kOps[i]);
    CHECK(fuse(graph));
    check_nodes(graph, "choice", "square,less,choice");
    graph_free(graph);
  }
  CHECK_CONTEXT("%s", "");
}

/* A scalar condition hands on one of the tensors, without a copy; a vector of a Select chooses rows. */
TEST(choices_between_tensors_stay) {
  static const struct {
    const char *op, *shape;
  } kCases[] = {{"SelectV2", "shape { }"},
                {"SelectV2", "shape { unknown_rank: true }"},
                {"Select", "shape { }"},
                {"Select", "shape { dim { size: 2 } }"},
                {"Select", "shape { dim { size: -1 } dim { size: 3 } }"}};
  for (size_t i = 0; i < sizeof kCases / sizeof *kCases; i++) {
    Graph *graph = graph_new();
    REQUIRE(graph);
    Attr attrs[] = {{"dtype", "type: DT_BOOL"}, {"shape", kCases[i].shape}};
    NodeOutput condition = out(add_node(graph, "Placeholder", "condition", NULL, 0, attrs, 2));
    NodeOutput x = placeholder(graph, "x", kPair), y = placeholder(graph, "y", kPair);
    unary(graph, "Softmax", "end",
          choose(graph, kCases[i].op, condition, unary(graph, "Square", "square", x), y));
    CHECK_CONTEXT("%s of %s", kCases[i].op, kCases[i].shape);
    CHECK(!fuse(graph));
    graph_free(graph);
  }
  CHECK_CONTEXT("%s", "");
}

TEST(a_value_with_other_readers_is_an_output) {
  Graph *graph = graph_new();
  REQUIRE(graph);
  NodeOutput x = placeholder(graph, "x", kPair);
  NodeOutput a = unary(graph, "Exp", "a", x), b = unary(graph, "Neg", "b", a);
  NodeOutput end = unary(graph, "Softmax", "end", b), other = unary(graph, "Softmax", "other", a);
  CHECK(fuse(graph));
  check_nodes(graph, "b", "a,b");
  CHECK(end.node->inputs[0]->src == other.node->inputs[0]->src);
  CHECK(end.node->inputs[0]->src_output != other.node->inputs[0]->src_output);
  CHECK_INT_EQ(end.node->inputs[0]->src->num_outputs, 2);
  graph_free(graph);
}

/* a -> softmax -> c and a -> b -> c: a and c must not be in one group. */
TEST(a_path_through_another_node_separates_groups) {
  Graph *graph = graph_new();
  REQUIRE(graph);
  NodeOutput x = placeholder(graph, "x", kPair);
  NodeOutput a = unary(graph, "Exp", "a", x), b = unary(graph, "Neg", "b", a);
  NodeOutput c = binary(graph, "Mul", "c", b, unary(graph, "Softmax", "s", a));
  REQUIRE(unary(graph, "Softmax", "end", c).node);
  CHECK(fuse(graph)); /* checks that there is no cycle */
  check_nodes(graph, "c", "b,c");
  CHECK_STR_EQ(graph_find_node(graph, "a")->def->op, "Exp");
  graph_free(graph);
}

/* A learning rate that many updates read does not connect them. */
TEST(a_scalar_that_many_read_is_no_part) {
  Graph *graph = graph_new();
  REQUIRE(graph);
  NodeOutput x = placeholder(graph, "x", kPair), y = placeholder(graph, "y", "shape { dim { size: 5 } }"),
             s = placeholder(graph, "s", "shape { }");
  NodeOutput rate = unary(graph, "Sqrt", "rate", unary(graph, "Exp", "e", s));
  REQUIRE(unary(graph, "Softmax", "end", unary(graph, "Neg", "p", binary(graph, "Mul", "o", x, rate))).node);
  REQUIRE(unary(graph, "Softmax", "stop", unary(graph, "Neg", "q", binary(graph, "Mul", "r", y, rate))).node);
  CHECK(fuse(graph));
  check_nodes(graph, "rate", "e,rate");
  check_nodes(graph, "p", "o,p");
  check_nodes(graph, "q", "r,q");
  graph_free(graph);
}

static bool not_b(const void *owner, const Node *x, const Node *y) {
  return strcmp(x->name, owner) != 0 && strcmp(y->name, owner) != 0;
}

TEST(nodes_that_must_stay_are_not_fused) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  Arena *arena = arena_new();
  REQUIRE(graph && arena);
  NodeOutput x = placeholder(graph, "x", kPair);
  NodeOutput a = unary(graph, "Exp", "a", x), b = unary(graph, "Neg", "b", a),
             c = unary(graph, "Tanh", "c", b);
  NodeOutput d = unary(graph, "Square", "d", c), end = unary(graph, "Softmax", "end", d);
  NodeSet keep;
  Edge *edge;
  CHECK_OK(node_set_new(graph, arena, &keep, &status), &status);
  keep.member[c.node->id] = 1;
  const FuseOptions none = {NULL, NULL}, some = {not_b, "b"};
  CHECK(!fuse_with(graph, &keep, &some));
  CHECK_OK(graph_add_control_edge(graph, a.node, end.node, &edge, &status), &status);
  CHECK(!fuse_with(graph, &keep, &none));
  keep.member[c.node->id] = 0;
  CHECK(fuse_with(graph, &keep, &none));
  check_nodes(graph, "d", "b,c,d");
  arena_free(arena);
  graph_free(graph);
}

/* A bias is added to the last dimension, when it is known to fit. */
TEST(a_bias_is_fused_if_it_fits) {
  static const char kOpen[] = "shape { dim { size: -1 } }", kThree[] = "shape { dim { size: 3 } }",
                    kCube[] = "shape { dim { size: 3 } dim { size: 3 } dim { size: 3 } }";
  for (int i = 0; i < 3; i++) {
    Graph *graph = graph_new();
    REQUIRE(graph);
    NodeOutput inputs[] = {placeholder(graph, "x", i == 2 ? kCube : kPair),
                           placeholder(graph, "bias", i == 0 ? kOpen : kThree)};
    Attr first[] = {{"data_format", "s: 'NCHW'"}};
    NodeOutput sum = out(add_node(graph, "BiasAdd", "sum", inputs, 2, first, i == 2));
    REQUIRE(unary(graph, "Softmax", "end", unary(graph, "Relu6", "relu", sum)).node);
    CHECK(fuse(graph) == (i == 1));
    check_nodes(graph, "relu", i == 1 ? "sum,relu" : "");
    graph_free(graph);
  }
}

static NodeOutput mean_of(Graph *graph, const char *name, NodeOutput x, const char *axis, const char *keeps) {
  char value[96];
  snprintf(value, sizeof value, "tensor { dtype: DT_INT32 tensor_shape { dim { size: 1 } } int_val: %s }",
           axis);
  Attr attrs[] = {{"dtype", "type: DT_INT32"}, {"value", value}};
  NodeOutput inputs[] = {x,
                         out(add_node(graph, "Const", graph_unique_name(graph, "axis"), NULL, 0, attrs, 2))};
  return out(add_node(graph, "Mean", name, inputs, 2, (Attr[]){{"keep_dims", keeps}}, 1));
}

TEST(a_layer_norm_becomes_one_node) {
  Graph *graph = graph_new();
  REQUIRE(graph);
  NodeOutput x = placeholder(graph, "x", "shape { dim { size: -1 } dim { size: 100 } }");
  NodeOutput c = binary(graph, "Sub", "c", x, mean_of(graph, "m", x, "-1", "b: true"));
  NodeOutput variance = mean_of(graph, "v", unary(graph, "Square", "s", c), "1", "b: true");
  NodeOutput y = binary(graph, "Mul", "y", c, unary(graph, "Rsqrt", "r", variance));
  REQUIRE(unary(graph, "Softmax", "end", y).node);
  CHECK(fuse(graph));
  check_nodes(graph, "y", "m,c,s,v,r,y");
  graph_free(graph);
}

/* Rows that are short or long, another axis, and a dimension that is dropped. */
TEST(other_reductions_are_not_fused) {
  static const char *const kShapes[] = {"shape { dim { size: 9 } dim { size: 63 } }",
                                        "shape { dim { size: 9 } dim { size: 2049 } }",
                                        "shape { dim { size: 100 } dim { size: 100 } }",
                                        "shape { dim { size: 100 } dim { size: 100 } }",
                                        "shape { dim { size: 100 } dim { size: 100 } }"};
  for (int i = 0; i < 5; i++) {
    Graph *graph = graph_new();
    REQUIRE(graph);
    NodeOutput square = unary(graph, "Square", "s", placeholder(graph, "x", kShapes[i]));
    NodeOutput mean = mean_of(graph, "m", square, i == 2 ? "0" : "1", i == 3 ? "b: false" : "b: true");
    REQUIRE(unary(graph, "Asinh", "end", mean).node);
    CHECK_CONTEXT("%d", i);
    CHECK(fuse(graph) == (i == 4));
    CHECK_CONTEXT("%s", "");
    graph_free(graph);
  }
}

/* Integers, ops with other kernels, and values of references. */
TEST(only_floats_with_their_own_kernels_are_fused) {
  Graph *graph = graph_new();
  REQUIRE(graph);
  Attr attrs[] = {{"dtype", "type: DT_INT32"}, {"shape", kPair}};
  NodeOutput i = out(add_node(graph, "Placeholder", "i", NULL, 0, attrs, 2));
  REQUIRE(unary(graph, "Neg", "n", unary(graph, "Square", "s", i)).node);
  NodeOutput x = placeholder(graph, "x", kPair);
  REQUIRE(unary(graph, "Asinh", "t", unary(graph, "Neg", "m", x)).node);
  CHECK(!fuse(graph));
  graph_free(graph);
}

static bool other_kernel(KernelContext *context, Status *status) {
  return kernel_set_output(context, 0, context->inputs[0], NULL, status);
}

TEST(a_kernel_of_the_program_is_not_fused) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  Arena *arena = arena_new();
  void *def;
  REQUIRE(graph && arena);
  REQUIRE_OK(proto_parse_text(kKernelDef, str_of("op: 'Neg' device_type: 'CPU' priority: 1"), arena, &def,
                              &status),
             &status);
  REQUIRE_OK(kernel_registry_add(def, &(KernelFunctions){.compute = other_kernel}, NULL, &status), &status);
  NodeOutput x = placeholder(graph, "x", kPair);
  NodeOutput n = unary(graph, "Neg", "n", unary(graph, "Exp", "e", x));
  REQUIRE(unary(graph, "Softmax", "end", unary(graph, "Sqrt", "r", unary(graph, "Square", "s", n))).node);
  CHECK(fuse(graph));
  check_nodes(graph, "r", "s,r");
  kernel_registry_clear();
  arena_free(arena);
  graph_free(graph);
}

TEST(long_chains_are_cut) {
  Graph *graph = graph_new();
  REQUIRE(graph);
  NodeOutput x = placeholder(graph, "x", kPair), y = x;
  for (int i = 0; i < 2 * FUSED_MOST_NODES + 1; i++) {
    char name[16];
    snprintf(name, sizeof name, "n%d", i);
    y = unary(graph, "Neg", name, y);
  }
  NodeOutput end = unary(graph, "Softmax", "end", y);
  CHECK(fuse(graph));
  int count = 0;
  for (const Node *node = end.node; node != x.node; node = node->inputs[0]->src) count++;
  CHECK_INT_EQ(count, 4); /* softmax, the last Neg alone, two groups */
  graph_free(graph);
}

/* In a graph with branches, a value that others read moves only to one that is dead with nothing else: "b" is
 * dead with "limit", too, "e" is not. */
TEST(a_branch_keeps_what_others_read) {
  Graph *graph = graph_new();
  REQUIRE(graph);
  Attr attrs[] = {{"dtype", "type: DT_BOOL"}};
  NodeOutput taken = out(add_node(graph, "Placeholder", "taken", NULL, 0, attrs, 1));
  Node *branch = add_node(graph, "Switch", "branch",
                          (NodeOutput[]){placeholder(graph, "most", "shape { }"), taken}, 2, NULL, 0);
  REQUIRE(branch);
  NodeOutput x = placeholder(graph, "x", "shape { }"), limit = {branch, 1};
  NodeOutput a = unary(graph, "Tan", "a", x),
             b = binary(graph, "Sub", "b", unary(graph, "Exp", "e", a), limit);
  a = unary(graph, "Neg", "n", a);
  b = binary(graph, "Mul", "m", a, b);
  NodeOutput less = binary(graph, "Less", "less", unary(graph, "Sqrt", "r", limit), limit);
  NodeOutput sides[] = {a, less};
  Node *choice = add_node(graph, "Switch", "choice", sides, 2, NULL, 0);
  REQUIRE(choice);
  NodeOutput c = unary(graph, "Neg", "c", (NodeOutput){choice, 0});
  REQUIRE(unary(graph, "Tan", "end", unary(graph, "Square", "d", c)).node);
  REQUIRE(unary(graph, "Tan", "other", b).node);
  CHECK(fuse(graph));
  check_nodes(graph, "d", "c,d");
  check_nodes(graph, "less", "r,less");
  check_nodes(graph, "m", "e,b,m");
  CHECK_STR_EQ(graph_find_node(graph, "n")->def->op, "Neg");
  graph_free(graph);
}

/* The same graph with two values that are always alive. */
TEST(what_is_always_alive_may_be_waited_for) {
  Graph *graph = graph_new();
  REQUIRE(graph);
  NodeOutput x = placeholder(graph, "x", "shape { }"), limit = placeholder(graph, "limit", "shape { }");
  NodeOutput a = unary(graph, "Tan", "a", x), n = unary(graph, "Neg", "n", a),
             m = binary(graph, "Mul", "m", n, binary(graph, "Sub", "b", unary(graph, "Exp", "e", a), limit));
  NodeOutput sides[] = {n, binary(graph, "Less", "less", unary(graph, "Tan", "t", limit), limit)};
  REQUIRE(add_node(graph, "Switch", "choice", sides, 2, NULL, 0));
  REQUIRE(unary(graph, "Tan", "end", m).node);
  CHECK(fuse(graph));
  check_nodes(graph, "m", "n,e,b,m");
  graph_free(graph);
}

/* Variables of a loop, what is computed from them, and what is the same in all rounds are alive together; a
 * value of a branch in the loop is not. */
TEST(values_of_a_round_become_one_node) {
  static const char kLoop[] =
      "zero Const ; int=0\nlimit Const ; int=3\nw Placeholder ; dtype=DT_FLOAT shape=[3]\n" VARIABLE(
          "i", "DT_INT32", "zero", "inc") VARIABLE("h", "DT_FLOAT", "w", "h2")
          VARIABLE("k", "DT_FLOAT", "w", "k2") CONSTANT("w", "DT_FLOAT", "w")
              CONSTANT("limit", "DT_INT32", "limit") "less Less im limite ; T=DT_INT32\nc LoopCond less\n"
                                                     "round Identity is:1 ; T=DT_INT32\n"
                                                     "step Const ^round ; int=1\n"
                                                     "inc AddV2 is:1 step ; T=DT_INT32\n"
                                                     "half Const ^round ; float=0.5\n"
                                                     "a Mul hs:1 half ; T=DT_FLOAT\n"
                                                     "h2 AddV2 a we ; T=DT_FLOAT\n";
  static const char *const kRest[] = {
      "b Neg ks:1 ; T=DT_FLOAT\nk2 Sub b a ; T=DT_FLOAT\n",
      "never Const ^round ; bool=false\nside Switch ks:1 never ; T=DT_FLOAT\n"
      "b Neg side ; T=DT_FLOAT\nk2 Sub b a ; T=DT_FLOAT\n",
  };
  static const char *const kNodes[] = {"a,b,k2,h2", "a,h2"};
  for (int i = 0; i < 2; i++) {
    Status status;
    status_init(&status);
    StrBuf text = {0};
    Graph *graph = graph_new();
    REQUIRE(graph);
    strbuf_append(&text, kLoop);
    strbuf_append(&text, kRest[i]);
    strbuf_append(&text, "hout Exit hs ; T=DT_FLOAT\nkout Exit ks ; T=DT_FLOAT\n");
    CHECK_CONTEXT("loop %d", i);
    REQUIRE_OK(import_lines(graph, strbuf_text(&text), &status), &status);
    REQUIRE_OK(graph_infer_loops(graph, &status), &status);
    CHECK(fuse(graph));
    check_nodes(graph, "h2", kNodes[i]);
    graph_free(graph);
    strbuf_free(&text);
  }
  CHECK_CONTEXT("%s", "");
}

TEST(values_of_a_branch_that_wait_for_the_same_become_one_node) {
  Graph *graph = graph_new();
  REQUIRE(graph);
  NodeOutput x = placeholder(graph, "x", "shape { }"), y = placeholder(graph, "y", "shape { }");
  NodeOutput a = binary(graph, "Mul", "a", x, y), b = unary(graph, "Exp", "b", a);
  NodeOutput sides[] = {a, binary(graph, "Less", "less", unary(graph, "Tan", "t", y), y)};
  REQUIRE(add_node(graph, "Switch", "choice", sides, 2, NULL, 0));
  NodeOutput c = binary(graph, "Add", "c", b, y);
  REQUIRE(unary(graph, "Tan", "end", c).node);
  CHECK(fuse(graph));
  check_nodes(graph, "c", "a,b,c");
  CHECK(graph_find_node(graph, "choice")->inputs[0]->src == graph_find_node(graph, "c"));
  graph_free(graph);
}

/* Every op of the list. */
TEST(ops_with_loops_are_fused) {
  static const char *const kUnary[] = {"Abs",      "Ceil",       "Cos",     "Elu",  "Erf",   "Erfc",
                                       "Exp",      "Expm1",      "Floor",   "Inv",  "Log",   "Log1p",
                                       "Neg",      "Relu",       "Relu6",   "Rint", "Round", "Rsqrt",
                                       "Selu",     "Reciprocal", "Sigmoid", "Sign", "Sin",   "Softplus",
                                       "Softsign", "Sqrt",       "Square",  "Tanh"};
  static const char *const kBinary[] =
      {"Add",       "AddV2",    "DivNoNan",  "Greater",  "GreaterEqual", "Less",         "LessEqual",
       "Maximum",   "Minimum",  "Mul",       "MulNoNan", "Pow",          "RealDiv",      "SquaredDifference",
       "Sub",       "Xdivy",    "Xlog1py",   "Xlogy",    "EluGrad",      "InvGrad",      "ReciprocalGrad",
       "Relu6Grad", "ReluGrad", "RsqrtGrad", "SeluGrad", "SigmoidGrad",  "SoftplusGrad", "SoftsignGrad",
       "SqrtGrad",  "TanhGrad"};
  Graph *graph = graph_new();
  REQUIRE(graph);
  NodeOutput x = placeholder(graph, "x", kPair);
  enum { UNARY = sizeof kUnary / sizeof *kUnary, BINARY = sizeof kBinary / sizeof *kBinary };
  char name[32], end[32];
  for (int i = 0; i < UNARY + BINARY; i++) {
    snprintf(name, sizeof name, "n%d", i);
    snprintf(end, sizeof end, "end%d", i);
    NodeOutput before = unary(graph, "Neg", graph_unique_name(graph, "neg"), x);
    NodeOutput y = i < UNARY ? unary(graph, kUnary[i], name, before)
                             : binary(graph, kBinary[i - UNARY], name, before, before);
    REQUIRE(unary(graph, "Identity", end, y).node);
  }
  CHECK(fuse(graph));
  for (int i = 0; i < UNARY + BINARY; i++) {
    snprintf(end, sizeof end, "end%d", i);
    CHECK_CONTEXT("%s", i < UNARY ? kUnary[i] : kBinary[i - UNARY]);
    CHECK_STR_EQ(graph_find_node(graph, end)->inputs[0]->src->def->op, FUSED_OP);
  }
  CHECK_CONTEXT("%s", "");
  graph_free(graph);
}

TEST(without_memory_the_graph_stays_whole) {
  Shortage shortage = {.what = "fusing"};
  do {
    Status status;
    status_init(&status);
    Graph *graph = graph_new();
    REQUIRE(graph);
    NodeOutput x = placeholder(graph, "x", kPair);
    NodeOutput a = unary(graph, "Exp", "a", x), b = unary(graph, "Neg", "b", a);
    NodeOutput end = unary(graph, "Softmax", "end", b), other = unary(graph, "Softmax", "other", a);
    CHECK_OK(graph_fixup_source_and_sink_edges(graph, NULL, &status), &status);
    bool changed;
    shortage_begin(&shortage);
    bool ok = graph_fuse_elementwise(graph, NULL, &(FuseOptions){NULL, NULL}, &changed, &status);
    shortage_end(&shortage, ok, status.code);
    CHECK(end.node->inputs[0] && other.node->inputs[0]);
    for (int64_t id = SINK_ID + 1; id < graph_num_node_ids(graph); id++) {
      const Node *node = graph_node(graph, id);
      for (int i = 0; node && i < node->num_inputs; i++) CHECK(node->inputs[i]);
    }
    if (ok) CHECK_INT_EQ(graph_num_nodes(graph), 6);
    graph_free(graph);
  } while (shortage_next(&shortage));
}
