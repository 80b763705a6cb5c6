/* The same graphs in sessions with and without the optimizer: nodes that one inlines, folds and merges run
 * unchanged in the other, and the results are identical. */
#include <stdio.h>
#include <string.h>

#include "runtime/session_fixture.h"

/* Runs without the optimizer as well. */
typedef struct Pair {
  Fixture optimized, plain; /* of one graph */
} Pair;

static bool begin_pair(Pair *p, const char *library) {
  if (!begin(&p->optimized) || !define(p->optimized.graph, library)) return false;
  p->plain = p->optimized;
  p->plain.session = session_new(p->plain.graph, &p->plain.status);
  if (!CHECK(p->plain.session)) return false;
  session_optimize(p->plain.session, false);
  return true;
}

static void end_pair(Pair *p) {
  session_free(p->plain.session);
  end(&p->optimized);
}

static bool fetch(Fixture *f, int num_feeds, const NodeOutput *feeds, const Tensor *const *values,
                  NodeOutput output, Tensor *result) {
  return CHECK_OK(session_run(f->session, feeds, values, num_feeds, &output, result, 1, NULL, 0, &f->status),
                  f->status);
}

/* The float elements of the output in both sessions; `got` has space for them. */
static bool run_both(Pair *p, int num_feeds, const NodeOutput *feeds, const Tensor *const *values,
                     NodeOutput output, float *got, int count) {
  Tensor with = {0}, without = {0};
  bool ok = fetch(&p->optimized, num_feeds, feeds, values, output, &with) &&
            fetch(&p->plain, num_feeds, feeds, values, output, &without) &&
            CHECK_INT_EQ(tensor_num_elements(&with), count) &&
            CHECK_INT_EQ(tensor_num_elements(&without), count) &&
            CHECK_MEM_EQ(with.data, without.data, sizeof(float) * (size_t)count);
  if (ok) memcpy(got, with.data, sizeof(float) * (size_t)count);
  tensor_clear(&with);
  tensor_clear(&without);
  return ok;
}

/* --- the nodes that the optimizer removes run --- */

static int runs;

static bool counted_kernel(KernelContext *context, Status *status) {
  runs++;
  return kernel_set_output(context, 0, context->inputs[0], NULL, status);
}

static const OpRegistration kCounted = {.name = "Counted",
                                        .inputs = {"x: float"},
                                        .outputs = {"y: float"},
                                        .shape = shape_unknown_outputs,
                                        .gradient = NO_GRADIENT,
                                        .kernels = {{DT_INVALID, counted_kernel}}};

static int runs_of_step(Fixture *f, NodeOutput x, const Tensor *value, NodeOutput y, float want) {
  Tensor result = {0};
  runs = 0;
  if (fetch(f, 1, &x, &value, y, &result)) CHECK_NEAR(tensor_f32(&result)[0], want, 0);
  tensor_clear(&result);
  return runs;
}

TEST(every_node_runs_without_the_optimizer) {
  Pair p;
  Status status;
  status_init(&status);
  REQUIRE_OK(op_registry_add(op_registry_global(), &kCounted, &status), status);
  REQUIRE(begin_pair(&p,
                     "Both(x:float) -> (y:float) { a = Counted(x) b = Counted(x) y = Add[T=float](a:y:0, "
                     "b:y:0) return y = y:z:0 }"));
  Graph *graph = p.plain.graph;
  NodeOutput x = placeholder(graph, "x", "shape { }");
  NodeOutput two = unary(graph, "Counted", "two", scalar(graph, "c", 2)); /* can be folded */
  NodeOutput a = unary(graph, "Counted", "a", x), b = unary(graph, "Counted", "b", x);
  NodeOutput sum = binary(graph, "Add", "sum", binary(graph, "Add", "ab", a, b), two);
  NodeOutput y = binary(graph, "Mul", "y", sum, unary(graph, "Both", "both", x));
  Tensor value = {0};
  REQUIRE(float_tensor(&value, 0, NULL, &(float){3}));
  CHECK_INT_EQ(runs_of_step(&p.plain, x, &value, y, 48), 5);
  CHECK_INT_EQ(runs_of_step(&p.plain, x, &value, y, 48), 5);
  runs_of_step(&p.optimized, x, &value, y, 48);
  CHECK_INT_EQ(runs_of_step(&p.optimized, x, &value, y, 48), 1);
  tensor_clear(&value);
  end_pair(&p);
}

