/* Bincount: the number of occurrences of each integer from 0 on, or the sum of their weights. */
#include "op/op_registry.h"
#include "ops/support/element_types.h"

/* Adds to `out`, whose size is the number of bins. */
typedef void CountInBins(const Tensor *values, const Tensor *weighted, const Tensor *out);

/* Its data is a CountInBins. */
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
  for (int64_t i = 0; i < count; i++) {
    if (tensor_i32(numbers)[i] < 0) return status_invalid(status, "Input arr must be non-negative!");
  }
  Tensor *out;
  TRY(kernel_allocate_output_dims(context, 0, 1, &bins, &out, status));
  ((CountInBins *)context->data)(numbers, weights, out);
  return true;
}

#define TEMPLATE "ops/math/bincount_sum.inc"
#define TYPES (TYPES_FLOAT | TYPES_INT)
#include "simd/each_type.inc"

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
    .kernels = {TYPED_FLOAT_KERNELS(bincount, count_in_bins), TYPED_INT_KERNELS(bincount, count_in_bins)},
};
