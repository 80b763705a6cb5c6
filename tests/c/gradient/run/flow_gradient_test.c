/* Gradients through Switch and Merge and the loops of frames, run in sessions, against central differences.
 * Each function stands in a graph as its nodes, or is called. Derivatives that TensorFlow computed:
 * flow_gradients of test_golden. */
#include <math.h>
#include <string.h>

#include "gradient/graph_gradients.h"
#include "runtime/session_fixture.h"
#include "splice_function.h"

/* i = 0; y = z; while (i < `rounds`) { i = i + 1; y = next:z:0; } where `body` computes `next` from sy (y),
 * si (i) and ex (x). */
#define LOOP(name, rounds, body)                                    \
  name "(x:double, z:double) -> (y:double) {\n"                     \
       "  zero = Const[dtype=int32, value=0]() @ x\n"               \
       "  ei = Enter[T=int32, frame_name=\"" name                   \
       "\"](zero:output:0)\n"                                       \
       "  ey = Enter[T=double, frame_name=\"" name                  \
       "\"](z)\n"                                                   \
       "  ex = Enter[T=double, frame_name=\"" name                  \
       "\", is_constant=true](x)\n"                                 \
       "  mi = Merge[T=int32, N=2](ei:output:0, ni:output:0)\n"     \
       "  my = Merge[T=double, N=2](ey:output:0, ny:output:0)\n"    \
       "  n = Const[dtype=int32, value=" rounds                     \
       "]() @ mi\n"                                                 \
       "  less = Less[T=int32](mi:output:0, n:output:0)\n"          \
       "  go = LoopCond(less:z:0)\n"                                \
       "  si = Switch[T=int32](mi:output:0, go:output:0)\n"         \
       "  sy = Switch[T=double](my:output:0, go:output:0)\n"        \
       "  pivot = Identity[T=int32](si:output_true:0)\n"            \
       "  one = Const[dtype=int32, value=1]() @ pivot\n"            \
       "  ai = AddV2[T=int32](pivot:output:0, one:output:0)\n" body \
       "  ni = NextIteration[T=int32](ai:z:0)\n"                    \
       "  ny = NextIteration[T=double](next:z:0)\n"                 \
       "  exit = Exit[T=double](sy:output_false:0)\n"               \
       "  y = Mul[T=double](exit:output:0, x)\n"                    \
       "  return y = y:z:0\n"                                       \
       "}\n"

