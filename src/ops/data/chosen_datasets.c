/* Datasets that leave out elements of others: ShardDataset, UniqueDataset and IgnoreErrorsDataset. */
#include "base/string_map.h"
#include "op/node_def.h"
#include "ops/data/data_iterator.h"

/* --- ShardDataset: every `count`-th element, from `index` on --- */

typedef struct ShardDataset {
  Dataset dataset;
  int64_t count, index;
  bool required; /* every shard must have an element */
} ShardDataset;

typedef struct ShardIterator {
  DataIterator iterator;
  int64_t at;   /* elements of the input so far */
  Tensor *held; /* the first element, while the others of its round are counted */
  bool holds;
} ShardIterator;

static bool shard_begin(DataIterator *iterator, KernelContext *context, Status *status) {
  ShardIterator *shard = (ShardIterator *)iterator;
  shard->held = data_tensors_new(iterator->dataset->num_components, status);
  return shard->held && data_begin_input(iterator, context, status);
}

static void shard_finish(DataIterator *iterator) {
  data_tensors_free(((ShardIterator *)iterator)->held, iterator->dataset->num_components);
}

/* `found`: the elements after the shard's own in the first round, which TensorFlow names. */
static RunState refuse_few(const ShardDataset *shard, int64_t found, Status *status) {
  status_invalid(
      status,
      "Could not apply FILE based sharding: the dataset only has %lld file(s), which is not enough "
      "for the required %lld shards/workers. If you are using datasets with distribution strategy, "
      "consider setting the auto sharding policy to either DATA or OFF using the "
      "`experimental_distribute.auto_shard_policy` option of `tf.data.Options()`. Or, split your "
      "input files into a larger number of small files such that number of files is greater than "
      "number of shards/workers.",
      (long long)found, (long long)shard->count);
  return RUN_FAILED;
}

/* If every shard must have an element, the first one is given after the others of its round were counted. */
static RunState shard_next(DataIterator *iterator, KernelContext *context, Tensor *out, bool *end,
                           Status *status) {
  ShardIterator *shard = (ShardIterator *)iterator;
  const ShardDataset *dataset = (const ShardDataset *)iterator->dataset;
  int width = iterator->dataset->num_components;
  for (;;) {
    if (shard->holds && shard->at == dataset->count) {
      for (int i = 0; i < width; i++) tensor_move(&out[i], &shard->held[i]);
      shard->holds = false;
      return RUN_DONE;
    }
    RunState state = data_next(iterator->input, context, out, end, status);
    if (state != RUN_DONE) return state;
    if (*end) return shard->holds ? refuse_few(dataset, shard->at - dataset->index - 1, status) : RUN_DONE;
    bool mine = shard->at % dataset->count == dataset->index, first = shard->at++ < dataset->count;
    if (mine && !(first && dataset->required)) return RUN_DONE;
    for (int i = 0; mine && i < width; i++) tensor_move(&shard->held[i], &out[i]);
    shard->holds = shard->holds || mine;
    data_tensors_clear(out, width);
  }
}

static int64_t shard_cardinality(const Dataset *dataset) {
  const ShardDataset *shard = (const ShardDataset *)dataset;
  int64_t input = cardinality_of_input(dataset);
  if (input < 0) return input;
  return input / shard->count + (shard->index < input % shard->count);
}

static const DatasetKind kShard = {.iterator_size = sizeof(ShardIterator),
                                   .begin = shard_begin,
                                   .next = shard_next,
                                   .finish = shard_finish,
                                   .cardinality = shard_cardinality};

typedef struct ShardState {
  DatasetState base;
  bool required;
} ShardState;

static bool shard_construct(const KernelConstruction *construction, void *memory, Status *status) {
  ShardState *state = memory;
  return dataset_construct(construction, memory, status) &&
         node_attr_bool(construction->node, "require_non_empty", &state->required, status);
}

static bool read_shard(KernelContext *context, ShardDataset *made, Status *status) {
  TRY(dataset_add_input(context, 0, &made->dataset, status));
  TRY(dataset_int(context, 1, "num_shards", &made->count, status));
  TRY(dataset_int(context, 2, "index", &made->index, status));
  made->required = ((const ShardState *)context->state)->required;
  if (made->count <= 0) {
    return status_invalid(status, "Number of shards must be greater than zero (currently num_shards = %lld).",
                          (long long)made->count);
  }
  return (made->index >= 0 && made->index < made->count) ||
         status_invalid(status, "Index must be between 0 and %lld (currently index = %lld).",
                        (long long)made->count - 1, (long long)made->index);
}

static bool shard_dataset(KernelContext *context, Status *status) {
  ShardDataset *made = dataset_new(context, &kShard, sizeof *made, status);
  if (!made) return false;
  if (!read_shard(context, made, status)) return dataset_drop(&made->dataset);
  dataset_take_types(&made->dataset);
  return dataset_output(context, &made->dataset, status);
}

const OpRegistration kOpShardDataset = {
    .name = "ShardDataset",
    .inputs = {"input_dataset: variant", "num_shards: int64", "index: int64"},
    .outputs = {"handle: variant"},
    .attrs = {"require_non_empty: bool = false", DATASET_TYPES, DATASET_METADATA},
    .shape = shape_scalar_output,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(ShardState),
    .construct = shard_construct,
    .kernels = {{DT_INVALID, shard_dataset, &kDatasetAttrs}},
};

/* --- UniqueDataset: the elements that did not come before --- */

typedef struct UniqueIterator {
  DataIterator iterator;
  Arena *arena; /* of the keys */
  StringMap seen;
} UniqueIterator;

