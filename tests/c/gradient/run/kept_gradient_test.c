/* Gradients of ops that call functions use the values that the call computed: random numbers are drawn once.
 * In each function here y = x m, where m is made of random powers of two, so that dy/dx = m exactly, in the
 * same run. */
#include <math.h>
#include <string.h>

#include "gradient/graph_gradients.h"
#include "runtime/session_fixture.h"
#include "splice_function.h"

enum { SIZE = 24 };

static const char kLibrary[] =
    /* 2 or 1/2 with equal probability */
    "Drop(x:float) -> (y:float, m:float) {\n"
    "  s = Shape[T=float](x)\n"
    "  u = RandomUniform[T=int32, dtype=float](s:output:0)\n"
    "  half = Const[dtype=float, value=0.5]()\n"
    "  two = Const[dtype=float, value=2]()\n"
    "  k = GreaterEqual[T=float](u:output:0, half:output:0)\n"
    "  m = SelectV2[T=float](k:z:0, two:output:0, half:output:0)\n"
    "  y = Mul[T=float](x, m:output:0)\n"
    "  return y = y:z:0, m = m:output:0\n"
    "}\n"
    "Keep(x:float) -> (y:float, m:float) {\n"
    "  m = OnesLike[T=float](x)\n"
    "  y = Identity[T=float](x)\n"
    "  return y = y:output:0, m = m:y:0\n"
    "}\n"
    "More(n:int32, h:float, m:float) -> (go:bool) {\n"
    "  zero = Const[dtype=int32, value=0]()\n"
    "  go = Greater[T=int32](n, zero:output:0)\n"
    "  return go = go:z:0\n"
    "}\n"
    "Step(n:int32, h:float, m:float) -> (o:int32, g:float, p:float) {\n"
    "  one = Const[dtype=int32, value=1]()\n"
    "  o = Sub[T=int32](n, one:output:0)\n"
    "  s = Shape[T=float](h)\n"
    "  u = RandomUniform[T=int32, dtype=float](s:output:0)\n"
    "  half = Const[dtype=float, value=0.5]()\n"
    "  two = Const[dtype=float, value=2]()\n"
    "  k = GreaterEqual[T=float](u:output:0, half:output:0)\n"
    "  f = SelectV2[T=float](k:z:0, two:output:0, half:output:0)\n"
    "  g = Mul[T=float](h, f:output:0)\n"
    "  p = Mul[T=float](m, f:output:0)\n"
    "  return o = o:z:0, g = g:z:0, p = p:z:0\n"
    "}\n"
    "CallStep(n:int32, h:float, m:float) -> (o:int32, g:float, p:float) {\n"
    "  one = Const[dtype=int32, value=1]()\n"
    "  o = Sub[T=int32](n, one:output:0)\n"
    "  d = Drop(h)\n"
    "  e = PartitionedCall[Tin={float}, Tout={float, float}, f=Drop](d:y:0)\n"
    "  q = Mul[T=float](m, d:m:0)\n"
    "  p = Mul[T=float](q:z:0, e:output:1)\n"
    "  return o = o:z:0, g = e:output:0, p = p:z:0\n"
    "}\n"
    "IfStep(n:int32, h:float, m:float) -> (o:int32, g:float, p:float) {\n"
    "  one = Const[dtype=int32, value=1]()\n"
    "  two = Const[dtype=int32, value=2]()\n"
    "  o = Sub[T=int32](n, one:output:0)\n"
    "  c = FloorMod[T=int32](n, two:output:0)\n"
    "  d = If[Tcond=int32, Tin={float}, Tout={float, float}, then_branch=Drop, else_branch=Keep](c:z:0, h)\n"
    "  p = Mul[T=float](m, d:output:1)\n"
    "  return o = o:z:0, g = d:output:0, p = p:z:0\n"
    "}\n"
    "LoopStep(n:int32, h:float, m:float) -> (o:int32, g:float, p:float) {\n"
    "  one = Const[dtype=int32, value=1]()\n"
    "  o = Sub[T=int32](n, one:output:0)\n"
    "  w = While[T={int32, float, float}, cond=More, body=Step](n, h, m)\n"
    "  return o = o:z:0, g = w:output:1, p = w:output:2\n"
    "}\n"
    "ForStep(i:int32, h:float, m:float) -> (g:float, p:float) {\n"
    "  d = Drop(h)\n"
    "  p = Mul[T=float](m, d:m:0)\n"
    "  return g = d:y:0, p = p:z:0\n"
    "}\n"
    "Looping(x:float) -> (y:float, m:float) {\n"
    "  n = Const[dtype=int32, value=3]()\n"
    "  one = OnesLike[T=float](x)\n"
    "  w = While[T={int32, float, float}, cond=More, body=Step](n:output:0, x, one:y:0)\n"
    "  return y = w:output:1, m = w:output:2\n"
    "}\n"
    /* the graphs */
    "MainWhile(n:int32, x:float) -> (y:float, m:float) {\n"
    "  one = OnesLike[T=float](x)\n"
    "  w = While[T={int32, float, float}, cond=More, body=Step](n, x, one:y:0)\n"
    "  return y = w:output:1, m = w:output:2\n"
    "}\n"
    "MainStatelessWhile(n:int32, x:float) -> (y:float, m:float) {\n"
    "  one = OnesLike[T=float](x)\n"
    "  w = StatelessWhile[T={int32, float, float}, cond=More, body=Step](n, x, one:y:0)\n"
    "  return y = w:output:1, m = w:output:2\n"
    "}\n"
    "MainFor(n:int32, x:float) -> (y:float, m:float) {\n"
    "  one = OnesLike[T=float](x)\n"
    "  start = Const[dtype=int32, value=0]()\n"
    "  delta = Const[dtype=int32, value=1]()\n"
    "  w = For[T={float, float}, body=ForStep](start:output:0, n, delta:output:0, x, one:y:0)\n"
    "  return y = w:output:0, m = w:output:1\n"
    "}\n"
    "MainCalls(n:int32, x:float) -> (y:float, m:float) {\n"
    "  one = OnesLike[T=float](x)\n"
    "  w = While[T={int32, float, float}, cond=More, body=CallStep](n, x, one:y:0)\n"
    "  return y = w:output:1, m = w:output:2\n"
    "}\n"
    "MainBranches(n:int32, x:float) -> (y:float, m:float) {\n"
    "  one = OnesLike[T=float](x)\n"
    "  w = While[T={int32, float, float}, cond=More, body=IfStep](n, x, one:y:0)\n"
    "  return y = w:output:1, m = w:output:2\n"
    "}\n"
    "MainLoops(n:int32, x:float) -> (y:float, m:float) {\n"
    "  one = OnesLike[T=float](x)\n"
    "  w = While[T={int32, float, float}, cond=More, body=LoopStep](n, x, one:y:0)\n"
    "  return y = w:output:1, m = w:output:2\n"
    "}\n"
    "MainIf(n:int32, x:float) -> (y:float, m:float) {\n"
    "  d = If[Tcond=int32, Tin={float}, Tout={float, float}, then_branch=Drop, else_branch=Keep](n, x)\n"
    "  return y = d:output:0, m = d:output:1\n"
    "}\n"
    "MainStatelessIf(n:int32, x:float) -> (y:float, m:float) {\n"
    "  d = StatelessIf[Tcond=int32, Tin={float}, Tout={float, float}, then_branch=Keep, else_branch=Drop](n, "
    "x)\n"
    "  return y = d:output:0, m = d:output:1\n"
    "}\n"
    "MainIfLoop(n:int32, x:float) -> (y:float, m:float) {\n"
    "  d = If[Tcond=int32, Tin={float}, Tout={float, float}, then_branch=Looping, else_branch=Drop](n, x)\n"
    "  return y = d:output:0, m = d:output:1\n"
    "}\n"
    "MainCase(n:int32, x:float) -> (y:float, m:float) {\n"
    "  d = Case[Tin={float}, Tout={float, float}, branches=[Keep, Drop, Looping]](n, x)\n"
    "  return y = d:output:0, m = d:output:1\n"
    "}\n"
    "MainCall(n:int32, x:float) -> (y:float, m:float) {\n"
    "  d = Looping(x)\n"
    "  return y = d:y:0, m = d:m:0\n"
    "}\n"
    "MainStatefulCall(n:int32, x:float) -> (y:float, m:float) {\n"
    "  d = StatefulPartitionedCall[Tin={float}, Tout={float, float}, f=Drop](x)\n"
    "  return y = d:output:0, m = d:output:1\n"
    "}\n"
    "MainRemote(n:int32, x:float) -> (y:float, m:float) {\n"
    "  here = FakeParam[dtype=string, shape=Shape<[]>]()\n"
    "  d = RemoteCall[Tin={float}, Tout={float, float}, f=Drop](here:output:0, x)\n"
    "  return y = d:output:0, m = d:output:1\n"
    "}\n";

