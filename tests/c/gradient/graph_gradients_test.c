#include "gradient/graph_gradients.h"

#include "function/test_ops.h"
#include "gradient/gradient_fixture.h"

BEFORE_EACH() { test_ops_register(); }
AFTER_EACH() { op_registry_clear(op_registry_global()); }

TEST(gradient_of_a_chain) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  NodeOutput x = placeholder(graph, "x"), w = placeholder(graph, "w"), xs[] = {x, w}, dxs[2];
  NodeOutput y = unary(graph, "y", "Tanh", binary(graph, "m", "Mul", unary(graph, "s", "Square", x), w));
  REQUIRE_OK(graph_add_gradients(graph, &y, 1, xs, 2, NULL, NULL, dxs, &status), &status);
  check_central(graph, y, xs, dxs, (double[]){0.7, -0.4}, 2);
  graph_free(graph);
}

TEST(gradient_adds_what_arrives_on_several_paths) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  NodeOutput x = placeholder(graph, "x"), dx;
  NodeOutput a = unary(graph, "a", "Square", x), b = unary(graph, "b", "Tanh", x);
  NodeOutput y =
      binary(graph, "y", "Add", binary(graph, "ab", "Mul", a, b), binary(graph, "xx", "Mul", x, x));
  REQUIRE_OK(graph_add_gradients(graph, &y, 1, &x, 1, NULL, NULL, &dx, &status), &status);
  check_central(graph, y, &x, &dx, (double[]){0.3}, 1);
  CHECK_INT_EQ(count_ops(graph, "AddN"), 1);
  graph_free(graph);
}

TEST(gradient_shares_the_forward_node) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  NodeOutput x = placeholder(graph, "x"), dx, y = unary(graph, "y", "Tanh", x);
  REQUIRE_OK(graph_add_gradients(graph, &y, 1, &x, 1, NULL, NULL, &dx, &status), &status);
  CHECK_INT_EQ(count_ops(graph, "Tanh"), 1);
  const Node *square = graph_find_node(graph, "gradients/y_grad/y2");
  if (CHECK(square)) CHECK(square->inputs[0]->src == y.node);
  CHECK_STR_EQ(dx.node->name, "gradients/y_grad/dx");
  graph_free(graph);
}

TEST(gradient_is_pruned_to_what_leads_to_the_xs) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  NodeOutput x = placeholder(graph, "x"), w = placeholder(graph, "w"), dw;
  NodeOutput y = binary(graph, "y", "Mul", unary(graph, "t", "Tanh", x), w);
  REQUIRE_OK(graph_add_gradients(graph, &y, 1, &w, 1, NULL, NULL, &dw, &status), &status);
  /* ones and t * ones: no gradient for Tanh, and no gradient for Mul's first input */
  CHECK_INT_EQ(graph_num_nodes(graph), 2 + 4 + 2);
  CHECK_STR_EQ(dw.node->def->op, "Mul");
  graph_free(graph);
}

TEST(gradient_with_given_dys_and_several_ys) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  NodeOutput x = placeholder(graph, "x"), d = placeholder(graph, "d"), dx;
  NodeOutput ys[] = {unary(graph, "a", "Square", x), unary(graph, "b", "Tanh", x)}, dys[] = {d, {NULL, 0}};
  REQUIRE_OK(graph_add_gradients(graph, ys, 2, &x, 1, dys, &(GradientOptions){.scope = "g"}, &dx, &status),
             &status);
  double t = tanh(0.3), got = compute(graph, dx, (NodeOutput[]){x, d}, (double[]){0.3, 2.5}, 2);
  CHECK_NEAR(got, 2.5 * 2 * 0.3 + (1 - t * t), 1e-12);
  CHECK(graph_find_node(graph, "g/OnesLike"));
  graph_free(graph);
}