static const char kLibrary[] =
    LOOP("Power", "3", "  next = Mul[T=double](sy:output_true:0, ex:output:0)\n")
    LOOP("NoRounds", "0", "  next = Mul[T=double](sy:output_true:0, ex:output:0)\n")
    /* The round reads the Merge, and a constant. */
    LOOP("Merged", "2", "  two = Const[dtype=double, value=2]() @ pivot\n"
                        "  twice = Mul[T=double](my:output:0, two:output:0)\n"
                        "  next = Mul[T=double](twice:z:0, sy:output_true:0)\n")
    "Branch(x:double, z:double) -> (y:double) {\n"
    "  p = Less[T=double](x, z)\n"
    "  sx = Switch[T=double](x, p:z:0)\n"
    "  sz = Switch[T=double](z, p:z:0)\n"
    "  product = Mul[T=double](sx:output_true:0, sz:output_true:0)\n"
    "  yes = Mul[T=double](product:z:0, sx:output_true:0)\n"
    "  no = Sin[T=double](sx:output_false:0)\n"
    "  m = Merge[T=double, N=2](no:y:0, yes:z:0)\n"
    "  y = Mul[T=double](m:output:0, z)\n"
    "  return y = y:z:0\n"
    "}\n"
    /* Only one side is read, and so is what it did not come through a Switch for. */
    "Side(x:double, z:double) -> (y:double) {\n"
    "  p = Less[T=double](x, z)\n"
    "  sx = Switch[T=double](x, p:z:0)\n"
    "  yes = Mul[T=double](sx:output_true:0, z)\n"
    "  no = Neg[T=double](sx:output_false:0)\n"
    "  m = Merge[T=double, N=2](no:y:0, yes:z:0)\n"
    "  y = Mul[T=double](m:output:0, m:output:0)\n"
    "  return y = y:z:0\n"
    "}\n"
    /* A Switch tells that 'late' is alive, but its value does not come through one. */
    "Behind(x:double, z:double) -> (y:double) {\n"
    "  p = Less[T=double](x, z)\n"
    "  sx = Switch[T=double](x, p:z:0)\n"
    "  no = Neg[T=double](sx:output_false:0)\n"
    "  late = Mul[T=double](x, z) @ no\n"
    "  yes = Square[T=double](sx:output_true:0)\n"
    "  m = Merge[T=double, N=2](late:z:0, yes:y:0)\n"
    "  y = Mul[T=double](m:output:0, z)\n"
    "  return y = y:z:0\n"
    "}\n"
    /* A loop reads a value that is alive in a branch alone, and a Switch in its rounds. */
    "LoopOfBranch(x:double, z:double) -> (y:double) {\n"
    "  p = Less[T=double](x, z)\n"
    "  sx = Switch[T=double](x, p:z:0)\n"
    "  square = Square[T=double](sx:output_true:0)\n"
    "  zero = Const[dtype=int32, value=0]() @ x\n"
    "  ei = Enter[T=int32, frame_name=\"LoopOfBranch\"](zero:output:0)\n"
    "  ey = Enter[T=double, frame_name=\"LoopOfBranch\"](z)\n"
    "  ex = Enter[T=double, frame_name=\"LoopOfBranch\", is_constant=true](square:y:0)\n"
    "  mi = Merge[T=int32, N=2](ei:output:0, ni:output:0)\n"
    "  my = Merge[T=double, N=2](ey:output:0, ny:output:0)\n"
    "  n = Const[dtype=int32, value=2]() @ mi\n"
    "  less = Less[T=int32](mi:output:0, n:output:0)\n"
    "  go = LoopCond(less:z:0)\n"
    "  si = Switch[T=int32](mi:output:0, go:output:0)\n"
    "  sy = Switch[T=double](my:output:0, go:output:0)\n"
    "  one = Const[dtype=int32, value=1]() @ si\n"
    "  ai = AddV2[T=int32](si:output_true:0, one:output:0)\n"
    "  product = Mul[T=double](sy:output_true:0, ex:output:0)\n"
    "  half = Const[dtype=double, value=0.5]() @ si\n"
    "  q = Less[T=double](product:z:0, half:output:0)\n"
    "  sp = Switch[T=double](product:z:0, q:z:0)\n"
    "  small = Sin[T=double](sp:output_true:0)\n"
    "  large = Sqrt[T=double](sp:output_false:0)\n"
    "  next = Merge[T=double, N=2](large:y:0, small:y:0)\n"
    "  ni = NextIteration[T=int32](ai:z:0)\n"
    "  ny = NextIteration[T=double](next:output:0)\n"
    "  exit = Exit[T=double](sy:output_false:0)\n"
    "  y = Mul[T=double](exit:output:0, x)\n"
    "  return y = y:z:0\n"
    "}\n"
    /* Only the condition reads 'mg', whose Switch a freezer removed. */
    "Halting(x:double, z:double) -> (y:double) {\n"
    "  zero = Const[dtype=int32, value=0]() @ x\n"
    "  first = Const[dtype=bool, value=true]() @ x\n"
    "  ei = Enter[T=int32, frame_name=\"Halting\"](zero:output:0)\n"
    "  eg = Enter[T=bool, frame_name=\"Halting\"](first:output:0)\n"
    "  ey = Enter[T=double, frame_name=\"Halting\"](z)\n"
    "  ex = Enter[T=double, frame_name=\"Halting\", is_constant=true](x)\n"
    "  mi = Merge[T=int32, N=2](ei:output:0, ni:output:0)\n"
    "  mg = Merge[T=bool, N=2](eg:output:0, ng:output:0)\n"
    "  my = Merge[T=double, N=2](ey:output:0, ny:output:0)\n"
    "  n = Const[dtype=int32, value=9]() @ mi\n"
    "  less = Less[T=int32](mi:output:0, n:output:0)\n"
    "  both = LogicalAnd(mg:output:0, less:z:0)\n"
    "  go = LoopCond(both:z:0)\n"
    "  si = Switch[T=int32](mi:output:0, go:output:0)\n"
    "  sy = Switch[T=double](my:output:0, go:output:0)\n"
    "  pivot = Identity[T=int32](si:output_true:0)\n"
    "  one = Const[dtype=int32, value=1]() @ pivot\n"
    "  ai = AddV2[T=int32](pivot:output:0, one:output:0)\n"
    "  more = Less[T=int32](pivot:output:0, one:output:0)\n"
    "  next = Mul[T=double](sy:output_true:0, ex:output:0)\n"
    "  ni = NextIteration[T=int32](ai:z:0)\n"
    "  ng = NextIteration[T=bool](more:z:0)\n"
    "  ny = NextIteration[T=double](next:z:0)\n"
    "  exit = Exit[T=double](sy:output_false:0)\n"
    "  y = Mul[T=double](exit:output:0, x)\n"
    "  return y = y:z:0\n"
    "}\n"
    /* A trigger is alive behind a dead value. */
    "Triggered(x:double, z:double) -> (y:double) {\n"
    "  p = Less[T=double](x, z)\n"
    "  sx = Switch[T=double](x, p:z:0)\n"
    "  no = Neg[T=double](sx:output_false:0)\n"
    "  t = ControlTrigger() @ no\n"
    "  after = Mul[T=double](x, x) @ t\n"
    "  m = Merge[T=double, N=2](no:y:0, sx:output_true:0)\n"
    "  y = Mul[T=double](after:z:0, m:output:0)\n"
    "  return y = y:z:0\n"
    "}\n"
    /* What waits for both branches runs behind a Merge, as where a lowered If has effects. */
    "Executed(x:double, z:double) -> (y:double) {\n"
    "  p = Less[T=double](x, z)\n"
    "  sx = Switch[T=double](x, p:z:0)\n"
    "  yes = Square[T=double](sx:output_true:0)\n"
    "  no = Sin[T=double](sx:output_false:0)\n"
    "  m = Merge[T=double, N=2](no:y:0, yes:y:0)\n"
    "  executed = Merge[T=double, N=2](sx:output_false:0, sx:output_true:0) @ no, yes\n"
    "  y = Mul[T=double](m:output:0, z) @ executed\n"
    "  return y = y:z:0\n"
    "}\n"
    "Three(x:double, z:double) -> (y:double) {\n"
    "  k = Cast[SrcT=double, DstT=int32](z)\n"
    "  s = _SwitchN[num_outs=3, T=double](x, k:y:0)\n"
    "  a = Sin[T=double](s:outputs:0)\n"
    "  b = Exp[T=double](s:outputs:1)\n"
    "  c = Square[T=double](s:outputs:2)\n"
    "  m = Merge[T=double, N=3](a:y:0, b:y:0, c:y:0)\n"
    "  y = Mul[T=double](m:output:0, z)\n"
    "  return y = y:z:0\n"
    "}\n"
    LOOP("CallInLoop", "3", "  c = PartitionedCall[Tin={double, double}, Tout={double}, f=Power](ex:output:0, "
                            "sy:output_true:0)\n"
                            "  half = Const[dtype=double, value=0.5]() @ pivot\n"
                            "  next = Mul[T=double](c:output:0, half:output:0)\n")
    LOOP("BranchInLoop", "3", "  c = PartitionedCall[Tin={double, double}, Tout={double}, f=Branch](ex:output:0, "
                              "sy:output_true:0)\n"
                              "  next = AddV2[T=double](c:output:0, ex:output:0)\n")
    LOOP("IfInLoop", "3", "  odd = FloorMod[T=int32](ai:z:0, two:output:0)\n"
                          "  two = Const[dtype=int32, value=2]() @ pivot\n"
                          "  c = If[Tcond=int32, Tin={double, double}, Tout={double}, then_branch=Power, "
                          "else_branch=Branch](odd:z:0, ex:output:0, sy:output_true:0)\n"
                          "  next = AddV2[T=double](c:output:0, sy:output_true:0)\n")
    "More(i:int32, x:double, y:double) -> (go:bool) {\n"
    "  n = Const[dtype=int32, value=2]()\n"
    "  go = Less[T=int32](i, n:output:0)\n"
    "  return go = go:z:0\n"
    "}\n"
    "OneRound(i:int32, x:double, y:double) -> (j:int32, xx:double, w:double) {\n"
    "  one = Const[dtype=int32, value=1]()\n"
    "  j = AddV2[T=int32](i, one:output:0)\n"
    "  p = PartitionedCall[Tin={double, double}, Tout={double}, f=Branch](x, y)\n"
    "  q = PartitionedCall[Tin={double, double}, Tout={double}, f=Power](x, p:output:0)\n"
    "  return j = j:z:0, xx = x, w = q:output:0\n"
    "}\n"
    "LoopOfLoops(x:double, z:double) -> (y:double) {\n"
    "  zero = Const[dtype=int32, value=0]()\n"
    "  w = While[T={int32, double, double}, cond=More, body=OneRound](zero:output:0, x, z)\n"
    "  y = Mul[T=double](w:output:2, z)\n"
    "  return y = y:z:0\n"
    "}\n"
    LOOP("WhileInLoop", "2", "  start = Const[dtype=int32, value=0]() @ pivot\n"
                             "  w = While[T={int32, double, double}, cond=More, body=OneRound](start:output:0, "
                             "ex:output:0, sy:output_true:0)\n"
                             "  next = Mul[T=double](w:output:2, ex:output:0)\n");

