/* Fused elementwise nodes compute what the nodes compute one by one, bit by bit, and what they compute in
 * double; their errors name the nodes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "blas/reduce.h"
#include "c_api/random_values.h"
#include "op_runner.h"
#include "ops/support/fused_loop.h"
#include "runtime/fused_steps.h"

/* --- random graphs --- */

static const char *const kUnary[] = {"Abs",  "Ceil",  "Cos",  "Elu",    "Erf",      "Exp",      "Expm1",
                                     "Erfc", "Floor", "Log",  "Log1p",  "Neg",      "Inv",      "Reciprocal",
                                     "Relu", "Relu6", "Rint", "Round",  "Rsqrt",    "Selu",     "Sigmoid",
                                     "Sign", "Sin",   "Sqrt", "Square", "Softplus", "Softsign", "Tanh"};
static const char *const kPairs[] = {"EluGrad",  "InvGrad",      "ReciprocalGrad", "Relu6Grad",
                                     "ReluGrad", "RsqrtGrad",    "SeluGrad",       "SigmoidGrad",
                                     "SqrtGrad", "SoftplusGrad", "SoftsignGrad",   "TanhGrad"};
static const char *const kBinary[] = {"Add", "AddV2",    "DivNoNan", "Maximum", "Minimum",
                                      "Mul", "MulNoNan", "Pow",      "RealDiv", "SquaredDifference",
                                      "Sub", "Xdivy",    "Xlog1py",  "Xlogy"};
static const char *const kCompare[] = {"Greater", "GreaterEqual", "Less", "LessEqual"};
static const char *const kReductions[] = {"Max", "Mean", "Min", "Sum"};
static const char *const kLogical[] = {"LogicalAnd", "LogicalOr"};

enum { MOST_NODES = 40, BASE_RANK = 3 };

typedef struct Builder {
  Random random;
  Fixture f;
  NodeOutput numbers[MOST_NODES + MOST_FEEDS], bools[MOST_NODES];
  int num_numbers, num_bools;
  int64_t dims[BASE_RANK];
  DataType type;
  bool unknown_shapes;
} Builder;

/* A feed that broadcasts to the base shape. */
static bool add_feed(Builder *b, TestStep *step, int i) {
  int rank = random_below(&b->random, BASE_RANK + 1);
  int64_t dims[BASE_RANK];
  char name[16], shape[128] = "shape { unknown_rank: true }";
  for (int k = 0; k < rank; k++) {
    dims[k] = i > 1 && one_in(&b->random, 3) ? 1 : b->dims[BASE_RANK - rank + k];
  }
  if (i < 2) {
    rank = BASE_RANK;
    memcpy(dims, b->dims, sizeof dims);
  }
  if (!b->unknown_shapes) {
    int at = snprintf(shape, sizeof shape, "shape {");
    for (int k = 0; k < rank; k++)
      at += snprintf(shape + at, sizeof shape - (size_t)at, " dim { size: %d }", (int)dims[k]);
    snprintf(shape + at, sizeof shape - (size_t)at, " }");
  }
  snprintf(name, sizeof name, "x%d", i);
  Attr attrs[] = {{"dtype", b->type == DT_FLOAT ? "type: DT_FLOAT" : "type: DT_DOUBLE"}, {"shape", shape}};
  step->feeds[i] = b->numbers[b->num_numbers++] =
      out(add_node(b->f.graph, "Placeholder", name, NULL, 0, attrs, 2));
  if (!CHECK_OK(tensor_allocate_dims(&step->values[i], b->type, rank, dims, NULL, &b->f.status), b->f.status))
    return false;
  for (int64_t k = 0; k < tensor_num_elements(&step->values[i]); k++) {
    if (!fill_element(&b->random, &step->values[i], k, &b->f.status)) return false;
  }
  return true;
}

/* Recent values are likelier, so that chains grow. */
static NodeOutput any_number(Builder *b) {
  int back = one_in(&b->random, 2) ? b->num_numbers : 3;
  if (back > b->num_numbers) back = b->num_numbers;
  return b->numbers[b->num_numbers - 1 - random_below(&b->random, back)];
}

