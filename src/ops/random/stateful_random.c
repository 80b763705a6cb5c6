/* Random numbers from a generator whose state is in a variable (tf.random.Generator). */
#include <unistd.h>

#include "op/op_registry.h"
#include "ops/random/random_source.h"
#include "ops/support/element_types.h"

/* TensorFlow moves the generator on by 256 times four words for each number. */
enum { GROUPS_PER_NUMBER = 256 };

/* The ops have the inputs resource, algorithm, shape; the deprecated StatefulStandardNormal has no algorithm.
 */
static bool has_algorithm(int num_inputs) { return num_inputs > 2; }

static bool shape_stateful(InferenceContext *c, Status *status) {
  ShapeHandle scalar, output;
  bool algorithm = has_algorithm(c->num_inputs);
  TRY(shape_with_rank(c, shape_input(c, 0), 0, &scalar, status));
  if (algorithm) TRY(shape_with_rank(c, shape_input(c, 1), 0, &scalar, status));
  TRY(shape_from_input_tensor(c, algorithm ? 2 : 1, &output, status));
  shape_set_output(c, 0, output);
  return true;
}

static bool shape_stateful_int(InferenceContext *c, Status *status) {
  ShapeHandle scalar;
  TRY(shape_with_rank(c, shape_input(c, 3), 0, &scalar, status));
  TRY(shape_with_rank(c, shape_input(c, 4), 0, &scalar, status));
  return shape_stateful(c, status);
}

/* Allocates the output and moves the variable on. */
static bool begin(KernelContext *context, Tensor **out, Philox *start, Status *status) {
  bool algorithm = has_algorithm(context->num_inputs);
  RandomVariable state;
  TRY(random_allocate_output(context, algorithm ? 2 : 1, out, status));
  TRY(random_variable(context, algorithm ? 1 : -1, &state, status));
  uint64_t groups = (uint64_t)tensor_num_elements(*out) * GROUPS_PER_NUMBER;
  return random_variable_reserve(context, &state, groups, start, status);
}

/* Its data is a RandomDistribution. */
static bool stateful_floats(KernelContext *context, Status *status) {
  RandomDistribution distribution = *(const RandomDistribution *)context->data;
  Philox start;
  Tensor *out;
  TRY(begin(context, &out, &start, status));
  random_fill_floats(&start, distribution, out->dtype, out->data, tensor_num_elements(out),
                     context->parallel);
  return true;
}

static bool stateful_ints(KernelContext *context, Status *status) {
  Philox start;
  int64_t low, high;
  Tensor *out;
  TRY(random_read_bounds(context, 3, &low, &high, status));
  TRY(random_check_bounds(low, high, status));
  TRY(begin(context, &out, &start, status));
  random_fill_ints(&start, low, high, out->dtype, out->data, tensor_num_elements(out), context->parallel);
  return true;
}

static bool stateful_all_ints(KernelContext *context, Status *status) {
  Philox start;
  Tensor *out;
  TRY(begin(context, &out, &start, status));
  random_fill_all_ints(&start, out->dtype, out->data, tensor_num_elements(out), context->parallel);
  return true;
}

static const RandomDistribution kUniform = RANDOM_UNIFORM, kNormal = RANDOM_NORMAL,
                                kTruncated = RANDOM_TRUNCATED;

#define STATEFUL_INPUTS "resource: resource", "algorithm: int64", "shape: shape_dtype"
#define STATEFUL_FLOATS                                                                              \
  .outputs = {"output: dtype"}, .attrs = {"dtype: type = DT_FLOAT", "shape_dtype: type = DT_INT64"}, \
  .is_stateful = true, .shape = shape_stateful, .gradient = NO_GRADIENT

const OpRegistration kOpStatefulUniform = {
    .name = "StatefulUniform",
    .inputs = {STATEFUL_INPUTS},
    STATEFUL_FLOATS,
    .kernels = {FLOAT_AND_HALF_KERNELS(stateful_floats, &kUniform)},
};

const OpRegistration kOpStatefulStandardNormalV2 = {
    .name = "StatefulStandardNormalV2",
    .inputs = {STATEFUL_INPUTS},
    STATEFUL_FLOATS,
    .kernels = {FLOAT_AND_HALF_KERNELS(stateful_floats, &kNormal)},
};

