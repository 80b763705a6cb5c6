/* Gradients through control flow: what is not known, what stays as it was, and what a run computes once. */
#include <math.h>
#include <string.h>

#include "gradient/graph_gradients.h"
#include "runtime/session_fixture.h"
#include "splice_function.h"

/* Arguments are floats and, at most, one variable. */
static const char kLibrary[] =
    /* y = x * m, where m is the product of three random powers of two */
    "Random(x:float) -> (y:float) {\n"
    "  zero = Const[dtype=int32, value=0]()\n"
    "  ei = Enter[T=int32, frame_name=\"f\"](zero:output:0)\n"
    "  ey = Enter[T=float, frame_name=\"f\"](x)\n"
    "  mi = Merge[T=int32, N=2](ei:output:0, ni:output:0)\n"
    "  my = Merge[T=float, N=2](ey:output:0, ny:output:0)\n"
    "  n = Const[dtype=int32, value=3]() @ mi\n"
    "  less = Less[T=int32](mi:output:0, n:output:0)\n"
    "  go = LoopCond(less:z:0)\n"
    "  si = Switch[T=int32](mi:output:0, go:output:0)\n"
    "  sy = Switch[T=float](my:output:0, go:output:0)\n"
    "  round = Identity[T=float](sy:output_true:0)\n"
    "  one = Const[dtype=int32, value=1]() @ round\n"
    "  ai = AddV2[T=int32](si:output_true:0, one:output:0)\n"
    "  shape = Shape[T=float](round:output:0)\n"
    "  u = RandomUniform[T=int32, dtype=float](shape:output:0)\n"
    "  half = Const[dtype=float, value=0.5]() @ round\n"
    "  two = Const[dtype=float, value=2]() @ round\n"
    "  large = GreaterEqual[T=float](u:output:0, half:output:0)\n"
    "  k = SelectV2[T=float](large:z:0, two:output:0, half:output:0)\n"
    "  next = Mul[T=float](round:output:0, k:output:0)\n"
    "  ni = NextIteration[T=int32](ai:z:0)\n"
    "  ny = NextIteration[T=float](next:z:0)\n"
    "  y = Exit[T=float](sy:output_false:0)\n"
    "  return y = y:output:0\n"
    "}\n"
    /* y = x * v^2, where each round reads the variable, in a branch */
    "Reading(x:float, v:resource) -> (y:float) {\n"
    "  zero = Const[dtype=int32, value=0]()\n"
    "  ei = Enter[T=int32, frame_name=\"f\"](zero:output:0)\n"
    "  ey = Enter[T=float, frame_name=\"f\"](x)\n"
    "  ev = Enter[T=resource, frame_name=\"f\", is_constant=true](v)\n"
    "  mi = Merge[T=int32, N=2](ei:output:0, ni:output:0)\n"
    "  my = Merge[T=float, N=2](ey:output:0, ny:output:0)\n"
    "  n = Const[dtype=int32, value=3]() @ mi\n"
    "  less = Less[T=int32](mi:output:0, n:output:0)\n"
    "  go = LoopCond(less:z:0)\n"
    "  si = Switch[T=int32](mi:output:0, go:output:0)\n"
    "  sy = Switch[T=float](my:output:0, go:output:0)\n"
    "  round = Identity[T=float](sy:output_true:0)\n"
    "  one = Const[dtype=int32, value=1]() @ round\n"
    "  ai = AddV2[T=int32](si:output_true:0, one:output:0)\n"
    "  first = Equal[T=int32](si:output_true:0, one:output:0)\n"
    "  bv = Switch[T=resource](ev:output:0, first:z:0)\n"
    "  by = Switch[T=float](round:output:0, first:z:0)\n"
    "  r = ReadVariableOp[dtype=float](bv:output_false:0)\n"
    "  no = Mul[T=float](by:output_false:0, r:value:0)\n"
    "  next = Merge[T=float, N=2](no:z:0, by:output_true:0)\n"
    "  ni = NextIteration[T=int32](ai:z:0)\n"
    "  ny = NextIteration[T=float](next:output:0)\n"
    "  y = Exit[T=float](sy:output_false:0)\n"
    "  return y = y:output:0\n"
    "}\n"
    "Undecided(x:float) -> (y:float) {\n"
    "  a = Neg[T=float](x)\n"
    "  b = Square[T=float](x)\n"
    "  m = Merge[T=float, N=2](a:y:0, b:y:0)\n"
    "  return y = m:output:0\n"
    "}\n"
    "NoLoop(x:float) -> (y:float) {\n"
    "  e = Enter[T=float, frame_name=\"f\"](x)\n"
    "  y = Exit[T=float](e:output:0)\n"
    "  return y = y:output:0\n"
    "}\n"
    "NoEnter(x:float) -> (y:float) {\n"
    "  p = Less[T=float](x, x)\n"
    "  go = LoopCond(p:z:0)\n"
    "  s = Switch[T=float](x, go:output:0)\n"
    "  y = Exit[T=float](s:output_false:0)\n"
    "  return y = y:output:0\n"
    "}\n"
    "Branch(x:float) -> (y:float) {\n"
    "  one = Const[dtype=float, value=1]()\n"
    "  p = Less[T=float](x, one:output:0)\n"
    "  s = Switch[T=float](x, p:z:0)\n"
    "  small = Square[T=float](s:output_true:0)\n"
    "  large = Neg[T=float](s:output_false:0)\n"
    "  m = Merge[T=float, N=2](large:y:0, small:y:0)\n"
    "  return y = m:output:0\n"
    "}\n";

