/* What code for a whole tree of elementwise ops could save: the step of a fused tree, which calls a loop for
 * each op and tile, beside the same tree written as one loop and compiled, and beside the limit of both.
 *
 *   bench_fused [milliseconds per tree [part of a name]]     a table
 *
 * The limit is a copy of what the tree reads and writes, plus the arithmetic of its loop on data in the
 * first-level cache. All alternate in rounds, of which the best counts, because other processes can only slow
 * a round down.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "graph/graph.h"
#include "ops/op_table.h"
#include "ops/support/fused_loop.h"
#include "runtime/session.h"
#include "simd/vector_math.h"

enum { MOST_ARRAYS = 4, CACHED = 1024, ROW = 1024, VECTOR = 16 };

/* x[]: what the tree reads, y[]: what it writes. `scale` and `offset`: rows that a layer norm reads besides.
 */
typedef struct Arrays {
  const float *x[MOST_ARRAYS];
  float *y[MOST_ARRAYS];
  const float *scale, *offset;
} Arrays;

typedef void Loop(const Arrays *arrays, int64_t count);

/* --- the trees as loops --- */

static __attribute__((noinline)) void gelu_loop(const Arrays *a, int64_t count) {
  for (int64_t i = 0; i < count; i += VECTOR) {
    f32x16_store(a->y[0] + i, f32x16_gelu(f32x16_load(a->x[0] + i)));
  }
}

static float sum_of(f32x16 v) {
  f32x4 sum = f32x16_quarter(v, 0);
  for (int k = 1; k < 4; k++) sum += f32x16_quarter(v, k);
  return f32x4_sum(sum);
}

static __attribute__((noinline)) void layer_norm_loop(const Arrays *a, int64_t count) {
  for (int64_t first = 0; first < count; first += ROW) {
    const float *x = a->x[0] + first;
    f32x16 sum = f32x16_splat(0), squares = sum;
    for (int i = 0; i < ROW; i += VECTOR) sum += f32x16_load(x + i);
    f32x16 mean = f32x16_splat(sum_of(sum) / ROW);
    for (int i = 0; i < ROW; i += VECTOR) {
      f32x16 centred = f32x16_load(x + i) - mean;
      squares = f32x16_madd(centred, centred, squares);
    }
    f32x4 deviation = f32x4_sqrt(f32x4_splat(sum_of(squares) / ROW + 1e-5f));
    f32x16 factor = f32x16_splat(1.0f / deviation[0]);
    for (int i = 0; i < ROW; i += VECTOR) {
      f32x16 normal = (f32x16_load(x + i) - mean) * factor;
      f32x16_store(a->y[0] + first + i,
                   f32x16_madd(normal, f32x16_load(a->scale + i), f32x16_load(a->offset + i)));
    }
  }
}

static f32x16 square_root(f32x16 v) {
  f32x4 quarters[4];
  for (int k = 0; k < 4; k++) quarters[k] = f32x4_sqrt(f32x16_quarter(v, k));
  return f32x16_of_quarters(quarters);
}

static __attribute__((noinline)) void adam_loop(const Arrays *a, int64_t count) {
  for (int64_t i = 0; i < count; i += VECTOR) {
    f32x16 gradient = f32x16_load(a->x[3] + i);
    f32x16 m = f32x16_load(a->x[1] + i) * 0.9f + gradient * 0.1f;
    f32x16 v = f32x16_load(a->x[2] + i) * 0.999f + gradient * gradient * 0.001f;
    f32x16_store(a->y[0] + i, f32x16_load(a->x[0] + i) - m * 0.01f / (square_root(v) + 0.001f));
    f32x16_store(a->y[1] + i, m);
    f32x16_store(a->y[2] + i, v);
  }
}

/* --- what moves as much memory --- */

static __attribute__((noinline)) void copy_one(const Arrays *a, int64_t count) {
  for (int64_t i = 0; i < count; i += VECTOR) f32x16_store(a->y[0] + i, f32x16_load(a->x[0] + i));
}

