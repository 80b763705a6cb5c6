/* Datasets that give the elements of others as they are: RepeatDataset, TakeDataset, SkipDataset,
 * ConcatenateDataset, and those that only change how TensorFlow schedules its work. */
#include <stdio.h>

#include "ops/data/data_iterator.h"

/* A dataset with the count in input 1, and an iterator that counts. */
typedef struct CountDataset {
  Dataset dataset;
  int64_t count; /* negative: no limit */
} CountDataset;

typedef struct CountIterator {
  DataIterator iterator;
  int64_t done;
  bool any; /* RepeatDataset: this round gave an element */
} CountIterator;

static int64_t count_of(const Dataset *dataset) { return ((const CountDataset *)dataset)->count; }

/* Its data's variant is the DatasetKind. */
static bool count_dataset(KernelContext *context, Status *status) {
  const DatasetAttrs *attrs = context->data;
  CountDataset *made = dataset_new(context, attrs->variant, sizeof *made, status);
  if (!made) return false;
  bool ok = dataset_add_input(context, 0, &made->dataset, status) &&
            dataset_int(context, 1, "count", &made->count, status);
  if (!ok) return dataset_drop(&made->dataset);
  dataset_take_types(&made->dataset);
  return dataset_output(context, &made->dataset, status);
}

/* --- RepeatDataset --- */

static RunState repeat_next(DataIterator *iterator, KernelContext *context, Tensor *out, bool *end,
                            Status *status) {
  CountIterator *repeat = (CountIterator *)iterator;
  int64_t count = count_of(iterator->dataset);
  while (count < 0 || repeat->done < count) {
    if (!iterator->input && !data_begin_input(iterator, context, status)) return RUN_FAILED;
    RunState state = data_next(iterator->input, context, out, end, status);
    if (state != RUN_DONE) return state;
    if (!*end) {
      repeat->any = true;
      return RUN_DONE;
    }
    data_iterator_free(iterator->input);
    iterator->input = NULL;
    repeat->done++;
    if (count < 0 && !repeat->any) return RUN_DONE; /* without end, but empty */
  }
  *end = true;
  return RUN_DONE;
}

static int64_t repeat_cardinality(const Dataset *dataset) {
  int64_t count = count_of(dataset), input = cardinality_of_input(dataset), product;
  if (count == 0 || input == 0) return 0;
  if (count < 0) return CARDINALITY_INFINITE;
  if (input < 0) return input;
  return __builtin_mul_overflow(count, input, &product) ? INT64_MAX : product;
}

static const DatasetKind kRepeat = {.iterator_size = sizeof(CountIterator),
                                    .next = repeat_next,
                                    .cardinality = repeat_cardinality};
static const DatasetAttrs kRepeatAttrs = {.types = "output_types", .variant = &kRepeat};

/* --- TakeDataset --- */

static RunState take_next(DataIterator *iterator, KernelContext *context, Tensor *out, bool *end,
                          Status *status) {
  CountIterator *take = (CountIterator *)iterator;
  int64_t count = count_of(iterator->dataset);
  *end = count >= 0 && take->done >= count;
  if (*end) return RUN_DONE;
  RunState state = data_next(iterator->input, context, out, end, status);
  if (state == RUN_DONE && !*end) take->done++;
  return state;
}

static int64_t take_cardinality(const Dataset *dataset) {
  int64_t count = count_of(dataset), input = cardinality_of_input(dataset);
  if (count < 0 || input == CARDINALITY_UNKNOWN) return input;
  return input == CARDINALITY_INFINITE || count < input ? count : input;
}

static const DatasetKind kTake = {.iterator_size = sizeof(CountIterator),
                                  .begin = data_begin_input,
                                  .next = take_next,
                                  .cardinality = take_cardinality};
static const DatasetAttrs kTakeAttrs = {.types = "output_types", .variant = &kTake};

/* --- SkipDataset --- */

static RunState skip_next(DataIterator *iterator, KernelContext *context, Tensor *out, bool *end,
                          Status *status) {
  CountIterator *skip = (CountIterator *)iterator;
  int64_t count = count_of(iterator->dataset);
  *end = count < 0; /* skips all */
  if (*end) return RUN_DONE;
  for (;;) {
    RunState state = data_next(iterator->input, context, out, end, status);
    if (state != RUN_DONE || *end || skip->done == count) return state;
    skip->done++;
    data_tensors_clear(out, iterator->dataset->num_components);
  }
}

static int64_t skip_cardinality(const Dataset *dataset) {
  int64_t count = count_of(dataset), input = cardinality_of_input(dataset);
  if (count < 0) return 0;
  if (input < 0) return input;
  return count < input ? input - count : 0;
}

static const DatasetKind kSkip = {.iterator_size = sizeof(CountIterator),
                                  .begin = data_begin_input,
                                  .next = skip_next,
                                  .cardinality = skip_cardinality};
