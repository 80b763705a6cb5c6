/* Datasets of tensors and numbers: TensorDataset, TensorSliceDataset, RangeDataset. */
#include "ops/data/data_iterator.h"
#include "ops/support/elements.h"

typedef struct Counter {
  DataIterator iterator;
  int64_t count; /* of elements that were given */
} Counter;

/* --- TensorDataset: one element --- */

static RunState tensor_next(DataIterator *iterator, KernelContext *context, Tensor *out, bool *end,
                            Status *status) {
  (void)context;
  Counter *counter = (Counter *)iterator;
  const Dataset *dataset = iterator->dataset;
  *end = counter->count > 0;
  if (*end) return RUN_DONE;
  counter->count++;
  return data_tensors_share(out, dataset->tensors, dataset->num_components, status) ? RUN_DONE : RUN_FAILED;
}

static int64_t tensor_cardinality(const Dataset *dataset) {
  (void)dataset;
  return 1;
}

static const DatasetKind kTensor = {.iterator_size = sizeof(Counter),
                                    .next = tensor_next,
                                    .cardinality = tensor_cardinality};

static bool tensor_dataset(KernelContext *context, Status *status) {
  Dataset *made = dataset_new(context, &kTensor, sizeof *made, status);
  return made && dataset_add_tensors(context, 0, context->num_inputs, made, status)
             ? dataset_output(context, made, status)
             : dataset_drop(made);
}

static const DatasetAttrs kComponents = {.types = "Toutput_types"};

const OpRegistration kOpTensorDataset = {
    .name = "TensorDataset",
    .inputs = {"components: Toutput_types"},
    .attrs = {"Toutput_types: list(type) >= 1", "output_shapes: list(shape) >= 1", DATASET_METADATA},
    .is_stateful = true,
    DATASET_OUTPUT,
    .kernels = {{DT_INVALID, tensor_dataset, &kComponents}},
};

/* --- TensorSliceDataset: the rows of tensors --- */

static int64_t slice_cardinality(const Dataset *dataset) { return shape_dim(&dataset->tensors[0].shape, 0); }

static RunState slice_next(DataIterator *iterator, KernelContext *context, Tensor *out, bool *end,
                           Status *status) {
  Counter *counter = (Counter *)iterator;
  const Dataset *dataset = iterator->dataset;
  *end = counter->count >= slice_cardinality(dataset);
  if (*end) return RUN_DONE;
  int64_t row = counter->count++;
  for (int i = 0; i < dataset->num_components; i++) {
    if (!tensor_copy_row(&dataset->tensors[i], row, context->pool, &out[i], status)) return RUN_FAILED;
  }
  return RUN_DONE;
}

static const DatasetKind kSlices = {.iterator_size = sizeof(Counter),
                                    .next = slice_next,
                                    .cardinality = slice_cardinality};

static bool check_rows(const KernelContext *context, Status *status) {
  for (int i = 0; i < context->num_inputs; i++) {
    const Shape *shape = &context->inputs[i]->shape, *first = &context->inputs[0]->shape;
    if (shape->rank < 1) {
      return status_invalid(status,
                            "Unbatching a tensor is only supported for rank >= 1; component %d is a scalar",
                            i);
    }
    if (shape_dim(shape, 0) != shape_dim(first, 0)) {
      return status_invalid(status, "Components must have the same size in dimension 0: %lld and %lld",
                            (long long)shape_dim(first, 0), (long long)shape_dim(shape, 0));
    }
  }
  return true;
}

static bool slice_dataset(KernelContext *context, Status *status) {
  TRY(check_rows(context, status));
  Dataset *made = dataset_new(context, &kSlices, sizeof *made, status);
  return made && dataset_add_tensors(context, 0, context->num_inputs, made, status)
             ? dataset_output(context, made, status)
             : dataset_drop(made);
}