/* --- the results are the same --- */

TEST(calls_give_the_same_without_the_optimizer) {
  Pair p;
  REQUIRE(begin_pair(&p,
                     "Poly(x:float) -> (y:float) {\n"
                     "  a = Mul[T=float](x, x)\n"
                     "  b = Mul[T=float](x, x)\n"
                     "  y = Add[T=float](a:z:0, b:z:0)\n"
                     "  return y = y:z:0\n"
                     "}\n"
                     "Deep(x:float) -> (y:float, z:float) {\n"
                     "  a = Poly(x)\n"
                     "  b = Poly(a:y:0)\n"
                     "  c = Neg[T=float](x)\n"
                     "  return y = b:y:0, z = c:y:0\n"
                     "}\n"));
  Graph *graph = p.plain.graph;
  NodeOutput x = placeholder(graph, "x", "shape { }"), three = scalar(graph, "three", 3);
  NodeOutput nine = binary(graph, "Mul", "nine", three, three);
  Node *deep = add_node(graph, "Deep", "deep", &x, 1, NULL, 0);
  NodeOutput difference = binary(graph, "Sub", "difference", out(deep), (NodeOutput){deep, 1});
  NodeOutput last = binary(graph, "Add", "last", difference, nine);
  for (int i = -3; i <= 3; i++) {
    float at = (float)i / 2, squares = 2 * at * at, got;
    Tensor value = {0};
    const Tensor *values[] = {&value};
    if (float_tensor(&value, 0, NULL, &at) && run_both(&p, 1, &x, values, last, &got, 1))
      CHECK_NEAR(got, 2 * squares * squares + at + 9, 0);
    if (run_both(&p, 0, NULL, NULL, nine, &got, 1)) CHECK_NEAR(got, 9, 0);
    tensor_clear(&value);
  }
  end_pair(&p);
}

/* A training step: a loop, a branch, a call, random numbers, the gradient through all of them, and the update
 * of a variable. */
static const char kTraining[] =
    "Below(i:int32, n:int32, s:float, w:float) -> (go:bool) {\n"
    "  go = Less[T=int32](i, n)\n"
    "  return go = go:z:0\n"
    "}\n"
    "Layer(i:int32, n:int32, s:float, w:float) -> (j:int32, m:int32, t:float, v:float) {\n"
    "  one = Const[dtype=int32, value=1]()\n"
    "  j = Add[T=int32](i, one:output:0)\n"
    "  sw = Mul[T=float](s, w)\n"
    "  t = Tanh[T=float](sw:z:0)\n"
    "  return j = j:z:0, m = n, t = t:y:0, v = w\n"
    "}\n"
    "Squares(y:float) -> (z:float) {\n"
    "  z = Square[T=float](y)\n"
    "  return z = z:y:0\n"
    "}\n"
    "Distances(y:float) -> (z:float) {\n"
    "  half = Const[dtype=float, value=0.5]()\n"
    "  two = Add[T=float](half:output:0, half:output:0)\n"
    "  less = Sub[T=float](y, two:z:0)\n"
    "  same = Sub[T=float](y, two:z:0)\n"
    "  z = Mul[T=float](less:z:0, same:z:0)\n"
    "  return z = z:z:0\n"
    "}\n"
    "Loss(w:float, x:float) -> (l:float) {\n"
    "  zero = Const[dtype=int32, value=0]()\n"
    "  three = Const[dtype=int32, value=3]()\n"
    "  none = Const[dtype=float, value=0]()\n"
    "  deep = While[T={int32, int32, float, float}, cond=Below, body=Layer](zero:output:0, "
    "three:output:0, x, w)\n"
    "  total = Sum[T=float, Tidx=int32](x, zero:output:0)\n"
    "  positive = Greater[T=float](total:output:0, none:output:0)\n"
    "  parts = If[Tcond=bool, Tin={float}, Tout={float}, then_branch=Squares, "
    "else_branch=Distances](positive:z:0, deep:output:2)\n"
    "  l = Mean[T=float, Tidx=int32](parts:output:0, zero:output:0)\n"
    "  return l = l:output:0\n"
    "}\n"
    "Train(v:resource, rate:float) -> (l:float) {\n"
    "  shape = Const[dtype=int32, value=[4]]()\n"
    "  one = Const[dtype=float, value=1]()\n"
    "  w = ReadVariableOp[dtype=float](v)\n"
    "  x = RandomStandardNormal[dtype=float, T=int32, seed=7, seed2=3](shape:output:0)\n"
    "  l = Loss(w:value:0, x:output:0)\n"
    "  g = SymbolicGradient[Tin={float, float, float}, Tout={float, float}, f=Loss](w:value:0, x:output:0, "
    "one:output:0)\n"
    "  step = ResourceApplyGradientDescent[T=float](v, rate, g:output:0)\n"
    "  return l = l:l:0\n"
    "}\n";

