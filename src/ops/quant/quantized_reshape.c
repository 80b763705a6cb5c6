/* QuantizedReshape: another shape, the same numbers and range. */
#include "op/op_registry.h"
#include "ops/quant/quant_types.h"
#include "ops/support/array_box.h"

/* Replaces the -1 among the sizes. */
static bool infer_size(int64_t elements, int rank, int64_t *dims, Status *status) {
  int unknown = -1;
  int64_t known = 1;
  for (int i = 0; i < rank; i++) {
    if (dims[i] == -1 && unknown >= 0)
      return status_invalid(status, "Only one input size may be -1, not both %d and %d", unknown, i);
    if (dims[i] == -1) unknown = i;
    else if (dims[i] < 0)
      return status_invalid(status, "Size %d must be non-negative, not %lld", i, (long long)dims[i]);
    else if (__builtin_mul_overflow(known, dims[i], &known))
      return status_invalid(status, "Shape is too large (more than 2**63 - 1 entries)");
  }
  if (unknown < 0) {
    return known == elements ||
           status_invalid(status,
                          "Input to reshape is a tensor with %lld values, but the requested shape has %lld",
                          (long long)elements, (long long)known);
  }
  if (known == 0)
    return status_invalid(status,
                          "reshape cannot infer the missing input size for an empty tensor unless all "
                          "specified input sizes are non-zero");
  dims[unknown] = elements / known;
  return elements % known == 0 ||
         status_invalid(status,
                        "Input to reshape is a tensor with %lld values, but the requested shape requires a "
                        "multiple of %lld",
                        (long long)elements, (long long)known);
}

static bool quantized_reshape(KernelContext *context, Status *status) {
  const Tensor *x = context->inputs[0], *sizes = context->inputs[1];
  int64_t dims[SHAPE_MAX_RANK];
  float min, max;
  Shape shape = {0};
  char text[SHAPE_TEXT_CAPACITY];
  if (!tensor_is_vector(sizes))
    return status_invalid(status, "sizes input must be 1-D, not %s", shape_text(&sizes->shape, text));
  TRY(array_read_ints(sizes, dims, status));
  TRY(infer_size(tensor_num_elements(x), (int)tensor_num_elements(sizes), dims, status));
  TRY(quant_scalar(context, 2, "input_min", &min, status));
  TRY(quant_scalar(context, 3, "input_max", &max, status));
  TRY(shape_set(&shape, (int)tensor_num_elements(sizes), dims, status));
  bool ok = kernel_set_output(context, 0, x, &shape, status);
  shape_clear(&shape);
  TRY(ok && quant_put_range(context, 1, min, status));
  return quant_put_range(context, 2, max, status);
}

static bool reshape_shape(InferenceContext *c, Status *status) {
  ShapeHandle out;
  TRY(shape_from_input_tensor(c, 1, &out, status));
  shape_set_output(c, 0, out);
  return quant_scalar_shapes(c, 2, 4, status);
}

const OpRegistration kOpQuantizedReshape = {
    .name = "QuantizedReshape",
    .inputs = {"tensor: T", "shape: Tshape", "input_min: float", "input_max: float"},
    .outputs = {"output: T", "output_min: float", "output_max: float"},
    .attrs = {"T: type", "Tshape: {int32, int64} = DT_INT32"},
    .shape = reshape_shape,
    .kernels = {{DT_INVALID, quantized_reshape}},
};