static const char *const kMains[] = {"MainWhile",    "MainStatelessWhile", "MainFor",  "MainCalls",
                                     "MainBranches", "MainLoops",          "MainIf",   "MainStatelessIf",
                                     "MainIfLoop",   "MainCase",           "MainCall", "MainStatefulCall",
                                     "MainRemote"};

typedef struct Model {
  Fixture base;
  NodeOutput x, n, y, m;
} Model;

static bool begin_model(Model *f, const char *main) {
  *f = (Model){.x = {NULL, 0}};
  if (!begin(&f->base) || !define(f->base.graph, kLibrary)) return false;
  Graph *graph = f->base.graph;
  Attr type[] = {{"dtype", "type: DT_INT32"}};
  f->x = placeholder(graph, "x", "shape { unknown_rank: true }");
  f->n = out(add_node(graph, "Placeholder", "n", NULL, 0, type, 1));
  NodeOutput inputs[] = {f->n, f->x}, outputs[2];
  bool ok =
      CHECK_OK(splice_function(graph, graph_find_function(graph, main), inputs, "", outputs, &f->base.status),
               f->base.status);
  if (!ok) return false;
  f->y = outputs[0];
  f->m = outputs[1];
  return true;
}

static bool run(Session *session, const NodeOutput *feeds, int rounds, const NodeOutput *fetches,
                Tensor *values, int num_values) {
  float numbers[SIZE];
  int64_t dims[] = {4, SIZE / 4};
  Tensor x = {0}, n = {0};
  Status status;
  status_init(&status);
  for (int i = 0; i < SIZE; i++) numbers[i] = (float)(i % 7 + 1);
  bool ok = float_tensor(&x, 2, dims, numbers) &&
            CHECK_OK(tensor_allocate_dims(&n, DT_INT32, 0, NULL, NULL, &status), status);
  if (ok) {
    tensor_i32(&n)[0] = rounds;
    const Tensor *inputs[] = {&n, &x};
    ok = CHECK_OK(session_run(session, feeds, inputs, 2, fetches, values, num_values, NULL, 0, &status),
                  status);
  }
  tensor_clear(&x);
  tensor_clear(&n);
  return ok;
}