static __attribute__((noinline)) void copy_three_of_four(const Arrays *a, int64_t count) {
  for (int64_t i = 0; i < count; i += VECTOR) {
    f32x16_store(a->y[0] + i, f32x16_load(a->x[0] + i));
    f32x16_store(a->y[1] + i, f32x16_load(a->x[1] + i));
    f32x16_store(a->y[2] + i, f32x16_load(a->x[2] + i) + f32x16_load(a->x[3] + i));
  }
}

/* --- the trees as graphs --- */

#define FLOAT(key) " attr { key: '" key "' value { type: DT_FLOAT } }"
#define NODE(name, op, inputs) "node { name: '" name "' op: '" op "' input: [" inputs "]" FLOAT("T") " }\n"
#define NUMBER(name, value)                                                                               \
  "node { name: '" name "' op: 'Const'" FLOAT(                                                            \
      "dtype") " attr { key: 'value' value { tensor { dtype: DT_FLOAT tensor_shape { } float_val: " value \
               " } } } }\n"
#define FED(name, sizes)                                                                                   \
  "node { name: '" name "' op: 'Placeholder'" FLOAT("dtype") " attr { key: 'shape' value { shape { " sizes \
                                                             " } } } }\n"
#define MEAN(name, input)                                                  \
  "node { name: '" name "' op: 'Mean' input: ['" input "', 'axis']" FLOAT( \
      "T") " attr { key: 'Tidx' value { type: DT_INT32 } } attr { key: 'keep_dims' value { b: true } } }\n"
#define MILLION "dim { size: 1000 } dim { size: 1024 }"
#define ROWS "dim { size: 4096 } dim { size: 1024 }"

static const char kGelu[] = FED("x0", MILLION) NUMBER("half", "0.5") NUMBER("scale", "0.70710678")
    NUMBER("one", "1") NODE("halved", "Mul", "'x0', 'half'") NODE("scaled", "Mul", "'x0', 'scale'")
        NODE("erf", "Erf", "'scaled'") NODE("more", "AddV2", "'erf', 'one'")
            NODE("product", "Mul", "'halved', 'more'") NODE("y0", "Identity", "'product'");

static const char kLayerNorm[] = FED("x0", ROWS) FED("x1", "dim { size: 1024 }") FED("x2", "dim { size: 1024 }")
    NUMBER("epsilon", "1e-5")
    "node { name: 'axis' op: 'Const' attr { key: 'dtype' value { type: DT_INT32 } }"
    " attr { key: 'value' value { tensor { dtype: DT_INT32 tensor_shape { } int_val: 1 } } } }\n"
    MEAN("mean", "x0") NODE("centred", "Sub", "'x0', 'mean'") NODE("squares", "Square", "'centred'")
    MEAN("variance", "squares") NODE("more", "AddV2", "'variance', 'epsilon'")
    NODE("factor", "Rsqrt", "'more'") NODE("normal", "Mul", "'centred', 'factor'")
    NODE("scaled", "Mul", "'normal', 'x1'") NODE("sum", "AddV2", "'scaled', 'x2'")
    NODE("y0", "Identity", "'sum'");

static const char kAdam[] = FED("x0", MILLION) FED("x1", MILLION) FED("x2", MILLION) FED("x3", MILLION)
    NUMBER("b1", "0.9") NUMBER("r1", "0.1") NUMBER("b2", "0.999") NUMBER("r2", "0.001") NUMBER("rate", "0.01")
        NUMBER("epsilon", "0.001") NODE("m0", "Mul", "'x1', 'b1'") NODE("g1", "Mul", "'x3', 'r1'")
            NODE("m", "AddV2", "'m0', 'g1'") NODE("v0", "Mul", "'x2', 'b2'") NODE("gg", "Square", "'x3'")
                NODE("g2", "Mul", "'gg', 'r2'") NODE("v", "AddV2", "'v0', 'g2'")
                    NODE("step", "Mul", "'m', 'rate'") NODE("root", "Sqrt", "'v'")
                        NODE("divisor", "AddV2", "'root', 'epsilon'")
                            NODE("change", "RealDiv", "'step', 'divisor'") NODE("w", "Sub", "'x0', 'change'")
                                NODE("y0", "Identity", "'w'") NODE("y1", "Identity", "'m'")
                                    NODE("y2", "Identity", "'v'");