TEST(training_gives_the_same_without_the_optimizer) {
  enum { SIZE = 4, STEPS = 12 };
  Pair p;
  REQUIRE(begin_pair(&p, kTraining));
  Graph *graph = p.plain.graph;
  Attr attrs[] = {{"dtype", "type: DT_FLOAT"}, {"shape", "shape { dim { size: 4 } }"}};
  NodeOutput v = out(add_node(graph, "VarHandleOp", "v", NULL, 0, attrs, 2));
  NodeOutput start = constant(graph, "start",
                              "tensor_shape { dim { size: 4 } } float_val: 0.5 float_val: -1 float_val: 2 "
                              "float_val: 1.25");
  NodeOutput started[] = {v, start}, trained[] = {v, scalar(graph, "rate", 0.25f)};
  Node *init = add_node(graph, "AssignVariableOp", "init", started, 2, NULL, 0);
  NodeOutput loss = out(add_node(graph, "Train", "train", trained, 2, NULL, 0));
  NodeOutput weights = out(add_node(graph, "ReadVariableOp", "weights", &v, 1, attrs, 1));
  REQUIRE_OK(run_target(&p.optimized, init), p.optimized.status);
  REQUIRE_OK(run_target(&p.plain, init), p.plain.status);
  float losses[STEPS] = {0}, before[SIZE] = {0.5f, -1, 2, 1.25f}, after[SIZE];
  for (int i = 0; i < STEPS; i++) {
    CHECK_CONTEXT("step %d", i);
    if (!run_both(&p, 0, NULL, NULL, loss, &losses[i], 1)) break;
    if (!run_both(&p, 0, NULL, NULL, weights, after, SIZE)) break;
    CHECK(losses[i] > 0 && losses[i] < 4 && (i == 0 || losses[i] != losses[i - 1]));
    for (int k = 0; k < SIZE; k++) CHECK(after[k] != before[k] && after[k] > -3 && after[k] < 3);
    memcpy(before, after, sizeof after);
  }
  CHECK_CONTEXT("%s", "");
  end_pair(&p);
}

/* --- loops and branches, which the optimizer turns into Switch, Merge and Enter --- */

/* Divides 12 by 3, 2, 1 and 0 in the rounds of a loop, in a branch, in a function. */
static const char kMore[] =
    "More(i:int32, n:int32, q:int32) -> (b:bool) {\n  b = Less[T=int32](i, n)\n  return b = b:z:0\n}\n";
static const char kSafe[] = "Safe(x:int32) -> (y:int32) {\n  y = Neg[T=int32](x)\n  return y = y:y:0\n}\n";
static const char kDivide[] =
    "Divide(x:int32) -> (y:int32) {\n  twelve = Const[dtype=int32, value=12]()\n"
    "  quotient = FloorDiv[T=int32](twelve:output:0, x)\n  return y = quotient:z:0\n}\n";
static const char kTurn[] =
    "Turn(i:int32, n:int32, q:int32) -> (j:int32, n2:int32, q2:int32) {\n"
    "  one = Const[dtype=int32, value=1]()\n  three = Const[dtype=int32, value=3]()\n"
    "  j = Add[T=int32](i, one:output:0)\n  d = Sub[T=int32](three:output:0, i)\n"
    "  c = GreaterEqual[T=int32](n, one:output:0)\n"
    "  branch = If[Tcond=bool, Tin={int32}, Tout={int32}, then_branch=Divide, else_branch=Safe](c:z:0, "
    "d:z:0)\n"
    "  sum = Add[T=int32](q, branch:output:0)\n  return j = j:z:0, n2 = n, q2 = sum:z:0\n}\n";