static const DatasetAttrs kSkipAttrs = {.types = "output_types", .variant = &kSkip};

#define COUNT_DATASET                                                                               \
  .inputs = {"input_dataset: variant", "count: int64"}, .attrs = {DATASET_TYPES, DATASET_METADATA}, \
  DATASET_OUTPUT

const OpRegistration kOpRepeatDataset = {
    .name = "RepeatDataset",
    COUNT_DATASET,
    .kernels = {{DT_INVALID, count_dataset, &kRepeatAttrs}},
};
const OpRegistration kOpTakeDataset = {
    .name = "TakeDataset",
    COUNT_DATASET,
    .kernels = {{DT_INVALID, count_dataset, &kTakeAttrs}},
};
const OpRegistration kOpSkipDataset = {
    .name = "SkipDataset",
    COUNT_DATASET,
    .kernels = {{DT_INVALID, count_dataset, &kSkipAttrs}},
};

/* --- ConcatenateDataset --- */

static RunState concatenate_next(DataIterator *iterator, KernelContext *context, Tensor *out, bool *end,
                                 Status *status) {
  CountIterator *concatenate = (CountIterator *)iterator;
  const Dataset *dataset = iterator->dataset;
  while (concatenate->done < dataset->num_inputs) {
    Dataset *input = dataset->inputs[concatenate->done];
    if (!iterator->input && !data_iterator_new(input, iterator, context, &iterator->input, status))
      return RUN_FAILED;
    RunState state = data_next(iterator->input, context, out, end, status);
    if (state != RUN_DONE || !*end) return state;
    data_iterator_free(iterator->input);
    iterator->input = NULL;
    concatenate->done++;
  }
  *end = true;
  return RUN_DONE;
}

