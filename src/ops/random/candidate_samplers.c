/* Candidate samplers: classes that a loss contrasts with the true ones, and how often each is expected. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file_store.h"
#include "base/sync.h"
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/random/random_fill.h"
#include "ops/random/range_sampler.h"

/* TensorFlow reserves 2048 words for each candidate. */
enum { GROUPS_PER_CANDIDATE = 512, VOCABULARY_LIMIT = 1 << 30 };

typedef struct SamplerState {
  RandomState random;
  RangeSampler sampler;
  Mutex mutex; /* of the sampler, which may learn */
  bool has_mutex, unique;
  int64_t num_true, num_sampled;
} SamplerState;

/* --- attrs --- */

static bool read_common(const KernelConstruction *construction, SamplerState *state, Status *status) {
  const NodeDef *node = construction->node;
  TRY(random_state_construct(construction, &state->random, status));
  TRY(node_attr_int(node, "num_true", &state->num_true, status));
  TRY(node_attr_int(node, "num_sampled", &state->num_sampled, status));
  TRY(node_attr_bool(node, "unique", &state->unique, status));
  state->has_mutex = mutex_init(&state->mutex);
  if (!state->has_mutex) return status_oom(status, "a sampler");
  if (state->num_sampled < 1 || state->num_sampled > INT32_MAX)
    return status_invalid(status, "num_sampled must be in [1, %d]", INT32_MAX);
  return state->num_true >= 1 || status_invalid(status, "num_true must be positive");
}

/* The data is the RangeKind. */
static bool sampler_construct(const KernelConstruction *construction, void *memory, Status *status) {
  SamplerState *state = memory;
  state->sampler.kind = *(const RangeKind *)construction->data;
  TRY(read_common(construction, state, status));
  TRY(node_attr_int(construction->node, "range_max", &state->sampler.range, status));
  if (state->sampler.range <= 0) return status_invalid(status, "range_max must be positive");
  return state->sampler.kind != RANGE_LEARNED || range_sampler_learn(&state->sampler, status);
}

static bool all_construct(const KernelConstruction *construction, void *memory, Status *status) {
  SamplerState *state = memory;
  TRY(read_common(construction, state, status));
  state->sampler.range = state->num_sampled;
  return true;
}

static void sampler_destroy(void *memory) {
  SamplerState *state = memory;
  range_sampler_clear(&state->sampler);
  if (state->has_mutex) mutex_destroy(&state->mutex);
}

/* --- weights of FixedUnigramCandidateSampler --- */

typedef struct Weights {
  float *values; /* of `range` classes; more are counted only */
  int64_t count, range, word, num_shards, shard;
  float distortion, total;
} Weights;

static void add_word(Weights *weights, float weight, bool reserved) {
  if (weights->word++ % weights->num_shards != weights->shard) return;
  float value = reserved ? 0 : powf(weight, weights->distortion);
  weights->total += value;
  if (weights->count < weights->range) weights->values[weights->count] = value;
  weights->count++;
}

/* The last field of each line is a weight. */
static bool add_file(Weights *weights, Str path, Status *status) {
  char name[FILE_PATH_MAX + 1], *bytes;
  int64_t size;
  TRY(file_path(path, name, status));
  TRY(file_read_all(name, VOCABULARY_LIMIT, &bytes, &size, status));
  bool ok = true;
  for (char *line = bytes, *end = bytes + size; ok && line < end;) {
    char *stop = memchr(line, '\n', (size_t)(end - line)), *after;
    if (!stop) stop = end;
    *stop = 0;
    char *comma = strrchr(line, ',');
    char *field = comma ? comma + 1 : line;
    float weight = strtof(field, &after);
    while (*after == ' ' || *after == '\r') after++;
    ok = after != field && *after == 0;
    if (ok) add_word(weights, weight, false);
    else status_invalid(status, "Wrong vocabulary format at line: %s", line);
    line = stop + 1;
  }
  mem_free(bytes);
  return ok;
}

