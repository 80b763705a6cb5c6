/* Gradients of ops that call functions (gradient/branch_gradient.c, gradient/loop_gradient.c), computed by
 * the function runtime: compared with central differences, closed forms and equivalents without loops, in
 * both forms: inlined functions and SymbolicGradient. */
#include <math.h>

#include "gradient/function_gradient.h"
#include "gradient/graph_gradients.h"
#include "runtime/function_fixture.h"
#include "gradient/run/functional_library.h"
#include "shortage.h"

enum { MAX_VALUES = 16 };

/* Defines `name` with the function text: double and int32 scalars as arguments, one double as result. */
typedef struct Case {
  const char *name, *inputs;
} Case;

const char kFunctionalLibrary[] =
    /* x^n by a loop that counts down */
    "More(n:int32, p:double, x:double) -> (go:bool) {\n"
    "  zero = Const[dtype=int32, value=0]()\n"
    "  go = Greater[T=int32](n, zero:output:0)\n"
    "  return go = go:z:0\n"
    "}\n"
    "Times(n:int32, p:double, x:double) -> (m:int32, q:double, z:double) {\n"
    "  one = Const[dtype=int32, value=1]()\n"
    "  m = Sub[T=int32](n, one:output:0)\n"
    "  q = Mul[T=double](p, x)\n"
    "  return m = m:z:0, q = q:z:0, z = x\n"
    "}\n"
    "Power(n:int32, x:double) -> (y:double) {\n"
    "  one = Const[dtype=double, value=1]()\n"
    "  w = While[T={int32, double, double}, cond=More, body=Times](n, one:output:0, x)\n"
    "  return y = w:output:1\n"
    "}\n"
    "StatelessPower(n:int32, x:double) -> (y:double) {\n"
    "  one = Const[dtype=double, value=1]()\n"
    "  w = StatelessWhile[T={int32, double, double}, cond=More, body=Times](n, one:output:0, x)\n"
    "  return y = w:output:1\n"
    "}\n"
    /* All loop variables change: s = tanh(a s + b t), t = sigmoid(s) t */
    "Mixed(n:int32, s:double, t:double, a:double) -> (m:int32, s2:double, t2:double, a2:double) {\n"
    "  one = Const[dtype=int32, value=1]()\n"
    "  m = Sub[T=int32](n, one:output:0)\n"
    "  as = Mul[T=double](a, s)\n"
    "  st = Add[T=double](as:z:0, t)\n"
    "  s2 = Tanh[T=double](st:z:0)\n"
    "  u = Sigmoid[T=double](s)\n"
    "  t2 = Mul[T=double](u:y:0, t)\n"
    "  return m = m:z:0, s2 = s2:y:0, t2 = t2:z:0, a2 = a\n"
    "}\n"
    "Going(n:int32, s:double, t:double, a:double) -> (go:bool) {\n"
    "  zero = Const[dtype=int32, value=0]()\n"
    "  go = Greater[T=int32](n, zero:output:0)\n"
    "  return go = go:z:0\n"
    "}\n"
    "Recurrent(n:int32, s:double, t:double, a:double) -> (y:double) {\n"
    "  w = While[T={int32, double, double, double}, cond=Going, body=Mixed](n, s, t, a)\n"
    "  y = Mul[T=double](w:output:1, w:output:2)\n"
    "  return y = y:z:0\n"
    "}\n"
    /* The number of iterations depends on a differentiated value. */
    "Small(s:double, x:double) -> (go:bool) {\n"
    "  two = Const[dtype=double, value=2]()\n"
    "  go = Less[T=double](s, two:output:0)\n"
    "  return go = go:z:0\n"
    "}\n"
    "Grow(s:double, x:double) -> (t:double, z:double) {\n"
    "  q = Square[T=double](s)\n"
    "  t = AddV2[T=double](q:y:0, x)\n"
    "  return t = t:z:0, z = x\n"
    "}\n"
    "Escape(x:double) -> (y:double) {\n"
    "  w = While[T={double, double}, cond=Small, body=Grow](x, x)\n"
    "  return y = w:output:0\n"
    "}\n"
    /* sum of i x^i */
    "Term(i:int32, s:double, p:double, x:double) -> (t:double, q:double, z:double) {\n"
    "  f = Cast[SrcT=int32, DstT=double](i)\n"
    "  ip = Mul[T=double](f:y:0, p)\n"
    "  t = AddV2[T=double](s, ip:z:0)\n"
    "  q = Mul[T=double](p, x)\n"
    "  return t = t:z:0, q = q:z:0, z = x\n"
    "}\n"
    "Series(n:int32, x:double) -> (y:double) {\n"
    "  zero = Const[dtype=int32, value=0]()\n"
    "  one = Const[dtype=int32, value=1]()\n"
    "  s = Const[dtype=double, value=0]()\n"
    "  p = Const[dtype=double, value=1]()\n"
    "  l = For[T={double, double, double}, body=Term](zero:output:0, n, one:output:0, s:output:0, "
    "p:output:0, x)\n"
    "  return y = l:output:0\n"
    "}\n"
    /* a loop in a loop: ((x^n)^n)... */
    "Outer(i:int32, x:double, n:int32) -> (y:double, m:int32) {\n"
    "  p = Power(n, x)\n"
    "  y = Tanh[T=double](p:y:0)\n"
    "  return y = y:y:0, m = n\n"
    "}\n"
    "Nested(n:int32, x:double) -> (y:double) {\n"
    "  zero = Const[dtype=int32, value=0]()\n"
    "  three = Const[dtype=int32, value=3]()\n"
    "  one = Const[dtype=int32, value=1]()\n"
    "  l = For[T={double, int32}, body=Outer](zero:output:0, three:output:0, one:output:0, x, n)\n"
    "  return y = l:output:0\n"
    "}\n"
    /* branches */
    "Left(x:double, w:double) -> (y:double, k:int32) {\n"
    "  s = Square[T=double](x)\n"
    "  y = Mul[T=double](s:y:0, w)\n"
    "  k = Const[dtype=int32, value=1]()\n"
    "  return y = y:z:0, k = k:output:0\n"
    "}\n"
    "Right(x:double, w:double) -> (y:double, k:int32) {\n"
    "  y = Sigmoid[T=double](x)\n"
    "  k = Const[dtype=int32, value=2]()\n"
    "  return y = y:y:0, k = k:output:0\n"
    "}\n"
    "Branch(c:int32, x:double, w:double) -> (y:double) {\n"
    "  b = If[Tcond=int32, Tin={double, double}, Tout={double, int32}, then_branch=Left, "
    "else_branch=Right](c, x, w)\n"
    "  return y = b:output:0\n"
    "}\n"
    "StatelessBranch(c:int32, x:double, w:double) -> (y:double) {\n"
    "  b = StatelessIf[Tcond=int32, Tin={double, double}, Tout={double, int32}, then_branch=Left, "
    "else_branch=Right](c, x, w)\n"
    "  return y = b:output:0\n"
    "}\n"
    "OldBranch(c:int32, x:double, w:double) -> (y:double) {\n"
    "  b = _If[Tcond=int32, Tin={double, double}, Tout={double, int32}, then_branch=Left, "
    "else_branch=Right](c, x, w)\n"
    "  return y = b:output:0\n"
    "}\n"
    "OldPower(n:int32, x:double) -> (y:double) {\n"
    "  one = Const[dtype=double, value=1]()\n"
    "  w = _While[T={int32, double, double}, cond=More, body=Times](n, one:output:0, x)\n"
    "  return y = w:output:1\n"
    "}\n"
    "Both(x:double, w:double) -> (y:double, k:int32) {\n"
    "  a = Left(x, w)\n"
    "  y = Mul[T=double](a:y:0, a:y:0)\n"
    "  return y = y:z:0, k = a:k:0\n"
    "}\n"
    "Number(c:int32, x:double, w:double) -> (y:double) {\n"
    "  b = Case[Tin={double, double}, Tout={double, int32}, branches=[Left, Right, Both]](c, x, w)\n"
    "  return y = b:output:0\n"
    "}\n"
    "StatelessNumber(c:int32, x:double, w:double) -> (y:double) {\n"
    "  b = StatelessCase[Tin={double, double}, Tout={double, int32}, branches=[Left, Right, Both]](c, x, w)\n"
    "  return y = b:output:0\n"
    "}\n"
    /* a branch in a loop: |x| in some iterations */
    "Turn(i:int32, x:double, w:double) -> (y:double, v:double) {\n"
    "  two = Const[dtype=int32, value=2]()\n"
    "  odd = FloorMod[T=int32](i, two:output:0)\n"
    "  b = Branch(odd:z:0, x, w)\n"
    "  return y = b:y:0, v = w\n"
    "}\n"
    "Turns(n:int32, x:double, w:double) -> (y:double) {\n"
    "  zero = Const[dtype=int32, value=0]()\n"
    "  one = Const[dtype=int32, value=1]()\n"
    "  l = For[T={double, double}, body=Turn](zero:output:0, n, one:output:0, x, w)\n"
    "  return y = l:output:0\n"
    "}\n"
    /* a loop in a branch */
    "Loops(n:int32, x:double) -> (y:double) {\n"
    "  y = Power(n, x)\n"
    "  return y = y:y:0\n"
    "}\n"
    "Straight(n:int32, x:double) -> (y:double) {\n"
    "  return y = x\n"
    "}\n"
    "Perhaps(n:int32, x:double) -> (y:double) {\n"
    "  y = If[Tcond=int32, Tin={int32, double}, Tout={double}, then_branch=Loops, else_branch=Straight](n, "
    "n, x)\n"
    "  return y = y:output:0\n"
    "}\n"
    /* y[i] = tanh(a x[i] + b y[i - 1]), and one such step after the other */
    "Cell(a:double, b:double, x:double, s:double) -> (t:double) {\n"
    "  ax = Mul[T=double](a, x)\n"
    "  bs = Mul[T=double](b, s)\n"
    "  sum = AddV2[T=double](ax:z:0, bs:z:0)\n"
    "  t = Tanh[T=double](sum:z:0)\n"
    "  return t = t:y:0\n"
    "}\n"
    "Accumulated(a:double, b:double, x:double, y:double, u:double) -> (z:double) {\n"
    "  xs = Pack[N=3, T=double](x, y, x)\n"
    "  m = MapAccumulate[f=Cell, T=double, K=2](a, b, xs:output:0, u)\n"
    "  zero = Const[dtype=int32, value=0]()\n"
    "  q = Square[T=double](m:y:0)\n"
    "  z = Sum[T=double, Tidx=int32](q:y:0, zero:output:0)\n"
    "  return z = z:output:0\n"
    "}\n"
    "Unrolled(a:double, b:double, x:double, y:double, u:double) -> (z:double) {\n"
    "  t1 = Cell(a, b, x, u)\n"
    "  t2 = Cell(a, b, y, t1:t:0)\n"
    "  t3 = Cell(a, b, x, t2:t:0)\n"
    "  all = Pack[N=3, T=double](t1:t:0, t2:t:0, t3:t:0)\n"
    "  zero = Const[dtype=int32, value=0]()\n"
    "  q = Square[T=double](all:output:0)\n"
    "  z = Sum[T=double, Tidx=int32](q:y:0, zero:output:0)\n"
    "  return z = z:output:0\n"
    "}\n"
    /* the derivative, as a node */
    "Slope(x:double, w:double) -> (s:double) {\n"
    "  one = Const[dtype=double, value=1]()\n"
    "  k = Const[dtype=int32, value=1]()\n"
    "  g = SymbolicGradient[f=Left, Tin={double, double, double, int32}, Tout={double, double}](x, w, "
    "one:output:0, k:output:0)\n"
    "  s = Mul[T=double](g:output:0, g:output:1)\n"
    "  return s = s:z:0\n"
    "}\n"
    /* and the derivatives of that: a node in a node */
    "Curve(x:double, w:double) -> (c:double) {\n"
    "  one = Const[dtype=double, value=1]()\n"
    "  g = SymbolicGradient[f=Slope, Tin={double, double, double}, Tout={double, double}](x, w, "
    "one:output:0)\n"
    "  c = Mul[T=double](g:output:0, g:output:1)\n"
    "  return c = c:z:0\n"
    "}\n"
    "Elsewhere(n:int32, x:double) -> (y:double) {\n"
    "  here = Const[dtype=string, value=Attr<tensor { dtype: DT_STRING tensor_shape { } string_val: "
    "\"/cpu:0\" }>]()\n"
    "  y = RemoteCall[Tin={int32, double}, Tout={double}, f=Power](here:output:0, n, x)\n"
    "  return y = y:output:0\n"
    "}\n"
    "Calls(n:int32, x:double) -> (y:double) {\n"
    "  y = PartitionedCall[Tin={int32, double}, Tout={double}, f=Power](n, x)\n"
    "  return y = y:output:0\n"
    "}\n"
    "StatefulCalls(n:int32, x:double) -> (y:double) {\n"
    "  y = StatefulPartitionedCall[Tin={int32, double}, Tout={double}, f=Power](n, x)\n"
    "  return y = y:output:0\n"
    "}\n";

