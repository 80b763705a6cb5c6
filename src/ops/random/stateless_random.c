/* Random numbers that depend only on an input `seed`: the same numbers as TensorFlow's. */
#include "op/op_registry.h"
#include "ops/support/element_types.h"
#include "ops/random/random_fill.h"

static bool shape_stateless(InferenceContext *c, Status *status) {
  return random_shape_seed(c, 1, status) && shape_random(c, status);
}

/* --- floats --- */

/* Its data is a RandomDistribution. */
static bool stateless_floats(KernelContext *context, Status *status) {
  RandomDistribution distribution = *(const RandomDistribution *)context->data;
  Philox start;
  Tensor *out;
  TRY(random_stateless(context->inputs[1], &start, status));
  TRY(random_allocate_output(context, 0, &out, status));
  random_fill_floats(&start, distribution, out->dtype, out->data, tensor_num_elements(out),
                     context->parallel);
  return true;
}

static const RandomDistribution kUniform = RANDOM_UNIFORM, kNormal = RANDOM_NORMAL,
                                kTruncated = RANDOM_TRUNCATED;

#define STATELESS_FLOATS                                                                         \
  .inputs = {"shape: T", "seed: Tseed"}, .outputs = {"output: dtype"},                           \
  .attrs = {"dtype: {half, bfloat16, float, double} = DT_FLOAT", "T: {int32, int64} = DT_INT32", \
            "Tseed: {int32, int64} = DT_INT64"},                                                 \
  .shape = shape_stateless, .gradient = NO_GRADIENT

const OpRegistration kOpStatelessRandomUniform = {
    .name = "StatelessRandomUniform",
    STATELESS_FLOATS,
    .kernels = {FLOAT_AND_HALF_KERNELS(stateless_floats, &kUniform)},
};

const OpRegistration kOpStatelessRandomNormal = {
    .name = "StatelessRandomNormal",
    STATELESS_FLOATS,
    .kernels = {FLOAT_AND_HALF_KERNELS(stateless_floats, &kNormal)},
};

const OpRegistration kOpStatelessTruncatedNormal = {
    .name = "StatelessTruncatedNormal",
    STATELESS_FLOATS,
    .kernels = {FLOAT_AND_HALF_KERNELS(stateless_floats, &kTruncated)},
};

/* --- integers in [minval, maxval) --- */

static bool shape_stateless_int(InferenceContext *c, Status *status) {
  TRY(random_shape_bounds(c, 2, status));
  return shape_stateless(c, status);
}

static bool uniform_int(KernelContext *context, Status *status) {
  Philox start;
  int64_t low, high;
  Tensor *out;
  TRY(random_stateless(context->inputs[1], &start, status));
  TRY(random_read_bounds(context, 2, &low, &high, status));
  TRY(random_allocate_output(context, 0, &out, status));
  int64_t count = tensor_num_elements(out);
  if (count == 0) return true;
  TRY(random_check_bounds(low, high, status));
  random_fill_ints(&start, low, high, out->dtype, out->data, count, context->parallel);
  return true;
}

const OpRegistration kOpStatelessRandomUniformInt = {
    .name = "StatelessRandomUniformInt",
    .inputs = {"shape: T", "seed: Tseed", "minval: dtype", "maxval: dtype"},
    .outputs = {"output: dtype"},
    .attrs = {"dtype: {int32, int64}", "T: {int32, int64}", "Tseed: {int32, int64} = DT_INT64"},
    .shape = shape_stateless_int,
    .gradient = NO_GRADIENT,
    .kernels = {INT_KERNELS(uniform_int)},
};

/* --- all integers --- */

static bool all_ints(KernelContext *context, Status *status) {
  Philox start;
  Tensor *out;
  TRY(random_stateless(context->inputs[1], &start, status));
  TRY(random_allocate_output(context, 0, &out, status));
  random_fill_all_ints(&start, out->dtype, out->data, tensor_num_elements(out), context->parallel);
  return true;
}

const OpRegistration kOpStatelessRandomUniformFullInt = {
    .name = "StatelessRandomUniformFullInt",
    .inputs = {"shape: T", "seed: Tseed"},
    .outputs = {"output: dtype"},
    .attrs = {"dtype: {int32, int64, uint32, uint64} = DT_UINT64", "T: {int32, int64} = DT_INT32",
              "Tseed: {int32, int64, uint32, uint64} = DT_INT64"},
    .shape = shape_stateless,
    .gradient = NO_GRADIENT,
    .kernels = {INT_KERNELS(all_ints), UNSIGNED_KERNELS(all_ints)},
};
