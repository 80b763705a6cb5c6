/* L2Loss: half the sum of squares. */
#include "op/op_registry.h"
#include "ops/element_types.h"

#define TEMPLATE "ops/l2_loss.inc"
#define TYPES (TYPES_FLOAT | TYPES_HALF)
#include "ops/each_type.inc"

REGISTER_OP(L2Loss,
  .inputs = {"t: T"}, .outputs = {"output: T"}, .attrs = {"T: {half, bfloat16, float, double}"}, .shape = shape_scalar_output,
  .gradient =
    "L2LossGradient[T:type](t:T, dy:T) -> (dt:T) {\n"
    "  dt = Mul[T=$T](t, dy)\n"
    "  return dt = dt:z:0\n"
    "}\n",
  .kernels = {{DT_FLOAT, l2_loss_f32}, {DT_DOUBLE, l2_loss_f64}, {DT_HALF, l2_loss_f16}, {DT_BFLOAT16, l2_loss_bf16}})