const OpRegistration kOpTensorSliceDataset = {
    .name = "TensorSliceDataset",
    .inputs = {"components: Toutput_types"},
    .attrs = {"Toutput_types: list(type) >= 1", "output_shapes: list(shape) >= 1", "is_files: bool = false",
              DATASET_METADATA, "replicate_on_split: bool = false"},
    .is_stateful = true,
    DATASET_OUTPUT,
    .kernels = {{DT_INVALID, slice_dataset, &kComponents}},
};

/* --- RangeDataset --- */

typedef struct RangeDataset {
  Dataset dataset;
  int64_t start, step, count;
} RangeDataset;

static int64_t range_cardinality(const Dataset *dataset) { return ((const RangeDataset *)dataset)->count; }

static RunState range_next(DataIterator *iterator, KernelContext *context, Tensor *out, bool *end,
                           Status *status) {
  Counter *counter = (Counter *)iterator;
  const RangeDataset *range = (const RangeDataset *)iterator->dataset;
  *end = counter->count >= range->count;
  if (*end) return RUN_DONE;
  if (!tensor_allocate_dims(&out[0], range->dataset.types[0], 0, NULL, context->pool, status))
    return RUN_FAILED;
  int64_t value = (int64_t)((uint64_t)range->start + (uint64_t)counter->count++ * (uint64_t)range->step);
  switch (out[0].dtype) {
    case DT_INT32: tensor_i32(&out[0])[0] = (int32_t)value; break;
    case DT_FLOAT: tensor_f32(&out[0])[0] = (float)value; break;
    case DT_DOUBLE: tensor_f64(&out[0])[0] = (double)value; break;
    default: tensor_i64(&out[0])[0] = value; break;
  }
  return RUN_DONE;
}

static const DatasetKind kRange = {.iterator_size = sizeof(Counter),
                                   .next = range_next,
                                   .cardinality = range_cardinality};

/* The number of steps from start to stop, which may be 2^64 apart. */
static int64_t range_count(int64_t start, int64_t stop, int64_t step) {
  if (step > 0 ? start >= stop : start <= stop) return 0;
  uint64_t distance = step > 0 ? (uint64_t)stop - (uint64_t)start : (uint64_t)start - (uint64_t)stop;
  uint64_t stride = step > 0 ? (uint64_t)step : -(uint64_t)step;
  uint64_t count = distance / stride + (distance % stride != 0);
  return count > INT64_MAX ? INT64_MAX : (int64_t)count;
}

static bool check_range_type(const KernelContext *context, Status *status) {
  const DatasetState *state = context->state;
  DataType type = state->types[0];
  return (state->num_components == 1 &&
          (type == DT_INT64 || type == DT_INT32 || type == DT_FLOAT || type == DT_DOUBLE)) ||
         status_invalid(status, "Unsupported data type: %s", dtype_name((int)type));
}

static bool range_dataset(KernelContext *context, Status *status) {
  int64_t start, stop, step;
  TRY(dataset_int(context, 0, "start", &start, status));
  TRY(dataset_int(context, 1, "stop", &stop, status));
  TRY(dataset_int(context, 2, "step", &step, status));
  if (step == 0) return status_invalid(status, "step must be a non-zero integer.");
  TRY(check_range_type(context, status));
  RangeDataset *made = dataset_new(context, &kRange, sizeof *made, status);
  if (!made) return false;
  made->start = start;
  made->step = step;
  made->count = range_count(start, stop, step);
  return dataset_output(context, &made->dataset, status);
}

const OpRegistration kOpRangeDataset = {
    .name = "RangeDataset",
    .inputs = {"start: int64", "stop: int64", "step: int64"},
    .attrs = {DATASET_TYPES, DATASET_METADATA, "replicate_on_split: bool = false"},
    .is_stateful = true,
    DATASET_OUTPUT,
    .kernels = {{DT_INVALID, range_dataset, &kDatasetAttrs}},
};
