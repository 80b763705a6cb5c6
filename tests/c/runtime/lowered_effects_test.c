/* Loops and branches whose functions read and change variables: what they leave, against closed forms, with
 * passes, which lower them, and without. */
#include "runtime/function_fixture.h"

/* The variable is 5 when a function of `text` begins. */
#define VARIABLE                                                    \
  "  v = VarHandleOp[dtype=float, shape={}, shared_name=\"v\"]()\n" \
  "  five = Const[dtype=float, value=5.0]()\n"                      \
  "  set = AssignVariableOp[dtype=float](v:resource:0, five:output:0)\n"
#define AFTER(node)                                            \
  "  last = ReadVariableOp[dtype=float](v:resource:0) @ " node \
  "\n"                                                         \
  "  return y = last:value:0\n}\n"

static void gives(const char *library, const char *inputs, const char *want) {
  for (int optimize = 0; optimize < 2; optimize++) {
    Functions f;
    CHECK_CONTEXT("%s, %s", inputs, optimize ? "with passes" : "as written");
    if (functions_begin(&f, library)) {
      function_runtime_optimize(f.runtime, optimize);
      for (int run = 0; run < 2; run++) function_gives(&f, "Main", inputs, want);
    }
    functions_end(&f);
  }
}

static const char kTraining[] =
    "Below(i:int32, limit:int32, v:resource) -> (b:bool) {\n"
    "  b = Less[T=int32](i, limit)\n  return b = b:z:0\n}\n"
    "Step(v:resource, by:float) -> () {\n"
    "  add = AssignAddVariableOp[dtype=float](v, by)\n}\n"
    "Next(i:int32, limit:int32, v:resource) -> (j:int32, same:int32, w:resource) {\n"
    "  before = ReadVariableOp[dtype=float](v)\n"
    "  step = StatefulPartitionedCall[Tin={resource, float}, Tout={}, f=Step](v, before:value:0)\n"
    "  one = Const[dtype=float, value=1.0]()\n"
    "  sub = AssignSubVariableOp[dtype=float](v, one:output:0) @ step\n"
    "  next = Const[dtype=int32, value=1]()\n  j = Add[T=int32](i, next:output:0)\n"
    "  return j = j:z:0, same = limit, w = v\n}\n"
    "Main(i:int32, limit:int32) -> (y:float) {\n" VARIABLE
    "  w = While[T={int32, int32, resource}, cond=Below, body=Next](i, limit, v:resource:0) @ set\n" AFTER(
        "w");

/* Each round doubles the variable and subtracts one: 4 * 2^n + 1. */
TEST(rounds_of_a_loop_change_a_variable_in_order) {
  gives(kTraining, "int32[] 0; int32[] 0", "float[] 5");
  gives(kTraining, "int32[] 0; int32[] 1", "float[] 9");
  gives(kTraining, "int32[] 0; int32[] 10", "float[] 4097");
}

TEST(a_condition_may_read_what_the_body_changes) {
  gives(
      "Below(v:resource, limit:float) -> (b:bool) {\n"
      "  now = ReadVariableOp[dtype=float](v)\n  b = Less[T=float](now:value:0, limit)\n"
      "  return b = b:z:0\n}\n"
      "Next(v:resource, limit:float) -> (w:resource, same:float) {\n"
      "  now = ReadVariableOp[dtype=float](v)\n"
      "  add = AssignAddVariableOp[dtype=float](v, now:value:0)\n"
      "  return w = v, same = limit\n}\n"
      "Main(limit:float) -> (y:float) {\n" VARIABLE
      "  w = While[T={resource, float}, cond=Below, body=Next](v:resource:0, limit) @ set\n" AFTER("w"),
      "float[] 70", "float[] 80");
}

#define BRANCHES                                                                          \
  "Plus(v:resource, x:float) -> () {\n  a = AssignAddVariableOp[dtype=float](v, x)\n}\n"  \
  "Minus(v:resource, x:float) -> () {\n  s = AssignSubVariableOp[dtype=float](v, x)\n}\n" \
  "Nothing(v:resource, x:float) -> () {\n  n = NoOp()\n}\n"