static const Case kCases[] = {
    {"Power", "int32[] 5; double[] 1.3"},
    {"Power", "int32[] 1; double[] -0.7"},
    {"Power", "int32[] 0; double[] 2"},
    {"StatelessPower", "int32[] 3; double[] 0.4"},
    {"Recurrent", "int32[] 4; double[] 0.3; double[] -0.5; double[] 0.9"},
    {"Recurrent", "int32[] 0; double[] 0.3; double[] -0.5; double[] 0.9"},
    {"Escape", "double[] 0.9"},
    {"Escape", "double[] 1.2"},
    {"Series", "int32[] 6; double[] 0.8"},
    {"Series", "int32[] 0; double[] 0.8"},
    {"Nested", "int32[] 2; double[] 0.9"},
    {"Nested", "int32[] 3; double[] -0.8"},
    {"Branch", "int32[] 1; double[] 1.1; double[] 0.6"},
    {"Branch", "int32[] 0; double[] 1.1; double[] 0.6"},
    {"StatelessBranch", "int32[] 1; double[] 1.1; double[] 0.6"},
    {"Number", "int32[] 0; double[] 1.1; double[] 0.6"},
    {"Number", "int32[] 1; double[] 1.1; double[] 0.6"},
    {"Number", "int32[] 7; double[] 1.1; double[] 0.6"},
    {"StatelessNumber", "int32[] 1; double[] 1.1; double[] 0.6"},
    {"OldBranch", "int32[] 0; double[] 1.1; double[] 0.6"},
    {"OldPower", "int32[] 3; double[] 0.4"},
    {"Turns", "int32[] 4; double[] 0.7; double[] 1.6"},
    {"Turns", "int32[] 1; double[] 0.7; double[] 1.6"},
    {"Perhaps", "int32[] 3; double[] 0.7"},
    {"Perhaps", "int32[] 0; double[] 0.7"},
    {"Calls", "int32[] 4; double[] 1.1"},
    {"StatefulCalls", "int32[] 3; double[] 0.6"},
    {"Elsewhere", "int32[] 3; double[] 1.1"},
    {"Unrolled", "double[] 0.7; double[] -0.4; double[] 1.1; double[] 0.2; double[] 0.6"},
};

