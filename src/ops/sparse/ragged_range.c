/* RaggedRange: rows of numbers from a start up to a limit. */
#include <math.h>

#include "op/op_registry.h"
#include "ops/support/element_types.h"
#include "ops/sparse/ragged_splits.h"

/* The number of elements from `start` up to `limit`, refused above `most`; and these elements. */
typedef struct RangeLoops {
  bool (*count)(const void *start, const void *limit, const void *delta, int64_t most, int64_t *count,
                Status *status);
  void (*fill)(const void *start, const void *delta, int64_t count, void *out, int64_t at);
} RangeLoops;

static bool refuse_size(int64_t most, Status *status) {
  return status_invalid(status, "Requires ((limit - start) / delta) <= %lld", (long long)most);
}

#include "simd/simd.h"
#define TEMPLATE "ops/sparse/ragged_range.inc"
#define TYPES (TYPES_FLOAT | TYPES_INT)
#include "simd/each_type.inc"

/* The number of rows; scalars serve all rows. */
static bool count_rows(KernelContext *context, int64_t *rows, bool *is_scalar, Status *status) {
  static const char *const kNames[] = {"starts", "limits", "deltas"};
  *rows = -1;
  for (int i = 0; i < 3; i++) {
    const Tensor *x = context->inputs[i];
    if (x->shape.rank > 1) return status_invalid(status, "%s must be a scalar or vector", kNames[i]);
  }
  for (int i = 0; i < 3; i++) {
    const Tensor *x = context->inputs[i];
    is_scalar[i] = x->shape.rank == 0;
    if (is_scalar[i]) continue;
    if (*rows >= 0 && *rows != tensor_num_elements(x))
      return status_invalid(status, "starts, limits, and deltas must have the same shape");
    *rows = tensor_num_elements(x);
  }
  if (*rows < 0) *rows = 1;
  return true;
}

static const void *element(const KernelContext *context, const bool *is_scalar, int input, int64_t row) {
  const Tensor *x = context->inputs[input];
  return (const char *)x->data + (is_scalar[input] ? 0 : (size_t)row * dtype_size(x->dtype));
}

static bool ragged_range(KernelContext *context, Status *status) {
  const RangeLoops *loops = context->data;
  bool is_scalar[3], narrow = context->output_types[0] == DT_INT32;
  int64_t rows = 0, total = 0, most = narrow ? INT32_MAX : INT64_MAX;
  Tensor *splits, *values;
  TRY(count_rows(context, &rows, is_scalar, status));
  TRY(kernel_allocate_output_dims(context, 0, 1, (int64_t[]){rows + 1}, &splits, status));
  set_split(splits, 0, 0);
  for (int64_t i = 0; i < rows; i++) {
    int64_t count = 0;
    TRY(loops->count(element(context, is_scalar, 0, i), element(context, is_scalar, 1, i),
                     element(context, is_scalar, 2, i), most, &count, status));
    if (count > most - total)
      return status_invalid(status,
                            "The total range size overflowed. Consider using int64 instead of int32 for "
                            "row_splits_dtype.");
    total += count;
    set_split(splits, i + 1, total);
  }
  TRY(kernel_allocate_output_dims(context, 1, 1, &total, &values, status));
  for (int64_t i = 0; i < rows; i++) {
    int64_t begin = tensor_int_at(splits, i);
    loops->fill(element(context, is_scalar, 0, i), element(context, is_scalar, 2, i),
                tensor_int_at(splits, i + 1) - begin, values->data, begin);
  }
  return true;
}

static bool range_shape(InferenceContext *c, Status *status) {
  ShapeHandle splits, values;
  DimHandle rows, count;
  TRY(dim_ok(dim_unknown(c), &rows, status));
  bool scalars = true;
  for (int i = 0; i < 3; i++) {
    ShapeHandle x;
    TRY(shape_with_rank_at_most(c, shape_input(c, i), 1, &x, status));
    scalars = scalars && shape_rank_known(x) && shape_rank(x) == 0;
    if (shape_rank_known(x) && shape_rank(x) == 1)
      TRY(dim_merge(c, rows, shape_dim_of(c, x, 0), &rows, status));
  }
  if (scalars) TRY(dim_ok(dim_make(c, 1), &rows, status));
  TRY(dim_ok(dim_known(rows) ? dim_make(c, dim_value(rows) + 1) : dim_unknown(c), &count, status));
  TRY(shape_ok(shape_vector(c, count), &splits, status));
  TRY(shape_ok(shape_unknown_of_rank(c, 1), &values, status));
  shape_set_output(c, 0, splits);
  shape_set_output(c, 1, values);
  return true;
}

const OpRegistration kOpRaggedRange = {
    .name = "RaggedRange",
    .inputs = {"starts: T", "limits: T", "deltas: T"},
    .outputs = {"rt_nested_splits: Tsplits", "rt_dense_values: T"},
    .attrs = {"T: {bfloat16, float, double, int32, int64} = DT_INT32", "Tsplits: {int32, int64} = DT_INT64"},
    .shape = range_shape,
    .gradient = NO_GRADIENT,
    .kernels = {TYPED_FLOAT_KERNELS(ragged_range, &range), TYPED_INT_KERNELS(ragged_range, &range)},
};