/* Over the last dimension, which is kept. */
static NodeOutput reduction(Graph *graph, const char *op, const char *name, NodeOutput x) {
  Attr axis[] = {{"dtype", "type: DT_INT32"},
                 {"value", "tensor { dtype: DT_INT32 tensor_shape { dim { size: 1 } } int_val: -1 }"}};
  NodeOutput inputs[] = {x,
                         out(add_node(graph, "Const", graph_unique_name(graph, "axis"), NULL, 0, axis, 2))};
  return out(add_node(graph, op, name, inputs, 2, (Attr[]){{"keep_dims", "b: true"}}, 1));
}

static bool is_scalar(NodeOutput x) {
  ShapeHandle shape = x.node->output_shapes[x.index];
  return shape_rank_known(shape) && shape_rank(shape) == 0;
}

/* A choice between numbers, or between conditions. */
static NodeOutput choice(Builder *b, const char *name, NodeOutput x) {
  if (b->num_bools < 1) return unary(b->f.graph, "Square", name, x);
  NodeOutput inputs[] = {b->bools[random_below(&b->random, b->num_bools)], x, any_number(b)};
  if (b->num_bools > 1 && one_in(&b->random, 6)) {
    inputs[1] = b->bools[b->num_bools - 1];
    inputs[2] = b->bools[random_below(&b->random, b->num_bools)];
  }
  return out(add_node(b->f.graph, "SelectV2", name, inputs, 3, NULL, 0));
}

static NodeOutput any_node(Builder *b, const char *name) {
  Graph *graph = b->f.graph;
  NodeOutput x = any_number(b);
  switch (random_below(&b->random, 15)) {
    case 13:
    case 14: return choice(b, name, x);
    case 0: return binary(graph, pick(&b->random, kCompare, COUNT(kCompare)), name, x, any_number(b));
    case 1:
      if (b->num_bools < 1) return unary(graph, "Neg", name, x);
      if (b->num_bools < 2) return unary(graph, "LogicalNot", name, b->bools[0]);
      return binary(graph, pick(&b->random, kLogical, COUNT(kLogical)), name, b->bools[b->num_bools - 1],
                    b->bools[random_below(&b->random, b->num_bools)]);
    case 2: /* of equal shapes */ return binary(graph, pick(&b->random, kPairs, COUNT(kPairs)), name, x, x);
    case 3:
      if (!b->unknown_shapes && !is_scalar(x))
        return reduction(graph, pick(&b->random, kReductions, COUNT(kReductions)), name, x);
      return unary(graph, "Abs", name, x);
    case 4:
    case 5:
    case 6: return unary(graph, pick(&b->random, kUnary, COUNT(kUnary)), name, x);
    default: return binary(graph, pick(&b->random, kBinary, COUNT(kBinary)), name, x, any_number(b));
  }
}

static bool build(Builder *b, TestStep *step) {
  static const int64_t kSizes[] = {1, 2, 3, 7, 16, 33, 64, 130, 160, 600, 1024};
  int64_t elements = 1;
  for (int k = 0; k < BASE_RANK; k++) {
    b->dims[k] = kSizes[random_below(&b->random, COUNT(kSizes))];
    if (elements * b->dims[k] > 20000) b->dims[k] = 1;
    elements *= b->dims[k];
  }
  if (one_in(&b->random, 30)) b->dims[random_below(&b->random, BASE_RANK)] = 0;
  b->type = one_in(&b->random, 3) ? DT_DOUBLE : DT_FLOAT;
  b->unknown_shapes = one_in(&b->random, 3);
  step->num_feeds = 2 + random_below(&b->random, MOST_FEEDS - 2);
  for (int i = 0; i < step->num_feeds; i++) {
    if (!add_feed(b, step, i)) return false;
  }
  int count = 2 + random_below(&b->random, MOST_NODES - 2);
  for (int i = 0; i < count; i++) {
    char name[16];
    snprintf(name, sizeof name, "n%d", i);
    NodeOutput node = any_node(b, name);
    if (!CHECK(node.node)) return false;
    if (node_output_type(node) == DT_BOOL) b->bools[b->num_bools++] = node;
    else b->numbers[b->num_numbers++] = node;
    bool last = i == count - 1;
    if ((last || one_in(&b->random, 10)) && (last || step->num_fetches < MOST_FETCHES - 1))
      step->fetches[step->num_fetches++] = node;
  }
  return true;
}

