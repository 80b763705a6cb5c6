/* Which nodes the pass removes because they change nothing. */
#include "optimizer/neutral_operands.h"

#include <string.h>

#include "graph/graph_walk.h"
#include "graph/node_builder.h"
#include "optimizer/graph_checker.h"
#include "runtime/graph_fixture.h"
#include "shortage.h"

static const char kVector[] = "shape { dim { size: 3 } }",
                  kOnes[] = "tensor_shape { dim { size: 3 } } float_val: 1",
                  kRow[] = "tensor_shape { dim { size: 1 } dim { size: 3 } } float_val: 1",
                  kOne[] = "tensor_shape { } float_val: 1", kZero[] = "tensor_shape { } float_val: 0",
                  kSome[] = "tensor_shape { dim { size: 3 } } float_val: [1, 1, 2]";

static bool remove_with(Graph *graph, const NodeSet *keep) {
  Status status;
  status_init(&status);
  bool changed = false;
  CHECK_OK(graph_fixup_source_and_sink_edges(graph, NULL, &status), &status);
  CHECK_OK(graph_remove_neutral_operands(graph, keep, &changed, &status), &status);
  CHECK(graph_is_whole(graph));
  return changed;
}

TEST(operands_that_change_nothing_are_removed) {
  static const struct {
    const char *op, *constant;
    int operand; /* the constant's */
    bool removed;
  } kCases[] = {{"Mul", kOne, 0, true},      {"Mul", kOnes, 1, true},    {"Mul", kZero, 1, false},
                {"Mul", kSome, 0, false},    {"Mul", kRow, 0, false},    {"AddV2", kZero, 0, true},
                {"Add", kZero, 1, true},     {"AddV2", kOne, 0, false},  {"Sub", kZero, 1, true},
                {"Sub", kZero, 0, false},    {"RealDiv", kOne, 1, true}, {"RealDiv", kOnes, 0, false},
                {"Maximum", kZero, 1, false}};
  for (size_t i = 0; i < sizeof kCases / sizeof *kCases; i++) {
    Graph *graph = graph_new();
    REQUIRE(graph);
    CHECK_CONTEXT("case %d", (int)i);
    NodeOutput x = placeholder(graph, "x", kVector), c = constant(graph, "c", kCases[i].constant);
    NodeOutput y = kCases[i].operand == 0 ? binary(graph, kCases[i].op, "y", c, x)
                                          : binary(graph, kCases[i].op, "y", x, c);
    NodeOutput end = unary(graph, "Neg", "end", y);
    CHECK(remove_with(graph, NULL) == kCases[i].removed);
    CHECK((end.node->inputs[0]->src == x.node) == kCases[i].removed);
    CHECK_CONTEXT("%s", "");
    graph_free(graph);
  }
}

/* A shape that is not known, a node that is fetched, and one that others wait for. */
TEST(other_operands_stay) {
  for (int i = 0; i < 3; i++) {
    Status status;
    status_init(&status);
    Graph *graph = graph_new();
    Arena *arena = arena_new();
    REQUIRE(graph && arena);
    NodeOutput x = placeholder(graph, "x", i == 0 ? "shape { unknown_rank: true }" : kVector);
    NodeOutput y = binary(graph, "Mul", "y", x, constant(graph, "c", kOne));
    NodeOutput end = unary(graph, "Neg", "end", y);
    NodeSet keep;
    Edge *edge;
    CHECK_OK(node_set_new(graph, arena, &keep, &status), &status);
    if (i == 1) keep.member[y.node->id] = 1;
    if (i == 2) CHECK_OK(graph_add_control_edge(graph, y.node, end.node, &edge, &status), &status);
    CHECK_CONTEXT("case %d", i);
    CHECK(!remove_with(graph, &keep));
    CHECK_CONTEXT("%s", "");
    arena_free(arena);
    graph_free(graph);
  }
}

/* An IdentityN of two values, or a Merge. */
static Node *list_of(Graph *graph, const char *op, NodeOutput x, NodeOutput y) {
  const DataType types[] = {DT_FLOAT, DT_FLOAT};
  Status status;
  status_init(&status);
  NodeBuilder b;
  Node *node = NULL;
  node_builder(&b, graph, op, op);
  if (strcmp(op, "IdentityN") == 0) node_builder_types(&b, "T", types, 2);
  else node_builder_type(&b, "T", DT_FLOAT), node_builder_int(&b, "N", 2);
  node_builder_inputs(&b, (NodeOutput[]){x, y}, 2);
  if (CHECK_OK(node_builder_finish_bare(&b, &node, &status), &status))
    CHECK_OK(graph_infer_shapes(graph, node, &status), &status);
  return node;
}

