/* ShuffleDataset: elements in a random order, drawn from a buffer, in TensorFlow's order for given seeds. */
#include "base/alloc.h"
#include "op/node_def.h"
#include "ops/data/data_iterator.h"
#include "ops/data/seed_generator.h"

typedef struct ShuffleDataset {
  Dataset dataset;
  int64_t buffer_size;
  int64_t rounds;       /* of ShuffleAndRepeatDataset; negative: no limit; else 1 */
  SeedGenerator *seeds; /* one reference */
} ShuffleDataset;

/* The elements of one round that are in the buffer: positions [start, end), modulo its size. */
typedef struct Slice {
  int64_t start, end;
  bool complete; /* the round has no more elements */
} Slice;

typedef struct ShuffleIterator {
  DataIterator iterator;
  Tensor **buffer; /* `capacity` elements */
  int64_t capacity, allocated, count;
  Slice *slices; /* of the rounds with elements, and of the input's round */
  int64_t num_slices, slice_capacity;
  int64_t round; /* that the input is in */
  bool any, ended;
  Tensor *incoming;
  PhiloxStream random;
} ShuffleIterator;

static void draw_seeds(ShuffleIterator *shuffle) {
  uint64_t seeds[2];
  seed_generator_next(((const ShuffleDataset *)shuffle->iterator.dataset)->seeds, seeds);
  shuffle->random = (PhiloxStream){.generator = philox_seed(seeds[0], seeds[1])};
}

static bool begin_slice(ShuffleIterator *shuffle, Status *status) {
  int64_t end = shuffle->num_slices > 0 ? shuffle->slices[shuffle->num_slices - 1].end : 0;
  if (!mem_grow((void **)&shuffle->slices, &shuffle->slice_capacity, shuffle->num_slices + 1,
                sizeof *shuffle->slices))
    return status_oom(status, "an iterator");
  shuffle->slices[shuffle->num_slices++] = (Slice){end, end, false};
  return true;
}

static bool shuffle_begin(DataIterator *iterator, KernelContext *context, Status *status) {
  ShuffleIterator *shuffle = (ShuffleIterator *)iterator;
  shuffle->incoming = data_tensors_new(iterator->dataset->num_components, status);
  draw_seeds(shuffle);
  shuffle->ended = ((const ShuffleDataset *)iterator->dataset)->rounds == 0;
  return shuffle->incoming && begin_slice(shuffle, status) && data_begin_input(iterator, context, status);
}

static void shuffle_finish(DataIterator *iterator) {
  ShuffleIterator *shuffle = (ShuffleIterator *)iterator;
  int width = iterator->dataset->num_components;
  for (int64_t i = 0; i < shuffle->allocated; i++) data_tensors_free(shuffle->buffer[i], width);
  data_tensors_free(shuffle->incoming, width);
  mem_free(shuffle->buffer);
  mem_free(shuffle->slices);
}

/* Stores the incoming element at the end of the last slice. The buffer grows only before the first element
 * leaves it, so positions need not change. */
static bool store(ShuffleIterator *shuffle, Status *status) {
  int width = shuffle->iterator.dataset->num_components;
  int64_t size = ((const ShuffleDataset *)shuffle->iterator.dataset)->buffer_size;
  Slice *last = &shuffle->slices[shuffle->num_slices - 1];
  int64_t at = last->end % size;
  if (at >= shuffle->allocated) {
    if (!mem_grow((void **)&shuffle->buffer, &shuffle->capacity, at + 1, sizeof *shuffle->buffer))
      return status_oom(status, "an iterator");
    shuffle->buffer[at] = data_tensors_new(width, status);
    if (!shuffle->buffer[at]) return false;
    shuffle->allocated = at + 1;
  }
  for (int i = 0; i < width; i++) tensor_move(&shuffle->buffer[at][i], &shuffle->incoming[i]);
  last->end++;
  shuffle->count++;
  return true;
}

/* The input has ended: begins the next round, if there is one. */
static bool end_round(ShuffleIterator *shuffle, KernelContext *context, Status *status) {
  int64_t rounds = ((const ShuffleDataset *)shuffle->iterator.dataset)->rounds;
  data_iterator_free(shuffle->iterator.input);
  shuffle->iterator.input = NULL;
  shuffle->slices[shuffle->num_slices - 1].complete = true;
  shuffle->round++;
  shuffle->ended = (rounds >= 0 && shuffle->round >= rounds) || (rounds < 0 && !shuffle->any);
  if (shuffle->ended) return true;
  return begin_slice(shuffle, status) && data_begin_input(&shuffle->iterator, context, status);
}