/* --- running --- */

typedef struct Values {
  Tensor tensors[MAX_VALUES];
  int count;
} Values;

static void clear_values(Values *values) {
  for (int i = 0; i < values->count; i++) tensor_clear(&values->tensors[i]);
  values->count = 0;
}

static bool run(Functions *f, int64_t handle, const Values *args, Values *rets, int num_rets) {
  const Tensor *pointers[MAX_VALUES];
  for (int i = 0; i < args->count; i++) pointers[i] = &args->tensors[i];
  *rets = (Values){.count = num_rets};
  return CHECK_OK(function_runtime_run(f->runtime, handle, NULL, pointers, args->count, rets->tensors,
                                       num_rets, &f->status),
                  &f->status);
}

static int64_t instantiate(Functions *f, const char *name, const AttrEntry *const *attrs, int num_attrs) {
  int64_t handle = -1;
  CHECK_OK(function_runtime_instantiate(f->runtime, name, attrs, num_attrs, NULL, &handle, &f->status),
           &f->status);
  return handle;
}

/* The one result of a function, with args[which] moved by `step`. NaN when it fails. */
static double value_at(Functions *f, int64_t handle, const Values *args, int which, double step) {
  Values moved = {.count = args->count}, rets;
  double result = (double)NAN;
  bool ok = true;
  for (int i = 0; i < args->count; i++)
    ok = ok && CHECK_OK(tensor_copy(&moved.tensors[i], &args->tensors[i], NULL, &f->status), &f->status);
  if (ok && which >= 0) tensor_f64(&moved.tensors[which])[0] += step;
  if (ok && run(f, handle, &moved, &rets, 1)) result = tensor_f64(&rets.tensors[0])[0];
  if (ok) clear_values(&rets);
  clear_values(&moved);
  return result;
}

