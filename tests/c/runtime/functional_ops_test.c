/* If, Case, While, For and calls, run by the function runtime: values compared with closed forms. */
#include "runtime/function_fixture.h"

/* n! by a recursive function, 2^n by a loop, a geometric series, a branch by number. */
static const char kLibrary[] =
    "One(n:int32) -> (y:int32) {\n"
    "  one = Const[dtype=int32, value=1]()\n"
    "  return y = one:output:0\n"
    "}\n"
    "Step(n:int32) -> (y:int32) {\n"
    "  one = Const[dtype=int32, value=1]()\n"
    "  less = Sub[T=int32](n, one:output:0)\n"
    "  rest = Factorial(less:z:0)\n"
    "  y = Mul[T=int32](n, rest:y:0)\n"
    "  return y = y:z:0\n"
    "}\n"
    "Factorial(n:int32) -> (y:int32) {\n"
    "  one = Const[dtype=int32, value=1]()\n"
    "  more = Greater[T=int32](n, one:output:0)\n"
    "  y = If[Tcond=bool, Tin={int32}, Tout={int32}, then_branch=Step, else_branch=One](more:z:0, n)\n"
    "  return y = y:output:0\n"
    "}\n"
    "Below(i:int32, n:int32, p:float) -> (go:bool) {\n"
    "  go = Less[T=int32](i, n)\n"
    "  return go = go:z:0\n"
    "}\n"
    "Double(i:int32, n:int32, p:float) -> (j:int32, m:int32, q:float) {\n"
    "  one = Const[dtype=int32, value=1]()\n"
    "  j = Add[T=int32](i, one:output:0)\n"
    "  q = Add[T=float](p, p)\n"
    "  return j = j:z:0, m = n, q = q:z:0\n"
    "}\n"
    "Power(n:int32, p:float) -> (q:float) {\n"
    "  zero = Const[dtype=int32, value=0]()\n"
    "  w = While[T={int32, int32, float}, cond=Below, body=Double](zero:output:0, n, p)\n"
    "  return q = w:output:2\n"
    "}\n"
    "Weigh(i:int32, s:float) -> (t:float) {\n"
    "  f = Cast[SrcT=int32, DstT=float](i)\n"
    "  t = Add[T=float](s, f:y:0)\n"
    "  return t = t:z:0\n"
    "}\n"
    "Total(a:int32, b:int32, d:int32, s:float) -> (t:float) {\n"
    "  l = For[T={float}, body=Weigh](a, b, d, s)\n"
    "  return t = l:output:0\n"
    "}\n"
    "Negate(x:float) -> (y:float) {\n"
    "  y = Neg[T=float](x)\n"
    "  return y = y:y:0\n"
    "}\n"
    "Squared(x:float) -> (y:float) {\n"
    "  y = Square[T=float](x)\n"
    "  return y = y:y:0\n"
    "}\n"
    "Same(x:float) -> (y:float) {\n"
    "  return y = x\n"
    "}\n"
    "Choose(i:int32, x:float) -> (y:float) {\n"
    "  y = Case[Tin={float}, Tout={float}, branches=[Negate, Squared, Same]](i, x)\n"
    "  return y = y:output:0\n"
    "}\n"
    "Twice(x:float) -> (y:float, z:float) {\n"
    "  a = PartitionedCall[Tin={float}, Tout={float}, f=Squared](x)\n"
    "  b = StatefulPartitionedCall[Tin={float}, Tout={float}, f=Negate](a:output:0)\n"
    "  here = Const[dtype=string, value=Attr<tensor { dtype: DT_STRING tensor_shape { } string_val: "
    "\"/cpu:0\" }>]()\n"
    "  c = RemoteCall[Tin={float}, Tout={float}, f=Negate](here:output:0, b:output:0)\n"
    "  return y = b:output:0, z = c:output:0\n"
    "}\n"
    "Later(x:float) -> (y:float) {\n"
    "  one = Const[dtype=float, value=1]() @ x\n"
    "  r = RandomUniform[T=int32, dtype=float](n:output:0) @ x\n"
    "  n = Const[dtype=int32, value=[2]]()\n"
    "  y = Add[T=float](x, one:output:0) @ r\n"
    "  return y = y:z:0\n"
    "}\n"
    "Outer(x:float) -> (y:float) {\n"
    "  y = Later(x)\n"
    "  return y = y:y:0\n"
    "}\n"
    "Endless(x:float) -> (y:float) {\n"
    "  y = PartitionedCall[Tin={float}, Tout={float}, f=Endless](x)\n"
    "  return y = y:output:0\n"
    "}\n";