typedef struct Case {
  const char *function;
  double x, z;
} Case;

static const Case kCases[] = {
    {"Power", 1.5, 0.75},
    {"NoRounds", 1.5, 0.75},
    {"Merged", 1.5, 0.75},
    {"Branch", 0.5, 2},
    {"Branch", 2, 0.5},
    {"Side", 0.5, 2},
    {"Side", 2, 0.5},
    {"Behind", 0.5, 2},
    {"Behind", 2, 0.5},
    {"LoopOfBranch", 0.5, 0.75},
    {"LoopOfBranch", 0.75, 2},
    {"Halting", 0.7, 1.3},
    {"Triggered", 0.5, 2},
    {"Triggered", 2, 0.5},
    {"Executed", 0.5, 2},
    {"Executed", 2, 0.5},
    {"Three", 0.75, 0.5},
    {"Three", 0.75, 1.5},
    {"Three", 0.75, 2.5},
    {"CallInLoop", 1.25, 0.75},
    {"BranchInLoop", 0.5, 0.75},
    {"BranchInLoop", 1.5, 0.75},
    {"IfInLoop", 0.5, 0.75},
    {"LoopOfLoops", 0.75, 0.5},
    {"LoopOfLoops", 0.5, 0.75},
    {"WhileInLoop", 0.5, 0.75},
};

