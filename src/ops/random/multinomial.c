/* Samples classes by their unnormalised log-probabilities: each sample looks up a uniform number in the row's
 * cumulative sums, as TensorFlow's CPU kernel does. */
#include <math.h>

#include "op/op_registry.h"
#include "ops/random/random_fill.h"

static bool shape_multinomial(InferenceContext *c, Status *status) {
  ShapeHandle logits, scalar, output;
  DimHandle samples;
  TRY(shape_with_rank(c, shape_input(c, 0), 2, &logits, status));
  TRY(shape_with_rank(c, shape_input(c, 1), 0, &scalar, status));
  TRY(dim_for_scalar_input(c, 1, &samples, status));
  TRY(shape_ok(shape_matrix(c, shape_dim_of(c, logits, 0), samples), &output, status));
  shape_set_output(c, 0, output);
  return true;
}

static bool shape_stateless_multinomial(InferenceContext *c, Status *status) {
  return random_shape_seed(c, 2, status) && shape_multinomial(c, status);
}

enum { UNIFORMS_AT_ONCE = 256 };

typedef struct Draw {
  const Philox *start;
  const Tensor *logits;
  double *sums; /* a row of cumulative sums for each row of logits */
  Tensor *out;
  int64_t classes, samples;
} Draw;

/* Cumulative sums of exp(logit - maximum); logits that are not finite have weight zero. */
static void sum_up(const Draw *draw, int64_t row, double *sums) {
  double largest = -INFINITY, total = 0;
  for (int64_t i = 0; i < draw->classes; i++) {
    double logit = tensor_double_at(draw->logits, row * draw->classes + i);
    if (isfinite(logit) && logit > largest) largest = logit;
  }
  for (int64_t i = 0; i < draw->classes; i++) {
    double logit = tensor_double_at(draw->logits, row * draw->classes + i);
    if (isfinite(logit)) total += exp(logit - largest);
    sums[i] = total;
  }
}

