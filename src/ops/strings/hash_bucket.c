/* StringToHashBucket, StringToHashBucketFast, StringToHashBucketStrong. */
#include "base/hash64.h"
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/strings/string_elements.h"
#include "ops/support/string_hash.h"

typedef struct BucketState {
  int64_t buckets;
  uint64_t key[2];
} BucketState;

static bool bucket_construct(const KernelConstruction *construction, void *memory, Status *status) {
  return node_attr_int(construction->node, "num_buckets", &((BucketState *)memory)->buckets, status);
}

static bool strong_construct(const KernelConstruction *construction, void *memory, Status *status) {
  BucketState *state = memory;
  const AttrListValue *key;
  TRY(bucket_construct(construction, memory, status));
  TRY(node_attr_list(construction->node, "key", ATTR_INT, &key, status));
  if (!key || key->n_i != 2) return status_invalid(status, "Key must have 2 elements");
  state->key[0] = (uint64_t)key->i[0];
  state->key[1] = (uint64_t)key->i[1];
  return true;
}

typedef uint64_t HashFn(const BucketState *state, Str text);

static uint64_t legacy(const BucketState *state, Str text) { return (void)state, hash64(text); }
static uint64_t fast(const BucketState *state, Str text) { return (void)state, fingerprint64(text); }
static uint64_t strong(const BucketState *state, Str text) { return sip_hash(state->key, text); }

static bool to_hash_bucket(KernelContext *context, Status *status) {
  const BucketState *state = context->state;
  HashFn *hash = (HashFn *)context->data;
  const Tensor *in = context->inputs[0];
  Tensor *out;
  TRY(kernel_allocate_output(context, 0, &in->shape, &out, status));
  for (int64_t i = 0; i < tensor_num_elements(in); i++)
    tensor_i64(out)[i] = (int64_t)(hash(state, string_at(in, i)) % (uint64_t)state->buckets);
  return true;
}

const OpRegistration kOpStringToHashBucket = {
    .name = "StringToHashBucket",
    .inputs = {"string_tensor: string"},
    .outputs = {"output: int64"},
    .attrs = {"num_buckets: int >= 1"},
    .shape = shape_unchanged,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(BucketState),
    .construct = bucket_construct,
    .kernels = {{DT_INVALID, to_hash_bucket, legacy}},
};

const OpRegistration kOpStringToHashBucketFast = {
    .name = "StringToHashBucketFast",
    .inputs = {"input: string"},
    .outputs = {"output: int64"},
    .attrs = {"num_buckets: int >= 1"},
    .shape = shape_unchanged,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(BucketState),
    .construct = bucket_construct,
    .kernels = {{DT_INVALID, to_hash_bucket, fast}},
};

const OpRegistration kOpStringToHashBucketStrong = {
    .name = "StringToHashBucketStrong",
    .inputs = {"input: string"},
    .outputs = {"output: int64"},
    .attrs = {"num_buckets: int >= 1", "key: list(int)"},
    .shape = shape_unchanged,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(BucketState),
    .construct = strong_construct,
    .kernels = {{DT_INVALID, to_hash_bucket, strong}},
};
