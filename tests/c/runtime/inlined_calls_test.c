/* Sessions on graphs that call functions. */

#include <stdio.h>
#include <string.h>

#include "runtime/session_fixture.h"
#include "shortage.h"

static Node *call(Graph *graph, const char *function, const char *name, int num_inputs, NodeOutput *inputs) {
  return add_node(graph, function, name, inputs, num_inputs, NULL, 0);
}

/* Runs with float scalars as feeds; NaN on error. */
static float run(Fixture *f, int num_feeds, const NodeOutput *feeds, const float *values, NodeOutput fetch) {
  Tensor tensors[4] = {{0}}, result = {0};
  const Tensor *pointers[4] = {NULL};
  for (int i = 0; i < num_feeds; i++) {
    float_tensor(&tensors[i], 0, NULL, &values[i]);
    pointers[i] = &tensors[i];
  }
  float value = __builtin_nanf("");
  if (session_run(f->session, feeds, pointers, num_feeds, &fetch, &result, 1, NULL, 0, &f->status))
    value = tensor_f32(&result)[0];
  tensor_clear(&result);
  for (int i = 0; i < num_feeds; i++) tensor_clear(&tensors[i]);
  return value;
}

static float run_one(Fixture *f, NodeOutput feed, float value, NodeOutput fetch) {
  return run(f, 1, &feed, &value, fetch);
}

static void check_failed(Fixture *f, Code code, const char *part) {
  CHECK_INT_EQ(f->status.code, code);
  harness_check_contains(f->status.message, part, __FILE__, __LINE__, "the message");
  status_init(&f->status);
}

static const char kSquarePlusOne[] =
    "SquarePlusOne(x:float) -> (y:float) {"
    "  s = Square[T=float](x)"
    "  one = Const[dtype=float, value=1]()"
    "  sum = Add[T=float](s:y:0, one:output:0)"
    "  return y = sum:z:0 }";

TEST(a_call_is_what_the_function_does) {
  Fixture f;
  REQUIRE(begin(&f));
  define(f.graph, kSquarePlusOne);
  NodeOutput x = placeholder(f.graph, "x", "shape { }");
  NodeOutput twice = out(call(f.graph, "SquarePlusOne", "g", 1,
                              (NodeOutput[]){out(call(f.graph, "SquarePlusOne", "f", 1, &x))}));
  NodeOutput y = unary(f.graph, "Neg", "y", twice);
  CHECK_NEAR(run_one(&f, x, 2, y), -26, 0); /* (2*2 + 1)^2 + 1 */
  CHECK_NEAR(run_one(&f, x, 3, twice), 101, 0);
  CHECK_OK(f.status.code == CODE_OK, f.status);
  /* The graph is unchanged. */
  CHECK_INT_EQ(graph_num_nodes(f.graph), 6);
  CHECK(!graph_find_node(f.graph, "f/sum"));
  end(&f);
}

TEST(functions_call_functions_with_attrs_of_their_own) {
  Fixture f;
  REQUIRE(begin(&f));
  define(f.graph, "Twice[T:{float, double}](x:T) -> (y:T) { a = Add[T=$T](x, x) return y = a:z:0 }");
  define(f.graph,
         "Outer[T:type](p:T, q:T) -> (sum:T, left:T, both:T) {"
         "  a = Twice[T=$T](p)"
         "  b = Twice[T=$T](q)"
         "  c = Add[T=$T](a:y:0, b:y:0)"
         "  d = Twice[T=$T](c:z:0)"
         "  return sum = c:z:0, left = p, both = d:y:0 }");
  NodeOutput x = placeholder(f.graph, "x", "shape { }"), z = placeholder(f.graph, "z", "shape { }");
  NodeOutput inputs[] = {x, z};
  Node *outer = call(f.graph, "Outer", "outer", 2, inputs);
  const float values[] = {3, 5};
  CHECK_NEAR(run(&f, 2, inputs, values, (NodeOutput){outer, 0}), 16, 0);
  /* A result that is a fed argument: TensorFlow allows fetching the call's output. */
  CHECK_NEAR(run(&f, 2, inputs, values, (NodeOutput){outer, 1}), 3, 0);
  CHECK_NEAR(run(&f, 2, inputs, values, (NodeOutput){outer, 2}), 32, 0);
  CHECK_OK(f.status.code == CODE_OK, f.status);
  end(&f);
}

