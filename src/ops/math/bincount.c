/* Bincount, DenseBincount and RaggedBincount: the number of occurrences of each integer from 0 on, or the sum
 * of their weights, of all values or of each row. Bucketize: the number of the bucket that a value is in. */
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/support/array_box.h"
#include "ops/support/element_types.h"
#include "ops/support/typed_loops.h"

/* Integers are counted, or their weights added, if there are any; or with `binary` a bin is 1 if its number
 * occurs. */
typedef struct Binning {
  const Tensor *values, *weights, *out;
  int64_t bins; /* of each row */
  bool binary;
} Binning;
/* Adds values [begin, end) to the bins from `first` on, which others have not. Returns 0, or the first
 * negative value: the rest is not counted then. */
typedef int64_t CountInBins(const Binning *b, int64_t begin, int64_t end, int64_t first);

#define TEMPLATE "ops/math/bincount_sum.inc"
#define TYPES (TYPES_FLOAT | TYPES_INT)
#include "simd/each_type.inc"

static const KernelEntry kTypedCounts[] = {TYPED_FLOAT_KERNELS(NULL, count_in_bins),
                                           TYPED_INT_KERNELS(NULL, count_in_bins)};

static CountInBins *counter_of(const Tensor *out) {
  return (CountInBins *)TYPED_LOOPS(kTypedCounts, out->dtype);
}

static bool bincount(KernelContext *context, Status *status) {
  const Tensor *numbers = context->inputs[0], *size = context->inputs[1], *weights = context->inputs[2];
  char text[SHAPE_TEXT_CAPACITY];
  if (!tensor_is_scalar(size)) {
    return status_invalid(status, "Shape must be rank 0 but is rank %d", size->shape.rank);
  }
  int64_t bins = tensor_int_at(size, 0), count = tensor_num_elements(numbers);
  if (bins < 0) return status_invalid(status, "size (%lld) must be non-negative", (long long)bins);
  if (tensor_num_elements(weights) != 0 && !shape_equal(&weights->shape, &numbers->shape)) {
    return status_invalid(status, "Input indices and weights must have the same size. Weights have shape %s",
                          shape_text(&weights->shape, text));
  }
  Tensor *out;
  TRY(kernel_allocate_output_dims(context, 0, 1, &bins, &out, status));
  array_clear(out);
  Binning b = {.values = numbers, .weights = weights, .out = out, .bins = bins};
  return counter_of(out)(&b, 0, count, 0) == 0 || status_invalid(status, "Input arr must be non-negative!");
}

static bool bincount_shape(InferenceContext *c, Status *status) {
  DimHandle size;
  ShapeHandle scalar;
  TRY(shape_with_rank(c, shape_input(c, 1), 0, &scalar, status));
  const Tensor *value = shape_input_tensor(c, 1);
  if (value && tensor_int_at(value, 0) < 0) {
    return status_invalid(status, "size (%lld) must be non-negative", (long long)tensor_int_at(value, 0));
  }
  TRY(dim_ok(value ? dim_make(c, tensor_int_at(value, 0)) : dim_unknown(c), &size, status));
  ShapeHandle out;
  TRY(shape_ok(shape_vector(c, size), &out, status));
  shape_set_output(c, 0, out);
  return true;
}

const OpRegistration kOpBincount = {
    .name = "Bincount",
    .inputs = {"arr: int32", "size: int32", "weights: T"},
    .outputs = {"bins: T"},
    .attrs = {"T: {int32, int64, float, double}"},
    .shape = bincount_shape,
    .gradient = NO_GRADIENT,
    .kernels = {FLOAT_KERNELS(bincount), INT_KERNELS(bincount)},
};

/* --- of rows --- */

typedef struct RowsState {
  bool binary; /* attr binary_output: whether a number occurs */
} RowsState;

static bool rows_construct(const KernelConstruction *construction, void *memory, Status *status) {
  return node_attr_bool(construction->node, "binary_output", &((RowsState *)memory)->binary, status);
}

static bool read_bins(const Tensor *size, int64_t *bins, Status *status) {
  if (!tensor_is_scalar(size))
    return status_invalid(status, "Shape must be rank 0 but is rank %d", size->shape.rank);
  *bins = tensor_int_at(size, 0);
  return *bins >= 0 || status_invalid(status, "size (%lld) must be non-negative", (long long)*bins);
}