static const char kTotal[] =
    "Total(n:int32) -> (q:int32) {\n  zero = Const[dtype=int32, value=0]()\n"
    "  loop = While[T={int32, int32, int32}, cond=More, body=Turn](zero:output:0, n, zero:output:0)\n"
    "  return q = loop:output:2\n}\n";

static bool total_of(Fixture *f, NodeOutput total, int32_t *value) {
  Tensor result = {0};
  bool ok = session_run(f->session, NULL, NULL, 0, &total, &result, 1, NULL, 0, &f->status);
  if (ok) *value = *tensor_i32(&result);
  tensor_clear(&result);
  return ok;
}

TEST(errors_in_loops_and_branches_read_the_same_without_the_optimizer) {
  Pair p;
  REQUIRE(begin_pair(&p, kMore));
  Graph *graph = p.plain.graph;
  REQUIRE(define(graph, kSafe) && define(graph, kDivide) && define(graph, kTurn) && define(graph, kTotal));
  Fixture *both[] = {&p.optimized, &p.plain};
  Attr three[] = {{"dtype", "type: DT_INT32"},
                  {"value", "tensor { dtype: DT_INT32 tensor_shape { } int_val: 3 }"}};
  Attr four[] = {{"dtype", "type: DT_INT32"},
                 {"value", "tensor { dtype: DT_INT32 tensor_shape { } int_val: 4 }"}};
  NodeOutput n3 = out(add_node(graph, "Const", "three", NULL, 0, three, 2));
  NodeOutput n4 = out(add_node(graph, "Const", "four", NULL, 0, four, 2));
  NodeOutput good = out(add_node(graph, "Total", "good", &n3, 1, NULL, 0));
  NodeOutput bad = out(add_node(graph, "Total", "bad", &n4, 1, NULL, 0));
  for (int i = 0; i < 2; i++) {
    int32_t total = 0;
    CHECK_CONTEXT("%s", i == 0 ? "optimized" : "plain");
    CHECK_OK(total_of(both[i], good, &total), both[i]->status);
    CHECK_INT_EQ(total, 4 + 6 + 12);
    CHECK_ERROR(total_of(both[i], bad, &total), both[i]->status, CODE_INVALID_ARGUMENT,
                "Integer division by zero\n\t [[{{node quotient}}]]\n\t [[branch]]\n\t [[loop]]\n\t [[bad]]");
    status_init(&both[i]->status);
  }
  CHECK_CONTEXT("%s", "");
  end_pair(&p);
}

static const char kCounting[] =
    "Step(i:int32, n:int32, q:int32) -> (j:int32, n2:int32, q2:int32) {\n"
    "  one = Const[dtype=int32, value=1]()\n  j = Add[T=int32](i, one:output:0)\n"
    "  sum = Sub[T=int32](q, one:output:0)\n  return j = j:z:0, n2 = n, q2 = sum:z:0\n}\n"
    "Count(n:int32) -> (i:int32) {\n  zero = ZerosLike[T=int32](n)\n"
    "  loop = While[T={int32, int32, int32}, cond=More, body=Step](zero:y:0, n, zero:y:0)\n"
    "  return i = loop:output:0\n}\n";

/* The bytes that a session holds after a step, with the buffers that it keeps for the next one. */
static bool live_after(int rounds, int64_t *bytes) {
  Fixture f;
  char text[100];
  int32_t counted = 0;
  bool ok = begin(&f) && define(f.graph, kMore) && define(f.graph, kCounting);
  snprintf(text, sizeof text, "tensor { dtype: DT_INT32 tensor_shape { } int_val: %d }", rounds);
  Attr value[] = {{"dtype", "type: DT_INT32"}, {"value", text}};
  if (ok) {
    NodeOutput n = out(add_node(f.graph, "Const", "n", NULL, 0, value, 2));
    NodeOutput last = out(add_node(f.graph, "Count", "count", &n, 1, NULL, 0));
    ok = CHECK_OK(total_of(&f, last, &counted), f.status) && CHECK_INT_EQ(counted, rounds);
    *bytes = mem_live_bytes();
  }
  end(&f);
  return ok;
}

TEST(the_memory_of_a_loop_does_not_grow_with_its_rounds) {
  int64_t few = 0, many = 1;
  if (live_after(3, &few) && live_after(30000, &many)) CHECK_INT_EQ(many, few);
}