TEST(the_output_of_a_call_may_be_fed) {
  Fixture f;
  REQUIRE(begin(&f));
  define(f.graph,
         "Pair(x:float) -> (a:float, b:float) {"
         "  n = Neg[T=float](x) return a = n:y:0, b = n:y:0 }");
  NodeOutput x = placeholder(f.graph, "x", "shape { }");
  Node *pair = call(f.graph, "Pair", "pair", 1, &x);
  NodeOutput a = {pair, 0}, b = {pair, 1};
  NodeOutput sum = binary(f.graph, "Sub", "sum", a, b);
  CHECK_NEAR(run_one(&f, x, 7, sum), 0, 0);
  /* Only this output, although the function computes both together. */
  NodeOutput feeds[] = {x, a};
  CHECK_NEAR(run(&f, 2, feeds, (float[]){7, 100}, sum), 107, 0);
  feeds[0] = b;
  CHECK_NEAR(run(&f, 2, feeds, (float[]){30, 100}, sum), 70, 0);
  CHECK_OK(f.status.code == CODE_OK, f.status);
  end(&f);
}

static Node *assign(Graph *graph, const char *op, const char *name, NodeOutput handle, NodeOutput value) {
  NodeOutput inputs[] = {handle, value};
  Attr attrs[] = {{"dtype", "type: DT_FLOAT"}};
  return add_node(graph, op, name, inputs, 2, attrs, 1);
}

static NodeOutput read_variable(Graph *graph, const char *name, NodeOutput handle) {
  Attr attrs[] = {{"dtype", "type: DT_FLOAT"}};
  return out(add_node(graph, "ReadVariableOp", name, &handle, 1, attrs, 1));
}

static const char kCount[] =
    "Count(v:resource, x:float) -> (y:float) {"
    "  one = Const[dtype=float, value=1]()"
    "  add = AssignAddVariableOp[dtype=float](v, one:output:0)"
    "  n = Neg[T=float](x)"
    "  return y = n:y:0 }";

TEST(what_has_state_runs_in_every_call_and_only_then) {
  Fixture f;
  REQUIRE(begin(&f));
  define(f.graph, kCount);
  define(f.graph,
         "CountTwice(v:resource, x:float) -> (y:float) {"
         "  a = Count(v, x)  b = Count(v, a:y:0) return y = b:y:0 }");
  NodeOutput v = scalar_variable(f.graph, "v");
  Node *init = assign(f.graph, "AssignVariableOp", "init", v, scalar(f.graph, "zero", 0));
  NodeOutput x = scalar(f.graph, "x", 5);
  NodeOutput inputs[] = {v, x};
  Node *once = call(f.graph, "Count", "once", 2, inputs);
  Node *twice = call(f.graph, "CountTwice", "twice", 2, inputs);
  NodeOutput count = read_variable(f.graph, "count", v);
  REQUIRE(CHECK_OK(run_target(&f, init), f.status));
  CHECK_NEAR(run(&f, 0, NULL, NULL, out(once)), -5, 0);
  CHECK_NEAR(run(&f, 0, NULL, NULL, count), 1, 0);
  CHECK_NEAR(run(&f, 0, NULL, NULL, out(twice)), 5, 0);
  CHECK_NEAR(run(&f, 0, NULL, NULL, count), 3, 0);
  CHECK_OK(run_target(&f, once), f.status);
  CHECK_NEAR(run(&f, 0, NULL, NULL, count), 4, 0);
  CHECK_OK(run_target(&f, twice), f.status);
  CHECK_NEAR(run(&f, 0, NULL, NULL, count), 6, 0);
  end(&f);
}

