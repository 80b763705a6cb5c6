/* SparseFillEmptyRows, RaggedFillEmptyRows and their gradients: every row of a sparse matrix, or of a ragged
 * tensor, gets at least one value. A ragged tensor's indices are the numbers of the rows alone. */
#include <string.h>

#include "base/alloc.h"
#include "op/op_registry.h"
#include "ops/sparse/element_rows.h"
#include "ops/support/array_box.h"
#include "ops/support/element_types.h"
#include "ops/support/number_sum.h"

static bool check_fill(KernelContext *context, Status *status) {
  const Tensor *indices = context->inputs[0], *values = context->inputs[1], *shape = context->inputs[2];
  char text[SHAPE_TEXT_CAPACITY];
  if (!tensor_is_vector(shape))
    return status_invalid(status, "dense_shape must be a vector, saw: %s", shape_text(&shape->shape, text));
  if (indices->shape.rank != 2)
    return status_invalid(status, "indices must be a matrix, saw: %s", shape_text(&indices->shape, text));
  if (!tensor_is_vector(values))
    return status_invalid(status, "values must be a vector, saw: %s", shape_text(&values->shape, text));
  int64_t count = shape_dim(&indices->shape, 0), length = shape_dim(&indices->shape, 1);
  if (tensor_num_elements(values) != count)
    return status_invalid(status,
                          "The length of `values` (%lld) must match the first dimension of `indices` (%lld).",
                          (long long)tensor_num_elements(values), (long long)count);
  if (tensor_num_elements(shape) != length)
    return status_invalid(status,
                          "The length of `dense_shape` (%lld) must match the second dimension of `indices` "
                          "(%lld).",
                          (long long)tensor_num_elements(shape), (long long)length);
  if (!tensor_is_scalar(context->inputs[3]))
    return status_invalid(status, "default_value must be a scalar, saw: %s",
                          shape_text(&context->inputs[3]->shape, text));
  return length > 0 || status_invalid(status, "Dense shape cannot be empty.");
}

static int64_t index_length(const Tensor *indices) {
  return indices->shape.rank == 2 ? shape_dim(&indices->shape, 1) : 1;
}

/* The number of values in each row, `next`: where the row's values begin in the output. */
static bool count_rows(const Tensor *indices, int64_t rows, int64_t *counts, Status *status) {
  int64_t length = index_length(indices);
  for (int64_t i = 0; i < shape_dim(&indices->shape, 0); i++) {
    int64_t row = tensor_i64(indices)[i * length];
    if (row < 0 || row >= rows)
      return status_invalid(status, "indices(%lld, 0) is invalid: %lld >= %lld", (long long)i, (long long)row,
                            (long long)rows);
    counts[row]++;
  }
  return true;
}

/* Allocates the outputs and marks the empty rows; `counts` becomes the first place of each row. */
static bool lay_out(KernelContext *context, int64_t rows, int64_t *counts, Tensor *out[4], Status *status) {
  const Tensor *indices = context->inputs[0];
  int64_t total = 0;
  TRY(kernel_allocate_output_dims(context, 2, 1, &rows, &out[2], status));
  for (int64_t row = 0; row < rows; row++) {
    int64_t count = counts[row];
    tensor_bool(out[2])[row] = count == 0;
    counts[row] = total;
    total += count > 0 ? count : 1;
  }
  const int64_t dims[] = {total, index_length(indices)};
  TRY(kernel_allocate_output_dims(context, 0, indices->shape.rank, dims, &out[0], status));
  TRY(kernel_allocate_output_dims(context, 1, 1, &total, &out[1], status));
  int64_t count = shape_dim(&indices->shape, 0);
  return kernel_allocate_output_dims(context, 3, 1, &count, &out[3], status);
}

static bool write_values(KernelContext *context, int64_t rows, int64_t *places, Tensor *out[4],
                         Status *status) {
  const Tensor *indices = context->inputs[0];
  int64_t length = index_length(indices);
  size_t bytes = (size_t)length * sizeof(int64_t);
  for (int64_t row = 0; row < rows; row++) {
    if (!tensor_bool(out[2])[row]) continue;
    memset(tensor_i64(out[0]) + places[row] * length, 0, bytes);
    tensor_i64(out[0])[places[row] * length] = row;
    TRY(copy_elements(context->inputs[3], 0, out[1], places[row], 1, status));
  }
  for (int64_t i = 0; i < shape_dim(&indices->shape, 0); i++) {
    int64_t place = places[tensor_i64(indices)[i * length]]++;
    memcpy(tensor_i64(out[0]) + place * length, tensor_i64(indices) + i * length, bytes);
    TRY(copy_elements(context->inputs[1], i, out[1], place, 1, status));
    tensor_i64(out[3])[i] = place;
  }
  return true;
}

