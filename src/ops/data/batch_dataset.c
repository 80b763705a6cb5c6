/* BatchDataset: joins consecutive elements along a new first dimension. MapAndBatchDataset does so with what
 * a function returns. UnbatchDataset does the reverse. */
#include "ops/data/data_rows.h"
#include "ops/data/map_functions.h"

typedef struct BatchDataset {
  Dataset dataset;
  int64_t size;
  bool drop_remainder;
} BatchDataset;

static RunState batch_next(DataIterator *iterator, KernelContext *context, Tensor *out, bool *end,
                           Status *status) {
  RowsIterator *rows = (RowsIterator *)iterator;
  const BatchDataset *batch = (const BatchDataset *)iterator->dataset;
  RunState state = rows_gather(rows, iterator->input, batch->size, context, status);
  if (state != RUN_DONE) return state;
  *end = rows->count == 0 || (batch->drop_remainder && rows->count < batch->size);
  bool ok = *end || rows_stack(rows, context, out, status);
  rows_clear(rows);
  return ok ? RUN_DONE : RUN_FAILED;
}

static int64_t batch_cardinality(const Dataset *dataset) {
  const BatchDataset *batch = (const BatchDataset *)dataset;
  int64_t input = cardinality_of_input(dataset);
  if (input < 0) return input;
  return input / batch->size + (input % batch->size != 0 && !batch->drop_remainder);
}

static const DatasetKind kBatch = {.iterator_size = sizeof(RowsIterator),
                                   .begin = rows_begin,
                                   .next = batch_next,
                                   .finish = rows_finish,
                                   .cardinality = batch_cardinality};

static bool read_inputs(KernelContext *context, BatchDataset *made, Status *status) {
  TRY(dataset_add_input(context, 0, &made->dataset, status));
  TRY(dataset_int(context, 1, "batch_size", &made->size, status));
  if (made->size <= 0) return status_invalid(status, "Batch size must be greater than zero.");
  return context->num_inputs == 2 ||
         dataset_bool(context, context->num_inputs - 1, "drop_remainder", &made->drop_remainder, status);
}

static bool batch_dataset(KernelContext *context, Status *status) {
  BatchDataset *made = dataset_new(context, &kBatch, sizeof *made, status);
  if (!made) return false;
  if (!read_inputs(context, made, status)) return dataset_drop(&made->dataset);
  dataset_take_types(&made->dataset);
  return dataset_output(context, &made->dataset, status);
}

const OpRegistration kOpBatchDataset = {
    .name = "BatchDataset",
    .inputs = {"input_dataset: variant", "batch_size: int64"},
    .attrs = {DATASET_TYPES, DATASET_METADATA},
    DATASET_OUTPUT,
    .kernels = {{DT_INVALID, batch_dataset, &kDatasetAttrs}},
};

const OpRegistration kOpBatchDatasetV2 = {
    .name = "BatchDatasetV2",
    .inputs = {"input_dataset: variant", "batch_size: int64", "drop_remainder: bool"},
    .attrs = {"parallel_copy: bool = false", DATASET_TYPES, DATASET_METADATA},
    DATASET_OUTPUT,
    .kernels = {{DT_INVALID, batch_dataset, &kDatasetAttrs}},
};

const OpRegistration kOpParallelBatchDataset = {
    .name = "ParallelBatchDataset",
    .inputs = {"input_dataset: variant", "batch_size: int64", "num_parallel_calls: int64",
               "drop_remainder: bool"},
    .attrs = {"parallel_copy: bool = false", DATASET_TYPES, "deterministic: string = 'default'",
              DATASET_METADATA},
    DATASET_OUTPUT,
    .kernels = {{DT_INVALID, batch_dataset, &kDatasetAttrs}},
};

/* --- MapAndBatchDataset: the input of the batches is a MapDataset --- */

static bool read_map_inputs(KernelContext *context, int first, BatchDataset *made, Status *status) {
  int64_t calls;
  TRY(dataset_int(context, first, "batch_size", &made->size, status));
  TRY(dataset_int(context, first + 1, "num_parallel_calls", &calls, status));
  TRY(dataset_bool(context, first + 2, "drop_remainder", &made->drop_remainder, status));
  if (made->size <= 0) return status_invalid(status, "batch_size must be greater than zero.");
  return calls > 0 || calls == -1 || status_invalid(status, "num_parallel_calls must be greater than zero.");
}

static bool map_and_batch_dataset(KernelContext *context, Status *status) {
  int captured = context->num_inputs - 4;
  MapDataset *map = map_dataset_make(context, captured, status);
  if (!map) return false;
  BatchDataset *made = dataset_new(context, &kBatch, sizeof *made, status);
  if (!made || !read_map_inputs(context, 1 + captured, made, status) ||
      !dataset_adopt_input(&made->dataset, &map->dataset, status)) {
    dataset_drop(&map->dataset);
    return made && dataset_drop(&made->dataset);
  }
  return dataset_output(context, &made->dataset, status);
}