static void add_control(Fixture *f, Node *from, Node *to) {
  Edge *edge;
  CHECK_OK(graph_add_control_edge(f->graph, from, to, &edge, &f->status), f->status);
}

TEST(control_edges_hold_around_calls_and_in_bodies) {
  Fixture f;
  REQUIRE(begin(&f));
  define(f.graph,
         "Read(v:resource) -> (y:float) {"
         "  r = ReadVariableOp[dtype=float](v) return y = r:value:0 }");
  define(f.graph,
         "DoubleThenRead(v:resource) -> (y:float) {"
         "  r = Read(v)"
         "  d = Mul[T=float](r:y:0, two:output:0)"
         "  two = Const[dtype=float, value=2]()"
         "  a = AssignVariableOp[dtype=float](v, d:z:0)"
         "  again = Read(v) @ a"
         "  return y = again:y:0 }");
  define(f.graph, "Nothing(x:float) -> (y:float) { return y = x }");
  NodeOutput v = scalar_variable(f.graph, "v");
  NodeOutput start = placeholder(f.graph, "start", "shape { }");
  Node *init = assign(f.graph, "AssignVariableOp", "init", v, start);
  Node *doubled = call(f.graph, "DoubleThenRead", "doubled", 1, &v);
  add_control(&f, init, doubled);
  CHECK_NEAR(run_one(&f, start, 3, out(doubled)), 6, 0);
  CHECK_NEAR(run_one(&f, start, 5, out(doubled)), 10, 0);
  /* Nodes after a call, and after one that computes nothing. */
  NodeOutput last = read_variable(f.graph, "last", v);
  add_control(&f, doubled, last.node);
  CHECK_NEAR(run_one(&f, start, 8, last), 16, 0);
  Node *nothing = call(f.graph, "Nothing", "nothing", 1, (NodeOutput[]){scalar(f.graph, "c", 1)});
  add_control(&f, doubled, nothing);
  NodeOutput very_last = read_variable(f.graph, "very_last", v);
  add_control(&f, nothing, very_last.node);
  CHECK_NEAR(run_one(&f, start, 9, very_last), 18, 0);
  CHECK_OK(f.status.code == CODE_OK, f.status);
  end(&f);
}

/* As in TensorFlow, a node has one random sequence, whichever way it is run. */
TEST(state_in_a_body_lives_as_long_as_the_session) {
  float drawn[2][3];
  for (int way = 0; way < 2; way++) {
    Fixture f;
    REQUIRE(begin(&f));
    define(f.graph,
           "Draw(shape:int32) -> (y:float) {"
           "  r = RandomUniform[dtype=float, T=int32, seed=5, seed2=7](shape) return y = r:output:0 }");
    Attr attrs[] = {{"dtype", "type: DT_INT32"},
                    {"value", "tensor { dtype: DT_INT32 tensor_shape { dim { size: 1 } } int_val: 1 }"}};
    NodeOutput shape = out(add_node(f.graph, "Const", "shape", NULL, 0, attrs, 2));
    NodeOutput draw = out(call(f.graph, "Draw", "draw", 1, &shape));
    NodeOutput same = unary(f.graph, "Identity", "same", draw);
    for (int i = 0; i < 3; i++) drawn[way][i] = run(&f, 0, NULL, NULL, way == 1 && i == 1 ? same : draw);
    CHECK_OK(f.status.code == CODE_OK, f.status);
    end(&f);
  }
  CHECK(drawn[0][0] != drawn[0][1] && drawn[0][1] != drawn[0][2]);
  CHECK_MEM_EQ(drawn[0], drawn[1], sizeof drawn[0]);
}

TEST(names_of_bodies_keep_clear_of_the_graphs) {
  Fixture f;
  REQUIRE(begin(&f));
  define(f.graph, kSquarePlusOne);
  NodeOutput x = placeholder(f.graph, "x", "shape { }");
  NodeOutput y = out(call(f.graph, "SquarePlusOne", "f", 1, &x));
  NodeOutput sum = unary(f.graph, "Neg", "f/sum", y);
  CHECK_NEAR(run_one(&f, x, 2, sum), -5, 0);
  CHECK_OK(f.status.code == CODE_OK, f.status);
  end(&f);
}