static const char kCase[] =
    BRANCHES "Main(i:int32) -> (y:float) {\n" VARIABLE
             "  x = Const[dtype=float, value=3.0]()\n"
             "  zero = Const[dtype=int32, value=0]()\n  all = Const[dtype=int32, value=[0]]()\n"
             "  scalar = Const[dtype=int32, value=[]]()\n"
             "  index = Reshape[T=int32, Tshape=int32](i, scalar:output:0)\n"
             "  c = Case[Tin={resource, float}, Tout={}, branches=[Plus, Minus, Nothing]]"
             "(index:output:0, v:resource:0, x:output:0) @ set\n" AFTER("c");

TEST(one_branch_of_a_case_without_results_runs) {
  gives(kCase, "int32[] 0", "float[] 8");
  gives(kCase, "int32[] 1", "float[] 2");
  gives(kCase, "int32[] 2", "float[] 5");
  gives(kCase, "int32[] 3", "float[] 5"); /* the last branch */
  gives(kCase, "int32[] -1", "float[] 5");
}

/* The branch takes a value that was read before, and gives one that it reads after its assignment. */
TEST(a_branch_begins_after_its_inputs_and_ends_before_its_readers) {
  static const char kIf[] =
      "Then(v:resource, x:float) -> (y:float, z:float) {\n"
      "  a = AssignVariableOp[dtype=float](v, x)\n  r = ReadVariableOp[dtype=float](v) @ a\n"
      "  n = Neg[T=float](x)\n  return y = r:value:0, z = n:y:0\n}\n"
      "Else(v:resource, x:float) -> (y:float, z:float) {\n"
      "  r = ReadVariableOp[dtype=float](v)\n  return y = r:value:0, z = x\n}\n"
      "Main(c:bool) -> (y:float, z:float, before:float, after:float) {\n" VARIABLE
      "  before = ReadVariableOp[dtype=float](v:resource:0) @ set\n"
      "  square = Square[T=float](before:value:0)\n"
      "  f = If[Tcond=bool, Tin={resource, float}, Tout={float, float}, then_branch=Then, else_branch=Else]"
      "(c, v:resource:0, square:y:0)\n"
      "  after = ReadVariableOp[dtype=float](v:resource:0) @ f\n"
      "  return y = f:output:0, z = f:output:1, before = before:value:0, after = after:value:0\n}\n";
  gives(kIf, "bool[] 1", "float[] 25; float[] -25; float[] 5; float[] 25");
  gives(kIf, "bool[] 0", "float[] 5; float[] 25; float[] 5; float[] 5");
}

TEST(loops_in_branches_in_loops_change_variables) {
  static const char kNest[] =
      "Few(i:int32, v:resource) -> (b:bool) {\n  n = Const[dtype=int32, value=3]()\n"
      "  b = Less[T=int32](i, n:output:0)\n  return b = b:z:0\n}\n"
      "Double(i:int32, v:resource) -> (j:int32, w:resource) {\n"
      "  now = ReadVariableOp[dtype=float](v)\n"
      "  add = AssignAddVariableOp[dtype=float](v, now:value:0)\n"
      "  one = Const[dtype=int32, value=1]()\n  j = Add[T=int32](i, one:output:0)\n"
      "  return j = j:z:0, w = v\n}\n"
      "Often(v:resource) -> () {\n  zero = Const[dtype=int32, value=0]()\n"
      "  w = While[T={int32, resource}, cond=Few, body=Double](zero:output:0, v)\n}\n"
      "Once(v:resource) -> () {\n  one = Const[dtype=float, value=1.0]()\n"
      "  s = AssignSubVariableOp[dtype=float](v, one:output:0)\n}\n"
      "Odd(i:int32, v:resource) -> (j:int32, w:resource) {\n"
      "  one = Const[dtype=int32, value=1]()\n  two = Const[dtype=int32, value=2]()\n"
      "  odd = FloorMod[T=int32](i, two:output:0)\n"
      "  f = If[Tcond=int32, Tin={resource}, Tout={}, then_branch=Often, else_branch=Once](odd:z:0, v)\n"
      "  j = Add[T=int32](i, one:output:0)\n  return j = j:z:0, w = v\n}\n"
      "Main(i:int32) -> (y:float) {\n" VARIABLE
      "  w = While[T={int32, resource}, cond=Few, body=Odd](i, v:resource:0) @ set\n" AFTER("w");
  gives(kNest, "int32[] 0", "float[] 31"); /* ((5 - 1) * 8) - 1 */
  gives(kNest, "int32[] 1", "float[] 39"); /* 5 * 8 - 1 */
}

