/* Which nodes become a GELU. */
#include "optimizer/find_gelu.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "optimizer/graph_checker.h"
#include "optimizer/optimizer_internal.h"
#include "runtime/graph_fixture.h"
#include "shortage.h"

static const char kVector[] = "shape { dim { size: 3 } }";

static bool find_with(Graph *graph, const NodeSet *keep) {
  Status status;
  status_init(&status);
  bool changed = false;
  CHECK_OK(graph_fixup_source_and_sink_edges(graph, NULL, &status), &status);
  CHECK_OK(graph_find_gelu(graph, keep, &changed, &status), &status);
  CHECK(graph_is_whole(graph));
  return changed;
}

/* Letters for a formula in postfix order: x, operators, curves, and constants. */
static NodeOutput number(Graph *graph, double value) {
  static int count;
  char name[32], text[64];
  snprintf(name, sizeof name, "number%d", count++);
  snprintf(text, sizeof text, "tensor_shape { } float_val: %.9g", value);
  return constant(graph, name, text);
}
static NodeOutput node_of(Graph *graph, char letter, NodeOutput a, NodeOutput b) {
  static int count;
  char name[32];
  snprintf(name, sizeof name, "node%d", count++);
  switch (letter) {
    case 'n': return unary(graph, "Neg", name, a);
    case 'e': return unary(graph, "Erf", name, a);
    case 'E': return unary(graph, "Erfc", name, a);
    case 't': return unary(graph, "Tanh", name, a);
    case '*': return binary(graph, "Mul", name, a, b);
    case '/': return binary(graph, "RealDiv", name, a, b);
    case '+': return binary(graph, "AddV2", name, a, b);
    case '-': return binary(graph, "Sub", name, a, b);
    default: return binary(graph, "Pow", name, a, b);
  }
}
static NodeOutput formula(Graph *graph, NodeOutput x, const char *text) {
  NodeOutput stack[16];
  int depth = 0;
  for (const char *at = text; *at; at++) {
    double value = *at == 'h'                 ? 0.5
                   : *at == 'r'               ? sqrt(0.5)
                   : *at == 'R'               ? sqrt(2)
                   : *at == 'k'               ? sqrt(2 / acos(-1))
                   : *at == 'c'               ? 0.044715
                   : *at == 'w'               ? 1.4
                   : *at >= '1' && *at <= '3' ? *at - '0'
                                              : 0;
    if (*at == 'x' || value > 0) {
      stack[depth++] = *at == 'x' ? x : number(graph, value);
      continue;
    }
    int operands = strchr("neEt", *at) ? 1 : 2;
    depth -= operands;
    stack[depth] = node_of(graph, *at, stack[depth], stack[depth + operands - 1]);
    depth++;
  }
  CHECK_INT_EQ(depth, 1);
  return stack[0];
}

#define CUBE "x3^c*x+"
#define PRODUCT_CUBE "xxx**c*x+"

static const struct {
  const char *text, *op;
} kFormulas[] = {
    {"xh*xnr*E*", "_GeluExact"},
    {"hx*xnR/E*", "_GeluExact"},
    {"hx*xR/e1+*", "_GeluExact"},
    {"x1xr*e+*h*", "_GeluExact"},
    {"x1xR/e+h**", "_GeluExact"},
    {"x2/1xr*e+*", "_GeluExact"},
    {"xxrn*E*2/", "_GeluExact"},
    {"xh*1" CUBE "k*t+*", "_GeluApproximate"},
    {"h1k" PRODUCT_CUBE "*t+*x*", "_GeluApproximate"},
    {"x1" CUBE "k*t+h**", "_GeluApproximate"},
    {"xh*1" CUBE "kn*t-*", "_GeluApproximate"},
    /* with other constants, signs or powers */
    {"xh*xnw/E*", NULL},
    {"xh*xr*E*", NULL},
    {"x1xr*e+*", NULL},
    {"xh*1x2^c*x+k*t+*", NULL},
    {"xh*1xk*t+*", NULL},
    {"xh*xnr*E+", NULL},
};