/* Runs the step with and without the optimizer, and compares the results. Returns whether both ran; `fused`
 * has its results. */
static bool check_both(Fixture *f, TestStep *fused, const char *what) {
  TestStep plain = *fused;
  Session *session = plain_session(f);
  bool ok = CHECK_OK(run_step(f->session, fused, &f->status), f->status) &&
            CHECK_OK(run_step(session, &plain, &f->status), f->status);
  for (int i = 0; ok && i < fused->num_fetches; i++) {
    char result[96];
    snprintf(result, sizeof result, "%s, %s", what, fused->fetches[i].node->name);
    check_same(&fused->results[i], &plain.results[i], result);
  }
  clear_results(&plain);
  session_free(session);
  return ok;
}

static void check_random_graph(uint64_t seed) {
  Builder b = {.random = {seed}};
  TestStep fused = {.num_feeds = 0};
  REQUIRE(begin(&b.f));
  if (build(&b, &fused)) {
    char what[32];
    snprintf(what, sizeof what, "seed %d", (int)seed);
    CHECK_CONTEXT("%s", what);
    check_both(&b.f, &fused, what);
    clear_results(&fused);
  }
  CHECK_CONTEXT("%s", "");
  clear_values(&fused);
  end(&b.f);
}

TEST(random_trees_give_the_same_bits_fused_or_not) {
  uint64_t rounds = setting("TFCORE_FUSED_ROUNDS", 300), seed = setting("TFCORE_FUSED_SEED", 1);
  for (uint64_t i = 0; i < rounds; i++) check_random_graph(seed + i);
}

/* The code of a thread is replaced when there is too much of it. */
TEST(random_trees_give_the_same_bits_by_emitted_loops) {
  uint64_t rounds = setting("TFCORE_FUSED_ROUNDS", 300), seed = setting("TFCORE_FUSED_SEED", 1001);
  int64_t before = fused_loop_warm_after(1);
  int most = 0;
  for (uint64_t i = 0; i < rounds; i++) {
    check_random_graph(seed + i);
    if (fused_loop_count() > most) most = fused_loop_count();
  }
  fused_loop_warm_after(before);
  CHECK(most > (EMITTED_CODE ? 50 : -1));
}

/* The maximum of a row, and what replaces it in its tile, in rows that are not whole numbers of rounds. */
TEST(emitted_loops_read_elements_that_they_overwrite_before) {
  enum { LENGTH = 70, LINES = 5 };
  Fixture f;
  TestStep fused = {.num_feeds = 1, .num_fetches = 1};
  int64_t before = fused_loop_warm_after(1);
  REQUIRE(begin(&f));
  fused.feeds[0] = placeholder(f.graph, "x", "shape { dim { size: 5 } dim { size: 70 } }");
  REQUIRE_OK(tensor_allocate_dims(&fused.values[0], DT_FLOAT, 2, (int64_t[]){LINES, LENGTH}, NULL, &f.status),
             f.status);
  for (int i = 0; i < LINES * LENGTH; i++) tensor_f32(&fused.values[0])[i] = (float)(i * 37 % 101) / 16;
  NodeOutput x = fused.feeds[0];
  NodeOutput below = binary(f.graph, "Sub", "below", x, reduction(f.graph, "Max", "most", x));
  NodeOutput twice = binary(f.graph, "AddV2", "twice", below, below);
  fused.fetches[0] = unary(f.graph, "Exp", "y", twice);
  check_both(&f, &fused, "rows of 70");
  clear_results(&fused);
  clear_values(&fused);
  end(&f);
  fused_loop_warm_after(before);
}

/* The loop that computes the elements adds them up: without it, a single elementwise node has no loop. Zeros
 * become -0, whose sum is -0. */