static bool read_weights(const NodeDef *node, Weights *weights, Status *status) {
  Str file;
  int64_t reserved;
  const AttrListValue *unigrams;
  TRY(node_attr_string(node, "vocab_file", &file, status));
  TRY(node_attr_list(node, "unigrams", ATTR_FLOAT, &unigrams, status));
  TRY(node_attr_int(node, "num_reserved_ids", &reserved, status));
  TRY(node_attr_int(node, "num_shards", &weights->num_shards, status));
  TRY(node_attr_int(node, "shard", &weights->shard, status));
  TRY(node_attr_float(node, "distortion", &weights->distortion, status));
  if (weights->num_shards < 1) return status_invalid(status, "num_shards must be positive");
  if (file.length == 0 && unigrams->n_f == 0)
    return status_invalid(status, "Must provide either vocab_file or unigrams.");
  if (file.length > 0 && unigrams->n_f > 0)
    return status_invalid(status, "Must only provide one of vocab_file and unigrams.");
  for (int64_t i = 0; i < reserved && weights->count <= weights->range; i++) add_word(weights, 0, true);
  /* TensorFlow counts the words behind the reserved ones from the number of weights of this shard. */
  weights->word = weights->count;
  for (size_t i = 0; i < unigrams->n_f; i++) add_word(weights, unigrams->f[i], false);
  return file.length == 0 || add_file(weights, file, status);
}

static bool fixed_construct(const KernelConstruction *construction, void *memory, Status *status) {
  SamplerState *state = memory;
  TRY(sampler_construct(construction, memory, status));
  int64_t range = state->sampler.range;
  Weights weights = {.range = range};
  weights.values = mem_calloc(range, sizeof *weights.values);
  if (!weights.values) return status_oom(status, "the weights of classes");
  bool ok = read_weights(construction->node, &weights, status);
  if (ok && weights.count != range) {
    ok = status_invalid(status, "range is %lld must be equal to weights size  %lld", (long long)range,
                        (long long)weights.count);
  }
  if (ok) return range_sampler_weigh(&state->sampler, weights.values, weights.total, status);
  mem_free(weights.values);
  return false;
}

/* --- drawing --- */

/* Classes that were drawn: open addressing in a table of a power of two slots, with class + 1. */
typedef struct DrawnSet {
  int64_t *slots, mask;
} DrawnSet;

static bool insert(DrawnSet *set, int64_t value) {
  int64_t at = (int64_t)((uint64_t)value * 0x9E3779B97F4A7C15u >> 32) & set->mask;
  while (set->slots[at] != 0) {
    if (set->slots[at] == value + 1) return false;
    at = (at + 1) & set->mask;
  }
  set->slots[at] = value + 1;
  return true;
}

/* Different classes; *tries is the number of draws. */
static bool draw_unique(KernelContext *context, const SamplerState *state, PhiloxStream *random, int64_t *out,
                        int64_t *tries, Status *status) {
  DrawnSet set = {.mask = 1};
  while (set.mask < 2 * state->num_sampled) set.mask *= 2;
  Buffer *scratch = kernel_scratch(context, set.mask * (int64_t)sizeof *set.slots, status);
  if (!scratch) return false;
  set.slots = memset(scratch->data, 0, (size_t)set.mask * sizeof *set.slots);
  set.mask--;
  int64_t picked = 0;
  for (*tries = 0; picked < state->num_sampled && *tries < INT32_MAX && !work_is_stopped_in_round(*tries);) {
    int64_t value = range_sampler_draw(&state->sampler, random);
    ++*tries;
    if (insert(&set, value)) out[picked++] = value;
  }
  buffer_unref(scratch);
  return picked == state->num_sampled ||
         status_set(status, CODE_INTERNAL, "The sampler did not find %lld different classes",
                    (long long)state->num_sampled);
}

