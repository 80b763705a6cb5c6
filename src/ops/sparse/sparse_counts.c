/* SparseBincount, and SparseCountSparseOutput, DenseCountSparseOutput and RaggedCountSparseOutput: the number
 * of occurrences of each value in each row, or the sums of their weights. */
#include <math.h>

#include "base/alloc.h"
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/support/array_box.h"
#include "ops/support/element_types.h"
#include "ops/sparse/sparse_tensor.h"
#include "ops/sparse/sparse_values.h"

/* Writes 1 as element `i` of a tensor of any dtype of numbers. */
static void set_one(Tensor *out, int64_t i) {
  static const int64_t kInteger = 1; /* its first bytes are the 1 of a shorter integer: little-endian */
  static const float kFloat = 1;
  static const double kDouble = 1;
  static const uint16_t kHalf = 0x3c00, kBfloat16 = 0x3f80;
  static const float kComplex64[] = {1, 0};
  static const double kComplex128[] = {1, 0};
  const void *one = &kInteger;
  switch (out->dtype) {
    case DT_FLOAT: one = &kFloat; break;
    case DT_DOUBLE: one = &kDouble; break;
    case DT_HALF: one = &kHalf; break;
    case DT_BFLOAT16: one = &kBfloat16; break;
    case DT_COMPLEX64: one = kComplex64; break;
    case DT_COMPLEX128: one = kComplex128; break;
    default: break;
  }
  array_spread((int64_t)dtype_size(out->dtype), 1, one,
               (char *)out->data + (size_t)i * dtype_size(out->dtype));
}

/* Adds the weight of value `i`, or 1 without weights, to element `at`. */
static void add_weight(const Tensor *weights, const Tensor *one, int64_t i, Tensor *out, int64_t at) {
  const Tensor *from = weights ? weights : one;
  const char *weight = (const char *)from->data + (weights ? (size_t)i * dtype_size(from->dtype) : 0);
  value_loops(out->dtype)->add_at(1, &at, weight, out->data);
}

/* A scalar 1. */
static bool make_one(KernelContext *context, DataType type, Tensor *one, Status *status) {
  TRY(tensor_allocate_dims(one, type, 0, NULL, context->pool, status));
  set_one(one, 0);
  return true;
}

/* --- SparseBincount --- */

typedef struct BincountState {
  bool binary;
} BincountState;

static bool bincount_construct(const KernelConstruction *construction, void *memory, Status *status) {
  return node_attr_bool(construction->node, "binary_output", &((BincountState *)memory)->binary, status);
}

static bool open_bincount(KernelContext *context, SparseTensor *x, int64_t *bins, Status *status) {
  const Tensor *size = context->inputs[3];
  if (!tensor_is_scalar(size))
    return status_invalid(status, "Shape must be rank 0 but is rank %d", size->shape.rank);
  *bins = tensor_int_at(size, 0);
  if (*bins < 0) return status_invalid(status, "size (%lld) must be non-negative", (long long)*bins);
  TRY(sparse_open(context->inputs, x, status));
  for (int64_t i = 0; i < x->count; i++) {
    if (!sparse_inside(sparse_index(x, i), tensor_i64(x->sizes), x->rank))
      return sparse_refuse_index(x, i, "is out of bounds", status);
  }
  const Tensor *weights = context->inputs[4];
  if (x->rank < 1) return status_invalid(status, "The shape argument requires at least one element.");
  return tensor_num_elements(weights) == 0 || tensor_num_elements(weights) == x->count ||
         status_invalid(status, "Number of weights (%lld) and values (%lld) do not match",
                        (long long)tensor_num_elements(weights), (long long)x->count);
}

