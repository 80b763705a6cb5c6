/* Random numbers that depend only on a key and a counter: the ops of TensorFlow 2, and those that make keys
 * and counters from seeds. */
#include "op/op_registry.h"
#include "ops/random/random_shuffle.h"
#include "ops/random/random_source.h"
#include "ops/support/element_types.h"

/* --- keys --- */

static bool write_generator(KernelContext *context, Status *status) {
  Philox generator;
  Tensor *key, *counter;
  TRY(random_stateless(context->inputs[0], &generator, status));
  TRY(kernel_allocate_output_dims(context, 0, 1, (int64_t[]){1}, &key, status));
  TRY(kernel_allocate_output_dims(context, 1, 1, (int64_t[]){2}, &counter, status));
  random_write_key_counter(&generator, key->data, counter->data);
  return true;
}

static bool write_algorithm(KernelContext *context, Status *status) {
  Tensor *out;
  TRY(kernel_allocate_output_dims(context, context->num_outputs - 1, 0, NULL, &out, status));
  tensor_i32(out)[0] = RANDOM_PHILOX;
  return true;
}

static bool write_all(KernelContext *context, Status *status) {
  return write_generator(context, status) && write_algorithm(context, status);
}

static bool shape_key_counter(InferenceContext *c, Status *status) {
  ShapeHandle key, counter;
  TRY(random_shape_seed(c, 0, status));
  TRY(shape_ok(shape_vector(c, dim_make(c, 1)), &key, status));
  TRY(shape_ok(shape_vector(c, dim_make(c, 2)), &counter, status));
  shape_set_output(c, 0, key);
  shape_set_output(c, 1, counter);
  if (c->num_outputs < 3) return true;
  ShapeHandle algorithm;
  TRY(shape_ok(shape_scalar(c), &algorithm, status));
  shape_set_output(c, 2, algorithm);
  return true;
}

const OpRegistration kOpStatelessRandomGetKeyCounter = {
    .name = "StatelessRandomGetKeyCounter",
    .inputs = {"seed: Tseed"},
    .outputs = {"key: uint64", "counter: uint64"},
    .attrs = {"Tseed: {int32, int64} = DT_INT64"},
    .shape = shape_key_counter,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, write_generator}},
};

const OpRegistration kOpStatelessRandomGetKeyCounterAlg = {
    .name = "StatelessRandomGetKeyCounterAlg",
    .inputs = {"seed: Tseed"},
    .outputs = {"key: uint64", "counter: uint64", "alg: int32"},
    .attrs = {"Tseed: {int32, int64} = DT_INT64"},
    .shape = shape_key_counter,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, write_all}},
};

const OpRegistration kOpStatelessRandomGetAlg = {
    .name = "StatelessRandomGetAlg",
    .outputs = {"alg: int32"},
    .is_stateful = true,
    .shape = shape_scalar_output,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, write_algorithm}},
};

/* --- numbers --- */

static bool shape_keyed(InferenceContext *c, Status *status) {
  return random_shape_keyed(c, 1, status) && shape_random(c, status);
}

static bool shape_keyed_int(InferenceContext *c, Status *status) {
  TRY(random_shape_keyed(c, 1, status));
  TRY(random_shape_bounds(c, 4, status));
  return shape_random(c, status);
}

/* Its data is a RandomDistribution. */
static bool keyed_floats(KernelContext *context, Status *status) {
  RandomDistribution distribution = *(const RandomDistribution *)context->data;
  Philox start;
  Tensor *out;
  TRY(random_keyed(context, 1, &start, status));
  TRY(random_allocate_output(context, 0, &out, status));
  random_fill_floats(&start, distribution, out->dtype, out->data, tensor_num_elements(out),
                     context->parallel);
  return true;
}