TEST(formulas_with_the_values_of_a_gelu_become_one_node) {
  for (size_t i = 0; i < sizeof kFormulas / sizeof *kFormulas; i++) {
    Graph *graph = graph_new();
    REQUIRE(graph);
    CHECK_CONTEXT("formula %s", kFormulas[i].text);
    NodeOutput x = placeholder(graph, "x", kVector), y = formula(graph, x, kFormulas[i].text);
    char name[32];
    snprintf(name, sizeof name, "%s", y.node->name);
    NodeOutput end = unary(graph, "Neg", "end", y);
    CHECK(find_with(graph, NULL) == (kFormulas[i].op != NULL));
    const Node *found = end.node->inputs[0]->src;
    CHECK_STR_EQ(found->name, name);
    if (kFormulas[i].op) {
      CHECK_STR_EQ(found->def->op, kFormulas[i].op);
      CHECK(found->inputs[0]->src == x.node);
      CHECK(optimizer_same_shape(found->output_shapes[0], x.node->output_shapes[0]));
    }
    CHECK(!find_with(graph, NULL));
    CHECK_CONTEXT("%s", "");
    graph_free(graph);
  }
}

/* x is the value of a node that could be part of the formula. */
TEST(the_argument_of_a_gelu_may_be_a_sum_or_a_product) {
  static const char *const kArguments[] = {"xx*", "x1+", "xh*", "xt", "xh*xnr*E*"};
  for (size_t i = 0; i < sizeof kArguments / sizeof *kArguments; i++) {
    Graph *graph = graph_new();
    REQUIRE(graph);
    CHECK_CONTEXT("argument %s", kArguments[i]);
    NodeOutput x = placeholder(graph, "x", kVector), u = formula(graph, x, kArguments[i]);
    NodeOutput end = unary(graph, "Neg", "end", formula(graph, u, "xh*xnr*E*"));
    CHECK(find_with(graph, NULL));
    CHECK_STR_EQ(end.node->inputs[0]->src->def->op, "_GeluExact");
    CHECK_CONTEXT("%s", "");
    graph_free(graph);
  }
}

enum Reason { KEPT, CURVE_IS_READ, CURVE_IS_KEPT, TWO_ARGUMENTS, LARGER_RESULT, WAITS, REASONS };

static const char kMatrixOfOne[] = "tensor_shape { dim { size: 1 } dim { size: 1 } } float_val: 0.5";

TEST(other_nodes_stay) {
  for (int reason = 0; reason < REASONS; reason++) {
    Status status;
    status_init(&status);
    Graph *graph = graph_new();
    Arena *arena = arena_new();
    REQUIRE(graph && arena);
    CHECK_CONTEXT("reason %d", reason);
    NodeOutput x = placeholder(graph, "x", kVector), z = placeholder(graph, "z", kVector);
    NodeOutput curve = unary(graph, "Erf", "curve", binary(graph, "Mul", "r", x, number(graph, sqrt(0.5))));
    NodeOutput sum = binary(graph, "AddV2", "sum", curve, number(graph, 1));
    NodeOutput factor = reason == LARGER_RESULT ? constant(graph, "half", kMatrixOfOne) : number(graph, 0.5);
    NodeOutput half = binary(graph, "Mul", "h", reason == TWO_ARGUMENTS ? z : x, factor);
    NodeOutput y = binary(graph, "Mul", "y", half, sum), end = unary(graph, "Neg", "end", y);
    if (reason == CURVE_IS_READ) unary(graph, "Neg", "gradient", curve);
    if (reason == WAITS) {
      Edge *edge;
      CHECK_OK(graph_add_control_edge(graph, z.node, y.node, &edge, &status), &status);
    }
    NodeSet keep;
    CHECK_OK(node_set_new(graph, arena, &keep, &status), &status);
    if (reason == KEPT) keep.member[y.node->id] = 1;
    if (reason == CURVE_IS_KEPT) keep.member[curve.node->id] = 1;
    CHECK(!find_with(graph, &keep));
    CHECK(end.node->inputs[0]->src == y.node);
    CHECK_CONTEXT("%s", "");
    arena_free(arena);
    graph_free(graph);
  }
}

TEST(without_memory_the_nodes_stay_or_are_one) {
  Shortage shortage = {.what = "finding a GELU"};
  do {
    Status status;
    status_init(&status);
    Graph *graph = graph_new();
    REQUIRE(graph);
    NodeOutput x = placeholder(graph, "x", kVector), y = formula(graph, x, "xh*xnr*E*");
    NodeOutput end = unary(graph, "Neg", "end", y);
    CHECK_OK(graph_fixup_source_and_sink_edges(graph, NULL, &status), &status);
    bool changed;
    shortage_begin(&shortage);
    bool ok = graph_find_gelu(graph, NULL, &changed, &status);
    shortage_end(&shortage, ok, status.code);
    const Node *read = end.node->inputs[0]->src;
    CHECK(strcmp(read->def->op, "_GeluExact") == 0 || (!ok && read == y.node));
    graph_free(graph);
  } while (shortage_next(&shortage));
}