static void check_sum(const char *reduction_op, DataType type, int64_t length, bool has_loop) {
  Fixture f;
  TestStep fused = {.num_feeds = 1, .num_fetches = 1};
  REQUIRE(begin(&f));
  char shape[64];
  snprintf(shape, sizeof shape, "shape { dim { size: 3 } dim { size: %d } }", (int)length);
  Attr attrs[] = {{"dtype", type == DT_FLOAT ? "type: DT_FLOAT" : "type: DT_DOUBLE"}, {"shape", shape}};
  NodeOutput x = fused.feeds[0] = out(add_node(f.graph, "Placeholder", "x", NULL, 0, attrs, 2));
  REQUIRE_OK(tensor_allocate_dims(&fused.values[0], type, 2, (int64_t[]){3, length}, NULL, &f.status),
             f.status);
  for (int64_t i = 0; i < 3 * length; i++) {
    double value = i < length ? 0 : (double)(i * 7919 % 1009) / 64 - 7;
    if (type == DT_FLOAT) tensor_f32(&fused.values[0])[i] = (float)value;
    else ((double *)fused.values[0].data)[i] = value;
  }
  fused.fetches[0] = reduction(f.graph, reduction_op, "y", unary(f.graph, "Neg", "negative", x));
  int loops = fused_loop_count();
  CHECK_CONTEXT("%s of %d", reduction_op, (int)length);
  if (check_both(&f, &fused, reduction_op)) {
    if (length % 16 == 0 && length <= REDUCE_LINE) CHECK(signbit(tensor_double_at(&fused.results[0], 0)));
    CHECK_INT_EQ(fused_loop_count() - loops, has_loop && EMITTED_CODE);
  }
  CHECK_CONTEXT("%s", "");
  clear_results(&fused);
  clear_values(&fused);
  end(&f);
}

TEST(emitted_loops_add_up_rows) {
  int64_t before = fused_loop_warm_after(1);
  fused_loop_reserve(1000); /* forgets the loops of other tests */
  check_sum("Sum", DT_FLOAT, 1024, true);
  check_sum("Mean", DT_FLOAT, 160, false); /* the loop that is known serves this row, too */
  check_sum("Sum", DT_DOUBLE, 144, true);
  check_sum("Mean", DT_DOUBLE, 1024, false);
  fused_loop_reserve(1000);
  check_sum("Sum", DT_FLOAT, 1056, false); /* longer than what is summed in one piece */
  check_sum("Sum", DT_FLOAT, 148, false);  /* not a whole number of rounds */
  fused_loop_warm_after(before);
}

/* What a row needs of its mean and its variance is computed before the rounds of the two loops that read it:
 * of (x - mean)^2, and of the results. Where a row is not a whole number of rounds, loops have only nodes of
 * all elements. */
static void check_layer_norm(int64_t length) {
  Fixture f;
  TestStep fused = {.num_feeds = 1, .num_fetches = 3};
  REQUIRE(begin(&f));
  char shape[64];
  snprintf(shape, sizeof shape, "shape { dim { size: 9 } dim { size: %d } }", (int)length);
  NodeOutput x = fused.feeds[0] = placeholder(f.graph, "x", shape);
  REQUIRE_OK(tensor_allocate_dims(&fused.values[0], DT_FLOAT, 2, (int64_t[]){9, length}, NULL, &f.status),
             f.status);
  for (int64_t i = 0; i < 9 * length; i++)
    tensor_f32(&fused.values[0])[i] = (float)(i * 7919 % 1009) / 64 - 7;
  NodeOutput mean = reduction(f.graph, "Mean", "mean", x), minus = unary(f.graph, "Neg", "minus", mean);
  NodeOutput centred = binary(f.graph, "AddV2", "centred", x, minus);
  NodeOutput variance = reduction(f.graph, "Mean", "variance", unary(f.graph, "Square", "squares", centred));
  NodeOutput more =
      binary(f.graph, "AddV2", "more", constant(f.graph, "e", "tensor_shape { } float_val: 1e-3"), variance);
  NodeOutput factor = unary(f.graph, "Rsqrt", "factor", more);
  NodeOutput moved = binary(f.graph, "Mul", "moved", minus, factor);
  fused.fetches[0] = binary(f.graph, "AddV2", "y", binary(f.graph, "Mul", "scaled", x, factor), moved);
  fused.fetches[1] = factor;
  fused.fetches[2] = unary(f.graph, "Neg", "z", unary(f.graph, "Neg", "minus_moved", moved));
  fused_loop_reserve(1000);
  CHECK_CONTEXT("rows of %d", (int)length);
  if (check_both(&f, &fused, "layer norm")) CHECK_INT_EQ(fused_loop_count(), EMITTED_CODE ? 2 : 0);
  CHECK_CONTEXT("%s", "");
  clear_results(&fused);
  clear_values(&fused);
  end(&f);
}