/* The number of sums that are at most `value`. */
static int64_t upper_bound(const double *sums, int64_t count, double value) {
  int64_t low = 0;
  for (int64_t high = count; low < high;) {
    int64_t middle = low + (high - low) / 2;
    if (sums[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/* Samples `first` to `first` + `count` of a row. The rows share one stream of numbers, so a row may begin in
 * the middle of a group of two. */
static void draw_samples(const Draw *draw, int64_t row, const double *sums, int64_t first, int64_t count) {
  double uniforms[UNIFORMS_AT_ONCE + 1];
  int64_t at = row * draw->samples + first;
  Philox generator = *draw->start;
  philox_skip(&generator, (uint64_t)at / 2);
  random_fill_floats(&generator, RANDOM_UNIFORM, DT_DOUBLE, uniforms, count + at % 2, NULL);
  for (int64_t i = 0; i < count; i++) {
    int64_t found = upper_bound(sums, draw->classes, uniforms[i + at % 2] * sums[draw->classes - 1]);
    if (draw->out->dtype == DT_INT32) tensor_i32(draw->out)[at + i] = (int32_t)found;
    else tensor_i64(draw->out)[at + i] = found;
  }
}

static void draw_rows(void *argument, int64_t begin, int64_t end) {
  const Draw *draw = argument;
  for (int64_t row = begin; row < end; row++) {
    double *sums = draw->sums + row * draw->classes;
    sum_up(draw, row, sums);
    for (int64_t first = 0; first < draw->samples; first += UNIFORMS_AT_ONCE) {
      int64_t left = draw->samples - first;
      draw_samples(draw, row, sums, first, left < UNIFORMS_AT_ONCE ? left : UNIFORMS_AT_ONCE);
    }
  }
}

static bool read_samples(const KernelContext *context, int64_t *samples, Status *status) {
  const Tensor *logits = context->inputs[0], *number = context->inputs[1];
  char text[SHAPE_TEXT_CAPACITY];
  if (logits->shape.rank != 2) {
    return status_invalid(status, "logits should be a matrix, got shape %s",
                          shape_text(&logits->shape, text));
  }
  if (!tensor_is_scalar(number)) {
    return status_invalid(status, "num_samples should be a scalar, got shape %s",
                          shape_text(&number->shape, text));
  }
  *samples = tensor_int_at(number, 0);
  if (*samples < 0)
    return status_invalid(status, "num_samples should be non-negative, got %lld", (long long)*samples);
  int64_t classes = shape_dim(&logits->shape, 1);
  if (classes <= 0)
    return status_invalid(status, "num_classes should be positive, got %lld", (long long)classes);
  return true;
}

/* Whether there are samples to draw; allocates the output. */
static bool prepare(KernelContext *context, Draw *draw, bool *wanted, Status *status) {
  draw->logits = context->inputs[0];
  TRY(read_samples(context, &draw->samples, status));
  int64_t rows = shape_dim(&draw->logits->shape, 0);
  draw->classes = shape_dim(&draw->logits->shape, 1);
  if (context->output_types[0] == DT_INT32 && draw->classes > INT32_MAX) {
    return status_invalid(status, "num_classes should be less than 2**31, got %lld",
                          (long long)draw->classes);
  }
  TRY(kernel_allocate_output_dims(context, 0, 2, (int64_t[]){rows, draw->samples}, &draw->out, status));
  *wanted = tensor_num_elements(draw->out) > 0;
  return true;
}

static bool draw_all(KernelContext *context, Draw *draw, Status *status) {
  int64_t rows = shape_dim(&draw->logits->shape, 0), bytes;
  if (__builtin_mul_overflow(tensor_num_elements(draw->logits), (int64_t)sizeof(double), &bytes)) {
    return status_oom(status, "cumulative sums");
  }
  Buffer *scratch = kernel_scratch(context, bytes, status);
  if (!scratch) return false;
  draw->sums = scratch->data;
  double work = 16 * (double)draw->samples + 8 * (double)draw->classes;
  parallel_work(context->parallel, rows, work, draw_rows, draw);
  buffer_unref(scratch);
  return true;
}

static bool multinomial(KernelContext *context, Status *status) {
  Draw draw = {0};
  bool wanted = false;
  TRY(prepare(context, &draw, &wanted, status));
  if (!wanted) return true;
  /* TensorFlow rounds a row's samples up to groups, counts them twice because doubles use two words, and
   * reserves 256 groups for each. */
  uint64_t per_row = ((uint64_t)draw.samples + 3) / 4 * 4 * 2;
  Philox start =
      random_state_reserve(context->state, (uint64_t)shape_dim(&draw.logits->shape, 0) * per_row * 256);
  draw.start = &start;
  return draw_all(context, &draw, status);
}

static bool stateless_multinomial(KernelContext *context, Status *status) {
  Draw draw = {0};
  Philox start;
  bool wanted = false;
  TRY(random_stateless(context->inputs[2], &start, status));
  TRY(prepare(context, &draw, &wanted, status));
  if (!wanted) return true;
  draw.start = &start;
  return draw_all(context, &draw, status);
}

const OpRegistration kOpMultinomial = {
    .name = "Multinomial",
    .inputs = {"logits: T", "num_samples: int32"},
    .outputs = {"output: output_dtype"},
    .attrs = {"seed: int = 0", "seed2: int = 0", "T: realnumbertype",
              "output_dtype: {int32, int64} = DT_INT64"},
    .is_stateful = true,
    .shape = shape_multinomial,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(RandomState),
    .construct = random_state_construct,
    .kernels = {{DT_INVALID, multinomial}},
};

const OpRegistration kOpStatelessMultinomial = {
    .name = "StatelessMultinomial",
    .inputs = {"logits: T", "num_samples: int32", "seed: Tseed"},
    .outputs = {"output: output_dtype"},
    .attrs = {"T: realnumbertype", "Tseed: {int32, int64} = DT_INT64",
              "output_dtype: {int32, int64} = DT_INT64"},
    .shape = shape_stateless_multinomial,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, stateless_multinomial}},
};
