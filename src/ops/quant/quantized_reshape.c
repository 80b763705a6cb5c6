/* QuantizedReshape: another shape, the same numbers and range. */
#include "op/op_registry.h"
#include "ops/support/quant_types.h"
#include "ops/support/reshape_sizes.h"

static bool quantized_reshape(KernelContext *context, Status *status) {
  float min, max;
  TRY(quant_scalar(context, 2, "input_min", &min, status));
  TRY(quant_scalar(context, 3, "input_max", &max, status));
  TRY(reshape_to_sizes(context, status));
  TRY(quant_put_range(context, 1, min, status));
  return quant_put_range(context, 2, max, status);
}

static bool quantized_reshape_shape(InferenceContext *c, Status *status) {
  TRY(shape_of_reshape(c, status));
  return quant_scalar_shapes(c, 2, 4, status);
}

const OpRegistration kOpQuantizedReshape = {
    .name = "QuantizedReshape",
    .inputs = {"tensor: T", "shape: Tshape", "input_min: float", "input_max: float"},
    .outputs = {"output: T", "output_min: float", "output_max: float"},
    .attrs = {"T: type", "Tshape: {int32, int64} = DT_INT32"},
    .shape = quantized_reshape_shape,
    .kernels = {{DT_INVALID, quantized_reshape}},
};