static RunState fill(ShuffleIterator *shuffle, KernelContext *context, Status *status) {
  int64_t size = ((const ShuffleDataset *)shuffle->iterator.dataset)->buffer_size;
  while (!shuffle->ended && shuffle->count < size) {
    bool end = false;
    RunState state = data_next(shuffle->iterator.input, context, shuffle->incoming, &end, status);
    if (state != RUN_DONE) return state;
    shuffle->any = shuffle->any || !end;
    if (!(end ? end_round(shuffle, context, status) : store(shuffle, status))) return RUN_FAILED;
  }
  return RUN_DONE;
}

/* Leaves the rounds whose elements have all been given; another one has elements. Each round has seeds of its
 * own. */
static void drop_empty_slices(ShuffleIterator *shuffle) {
  int64_t empty = 0;
  while (shuffle->slices[empty].complete && shuffle->slices[empty].start == shuffle->slices[empty].end) {
    draw_seeds(shuffle);
    empty++;
  }
  shuffle->num_slices -= empty;
  for (int64_t i = 0; empty > 0 && i < shuffle->num_slices; i++)
    shuffle->slices[i] = shuffle->slices[i + empty];
}

static RunState shuffle_next(DataIterator *iterator, KernelContext *context, Tensor *out, bool *end,
                             Status *status) {
  ShuffleIterator *shuffle = (ShuffleIterator *)iterator;
  int64_t size = ((const ShuffleDataset *)iterator->dataset)->buffer_size;
  RunState state = fill(shuffle, context, status);
  if (state != RUN_DONE) return state;
  *end = shuffle->count == 0;
  if (*end) return RUN_DONE;
  drop_empty_slices(shuffle);
  Slice *slice = &shuffle->slices[0];
  int64_t offset = philox_stream_next(&shuffle->random) % (uint64_t)(slice->end - slice->start);
  int64_t index = (slice->start + offset) % size, start = slice->start % size;
  Tensor *chosen = shuffle->buffer[index];
  for (int i = 0; i < iterator->dataset->num_components; i++) tensor_move(&out[i], &chosen[i]);
  shuffle->buffer[index] = shuffle->buffer[start];
  shuffle->buffer[start] = chosen;
  slice->start++;
  shuffle->count--;
  return RUN_DONE;
}

static int64_t shuffle_cardinality(const Dataset *dataset) {
  int64_t rounds = ((const ShuffleDataset *)dataset)->rounds, input = cardinality_of_input(dataset), product;
  if (rounds == 0 || input == 0) return 0;
  if (rounds < 0) return CARDINALITY_INFINITE;
  return input < 0 ? input : __builtin_mul_overflow(rounds, input, &product) ? INT64_MAX : product;
}

static void shuffle_destroy(Dataset *dataset) {
  SeedGenerator *seeds = ((ShuffleDataset *)dataset)->seeds;
  if (seeds) tensor_object_unref(&seeds->resource.object);
}

static const DatasetKind kShuffle = {.iterator_size = sizeof(ShuffleIterator),
                                     .begin = shuffle_begin,
                                     .next = shuffle_next,
                                     .finish = shuffle_finish,
                                     .cardinality = shuffle_cardinality,
                                     .destroy = shuffle_destroy};

/* --- kernels --- */

/* Where the inputs are; 0: the op does not have them. */
typedef struct ShuffleInputs {
  int seeds, count, generator;
} ShuffleInputs;

typedef struct ShuffleState {
  DatasetState base;
  bool reshuffle;
} ShuffleState;

static bool shuffle_construct(const KernelConstruction *construction, void *memory, Status *status) {
  ShuffleState *state = memory;
  const DatasetAttrs *attrs = construction->data;
  const ShuffleInputs *inputs = attrs->variant;
  return dataset_construct(construction, memory, status) &&
         (!inputs->seeds ||
          node_attr_bool(construction->node, "reshuffle_each_iteration", &state->reshuffle, status));
}

/* The generator of the handle, unless that is a dummy; then one with seeds of the inputs. */
static SeedGenerator *find_seeds(KernelContext *context, const ShuffleInputs *inputs, Status *status) {
  const ShuffleState *state = context->state;
  int64_t seed = 0, seed2 = 0;
  SeedGenerator *given = NULL;
  if (inputs->generator && !seed_generator_of_input(context, inputs->generator, &given, status)) return NULL;
  if (given) {
    tensor_object_ref(&given->resource.object);
    return given;
  }
  if (inputs->seeds && (!dataset_int(context, inputs->seeds, "seed", &seed, status) ||
                        !dataset_int(context, inputs->seeds + 1, "seed2", &seed2, status)))
    return NULL;
  return seed_generator_new(seed, seed2, !inputs->seeds || state->reshuffle, status);
}