static bool keyed_ints(KernelContext *context, Status *status) {
  Philox start;
  int64_t low, high;
  Tensor *out;
  TRY(random_keyed(context, 1, &start, status));
  TRY(random_allocate_output(context, 0, &out, status));
  int64_t count = tensor_num_elements(out);
  if (count == 0) return true;
  TRY(random_read_bounds(context, 4, &low, &high, status));
  TRY(random_check_bounds(low, high, status));
  random_fill_ints(&start, low, high, out->dtype, out->data, count, context->parallel);
  return true;
}

static bool keyed_all_ints(KernelContext *context, Status *status) {
  Philox start;
  Tensor *out;
  TRY(random_keyed(context, 1, &start, status));
  TRY(random_allocate_output(context, 0, &out, status));
  random_fill_all_ints(&start, out->dtype, out->data, tensor_num_elements(out), context->parallel);
  return true;
}

static const RandomDistribution kUniform = RANDOM_UNIFORM, kNormal = RANDOM_NORMAL,
                                kTruncated = RANDOM_TRUNCATED;

#define KEYED_INPUTS "shape: Tshape", "key: uint64", "counter: uint64", "alg: int32"
#define KEYED_FLOATS                                                                                   \
  .inputs = {KEYED_INPUTS}, .outputs = {"output: dtype"},                                              \
  .attrs = {"dtype: {half, bfloat16, float, double} = DT_FLOAT", "Tshape: {int32, int64} = DT_INT32"}, \
  .shape = shape_keyed, .gradient = NO_GRADIENT

const OpRegistration kOpStatelessRandomUniformV2 = {
    .name = "StatelessRandomUniformV2",
    KEYED_FLOATS,
    .kernels = {FLOAT_AND_HALF_KERNELS(keyed_floats, &kUniform)},
};

const OpRegistration kOpStatelessRandomNormalV2 = {
    .name = "StatelessRandomNormalV2",
    KEYED_FLOATS,
    .kernels = {FLOAT_AND_HALF_KERNELS(keyed_floats, &kNormal)},
};

const OpRegistration kOpStatelessTruncatedNormalV2 = {
    .name = "StatelessTruncatedNormalV2",
    KEYED_FLOATS,
    .kernels = {FLOAT_AND_HALF_KERNELS(keyed_floats, &kTruncated)},
};

const OpRegistration kOpStatelessRandomUniformIntV2 = {
    .name = "StatelessRandomUniformIntV2",
    .inputs = {KEYED_INPUTS, "minval: dtype", "maxval: dtype"},
    .outputs = {"output: dtype"},
    .attrs = {"dtype: {int32, int64, uint32, uint64}", "Tshape: {int32, int64} = DT_INT32"},
    .shape = shape_keyed_int,
    .gradient = NO_GRADIENT,
    .kernels = {INT_KERNELS(keyed_ints)},
};

const OpRegistration kOpStatelessRandomUniformFullIntV2 = {
    .name = "StatelessRandomUniformFullIntV2",
    .inputs = {KEYED_INPUTS},
    .outputs = {"output: dtype"},
    .attrs = {"dtype: {int32, int64, uint32, uint64} = DT_UINT64", "Tshape: {int32, int64} = DT_INT32"},
    .shape = shape_keyed,
    .gradient = NO_GRADIENT,
    .kernels = {INT_KERNELS(keyed_all_ints), UNSIGNED_KERNELS(keyed_all_ints)},
};

/* --- StatelessShuffle --- */

static bool shape_shuffle(InferenceContext *c, Status *status) {
  return random_shape_keyed(c, 1, status) && shape_unchanged(c, status);
}

static bool shuffle(KernelContext *context, Status *status) {
  Philox start;
  return random_keyed(context, 1, &start, status) && random_shuffle(context, &start, status);
}

const OpRegistration kOpStatelessShuffle = {
    .name = "StatelessShuffle",
    .inputs = {"value: T", "key: uint64", "counter: uint64", "alg: int32"},
    .outputs = {"output: T"},
    .attrs = {"T: type"},
    .shape = shape_shuffle,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, shuffle}},
};
