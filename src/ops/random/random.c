/* Random numbers from a generator whose state belongs to the node: for given seeds, the same numbers as
 * TensorFlow's. */
#include "op/op_registry.h"
#include "ops/support/array_box.h"
#include "ops/support/element_types.h"
#include "ops/random/random_fill.h"

/* TensorFlow reserves 256 times four words per number, whatever is used. */
enum { RESERVED_GROUPS = 256 };

/* --- floats --- */

/* Its data is a RandomDistribution. */
static bool random_floats(KernelContext *context, Status *status) {
  RandomDistribution distribution = *(const RandomDistribution *)context->data;
  Tensor *out;
  TRY(random_allocate_output(context, &out, status));
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
  TRY(random_allocate_output(context, &out, status));
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

/* --- RandomShuffle --- */

static bool shuffle(KernelContext *context, Status *status) {
  const Tensor *value = context->inputs[0];
  Tensor *out;
  int64_t rows = value->shape.rank == 0 ? 1 : shape_dim(&value->shape, 0), total = tensor_num_elements(value);
  if (rows <= 1 || total <= 1) return kernel_set_output(context, 0, value, NULL, status);
  if (rows > UINT32_MAX) return status_invalid(status, "%lld rows are too many to shuffle", (long long)rows);
  int64_t *order;
  Buffer *scratch = array_row_numbers(context, rows, &order, status);
  if (!scratch) return false;
  PhiloxStream stream = {.generator = random_state_reserve(context->state, (uint64_t)(rows - 1 + 3) / 4)};
  for (int64_t i = 0; i < rows; i++) order[i] = i;
  for (int64_t i = 0; i < rows - 1 && !work_is_stopped_in_round(i); i++) {
    int64_t other = i + philox_stream_next(&stream) % (uint32_t)(rows - i), row = order[i];
    order[i] = order[other];
    order[other] = row;
  }
  bool ok = kernel_allocate_output(context, 0, &value->shape, &out, status) &&
            array_gather_rows(value, order, rows, total / rows, out, context->parallel, status);
  buffer_unref(scratch);
  return ok;
}

const OpRegistration kOpRandomShuffle = {
    .name = "RandomShuffle",
    .inputs = {"value: T"},
    .outputs = {"output: T"},
    .attrs = {"seed: int = 0", "seed2: int = 0", "T: type"},
    .is_stateful = true,
    .shape = shape_unchanged,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(RandomState),
    .construct = random_state_construct,
    .kernels = {{DT_INVALID, shuffle}},
};