static bool fill_rows(KernelContext *context, int64_t rows, Status *status) {
  Tensor *out[4];
  int64_t count = shape_dim(&context->inputs[0]->shape, 0);
  if (rows == 0 && count > 0)
    return status_invalid(status, "Received SparseTensor with dense_shape[0] = 0 but indices.shape[0] = %lld",
                          (long long)count);
  if (rows < 0) return status_invalid(status, "Dimension %lld must be >= 0", (long long)rows);
  int64_t *counts = mem_calloc(rows, sizeof *counts);
  bool ok = counts || status_oom(status, "the rows of a sparse matrix");
  ok = ok && count_rows(context->inputs[0], rows, counts, status) &&
       lay_out(context, rows, counts, out, status) && write_values(context, rows, counts, out, status);
  mem_free(counts);
  return ok;
}

static bool fill_empty_rows(KernelContext *context, Status *status) {
  TRY(check_fill(context, status));
  return fill_rows(context, tensor_i64(context->inputs[2])[0], status);
}

static bool fill_shape(InferenceContext *c, Status *status) {
  ShapeHandle indices, values, shape, fallback, out;
  TRY(shape_with_rank(c, shape_input(c, 0), 2, &indices, status));
  TRY(shape_with_rank(c, shape_input(c, 1), 1, &values, status));
  TRY(shape_with_rank(c, shape_input(c, 2), 1, &shape, status));
  TRY(shape_with_rank(c, shape_input(c, 3), 0, &fallback, status));
  DimHandle count, length;
  TRY(dim_merge(c, shape_dim_of(c, indices, 0), shape_dim_of(c, values, 0), &count, status));
  TRY(dim_merge(c, shape_dim_of(c, indices, 1), shape_dim_of(c, shape, 0), &length, status));
  ShapeHandle sizes;
  TRY(shape_from_input_tensor(c, 2, &sizes, status));
  DimHandle rows =
      shape_rank_known(sizes) && shape_rank(sizes) > 0 ? shape_dim_of(c, sizes, 0) : dim_unknown(c);
  TRY(shape_ok(shape_matrix(c, dim_unknown(c), length), &out, status));
  shape_set_output(c, 0, out);
  TRY(shape_ok(shape_vector(c, dim_unknown(c)), &out, status));
  shape_set_output(c, 1, out);
  TRY(shape_ok(shape_vector(c, rows), &out, status));
  shape_set_output(c, 2, out);
  TRY(shape_ok(shape_vector(c, count), &out, status));
  shape_set_output(c, 3, out);
  return true;
}

const OpRegistration kOpSparseFillEmptyRows = {
    .name = "SparseFillEmptyRows",
    .inputs = {"indices: int64", "values: T", "dense_shape: int64", "default_value: T"},
    .outputs = {"output_indices: int64", "output_values: T", "empty_row_indicator: bool",
                "reverse_index_map: int64"},
    .attrs = {"T: type"},
    .shape = fill_shape,
    .gradient =
        "SparseFillEmptyRowsGradient[T:type](indices:int64, values:T, shape:int64, default:T, "
        "doutput_indices:int64, doutput_values:T, dempty:bool, dmap:int64) -> (dindices:int64, dvalues:T, "
        "dshape:int64, ddefault:T) {\n"
        "  filled = SparseFillEmptyRows[T=$T](indices, values, shape, default)\n"
        "  d = SparseFillEmptyRowsGrad[T=$T](filled:reverse_index_map:0, doutput_values)\n"
        "  dindices = ZerosLike[T=int64](indices)\n"
        "  dshape = ZerosLike[T=int64](shape)\n"
        "  return dindices = dindices:y:0, dvalues = d:d_values:0, dshape = dshape:y:0, "
        "ddefault = d:d_default_value:0\n"
        "}\n",
    .kernels = {{DT_INVALID, fill_empty_rows}},
};