TEST(functions_call_themselves) {
  Functions f;
  if (functions_begin(&f, kLibrary)) {
    function_gives(&f, "Factorial", "int32[] 1", "int32[] 1");
    function_gives(&f, "Factorial", "int32[] 10", "int32[] 3628800");
    function_fails(&f, "Factorial", "int32[] 1000", 1, CODE_INVALID_ARGUMENT, "nested more than 256 deep");
    function_gives(&f, "Factorial", "int32[] 5", "int32[] 120");
    function_fails(&f, "Endless", "float[] 1", 1, CODE_INVALID_ARGUMENT, "nested more than 256 deep");
  }
  functions_end(&f);
}

TEST(loops_run_as_long_as_they_are_told) {
  Functions f;
  if (functions_begin(&f, kLibrary)) {
    function_gives(&f, "Power", "int32[] 0; float[2] 1 3", "float[2] 1 3");
    function_gives(&f, "Power", "int32[] 10; float[2] 1 3", "float[2] 1024 3072");
    function_gives(&f, "Total", "int32[] 1; int32[] 5; int32[] 1; float[] 0.5", "float[] 10.5");
    function_gives(&f, "Total", "int32[] 5; int32[] 1; int32[] -2; float[] 0", "float[] 8");
    function_gives(&f, "Total", "int32[] 5; int32[] 5; int32[] 0; float[] 7", "float[] 7");
    function_gives(&f, "Total", "int32[] 2147483646; int32[] 2147483647; int32[] 2; float[] 0",
                   "float[] 2147483646");
    function_fails(&f, "Total", "int32[] 0; int32[] 10; int32[] 0; float[] 0", 1, CODE_INVALID_ARGUMENT,
                   "Invalid start/limit/delta: 0 10 0");
    function_fails(&f, "Total", "int32[2] 0 1; int32[] 10; int32[] 1; float[] 0", 1, CODE_INVALID_ARGUMENT,
                   "start must be a scalar, but [2]");
  }
  functions_end(&f);
}

TEST(branches_are_chosen) {
  Functions f;
  if (functions_begin(&f, kLibrary)) {
    function_gives(&f, "Choose", "int32[] 0; float[] 3", "float[] -3");
    function_gives(&f, "Choose", "int32[] 1; float[] 3", "float[] 9");
    function_gives(&f, "Choose", "int32[] 2; float[] 3", "float[] 3");
    function_gives(&f, "Choose", "int32[] 3; float[] 4", "float[] 4");
    function_gives(&f, "Choose", "int32[] -1; float[] 4", "float[] 4");
    function_fails(&f, "Choose", "int32[1] 0; float[] 3", 1, CODE_INVALID_ARGUMENT,
                   "branch_index must be scalar");
    function_gives(&f, "Twice", "float[] 3", "float[] -9; float[] 9");
  }
  functions_end(&f);
}

TEST(waiting_for_an_argument_is_no_wait) {
  Functions f;
  if (functions_begin(&f, kLibrary)) {
    function_gives(&f, "Later", "float[] 3", "float[] 4");
    function_gives(&f, "Outer", "float[] 3", "float[] 4");
  }
  functions_end(&f);
}