typedef struct World {
  Fixture f;
  NodeOutput xs[2], y;
  double at[2];
} World;

static NodeOutput double_placeholder(Graph *graph, const char *name) {
  Attr attrs[] = {{"dtype", "type: DT_DOUBLE"}, {"shape", "shape { }"}};
  return out(add_node(graph, "Placeholder", name, NULL, 0, attrs, 2));
}

static bool open_world(World *w) {
  if (!begin(&w->f) || !define(w->f.graph, kLibrary)) return false;
  w->xs[0] = double_placeholder(w->f.graph, "x");
  w->xs[1] = double_placeholder(w->f.graph, "z");
  return w->xs[1].node;
}

static bool add_function(World *w, const char *name, bool called) {
  Graph *graph = w->f.graph;
  if (!called) {
    return CHECK_OK(splice_function(graph, graph_find_function(graph, name), w->xs, "s", &w->y, &w->f.status),
                    &w->f.status);
  }
  char text[64];
  snprintf(text, sizeof text, "func { name: \"%s\" }", name);
  Attr attrs[] = {{"Tin", "list { type: DT_DOUBLE type: DT_DOUBLE }"},
                  {"Tout", "list { type: DT_DOUBLE }"},
                  {"f", text}};
  Arena *arena = arena_new();
  NodeDef *def = node_def_new(arena, "called", "PartitionedCall");
  for (int i = 0; i < 3; i++) {
    void *value;
    CHECK_OK(proto_parse_text(kAttrValue, str_of(attrs[i].text), arena, &value, &w->f.status), &w->f.status);
    CHECK_OK(node_def_set_attr(def, arena, attrs[i].name, value, &w->f.status), &w->f.status);
  }
  bool ok =
      CHECK_OK(graph_add_operation(graph, def, w->xs, 2, NULL, 0, &w->y.node, &w->f.status), &w->f.status);
  arena_free(arena);
  return ok;
}