TEST(readers_of_a_list_of_identities_read_its_inputs) {
  Graph *graph = graph_new();
  REQUIRE(graph);
  NodeOutput x = placeholder(graph, "x", kVector), y = placeholder(graph, "y", kVector);
  Node *both = list_of(graph, "IdentityN", x, y);
  REQUIRE(both);
  NodeOutput end = binary(graph, "Sub", "end", (NodeOutput){both, 1}, (NodeOutput){both, 0});
  CHECK(remove_with(graph, NULL));
  CHECK(end.node->inputs[0]->src == y.node && end.node->inputs[1]->src == x.node);
  CHECK(!graph_find_node(graph, "IdentityN"));
  graph_free(graph);
}

/* Its outputs are dead if one of its inputs is: x of a branch, a value computed from it, that of another
 * branch, and one behind a Merge. */
TEST(a_list_of_identities_goes_if_its_outputs_are_dead_anyway) {
  enum { PLAIN, THEN, COMPUTED, OTHERWISE, MERGED };
  static const struct {
    int inputs[2]; /* of the list, whose output 0 is read */
    bool removed;
  } kCases[] = {{{COMPUTED, PLAIN}, true},  {{COMPUTED, THEN}, true},       {{COMPUTED, COMPUTED}, true},
                {{PLAIN, COMPUTED}, false}, {{COMPUTED, OTHERWISE}, false}, {{MERGED, THEN}, false},
                {{MERGED, MERGED}, true},   {{MERGED, PLAIN}, true}};
  for (int i = 0; i < (int)(sizeof kCases / sizeof *kCases); i++) {
    CHECK_CONTEXT("case %d", i);
    Graph *graph = graph_new();
    REQUIRE(graph);
    NodeOutput x = placeholder(graph, "x", kVector);
    Attr attrs[] = {{"dtype", "type: DT_BOOL"}};
    NodeOutput taken = out(add_node(graph, "Placeholder", "taken", NULL, 0, attrs, 1));
    Node *branch = add_node(graph, "Switch", "branch", (NodeOutput[]){x, taken}, 2, NULL, 0);
    REQUIRE(branch);
    NodeOutput then = {branch, 1}, computed = unary(graph, "Neg", "neg", unary(graph, "Exp", "exp", then)),
               otherwise = unary(graph, "Tanh", "otherwise", (NodeOutput){branch, 0});
    Node *merge = list_of(graph, "Merge", computed, otherwise);
    REQUIRE(merge);
    NodeOutput values[] = {x, then, computed, otherwise, {merge, 0}};
    Node *both = list_of(graph, "IdentityN", values[kCases[i].inputs[0]], values[kCases[i].inputs[1]]);
    REQUIRE(both);
    NodeOutput end = unary(graph, "Neg", "end", (NodeOutput){both, 0});
    CHECK(remove_with(graph, NULL) == kCases[i].removed);
    CHECK((end.node->inputs[0]->src == both) == !kCases[i].removed);
    graph_free(graph);
  }
  CHECK_CONTEXT("%s", "");
}

/* Keras's swish in a loop or a branch: the factor is one of the values. */
TEST(a_list_with_a_neutral_factor_goes) {
  Graph *graph = graph_new();
  REQUIRE(graph);
  Attr attrs[] = {{"dtype", "type: DT_BOOL"}};
  NodeOutput taken = out(add_node(graph, "Placeholder", "taken", NULL, 0, attrs, 1));
  Node *branch = add_node(graph, "Switch", "branch", (NodeOutput[]){placeholder(graph, "x", kVector), taken},
                          2, NULL, 0);
  REQUIRE(branch);
  NodeOutput x = unary(graph, "Exp", "exp", (NodeOutput){branch, 1}), one = constant(graph, "one", kOne);
  NodeOutput sigmoid = unary(graph, "Sigmoid", "sigmoid", binary(graph, "Mul", "factor", one, x));
  Node *list = list_of(graph, "IdentityN", binary(graph, "Mul", "y", x, sigmoid), one);
  REQUIRE(list && unary(graph, "Neg", "end", out(list)).node);
  CHECK(remove_with(graph, NULL));
  CHECK(!graph_find_node(graph, "IdentityN") && !graph_find_node(graph, "factor"));
  graph_free(graph);
}

TEST(without_memory_neutral_operands_stay_or_go) {
  Shortage shortage = {.what = "removing operands"};
  do {
    Status status;
    status_init(&status);
    Graph *graph = graph_new();
    REQUIRE(graph);
    NodeOutput x = placeholder(graph, "x", kVector);
    NodeOutput y = binary(graph, "Mul", "y", x, constant(graph, "c", kOne)),
               end = unary(graph, "Neg", "end", y);
    CHECK_OK(graph_fixup_source_and_sink_edges(graph, NULL, &status), &status);
    bool changed;
    shortage_begin(&shortage);
    bool ok = graph_remove_neutral_operands(graph, NULL, &changed, &status);
    shortage_end(&shortage, ok, status.code);
    const Node *read = end.node->inputs[0]->src;
    CHECK(read == x.node || (!ok && read == y.node));
    graph_free(graph);
  } while (shortage_next(&shortage));
}