static bool check_weights(const Tensor *values, const Tensor *weights, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  if (tensor_num_elements(weights) == 0 || shape_equal(&weights->shape, &values->shape)) return true;
  return status_invalid(status,
                        "`weights` must be the same shape as `arr` or a length-0 `Tensor`, in which case it "
                        "acts as all weights equal to 1. Received %s",
                        shape_text(&weights->shape, text));
}

/* Values [begin, end), in row `row` of the result. */
static bool count_row(const Binning *b, int64_t begin, int64_t end, int64_t row, const char *negative,
                      Status *status) {
  int64_t refused = counter_of(b->out)(b, begin, end, row * b->bins);
  return refused == 0 || status_invalid(status, negative, (long long)refused);
}

static bool dense_bincount(KernelContext *context, Status *status) {
  const Tensor *values = context->inputs[0], *weights = context->inputs[2];
  int rank = values->shape.rank;
  int64_t bins = 0;
  Tensor *out;
  if (rank > 2) return status_invalid(status, "Shape must be at most rank 2 but is rank %d", rank);
  TRY(read_bins(context->inputs[1], &bins, status));
  TRY(check_weights(values, weights, status));
  int64_t rows = rank == 2 ? shape_dim(&values->shape, 0) : 1,
          length = rank == 2 ? shape_dim(&values->shape, 1) : tensor_num_elements(values);
  const int64_t dims[] = {rows, bins};
  TRY(kernel_allocate_output_dims(context, 0, rank == 2 ? 2 : 1, rank == 2 ? dims : dims + 1, &out, status));
  array_clear(out);
  Binning b = {values, weights, out, bins, ((const RowsState *)context->state)->binary};
  for (int64_t i = 0; i < rows; i++)
    TRY(count_row(&b, i * length, (i + 1) * length, i,
                  rank == 2 ? "Input 'in' must be non-negative! Negative input value found: %lld"
                            : "Input arr must be non-negative!",
                  status));
  return true;
}

static bool check_splits(const Tensor *splits, int64_t num_values, Status *status) {
  int64_t count = tensor_num_elements(splits);
  const int64_t *at = tensor_i64(splits);
  if (count == 0) return status_invalid(status, "Splits must be non-empty");
  if (at[0] != 0) return status_invalid(status, "Splits must start with 0, not with %lld", (long long)at[0]);
  if (at[count - 1] != num_values) {
    return status_invalid(status, "Splits must end with the number of values, got %lld instead of %lld",
                          (long long)at[count - 1], (long long)num_values);
  }
  for (int64_t i = 1; i < count; i++) {
    if (at[i] < at[i - 1]) return status_invalid(status, "Splits must be in ascending order");
  }
  return true;
}

static bool ragged_bincount(KernelContext *context, Status *status) {
  const Tensor *splits = context->inputs[0], *values = context->inputs[1], *weights = context->inputs[3];
  int64_t bins = 0;
  Tensor *out;
  TRY(read_bins(context->inputs[2], &bins, status));
  TRY(check_splits(splits, tensor_num_elements(values), status));
  if (tensor_num_elements(weights) > 0 && tensor_num_elements(weights) < tensor_num_elements(values))
    return check_weights(values, weights, status);
  const int64_t *at = tensor_i64(splits), dims[] = {tensor_num_elements(splits) - 1, bins};
  TRY(kernel_allocate_output_dims(context, 0, 2, dims, &out, status));
  array_clear(out);
  Binning b = {values, weights, out, bins, ((const RowsState *)context->state)->binary};
  for (int64_t i = 0; i < dims[0]; i++)
    TRY(count_row(&b, at[i], at[i + 1], i, "Input must be non-negative", status));
  return true;
}

/* The number of bins, given by input `i`. */
static bool bins_of_input(InferenceContext *c, int i, DimHandle *bins, Status *status) {
  ShapeHandle scalar;
  TRY(shape_with_rank(c, shape_input(c, i), 0, &scalar, status));
  const Tensor *value = shape_input_tensor(c, i);
  if (!value) return dim_ok(dim_unknown(c), bins, status);
  int64_t size = 0;
  return read_bins(value, &size, status) && dim_ok(dim_make(c, size), bins, status);
}