/* One row of bins for each index of the first axis, or one for all values of a vector. */
static bool sparse_bincount(KernelContext *context, Status *status) {
  bool binary = ((const BincountState *)context->state)->binary;
  const Tensor *weights = tensor_num_elements(context->inputs[4]) > 0 ? context->inputs[4] : NULL;
  SparseTensor x;
  int64_t bins = 0;
  Tensor *out, one = {0};
  TRY(open_bincount(context, &x, &bins, status));
  int64_t dims[] = {tensor_i64(x.sizes)[0], bins};
  bool rows = x.rank > 1;
  TRY(kernel_allocate_output_dims(context, 0, rows ? 2 : 1, rows ? dims : dims + 1, &out, status));
  TRY(make_one(context, out->dtype, &one, status));
  array_clear(out);
  for (int64_t i = 0; i < x.count; i++) {
    int64_t value = tensor_int_at(x.values, i), at = (rows ? sparse_index(&x, i)[0] * bins : 0) + value;
    if (value < 0 || value >= bins) continue;
    if (binary) set_one(out, at);
    else add_weight(weights, &one, i, out, at);
  }
  tensor_clear(&one);
  return true;
}

static bool bincount_shape(InferenceContext *c, Status *status) {
  ShapeHandle sizes, scalar, out;
  DimHandle bins;
  TRY(shape_with_rank(c, shape_input(c, 3), 0, &scalar, status));
  const Tensor *value = shape_input_tensor(c, 3);
  if (value && tensor_int_at(value, 0) < 0)
    return status_invalid(status, "size (%lld) must be non-negative", (long long)tensor_int_at(value, 0));
  TRY(dim_ok(value ? dim_make(c, tensor_int_at(value, 0)) : dim_unknown(c), &bins, status));
  TRY(shape_from_input_tensor(c, 2, &sizes, status));
  if (!shape_rank_known(sizes)) return shape_unknown_outputs(c, status);
  bool rows = shape_rank(sizes) != 1;
  TRY(shape_ok(rows ? shape_matrix(c, shape_dim_of(c, sizes, 0), bins) : shape_vector(c, bins), &out,
               status));
  shape_set_output(c, 0, out);
  return true;
}

const OpRegistration kOpSparseBincount = {
    .name = "SparseBincount",
    .inputs = {"indices: int64", "values: Tidx", "dense_shape: int64", "size: Tidx", "weights: T"},
    .outputs = {"output: T"},
    .attrs = {"Tidx: {int32, int64}", "T: {int32, int64, float, double}", "binary_output: bool = false"},
    .shape = bincount_shape,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(BincountState),
    .construct = bincount_construct,
    .kernels = {INT_KERNELS(sparse_bincount)},
};

/* --- sparse results --- */

typedef struct CountState {
  int64_t least, most; /* attrs minlength and maxlength */
  bool binary;
} CountState;

static bool count_construct(const KernelConstruction *construction, void *memory, Status *status) {
  CountState *state = memory;
  return node_attr_int(construction->node, "minlength", &state->least, status) &&
         node_attr_int(construction->node, "maxlength", &state->most, status) &&
         node_attr_bool(construction->node, "binary_output", &state->binary, status);
}

static bool check_weights(const Tensor *values, const Tensor *weights, const char *name, Status *status) {
  char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY];
  return tensor_num_elements(weights) == 0 || shape_equal(&weights->shape, &values->shape) ||
         status_invalid(status, "Weights and %s must have the same shape. Weight shape: %s; %s shape: %s",
                        name, shape_text(&weights->shape, a), name, shape_text(&values->shape, b));
}

static bool check_values(const Tensor *values, Status *status) {
  for (int64_t i = 0; i < tensor_num_elements(values); i++) {
    if (tensor_int_at(values, i) < 0) return status_invalid(status, "Input values must all be non-negative");
  }
  return true;
}

/* The values with their rows, as indices of a sparse tensor, so that they can be sorted. */
typedef struct Counting {
  Tensor pairs; /* int64 [count, 2]: row and value, without values that are not counted */
  Tensor from;  /* int64 [count]: the positions of these values */
  int64_t count, rows, largest;
} Counting;