/* y = a b with b = a^2: the total derivative is 3 a^2, the partial ones are b and a. */
TEST(gradient_stops_where_it_is_told_to) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  NodeOutput a = placeholder(graph, "a"), b = unary(graph, "b", "Square", a),
             y = binary(graph, "y", "Mul", a, b);
  NodeOutput xs[] = {a, b}, dxs[2];
  REQUIRE_OK(graph_add_gradients(graph, &y, 1, xs, 2, NULL, NULL, dxs, &status), &status);
  CHECK_NEAR(compute(graph, dxs[0], &a, &(double){3}, 1), 27, 1e-12);
  GradientOptions stop = {.stops = xs, .num_stops = 2};
  REQUIRE_OK(graph_add_gradients(graph, &y, 1, xs, 2, NULL, &stop, dxs, &status), &status);
  CHECK_NEAR(compute(graph, dxs[0], &a, &(double){3}, 1), 9, 1e-12);
  CHECK_NEAR(compute(graph, dxs[1], &a, &(double){3}, 1), 3, 1e-12);
  stop = (GradientOptions){.stops = &y, .num_stops = 1};
  REQUIRE_OK(graph_add_gradients(graph, &y, 1, xs, 2, NULL, &stop, dxs, &status), &status);
  CHECK(!dxs[0].node && !dxs[1].node);
  stop.stops = &(NodeOutput){b.node, 1};
  CHECK_ERROR(graph_add_gradients(graph, &y, 1, xs, 2, NULL, &stop, dxs, &status), &status,
              CODE_INVALID_ARGUMENT, "Stop");
  graph_free(graph);
}

TEST(gradient_with_respect_to_inner_values_and_to_y_itself) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  NodeOutput x = placeholder(graph, "x"), s = unary(graph, "s", "Square", x),
             y = unary(graph, "y", "Square", s);
  NodeOutput xs[] = {x, s, y, s}, dxs[4];
  REQUIRE_OK(graph_add_gradients(graph, &y, 1, xs, 4, NULL, NULL, dxs, &status), &status);
  CHECK_NEAR(compute(graph, dxs[0], &x, (double[]){3}, 1), 4 * 27, 1e-12);
  CHECK_NEAR(compute(graph, dxs[1], &x, (double[]){3}, 1), 2 * 9, 1e-12);
  CHECK_NEAR(compute(graph, dxs[2], &x, (double[]){3}, 1), 1, 0);
  CHECK(dxs[3].node == dxs[1].node);
  graph_free(graph);
}

TEST(gradient_of_an_op_with_several_outputs) {
  Status status;
  status_init(&status);
  for (int which = 0; which < 3; which++) {
    CHECK_CONTEXT("outputs %d", which);
    Graph *graph = graph_new();
    NodeOutput x = placeholder(graph, "x"), dx;
    NodeOutput sine = graph_op(graph, "sc", "SinCos", "T=double", 1, x), cosine = {sine.node, 1};
    NodeOutput y = which == 0   ? unary(graph, "y", "Square", sine)
                   : which == 1 ? unary(graph, "y", "Square", cosine)
                                : binary(graph, "y", "Mul", sine, cosine);
    REQUIRE_OK(graph_add_gradients(graph, &y, 1, &x, 1, NULL, NULL, &dx, &status), &status);
    check_central(graph, y, &x, &dx, (double[]){0.9}, 1);
    CHECK_INT_EQ(count_ops(graph, "SinCos"), 1);
    CHECK_INT_EQ(count_ops(graph, "ZerosLike"), which < 2);
    graph_free(graph);
  }
}

TEST(gradient_does_not_flow_everywhere) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  NodeOutput x = placeholder(graph, "x"), other = placeholder(graph, "other"),
             n = graph_op(graph, "n", "Placeholder", "dtype=int32", 0);
  NodeOutput stopped = unary(graph, "stopped", "StopGradient", x);
  NodeOutput whole = graph_op(graph, "whole", "Cast", "SrcT=double, DstT=int32", 1, x);
  NodeOutput back = graph_op(graph, "back", "Cast", "SrcT=int32, DstT=double", 1,
                             graph_op(graph, "sum", "Add", "T=int32", 2, whole, n));
  NodeOutput y = binary(graph, "y", "Add", stopped, back);
  NodeOutput xs[] = {x, other, n, stopped}, dxs[4];
  REQUIRE_OK(graph_add_gradients(graph, &y, 1, xs, 4, NULL, NULL, dxs, &status), &status);
  CHECK(!dxs[0].node && !dxs[1].node && !dxs[2].node && dxs[3].node);
  CHECK_OK(graph_check_differentiable(graph, &y, 1, &x, 1, &status), &status);
  CHECK_ERROR(graph_check_differentiable(graph, &y, 1, xs, 2, &status), &status, CODE_INVALID_ARGUMENT,
              "Cannot compute the partial derivative for node 'other' as it's unreachable from the output "
              "node(s).");
  graph_free(graph);
}