typedef struct Tree {
  const char *name, *graph;
  int64_t count; /* elements of each array */
  int num_inputs, num_rows, num_outputs;
  Loop *loop, *copy;
} Tree;

static const Tree kTrees[] = {
    {"GELU by Erf, 1000x1024", kGelu, 1000 * ROW, 1, 0, 1, gelu_loop, copy_one},
    {"layer norm, 4096x1024", kLayerNorm, 4096 * ROW, 1, 2, 1, layer_norm_loop, copy_one},
    {"Adam, 1000x1024", kAdam, 1000 * ROW, 4, 0, 3, adam_loop, copy_three_of_four},
};

/* --- the step --- */

typedef struct TreeStep {
  Session *session;
  NodeOutput feeds[MOST_ARRAYS], fetches[MOST_ARRAYS];
  Tensor values[MOST_ARRAYS];
  int num_feeds, num_fetches;
} TreeStep;

static bool import(Graph *graph, const char *text, Status *status) {
  void *def;
  Arena *arena = arena_new();
  bool ok = arena && proto_parse_text(kGraphDef, str_of(text), arena, &def, status) &&
            graph_import(graph, def, false, NULL, arena, NULL, status);
  arena_free(arena);
  return ok;
}

static NodeOutput output_of(const Graph *graph, char letter, int i) {
  char name[] = {letter, (char)('0' + i), 0};
  return (NodeOutput){graph_find_node(graph, name), 0};
}

/* Numbers between 0 and 1: moments of Adam are not negative. */
static bool make_value(const Tree *tree, bool is_row, Tensor *value, Status *status) {
  int64_t count = is_row ? ROW : tree->count, dims[] = {count / ROW, ROW};
  TRY(tensor_allocate_dims(value, DT_FLOAT, is_row ? 1 : 2, is_row ? dims + 1 : dims, NULL, status));
  float *data = value->data;
  for (int64_t i = 0; i < count; i++) data[i] = (float)(i * 7919 % 10007) / 10007;
  return true;
}

static bool make_step(const Tree *tree, const Graph *graph, TreeStep *step, Status *status) {
  step->num_feeds = tree->num_inputs + tree->num_rows;
  step->num_fetches = tree->num_outputs;
  for (int i = 0; i < step->num_feeds; i++) {
    step->feeds[i] = output_of(graph, 'x', i);
    TRY(make_value(tree, i >= tree->num_inputs, &step->values[i], status));
  }
  for (int i = 0; i < step->num_fetches; i++) step->fetches[i] = output_of(graph, 'y', i);
  return true;
}

static bool run_step(const TreeStep *step, Tensor *results, Status *status) {
  const Tensor *values[MOST_ARRAYS];
  for (int i = 0; i < step->num_feeds; i++) values[i] = &step->values[i];
  return session_run(step->session, step->feeds, values, step->num_feeds, step->fetches, results,
                     step->num_fetches, NULL, 0, status);
}

/* --- times --- */

typedef struct Times {
  double copy, arithmetic, loop, calls, code; /* milliseconds */
} Times;

static void note(double *best, int64_t begin) {
  double spent = (double)(clock_nanoseconds() - begin) / 1e6;
  if (*best == 0 || spent < *best) *best = spent;
}

static void time_loop(Loop *loop, const Arrays *arrays, int64_t count, int64_t calls, double *best) {
  int64_t begin = clock_nanoseconds();
  for (int64_t i = 0; i < calls; i++) loop(arrays, count);
  note(best, begin);
}

static bool time_step(const TreeStep *step, double *best, Status *status) {
  Tensor results[MOST_ARRAYS] = {{0}};
  int64_t begin = clock_nanoseconds();
  bool ok = run_step(step, results, status);
  note(best, begin);
  for (int i = 0; i < MOST_ARRAYS; i++) tensor_clear(&results[i]);
  return ok;
}