typedef struct World {
  Fixture f;
  NodeOutput xs[2]; /* x; the variable */
  NodeOutput y;
} World;

/* The nodes of the function are named s/... */
static bool open_world(World *w, const char *function) {
  *w = (World){0};
  if (!begin(&w->f) || !define(w->f.graph, kLibrary)) return false;
  w->xs[0] = placeholder(w->f.graph, "x", "shape { }");
  w->xs[1] = scalar_variable(w->f.graph, "v");
  return CHECK_OK(splice_function(w->f.graph, graph_find_function(w->f.graph, function), w->xs, "s", &w->y,
                                  &w->f.status),
                  &w->f.status);
}

static bool run(World *w, float x, const NodeOutput *fetches, int count, float *values) {
  Tensor given = {0}, results[2] = {{0}};
  const Tensor *feed = &given;
  bool ok = float_tensor(&given, 0, NULL, &x) && CHECK_OK(session_run(w->f.session, w->xs, &feed, 1, fetches,
                                                                      results, count, NULL, 0, &w->f.status),
                                                          &w->f.status);
  for (int i = 0; i < count; i++) {
    values[i] = ok ? tensor_f32(&results[i])[0] : NAN;
    tensor_clear(&results[i]);
  }
  tensor_clear(&given);
  return ok;
}

static bool add(World *w, NodeOutput y, NodeOutput x, NodeOutput *dx) {
  return graph_add_gradients(w->f.graph, &y, 1, &x, 1, NULL, NULL, dx, &w->f.status);
}

static NodeOutput inner(World *w, const char *name) {
  NodeOutput value = {NULL, 0};
  CHECK_OK(graph_find_output(w->f.graph, name, &value, &w->f.status), &w->f.status);
  return value;
}

/* The graph is as it was. */
static void check_fails(World *w, const char *y, const char *x, Code code, const char *message) {
  NodeOutput dx, from = y ? inner(w, y) : w->y, to = x ? inner(w, x) : w->xs[0];
  int64_t nodes = graph_num_nodes(w->f.graph), functions = graph_num_functions(w->f.graph);
  int64_t edges = graph_num_edges(w->f.graph);
  CHECK_ERROR(add(w, from, to, &dx), &w->f.status, code, message);
  CHECK_INT_EQ(graph_num_nodes(w->f.graph), nodes);
  CHECK_INT_EQ(graph_num_edges(w->f.graph), edges);
  CHECK_INT_EQ(graph_num_functions(w->f.graph), functions);
}

TEST(gradients_do_not_lead_into_or_out_of_rounds) {
  static const char kInitial[] =
      "Cannot compute gradient inside while loop with respect to op 'x'. We do not support taking the "
      "gradient wrt or through the initial value of a loop variable. Gradients can be computed through loop "
      "invariants or wrt the input parameters to the loop body.";
  static const char *const kInside[] = {"s/next", "s/sy:1", "s/my", "s/ey", "s/ny"};
  for (size_t i = 0; i < sizeof kInside / sizeof *kInside; i++) {
    World w;
    CHECK_CONTEXT("%s", kInside[i]);
    if (open_world(&w, "Random")) {
      check_fails(&w, NULL, kInside[i], CODE_INVALID_ARGUMENT, "inside of a while loop");
      check_fails(&w, kInside[i], NULL, CODE_INVALID_ARGUMENT,
                  strcmp(kInside[i], "s/ny") == 0 ? "inside of a while loop" : kInitial);
    }
    end(&w.f);
  }
}