TEST(emitted_loops_begin_with_what_a_row_needs) {
  int64_t before = fused_loop_warm_after(1);
  check_layer_norm(64);
  check_layer_norm(192);
  check_layer_norm(72);
  check_layer_norm(70);
  fused_loop_reserve(1000);
  fused_loop_warm_after(before);
}

/* --- values --- */

enum { ROWS = 37, COLUMNS = 300, ELEMENTS = ROWS * COLUMNS };

static float input_at(int i) { return (float)(i % 1013) / 128 - 4; }

static bool add_value(Fixture *f, TestStep *step, const char *name, int rank, const int64_t *dims,
                      int first) {
  char shape[96];
  int at = snprintf(shape, sizeof shape, "shape {"), i = step->num_feeds++;
  for (int k = 0; k < rank; k++)
    at += snprintf(shape + at, sizeof shape - (size_t)at, " dim { size: %d }", (int)dims[k]);
  snprintf(shape + at, sizeof shape - (size_t)at, " }");
  step->feeds[i] = placeholder(f->graph, name, shape);
  if (!CHECK_OK(tensor_allocate_dims(&step->values[i], DT_FLOAT, rank, dims, NULL, &f->status), f->status))
    return false;
  for (int64_t k = 0; k < tensor_num_elements(&step->values[i]); k++)
    tensor_f32(&step->values[i])[k] = input_at(first + 7 * (int)k);
  return true;
}

static NodeOutput number(Fixture *f, const char *name, double value) {
  char text[64];
  snprintf(text, sizeof text, "tensor_shape { } float_val: %.9g", value);
  return constant(f->graph, name, text);
}

TEST(gelu_is_that_of_double) {
  Fixture f;
  TestStep step = {.num_fetches = 1};
  REQUIRE(begin(&f));
  REQUIRE(add_value(&f, &step, "x", 2, (int64_t[]){ROWS, COLUMNS}, 0));
  NodeOutput x = step.feeds[0], half = binary(f.graph, "Mul", "half", x, number(&f, "c", 0.5));
  NodeOutput error =
      unary(f.graph, "Erf", "error", binary(f.graph, "Mul", "scaled", x, number(&f, "r", sqrt(0.5))));
  step.fetches[0] =
      binary(f.graph, "Mul", "gelu", half, binary(f.graph, "AddV2", "sum", number(&f, "one", 1), error));
  REQUIRE_OK(run_step(f.session, &step, &f.status), f.status);
  for (int i = 0; i < ELEMENTS; i++) {
    double v = input_at(7 * i), want = 0.5 * v * (1 + erf(v * sqrt(0.5)));
    CHECK_NEAR(tensor_f32(&step.results[0])[i], want, 2e-6 * fmax(1, fabs(v)));
  }
  clear_results(&step);
  clear_values(&step);
  end(&f);
}

/* Rows and columns: (x - mean) * scale + offset with a mean per row and a scale and an offset per column. */
TEST(rows_and_columns_repeat) {
  Fixture f;
  TestStep step = {.num_fetches = 1};
  REQUIRE(begin(&f));
  REQUIRE(add_value(&f, &step, "x", 2, (int64_t[]){ROWS, COLUMNS}, 0));
  REQUIRE(add_value(&f, &step, "mean", 2, (int64_t[]){ROWS, 1}, 11));
  REQUIRE(add_value(&f, &step, "scale", 1, (int64_t[]){COLUMNS}, 5));
  REQUIRE(add_value(&f, &step, "offset", 2, (int64_t[]){1, COLUMNS}, 400));
  const NodeOutput *in = step.feeds;
  NodeOutput centred = binary(f.graph, "Sub", "centred", in[0], in[1]);
  step.fetches[0] = binary(f.graph, "AddV2", "y", binary(f.graph, "Mul", "scaled", centred, in[2]), in[3]);
  REQUIRE_OK(run_step(f.session, &step, &f.status), f.status);
  for (int i = 0; i < ELEMENTS; i++) {
    int row = i / COLUMNS, column = i % COLUMNS;
    double want = ((double)input_at(7 * i) - input_at(11 + 7 * row)) * input_at(5 + 7 * column) +
                  input_at(400 + 7 * column);
    CHECK_NEAR(tensor_f32(&step.results[0])[i], want, 1e-5);
  }
  clear_results(&step);
  clear_values(&step);
  end(&f);
}