static void clear(Tensor *values, int count) {
  for (int i = 0; i < count; i++) tensor_clear(&values[i]);
}

/* y = x m, dx = k m^p x^q */
static void check_equal(const Tensor *m, const Tensor *dx, double k, int p, int q) {
  for (int i = 0; i < SIZE; i++) {
    double want = k * pow((double)tensor_f32(m)[i], p) * pow(i % 7 + 1, q);
    if (!CHECK(tensor_f32(dx)[i] == (float)want)) return;
  }
}

/* Whether random numbers were drawn. */
static bool differs(const Tensor *m) {
  for (int i = 1; i < SIZE; i++) {
    if (tensor_f32(m)[i] != tensor_f32(m)[0]) return true;
  }
  return false;
}

TEST(gradients_use_the_random_numbers_of_the_forward_pass) {
  for (size_t c = 0; c < sizeof kMains / sizeof kMains[0]; c++) {
    Model f;
    bool ok = begin_model(&f, kMains[c]);
    NodeOutput feeds[] = {f.n, f.x}, dx, square, fetches[4];
    CHECK_CONTEXT("%s", kMains[c]);
    if (ok) {
      Tensor before[2] = {{0}};
      fetches[0] = f.y;
      fetches[1] = f.m;
      CHECK(run(f.base.session, feeds, 2, fetches, before, 2));
      clear(before, 2);
      int num_outputs = f.y.node->num_outputs;
      ok = CHECK_OK(graph_add_gradients(f.base.graph, &f.y, 1, &f.x, 1, NULL, NULL, &dx, &f.base.status),
                    f.base.status) &&
           CHECK(dx.node);
      CHECK(f.y.node->num_outputs >= num_outputs);
    }
    for (int rounds = 0; ok && rounds < 4; rounds++) {
      CHECK_CONTEXT("%s, %d", kMains[c], rounds);
      Tensor values[4] = {{0}};
      fetches[2] = dx;
      if (run(f.base.session, feeds, rounds, fetches, values, 3)) {
        check_equal(&values[1], &values[2], 1, 1, 0);
        check_equal(&values[1], &values[0], 1, 1, 1);
        if (rounds == 2 && strcmp(kMains[c], "MainStatelessIf") != 0) CHECK(differs(&values[1]));
      }
      clear(values, 3);
    }
    /* z = y^2: dz = 2 x m^2, and its derivative 2 m^2 */
    if (ok) {
      NodeOutput second = {NULL, 0};
      square = unary(f.base.graph, "Square", "square", f.y);
      ok = CHECK_OK(graph_add_gradients(f.base.graph, &square, 1, &f.x, 1, NULL, NULL, &dx, &f.base.status),
                    f.base.status) &&
           CHECK_OK(graph_add_gradients(f.base.graph, &dx, 1, &f.x, 1, NULL, NULL, &second, &f.base.status),
                    f.base.status);
      fetches[2] = dx;
      fetches[3] = second;
    }
    for (int rounds = 0; ok && rounds < 4; rounds++) {
      CHECK_CONTEXT("%s twice, %d", kMains[c], rounds);
      Tensor values[4] = {{0}};
      if (run(f.base.session, feeds, rounds, fetches, values, 4)) {
        check_equal(&values[1], &values[2], 2, 2, 1);
        check_equal(&values[1], &values[3], 2, 2, 0);
      }
      clear(values, 4);
    }
    end(&f.base);
  }
}