/* --- SparseFillEmptyRowsGrad: its default gets the sum of the gradients that no value has --- */

static bool check_map(const Tensor *map, const Tensor *grads, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  if (!tensor_is_vector(map))
    return status_invalid(status, "reverse_index_map must be a vector, saw: %s",
                          shape_text(&map->shape, text));
  if (!tensor_is_vector(grads))
    return status_invalid(status, "grad_values must be a vector, saw: %s", shape_text(&grads->shape, text));
  int64_t count = tensor_num_elements(grads);
  for (int64_t i = 0; i < tensor_num_elements(map); i++) {
    int64_t at = tensor_i64(map)[i];
    if (at < 0 || at >= count)
      return status_invalid(status, "Elements in reverse index must be in [0, %lld) but got %lld",
                            (long long)count, (long long)at);
  }
  return true;
}

/* Adds element `i` to a scalar. */
static bool add_element(const Tensor *from, int64_t i, Tensor *sum, Status *status) {
  char *data = (char *)from->data + i * (int64_t)dtype_size((int)from->dtype);
  Tensor element = {.dtype = from->dtype, .data = data};
  return number_sum((const Tensor *const[]){sum, &element}, 2, sum, NULL, status);
}

static bool fill_grad(KernelContext *context, Status *status) {
  static const Shape kScalar = {0};
  const Tensor *map = context->inputs[0], *grads = context->inputs[1];
  Tensor *out, *fallback;
  TRY(check_map(map, grads, status));
  TRY(kernel_allocate_output(context, 0, &map->shape, &out, status));
  TRY(kernel_allocate_output(context, 1, &kScalar, &fallback, status));
  bool *taken = mem_calloc(tensor_num_elements(grads), sizeof *taken);
  if (!taken) return status_oom(status, "the rows of a sparse matrix");
  bool ok = true;
  for (int64_t i = 0; ok && i < tensor_num_elements(map); i++) {
    taken[tensor_i64(map)[i]] = true;
    ok = copy_elements(grads, tensor_i64(map)[i], out, i, 1, status);
  }
  array_clear(fallback);
  for (int64_t i = 0; ok && i < tensor_num_elements(grads); i++)
    ok = taken[i] || add_element(grads, i, fallback, status);
  mem_free(taken);
  return ok;
}

static bool fill_grad_shape(InferenceContext *c, Status *status) {
  ShapeHandle map, grads, scalar;
  TRY(shape_with_rank(c, shape_input(c, 0), 1, &map, status));
  TRY(shape_with_rank(c, shape_input(c, 1), 1, &grads, status));
  TRY(shape_ok(shape_scalar(c), &scalar, status));
  shape_set_output(c, 0, map);
  shape_set_output(c, 1, scalar);
  return true;
}

/* A gradient that a value has gets the value's, the others the default's. */
#define FILL_GRAD_OP(op)                                                                               \
  .inputs = {"reverse_index_map: int64", "grad_values: T"},                                            \
  .outputs = {"d_values: T", "d_default_value: T"}, .attrs = {"T: type"}, .shape = fill_grad_shape,    \
  .gradient = op                                                                                       \
      "Gradient[T:type](map:int64, grads:T, d_values:T, d_default:T) -> "                              \
      "(dmap:int64, "                                                                                  \
      "dgrads:T) {\n"                                                                                  \
      "  count = Size[T=$T, out_type=int32](grads)\n"                                                  \
      "  entries = Shape[T=int64, out_type=int32](map)\n"                                              \
      "  one = Const[dtype=float, value=1]()\n"                                                        \
      "  moved = UnsortedSegmentSum[T=$T, Tindices=int64, Tnumsegments=int32](d_values, map, "         \
      "count:output:0)\n"                                                                              \
      "  ones = Fill[T=float, index_type=int32](entries:output:0, one:output:0)\n"                     \
      "  taken = UnsortedSegmentSum[T=float, Tindices=int64, Tnumsegments=int32](ones:output:0, map, " \
      "count:output:0)\n"                                                                              \
      "  zeros = ZerosLike[T=$T](grads)\n"                                                             \
      "  none = Const[dtype=float, value=0]()\n"                                                       \
      "  has = Greater[T=float](taken:output:0, none:output:0)\n"                                      \
      "  defaults = Add[T=$T](zeros:y:0, d_default)\n"                                                 \
      "  dgrads = Select[T=$T](has:z:0, moved:output:0, defaults:z:0)\n"                               \
      "  dmap = ZerosLike[T=int64](map)\n"                                                             \
      "  return dmap = dmap:y:0, dgrads = dgrads:output:0\n"                                           \
      "}\n",                                                                                           \
  .kernels = {NUMBER_KERNELS(fill_grad)}