/* A bias, a hard swish and a residual. */
TEST(a_bias_is_added_to_the_last_dimension) {
  Fixture f;
  TestStep step = {.num_fetches = 1};
  REQUIRE(begin(&f));
  REQUIRE(add_value(&f, &step, "x", 2, (int64_t[]){ROWS, COLUMNS}, 0));
  REQUIRE(add_value(&f, &step, "bias", 1, (int64_t[]){COLUMNS}, 50));
  REQUIRE(add_value(&f, &step, "residual", 2, (int64_t[]){ROWS, COLUMNS}, 77));
  Graph *g = f.graph;
  NodeOutput sum = binary(g, "BiasAdd", "sum", step.feeds[0], step.feeds[1]);
  NodeOutput gate = unary(g, "Relu6", "gate", binary(g, "AddV2", "more", sum, number(&f, "three", 3)));
  NodeOutput swish =
      binary(g, "Mul", "swish", sum, binary(g, "Mul", "part", gate, number(&f, "sixth", 1.0 / 6)));
  step.fetches[0] = binary(g, "AddV2", "y", swish, step.feeds[2]);
  REQUIRE_OK(run_step(f.session, &step, &f.status), f.status);
  for (int i = 0; i < ELEMENTS; i++) {
    double v = (double)input_at(7 * i) + input_at(50 + 7 * (i % COLUMNS));
    double want = v * fmin(6, fmax(0, v + 3)) / 6 + input_at(77 + 7 * i);
    CHECK_NEAR(tensor_f32(&step.results[0])[i], want, 1e-5);
  }
  clear_results(&step);
  clear_values(&step);
  end(&f);
}

/* A layer norm, and the mean of each row. */
TEST(rows_are_reduced) {
  Fixture f;
  TestStep step = {.num_fetches = 2};
  REQUIRE(begin(&f));
  REQUIRE(add_value(&f, &step, "x", 2, (int64_t[]){ROWS, COLUMNS}, 0));
  REQUIRE(add_value(&f, &step, "scale", 1, (int64_t[]){COLUMNS}, 5));
  Graph *g = f.graph;
  NodeOutput mean = reduction(g, "Mean", "mean", step.feeds[0]), x = step.feeds[0];
  NodeOutput centred = binary(g, "Sub", "centred", x, mean);
  NodeOutput variance = reduction(g, "Mean", "variance", unary(g, "Square", "square", centred));
  NodeOutput factor = unary(g, "Rsqrt", "factor", binary(g, "AddV2", "sum", variance, number(&f, "e", 1e-3)));
  step.fetches[0] = binary(g, "Mul", "y", binary(g, "Mul", "normal", centred, factor), step.feeds[1]);
  step.fetches[1] = factor;
  REQUIRE_OK(run_step(f.session, &step, &f.status), f.status);
  for (int r = 0; r < ROWS; r++) {
    double sum = 0, squares = 0;
    for (int i = 0; i < COLUMNS; i++) sum += input_at(7 * (r * COLUMNS + i)) / (double)COLUMNS;
    for (int i = 0; i < COLUMNS; i++) squares += pow(input_at(7 * (r * COLUMNS + i)) - sum, 2) / COLUMNS;
    double want = 1 / sqrt(squares + 1e-3);
    CHECK_NEAR(tensor_f32(&step.results[1])[r], want, 1e-5);
    for (int i = 0; i < COLUMNS; i++) {
      double y = (input_at(7 * (r * COLUMNS + i)) - sum) * want * input_at(5 + 7 * i);
      CHECK_NEAR(tensor_f32(&step.results[0])[r * COLUMNS + i], y, 1e-5);
    }
  }
  clear_results(&step);
  clear_values(&step);
  end(&f);
}

