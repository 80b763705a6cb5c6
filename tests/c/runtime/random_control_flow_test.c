/* Gradients of random functions with nested branches, loops and calls: the first and second derivatives from
 * graphs (with kept intermediates) compared with central differences; and the same bits with and without the
 * optimizer. For more and other functions:
 *
 *   TFCORE_GRADIENT_SEED=7 TFCORE_GRADIENT_ROUNDS=1000 TFCORE_GRADIENT_TRACE=1 \
 *     test_runtime --filter random_control_flow
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "c_api/random_values.h"
#include "gradient/graph_gradients.h"
#include "runtime/session_fixture.h"

/* All functions are F(n:int32, x:double, w:double) -> (y:double, v:double), so that each can be a branch, the
 * body of a For, or, with an additional counter, the body of a While. F<k> only uses functions with smaller
 * numbers. */
enum { MOST_VALUES = 24, MOST_FUNCTIONS = 6 };

typedef struct Writer {
  Random *random;
  StrBuf *text;
  char values[MOST_VALUES][24]; /* inputs that name a double */
  int count, functions;
} Writer;

static const char *any(Writer *w) { return w->values[random_below(w->random, w->count)]; }

static void add_value(Writer *w, int node, const char *output) {
  snprintf(w->values[w->count++], sizeof w->values[0], "v%d:%s", node, output);
}

static void write_math(Writer *w, int i) {
  static const char *const kUnary[] = {"Tanh", "Sigmoid", "Sin", "Cos", "Neg", "Square", "Identity"};
  static const char *const kOutputs[] = {"y", "y", "y", "y", "y", "y", "output"};
  static const char *const kBinary[] = {"Add", "Sub", "Mul"};
  int kind = random_below(w->random, 8), k = random_below(w->random, 7);
  if (kind == 0) {
    strbuf_printf(w->text, "  v%d = Const[dtype=double, value=%.2f]()\n", i, 0.25 * k - 0.8);
    add_value(w, i, "output:0");
  } else if (kind < 5) {
    strbuf_printf(w->text, "  v%d = %s[T=double](%s, %s)\n", i, kBinary[k % 3], any(w), any(w));
    add_value(w, i, "z:0");
  } else {
    char output[16];
    snprintf(output, sizeof output, "%s:0", kOutputs[k]);
    strbuf_printf(w->text, "  v%d = %s[T=double](%s)\n", i, kUnary[k], any(w));
    add_value(w, i, output);
  }
}

static int function_below(Writer *w) { return random_below(w->random, w->functions); }

/* A call of a random kind; its use of n changes in loops. */
static void write_call(Writer *w, int i) {
  static const char kTypes[] = "Tin={int32, double, double}, Tout={double, double}";
  const char *stateless = one_in(w->random, 2) ? "Stateless" : "";
  int f = function_below(w), g = function_below(w), kind = random_below(w->random, 6);
  char x[24], y[24];
  snprintf(x, sizeof x, "%s", any(w));
  snprintf(y, sizeof y, "%s", any(w));
  strbuf_printf(w->text,
                "  k%d = Const[dtype=int32, value=%d]()\n  m%d = FloorMod[T=int32](n, k%d:output:0)\n", i,
                2 + random_below(w->random, 2), i, i);
  switch (kind) {
    case 0:
      strbuf_printf(w->text,
                    "  v%d = %sIf[Tcond=int32, %s, then_branch=F%d, else_branch=F%d](m%d:z:0, n, %s, %s)\n",
                    i, stateless, kTypes, f, g, i, x, y);
      break;
    case 1:
      strbuf_printf(w->text, "  v%d = Case[%s, branches=[F%d, F%d, F%d]](m%d:z:0, n, %s, %s)\n", i, kTypes, f,
                    g, function_below(w), i, x, y);
      break;
    case 2:
      strbuf_printf(w->text, "  v%d = %sPartitionedCall[%s, f=F%d](m%d:z:0, %s, %s)\n", i,
                    stateless[0] ? "" : "Stateful", kTypes, f, i, x, y);
      break;
    case 3: strbuf_printf(w->text, "  v%d = F%d(m%d:z:0, %s, %s)\n", i, f, i, x, y); break;
    case 4:
      strbuf_printf(w->text,
                    "  v%d = %sWhile[T={int32, double, double}, cond=More, body=Round%d](k%d:output:0, %s, "
                    "%s)\n",
                    i, stateless, f, i, x, y);
      break;
    default:
      strbuf_printf(w->text,
                    "  b%d = Const[dtype=int32, value=%d]()\n  s%d = Const[dtype=int32, value=1]()\n"
                    "  v%d = For[T={double, double}, body=F%d](b%d:output:0, k%d:output:0, s%d:output:0, %s, "
                    "%s)\n",
                    i, random_below(w->random, 3), i, i, f, i, i, i, x, y);
  }
  if (kind == 3) {
    add_value(w, i, "y:0");
    add_value(w, i, "v:0");
  } else {
    add_value(w, i, kind == 4 ? "output:1" : "output:0");
    add_value(w, i, kind == 4 ? "output:2" : "output:1");
  }
}