const OpRegistration kOpSparseFillEmptyRowsGrad = {
    .name = "SparseFillEmptyRowsGrad",
    FILL_GRAD_OP("SparseFillEmptyRowsGrad"),
};

const OpRegistration kOpRaggedFillEmptyRowsGrad = {
    .name = "RaggedFillEmptyRowsGrad",
    FILL_GRAD_OP("RaggedFillEmptyRowsGrad"),
};

/* --- ragged tensors --- */

static bool fill_ragged_rows(KernelContext *context, Status *status) {
  const Tensor *rows = context->inputs[0], *values = context->inputs[1], *count = context->inputs[2];
  char text[SHAPE_TEXT_CAPACITY];
  if (!tensor_is_scalar(count))
    return status_invalid(status, "nrows must be a scalar, saw: %s", shape_text(&count->shape, text));
  if (!tensor_is_vector(rows))
    return status_invalid(status, "value_rowids must be a vector, saw: %s", shape_text(&rows->shape, text));
  if (!tensor_is_vector(values))
    return status_invalid(status, "values must be a vector, saw: %s", shape_text(&values->shape, text));
  if (tensor_num_elements(values) != tensor_num_elements(rows))
    return status_invalid(status,
                          "The length of `values` (%lld) must match the first dimension of `value_rowids` "
                          "(%lld).",
                          (long long)tensor_num_elements(values), (long long)tensor_num_elements(rows));
  if (!tensor_is_scalar(context->inputs[3]))
    return status_invalid(status, "default_value must be a scalar, saw: %s",
                          shape_text(&context->inputs[3]->shape, text));
  return fill_rows(context, tensor_i64(count)[0], status);
}

static bool fill_ragged_shape(InferenceContext *c, Status *status) {
  ShapeHandle rows, values, any, out;
  DimHandle count, filled;
  TRY(shape_with_rank(c, shape_input(c, 0), 1, &rows, status));
  TRY(shape_with_rank(c, shape_input(c, 1), 1, &values, status));
  TRY(shape_with_rank(c, shape_input(c, 2), 0, &any, status));
  TRY(shape_with_rank(c, shape_input(c, 3), 0, &any, status));
  TRY(dim_merge(c, shape_dim_of(c, rows, 0), shape_dim_of(c, values, 0), &count, status));
  TRY(dim_for_scalar_input(c, 2, &filled, status));
  for (int i = 0; i < 4; i++) {
    TRY(shape_ok(shape_vector(c, i == 2 ? filled : i == 3 ? count : dim_unknown(c)), &out, status));
    shape_set_output(c, i, out);
  }
  return true;
}

const OpRegistration kOpRaggedFillEmptyRows = {
    .name = "RaggedFillEmptyRows",
    .inputs = {"value_rowids: int64", "values: T", "nrows: int64", "default_value: T"},
    .outputs = {"output_value_rowids: int64", "output_values: T", "empty_row_indicator: bool",
                "reverse_index_map: int64"},
    .attrs = {"T: type"},
    .shape = fill_ragged_shape,
    .gradient =
        "RaggedFillEmptyRowsGradient[T:type](rows:int64, values:T, count:int64, default:T, drows:int64, "
        "doutput_values:T, dempty:bool, dmap:int64) -> (di:int64, dvalues:T, dcount:int64, ddefault:T) {\n"
        "  filled = RaggedFillEmptyRows[T=$T](rows, values, count, default)\n"
        "  d = RaggedFillEmptyRowsGrad[T=$T](filled:reverse_index_map:0, doutput_values)\n"
        "  di = ZerosLike[T=int64](rows)\n"
        "  dcount = ZerosLike[T=int64](count)\n"
        "  return di = di:y:0, dvalues = d:d_values:0, dcount = dcount:y:0, ddefault = "
        "d:d_default_value:0\n"
        "}\n",
    .kernels = {{DT_INVALID, fill_ragged_rows}},
};