/* Differentiating again keeps no further values. */
TEST(what_is_kept_is_kept_once) {
  for (size_t c = 0; c < sizeof kMains / sizeof kMains[0]; c++) {
    Model f;
    int num_outputs = 0, num_inputs = 0;
    int64_t functions = 0;
    CHECK_CONTEXT("%s", kMains[c]);
    if (begin_model(&f, kMains[c])) {
      for (int i = 0; i < 5; i++) {
        NodeOutput dx;
        if (!CHECK_OK(graph_add_gradients(f.base.graph, &f.y, 1, &f.x, 1, NULL, NULL, &dx, &f.base.status),
                      f.base.status))
          break;
        if (i >= 1) CHECK_INT_EQ(f.y.node->num_outputs, num_outputs);
        if (i >= 1) CHECK_INT_EQ(f.y.node->num_inputs, num_inputs);
        if (i >= 2) CHECK_INT_EQ(graph_num_functions(f.base.graph), functions);
        num_outputs = f.y.node->num_outputs;
        num_inputs = f.y.node->num_inputs;
        functions = graph_num_functions(f.base.graph);
      }
    }
    end(&f.base);
  }
}

/* The changed graph, exported and imported elsewhere. */
TEST(graphs_that_keep_are_saved_and_loaded) {
  for (size_t c = 0; c < sizeof kMains / sizeof kMains[0]; c++) {
    Model f;
    NodeOutput dx;
    StrBuf bytes = {0};
    Arena *arena = arena_new();
    GraphDef *def;
    CHECK_CONTEXT("%s", kMains[c]);
    if (begin_model(&f, kMains[c]) &&
        CHECK_OK(graph_add_gradients(f.base.graph, &f.y, 1, &f.x, 1, NULL, NULL, &dx, &f.base.status),
                 f.base.status) &&
        CHECK_OK(graph_to_def(f.base.graph, arena, &def, &f.base.status), f.base.status) &&
        CHECK_OK(proto_serialize(def, &bytes, &f.base.status), f.base.status)) {
      Graph *graph = graph_new();
      ImportOptions options = {0};
      Session *session = session_new(graph, &f.base.status);
      if (CHECK_OK(graph_import_bytes(graph, strbuf_text(&bytes), (size_t)bytes.length, &options, NULL, NULL,
                                      &f.base.status),
                   f.base.status)) {
        NodeOutput feeds[] = {out(graph_find_node(graph, "n")), out(graph_find_node(graph, "x"))};
        NodeOutput fetches[] = {{graph_find_node(graph, f.m.node->name), f.m.index},
                                {graph_find_node(graph, dx.node->name), dx.index}};
        Tensor values[2] = {{0}};
        if (run(session, feeds, 2, fetches, values, 2)) check_equal(&values[0], &values[1], 1, 1, 0);
        clear(values, 2);
      }
      session_free(session);
      graph_free(graph);
    }
    strbuf_free(&bytes);
    arena_free(arena);
    end(&f.base);
  }
}