const OpRegistration kOpStatefulStandardNormal = {
    .name = "StatefulStandardNormal",
    .inputs = {"resource: resource", "shape: shape_dtype"},
    STATEFUL_FLOATS,
    .deprecated_version = 29,
    .deprecation_explanation = "Use StatefulStandardNormalV2 instead",
    .kernels = {FLOAT_AND_HALF_KERNELS(stateful_floats, &kNormal)},
};

const OpRegistration kOpStatefulTruncatedNormal = {
    .name = "StatefulTruncatedNormal",
    .inputs = {STATEFUL_INPUTS},
    STATEFUL_FLOATS,
    .kernels = {FLOAT_AND_HALF_KERNELS(stateful_floats, &kTruncated)},
};

const OpRegistration kOpStatefulUniformInt = {
    .name = "StatefulUniformInt",
    .inputs = {STATEFUL_INPUTS, "minval: dtype", "maxval: dtype"},
    .outputs = {"output: dtype"},
    .attrs = {"dtype: type = DT_INT64", "shape_dtype: type = DT_INT64"},
    .is_stateful = true,
    .shape = shape_stateful_int,
    .gradient = NO_GRADIENT,
    .kernels = {INT_KERNELS(stateful_ints)},
};

const OpRegistration kOpStatefulUniformFullInt = {
    .name = "StatefulUniformFullInt",
    .inputs = {STATEFUL_INPUTS},
    .outputs = {"output: dtype"},
    .attrs = {"dtype: type = DT_UINT64", "shape_dtype: type = DT_INT64"},
    .is_stateful = true,
    .shape = shape_stateful,
    .gradient = NO_GRADIENT,
    .kernels = {INT_KERNELS(stateful_all_ints), UNSIGNED_KERNELS(stateful_all_ints)},
};

/* --- moving on --- */

static bool shape_skip(InferenceContext *c, Status *status) {
  ShapeHandle output, scalar;
  for (int i = 0; i < 3; i++) TRY(shape_with_rank(c, shape_input(c, i), 0, &scalar, status));
  if (c->num_outputs == 0) return true;
  TRY(shape_ok(shape_vector(c, dim_make(c, 3)), &output, status));
  shape_set_output(c, 0, output);
  return true;
}

/* Moves on by input 2; output 0, if there is one, is the state before. */
static bool skip(KernelContext *context, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  RandomVariable state;
  Philox before;
  Tensor *out;
  if (!tensor_is_scalar(context->inputs[2])) {
    return status_invalid(status, "input 2 (0-based) must have shape [], not %s",
                          shape_text(&context->inputs[2]->shape, text));
  }
  TRY(random_variable(context, 1, &state, status));
  uint64_t delta = (uint64_t)tensor_int_at(context->inputs[2], 0);
  TRY(random_variable_reserve(context, &state, delta * GROUPS_PER_NUMBER, &before, status));
  if (context->num_outputs == 0) return true;
  TRY(kernel_allocate_output_dims(context, 0, 1, (int64_t[]){3}, &out, status));
  uint64_t *words = out->data;
  random_write_key_counter(&before, &words[2], words);
  return true;
}

const OpRegistration kOpRngSkip = {
    .name = "RngSkip",
    .inputs = {"resource: resource", "algorithm: int64", "delta: int64"},
    .is_stateful = true,
    .shape = shape_skip,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, skip}},
};

const OpRegistration kOpRngReadAndSkip = {
    .name = "RngReadAndSkip",
    .inputs = {"resource: resource", "alg: int32", "delta: uint64"},
    .outputs = {"value: int64"},
    .is_stateful = true,
    .shape = shape_skip,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, skip}},
};

/* --- NonDeterministicInts --- */

static bool any_ints(KernelContext *context, Status *status) {
  Tensor *out;
  uint64_t seeds[2];
  TRY(random_allocate_output(context, 0, &out, status));
  if (getentropy(seeds, sizeof seeds) != 0)
    return status_set(status, CODE_UNAVAILABLE, "No entropy for a random seed");
  Philox start = philox_seed(seeds[0], seeds[1]);
  random_fill_all_ints(&start, out->dtype, out->data, tensor_num_elements(out), context->parallel);
  return true;
}

const OpRegistration kOpNonDeterministicInts = {
    .name = "NonDeterministicInts",
    .inputs = {"shape: shape_dtype"},
    .outputs = {"output: dtype"},
    .attrs = {"dtype: type = DT_INT64", "shape_dtype: type = DT_INT64"},
    .is_stateful = true,
    .shape = shape_random,
    .gradient = NO_GRADIENT,
    .kernels = {INT_KERNELS(any_ints), UNSIGNED_KERNELS(any_ints)},
};