static bool begin_counting(KernelContext *context, int64_t count, Counting *counting, Status *status) {
  return tensor_allocate_dims(&counting->pairs, DT_INT64, 2, (int64_t[]){count, 2}, context->pool, status) &&
         tensor_allocate_dims(&counting->from, DT_INT64, 1, &count, context->pool, status);
}

static void count_value(KernelContext *context, const Tensor *values, int64_t i, int64_t row,
                        Counting *counting) {
  int64_t most = ((const CountState *)context->state)->most, value = tensor_int_at(values, i);
  if (most >= 0 && value >= most) return;
  tensor_i64(&counting->pairs)[2 * counting->count] = row;
  tensor_i64(&counting->pairs)[2 * counting->count + 1] = value;
  tensor_i64(&counting->from)[counting->count++] = i;
  if (value > counting->largest) counting->largest = value;
}

static int64_t count_runs(const SparseTensor *x, const int64_t *order) {
  int64_t runs = 0;
  for (int64_t i = 0; i < x->count; runs++) i = sparse_run_end(x, order, i, NULL, 2);
  return runs;
}

static bool give_runs(KernelContext *context, const SparseTensor *x, const int64_t *order,
                      const Tensor *weights, bool is_vector, const Tensor *one, Status *status) {
  bool binary = ((const CountState *)context->state)->binary;
  int64_t runs = count_runs(x, order), run = 0, columns = is_vector ? 1 : 2;
  Tensor *indices, *counts;
  TRY(kernel_allocate_output_dims(context, 0, 2, (int64_t[]){runs, columns}, &indices, status));
  TRY(kernel_allocate_output_dims(context, 1, 1, &runs, &counts, status));
  array_clear(counts);
  for (int64_t i = 0, end; i < x->count; i = end, run++) {
    const int64_t *pair = sparse_index(x, order[i]);
    end = sparse_run_end(x, order, i, NULL, 2);
    for (int64_t k = 0; k < columns; k++) tensor_i64(indices)[run * columns + k] = pair[k + 2 - columns];
    if (binary) set_one(counts, run);
    for (int64_t k = i; !binary && k < end; k++)
      add_weight(weights, one, tensor_i64(x->values)[order[k]], counts, run);
  }
  return true;
}

static bool finish_counting(KernelContext *context, Counting *counting, const Tensor *weights, bool is_vector,
                            Status *status) {
  const CountState *state = context->state;
  SparseTensor x = {.indices = &counting->pairs,
                    .values = &counting->from,
                    .count = counting->count,
                    .rank = 2};
  int64_t longest = counting->largest + 1 > state->least ? counting->largest + 1 : state->least;
  int64_t sizes[] = {counting->rows, state->most >= 0 ? state->most : longest};
  Tensor one = {0};
  int64_t *order = sparse_sort(&x, NULL, status);
  bool ok = order && make_one(context, context->output_types[1], &one, status) &&
            give_runs(context, &x, order, tensor_num_elements(weights) > 0 ? weights : NULL, is_vector, &one,
                      status) &&
            sparse_give_sizes(context, 2, is_vector ? sizes + 1 : sizes, is_vector ? 1 : 2, status);
  tensor_clear(&one);
  mem_free(order);
  return ok;
}

static void end_counting(Counting *counting) {
  tensor_clear(&counting->pairs);
  tensor_clear(&counting->from);
}

static bool check_dense(const Tensor *values, const Tensor *weights, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  if (values->shape.rank != 1 && values->shape.rank != 2)
    return status_invalid(status, "Input must be a 1 or 2-dimensional tensor. Got: %s",
                          shape_text(&values->shape, text));
  TRY(check_weights(values, weights, "data", status));
  TRY(check_values(values, status));
  return values->shape.rank == 1 || shape_dim(&values->shape, 0) != 0 ||
         status_invalid(status, "Invalid input: Shapes dimension cannot be 0.");
}