static const DatasetAttrs kMapAttrs = {.types = "output_types", .functions = {"f"}};

#define MAP_AND_BATCH                                                                      \
  .inputs = {"input_dataset: variant", "other_arguments: Targuments", "batch_size: int64", \
             "num_parallel_calls: int64", "drop_remainder: bool"},                         \
  DATASET_OUTPUT, .kernels = {{DT_INVALID, map_and_batch_dataset, &kMapAttrs}}

const OpRegistration kOpMapAndBatchDataset = {
    .name = "MapAndBatchDataset",
    .attrs = {"f: func", "Targuments: list(type) >= 0", DATASET_TYPES, "preserve_cardinality: bool = false",
              DATASET_METADATA},
    MAP_AND_BATCH,
};

const OpRegistration kOpExperimentalMapAndBatchDataset = {
    .name = "ExperimentalMapAndBatchDataset",
    .attrs = {"f: func", "Targuments: list(type) >= 0", DATASET_TYPES, "preserve_cardinality: bool = false"},
    MAP_AND_BATCH,
};

/* --- UnbatchDataset: the rows of each element --- */

typedef struct UnbatchIterator {
  DataIterator iterator;
  Tensor *element; /* the components are empty before the first one and after the last one */
  int64_t row, rows;
} UnbatchIterator;

static bool unbatch_begin(DataIterator *iterator, KernelContext *context, Status *status) {
  UnbatchIterator *unbatch = (UnbatchIterator *)iterator;
  unbatch->element = data_tensors_new(iterator->dataset->num_components, status);
  return unbatch->element && data_begin_input(iterator, context, status);
}

static void unbatch_finish(DataIterator *iterator) {
  data_tensors_free(((UnbatchIterator *)iterator)->element, iterator->dataset->num_components);
}

static bool count_rows(UnbatchIterator *unbatch, Status *status) {
  const Shape *first = &unbatch->element[0].shape;
  for (int i = 0; i < unbatch->iterator.dataset->num_components; i++) {
    const Shape *shape = &unbatch->element[i].shape;
    if (shape->rank == 0) return status_invalid(status, "Input element must have a non-scalar value.");
    if (shape_dim(shape, 0) != shape_dim(first, 0)) {
      return status_invalid(status,
                            "Input element must have the same batch size in each component. Component 0 had "
                            "size %lld but component %d had size %lld.",
                            (long long)shape_dim(first, 0), i, (long long)shape_dim(shape, 0));
    }
  }
  unbatch->row = 0;
  unbatch->rows = shape_dim(first, 0);
  return true;
}

static RunState unbatch_next(DataIterator *iterator, KernelContext *context, Tensor *out, bool *end,
                             Status *status) {
  UnbatchIterator *unbatch = (UnbatchIterator *)iterator;
  int count = iterator->dataset->num_components;
  while (unbatch->row == unbatch->rows) {
    data_tensors_clear(unbatch->element, count);
    RunState state = data_next(iterator->input, context, unbatch->element, end, status);
    if (state != RUN_DONE || *end) return state;
    if (!count_rows(unbatch, status)) return RUN_FAILED;
  }
  for (int i = 0; i < count; i++) {
    if (!tensor_copy_row(&unbatch->element[i], unbatch->row, context->pool, &out[i], status))
      return RUN_FAILED;
  }
  unbatch->row++;
  return RUN_DONE;
}

static const DatasetKind kUnbatch = {.iterator_size = sizeof(UnbatchIterator),
                                     .begin = unbatch_begin,
                                     .next = unbatch_next,
                                     .finish = unbatch_finish,
                                     .cardinality = cardinality_unknown};

static bool unbatch_dataset(KernelContext *context, Status *status) {
  Dataset *made = dataset_new(context, &kUnbatch, sizeof *made, status);
  if (!made || !dataset_add_input(context, 0, made, status)) return dataset_drop(made);
  dataset_take_types(made);
  return dataset_output(context, made, status);
}

const OpRegistration kOpUnbatchDataset = {
    .name = "UnbatchDataset",
    .inputs = {"input_dataset: variant"},
    .attrs = {DATASET_TYPES, DATASET_METADATA},
    DATASET_OUTPUT,
    .kernels = {{DT_INVALID, unbatch_dataset, &kDatasetAttrs}},
};

const OpRegistration kOpExperimentalUnbatchDataset = {
    .name = "ExperimentalUnbatchDataset",
    .inputs = {"input_dataset: variant"},
    .attrs = {DATASET_TYPES},
    DATASET_OUTPUT,
    .kernels = {{DT_INVALID, unbatch_dataset, &kDatasetAttrs}},
};