static double value_of(World *w, NodeOutput value) {
  Tensor feeds[2] = {{0}}, result = {0};
  const Tensor *given[] = {&feeds[0], &feeds[1]};
  double number = NAN;
  for (int i = 0; i < 2; i++) {
    if (!CHECK_OK(tensor_allocate_dims(&feeds[i], DT_DOUBLE, 0, NULL, NULL, &w->f.status), &w->f.status))
      return NAN;
    tensor_f64(&feeds[i])[0] = w->at[i];
  }
  if (CHECK_OK(session_run(w->f.session, w->xs, given, 2, &value, &result, 1, NULL, 0, &w->f.status),
               &w->f.status))
    number = tensor_f64(&result)[0];
  tensor_clear(&result);
  for (int i = 0; i < 2; i++) tensor_clear(&feeds[i]);
  return number;
}

/* The sum of the values that there are. */
static double sum_of(World *w, const NodeOutput *ys, int count) {
  double sum = 0;
  for (int i = 0; i < count; i++) sum += !ys[i].node ? 0 : value_of(w, ys[i]);
  return sum;
}

static void check_difference(World *w, const NodeOutput *ys, int count, const NodeOutput *dxs) {
  const double h = 1e-5;
  for (int i = 0; i < 2; i++) {
    double at = w->at[i];
    w->at[i] = at + h;
    double above = sum_of(w, ys, count);
    w->at[i] = at - h;
    double below = sum_of(w, ys, count);
    w->at[i] = at;
    double want = (above - below) / (2 * h), got = !dxs[i].node ? 0 : value_of(w, dxs[i]);
    CHECK_NEAR(got, want, 1e-6 * fmax(1, fabs(want)));
  }
}

static void check_case(const Case *c, bool called) {
  World w = {.at = {c->x, c->z}};
  NodeOutput ys[2], dxs[2];
  bool ok = open_world(&w) && add_function(&w, c->function, called);
  ys[0] = w.y;
  for (int order = 1, count = ok; order <= 3 && count > 0; order++) {
    CHECK_CONTEXT("%s at %g, %g%s, order %d", c->function, c->x, c->z, called ? ", called" : "", order);
    if (!CHECK_OK(graph_add_gradients(w.f.graph, ys, count, w.xs, 2, NULL, NULL, dxs, &w.f.status),
                  &w.f.status))
      break;
    check_difference(&w, ys, count, dxs);
    count = 0;
    for (int i = 0; i < 2; i++) {
      if (dxs[i].node) ys[count++] = dxs[i];
    }
  }
  end(&w.f);
}

TEST(gradients_of_any_order_through_switches_and_frames) {
  for (size_t i = 0; i < sizeof kCases / sizeof *kCases; i++) check_case(&kCases[i], false);
}

TEST(gradients_of_any_order_through_functions_with_switches_and_frames) {
  for (size_t i = 0; i < sizeof kCases / sizeof *kCases; i++) check_case(&kCases[i], true);
}
