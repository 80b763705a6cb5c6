/* L2Loss: half the sum of squares. */
#include "op/op_registry.h"
#include "ops/support/element_types.h"

#define TEMPLATE "ops/nn/l2_loss.inc"
#define TYPES (TYPES_FLOAT | TYPES_HALF)
#include "simd/each_type.inc"

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
    .kernels = {TYPED_FLOAT_KERNELS(l2_loss), TYPED_HALF_KERNELS(l2_loss)},
};