static bool add_one(Functions *f, Values *args) {
  Tensor *one = &args->tensors[args->count++];
  if (!CHECK_OK(tensor_allocate_dims(one, DT_DOUBLE, 0, NULL, NULL, &f->status), &f->status)) return false;
  tensor_f64(one)[0] = 1;
  return true;
}

/* --- checking --- */

/* Gradients of y = F(x...) at the arguments against central differences. */
static void check_gradients(Functions *f, int64_t function, int64_t gradient, const Values *args,
                            double tolerance) {
  Values with_dy = {.count = args->count}, dxs;
  bool ok = true;
  for (int i = 0; i < args->count; i++)
    ok = ok && CHECK_OK(tensor_assign(&with_dy.tensors[i], &args->tensors[i], &f->status), &f->status);
  if (ok && add_one(f, &with_dy) && run(f, gradient, &with_dy, &dxs, args->count)) {
    for (int i = 0; i < args->count; i++) {
      CHECK_INT_EQ(dxs.tensors[i].dtype, args->tensors[i].dtype);
      if (args->tensors[i].dtype != DT_DOUBLE) {
        CHECK_INT_EQ(tensor_i32(&dxs.tensors[i])[0], 0);
        continue;
      }
      const double h = 1e-5;
      double want = (value_at(f, function, args, i, h) - value_at(f, function, args, i, -h)) / (2 * h);
      CHECK_NEAR(tensor_f64(&dxs.tensors[i])[0], want, tolerance * fmax(1, fabs(want)));
    }
    clear_values(&dxs);
  }
  clear_values(&with_dy);
}

