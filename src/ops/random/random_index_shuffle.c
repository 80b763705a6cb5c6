/* RandomIndexShuffle: where an index is in a random permutation of 0 to max_index. The permutation is a block
 * cipher (Beaulieu et al., "The Simon and Speck families of lightweight block ciphers", 2013) with a few
 * rounds, which is applied until its result is in the range. */
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/support/element_types.h"

enum { KEY_WORDS = 3, LEAST_BITS = 16, MOST_ROUNDS = 1024 };

typedef struct ShuffleState {
  int64_t rounds;
} ShuffleState;

static bool shuffle_construct(const KernelConstruction *construction, void *memory, Status *status) {
  ShuffleState *state = memory;
  TRY(node_attr_int(construction->node, "rounds", &state->rounds, status));
  if (state->rounds >= 4 && state->rounds % 2 == 0 && state->rounds <= MOST_ROUNDS) return true;
  return status_invalid(status, "rounds must be even and between 4 and %d, got %lld", MOST_ROUNDS,
                        (long long)state->rounds);
}

/* A word of the cipher has `bits` bits, 8 to 32. */
static uint64_t rotate_left(uint64_t x, int by, int bits) {
  uint64_t mask = (UINT64_C(1) << bits) - 1;
  return (x << by | x >> (bits - by)) & mask;
}

static uint64_t mix(uint64_t x, int bits) {
  return (rotate_left(x, 1, bits) & rotate_left(x, 8 % bits, bits)) ^ rotate_left(x, 2, bits);
}

/* The keys of the rounds. */
static void expand_key(const uint32_t key[KEY_WORDS], int rounds, int bits, uint64_t *keys) {
  uint64_t mask = (UINT64_C(1) << bits) - 1, z = UINT64_C(0x7369f885192c0ef5) & mask;
  for (int i = 0; i < KEY_WORDS; i++) keys[i] = key[i] & mask;
  for (int i = KEY_WORDS; i < rounds; i++, z >>= 1) {
    uint64_t turned = rotate_left(keys[i - 1], bits - 3, bits) ^ rotate_left(keys[i - 1], bits - 4, bits);
    keys[i] = (UINT64_C(0xfffffffc) & mask) ^ (z & 1) ^ keys[i - KEY_WORDS] ^ turned;
  }
}

static uint64_t encrypt(uint64_t value, const uint64_t *keys, int rounds, int bits) {
  uint64_t mask = (UINT64_C(1) << bits) - 1, left = value >> bits & mask, right = value & mask;
  for (int i = 0; i < rounds; i += 2) {
    left ^= mix(right, bits) ^ keys[i];
    right ^= mix(left, bits) ^ keys[i + 1];
  }
  return left << bits | right;
}

/* The bits of a block: an even number, in which max_index fits if it is not a power of two. */
static int block_bits(uint64_t max_index) {
  int bits = 0;
  while (bits < 64 && (UINT64_C(1) << bits) < max_index) bits++;
  bits += bits % 2;
  return bits < LEAST_BITS ? LEAST_BITS : bits;
}

static uint64_t shuffled(uint64_t index, const uint32_t key[KEY_WORDS], uint64_t max_index, int rounds) {
  uint64_t keys[MOST_ROUNDS];
  if (max_index == 0) return 0;
  int bits = block_bits(max_index) / 2;
  expand_key(key, rounds, bits, keys);
  do index = encrypt(index, keys, rounds, bits);
  while (index > max_index);
  return index;
}

/* Whether the tensor is a scalar or a vector of `count` elements. */
static bool scalar_or_vector(const Tensor *tensor, int64_t count) {
  return tensor_is_scalar(tensor) || (tensor_is_vector(tensor) && tensor_num_elements(tensor) == count);
}

static bool check_inputs(const KernelContext *context, int64_t count, Status *status) {
  const Tensor *index = context->inputs[0], *seed = context->inputs[1], *limit = context->inputs[2];
  char text[SHAPE_TEXT_CAPACITY];
  if (!scalar_or_vector(index, count)) return status_invalid(status, "Index bust be a scalar or vector.");
  bool one = tensor_is_vector(seed) && tensor_num_elements(seed) == KEY_WORDS;
  bool many =
      seed->shape.rank == 2 && shape_dim(&seed->shape, 0) == count && shape_dim(&seed->shape, 1) == KEY_WORDS;
  if (!one && !many) {
    return status_invalid(status,
                          "Seed must be a vector of size [3] or a matrix of size [%lld, 3] but got %s.",
                          (long long)count, shape_text(&seed->shape, text));
  }
  if (!scalar_or_vector(limit, count)) {
    return status_invalid(status, "Maxval must be a scalar or a vector of the same size as index but got %s",
                          shape_text(&limit->shape, text));
  }
  return true;
}

