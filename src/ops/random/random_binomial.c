/* Samples of binomial distributions: small means by sums of geometric numbers, large ones by transformed
 * rejection (Hoermann, "The generation of binomial random variates", 1993). */
#include <math.h>

#include "op/op_registry.h"
#include "ops/random/random_samples.h"
#include "ops/random/random_source.h"
#include "ops/support/broadcast.h"
#include "ops/support/half_precision.h"

/* A sum of geometric numbers takes fewer groups of four words. */
enum { SUM_GROUPS = 42, BINOMIAL_WORK = 500 };

/* The number of geometric numbers whose sum is at most `count`. */
static double count_sums(double count, double p, Philox generator) {
  RandomPairs uniforms = {0};
  double sum = 0, number = 0;
  for (;; number++) {
    sum += ceil(log(random_next_uniform(&generator, &uniforms)) / log1p(-p));
    if (sum > count) return number;
  }
}

/* log(k!) without the terms of Stirling's approximation. */
static double stirling_rest(double k) {
  static const double kRests[] = {0.0810614667953272,  0.0413406959554092, 0.0276779256849983,
                                  0.02079067210376509, 0.0166446911898211, 0.0138761288230707,
                                  0.0118967099458917,  0.0104112652619720, 0.00925546218271273,
                                  0.00833056343336287};
  if (k <= 9) return kRests[(int)k];
  double square = (k + 1) * (k + 1);
  return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1);
}

static double reject(double count, double p, Philox generator) {
  RandomPairs uniforms = {0};
  double deviation = sqrt(count * p * (1 - p)), b = 1.15 + 2.53 * deviation;
  double a = -0.0873 + 0.0248 * b + 0.01 * p, c = count * p + 0.5, inside = 0.92 - 4.2 / b;
  double r = p / (1 - p), alpha = (2.83 + 5.1 / b) * deviation, m = floor((count + 1) * p);
  for (;;) {
    double u = random_next_uniform(&generator, &uniforms), v = random_next_uniform(&generator, &uniforms);
    u -= 0.5;
    double shifted = 0.5 - fabs(u), k = floor((2 * a / shifted + b) * u + c);
    if (shifted >= 0.07 && v <= inside) return k;
    if (k < 0 || k > count) continue;
    v = log(v * alpha / (a / (shifted * shifted) + b));
    double bound = (m + 0.5) * log((m + 1) / (r * (count - m + 1))) +
                   (count + 1) * log((count - m + 1) / (count - k + 1)) +
                   (k + 0.5) * log(r * (count - k + 1) / (k + 1)) + stirling_rest(m) +
                   stirling_rest(count - m) - stirling_rest(k) - stirling_rest(count - k);
    if (v <= bound) return k;
  }
}

/* A number as the type of counts and probs has it. */
static double rounded(DataType type, double x) {
  float single = (float)x;
  uint16_t half;
  if (type == DT_DOUBLE) return x;
  if (type == DT_HALF) {
    half_precision_narrow(DT_HALF, &single, &half, 1);
    half_precision_widen(DT_HALF, &half, &single, 1);
  }
  return single;
}

static double binomial_sample(DataType type, double count, double p, const Philox *start, int64_t i) {
  if (count <= 0 || p <= 0) return 0;
  if (isnan(p) || !isfinite(count)) return NAN;
  if (p >= 1) return count;
  bool mirrored = p > 0.5;
  double q = mirrored ? rounded(type, 1 - p) : p;
  bool large = rounded(type, count * q) >= 10;
  Philox generator = *start;
  philox_skip(&generator, (uint64_t)i * (large ? SAMPLE_GROUPS : SUM_GROUPS));
  double sample = large ? reject(count, q, generator) : count_sums(count, q, generator);
  return mirrored ? count - sample : sample;
}

typedef struct Binomials {
  Philox start;
  const Tensor *counts, *probs;
  Shape batch; /* the broadcast shape of both */
  Tensor *out;
  int64_t batches, samples;
} Binomials;

/* The element of a tensor that stands at element `i` of the shape that it is broadcast to. */
static int64_t broadcast_at(const Shape *shape, const Shape *to, int64_t i) {
  int64_t at = 0, stride = 1;
  for (int d = 1; d <= shape->rank; d++) {
    int64_t size = shape_dim(shape, shape->rank - d), whole = shape_dim(to, to->rank - d);
    if (size > 1) at += i % whole * stride;
    i /= whole;
    stride *= size;
  }
  return at;
}

static void draw(void *argument, int64_t begin, int64_t end) {
  const Binomials *draws = argument;
  for (int64_t i = begin; i < end; i++) {
    int64_t batch = i / draws->samples, sample = i % draws->samples;
    double count = tensor_double_at(draws->counts, broadcast_at(&draws->counts->shape, &draws->batch, batch));
    double p = tensor_double_at(draws->probs, broadcast_at(&draws->probs->shape, &draws->batch, batch));
    random_put(draws->out, sample * draws->batches + batch,
               binomial_sample(draws->counts->dtype, count, p, &draws->start, i));
  }
}