/* Results between -1 and 1, so that nothing grows in loops. */
static void write_function(Writer *w, int number) {
  w->count = 2;
  w->functions = number;
  snprintf(w->values[0], sizeof w->values[0], "x");
  snprintf(w->values[1], sizeof w->values[1], "w");
  strbuf_printf(w->text, "F%d(n:int32, x:double, w:double) -> (y:double, v:double) {\n", number);
  int nodes = 2 + random_below(w->random, 5);
  for (int i = 0; i < nodes; i++) {
    if (number > 0 && one_in(w->random, 3)) {
      write_call(w, i);
    } else {
      write_math(w, i);
    }
  }
  int last = w->count - 1;
  strbuf_printf(w->text,
                "  y = Tanh[T=double](%s)\n  v = Sin[T=double](%s)\n  return y = y:y:0, v = v:y:0\n}\n",
                w->values[last], any(w));
  strbuf_printf(w->text,
                "Round%d(n:int32, x:double, w:double) -> (m:int32, y:double, v:double) {\n"
                "  one = Const[dtype=int32, value=1]()\n  m = Sub[T=int32](n, one:output:0)\n  f = F%d(n, x, "
                "w)\n"
                "  return m = m:z:0, y = f:y:0, v = f:v:0\n}\n",
                number, number);
}

/* Main(n, x, w) -> y; some gradient flows to x and w whatever the functions do. */
static void write_library(Random *random, StrBuf *text) {
  Writer w = {.random = random, .text = text};
  int functions = 2 + random_below(random, MOST_FUNCTIONS - 1);
  strbuf_append(text,
                "More(n:int32, x:double, w:double) -> (go:bool) {\n  zero = Const[dtype=int32, value=0]()\n"
                "  go = Greater[T=int32](n, zero:output:0)\n  return go = go:z:0\n}\n");
  for (int i = 0; i < functions; i++) write_function(&w, i);
  static const char *const kCalls[] = {
      "  c = F%d(n, x, w)\n  y = Add[T=double](p:z:0, c:y:0)\n",
      "  c = While[T={int32, double, double}, cond=More, body=Round%d](n, x, w)\n  y = Add[T=double](p:z:0, "
      "c:output:1)\n",
      "  c = PartitionedCall[Tin={int32, double, double}, Tout={double, double}, f=F%d](n, x, w)\n  y = "
      "Add[T=double](p:z:0, c:output:0)\n",
  };
  char call[256];
  snprintf(call, sizeof call, kCalls[random_below(random, 3)], functions - 1);
  strbuf_printf(text,
                "Main(n:int32, x:double, w:double) -> (y:double) {\n  q = Square[T=double](x)\n"
                "  p = Mul[T=double](q:y:0, w)\n%s  return y = y:z:0\n}\n",
                call);
}

/* --- running --- */

typedef struct Model {
  Fixture base;
  Session *plain; /* without the optimizer */
  NodeOutput feeds[3], y, first[2], mixed, second[2];
} Model;

static NodeOutput input(Graph *graph, const char *name, const char *dtype) {
  Attr attrs[] = {{"dtype", dtype}, {"shape", "shape { }"}};
  return out(add_node(graph, "Placeholder", name, NULL, 0, attrs, 2));
}

static NodeOutput number(Graph *graph, const char *name, double value) {
  char text[96];
  snprintf(text, sizeof text, "tensor { dtype: DT_DOUBLE tensor_shape { } double_val: %g }", value);
  Attr attrs[] = {{"dtype", "type: DT_DOUBLE"}, {"value", text}};
  return out(add_node(graph, "Const", name, NULL, 0, attrs, 2));
}

static bool build(Model *m, const char *library) {
  Status *status = &m->base.status;
  Graph *graph = m->base.graph;
  if (!define(graph, library)) return false;
  m->feeds[0] = input(graph, "n", "type: DT_INT32");
  m->feeds[1] = input(graph, "x", "type: DT_DOUBLE");
  m->feeds[2] = input(graph, "w", "type: DT_DOUBLE");
  Node *call = add_node(graph, "Main", "main", m->feeds, 3, NULL, 0);
  if (!CHECK(call)) return false;
  m->y = out(call);
  if (!CHECK_OK(graph_add_gradients(graph, &m->y, 1, &m->feeds[1], 2, NULL, NULL, m->first, status), *status))
    return false;
  NodeOutput a = binary(graph, "Mul", "a", m->first[0], number(graph, "ka", 0.75));
  NodeOutput b = binary(graph, "Mul", "b", m->first[1], number(graph, "kb", -1.25));
  m->mixed = binary(graph, "Add", "mixed", a, b);
  return CHECK_OK(graph_add_gradients(graph, &m->mixed, 1, &m->feeds[1], 2, NULL, NULL, m->second, status),
                  *status);
}