/* One round of each, several times, so that all find in the caches what they left there. */
static bool run_round(const Tree *tree, const TreeStep *step, const Arrays *arrays, Times *times,
                      Status *status) {
  enum { TIMES = 3 };
  bool ok = true;
  for (int i = 0; i < TIMES; i++) time_loop(tree->copy, arrays, tree->count, 1, &times->copy);
  for (int i = 0; i < TIMES; i++)
    time_loop(tree->loop, arrays, CACHED, tree->count / CACHED, &times->arithmetic);
  for (int i = 0; i < TIMES; i++) time_loop(tree->loop, arrays, tree->count, 1, &times->loop);
  int64_t warm = fused_loop_warm_after(INT64_MAX);
  for (int i = 0; ok && i < TIMES; i++) ok = time_step(step, &times->calls, status);
  fused_loop_warm_after(warm);
  for (int i = 0; ok && i < TIMES; i++) ok = time_step(step, &times->code, status);
  return ok;
}

/* The largest difference between the loop and the step. */
static double difference(const Tree *tree, const Arrays *arrays, const Tensor *results) {
  double most = 0;
  for (int i = 0; i < tree->num_outputs; i++) {
    const float *data = results[i].data;
    for (int64_t k = 0; k < tree->count; k++) {
      double apart = (double)data[k] - (double)arrays->y[i][k];
      if (apart < 0) apart = -apart;
      if (!(apart <= most)) most = apart;
    }
  }
  return most;
}

static bool measure(const Tree *tree, TreeStep *step, double milliseconds, Status *status) {
  Tensor results[MOST_ARRAYS] = {{0}}, written[MOST_ARRAYS] = {{0}};
  Arrays arrays = {0};
  Times times = {0};
  bool ok = true;
  for (int i = 0; i < tree->num_inputs; i++) arrays.x[i] = step->values[i].data;
  for (int i = 0; ok && i < tree->num_outputs; i++) {
    ok = make_value(tree, false, &written[i], status);
    arrays.y[i] = written[i].data;
  }
  if (tree->num_rows > 0) arrays.scale = step->values[1].data, arrays.offset = step->values[2].data;
  int64_t end = clock_nanoseconds() + (int64_t)(milliseconds * 1e6);
  while (ok && clock_nanoseconds() < end) ok = run_round(tree, step, &arrays, &times, status);
  if (ok) {
    tree->loop(&arrays, tree->count);
    ok = run_step(step, results, status);
  }
  if (ok) {
    double limit = times.copy + times.arithmetic;
    printf("%-24s %8.3f %10.3f %8.3f %8.3f %8.3f %12.2f %11.2f %10.1e\n", tree->name, times.copy,
           times.arithmetic, times.loop, times.calls, times.code, times.calls / limit, times.code / limit,
           difference(tree, &arrays, results));
  }
  for (int i = 0; i < MOST_ARRAYS; i++) tensor_clear(&results[i]), tensor_clear(&written[i]);
  return ok;
}

static bool measure_tree(const Tree *tree, double milliseconds, Status *status) {
  TreeStep step = {0};
  Graph *graph = graph_new();
  bool ok = graph && import(graph, tree->graph, status) && make_step(tree, graph, &step, status);
  ok = ok && (step.session = session_new(graph, status)) && measure(tree, &step, milliseconds, status);
  for (int i = 0; i < MOST_ARRAYS; i++) tensor_clear(&step.values[i]);
  session_free(step.session);
  graph_free(graph);
  return ok;
}

int main(int argc, char **argv) {
  double milliseconds = argc > 1 ? atof(argv[1]) : 3000;
  Status status;
  status_init(&status);
  if (!op_registry_add_table(op_registry_global(), kOpTable, kOpTableSize, &status)) return 1;
  printf("%-24s %8s %10s %8s %8s %8s %12s %11s %10s\n", "milliseconds", "copy", "arithmetic", "loop", "calls",
         "code", "calls/limit", "code/limit", "difference");
  for (size_t i = 0; i < sizeof kTrees / sizeof *kTrees; i++) {
    status_init(&status);
    if (argc > 2 && !strstr(kTrees[i].name, argv[2])) continue;
    if (!measure_tree(&kTrees[i], milliseconds, &status)) printf("%s: %s\n", kTrees[i].name, status.message);
  }
  return 0;
}