static const FunctionDef *parse(const char *text, Arena *arena, Status *status) {
  FunctionDef *function = NULL;
  CHECK_OK(function_parse(str_of(text), arena, &function, status), status);
  return function;
}

/* The handle of SymbolicGradient[f=name]. */
static int64_t symbolic(Functions *f, const char *name, Arena *arena) {
  const FunctionDef *holder =
      parse(arena_printf(arena, "H() -> () { n = N[f=%s]() }", name), arena, &f->status);
  const NodeDef *node = !holder ? NULL : holder->node_def[0];
  return !node ? -1
               : instantiate(f, "SymbolicGradient", (const AttrEntry *const *)node->attr, (int)node->n_attr);
}

/* The gradient of a function as a function of the library. */
static bool define_gradient(Functions *f, const char *name, const char *gradient_name, Arena *arena) {
  FunctionDef *gradient;
  return CHECK_OK(function_gradient(f->library, graph_find_function(f->library, name), NULL, 0, gradient_name,
                                    arena, &gradient, &f->status),
                  &f->status) &&
         CHECK_OK(graph_add_function(f->library, gradient, &f->status), &f->status);
}

/* A weighted sum of the derivatives of a differentiated function: S(x...) = sum of (i + 1) * dy/dx_i. */
static const char *sum_of_gradients(const Values *args, const char *gradient, Arena *arena) {
  StrBuf text = {0};
  strbuf_append(&text, "Weighed(");
  for (int i = 0; i < args->count; i++)
    strbuf_printf(&text, "%sx%d:%s", i == 0 ? "" : ", ", i, dtype_name(args->tensors[i].dtype));
  strbuf_printf(&text,
                ") -> (s:double) {\n  s0 = Const[dtype=double, value=0]()\n  one = Const[dtype=double, "
                "value=1]()\n  g = %s(",
                gradient);
  for (int i = 0; i < args->count; i++) strbuf_printf(&text, "x%d, ", i);
  strbuf_append(&text, "one:output:0)\n");
  const char *last = "s0:output:0";
  for (int i = 0; i < args->count; i++) {
    if (args->tensors[i].dtype != DT_DOUBLE) continue;
    strbuf_printf(&text, "  w%d = Const[dtype=double, value=%d]()\n", i, i + 1);
    strbuf_printf(&text, "  p%d = Mul[T=double](w%d:output:0, g:dx%d:0)\n", i, i, i);
    strbuf_printf(&text, "  t%d = AddV2[T=double](%s, p%d:z:0)\n", i, last, i);
    last = arena_printf(arena, "t%d:z:0", i);
  }
  strbuf_printf(&text, "  return s = %s\n}\n", last);
  const char *copy = arena_strdup(arena, strbuf_text(&text));
  strbuf_free(&text);
  return copy;
}