static bool read_inputs(KernelContext *context, const ShuffleInputs *inputs, ShuffleDataset *made,
                        Status *status) {
  TRY(dataset_add_input(context, 0, &made->dataset, status));
  TRY(dataset_int(context, 1, "buffer_size", &made->buffer_size, status));
  if (made->buffer_size == -1) made->buffer_size = INT64_MAX; /* all elements */
  if (made->buffer_size < 1)
    return status_invalid(status, "buffer_size must be greater than zero or UNKNOWN_CARDINALITY");
  made->rounds = 1;
  if (inputs->count) TRY(dataset_int(context, inputs->count, "count", &made->rounds, status));
  made->seeds = find_seeds(context, inputs, status);
  return made->seeds != NULL;
}

static bool shuffle_dataset(KernelContext *context, Status *status) {
  const DatasetAttrs *attrs = context->data;
  ShuffleDataset *made = dataset_new(context, &kShuffle, sizeof *made, status);
  if (!made) return false;
  if (!read_inputs(context, attrs->variant, made, status)) return dataset_drop(&made->dataset);
  dataset_take_types(&made->dataset);
  return dataset_output(context, &made->dataset, status);
}

static const ShuffleInputs kFirst = {.seeds = 2}, kSecond = {.generator = 2},
                           kThird = {.seeds = 2, .generator = 4}, kRepeat = {.seeds = 2, .count = 4},
                           kRepeatSecond = {.seeds = 2, .count = 4, .generator = 5};
static const DatasetAttrs kShuffleAttrs = {.types = "output_types", .variant = &kFirst},
                          kShuffleV2Attrs = {.types = "output_types", .variant = &kSecond},
                          kShuffleV3Attrs = {.types = "output_types", .variant = &kThird},
                          kRepeatAttrs = {.types = "output_types", .variant = &kRepeat},
                          kRepeatV2Attrs = {.types = "output_types", .variant = &kRepeatSecond};

#define SHUFFLE_OUTPUT                                                                   \
  .outputs = {"handle: variant"}, .shape = shape_scalar_output, .gradient = NO_GRADIENT, \
  .state_size = sizeof(ShuffleState), .construct = shuffle_construct
#define SHUFFLE_INPUTS "input_dataset: variant", "buffer_size: int64"
#define SEEDS "seed: int64", "seed2: int64"

const OpRegistration kOpShuffleDataset = {
    .name = "ShuffleDataset",
    .inputs = {SHUFFLE_INPUTS, SEEDS},
    .attrs = {"reshuffle_each_iteration: bool = true", DATASET_TYPES, DATASET_METADATA},
    SHUFFLE_OUTPUT,
    .kernels = {{DT_INVALID, shuffle_dataset, &kShuffleAttrs}},
};

const OpRegistration kOpShuffleDatasetV2 = {
    .name = "ShuffleDatasetV2",
    .inputs = {SHUFFLE_INPUTS, "seed_generator: resource"},
    .attrs = {DATASET_TYPES, DATASET_METADATA},
    .is_stateful = true,
    SHUFFLE_OUTPUT,
    .kernels = {{DT_INVALID, shuffle_dataset, &kShuffleV2Attrs}},
};

const OpRegistration kOpShuffleDatasetV3 = {
    .name = "ShuffleDatasetV3",
    .inputs = {SHUFFLE_INPUTS, SEEDS, "seed_generator: resource"},
    .attrs = {"reshuffle_each_iteration: bool = true", DATASET_TYPES, DATASET_METADATA},
    .is_stateful = true,
    SHUFFLE_OUTPUT,
    .kernels = {{DT_INVALID, shuffle_dataset, &kShuffleV3Attrs}},
};

const OpRegistration kOpShuffleAndRepeatDataset = {
    .name = "ShuffleAndRepeatDataset",
    .inputs = {SHUFFLE_INPUTS, SEEDS, "count: int64"},
    .attrs = {DATASET_TYPES, "reshuffle_each_iteration: bool = true", DATASET_METADATA},
    SHUFFLE_OUTPUT,
    .kernels = {{DT_INVALID, shuffle_dataset, &kRepeatAttrs}},
};

const OpRegistration kOpShuffleAndRepeatDatasetV2 = {
    .name = "ShuffleAndRepeatDatasetV2",
    .inputs = {SHUFFLE_INPUTS, SEEDS, "count: int64", "seed_generator: resource"},
    .attrs = {"reshuffle_each_iteration: bool = true", DATASET_TYPES, DATASET_METADATA},
    .is_stateful = true,
    SHUFFLE_OUTPUT,
    .kernels = {{DT_INVALID, shuffle_dataset, &kRepeatV2Attrs}},
};
