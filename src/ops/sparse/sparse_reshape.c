/* SparseReshape: the indices of a sparse tensor in another shape. */
#include "op/op_registry.h"
#include "ops/sparse/element_rows.h"

static bool check_reshape(KernelContext *context, Status *status) {
  const Tensor *indices = context->inputs[0], *from = context->inputs[1], *to = context->inputs[2];
  char text[SHAPE_TEXT_CAPACITY];
  if (indices->shape.rank != 2) return status_invalid(status, "Input must be a matrix.");
  if (!tensor_is_vector(from)) return status_invalid(status, "Input shape must be a vector.");
  if (!tensor_is_vector(to))
    return status_invalid(status, "Target shape should be a vector but received shape %s",
                          shape_text(&to->shape, text));
  if (tensor_num_elements(to) > SHAPE_MAX_RANK || tensor_num_elements(from) > SHAPE_MAX_RANK)
    return status_invalid(status, "A shape has more than %d dimensions", SHAPE_MAX_RANK);
  return shape_dim(&indices->shape, 1) == tensor_num_elements(from) ||
         status_invalid(status, "Input tensor rank must match input shape length.");
}

/* The size that a -1 of the new shape stands for. */
static bool infer_size(const Shape *from, int64_t *dims, int rank, int unknown, Status *status) {
  char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY];
  int64_t total = shape_num_elements(from), rest = 1;
  Shape to = {0};
  for (int i = 0; i < rank; i++) {
    if (i != unknown && __builtin_mul_overflow(rest, dims[i], &rest))
      return status_invalid(status, "The requested shape is too large.");
  }
  if (rest == 0) {
    dims[unknown] = 0;
    return total == 0 || status_invalid(status,
                                        "reshape cannot infer the missing input size for an empty tensor "
                                        "unless all specified input sizes are non-zero");
  }
  dims[unknown] = total / rest;
  if (total % rest == 0) return true;
  TRY(shape_set(&to, rank, dims, status));
  status_invalid(status,
                 "Input to reshape is a SparseTensor with %lld dense values, but the requested shape "
                 "requires a "
                 "multiple of %lld. input_shape=%s output_shape=%s",
                 (long long)total, (long long)rest, shape_text(from, a), shape_text(&to, b));
  shape_clear(&to);
  return false;
}

static bool new_shape(const Tensor *wanted, const Shape *from, Shape *to, Status *status) {
  int64_t dims[SHAPE_MAX_RANK];
  int rank = (int)tensor_num_elements(wanted), unknown = -1;
  char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY];
  for (int i = 0; i < rank; i++) {
    dims[i] = tensor_i64(wanted)[i];
    if (dims[i] == -1 && unknown >= 0)
      return status_invalid(status, "only one output dimension may be -1, not both %d and %d", unknown, i);
    if (dims[i] == -1) unknown = i;
    else if (dims[i] < 0)
      return status_invalid(status, "size %d must be non-negative, not %lld", i, (long long)dims[i]);
  }
  if (unknown >= 0) TRY(infer_size(from, dims, rank, unknown, status));
  TRY(shape_set(to, rank, dims, status));
  return shape_num_elements(to) == shape_num_elements(from) ||
         status_invalid(status,
                        "Input to reshape is a tensor with %lld dense values, but the requested shape has "
                        "%lld. "
                        "input_shape=%s output_shape=%s",
                        (long long)shape_num_elements(from), (long long)shape_num_elements(to),
                        shape_text(from, a), shape_text(to, b));
}

static void move_indices(const Tensor *indices, const Shape *from, const Shape *to, Tensor *out) {
  for (int64_t i = 0; i < shape_dim(&indices->shape, 0); i++) {
    const int64_t *old = tensor_i64(indices) + i * from->rank;
    int64_t *now = tensor_i64(out) + i * to->rank;
    uint64_t at = 0; /* indices outside of the shape wrap around, as in TensorFlow */
    for (int k = 0; k < from->rank; k++) at = at * (uint64_t)shape_dim(from, k) + (uint64_t)old[k];
    for (int k = to->rank - 1; k >= 0; k--) {
      int64_t size = shape_dim(to, k);
      now[k] = k > 0 ? (int64_t)at % size : (int64_t)at;
      at = (uint64_t)((int64_t)at / size);
    }
  }
}

static bool write_reshaped(KernelContext *context, const Shape *from, const Shape *to, Status *status) {
  const Tensor *indices = context->inputs[0];
  int64_t count = shape_dim(&indices->shape, 0), rank = to->rank;
  char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY];
  Tensor *out, *shape;
  if (count > 0 && (shape_num_elements(from) == 0 || shape_num_elements(to) == 0))
    return status_invalid(status,
                          "Input tensor has %lld non zero elements but input shape (%s) or output shape (%s) "
                          "is empty",
                          (long long)count, shape_text(from, a), shape_text(to, b));
  TRY(kernel_allocate_output_dims(context, 0, 2, (int64_t[]){count, rank}, &out, status));
  TRY(kernel_allocate_output_dims(context, 1, 1, &rank, &shape, status));
  for (int i = 0; i < to->rank; i++) tensor_i64(shape)[i] = shape_dim(to, i);
  move_indices(indices, from, to, out);
  return true;
}

static bool sparse_reshape(KernelContext *context, Status *status) {
  Shape from = {0}, to = {0};
  TRY(check_reshape(context, status));
  const Tensor *old = context->inputs[1];
  bool ok = shape_set(&from, (int)tensor_num_elements(old), tensor_i64(old), status) &&
            new_shape(context->inputs[2], &from, &to, status) && write_reshaped(context, &from, &to, status);
  shape_clear(&from);
  shape_clear(&to);
  return ok;
}

static bool reshape_shape(InferenceContext *c, Status *status) {
  ShapeHandle indices, from, to, out;
  TRY(shape_with_rank(c, shape_input(c, 0), 2, &indices, status));
  TRY(shape_with_rank(c, shape_input(c, 1), 1, &from, status));
  TRY(shape_with_rank(c, shape_input(c, 2), 1, &to, status));
  TRY(shape_ok(shape_matrix(c, shape_dim_of(c, indices, 0), shape_dim_of(c, to, 0)), &out, status));
  shape_set_output(c, 0, out);
  shape_set_output(c, 1, to);
  return true;
}

const OpRegistration kOpSparseReshape = {
    .name = "SparseReshape",
    .inputs = {"input_indices: int64", "input_shape: int64", "new_shape: int64"},
    .outputs = {"output_indices: int64", "output_shape: int64"},
    .shape = reshape_shape,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, sparse_reshape}},
};
