#include "ops/random/random_source.h"

#include "op/node_def.h"
#include "ops/support/variable_access.h"

/* --- key, counter, algorithm --- */

enum { COUNTER_SIZE = 2, STATE_SIZE = 3 };

static Philox generator_of(uint64_t low, uint64_t high, uint64_t key) {
  return (Philox){{(uint32_t)low, (uint32_t)(low >> 32), (uint32_t)high, (uint32_t)(high >> 32)},
                  {(uint32_t)key, (uint32_t)(key >> 32)}};
}

void random_write_key_counter(const Philox *generator, uint64_t *key, uint64_t counter[2]) {
  *key = generator->key[0] | (uint64_t)generator->key[1] << 32;
  counter[0] = generator->counter[0] | (uint64_t)generator->counter[1] << 32;
  counter[1] = generator->counter[2] | (uint64_t)generator->counter[3] << 32;
}

/* A scalar input. */
static bool read_scalar(const KernelContext *context, int i, int64_t *value, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  const Tensor *input = context->inputs[i];
  if (!tensor_is_scalar(input)) {
    return status_invalid(status, "input %d (0-based) must have shape [], not %s", i,
                          shape_text(&input->shape, text));
  }
  *value = tensor_int_at(input, 0);
  return true;
}

bool random_keyed(const KernelContext *context, int first, Philox *generator, Status *status) {
  const Tensor *key = context->inputs[first], *counter = context->inputs[first + 1];
  char text[SHAPE_TEXT_CAPACITY];
  int64_t algorithm = 0;
  TRY(read_scalar(context, first + 2, &algorithm, status));
  if (!tensor_is_vector(key) || tensor_num_elements(key) != 1) {
    return status_invalid(status,
                          "key must have shape [1], not %s. (Note that batched keys are not supported yet.)",
                          shape_text(&key->shape, text));
  }
  if (!tensor_is_vector(counter) || tensor_num_elements(counter) < COUNTER_SIZE) {
    return status_invalid(status,
                          "counter must be a vector with length at least %d; got shape: %s. (Note that "
                          "batched counters are not supported yet.)",
                          COUNTER_SIZE, shape_text(&counter->shape, text));
  }
  if (algorithm != RANDOM_PHILOX && algorithm != RANDOM_AUTO)
    return status_invalid(status, "Unsupported algorithm id: %lld", (long long)algorithm);
  const uint64_t *words = counter->data;
  *generator = generator_of(words[0], words[1], *(const uint64_t *)key->data);
  return true;
}

bool random_shape_keyed(InferenceContext *c, int first, Status *status) {
  ShapeHandle ignored;
  DimHandle one;
  return shape_with_rank(c, shape_input(c, first), 1, &ignored, status) &&
         shape_with_rank(c, shape_input(c, first + 1), 1, &ignored, status) &&
         shape_with_rank(c, shape_input(c, first + 2), 0, &ignored, status) &&
         dim_with_value(c, shape_dim_of(c, shape_input(c, first), 0), 1, &one, status);
}

/* --- variables --- */

static bool check_size(const Tensor *state, int64_t skipped, Status *status) {
  int64_t size = tensor_num_elements(state);
  return size >= skipped + STATE_SIZE ||
         status_invalid(status, "For the Philox algorithm, the size of state must be at least %lld; got %lld",
                        (long long)(skipped + STATE_SIZE), (long long)size);
}

bool random_variable(const KernelContext *context, int algorithm, RandomVariable *state, Status *status) {
  int64_t id = 0;
  if (algorithm >= 0) TRY(read_scalar(context, algorithm, &id, status));
  TRY(tensor_variable(context->inputs[0], &state->variable, status));
  TRY(initialized_variable(context, 0, state->variable->dtype, &state->variable, status));
  const Tensor *value = &state->variable->value;
  if (value->dtype != DT_INT64) {
    return status_invalid(status, "dtype of RNG state variable must be int64, not %s",
                          dtype_name(value->dtype));
  }
  if (!tensor_is_vector(value)) {
    return status_invalid(status, "RNG state must have one and only one dimension, not %d",
                          value->shape.rank);
  }
  state->skipped = algorithm < 0;
  if (algorithm < 0) {
    if (tensor_num_elements(value) < 1) return status_invalid(status, "Size of tensor must be at least 1");
    id = tensor_i64(value)[0];
  }
  if (id == RANDOM_THREE_FRY) {
    return status_set(status, CODE_UNIMPLEMENTED, "Non-XLA devices don't support the ThreeFry algorithm.");
  }
  if (id != RANDOM_PHILOX && id != RANDOM_AUTO)
    return status_invalid(status, "Unsupported algorithm id: %lld", (long long)id);
  return check_size(value, state->skipped, status);
}

bool random_variable_reserve(const KernelContext *context, const RandomVariable *state, uint64_t groups,
                             Philox *generator, Status *status) {
  TRY(variable_prepare_update(state->variable, variable_name(context, 0), kernel_step_id(context),
                              context->pool, status));
  uint64_t *words = (uint64_t *)state->variable->value.data + state->skipped;
  *generator = generator_of(words[0], words[1], words[2]);
  Philox next = *generator;
  philox_skip(&next, groups);
  random_write_key_counter(&next, &words[2], words);
  return true;
}