/* A step of Adam: three results, each of which other nodes of the group read as well. */
TEST(values_that_others_read_are_results_too) {
  Fixture f;
  TestStep step = {.num_fetches = 3};
  const double b1 = 0.9, b2 = 0.999, rate = 0.01, epsilon = 1e-3;
  REQUIRE(begin(&f));
  static const char *const kNames[] = {"w", "m", "v", "g"};
  for (int i = 0; i < 4; i++) REQUIRE(add_value(&f, &step, kNames[i], 1, (int64_t[]){ELEMENTS}, 100 * i));
  for (int i = 0; i < ELEMENTS; i++) tensor_f32(&step.values[2])[i] = fabsf(tensor_f32(&step.values[2])[i]);
  const NodeOutput *in = step.feeds;
  Graph *g = f.graph;
  NodeOutput m = binary(g, "AddV2", "m1", binary(g, "Mul", "ma", in[1], number(&f, "b1", b1)),
                        binary(g, "Mul", "mb", in[3], number(&f, "c1", 1 - b1)));
  NodeOutput v = binary(g, "AddV2", "v1", binary(g, "Mul", "va", in[2], number(&f, "b2", b2)),
                        binary(g, "Mul", "vb", unary(g, "Square", "g2", in[3]), number(&f, "c2", 1 - b2)));
  NodeOutput root = binary(g, "AddV2", "root", unary(g, "Sqrt", "s", v), number(&f, "e", epsilon));
  NodeOutput change =
      binary(g, "RealDiv", "change", binary(g, "Mul", "rm", m, number(&f, "rate", rate)), root);
  step.fetches[0] = binary(g, "Sub", "w1", in[0], change);
  step.fetches[1] = m;
  step.fetches[2] = v;
  REQUIRE_OK(run_step(f.session, &step, &f.status), f.status);
  for (int i = 0; i < ELEMENTS; i++) {
    double old[4];
    for (int k = 0; k < 4; k++) old[k] = tensor_f32(&step.values[k])[i];
    double want_m = b1 * old[1] + (1 - b1) * old[3], want_v = b2 * old[2] + (1 - b2) * old[3] * old[3];
    double want_w = old[0] - rate * want_m / (sqrt(want_v) + epsilon);
    CHECK_NEAR(tensor_f32(&step.results[0])[i], want_w, 1e-5 * fmax(1, fabs(want_w)));
    CHECK_NEAR(tensor_f32(&step.results[1])[i], want_m, 1e-5);
    CHECK_NEAR(tensor_f32(&step.results[2])[i], want_v, 1e-5 * fmax(1, want_v));
  }
  clear_results(&step);
  clear_values(&step);
  end(&f);
}

/* --- errors --- */

static void check_error(Fixture *f, TestStep *step, const char *message) {
  status_init(&f->status);
  CHECK(!run_step(f->session, step, &f->status));
  CHECK_INT_EQ(f->status.code, CODE_INVALID_ARGUMENT);
  CHECK_STR_EQ(f->status.message, message);
}

TEST(errors_name_the_node_that_was_fused) {
  Fixture f;
  TestStep step = {.num_feeds = 2, .num_fetches = 1};
  REQUIRE(begin(&f));
  NodeOutput x = placeholder(f.graph, "x", "shape { unknown_rank: true }"),
             y = placeholder(f.graph, "y", "shape { unknown_rank: true }");
  step.feeds[0] = x, step.feeds[1] = y;
  REQUIRE(float_tensor(&step.values[0], 1, (int64_t[]){3}, (float[]){1, 2, 3}));
  REQUIRE(float_tensor(&step.values[1], 1, (int64_t[]){2}, (float[]){1, 2}));
  step.fetches[0] =
      unary(f.graph, "Neg", "last", binary(f.graph, "Mul", "product", unary(f.graph, "Exp", "e", x), y));
  check_error(&f, &step, "Incompatible shapes: [3] vs. [2]\n\t [[{{node product}}]]");
  step.fetches[0] =
      unary(f.graph, "Neg", "end", binary(f.graph, "ReluGrad", "slope", unary(f.graph, "Exp", "e2", x), y));
  check_error(&f, &step,
              "Inputs to operation slope of type ReluGrad must have the same size and shape.  Input 0: [3] "
              "!= "
              "input 1: [2]\n\t [[{{node slope}}]]");
  step.fetches[0] =
      unary(f.graph, "Neg", "stop", binary(f.graph, "TanhGrad", "bend", unary(f.graph, "Exp", "e3", x), y));
  check_error(&f, &step,
              "The two arguments to a cwise op must have same number of elements, got 3 and 2\n\t [[{{node "
              "bend}}]]");
  clear_values(&step);
  end(&f);
}