static bool dense_count(KernelContext *context, Status *status) {
  const Tensor *values = context->inputs[0], *weights = context->inputs[1];
  Counting counting = {.rows = 1};
  TRY(check_dense(values, weights, status));
  int64_t count = tensor_num_elements(values);
  if (values->shape.rank == 2) counting.rows = shape_dim(&values->shape, 0);
  bool ok = begin_counting(context, count, &counting, status);
  for (int64_t i = 0; ok && i < count; i++)
    count_value(context, values, i, i / (count / counting.rows), &counting);
  ok = ok && finish_counting(context, &counting, weights, values->shape.rank == 1, status);
  end_counting(&counting);
  return ok;
}

static bool check_sparse(KernelContext *context, Status *status) {
  const Tensor *indices = context->inputs[0], *values = context->inputs[1], *sizes = context->inputs[2];
  char text[SHAPE_TEXT_CAPACITY];
  if (indices->shape.rank != 2)
    return status_invalid(status, "Input indices must be a 2-dimensional tensor. Got: %s",
                          shape_text(&indices->shape, text));
  if (values->shape.rank != 1)
    return status_invalid(status, "Input values must be a vector. Got: %s", shape_text(&values->shape, text));
  if (sizes->shape.rank != 1)
    return status_invalid(status, "Input shape must be a vector. Got: %s", shape_text(&sizes->shape, text));
  TRY(check_values(values, status));
  int64_t count = tensor_num_elements(values), rank = tensor_num_elements(sizes);
  if (count != shape_dim(&indices->shape, 0))
    return status_invalid(status,
                          "Number of values must match first dimension of indices.Got %lld values, indices "
                          "shape: %s",
                          (long long)count, shape_text(&indices->shape, text));
  if (rank != shape_dim(&indices->shape, 1))
    return status_invalid(status,
                          "Number of dimensions must match second dimension of indices.Got %lld dimensions, "
                          "indices shape: %s",
                          (long long)rank, shape_text(&indices->shape, text));
  if (rank == 0) return status_invalid(status, "The shape argument requires at least one element.");
  return rank <= SHAPE_MAX_RANK ||
         status_invalid(status, "A shape has more than %d dimensions", SHAPE_MAX_RANK);
}

static bool refuse_index(const SparseTensor *x, int64_t i, Status *status) {
  StrBuf text = {0};
  int k = 0;
  while (sparse_index(x, i)[k] >= 0 && sparse_index(x, i)[k] < tensor_i64(x->sizes)[k]) k++;
  tensor_print(x->sizes, 3, &text);
  if (strbuf_ok(&text, status))
    status_invalid(status,
                   "Invalid index value at %lld: dimension %d has value %lld which is not in [0, %lld) (as "
                   "given "
                   "by dense shape %s",
                   (long long)i, k, (long long)sparse_index(x, i)[k], (long long)tensor_i64(x->sizes)[k],
                   strbuf_text(&text));
  strbuf_free(&text);
  return false;
}

static bool sparse_count(KernelContext *context, Status *status) {
  SparseTensor x;
  Counting counting = {.rows = 1};
  TRY(check_sparse(context, status));
  TRY(sparse_open(context->inputs, &x, status));
  for (int64_t i = 0; i < x.count; i++) {
    if (!sparse_inside(sparse_index(&x, i), tensor_i64(x.sizes), x.rank)) return refuse_index(&x, i, status);
  }
  TRY(check_weights(x.values, context->inputs[3], "values", status));
  if (x.rank > 1) counting.rows = tensor_i64(x.sizes)[0];
  if (counting.rows <= 0 || counting.rows >= INT32_MAX)
    return status_invalid(status, "Cannot allocate %d batches, is the dense shape too wide?",
                          (int)(uint32_t)counting.rows);
  bool ok = begin_counting(context, x.count, &counting, status);
  for (int64_t i = 0; ok && i < x.count; i++)
    count_value(context, x.values, i, x.rank > 1 ? sparse_index(&x, i)[0] : 0, &counting);
  ok = ok && finish_counting(context, &counting, context->inputs[3], x.rank == 1, status);
  end_counting(&counting);
  return ok;
}