TEST(kernels_of_nodes_that_are_calls) {
  Functions f;
  if (functions_begin(&f, kLibrary)) {
    Arena *arena = arena_new();
    NodeDef *node = node_def_new(arena, "call", "Squared");
    OpKernel *kernel = NULL;
    if (CHECK_OK(function_runtime_create_kernel(f.runtime, node, &kernel, &f.status), f.status)) {
      Tensor x = {0}, y = {0};
      const Tensor *inputs[] = {&x};
      int count;
      CHECK_OK(tensors_parse("float[2] 3 -4", &x, 1, &count, &f.status), f.status);
      Step step;
      step_begin(&step, 0, NULL);
      KernelContext context = {.inputs = inputs,
                               .outputs = &y,
                               .functions = function_runtime_caller(f.runtime),
                               .step = &step};
      if (CHECK_OK(op_kernel_run(kernel, &context, &f.status), f.status)) {
        CHECK_NEAR(tensor_f32(&y)[0], 9, 0);
        CHECK_NEAR(tensor_f32(&y)[1], 16, 0);
      }
      tensor_clear(&x);
      tensor_clear(&y);
    }
    op_kernel_free(kernel);
    arena_free(arena);
    CHECK(function_runtime_is_stateful(f.runtime, "Later"));
    CHECK(!function_runtime_is_stateful(f.runtime, "Squared"));
    CHECK(!function_runtime_is_stateful(f.runtime, "Nowhere"));
  }
  functions_end(&f);
}

TEST(a_cancelled_function_does_not_start) {
  Functions f;
  if (functions_begin(&f, kLibrary)) {
    atomic_bool cancelled = true;
    FunctionRunOptions options = {&cancelled};
    Tensor x = {0}, y = {0};
    const Tensor *args[] = {&x};
    int count;
    int64_t handle;
    CHECK_OK(tensors_parse("float[] 3", &x, 1, &count, &f.status), f.status);
    CHECK_OK(function_runtime_instantiate(f.runtime, "Squared", NULL, 0, NULL, &handle, &f.status), f.status);
    CHECK_ERROR(function_runtime_run(f.runtime, handle, &options, args, 1, &y, 1, &f.status), f.status,
                CODE_CANCELLED, "Function was cancelled before it was started");
    atomic_store(&cancelled, false);
    CHECK_OK(function_runtime_run(f.runtime, handle, &options, args, 1, &y, 1, &f.status), f.status);
    tensor_clear(&x);
    tensor_clear(&y);
  }
  functions_end(&f);
}

TEST(calls_check_what_they_are_given) {
  Functions f;
  if (functions_begin(&f, kLibrary)) {
    function_fails(&f, "Squared", "", 1, CODE_INVALID_ARGUMENT, "Expects 1 arguments, but 0 is provided");
    function_fails(&f, "Squared", "int64[] 1", 1, CODE_INVALID_ARGUMENT,
                   "Expects arg[0] to be float but int64 is provided");
    function_fails(&f, "Foo", "int64[] 1", 1, CODE_NOT_FOUND, "Function Foo is not defined.");
    function_gives(&f, "Same", "float[2] 1 2", "float[2] 1 2");
  }
  functions_end(&f);
}

/* --- calls that pause --- */

/* Pauses at the next checkpoint. */
static void pause_soon(Step *step) {
  step->pause_at = 0;
  step->countdown = 1;
}

/* Runs a function in slices as short as possible, at most `most` of them, and then abandons it. Returns their
 * number. */
static int run_in_pieces(Functions *f, const char *name, const char *inputs, int most, RunState *state,
                         Tensor *result) {
  const FunctionCaller *caller = function_runtime_caller(f->runtime);
  Tensor args[FUNCTION_TENSORS] = {{0}};
  FunctionCall *call = NULL;
  Step step;
  int64_t handle;
  int count = 0, pieces = 0;
  *state = RUN_FAILED;
  step_begin(&step, 0, NULL);
  if (!CHECK_OK(tensors_parse(inputs, args, FUNCTION_TENSORS, &count, &f->status), f->status) ||
      !CHECK_OK(function_runtime_instantiate(f->runtime, name, NULL, 0, NULL, &handle, &f->status),
                f->status))
    return 0;
  do {
    pause_soon(&step);
    *state = caller->run(caller->owner, handle, &call, &step, args, count, result, 1, &f->status);
    pieces++;
    CHECK((*state == RUN_WAITING) == (call != NULL));
    for (int i = 0; i < count; i++) CHECK(tensor_is_empty(&args[i]));
  } while (*state == RUN_WAITING && pieces < most);
  caller->abandon(caller->owner, call);
  return pieces;
}