/* The words of TensorFlow 2.21 without its optimizers, for a call, PartitionedCall and If; CheckNumerics
 * prevents inlining of the functions, Reshape does not. */
static void check_levels(bool optimize, const char *fails, const char *call_text, const char *levels) {
  Fixture f;
  REQUIRE(begin(&f));
  session_optimize(f.session, optimize);
  char text[800];
  snprintf(text, sizeof text,
           "Inner(a:float) -> (y:float) { %s return y = bad:output:0 }\n"
           "Outer(a:float) -> (y:float) { inner = Inner(a) return y = inner:y:0 }\n"
           "Outermost(a:float) -> (y:float) { %s }\n",
           fails, call_text);
  define(f.graph, text);
  NodeOutput x = placeholder(f.graph, "x", "shape { unknown_rank: true }");
  NodeOutput y = out(call(f.graph, "Outermost", "call", 1, &x));
  run_one(&f, x, __builtin_nanf(""), y);
  check_failed(&f, CODE_INVALID_ARGUMENT, levels);
  end(&f);
}

TEST(errors_name_the_node_and_every_call) {
  static const char *const kFails[] =
      {"bad = CheckNumerics[T=float, message=\"oops\"](a)",
       "two = Const[dtype=int32, value=[2]]() bad = Reshape[T=float, Tshape=int32](a, two:output:0)"};
  for (int i = 0; i < 4; i++) {
    check_levels(i % 2, kFails[i / 2], "o = Outer(a) return y = o:y:0",
                 "\n\t [[{{node bad}}]]\n\t [[inner]]\n\t [[o]]\n\t [[call]]");
    check_levels(i % 2, kFails[i / 2],
                 "p = PartitionedCall[Tin={float}, Tout={float}, f=Outer](a) return y = p:output:0",
                 "\n\t [[{{node bad}}]]\n\t [[inner]]\n\t [[p]]\n\t [[call]]");
    check_levels(i % 2, kFails[i / 2],
                 "t = Const[dtype=bool, value=true]() if = If[Tcond=bool, Tin={float}, Tout={float}, "
                 "then_branch=Outer, "
                 "else_branch=Outer](t:output:0, a) return y = if:output:0",
                 "\n\t [[{{node bad}}]]\n\t [[inner]]\n\t [[if]]\n\t [[call]]");
  }
}

static NodeOutput count_up(Fixture *f, NodeOutput v, const char *name) {
  return out(assign(f->graph, "AssignAddVariableOp", name, v, scalar(f->graph, "one", 1)));
}

static const char kPass[] =
    "Pass(x:float) -> (y:float) { same = Identity[T=float](x) return y = same:output:0 }\n"
    "Drop(x:float) -> (y:float) { one = Const[dtype=float, value=1]() return y = one:output:0 }\n";

TEST(what_waits_for_a_call_waits_for_its_inputs) {
  static const char *const kCalls[] = {"Pass", "Drop"};
  for (int i = 0; i < 4; i++) {
    Fixture f;
    REQUIRE(begin(&f));
    session_optimize(f.session, i % 2 == 0);
    define(f.graph, kPass);
    NodeOutput x = placeholder(f.graph, "x", "shape { }");
    Attr message[] = {{"message", "s: 'oops'"}};
    NodeOutput checked = out(add_node(f.graph, "CheckNumerics", "check", &x, 1, message, 1));
    Node *pass = call(f.graph, kCalls[i / 2], "call", 1, &checked);
    NodeOutput r = unary(f.graph, "Identity", "r", scalar(f.graph, "one", 1));
    add_control(&f, pass, r.node);
    run_one(&f, x, __builtin_nanf(""), r);
    check_failed(&f, CODE_INVALID_ARGUMENT, "oops : Tensor had NaN values");
    run_one(&f, x, __builtin_nanf(""), out(pass));
    check_failed(&f, CODE_INVALID_ARGUMENT, "oops : Tensor had NaN values");
    CHECK_NEAR(run_one(&f, x, 3, r), 1, 0);
    end(&f);
  }
}

