#include "ops/array/paddings.h"

bool paddings_check(const Tensor *input, const Tensor *paddings, const char *separator, Status *status) {
  char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY];
  if (paddings->shape.rank != 2 || shape_dim(&paddings->shape, 1) != 2) {
    return status_invalid(status, "paddings must be a matrix with 2 columns: %s",
                          shape_text(&paddings->shape, a));
  }
  if (shape_dim(&paddings->shape, 0) == input->shape.rank) return true;
  return status_invalid(status, "The first dimension of paddings must be the rank of inputs%s%s %s",
                        shape_text(&paddings->shape, a), separator, shape_text(&input->shape, b));
}

static bool shape_with(InferenceContext *c, bool without, Status *status) {
  ShapeHandle input = shape_input(c, 0), paddings, output;
  DimHandle checked;
  TRY(shape_with_rank(c, shape_input(c, 1), 2, &paddings, status));
  TRY(dim_with_value(c, shape_dim_of(c, paddings, 1), 2, &checked, status));
  DimHandle rows = shape_dim_of(c, paddings, 0);
  if (without && !dim_known(rows))
    return shape_unknown_outputs(c, status); /* TensorFlow does not use the input */
  if (dim_known(rows)) {
    TRY(shape_with_rank(c, input, dim_value(rows), &input, status));
  } else if (shape_rank_known(input)) {
    TRY(dim_with_value(c, rows, shape_rank(input), &rows, status));
  }
  const Tensor *values = shape_input_tensor(c, 1);
  if (!values) {
    TRY(shape_ok(shape_unknown_of_rank(c, shape_rank(input)), &output, status));
    shape_set_output(c, 0, output);
    return true;
  }
  if (values->shape.rank != 2 || shape_dim(&values->shape, 1) != 2) {
    return status_invalid(status, "paddings must be a matrix with 2 columns");
  }
  int64_t rank = shape_dim(&values->shape, 0);
  TRY(shape_with_rank(c, input, rank, &input, status));
  TRY(dim_with_value(c, rows, rank, &rows, status));
  DimHandle *dims = arena_alloc(c->arena, (rank + 1) * (int64_t)sizeof *dims);
  if (!dims) return status_oom(status, "shape inference");
  for (int64_t d = 0; d < rank; d++) {
    int64_t sizes[2] = {tensor_int_at(values, 2 * d), tensor_int_at(values, 2 * d + 1)};
    if (sizes[0] < 0 || sizes[1] < 0) return status_invalid(status, "Paddings must be non-negative");
    dims[d] = shape_dim_of(c, input, d);
    for (int k = 0; k < 2; k++) {
      DimHandle by = dim_make(c, sizes[k]);
      TRY(without ? dim_subtract(c, dims[d], by, &dims[d], status)
                  : dim_add(c, dims[d], by, &dims[d], status));
    }
  }
  TRY(shape_ok(shape_of_dims(c, dims, (int32_t)rank), &output, status));
  shape_set_output(c, 0, output);
  return true;
}

bool paddings_shape(InferenceContext *c, Status *status) { return shape_with(c, false, status); }
bool paddings_grad_shape(InferenceContext *c, Status *status) { return shape_with(c, true, status); }