TEST(control_flow_that_is_not_understood_is_refused) {
  static const struct {
    const char *function;
    Code code;
    const char *message;
  } kBad[] = {
      {"Undecided", CODE_UNIMPLEMENTED,
       "The gradient of 's/m' (op: 'Merge') is not known: no Switch tells which of its inputs 's/a' and "
       "'s/b' is alive"},
      {"NoLoop", CODE_INVALID_ARGUMENT,
       "Invalid loop structure: 's/y' (op: 'Exit') does not leave a loop through the first output of a "
       "Switch "
       "on its LoopCond"},
      {"NoEnter", CODE_INVALID_ARGUMENT,
       "Invalid loop structure: 's/s' (op: 'Switch') does not get its value from a Merge of an Enter and a "
       "NextIteration"},
  };
  for (size_t i = 0; i < sizeof kBad / sizeof *kBad; i++) {
    World w;
    CHECK_CONTEXT("%s", kBad[i].function);
    if (open_world(&w, kBad[i].function)) check_fails(&w, NULL, NULL, kBad[i].code, kBad[i].message);
    end(&w.f);
  }
}

TEST(a_value_in_a_branch_that_is_not_taken_has_a_gradient_of_zero) {
  World w;
  NodeOutput dx;
  float values[1];
  if (open_world(&w, "Branch") && CHECK_OK(add(&w, inner(&w, "s/small"), w.xs[0], &dx), &w.f.status)) {
    if (run(&w, 0.75f, &dx, 1, values)) CHECK_NEAR(values[0], 1.5, 0);
    if (run(&w, 3, &dx, 1, values)) CHECK_NEAR(values[0], 0, 0);
  }
  end(&w.f);
}

TEST(a_loop_and_its_gradient_see_the_same_random_numbers) {
  World w;
  NodeOutput dx;
  float values[2];
  bool differs = false;
  bool ok = open_world(&w, "Random") && CHECK_OK(add(&w, w.y, w.xs[0], &dx), &w.f.status);
  for (int i = 0; ok && i < 20; i++) {
    NodeOutput fetches[] = {w.y, dx};
    if (!run(&w, 3, fetches, 2, values)) break;
    CHECK_NEAR(values[1], values[0] / 3, 0);
    differs = differs || values[1] != 0.5f;
  }
  CHECK(differs);
  end(&w.f);
}

TEST(variables_that_a_loop_reads_in_a_branch_have_gradients) {
  World w;
  NodeOutput dxs[2];
  float values[2];
  if (open_world(&w, "Reading") &&
      CHECK_OK(graph_add_gradients(w.f.graph, &w.y, 1, w.xs, 2, NULL, NULL, dxs, &w.f.status), &w.f.status)) {
    NodeOutput inputs[] = {w.xs[1], scalar(w.f.graph, "initial", 5)};
    CHECK_OK(run_target(&w.f, add_node(w.f.graph, "AssignVariableOp", "assign", inputs, 2, NULL, 0)),
             &w.f.status);
    if (run(&w, 3, dxs, 2, values)) {
      CHECK_NEAR(values[0], 25, 0);
      CHECK_NEAR(values[1], 3 * 2 * 5, 0);
    }
  }
  end(&w.f);
}

static int count_enters(const Graph *graph) {
  int count = 0;
  for (int64_t id = SINK_ID + 1; id < graph_num_node_ids(graph); id++) {
    const Node *node = graph_node(graph, id);
    count += node && strcmp(node->def->op, "Enter") == 0;
  }
  return count;
}

TEST(a_second_gradient_reads_what_the_loop_keeps_for_the_first) {
  World w;
  NodeOutput dx;
  if (open_world(&w, "Random") && CHECK_OK(add(&w, w.y, w.xs[0], &dx), &w.f.status)) {
    int enters = count_enters(w.f.graph);
    CHECK_INT_EQ(enters, 4); /* two lists, of factors and shapes: the loop counts its rounds itself */
    CHECK_OK(add(&w, w.y, w.xs[0], &dx), &w.f.status);
    CHECK_INT_EQ(count_enters(w.f.graph), enters);
  }
  end(&w.f);
}
