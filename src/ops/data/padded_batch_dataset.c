/* PaddedBatchDataset: batches of tensors of different sizes, which are padded at their ends. */

#include "ops/data/data_rows.h"

/* The tensors of the dataset are the padded shapes of the components, then the padding values. */
typedef struct PaddedBatchDataset {
  Dataset dataset;
  int64_t size;
  bool drop_remainder;
} PaddedBatchDataset;

/* The shape of a component of the batch: the padded shape, with the largest size where that is -1. */
static bool batch_dims(const RowsIterator *rows, int i, int64_t dims[SHAPE_MAX_RANK + 1], Status *status) {
  const Tensor *padded = &rows->iterator.dataset->tensors[i];
  int rank = (int)tensor_num_elements(padded);
  dims[0] = rows->count;
  for (int d = 0; d < rank; d++) dims[d + 1] = tensor_i64(padded)[d] < 0 ? 0 : tensor_i64(padded)[d];
  for (int64_t row = 0; row < rows->count; row++) {
    const Shape *shape = &rows->rows[row * rows->width + i].shape;
    if (shape->rank != rank) {
      return status_invalid(status,
                            "All elements in a batch must have the same rank as the padded shape for "
                            "component%d: expected rank %d but got element with rank %d",
                            i, rank, shape->rank);
    }
    for (int d = 0; d < rank; d++) {
      int64_t size = shape_dim(shape, d);
      if (size <= dims[d + 1]) continue;
      if (tensor_i64(padded)[d] >= 0) {
        return status_set(status, CODE_DATA_LOSS,
                          "Attempted to pad to a smaller size than the input element.");
      }
      dims[d + 1] = size;
    }
  }
  return true;
}

/* The rows of the last dimension of `from`, each to its place in row `row` of `to`. */
static bool copy_padded(const Tensor *from, Tensor *to, int64_t row, Status *status) {
  int rank = from->shape.rank;
  int64_t elements = tensor_num_elements(from), index[SHAPE_MAX_RANK] = {0};
  if (elements == 0) return true;
  int64_t run = rank > 0 ? shape_dim(&from->shape, rank - 1) : 1;
  for (int64_t at = 0; at < elements; at += run) {
    int64_t place = row;
    for (int d = 0; d < rank; d++) place = place * shape_dim(&to->shape, d + 1) + index[d];
    TRY(tensor_copy_elements(from, at, to, place, run, status));
    for (int d = rank - 2; d >= 0 && ++index[d] == shape_dim(&from->shape, d); d--) index[d] = 0;
  }
  return true;
}

/* Repeats the padding value in the whole tensor. */
static bool fill(const Tensor *value, Tensor *to, Status *status) {
  for (int64_t i = 0; i < tensor_num_elements(to); i++) TRY(tensor_copy_elements(value, 0, to, i, 1, status));
  return true;
}

static bool pad_component(const RowsIterator *rows, int i, KernelContext *context, Tensor *out,
                          Status *status) {
  int64_t dims[SHAPE_MAX_RANK + 1];
  const Dataset *dataset = rows->iterator.dataset;
  const Tensor *value = &dataset->tensors[dataset->num_components + i];
  TRY(batch_dims(rows, i, dims, status));
  TRY(tensor_allocate_dims(out, value->dtype, (int)tensor_num_elements(&dataset->tensors[i]) + 1, dims,
                           context->pool, status));
  TRY(fill(value, out, status));
  for (int64_t row = 0; row < rows->count; row++) {
    const Tensor *element = &rows->rows[row * rows->width + i];
    if (element->dtype != value->dtype) {
      return status_invalid(status, "Data type mismatch at component %d: expected %s but got %s.", i,
                            dtype_name((int)value->dtype), dtype_name((int)element->dtype));
    }
    TRY(copy_padded(element, out, row, status));
  }
  return true;
}

static RunState padded_next(DataIterator *iterator, KernelContext *context, Tensor *out, bool *end,
                            Status *status) {
  RowsIterator *rows = (RowsIterator *)iterator;
  const PaddedBatchDataset *batch = (const PaddedBatchDataset *)iterator->dataset;
  RunState state = rows_gather(rows, iterator->input, batch->size, context, status);
  if (state != RUN_DONE) return state;
  *end = rows->count == 0 || (batch->drop_remainder && rows->count < batch->size);
  bool ok = true;
  for (int i = 0; ok && !*end && i < rows->width; i++) ok = pad_component(rows, i, context, &out[i], status);
  rows_clear(rows);
  return ok ? RUN_DONE : RUN_FAILED;
}