/* The gradient's results are named dx0, dx1, ... for sum_of_gradients. */
static bool rename_results(FunctionDef *gradient, Arena *arena) {
  for (size_t i = 0; i < gradient->n_ret; i++) {
    char *name = arena_printf(arena, "dx%d", (int)i);
    for (size_t k = 0; k < gradient->n_ret; k++) {
      if (strcmp(gradient->ret[k]->key, gradient->signature->output_arg[i]->name) == 0)
        gradient->ret[k]->key = name;
    }
    gradient->signature->output_arg[i]->name = name;
  }
  return true;
}

static void check_case(const Case *c) {
  Functions f;
  CHECK_CONTEXT("%s(%s)", c->name, c->inputs);
  Arena *arena = arena_new();
  Values args = {0};
  FunctionDef *gradient;
  if (functions_begin(&f, kFunctionalLibrary) &&
      CHECK_OK(tensors_parse(c->inputs, args.tensors, MAX_VALUES, &args.count, &f.status), &f.status)) {
    int64_t function = instantiate(&f, c->name, NULL, 0);
    if (define_gradient(&f, c->name, "First", arena))
      check_gradients(&f, function, instantiate(&f, "First", NULL, 0), &args, 1e-8);
    check_gradients(&f, function, symbolic(&f, c->name, arena), &args, 1e-8);
    /* and the gradient of the gradient */
    if (CHECK_OK(function_gradient(f.library, graph_find_function(f.library, c->name), NULL, 0, "Renamed",
                                   arena, &gradient, &f.status),
                 &f.status) &&
        rename_results(gradient, arena) &&
        CHECK_OK(graph_add_function(f.library, gradient, &f.status), &f.status) &&
        CHECK_OK(graph_add_function(f.library,
                                    parse(sum_of_gradients(&args, "Renamed", arena), arena, &f.status),
                                    &f.status),
                 &f.status) &&
        define_gradient(&f, "Weighed", "Second", arena)) {
      int64_t weighed = instantiate(&f, "Weighed", NULL, 0);
      check_gradients(&f, weighed, instantiate(&f, "Second", NULL, 0), &args, 1e-7);
      check_gradients(&f, weighed, symbolic(&f, "Weighed", arena), &args, 1e-7);
    }
  }
  clear_values(&args);
  functions_end(&f);
  arena_free(arena);
}

