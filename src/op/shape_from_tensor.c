/* Shapes and sizes given by the values of inputs, as far as they are known. */
#include "op/shape_inference.h"
#include "op/shape_internal.h"

/* No tensor has more sizes than this; a shorter list may be requested although no tensor is ever made from
 * it. */
static const int64_t kMaxDimensions = INT64_C(1) << 25;

static bool from_unknown_vector(InferenceContext *c, ShapeHandle vector, ShapeHandle *out, Status *status) {
  DimHandle length = vector->dims[0];
  if (!dim_known(length)) return shape_ok(shape_unknown(c), out, status);
  if (length->value >= kMaxDimensions) {
    return status_set(status, CODE_INTERNAL,
                      "Cannot create a tensor with %lld dimensions, as these would be more than maximum of "
                      "%lld",
                      (long long)length->value, (long long)kMaxDimensions);
  }
  return shape_ok(shape_unknown_of_rank(c, length->value), out, status);
}

/* -1 stands for an unknown shape; no other scalar is a shape. */
static bool from_scalar(InferenceContext *c, const Tensor *tensor, ShapeHandle *out, Status *status) {
  int64_t value = tensor_int_at(tensor, 0);
  if (value == UNKNOWN_DIM) return shape_ok(shape_unknown(c), out, status);
  return status_invalid(status,
                        "Input tensor must be rank 1, or if its rank 0 it must have value -1 (representing "
                        "an unknown "
                        "shape).  Saw value: %lld",
                        (long long)value);
}

static bool from_sizes(InferenceContext *c, const Tensor *tensor, ShapeHandle *out, Status *status) {
  int64_t rank = tensor_num_elements(tensor);
  if (rank > INT32_MAX) return status_invalid(status, "Rank cannot exceed kint32max");
  DimHandle *dims = shape_new_dims(c, rank);
  if (!dims) return shape_oom(status);
  for (int64_t i = 0; i < rank; i++) {
    int64_t size = tensor_int_at(tensor, i);
    if (size < UNKNOWN_DIM) {
      return status_invalid(status, "Invalid value in tensor used for shape: %lld", (long long)size);
    }
    TRY(dim_ok(dim_make(c, size), &dims[i], status));
  }
  return shape_ok(shape_around(c, dims, (int32_t)rank), out, status);
}

static bool from_value(InferenceContext *c, const Tensor *tensor, ShapeHandle *out, Status *status) {
  if (tensor->dtype != DT_INT32 && tensor->dtype != DT_INT64) {
    return status_invalid(status, "Input tensor must be int32 or int64, but was %s",
                          dtype_name(tensor->dtype));
  }
  if (tensor_is_scalar(tensor)) return from_scalar(c, tensor, out, status);
  if (!tensor_is_vector(tensor)) {
    return status_invalid(status, "Input tensor must be rank 1, but was rank %d.", tensor->shape.rank);
  }
  return from_sizes(c, tensor, out, status);
}

bool shape_from_tensor(InferenceContext *c, const Tensor *tensor, ShapeHandle tensor_shape, ShapeHandle *out,
                       Status *status) {
  *out = NULL;
  TRY(shape_with_rank(c, tensor_shape, 1, &tensor_shape, status));
  return !tensor ? from_unknown_vector(c, tensor_shape, out, status) : from_value(c, tensor, out, status);
}

/* The value of input `i`, or the part of it that is known as a shape; both NULL if nothing is known. */
static void look_up(InferenceContext *c, int i, const Tensor **value, ShapeHandle *partial) {
  *value = NULL;
  *partial = !c->input_tensors_as_shapes ? NULL : c->input_tensors_as_shapes[i];
  if (*partial && shape_rank_known(*partial)) return;
  *partial = NULL;
  *value = shape_input_tensor(c, i);
  if (!*value && c->requested_tensor_as_shape) c->requested_tensor_as_shape[i] = true;
}

bool shape_from_input_tensor(InferenceContext *c, int i, ShapeHandle *out, Status *status) {
  const Tensor *value;
  ShapeHandle sizes, partial;
  *out = NULL;
  TRY(shape_with_rank(c, c->inputs[i], 1, &sizes, status));
  look_up(c, i, &value, &partial);
  if (partial) return shape_ok(partial, out, status);
  return shape_from_tensor(c, value, sizes, out, status);
}

bool shape_from_input_tensor_or_scalar(InferenceContext *c, int i, ShapeHandle *out, Status *status) {
  const Tensor *value;
  ShapeHandle sizes, partial;
  *out = NULL;
  TRY(shape_with_rank_at_most(c, c->inputs[i], 1, &sizes, status));
  look_up(c, i, &value, &partial);
  if (partial) return shape_ok(partial, out, status);
  if (value) return from_value(c, value, out, status);
  return shape_rank(sizes) == 1 ? from_unknown_vector(c, sizes, out, status)
                                : shape_ok(shape_unknown(c), out, status);
}

/* *known receives whether the value is known. */
static bool read_scalar(InferenceContext *c, int i, bool *known, int64_t *value, Status *status) {
  const Tensor *tensor = shape_input_tensor(c, i);
  *known = tensor != NULL;
  *value = 0;
  if (!tensor) return true;
  if (!tensor_is_scalar(tensor)) {
    return status_invalid(status, "Input must be scalar but has rank %d", tensor->shape.rank);
  }
  if (tensor->dtype != DT_INT32 && tensor->dtype != DT_INT64 && tensor->dtype != DT_INT16) {
    return status_invalid(status, "Scalar input must be int32 or int64.");
  }
  *value = tensor_int_at(tensor, 0);
  return true;
}

bool dim_for_scalar_input(InferenceContext *c, int i, DimHandle *out, Status *status) {
  *out = NULL;
  bool known;
  int64_t value;
  TRY(read_scalar(c, i, &known, &value, status));
  if (!known) return dim_ok(dim_unknown(c), out, status);
  if (value < 0) {
    return status_invalid(status,
                          "Dimension size, given by scalar input %d, must be non-negative but is %lld", i,
                          (long long)value);
  }
  return dim_ok(dim_make(c, value), out, status);
}

bool dim_for_scalar_input_with_negative_indexing(InferenceContext *c, int i, int64_t input_rank,
                                                 DimHandle *out, Status *status) {
  *out = NULL;
  bool known;
  int64_t value;
  TRY(read_scalar(c, i, &known, &value, status));
  if (!known || (value < 0 && input_rank < 0)) return dim_ok(dim_unknown(c), out, status);
  if (input_rank >= 0 && (value < -input_rank || value >= input_rank)) {
    return status_invalid(status, "Dimension size, given by scalar input %lld must be in range [-%lld, %lld)",
                          (long long)value, (long long)input_rank, (long long)input_rank);
  }
  return dim_ok(dim_make(c, value < 0 ? value + input_rank : value), out, status);
}