static bool dense_bincount_shape(InferenceContext *c, Status *status) {
  ShapeHandle values, out;
  DimHandle bins;
  TRY(shape_with_rank_at_most(c, shape_input(c, 0), 2, &values, status));
  TRY(bins_of_input(c, 1, &bins, status));
  if (!shape_rank_known(values)) return shape_unknown_outputs(c, status);
  bool rows = shape_rank(values) == 2;
  TRY(shape_ok(rows ? shape_matrix(c, shape_dim_of(c, values, 0), bins) : shape_vector(c, bins), &out,
               status));
  shape_set_output(c, 0, out);
  return true;
}

static bool ragged_bincount_shape(InferenceContext *c, Status *status) {
  ShapeHandle splits, out;
  DimHandle bins, rows;
  TRY(shape_with_rank(c, shape_input(c, 0), 1, &splits, status));
  TRY(bins_of_input(c, 2, &bins, status));
  DimHandle count = shape_dim_of(c, splits, 0);
  TRY(dim_ok(count, &count, status));
  TRY(dim_ok(dim_known(count) && dim_value(count) > 0 ? dim_make(c, dim_value(count) - 1) : dim_unknown(c),
             &rows, status));
  TRY(shape_ok(shape_matrix(c, rows, bins), &out, status));
  shape_set_output(c, 0, out);
  return true;
}

#define ROWS_STATE .state_size = sizeof(RowsState), .construct = rows_construct

const OpRegistration kOpDenseBincount = {
    .name = "DenseBincount",
    .inputs = {"input: Tidx", "size: Tidx", "weights: T"},
    .outputs = {"output: T"},
    .attrs = {"Tidx: {int32, int64}", "T: {int32, int64, float, double}", "binary_output: bool = false"},
    .shape = dense_bincount_shape,
    .gradient = NO_GRADIENT,
    ROWS_STATE,
    .kernels = {INT_KERNELS(dense_bincount)},
};

const OpRegistration kOpRaggedBincount = {
    .name = "RaggedBincount",
    .inputs = {"splits: int64", "values: Tidx", "size: Tidx", "weights: T"},
    .outputs = {"output: T"},
    .attrs = {"Tidx: {int32, int64}", "T: {int32, int64, float, double}", "binary_output: bool = false"},
    .shape = ragged_bincount_shape,
    .gradient = NO_GRADIENT,
    ROWS_STATE,
    .kernels = {INT_KERNELS(ragged_bincount)},
};

/* --- Bucketize --- */

typedef struct BucketizeState {
  const float *boundaries;
  int64_t count;
} BucketizeState;

static bool bucketize_construct(const KernelConstruction *construction, void *memory, Status *status) {
  BucketizeState *state = memory;
  const AttrListValue *list;
  TRY(node_attr_list(construction->node, "boundaries", ATTR_FLOAT, &list, status));
  state->count = list ? (int64_t)list->n_f : 0;
  state->boundaries = list ? list->f : NULL;
  for (int64_t i = 1; i < state->count; i++) {
    if (state->boundaries[i] < state->boundaries[i - 1])
      return status_invalid(status, "Expected sorted boundaries");
  }
  return true;
}

typedef void FindBuckets(const BucketizeState *state, const Tensor *x, int32_t *bucket);

#define TEMPLATE "ops/math/bucketize.inc"
#define TYPES (TYPES_FLOAT | TYPES_INT)
#include "simd/each_type.inc"

/* Its data is a FindBuckets. */
static bool bucketize(KernelContext *context, Status *status) {
  const Tensor *x = context->inputs[0];
  Tensor *out;
  TRY(kernel_allocate_output(context, 0, &x->shape, &out, status));
  ((FindBuckets *)context->data)(context->state, x, tensor_i32(out));
  return true;
}

const OpRegistration kOpBucketize = {
    .name = "Bucketize",
    .inputs = {"input: T"},
    .outputs = {"output: int32"},
    .attrs = {"T: {int32, int64, float, double}", "boundaries: list(float)"},
    .shape = shape_unchanged,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(BucketizeState),
    .construct = bucketize_construct,
    .kernels = {TYPED_FLOAT_KERNELS(bucketize, find_buckets), TYPED_INT_KERNELS(bucketize, find_buckets)},
};