/* A SymbolicGradient node is differentiated like the function that it computes. */
TEST(gradients_of_gradients_as_nodes) {
  Functions f;
  Arena *arena = arena_new();
  Values args = {0};
  if (functions_begin(&f, kFunctionalLibrary) &&
      CHECK_OK(tensors_parse("double[] 1.3; double[] 0.6", args.tensors, MAX_VALUES, &args.count, &f.status),
               &f.status)) {
    int64_t function = instantiate(&f, "Slope", NULL, 0);
    /* 2 x w * x^2 */
    CHECK_NEAR(value_at(&f, function, &args, -1, 0), 2 * 0.6 * 1.3 * 1.3 * 1.3, 1e-12);
    if (define_gradient(&f, "Slope", "First", arena))
      check_gradients(&f, function, instantiate(&f, "First", NULL, 0), &args, 1e-8);
    check_gradients(&f, function, symbolic(&f, "Slope", arena), &args, 1e-8);
    /* (6 w x^2) (2 x^3) */
    function = instantiate(&f, "Curve", NULL, 0);
    CHECK_NEAR(value_at(&f, function, &args, -1, 0), 12 * 0.6 * pow(1.3, 5), 1e-12);
    check_gradients(&f, function, symbolic(&f, "Curve", arena), &args, 1e-7);
    if (define_gradient(&f, "Curve", "Second", arena))
      check_gradients(&f, function, instantiate(&f, "Second", NULL, 0), &args, 1e-7);
  }
  clear_values(&args);
  functions_end(&f);
  arena_free(arena);
}

/* Results and gradients of two functions of the same arguments. */
static void check_same(const char *one, const char *other, const char *inputs) {
  Functions f;
  Arena *arena = arena_new();
  Values args = {0}, results[2] = {{.count = 0}};
  CHECK_CONTEXT("%s and %s", one, other);
  bool ok = functions_begin(&f, kFunctionalLibrary) &&
            CHECK_OK(tensors_parse(inputs, args.tensors, MAX_VALUES, &args.count, &f.status), &f.status);
  if (ok) {
    CHECK_NEAR(value_at(&f, instantiate(&f, one, NULL, 0), &args, -1, 0),
               value_at(&f, instantiate(&f, other, NULL, 0), &args, -1, 0), 1e-14);
    int num_args = args.count;
    ok = add_one(&f, &args) && define_gradient(&f, one, "One", arena) &&
         define_gradient(&f, other, "Other", arena) &&
         run(&f, instantiate(&f, "One", NULL, 0), &args, &results[0], num_args) &&
         run(&f, instantiate(&f, "Other", NULL, 0), &args, &results[1], num_args);
    for (int i = 0; ok && i < num_args; i++)
      CHECK_NEAR(tensor_f64(&results[0].tensors[i])[0], tensor_f64(&results[1].tensors[i])[0], 1e-14);
    clear_values(&results[0]);
    clear_values(&results[1]);
  }
  clear_values(&args);
  functions_end(&f);
  arena_free(arena);
}

/* MapAccumulate equals its steps one after the other, and so does its gradient; MapAccumulateGrad is
 * differentiated as well. */