static bool unique_begin(DataIterator *iterator, KernelContext *context, Status *status) {
  UniqueIterator *unique = (UniqueIterator *)iterator;
  unique->arena = arena_new();
  if (!unique->arena) return status_oom(status, "an iterator");
  return data_begin_input(iterator, context, status);
}

static void unique_finish(DataIterator *iterator) {
  UniqueIterator *unique = (UniqueIterator *)iterator;
  string_map_free(&unique->seen);
  if (unique->arena) arena_free(unique->arena);
}

/* The shape and the values as bytes. */
static void print_key(const Tensor *element, StrBuf *key) {
  for (int d = 0; d < element->shape.rank; d++)
    strbuf_printf(key, "%lld,", (long long)shape_dim(&element->shape, d));
  strbuf_append_char(key, ':');
  if (element->dtype != DT_STRING) {
    strbuf_append_bytes(key, element->data, (size_t)tensor_bytes(element));
    return;
  }
  for (int64_t i = 0, count = tensor_num_elements(element); i < count; i++) {
    Str text = tstring_view(&tensor_strings(element)[i]);
    strbuf_printf(key, "%zu:", text.length);
    strbuf_append_bytes(key, text.data, text.length);
  }
}

static bool note_element(UniqueIterator *unique, const Tensor *element, bool *is_new, Status *status) {
  StrBuf key = {0};
  print_key(element, &key);
  bool ok = strbuf_ok(&key, status);
  *is_new = ok && !string_map_find_bytes(&unique->seen, strbuf_text(&key), key.length);
  if (*is_new) {
    const char *kept = arena_strndup(unique->arena, strbuf_text(&key), key.length);
    ok = (kept || status_oom(status, "an iterator")) &&
         string_map_set_bytes(&unique->seen, kept, key.length, unique, status);
  }
  strbuf_free(&key);
  return ok;
}

static RunState unique_next(DataIterator *iterator, KernelContext *context, Tensor *out, bool *end,
                            Status *status) {
  UniqueIterator *unique = (UniqueIterator *)iterator;
  for (;;) {
    bool is_new = false;
    RunState state = data_next(iterator->input, context, out, end, status);
    if (state != RUN_DONE || *end) return state;
    if (!note_element(unique, &out[0], &is_new, status)) return RUN_FAILED;
    if (is_new) return RUN_DONE;
    tensor_clear(&out[0]);
  }
}

static const DatasetKind kUnique = {.iterator_size = sizeof(UniqueIterator),
                                    .begin = unique_begin,
                                    .next = unique_next,
                                    .finish = unique_finish,
                                    .cardinality = cardinality_unknown};

static bool check_unique(const Dataset *input, Status *status) {
  if (input->num_components != 1)
    return status_invalid(status, "UniqueDataset only supports inputs with a single component.");
  DataType type = input->types[0];
  return type == DT_INT32 || type == DT_INT64 || type == DT_STRING ||
         status_invalid(status,
                        "UniqueDataset only supports inputs with a single `tf.int32`, `tf.int64`, or "
                        "`tf.string` component.");
}

static bool unique_dataset(KernelContext *context, Status *status) {
  Dataset *made = dataset_new(context, &kUnique, sizeof *made, status);
  if (!made || !dataset_add_input(context, 0, made, status) || !check_unique(made->inputs[0], status))
    return dataset_drop(made);
  dataset_take_types(made);
  return dataset_output(context, made, status);
}

const OpRegistration kOpUniqueDataset = {
    .name = "UniqueDataset",
    .inputs = {"input_dataset: variant"},
    .attrs = {DATASET_TYPES, DATASET_METADATA},
    DATASET_OUTPUT,
    .kernels = {{DT_INVALID, unique_dataset, &kDatasetAttrs}},
};

const OpRegistration kOpExperimentalUniqueDataset = {
    .name = "ExperimentalUniqueDataset",
    .inputs = {"input_dataset: variant"},
    .attrs = {DATASET_TYPES},
    DATASET_OUTPUT,
    .kernels = {{DT_INVALID, unique_dataset, &kDatasetAttrs}},
};

/* --- IgnoreErrorsDataset: elements that fail are left out --- */

/* The end of the step, and memory that ran out, are no errors of an element. */
static bool is_of_element(const KernelContext *context, const Status *status) {
  return status->code != CODE_CANCELLED && status->code != CODE_DEADLINE_EXCEEDED &&
         status->code != CODE_RESOURCE_EXHAUSTED && !(context->step && context->step->ended);
}

static RunState ignore_next(DataIterator *iterator, KernelContext *context, Tensor *out, bool *end,
                            Status *status) {
  for (;;) {
    RunState state = data_next(iterator->input, context, out, end, status);
    if (state != RUN_FAILED || !is_of_element(context, status)) return state;
    status_init(status);
  }
}

static const DatasetKind kIgnore = {.iterator_size = sizeof(DataIterator),
                                    .begin = data_begin_input,
                                    .next = ignore_next,
                                    .cardinality = cardinality_unknown};

static bool ignore_dataset(KernelContext *context, Status *status) {
  Dataset *made = dataset_new(context, &kIgnore, sizeof *made, status);
  if (!made || !dataset_add_input(context, 0, made, status)) return dataset_drop(made);
  dataset_take_types(made);
  return dataset_output(context, made, status);
}

const OpRegistration kOpIgnoreErrorsDataset = {
    .name = "IgnoreErrorsDataset",
    .inputs = {"input_dataset: variant"},
    .attrs = {DATASET_TYPES, "log_warning: bool = false"},
    DATASET_OUTPUT,
    .kernels = {{DT_INVALID, ignore_dataset, &kDatasetAttrs}},
};