TEST(gradient_through_variables) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  NodeOutput handle = graph_op(graph, "v", "VarHandleOp", "dtype=double, shape=Shape<[]>", 0);
  NodeOutput once = graph_op(graph, "once", "ReadVariableOp", "dtype=double", 1, handle);
  NodeOutput again = graph_op(graph, "again", "ReadVariableOp", "dtype=double", 1, handle);
  NodeOutput y = binary(graph, "y", "Mul", unary(graph, "s", "Square", once), again);
  NodeOutput xs[] = {handle, once}, dxs[2];
  REQUIRE_OK(graph_add_gradients(graph, &y, 1, xs, 2, NULL, NULL, dxs, &status), &status);
  CHECK_INT_EQ(node_output_type(dxs[0]), DT_DOUBLE);
  CHECK_STR_EQ(dxs[0].node->def->op, "AddN");
  NodeOutput fed[] = {once, again};
  CHECK_NEAR(compute(graph, dxs[0], fed, (double[]){3, 3}, 2), 27, 1e-12);
  CHECK_NEAR(compute(graph, dxs[1], fed, (double[]){3, 3}, 2), 18, 1e-12);
  graph_free(graph);
}

#define CUBE                                  \
  "Cube[T:{float, double}](x:T) -> (y:T) {\n" \
  "  s = Square[T=$T](x)\n"                   \
  "  y = Mul[T=$T](s:y:0, x)\n"               \
  "  return y = y:z:0\n}"

TEST(gradient_through_function_calls) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  add_function(graph, CUBE);
  add_function(graph,
               "Ninth(x:double) -> (y:double) {\n  c = Cube[T=double](x)\n  y = Cube[T=double](c:y:0)\n  "
               "return y = y:y:0\n}");
  NodeOutput x = placeholder(graph, "x"), y = graph_op(graph, "y", "Ninth", "", 1, x), dx;
  REQUIRE_OK(graph_add_gradients(graph, &y, 1, &x, 1, NULL, NULL, &dx, &status), &status);
  /* The gradient of Ninth calls Cube to compute its first cube. */
  CHECK_INT_EQ(count_ops(graph, "Cube"), 1);
  NodeOutput cube = {NULL, 0};
  for (int64_t id = 0; id < graph_num_node_ids(graph); id++) {
    if (strcmp(graph_node(graph, id)->def->op, "Cube") == 0) cube.node = graph_node(graph, id);
  }
  CHECK_NEAR(compute(graph, dx, (NodeOutput[]){x, cube, y}, (double[]){1.1, 1.331, 0}, 3), 9 * pow(1.1, 8),
             1e-9);
  graph_free(graph);
}

TEST(gradient_through_a_partitioned_call) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  add_function(graph, CUBE);
  NodeOutput x = placeholder(graph, "x"), dx;
  NodeOutput y =
      graph_op(graph, "y", "PartitionedCall", "Tin={double}, Tout={double}, f=Cube[T=double]", 1, x);
  REQUIRE_OK(graph_add_gradients(graph, &y, 1, &x, 1, NULL, NULL, &dx, &status), &status);
  CHECK_NEAR(compute(graph, dx, (NodeOutput[]){x, y}, (double[]){1.5, 0}, 2), 3 * 1.5 * 1.5, 1e-12);
  NodeOutput z = graph_op(graph, "z", "PartitionedCall", "Tin={double}, Tout={double}, f=Missing", 1, x);
  CHECK_ERROR(graph_add_gradients(graph, &z, 1, &x, 1, NULL, NULL, &dx, &status), &status, CODE_NOT_FOUND,
              "Failed to find definition for function \"Missing\"");
  graph_free(graph);
}

TEST(gradient_given_for_a_function_or_an_op_wins) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  add_function(graph, CUBE);
  add_function(graph, "Mine[T:type](x:T, dy:T) -> (dx:T) {\n  dx = Neg[T=$T](dy)\n  return dx = dx:y:0\n}");
  REQUIRE_OK(graph_add_gradient_def(graph, "Cube", "Mine", &status), &status);
  REQUIRE_OK(graph_add_gradient_def(graph, "Tanh", "Mine", &status), &status);
  NodeOutput x = placeholder(graph, "x"),
             y = unary(graph, "t", "Tanh", graph_op(graph, "c", "Cube", "T=double", 1, x)), dx;
  REQUIRE_OK(graph_add_gradients(graph, &y, 1, &x, 1, NULL, NULL, &dx, &status), &status);
  CHECK_NEAR(compute(graph, dx, (NodeOutput[]){x, y}, (double[]){5, 0}, 2), 1, 0);
  CHECK_INT_EQ(count_ops(graph, "Neg"), 2);
  graph_free(graph);
}