/* No result needs the loop. */
TEST(a_loop_runs_for_its_effects_alone) {
  static const char kAlone[] = BRANCHES
      "Below(i:int32, v:resource) -> (b:bool) {\n  n = Const[dtype=int32, value=4]()\n"
      "  b = Less[T=int32](i, n:output:0)\n  return b = b:z:0\n}\n"
      "Next(i:int32, v:resource) -> (j:int32, w:resource) {\n"
      "  one = Const[dtype=int32, value=1]()\n  j = Add[T=int32](i, one:output:0)\n"
      "  x = Const[dtype=float, value=2.0]()\n"
      "  f = If[Tcond=int32, Tin={resource, float}, Tout={}, then_branch=Plus, else_branch=Nothing]"
      "(i, v, x:output:0)\n  return j = j:z:0, w = v\n}\n"
      "Set() -> (y:float) {\n" VARIABLE AFTER("set")
      "Read() -> (y:float) {\n  v = VarHandleOp[dtype=float, shape={}, shared_name=\"v\"]()\n"
      "  now = ReadVariableOp[dtype=float](v:resource:0)\n  return y = now:value:0\n}\n"
      "Main(i:int32) -> (same:int32) {\n"
      "  v = VarHandleOp[dtype=float, shape={}, shared_name=\"v\"]()\n"
      "  w = While[T={int32, resource}, cond=Below, body=Next](i, v:resource:0)\n  return same = i\n}\n";
  Functions f;
  if (functions_begin(&f, kAlone)) {
    function_gives(&f, "Set", "", "float[] 5");
    function_gives(&f, "Main", "int32[] 0", "int32[] 0");
    function_gives(&f, "Read", "", "float[] 11");
  }
  functions_end(&f);
}

TEST(errors_in_lowered_loops_leave_what_was_assigned) {
  static const char kFails[] =
      "Always(i:float, v:resource) -> (b:bool) {\n  b = Const[dtype=bool, value=true]()\n"
      "  return b = b:output:0\n}\n"
      "Next(i:float, v:resource) -> (j:float, w:resource) {\n"
      "  a = AssignVariableOp[dtype=float](v, i)\n"
      "  h = Const[dtype=float, value=1e30]()\n  j = Mul[T=float](i, h:output:0)\n"
      "  c = CheckNumerics[T=float, message=\"no\"](j:z:0) @ a\n"
      "  return j = c:output:0, w = v\n}\n"
      "Read() -> (y:float) {\n  v = VarHandleOp[dtype=float, shape={}, shared_name=\"v\"]()\n"
      "  now = ReadVariableOp[dtype=float](v:resource:0)\n  return y = now:value:0\n}\n"
      "Main(i:float) -> (y:float) {\n"
      "  v = VarHandleOp[dtype=float, shape={}, shared_name=\"v\"]()\n"
      "  w = While[T={float, resource}, cond=Always, body=Next](i, v:resource:0)\n"
      "  return y = w:output:0\n}\n";
  for (int optimize = 0; optimize < 2; optimize++) {
    Functions f;
    if (functions_begin(&f, kFails)) {
      function_runtime_optimize(f.runtime, optimize);
      function_fails(&f, "Main", "float[] 2", 1, CODE_INVALID_ARGUMENT, "no : Tensor had Inf values");
      function_gives(&f, "Read", "", "float[] 2e30");
    }
    functions_end(&f);
  }
}