TEST(effects_around_calls_keep_their_order) {
  static const char *const kCalls[] = {"Pass", "Drop"};
  for (int i = 0; i < 4; i++) {
    Fixture f;
    REQUIRE(begin(&f));
    session_optimize(f.session, i % 2 == 0);
    define(f.graph, kPass);
    NodeOutput v = scalar_variable(f.graph, "v");
    Node *init = assign(f.graph, "AssignVariableOp", "init", v, scalar(f.graph, "start", 1));
    REQUIRE(CHECK_OK(run_target(&f, init), f.status));
    NodeOutput reads[3];
    Node *before = count_up(&f, v, "add").node;
    for (int k = 0; k < 3; k++) {
      char name[3][16];
      snprintf(name[0], 16, "read%d", k);
      snprintf(name[1], 16, "call%d", k);
      snprintf(name[2], 16, "add%d", k);
      reads[k] = read_variable(f.graph, name[0], v);
      add_control(&f, before, reads[k].node);
      if (k == 2) break;
      Node *passed = call(f.graph, kCalls[i / 2], name[1], 1, &reads[k]);
      NodeOutput inputs[] = {v, scalar(f.graph, name[2], 1)};
      Attr attrs[] = {{"dtype", "type: DT_FLOAT"}};
      snprintf(name[2], 16, "more%d", k);
      before = add_node(f.graph, "AssignAddVariableOp", name[2], inputs, 2, attrs, 1);
      add_control(&f, passed, before);
    }
    Tensor results[3] = {{0}};
    if (CHECK_OK(session_run(f.session, NULL, NULL, 0, reads, results, 3, NULL, 0, &f.status), f.status)) {
      for (int k = 0; k < 3; k++) CHECK_NEAR(tensor_f32(&results[k])[0], 2 + k, 0);
    }
    for (int k = 0; k < 3; k++) tensor_clear(&results[k]);
    end(&f);
  }
}

/* Shape inference knows the values of Size and Rank; their inputs run nevertheless. */
TEST(folding_by_shapes_loses_no_effect) {
  for (int i = 0; i < 2; i++) {
    Fixture f;
    REQUIRE(begin(&f));
    session_optimize(f.session, i == 0);
    NodeOutput v = scalar_variable(f.graph, "v");
    Node *init = assign(f.graph, "AssignVariableOp", "init", v, scalar(f.graph, "start", 1));
    REQUIRE(CHECK_OK(run_target(&f, init), f.status));
    NodeOutput x = placeholder(f.graph, "x", "shape { }");
    NodeOutput same = unary(f.graph, "Identity", "same", unary(f.graph, "Neg", "neg", x));
    add_control(&f, count_up(&f, v, "add").node, same.node);
    Attr types[] = {{"SrcT", "type: DT_INT32"}, {"DstT", "type: DT_FLOAT"}};
    NodeOutput size = unary(f.graph, "Size", "size", unary(f.graph, "Square", "square", same));
    NodeOutput y = out(add_node(f.graph, "Cast", "y", &size, 1, types, 2));
    CHECK_NEAR(run_one(&f, x, 3, y), 1, 0);
    CHECK_NEAR(run(&f, 0, NULL, NULL, read_variable(f.graph, "read", v)), 2, 0);
    CHECK_OK(f.status.code == CODE_OK, f.status);
    end(&f);
  }
}

