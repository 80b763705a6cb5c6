#include "ops/random/random_samples.h"

#include <float.h>
#include <math.h>

#include "ops/support/half_precision.h"

enum { SAMPLE_WORK = 500 };

double random_next_uniform(Philox *generator, RandomPairs *pairs) {
  if (pairs->left == 0) {
    uint32_t words[4];
    philox_next(generator, words);
    pairs->numbers[0] = philox_uniform_f64(words[0], words[1]);
    pairs->numbers[1] = philox_uniform_f64(words[2], words[3]);
    pairs->left = 2;
  }
  return pairs->numbers[--pairs->left];
}

double random_next_normal(Philox *generator, RandomPairs *pairs) {
  if (pairs->left == 0) {
    uint32_t words[4];
    philox_next(generator, words);
    philox_normal_f64(words, pairs->numbers);
    pairs->left = 2;
  }
  return pairs->numbers[--pairs->left];
}

double random_highest(DataType type) {
  switch (type) {
    case DT_HALF: return 65504;
    case DT_FLOAT: return FLT_MAX;
    case DT_INT32: return INT32_MAX;
    case DT_INT64: return (double)INT64_MAX;
    default: return DBL_MAX;
  }
}

void random_put(Tensor *out, int64_t i, double value) {
  float single = (float)value;
  /* False for NaN; the highest double of int64 is 1 too large. */
  bool small = fabs(value) <= random_highest(out->dtype) && fabs(value) < (double)INT64_MAX;
  switch (out->dtype) {
    case DT_HALF: half_precision_narrow(DT_HALF, &single, (uint16_t *)out->data + i, 1); break;
    case DT_FLOAT: tensor_f32(out)[i] = single; break;
    case DT_INT32: tensor_i32(out)[i] = small ? (int32_t)value : 0; break;
    case DT_INT64: tensor_i64(out)[i] = small ? (int64_t)value : 0; break;
    default: tensor_f64(out)[i] = value;
  }
}

typedef struct Sampling {
  const Philox *start;
  RandomSample *sample;
  const Tensor *parameters;
  Tensor *out;
  int64_t count, samples; /* of parameters, and of samples for each */
} Sampling;

static void sample_some(void *argument, int64_t begin, int64_t end) {
  const Sampling *sampling = argument;
  double highest = random_highest(sampling->out->dtype);
  for (int64_t i = begin; i < end; i++) {
    int64_t parameter = i / sampling->samples, at = i % sampling->samples;
    Philox generator = *sampling->start;
    philox_skip(&generator, (uint64_t)i * SAMPLE_GROUPS);
    random_put(sampling->out, at * sampling->count + parameter,
               sampling->sample(tensor_double_at(sampling->parameters, parameter), highest, generator));
  }
}

void random_sample(const Philox *start, RandomSample *sample, const Tensor *parameters, Tensor *out,
                   const Parallel *parallel) {
  int64_t all = tensor_num_elements(out), count = tensor_num_elements(parameters);
  if (all == 0) return;
  Sampling sampling = {start, sample, parameters, out, count, all / count};
  parallel_work(parallel, all, SAMPLE_WORK, sample_some, &sampling);
}

bool random_sample_stateful(KernelContext *context, RandomSample *sample, Status *status) {
  const Tensor *parameters = context->inputs[1];
  int64_t dims[SHAPE_MAX_RANK];
  int rank;
  Tensor *out;
  TRY(random_read_shape(context->inputs[0], &rank, dims, status));
  if (rank + parameters->shape.rank > SHAPE_MAX_RANK)
    return status_invalid(status, "Too many dimensions in tensor");
  for (int i = 0; i < parameters->shape.rank; i++) dims[rank++] = shape_dim(&parameters->shape, i);
  TRY(kernel_allocate_output_dims(context, 0, rank, dims, &out, status));
  Philox start = random_state_reserve(context->state, (uint64_t)tensor_num_elements(out) * SAMPLE_GROUPS);
  random_sample(&start, sample, parameters, out, context->parallel);
  return true;
}

bool random_sample_output(KernelContext *context, int shape, const Shape *parameters, Tensor **out,
                          Status *status) {
  int64_t dims[SHAPE_MAX_RANK];
  int rank;
  TRY(random_read_shape(context->inputs[shape], &rank, dims, status));
  int first = rank - parameters->rank;
  bool ends = first >= 0;
  for (int i = 0; ends && i < parameters->rank; i++) ends = dims[first + i] == shape_dim(parameters, i);
  if (!ends) return status_invalid(status, "Shape passed in must end with broadcasted shape.");
  return kernel_allocate_output_dims(context, 0, rank, dims, out, status);
}

bool random_sample_shape(InferenceContext *c, Status *status) {
  ShapeHandle shape;
  TRY(shape_from_input_tensor(c, 0, &shape, status));
  TRY(shape_concatenate(c, shape, shape_input(c, 1), &shape, status));
  shape_set_output(c, 0, shape);
  return true;
}