typedef struct PausedCase {
  const char *function, *inputs, *want;
  int pieces; /* at least */
} PausedCase;

static const PausedCase kPaused[] = {
    {"Factorial", "int32[] 10", "int32[] 3628800", 20},
    {"Power", "int32[] 12; float[] 1.5", "float[] 6144", 30},
    {"Total", "int32[] 1; int32[] 11; int32[] 2; float[] 0.5", "float[] 25.5", 10},
    {"Total", "int32[] 5; int32[] -5; int32[] -5; float[] 0", "float[] 5", 4},
    {"Total", "int32[] 5; int32[] 5; int32[] 0; float[] 3", "float[] 3", 1},
    {"Choose", "int32[] 1; float[2] 3 4", "float[2] 9 16", 1},
};

TEST(calls_that_pause_at_every_chance_give_the_same) {
  Functions f;
  if (functions_begin(&f, kLibrary)) {
    for (size_t i = 0; i < sizeof kPaused / sizeof kPaused[0]; i++) {
      const PausedCase *c = &kPaused[i];
      Tensor result = {0}, want = {0};
      RunState state;
      int count;
      CHECK_CONTEXT("%s", c->function);
      int pieces = run_in_pieces(&f, c->function, c->inputs, 100000, &state, &result);
      if (CHECK_INT_EQ(state, RUN_DONE) && CHECK(pieces >= c->pieces) &&
          CHECK_OK(tensors_parse(c->want, &want, 1, &count, &f.status), f.status))
        tensor_is_about(&result, &want, 0);
      tensor_clear(&result);
      tensor_clear(&want);
    }
    CHECK_CONTEXT("%s", "");
  }
  functions_end(&f);
}

/* Abandoned calls are freed; the function still runs, also while another call of it is paused. */
TEST(calls_can_be_abandoned_wherever_they_pause) {
  Functions f;
  if (functions_begin(&f, kLibrary)) {
    for (size_t i = 0; i < sizeof kPaused / sizeof kPaused[0]; i++) {
      const PausedCase *c = &kPaused[i];
      for (int most = 1; most < c->pieces; most++) {
        Tensor result = {0};
        RunState state;
        CHECK_INT_EQ(run_in_pieces(&f, c->function, c->inputs, most, &state, &result), most);
        CHECK_INT_EQ(state, RUN_WAITING);
        CHECK(tensor_is_empty(&result));
        tensor_clear(&result);
      }
      function_gives(&f, c->function, c->inputs, c->want);
    }
  }
  functions_end(&f);
}

TEST(an_error_behind_a_pause_ends_the_call) {
  Functions f;
  if (functions_begin(&f,
                      "Fails(n:int32, x:float) -> (m:int32, y:float) {\n"
                      "  one = Const[dtype=int32, value=1]()\n"
                      "  m = Sub[T=int32](n, one:output:0)\n"
                      "  y = CheckNumerics[T=float, message=\"no number\"](x)\n"
                      "  z = Log[T=float](y:output:0)\n"
                      "  return m = m:z:0, y = z:y:0\n"
                      "}\n"
                      "More(n:int32, x:float) -> (go:bool) {\n"
                      "  zero = Const[dtype=int32, value=0]()\n"
                      "  go = Greater[T=int32](n, zero:output:0)\n"
                      "  return go = go:z:0\n"
                      "}\n"
                      "Loop(n:int32, x:float) -> (y:float) {\n"
                      "  w = While[T={int32, float}, cond=More, body=Fails](n, x)\n"
                      "  return y = w:output:1\n"
                      "}\n")) {
    Tensor result = {0};
    RunState state;
    run_in_pieces(&f, "Loop", "int32[] 9; float[] 0.5", 100000, &state, &result);
    CHECK_INT_EQ(state, RUN_FAILED);
    CHECK_STR_CONTAINS(f.status.message, "no number : Tensor had NaN values");
    CHECK(tensor_is_empty(&result));
    status_init(&f.status);
    function_gives(&f, "Loop", "int32[] 1; float[] 1", "float[] 0");
  }
  functions_end(&f);
}
