/* Random numbers from a generator whose state belongs to the node: for given seeds, the same numbers as
 * TensorFlow's. */
#include "op/op_registry.h"
#include "ops/support/element_types.h"
#include "ops/random/random_fill.h"

/* TensorFlow reserves 256 times four words per number, whatever is used. */
enum { RESERVED_GROUPS = 256 };

/* --- floats --- */

/* Its data is a RandomDistribution. */
static bool random_floats(KernelContext *context, Status *status) {
  RandomDistribution distribution = *(const RandomDistribution *)context->data;
  Tensor *out;
  TRY(random_allocate_output(context, 0, &out, status));
  int64_t count = tensor_num_elements(out);
  Philox start = random_state_reserve(context->state, (uint64_t)count * RESERVED_GROUPS);
  random_fill_floats(&start, distribution, out->dtype, out->data, count, context->parallel);
  return true;
}

static const RandomDistribution kUniform = RANDOM_UNIFORM, kNormal = RANDOM_NORMAL,
                                kTruncated = RANDOM_TRUNCATED;

/* Shared by the ops that return floats. */
#define RANDOM_FLOATS                                                                                     \
  .inputs = {"shape: T"}, .outputs = {"output: dtype"},                                                   \
  .attrs = {"seed: int = 0", "seed2: int = 0", "dtype: {half, bfloat16, float, double}",                  \
            "T: {int32, int64}"},                                                                         \
  .is_stateful = true, .shape = shape_random, .gradient = NO_GRADIENT, .state_size = sizeof(RandomState), \
  .construct = random_state_construct

const OpRegistration kOpRandomUniform = {
    .name = "RandomUniform",
    RANDOM_FLOATS,
    .kernels = {FLOAT_AND_HALF_KERNELS(random_floats, &kUniform)},
};

const OpRegistration kOpRandomStandardNormal = {
    .name = "RandomStandardNormal",
    RANDOM_FLOATS,
    .kernels = {FLOAT_AND_HALF_KERNELS(random_floats, &kNormal)},
};

const OpRegistration kOpTruncatedNormal = {
    .name = "TruncatedNormal",
    RANDOM_FLOATS,
    .kernels = {FLOAT_AND_HALF_KERNELS(random_floats, &kTruncated)},
};

/* --- integers in [minval, maxval) --- */

static bool shape_random_int(InferenceContext *c, Status *status) {
  TRY(random_shape_bounds(c, 1, status));
  return shape_random(c, status);
}

static bool uniform_int(KernelContext *context, Status *status) {
  int64_t low, high;
  Tensor *out;
  TRY(random_read_bounds(context, 1, &low, &high, status));
  TRY(random_allocate_output(context, 0, &out, status));
  int64_t count = tensor_num_elements(out);
  if (count == 0) return true;
  TRY(random_check_bounds(low, high, status));
  Philox start = random_state_reserve(context->state, (uint64_t)count * RESERVED_GROUPS);
  random_fill_ints(&start, low, high, out->dtype, out->data, count, context->parallel);
  return true;
}

const OpRegistration kOpRandomUniformInt = {
    .name = "RandomUniformInt",
    .inputs = {"shape: T", "minval: Tout", "maxval: Tout"},
    .outputs = {"output: Tout"},
    .attrs = {"seed: int = 0", "seed2: int = 0", "Tout: {int32, int64}", "T: {int32, int64}"},
    .is_stateful = true,
    .shape = shape_random_int,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(RandomState),
    .construct = random_state_construct,
    .kernels = {INT_KERNELS(uniform_int)},
};