static int64_t padded_cardinality(const Dataset *dataset) {
  const PaddedBatchDataset *batch = (const PaddedBatchDataset *)dataset;
  int64_t input = cardinality_of_input(dataset);
  if (input < 0) return input;
  return input / batch->size + (input % batch->size != 0 && !batch->drop_remainder);
}

static const DatasetKind kPaddedBatch = {.iterator_size = sizeof(RowsIterator),
                                         .begin = rows_begin,
                                         .next = padded_next,
                                         .finish = rows_finish,
                                         .cardinality = padded_cardinality};

/* --- kernels --- */

static bool check_components(const PaddedBatchDataset *made, Status *status) {
  const Dataset *dataset = &made->dataset, *input = dataset->inputs[0];
  int count = dataset->num_components;
  if (input->num_components != count || dataset->num_tensors != 2 * count) {
    return status_invalid(status,
                          "Number of padded shapes (%d) must match the number of components in the input "
                          "dataset's elements (%d)",
                          count, input->num_components);
  }
  for (int i = 0; i < count; i++) {
    const Tensor *padded = &dataset->tensors[i], *value = &dataset->tensors[count + i];
    if (!tensor_is_vector(padded) || tensor_num_elements(padded) >= SHAPE_MAX_RANK)
      return status_invalid(status, "All padded shapes must be vectors");
    if (!tensor_is_scalar(value)) return status_invalid(status, "All padding values must be scalars");
    if (value->dtype != input->types[i]) {
      return status_invalid(status,
                            "Mismatched type between padding value %d and input dataset's component %d: %s "
                            "vs. %s",
                            i, i, dtype_name((int)value->dtype), dtype_name((int)input->types[i]));
    }
  }
  return true;
}

static bool padded_batch_dataset(KernelContext *context, Status *status) {
  const DatasetState *state = context->state;
  int tensors = context->num_inputs - 2;
  PaddedBatchDataset *made = dataset_new(context, &kPaddedBatch, sizeof *made, status);
  if (!made) return false;
  if (tensors > 2 * state->num_components) tensors = 2 * state->num_components;
  bool ok = dataset_add_input(context, 0, &made->dataset, status) &&
            dataset_int(context, 1, "batch_size", &made->size, status) &&
            dataset_add_tensors(context, 2, tensors, &made->dataset, status) &&
            (context->num_inputs == 2 + tensors ||
             dataset_bool(context, 2 + tensors, "drop_remainder", &made->drop_remainder, status)) &&
            (made->size > 0 || status_invalid(status, "Batch size must be greater than zero.")) &&
            check_components(made, status);
  return ok ? dataset_output(context, &made->dataset, status) : dataset_drop(&made->dataset);
}

static const DatasetAttrs kAttrs = {.types = "Toutput_types"};

const OpRegistration kOpPaddedBatchDataset = {
    .name = "PaddedBatchDataset",
    .inputs = {"input_dataset: variant", "batch_size: int64", "padded_shapes: N * int64",
               "padding_values: Toutput_types"},
    .attrs = {"Toutput_types: list(type) >= 1", "output_shapes: list(shape) >= 1", "N: int >= 1",
              DATASET_METADATA},
    DATASET_OUTPUT,
    .kernels = {{DT_INVALID, padded_batch_dataset, &kAttrs}},
};

const OpRegistration kOpPaddedBatchDatasetV2 = {
    .name = "PaddedBatchDatasetV2",
    .inputs = {"input_dataset: variant", "batch_size: int64", "padded_shapes: N * int64",
               "padding_values: Toutput_types", "drop_remainder: bool"},
    .attrs = {"parallel_copy: bool = false", "Toutput_types: list(type) >= 1",
              "output_shapes: list(shape) >= 1", "N: int >= 1", DATASET_METADATA},
    DATASET_OUTPUT,
    .kernels = {{DT_INVALID, padded_batch_dataset, &kAttrs}},
};