/* How often a class of that probability is among the candidates, if they had always taken that many draws. */
static float expected_count(float probability, int64_t candidates, int64_t tries) {
  if (tries == candidates) return probability * (float)candidates;
  return -expm1f((float)tries * log1pf(-probability));
}

static void expect(const SamplerState *state, const int64_t *values, int64_t count, int64_t tries,
                   float *out) {
  for (int64_t i = 0; i < count; i++)
    out[i] = expected_count(range_sampler_probability(&state->sampler, values[i]), state->num_sampled, tries);
}

static bool check_true_classes(const SamplerState *state, const Tensor *classes, Status *status) {
  if (classes->shape.rank != 2) return status_invalid(status, "true_classes must be a matrix");
  if (shape_dim(&classes->shape, 1) != state->num_true) {
    return status_invalid(status, "true_classes must have num_true columns, expected: %lld was: %lld",
                          (long long)shape_dim(&classes->shape, 1), (long long)state->num_true);
  }
  if (state->unique && state->num_sampled > state->sampler.range)
    return status_invalid(status, "Sampler's range is too small.");
  for (int64_t i = 0; i < tensor_num_elements(classes); i++) {
    int64_t value = tensor_i64(classes)[i];
    if (value >= 0 && value < state->sampler.range) continue;
    return status_invalid(status, "`true_candidate` out of range [0, %lld), received %lld",
                          (long long)state->sampler.range, (long long)value);
  }
  return true;
}

static bool allocate_outputs(KernelContext *context, Tensor *outputs[3], Status *status) {
  const SamplerState *state = context->state;
  const Tensor *classes = context->inputs[0];
  return check_true_classes(state, classes, status) &&
         kernel_allocate_output_dims(context, 0, 1, &state->num_sampled, &outputs[0], status) &&
         kernel_allocate_output(context, 1, &classes->shape, &outputs[1], status) &&
         kernel_allocate_output_dims(context, 2, 1, &state->num_sampled, &outputs[2], status);
}

static bool draw(KernelContext *context, SamplerState *state, Tensor *outputs[3], Status *status) {
  const Tensor *classes = context->inputs[0];
  int64_t *sampled = tensor_i64(outputs[0]), tries = state->num_sampled;
  uint64_t groups = (uint64_t)state->num_sampled * GROUPS_PER_CANDIDATE;
  PhiloxStream random = {.generator = random_state_reserve(&state->random, groups)};
  if (state->unique) {
    TRY(draw_unique(context, state, &random, sampled, &tries, status));
  } else {
    for (int64_t i = 0; i < state->num_sampled; i++)
      sampled[i] = range_sampler_draw(&state->sampler, &random);
  }
  int64_t num_classes = tensor_num_elements(classes);
  expect(state, sampled, state->num_sampled, tries, tensor_f32(outputs[2]));
  expect(state, tensor_i64(classes), num_classes, tries, tensor_f32(outputs[1]));
  if (state->sampler.kind == RANGE_LEARNED)
    range_sampler_update(&state->sampler, tensor_i64(classes), num_classes);
  return true;
}

static bool sample_candidates(KernelContext *context, Status *status) {
  SamplerState *state = context->state;
  Tensor *outputs[3];
  TRY(allocate_outputs(context, outputs, status));
  mutex_lock(&state->mutex);
  bool ok = draw(context, state, outputs, status);
  mutex_unlock(&state->mutex);
  return ok;
}

static bool all_candidates(KernelContext *context, Status *status) {
  Tensor *outputs[3];
  TRY(allocate_outputs(context, outputs, status));
  for (int64_t i = 0; i < tensor_num_elements(outputs[0]); i++) {
    tensor_i64(outputs[0])[i] = i;
    tensor_f32(outputs[2])[i] = 1;
  }
  for (int64_t i = 0; i < tensor_num_elements(outputs[1]); i++) tensor_f32(outputs[1])[i] = 1;
  return true;
}