static bool check_values(DataType type, int64_t index, int64_t limit, Status *status) {
  bool is_signed = type == DT_INT32 || type == DT_INT64;
  if (is_signed && index < 0)
    return status_invalid(status, "index must be >= 0 but was %lld", (long long)index);
  if (is_signed && limit < 0)
    return status_invalid(status, "max_index must be >= 0 but was %lld", (long long)limit);
  if ((uint64_t)limit >= (uint64_t)index) return true;
  return status_invalid(status, "max_index must be >= index, but %llu < %llu", (unsigned long long)limit,
                        (unsigned long long)index);
}

static void put(Tensor *out, int64_t i, uint64_t value) {
  if (dtype_size(out->dtype) == 4) ((uint32_t *)out->data)[i] = (uint32_t)value;
  else ((uint64_t *)out->data)[i] = value;
}

static bool index_shuffle(KernelContext *context, Status *status) {
  const Tensor *index = context->inputs[0], *seed = context->inputs[1], *limit = context->inputs[2];
  int64_t count = tensor_num_elements(index), seeds = tensor_num_elements(seed) / KEY_WORDS;
  if (tensor_num_elements(limit) > count) count = tensor_num_elements(limit);
  if (seeds > count) count = seeds;
  Tensor *out;
  TRY(check_inputs(context, count, status));
  bool scalar = index->shape.rank == 0 && seed->shape.rank == 1 && limit->shape.rank == 0;
  TRY(kernel_allocate_output_dims(context, 0, scalar ? 0 : 1, &count, &out, status));
  for (int64_t i = 0; i < count; i++) {
    uint32_t key[KEY_WORDS];
    int64_t row = seed->shape.rank == 1 ? 0 : i;
    for (int k = 0; k < KEY_WORDS; k++) key[k] = (uint32_t)tensor_int_at(seed, KEY_WORDS * row + k);
    int64_t from = tensor_int_at(index, index->shape.rank == 0 ? 0 : i),
            most = tensor_int_at(limit, limit->shape.rank == 0 ? 0 : i);
    TRY(check_values(index->dtype, from, most, status));
    put(out, i,
        shuffled((uint64_t)from, key, (uint64_t)most, (int)((const ShuffleState *)context->state)->rounds));
  }
  return true;
}

static bool index_shuffle_shape(InferenceContext *c, Status *status) {
  ShapeHandle index, seed, limit, shape;
  TRY(shape_with_rank_at_most(c, shape_input(c, 0), 1, &index, status));
  TRY(shape_with_rank_at_least(c, shape_input(c, 1), 1, &seed, status));
  TRY(shape_with_rank_at_most(c, seed, 2, &seed, status));
  TRY(shape_with_rank_at_most(c, shape_input(c, 2), 1, &limit, status));
  bool known = shape_rank_known(index) && shape_rank_known(seed) && shape_rank_known(limit);
  if (!known) return shape_unknown_outputs(c, status);
  ShapeHandle longest = shape_rank(seed) == 2 ? seed : shape_rank(index) == 1 ? index : limit;
  if (shape_rank(longest) == 0) return shape_scalar_output(c, status);
  TRY(shape_ok(shape_vector(c, shape_dim_of(c, longest, 0)), &shape, status));
  shape_set_output(c, 0, shape);
  return true;
}

const OpRegistration kOpRandomIndexShuffle = {
    .name = "RandomIndexShuffle",
    .inputs = {"index: dtype", "seed: Tseed", "max_index: dtype"},
    .outputs = {"output: dtype"},
    .attrs = {"rounds: int = 4", "dtype: {int32, uint32, int64, uint64}",
              "Tseed: {int32, uint32, int64, uint64}"},
    .shape = index_shuffle_shape,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(ShuffleState),
    .construct = shuffle_construct,
    .kernels = {INT_KERNELS(index_shuffle), UNSIGNED_KERNELS(index_shuffle)},
};