TEST(gradients_of_map_accumulate) {
  check_same("Accumulated", "Unrolled",
             "double[] 0.7; double[] -0.4; double[] 1.1; double[] 0.2; double[] 0.6");
  check_case(&(Case){"Accumulated", "double[] 0.7; double[] -0.4; double[] 1.1; double[] 0.2; double[] 0.6"});
}

/* n x^(n - 1): work and memory grow linearly with the iterations. */
TEST(gradients_of_long_loops) {
  Functions f;
  Arena *arena = arena_new();
  Values args = {0}, dxs;
  if (functions_begin(&f, kFunctionalLibrary) && define_gradient(&f, "Power", "First", arena)) {
    int64_t first = instantiate(&f, "First", NULL, 0);
    if (CHECK_OK(tensors_parse("int32[] 20000; double[] 1.0001", args.tensors, MAX_VALUES, &args.count,
                               &f.status),
                 &f.status) &&
        add_one(&f, &args) && run(&f, first, &args, &dxs, 2)) {
      CHECK_NEAR(tensor_f64(&dxs.tensors[1])[0], 20000 * pow(1.0001, 19999), 1e-5);
      clear_values(&dxs);
    }
    clear_values(&args);
  }
  functions_end(&f);
  arena_free(arena);
}

TEST(gradients_of_branches_and_loops) {
  for (size_t i = 0; i < sizeof kCases / sizeof kCases[0]; i++) check_case(&kCases[i]);
}

/* The first run of a gradient: later runs find its memory in the pool. */
static bool run_first_time(const Case *c, Shortage *shortage, Values *dxs) {
  Functions f;
  Arena *arena = arena_new();
  Values args = {0};
  bool ready =
      functions_begin(&f, kFunctionalLibrary) &&
      CHECK_OK(tensors_parse(c->inputs, args.tensors, MAX_VALUES, &args.count, &f.status), &f.status);
  *dxs = (Values){.count = args.count};
  ready = ready && add_one(&f, &args) && define_gradient(&f, c->name, "First", arena);
  int64_t gradient = ready ? instantiate(&f, "First", NULL, 0) : -1;
  const Tensor *pointers[MAX_VALUES];
  for (int i = 0; i < args.count; i++) pointers[i] = &args.tensors[i];
  shortage_begin(shortage);
  bool ok = ready && function_runtime_run(f.runtime, gradient, NULL, pointers, args.count, dxs->tensors,
                                          dxs->count, &f.status);
  shortage_end(shortage, ok, f.status.code);
  for (int i = 0; !ok && i < dxs->count; i++) CHECK(tensor_is_empty(&dxs->tensors[i]));
  clear_values(&args);
  if (!ok) clear_values(dxs);
  functions_end(&f);
  arena_free(arena);
  return ok;
}

static void run_short_of_memory(const Case *c) {
  Shortage shortage = {.what = c->name, .most = 150};
  double answers[MAX_VALUES] = {0};
  do {
    Values dxs;
    bool ok = run_first_time(c, &shortage, &dxs);
    for (int i = 0; ok && i < dxs.count; i++) {
      if (dxs.tensors[i].dtype != DT_DOUBLE) continue;
      if (!shortage_is_on(&shortage)) answers[i] = tensor_f64(&dxs.tensors[i])[0];
      CHECK_NEAR(tensor_f64(&dxs.tensors[i])[0], answers[i], 0);
    }
    if (ok) clear_values(&dxs);
  } while (shortage_next(&shortage));
}

TEST(gradients_run_short_of_memory_or_say_so) {
  static const Case kShort[] = {{"Power", "int32[] 3; double[] 1.3"},
                                {"Accumulated",
                                 "double[] 0.7; double[] -0.4; double[] 1.1; double[] 0.2; double[] 0.6"}};
  for (size_t i = 0; i < sizeof kShort / sizeof kShort[0]; i++) run_short_of_memory(&kShort[i]);
}