static bool run_at(Model *m, Session *session, int n, const double *at, const NodeOutput *fetches, int count,
                   double *values) {
  Tensor feeds[3] = {{0}}, fetched[8] = {{0}};
  Status *status = &m->base.status;
  bool ok = CHECK_OK(tensor_allocate_dims(&feeds[0], DT_INT32, 0, NULL, NULL, status), *status);
  for (int i = 1; ok && i < 3; i++) {
    ok = CHECK_OK(tensor_allocate_dims(&feeds[i], DT_DOUBLE, 0, NULL, NULL, status), *status);
    if (ok) tensor_f64(&feeds[i])[0] = at[i - 1];
  }
  if (ok) tensor_i32(&feeds[0])[0] = n;
  const Tensor *fed[] = {&feeds[0], &feeds[1], &feeds[2]};
  ok = ok &&
       CHECK_OK(session_run(session, m->feeds, fed, 3, fetches, fetched, count, NULL, 0, status), *status);
  for (int i = 0; ok && i < count; i++) values[i] = tensor_f64(&fetched[i])[0];
  for (int i = 0; i < 3; i++) tensor_clear(&feeds[i]);
  for (int i = 0; i < count; i++) tensor_clear(&fetched[i]);
  return ok;
}

static bool values_at(Model *m, int n, const double *at, const NodeOutput *fetches, int count,
                      double *values) {
  return run_at(m, m->base.session, n, at, fetches, count, values);
}

/* Compares with the differences of `of`, which is fetched alone, so that no intermediates are kept. */
static bool check_derivative(Model *m, int n, const double *at, NodeOutput of, int by, double got) {
  const double h = 1e-5;
  double up[2] = {at[0], at[1]}, down[2] = {at[0], at[1]}, above = 0, below = 0;
  up[by] += h;
  down[by] -= h;
  if (!values_at(m, n, up, &of, 1, &above) || !values_at(m, n, down, &of, 1, &below)) return false;
  double want = (above - below) / (2 * h);
  return CHECK_NEAR(got, want, 2e-6 * fmax(1, fabs(want)));
}

static bool check_at(Model *m, int n, const double *at) {
  const NodeOutput fetches[] = {m->y, m->first[0], m->first[1], m->mixed, m->second[0], m->second[1]};
  double all[6], plain[6], alone;
  bool ok = values_at(m, n, at, fetches, 6, all) && run_at(m, m->plain, n, at, fetches, 6, plain) &&
            CHECK_MEM_EQ(plain, all, sizeof all);
  for (int i = 0; ok && i < 6; i++)
    ok = values_at(m, n, at, &fetches[i], 1, &alone) && CHECK_NEAR(alone, all[i], 1e-12);
  for (int i = 0; ok && i < 2; i++) {
    ok = check_derivative(m, n, at, m->y, i, all[1 + i]) &&
         check_derivative(m, n, at, m->mixed, i, all[4 + i]);
  }
  return ok;
}

TEST(random_control_flow_has_its_gradients) {
  const uint64_t seed = setting("TFCORE_GRADIENT_SEED", 1);
  const int rounds = (int)setting("TFCORE_GRADIENT_ROUNDS", 25);
  static const double kPoints[][2] = {{0.3, -0.7}, {-1.1, 0.4}};
  bool ok = true;
  for (int round = 0; ok && round < rounds; round++) {
    CHECK_CONTEXT("TFCORE_GRADIENT_SEED=%" PRIu64 " round %d", seed, round);
    Random random = {seed * 1000003 + (uint64_t)round};
    StrBuf text = {0};
    Model m = {.y = {NULL, 0}};
    write_library(&random, &text);
    if (setting("TFCORE_GRADIENT_TRACE", 0)) printf("--- round %d\n%s", round, strbuf_text(&text));
    ok = begin(&m.base) && build(&m, strbuf_text(&text));
    m.plain = session_new(m.base.graph, &m.base.status);
    ok = ok && CHECK(m.plain);
    if (ok) session_optimize(m.plain, false);
    for (int n = 0; ok && n < 4; n++) ok = check_at(&m, n, kPoints[n % 2]);
    session_free(m.plain);
    end(&m.base);
    strbuf_free(&text);
  }
}