/* Input `shape`, and the two after `counts` - 1; allocates the output. The caller clears draws->batch. */
static bool prepare(KernelContext *context, int shape, int counts, Binomials *draws, Status *status) {
  char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY];
  const Tensor *sizes = context->inputs[shape];
  int64_t dims[SHAPE_MAX_RANK];
  int rank;
  draws->counts = context->inputs[counts];
  draws->probs = context->inputs[counts + 1];
  if (!broadcast_compatible(&draws->counts->shape, &draws->probs->shape)) {
    return status_invalid(status, "counts and probs must have compatible batch dimensions: %s vs. %s",
                          shape_text(&draws->counts->shape, a), shape_text(&draws->probs->shape, b));
  }
  TRY(broadcast_shapes(&draws->counts->shape, &draws->probs->shape, &draws->batch, status));
  if (!tensor_is_vector(sizes)) {
    return status_invalid(status, "Input shape should be a vector, got shape: %s",
                          shape_text(&sizes->shape, a));
  }
  TRY(random_read_shape(sizes, &rank, dims, status));
  TRY(random_sample_output(context, shape, &draws->batch, &draws->out, status));
  draws->samples = draws->batches = 1;
  for (int i = 0; i < rank; i++)
    *(i < rank - draws->batch.rank ? &draws->samples : &draws->batches) *= dims[i];
  return true;
}

static void draw_all(KernelContext *context, Binomials *draws) {
  parallel_work(context->parallel, tensor_num_elements(draws->out), BINOMIAL_WORK, draw, draws);
}

static bool stateless_draws(KernelContext *context, Binomials *draws, Status *status) {
  TRY(random_stateless(context->inputs[1], &draws->start, status));
  TRY(prepare(context, 0, 2, draws, status));
  draw_all(context, draws);
  return true;
}

/* TensorFlow reserves this many groups for two numbers in a hundred attempts. */
static bool stateful_draws(KernelContext *context, Binomials *draws, Status *status) {
  RandomVariable state;
  TRY(prepare(context, 2, 3, draws, status));
  if (!tensor_is_scalar(context->inputs[1])) {
    char text[SHAPE_TEXT_CAPACITY];
    return status_invalid(status, "algorithm must be of shape [], not %s",
                          shape_text(&context->inputs[1]->shape, text));
  }
  if (tensor_i64(context->inputs[1])[0] != RANDOM_PHILOX)
    return status_invalid(status, "Unsupported algorithm id: %lld",
                          (long long)tensor_i64(context->inputs[1])[0]);
  TRY(random_variable(context, 1, &state, status));
  uint64_t numbers = (uint64_t)draws->batches * 2 * 100 * ((uint64_t)draws->samples + 3) / 4;
  TRY(random_variable_reserve(context, &state, numbers * SAMPLE_GROUPS, &draws->start, status));
  draw_all(context, draws);
  return true;
}

static bool stateless_binomial(KernelContext *context, Status *status) {
  Binomials draws = {0};
  bool ok = stateless_draws(context, &draws, status);
  shape_clear(&draws.batch);
  return ok;
}

static bool stateful_binomial(KernelContext *context, Status *status) {
  Binomials draws = {0};
  bool ok = stateful_draws(context, &draws, status);
  shape_clear(&draws.batch);
  return ok;
}

static bool stateless_shape(InferenceContext *c, Status *status) {
  return random_shape_seed(c, 1, status) && shape_random(c, status);
}

static bool stateful_shape(InferenceContext *c, Status *status) {
  ShapeHandle shape;
  TRY(shape_with_rank(c, shape_input(c, 2), 1, &shape, status));
  TRY(shape_from_input_tensor(c, 2, &shape, status));
  shape_set_output(c, 0, shape);
  return true;
}

#define BINOMIAL_TYPES                                  \
  "T: {half, float, double, int32, int64} = DT_DOUBLE", \
      "dtype: {half, float, double, int32, int64} = DT_INT64"

const OpRegistration kOpStatelessRandomBinomial = {
    .name = "StatelessRandomBinomial",
    .inputs = {"shape: S", "seed: Tseed", "counts: T", "probs: T"},
    .outputs = {"output: dtype"},
    .attrs = {"S: {int32, int64}", "Tseed: {int32, int64} = DT_INT64", BINOMIAL_TYPES},
    .shape = stateless_shape,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, stateless_binomial}},
};

const OpRegistration kOpStatefulRandomBinomial = {
    .name = "StatefulRandomBinomial",
    .inputs = {"resource: resource", "algorithm: int64", "shape: S", "counts: T", "probs: T"},
    .outputs = {"output: dtype"},
    .attrs = {"S: {int32, int64}", BINOMIAL_TYPES},
    .is_stateful = true,
    .shape = stateful_shape,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, stateful_binomial}},
};