static bool check_ragged(const Tensor *splits, const Tensor *values, const Tensor *weights, Status *status) {
  int64_t rows = tensor_num_elements(splits) - 1, count = tensor_num_elements(values);
  TRY(check_weights(values, weights, "values", status));
  TRY(check_values(values, status));
  if (rows < 1) return status_invalid(status, "Must provide at least 2 elements for the splits argument");
  if (tensor_i64(splits)[0] != 0)
    return status_invalid(status, "Splits must start with 0, not with %lld",
                          (long long)tensor_i64(splits)[0]);
  return tensor_i64(splits)[rows] == count ||
         status_invalid(status, "Splits must end with the number of values, got %lld instead of %lld",
                        (long long)tensor_i64(splits)[rows], (long long)count);
}

/* A value belongs to the row before the first split above its position, also if the splits are not sorted. */
static bool ragged_count(KernelContext *context, Status *status) {
  const Tensor *splits = context->inputs[0], *values = context->inputs[1], *weights = context->inputs[2];
  TRY(check_ragged(splits, values, weights, status));
  int64_t count = tensor_num_elements(values), row = 0;
  Counting counting = {.rows = tensor_num_elements(splits) - 1};
  bool ok = begin_counting(context, count, &counting, status);
  for (int64_t i = 0; ok && i < count; i++) {
    while (i >= tensor_i64(splits)[row]) row++;
    count_value(context, values, i, row - 1, &counting);
  }
  ok = ok && finish_counting(context, &counting, weights, false, status);
  end_counting(&counting);
  return ok;
}

/* --- shapes: the rank of the result is that of input `i`'s values --- */

static bool dense_count_shape(InferenceContext *c, Status *status) {
  ShapeHandle values = shape_input(c, 0);
  DimHandle rank = NULL;
  TRY(shape_with_rank_at_least(c, values, 1, &values, status));
  TRY(shape_with_rank_at_most(c, values, 2, &values, status));
  if (shape_rank_known(values)) TRY(dim_ok(dim_make(c, shape_rank(values)), &rank, status));
  return sparse_set_shapes(c, 0, NULL, rank, status);
}

static bool sparse_count_shape(InferenceContext *c, Status *status) {
  DimHandle rank = shape_dim_of(c, shape_input(c, 0), 1);
  return dim_ok(rank, &rank, status) && sparse_set_shapes(c, 0, NULL, rank, status);
}

static bool ragged_count_shape(InferenceContext *c, Status *status) {
  DimHandle rank;
  return dim_ok(dim_make(c, 2), &rank, status) && sparse_set_shapes(c, 0, NULL, rank, status);
}

#define COUNT_OP                                                                                   \
  .outputs = {"output_indices: int64", "output_values: output_type", "output_dense_shape: int64"}, \
  .attrs = {"T: {int32, int64}", "minlength: int >= -1 = -1", "maxlength: int >= -1 = -1",         \
            "binary_output: bool", "output_type: {int32, int64, float, double}"},                  \
  .gradient = NO_GRADIENT, .state_size = sizeof(CountState), .construct = count_construct

const OpRegistration kOpDenseCountSparseOutput = {
    .name = "DenseCountSparseOutput",
    .inputs = {"values: T", "weights: output_type"},
    COUNT_OP,
    .shape = dense_count_shape,
    .kernels = {INT_KERNELS(dense_count)},
};

const OpRegistration kOpSparseCountSparseOutput = {
    .name = "SparseCountSparseOutput",
    .inputs = {"indices: int64", "values: T", "dense_shape: int64", "weights: output_type"},
    COUNT_OP,
    .shape = sparse_count_shape,
    .kernels = {INT_KERNELS(sparse_count)},
};

const OpRegistration kOpRaggedCountSparseOutput = {
    .name = "RaggedCountSparseOutput",
    .inputs = {"splits: int64", "values: T", "weights: output_type"},
    COUNT_OP,
    .shape = ragged_count_shape,
    .kernels = {INT_KERNELS(ragged_count)},
};