/* The op PartitionedCall is not stateful, but its function may be. */
TEST(equal_calls_with_effects_are_two) {
  for (int i = 0; i < 2; i++) {
    Fixture f;
    REQUIRE(begin(&f));
    session_optimize(f.session, i == 0);
    define(f.graph, kCount);
    define(f.graph,
           "Both(v:resource, x:float) -> (y:float) {"
           "  a = PartitionedCall[Tin={resource, float}, Tout={float}, f=Count](v, x)"
           "  b = PartitionedCall[Tin={resource, float}, Tout={float}, f=Count](v, x)"
           "  sum = Add[T=float](a:output:0, b:output:0)"
           "  return y = sum:z:0 }");
    NodeOutput v = scalar_variable(f.graph, "v");
    Node *init = assign(f.graph, "AssignVariableOp", "init", v, scalar(f.graph, "start", 0));
    REQUIRE(CHECK_OK(run_target(&f, init), f.status));
    NodeOutput inputs[] = {v, scalar(f.graph, "x", 5)};
    CHECK_NEAR(run(&f, 0, NULL, NULL, out(call(f.graph, "Both", "both", 2, inputs))), -10, 0);
    CHECK_NEAR(run(&f, 0, NULL, NULL, read_variable(f.graph, "read", v)), 2, 0);
    CHECK_OK(f.status.code == CODE_OK, f.status);
    end(&f);
  }
}

TEST(calls_without_an_end_are_refused) {
  Fixture f;
  REQUIRE(begin(&f));
  define(f.graph, "Loop(x:float) -> (y:float) { a = Loop(x) return y = a:y:0 }");
  /* Each calls the next one twice. */
  for (int i = 0; i < 40; i++) {
    char text[200], last[] = "a = Neg[T=float](x) b = Neg[T=float](a:y:0)";
    snprintf(text, sizeof text, "a = F%d(x) b = F%d(a:y:0)", i + 1, i + 1);
    char whole[300];
    snprintf(whole, sizeof whole, "F%d(x:float) -> (y:float) { %s return y = b:y:0 }", i,
             i < 39 ? text : last);
    define(f.graph, whole);
  }
  NodeOutput x = placeholder(f.graph, "x", "shape { }");
  NodeOutput loop = out(call(f.graph, "Loop", "loop", 1, &x));
  NodeOutput wide = out(call(f.graph, "F0", "wide", 1, &x));
  run_one(&f, x, 1, loop);
  check_failed(&f, CODE_INVALID_ARGUMENT, "Calls of functions are nested more than 256 deep");
  run_one(&f, x, 1, wide);
  check_failed(&f, CODE_RESOURCE_EXHAUSTED, "would make a graph of more than");
  /* Neither affects nodes that do not need it. */
  NodeOutput small = out(call(f.graph, "F34", "small", 1, &x));
  CHECK_NEAR(run_one(&f, x, 3, small), 3, 0); /* 64 negations */
  CHECK_OK(f.status.code == CODE_OK, f.status);
  end(&f);
}

TEST(little_memory_is_an_error_and_no_more) {
  for (int64_t allocations = 0;; allocations += shortage_stride(allocations)) {
    Fixture f;
    REQUIRE(begin(&f));
    define(f.graph, kCount);
    define(f.graph, kSquarePlusOne);
    NodeOutput v = scalar_variable(f.graph, "v");
    NodeOutput zero = scalar(f.graph, "zero", 0);
    Node *init = assign(f.graph, "AssignVariableOp", "init", v, zero);
    REQUIRE(CHECK_OK(run_target(&f, init), f.status));
    NodeOutput squared = out(call(f.graph, "SquarePlusOne", "squared", 1, &zero));
    NodeOutput inputs[] = {v, squared};
    NodeOutput y = out(call(f.graph, "Count", "count", 2, inputs));
    Tensor result = {0};
    mem_fail_after(allocations);
    bool ok = session_run(f.session, NULL, NULL, 0, &y, &result, 1, NULL, 0, &f.status);
    mem_fail_after(-1);
    if (!ok) CHECK_INT_EQ(f.status.code, CODE_RESOURCE_EXHAUSTED);
    if (ok) CHECK_NEAR(tensor_f32(&result)[0], -1, 0);
    tensor_clear(&result);
    end(&f);
    if (ok || allocations > 20000) {
      CHECK(ok && allocations > 20);
      break;
    }
  }
}
