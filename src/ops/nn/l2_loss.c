/* L2Loss: half the sum of squares. */
#include "op/op_registry.h"
#include "ops/support/element_types.h"
#include "ops/support/elementwise.h"

#define TEMPLATE "ops/nn/l2_loss.inc"
#define TYPES (TYPES_FLOAT | TYPES_HALF)
#include "simd/each_type.inc"

/* The data reduces `count` elements to one. */
static bool l2_loss(KernelContext *context, Status *status) {
  const Tensor *input = context->inputs[0];
  Tensor *out;
  TRY(kernel_allocate_output_dims(context, 0, 0, NULL, &out, status));
  ((UnaryLoop *)context->data)(tensor_num_elements(input), input->data, out->data);
  return true;
}

const OpRegistration kOpL2Loss = {
    .name = "L2Loss",
    .inputs = {"t: T"},
    .outputs = {"output: T"},
    .attrs = {"T: {half, bfloat16, float, double}"},
    .shape = shape_scalar_output,
    .gradient =
        "L2LossGradient[T:type](t:T, dy:T) -> (dt:T) {\n"
        "  dt = Mul[T=$T](t, dy)\n"
        "  return dt = dt:z:0\n"
        "}\n",
    .kernels = {TYPED_FLOAT_AND_HALF_KERNELS(l2_loss, half_sum_of_squares)},
};