/* --- ops --- */

static bool sampler_shape(InferenceContext *c, Status *status) {
  int64_t num_sampled, num_true;
  ShapeHandle classes, sampled, counts;
  DimHandle candidates;
  TRY(node_attr_int(c->node, "num_sampled", &num_sampled, status));
  TRY(node_attr_int(c->node, "num_true", &num_true, status));
  TRY(shape_with_rank(c, shape_input(c, 0), 2, &classes, status));
  TRY(dim_ok(dim_make(c, num_sampled), &candidates, status));
  TRY(shape_ok(shape_vector(c, candidates), &sampled, status));
  TRY(shape_ok(shape_matrix(c, shape_dim_of(c, classes, 0), dim_make(c, num_true)), &counts, status));
  shape_set_output(c, 0, sampled);
  shape_set_output(c, 1, counts);
  shape_set_output(c, 2, sampled);
  return true;
}

static const RangeKind kUniform = RANGE_UNIFORM, kLogUniform = RANGE_LOG_UNIFORM, kLearned = RANGE_LEARNED,
                       kFixed = RANGE_FIXED;

#define CANDIDATES                                                                                          \
  .inputs = {"true_classes: int64"},                                                                        \
  .outputs = {"sampled_candidates: int64", "true_expected_count: float", "sampled_expected_count: float"},  \
  .is_stateful = true, .shape = sampler_shape, .gradient = NO_GRADIENT, .state_size = sizeof(SamplerState), \
  .destroy = sampler_destroy
#define COUNTS "num_true: int >= 1", "num_sampled: int >= 1", "unique: bool"
#define SEEDS "seed: int = 0", "seed2: int = 0"

const OpRegistration kOpUniformCandidateSampler = {
    .name = "UniformCandidateSampler",
    CANDIDATES,
    .attrs = {COUNTS, "range_max: int >= 1", SEEDS},
    .construct = sampler_construct,
    .kernels = {{DT_INVALID, sample_candidates, &kUniform}},
};

const OpRegistration kOpLogUniformCandidateSampler = {
    .name = "LogUniformCandidateSampler",
    CANDIDATES,
    .attrs = {COUNTS, "range_max: int >= 1", SEEDS},
    .construct = sampler_construct,
    .kernels = {{DT_INVALID, sample_candidates, &kLogUniform}},
};

const OpRegistration kOpLearnedUnigramCandidateSampler = {
    .name = "LearnedUnigramCandidateSampler",
    CANDIDATES,
    .attrs = {COUNTS, "range_max: int >= 1", SEEDS},
    .construct = sampler_construct,
    .kernels = {{DT_INVALID, sample_candidates, &kLearned}},
};

const OpRegistration kOpThreadUnsafeUnigramCandidateSampler = {
    .name = "ThreadUnsafeUnigramCandidateSampler",
    CANDIDATES,
    .attrs = {COUNTS, "range_max: int >= 1", SEEDS},
    .construct = sampler_construct,
    .kernels = {{DT_INVALID, sample_candidates, &kLearned}},
};

const OpRegistration kOpFixedUnigramCandidateSampler = {
    .name = "FixedUnigramCandidateSampler",
    CANDIDATES,
    .attrs = {COUNTS, "range_max: int >= 1", "vocab_file: string = ''", "distortion: float = 1.0",
              "num_reserved_ids: int = 0", "num_shards: int >= 1 = 1", "shard: int >= 0 = 0",
              "unigrams: list(float) = []", SEEDS},
    .construct = fixed_construct,
    .kernels = {{DT_INVALID, sample_candidates, &kFixed}},
};

const OpRegistration kOpAllCandidateSampler = {
    .name = "AllCandidateSampler",
    CANDIDATES,
    .attrs = {COUNTS, SEEDS},
    .construct = all_construct,
    .kernels = {{DT_INVALID, all_candidates}},
};