TEST(errors_name_the_call_of_a_fused_node) {
  Fixture f;
  TestStep step = {.num_feeds = 2, .num_fetches = 1};
  REQUIRE(begin(&f));
  REQUIRE(define(f.graph,
                 "Inner(x:float, y:float) -> (z:float) { e = Exp[T=float](x) m = Mul[T=float](e:y:0, y) n = "
                 "Neg[T=float](m:z:0) return z = n:y:0 }"));
  step.feeds[0] = placeholder(f.graph, "x", "shape { unknown_rank: true }");
  step.feeds[1] = placeholder(f.graph, "y", "shape { unknown_rank: true }");
  REQUIRE(float_tensor(&step.values[0], 1, (int64_t[]){3}, (float[]){1, 2, 3}));
  REQUIRE(float_tensor(&step.values[1], 1, (int64_t[]){2}, (float[]){1, 2}));
  step.fetches[0] =
      unary(f.graph, "Neg", "last", out(add_node(f.graph, "Inner", "call", step.feeds, 2, NULL, 0)));
  check_error(&f, &step, "Incompatible shapes: [3] vs. [2]\n\t [[{{node m}}]]\n\t [[call]]");
  clear_values(&step);
  end(&f);
}

/* --- branches and loops --- */

static float run_scalar(Session *session, NodeOutput feed, float value, NodeOutput fetch, Status *status) {
  TestStep step = {.feeds = {feed}, .fetches = {fetch}, .num_feeds = 1, .num_fetches = 1};
  float result = NAN;
  if (float_tensor(&step.values[0], 0, NULL, &value) && CHECK_OK(run_step(session, &step, status), *status))
    result = tensor_f32(&step.results[0])[0];
  clear_results(&step);
  clear_values(&step);
  return result;
}

/* Nodes before, in and behind the branches. */
TEST(only_the_branch_that_is_taken_runs) {
  Fixture f;
  REQUIRE(begin(&f));
  Graph *g = f.graph;
  NodeOutput x = placeholder(g, "x", "shape { }"), zero = number(&f, "zero", 0);
  NodeOutput square = unary(g, "Square", "square", unary(g, "Neg", "minus", x));
  NodeOutput is_positive = binary(g, "Greater", "positive", x, zero);
  NodeOutput sides[] = {square, is_positive};
  Node *choice = add_node(g, "Switch", "choice", sides, 2, NULL, 0);
  NodeOutput when_false = {choice, 0}, when_true = {choice, 1};
  NodeOutput a = binary(g, "AddV2", "a", unary(g, "Neg", "n", when_false), number(&f, "one", 1));
  NodeOutput b = binary(g, "Mul", "b", unary(g, "Sqrt", "s", when_true), number(&f, "two", 2));
  NodeOutput both[] = {a, b};
  NodeOutput merged;
  REQUIRE_OK(op_add_node(g, "merged", "Merge[T=float, N=2]", both, 2, &merged, &f.status), f.status);
  NodeOutput y = unary(g, "Exp", "exp", unary(g, "Neg", "end", merged));
  Session *plain = plain_session(&f);
  for (int i = -2; i <= 2; i++) {
    double want = exp(-(i > 0 ? 2.0 * i : 1.0 - i * i));
    CHECK_NEAR(run_scalar(f.session, x, (float)i, y, &f.status), want, 1e-5 * want);
    CHECK_NEAR(run_scalar(plain, x, (float)i, y, &f.status), want, 1e-5 * want);
  }
  session_free(plain);
  end(&f);
}