TEST(gradient_of_recursive_functions_is_refused) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  add_function(graph, "Down(x:double) -> (y:double) {\n  y = Down(x)\n  return y = y:y:0\n}");
  NodeOutput x = placeholder(graph, "x"), y = graph_op(graph, "y", "Down", "", 1, x), dx;
  int64_t nodes = graph_num_nodes(graph);
  CHECK_ERROR(graph_add_gradients(graph, &y, 1, &x, 1, NULL, NULL, &dx, &status), &status,
              CODE_INVALID_ARGUMENT, "is it recursive?");
  CHECK_INT_EQ(graph_num_nodes(graph), nodes);
  graph_free(graph);
}

/* Each function calls the previous one twice: 2^30 squares in all. */
TEST(gradient_of_functions_that_double_is_refused_in_time) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  char text[256];
  add_function(graph, "F0(x:double) -> (y:double) {\n  y = Square[T=double](x)\n  return y = y:y:0\n}");
  for (int i = 1; i <= 30; i++) {
    snprintf(text, sizeof text,
             "F%d(x:double) -> (y:double) {\n  a = F%d(x)\n  y = F%d(a:y:0)\n  return y = y:y:0\n}", i, i - 1,
             i - 1);
    add_function(graph, text);
  }
  NodeOutput x = placeholder(graph, "x"), y = graph_op(graph, "y", "F30", "", 1, x), dx;
  CHECK_ERROR(graph_add_gradients(graph, &y, 1, &x, 1, NULL, NULL, &dx, &status), &status,
              CODE_RESOURCE_EXHAUSTED, "nested functions");
  graph_free(graph);
}

TEST(gradient_errors_leave_the_graph_as_it_was) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  add_function(graph, "Wrong[T:type](x:T, dy:T) -> (a:T, b:T) {\n  return a = x\n  return b = dy\n}");
  add_function(graph, "Other[T:type](x:T, dy:float) -> (dx:T) {\n  return dx = x\n}");
  NodeOutput x = placeholder(graph, "x"), dx;
  NodeOutput f = graph_op(graph, "f", "Placeholder", "dtype=float", 0);
  NodeOutput unknown =
      unary(graph, "unknown", "Square",
            graph_op(graph, "n", "NoGradientKnown", "T=double", 1, unary(graph, "s", "Square", x)));
  NodeOutput y = unary(graph, "y", "Neg", x), none = {NULL, 0}, outside = {x.node, 1}, dy = f;
  REQUIRE_OK(graph_add_gradient_def(graph, "Neg", "Missing", &status), &status);
  int64_t nodes = graph_num_nodes(graph), edges = graph_num_edges(graph);
  CHECK_ERROR(graph_add_gradients(graph, &unknown, 1, &x, 1, NULL, NULL, &dx, &status), &status,
              CODE_NOT_FOUND, "No gradient defined for op: NoGradientKnown");
  CHECK_ERROR(graph_add_gradients(graph, &y, 1, &x, 1, NULL, NULL, &dx, &status), &status, CODE_NOT_FOUND,
              "The gradient function 'Missing' of 'Neg' is not defined.");
  CHECK_ERROR(graph_add_gradients(graph, &none, 1, &x, 1, NULL, NULL, &dx, &status), &status,
              CODE_INVALID_ARGUMENT, "Output 0 is null");
  CHECK_ERROR(graph_add_gradients(graph, &y, 1, &outside, 1, NULL, NULL, &dx, &status), &status,
              CODE_INVALID_ARGUMENT, "no output 1");
  CHECK_ERROR(graph_add_gradients(graph, &y, 1, &x, 1, &dy, NULL, &dx, &status), &status,
              CODE_INVALID_ARGUMENT, "Gradient 0 has type float, but its output has type double");
  CHECK_ERROR(graph_add_gradients(graph, &y, 1, &x, 1, NULL, &(GradientOptions){.scope = "x"}, &dx, &status),
              &status, CODE_INVALID_ARGUMENT,
              "prefix [x] conflicts with existing node in the graph named [x]");
  CHECK_INT_EQ(graph_num_nodes(graph), nodes);
  CHECK_INT_EQ(graph_num_edges(graph), edges);
  Graph *wrong = graph_new();
  add_function(wrong, "Wrong[T:type](x:T, dy:T) -> (a:T, b:T) {\n  return a = x\n  return b = dy\n}");
  REQUIRE_OK(graph_add_gradient_def(wrong, "Neg", "Wrong", &status), &status);
  NodeOutput wx = placeholder(wrong, "x"), wy = unary(wrong, "y", "Neg", wx);
  CHECK_ERROR(graph_add_gradients(wrong, &wy, 1, &wx, 1, NULL, NULL, &dx, &status), &status,
              CODE_INVALID_ARGUMENT, "one gradient per input");
  CHECK_ERROR(graph_add_gradients(wrong, &wy, 1, &x, 1, NULL, NULL, &dx, &status), &status,
              CODE_INVALID_ARGUMENT, "");
  graph_free(wrong);
  graph_free(graph);
}