static int64_t concatenate_cardinality(const Dataset *dataset) {
  int64_t a = dataset_cardinality(dataset->inputs[0]), b = dataset_cardinality(dataset->inputs[1]), sum;
  if (a == CARDINALITY_INFINITE || b == CARDINALITY_INFINITE) return CARDINALITY_INFINITE;
  if (a < 0 || b < 0) return CARDINALITY_UNKNOWN;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static const DatasetKind kConcatenate = {.iterator_size = sizeof(CountIterator),
                                         .next = concatenate_next,
                                         .cardinality = concatenate_cardinality};

static bool check_equal_types(const Dataset *made, Status *status) {
  const Dataset *a = made->inputs[0], *b = made->inputs[1];
  bool equal = a->num_components == b->num_components;
  for (int i = 0; equal && i < a->num_components; i++) equal = a->types[i] == b->types[i];
  return equal ||
         status_invalid(status, "input dataset and dataset to concatenate have different output_types");
}

static bool concatenate_dataset(KernelContext *context, Status *status) {
  Dataset *made = dataset_new(context, &kConcatenate, sizeof *made, status);
  bool ok = made && dataset_add_input(context, 0, made, status) &&
            dataset_add_input(context, 1, made, status) && check_equal_types(made, status);
  if (!ok) return dataset_drop(made);
  dataset_take_types(made);
  return dataset_output(context, made, status);
}

const OpRegistration kOpConcatenateDataset = {
    .name = "ConcatenateDataset",
    .inputs = {"input_dataset: variant", "another_dataset: variant"},
    .attrs = {DATASET_TYPES, DATASET_METADATA},
    DATASET_OUTPUT,
    .kernels = {{DT_INVALID, concatenate_dataset, &kDatasetAttrs}},
};

/* --- the same elements --- */

static RunState same_next(DataIterator *iterator, KernelContext *context, Tensor *out, bool *end,
                          Status *status) {
  return data_next(iterator->input, context, out, end, status);
}

static const DatasetKind kSame = {.iterator_size = sizeof(DataIterator),
                                  .begin = data_begin_input,
                                  .next = same_next,
                                  .cardinality = cardinality_of_input};

static bool same_dataset(KernelContext *context, Status *status) {
  Dataset *made = dataset_new(context, &kSame, sizeof *made, status);
  if (!made || !dataset_add_input(context, 0, made, status)) return dataset_drop(made);
  dataset_take_types(made);
  return dataset_output(context, made, status);
}

static bool prefetch_dataset(KernelContext *context, Status *status) {
  int64_t size;
  TRY(dataset_int(context, 1, "buffer_size", &size, status));
  if (size < -1)
    return status_invalid(status,
                          "buffer_size must be >= 0 or set buffer_size to be -1 for "
                          "auto-tuning");
  return same_dataset(context, status);
}

const OpRegistration kOpPrefetchDataset = {
    .name = "PrefetchDataset",
    .inputs = {"input_dataset: variant", "buffer_size: int64"},
    .attrs = {DATASET_TYPES, "slack_period: int = 0", "legacy_autotune: bool = true",
              "buffer_size_min: int = 0", DATASET_METADATA},
    DATASET_OUTPUT,
    .kernels = {{DT_INVALID, prefetch_dataset, &kDatasetAttrs}},
};

const OpRegistration kOpOptionsDataset = {
    .name = "OptionsDataset",
    .inputs = {"input_dataset: variant"},
    .attrs = {"serialized_options: string", DATASET_TYPES, DATASET_METADATA},
    DATASET_OUTPUT,
    .kernels = {{DT_INVALID, same_dataset, &kDatasetAttrs}},
};

const OpRegistration kOpModelDataset = {
    .name = "ModelDataset",
    .inputs = {"input_dataset: variant"},
    .attrs = {"algorithm: int = 0", "cpu_budget: int = 0", "ram_budget: int = 0", DATASET_TYPES},
    DATASET_OUTPUT,
    .kernels = {{DT_INVALID, same_dataset, &kDatasetAttrs}},
};

static bool intra_op_dataset(KernelContext *context, Status *status) {
  int64_t count;
  TRY(dataset_int(context, 1, "max_intra_op_parallelism", &count, status));
  if (count < 0) return status_invalid(status, "`max_intra_op_parallelism` must be >= 0");
  return same_dataset(context, status);
}

static bool thread_pool_dataset(KernelContext *context, Status *status) {
  int64_t count;
  TRY(dataset_int(context, 1, "num_threads", &count, status));
  if (count < 0) return status_invalid(status, "`num_threads` must be >= 0");
  return same_dataset(context, status);
}

const OpRegistration kOpMaxIntraOpParallelismDataset = {
    .name = "MaxIntraOpParallelismDataset",
    .inputs = {"input_dataset: variant", "max_intra_op_parallelism: int64"},
    .attrs = {DATASET_TYPES},
    DATASET_OUTPUT,
    .kernels = {{DT_INVALID, intra_op_dataset, &kDatasetAttrs}},
};

const OpRegistration kOpPrivateThreadPoolDataset = {
    .name = "PrivateThreadPoolDataset",
    .inputs = {"input_dataset: variant", "num_threads: int64"},
    .attrs = {DATASET_TYPES},
    DATASET_OUTPUT,
    .kernels = {{DT_INVALID, thread_pool_dataset, &kDatasetAttrs}},
};

const OpRegistration kOpNonSerializableDataset = {
    .name = "NonSerializableDataset",
    .inputs = {"input_dataset: variant"},
    .attrs = {DATASET_TYPES},
    DATASET_OUTPUT,
    .kernels = {{DT_INVALID, same_dataset, &kDatasetAttrs}},
};

const OpRegistration kOpRewriteDataset = {
    .name = "RewriteDataset",
    .inputs = {"input_dataset: variant", "rewrite_name: string"},
    .attrs = {DATASET_TYPES},
    DATASET_OUTPUT,
    .kernels = {{DT_INVALID, same_dataset, &kDatasetAttrs}},
};

/* --- AssertCardinalityDataset: the same elements, if they are as many as was said --- */

static RunState refuse_number(int64_t expected, bool more, int64_t found, Status *status) {
  char number[48] = "an infinite number of";
  if (expected != CARDINALITY_INFINITE) snprintf(number, sizeof number, "%lld", (long long)expected);
  status_set(status, CODE_FAILED_PRECONDITION,
             "Input dataset was expected to contain %s element%s but contained %s %lld element%s.", number,
             expected == 1 ? "" : "s", more ? "at least" : "only", (long long)found, found == 1 ? "" : "s");
  return RUN_FAILED;
}

static RunState assert_next(DataIterator *iterator, KernelContext *context, Tensor *out, bool *end,
                            Status *status) {
  CountIterator *counted = (CountIterator *)iterator;
  int64_t expected = count_of(iterator->dataset);
  RunState state = data_next(iterator->input, context, out, end, status);
  if (state != RUN_DONE) return state;
  if (*end) {
    return counted->done == expected ? RUN_DONE : refuse_number(expected, false, counted->done, status);
  }
  counted->done++;
  if (expected == CARDINALITY_INFINITE || counted->done <= expected) return RUN_DONE;
  data_tensors_clear(out, iterator->dataset->num_components);
  return refuse_number(expected, true, counted->done, status);
}

static const DatasetKind kAssert = {.iterator_size = sizeof(CountIterator),
                                    .begin = data_begin_input,
                                    .next = assert_next,
                                    .cardinality = count_of};
static const DatasetAttrs kAssertAttrs = {.types = "output_types", .variant = &kAssert};

const OpRegistration kOpAssertCardinalityDataset = {
    .name = "AssertCardinalityDataset",
    .inputs = {"input_dataset: variant", "cardinality: int64"},
    .attrs = {DATASET_TYPES},
    DATASET_OUTPUT,
    .kernels = {{DT_INVALID, count_dataset, &kAssertAttrs}},
};