TEST(gradient_scopes_are_unique) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  NodeOutput x = placeholder(graph, "x"), y = unary(graph, "y", "Square", x), first, second, third;
  REQUIRE_OK(graph_add_gradients(graph, &y, 1, &x, 1, NULL, NULL, &first, &status), &status);
  REQUIRE_OK(graph_add_gradients(graph, &first, 1, &x, 1, NULL, NULL, &second, &status), &status);
  REQUIRE_OK(graph_add_gradients(graph, &y, 1, &x, 1, NULL, &(GradientOptions){.scope = "mine"}, &third,
                                 &status),
             &status);
  CHECK_STR_EQ(first.node->name, "gradients/y_grad/dx");
  CHECK(text_starts_with(second.node->name, "gradients_1/"));
  CHECK_STR_EQ(third.node->name, "mine/y_grad/dx");
  CHECK_NEAR(compute(graph, second, &x, (double[]){0.3}, 1), 2, 1e-12);
  graph_free(graph);
}

TEST(gradient_of_a_loop_is_refused) {
  Status status;
  status_init(&status);
  Graph *graph = graph_new();
  NodeOutput x = placeholder(graph, "x"), sum = binary(graph, "sum", "Add", x, x),
             y = unary(graph, "y", "Neg", sum), dx;
  REQUIRE_OK(graph_update_edge(graph, y.node, 0, sum.node, 1, &status), &status);
  int64_t nodes = graph_num_nodes(graph);
  CHECK_ERROR(graph_add_gradients(graph, &y, 1, &x, 1, NULL, NULL, &dx, &status), &status, CODE_UNIMPLEMENTED,
              "leads through a cycle of nodes");
  CHECK_INT_EQ(graph_num_nodes(graph), nodes);
  graph_free(graph);
}

TEST(gradient_of_a_deep_graph) {
  Status status;
  status_init(&status);
  enum { LAYERS = 10000 };
  Graph *graph = graph_new();
  NodeOutput x = placeholder(graph, "x"), y = x, dx;
  for (int i = 0; i < LAYERS; i++) {
    char name[32];
    snprintf(name, sizeof name, "layer_%d", i);
    y = binary(graph, name, "Add", y, x);
  }
  REQUIRE_OK(graph_add_gradients(graph, &y, 1, &x, 1, NULL, NULL, &dx, &status), &status);
  CHECK_INT_EQ(dx.node->num_inputs, LAYERS + 1);
  graph_free(graph);
}

TEST(gradient_survives_failing_allocations) {
  for (int64_t after = 0; after < 4000; after += after < 300 ? 1 : 7) {
    Status status;
    status_init(&status);
    Graph *graph = graph_new();
    add_function(graph, CUBE);
    NodeOutput x = placeholder(graph, "x"), dx;
    NodeOutput y = unary(graph, "y", "Tanh",
                         binary(graph, "m", "Mul", graph_op(graph, "c", "Cube", "T=double", 1, x), x));
    int64_t nodes = graph_num_nodes(graph), edges = graph_num_edges(graph);
    mem_fail_after(after);
    bool ok = graph_add_gradients(graph, &y, 1, &x, 1, NULL, NULL, &dx, &status);
    mem_fail_after(-1);
    if (!ok) {
      CHECK_CONTEXT("after %d", (int)after);
      CHECK_INT_EQ(status.code, CODE_RESOURCE_EXHAUSTED);
      CHECK_INT_EQ(graph_num_nodes(graph), nodes);
      CHECK_INT_EQ(graph_num_edges(graph), edges);
      /* and succeeds when there is memory again */
      CHECK_OK(graph_add_gradients(graph, &y, 1, &x, 1, NULL, NULL, &dx, &status), &status);
    }
    graph_free(graph);
  }
}
