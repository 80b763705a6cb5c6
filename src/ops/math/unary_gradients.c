/* The gradient ops of functions whose derivative is an expression in their own result: z = dy * f'(x),
 * written in y = f(x). */
#include "op/op_registry.h"
#include "ops/support/complex_quotient.h"
#include "ops/support/conjugate.h"
#include "ops/support/element_types.h"
#include "ops/support/elementwise.h"

#define TEMPLATE "ops/math/unary_gradients.inc"
#define TYPES (TYPES_FLOAT | TYPES_HALF | TYPES_COMPLEX)
#include "simd/each_type.inc"

#define GRADIENT_TYPES "T: {bfloat16, half, float, double, complex64, complex128}"

CONJUGATE_GRADIENT(sqrt_grad_gradient,
                   "SqrtGradGradient[T:type](y:T, dy:T, dz:T) -> (gy:T, gdy:T) {\n"
                   "  z = SqrtGrad[T=$T](y, dy)\n"
                   "  gdy = SqrtGrad[T=$T](~y, dz)\n"
                   "  ratio = RealDiv[T=$T](z:z:0, ~y)\n"
                   "  product = Mul[T=$T](~dz, ratio:z:0)\n"
                   "  gy = Neg[T=$T](product:z:0)\n"
                   "  return gy = gy:y:0, gdy = gdy:z:0\n"
                   "}\n")
/* z = dy / (2 y) */
const OpRegistration kOpSqrtGrad = {
    .name = "SqrtGrad",
    .inputs = {"y: T", "dy: T"},
    .outputs = {"z: T"},
    .attrs = {GRADIENT_TYPES},
    .shape = shape_unchanged,
    .gradient_fn = sqrt_grad_gradient,
    .kernels = {TYPED_FLOAT_AND_HALF_KERNELS(elementwise_slope, sqrt_grad),
                TYPED_COMPLEX_KERNELS(elementwise_slope, sqrt_grad)},
};

CONJUGATE_GRADIENT(rsqrt_grad_gradient,
                   "RsqrtGradGradient[T:type](y:T, dy:T, dz:T) -> (gy:T, gdy:T) {\n"
                   "  gdy = RsqrtGrad[T=$T](~y, dz)\n"
                   "  factor = Const[dtype=$T, value=-1.5]()\n"
                   "  y2 = Square[T=$T](~y)\n"
                   "  slope = Mul[T=$T](dy, y2:y:0)\n"
                   "  product = Mul[T=$T](~dz, slope:z:0)\n"
                   "  gy = Mul[T=$T](product:z:0, factor:output:0)\n"
                   "  return gy = gy:z:0, gdy = gdy:z:0\n"
                   "}\n")
/* z = -dy y^3 / 2 */
const OpRegistration kOpRsqrtGrad = {
    .name = "RsqrtGrad",
    .inputs = {"y: T", "dy: T"},
    .outputs = {"z: T"},
    .attrs = {GRADIENT_TYPES},
    .shape = shape_unchanged,
    .gradient_fn = rsqrt_grad_gradient,
    .kernels = {TYPED_FLOAT_AND_HALF_KERNELS(elementwise_slope, rsqrt_grad),
                TYPED_COMPLEX_KERNELS(elementwise_slope, rsqrt_grad)},
};

/* The gradients of the three ops below by y: each is dy times something times y^2. If the kernel conjugates
 * its slope, dz is conjugated here, else dy. */
#define MINUS_TWO_Y_DY(dz, dy)                       \
  "  factor = Const[dtype=$T, value=-2]()\n"         \
  "  slope = Mul[T=$T](" dy                          \
  ", ~y)\n"                                          \
  "  product = Mul[T=$T](" dz                        \
  ", slope:z:0)\n"                                   \
  "  gy = Mul[T=$T](product:z:0, factor:output:0)\n" \
  "  return gy = gy:z:0, gdy = gdy:z:0\n"            \
  "}\n"

CONJUGATE_GRADIENT(reciprocal_grad_gradient,
                   "ReciprocalGradGradient[T:type](y:T, dy:T, dz:T) -> (gy:T, gdy:T) {\n"
                   "  gdy = ReciprocalGrad[T=$T](~y, dz)\n" MINUS_TWO_Y_DY("~dz", "dy"))
/* z = -dy y^2 */
const OpRegistration kOpReciprocalGrad = {
    .name = "ReciprocalGrad",
    .inputs = {"y: T", "dy: T"},
    .outputs = {"z: T"},
    .attrs = {GRADIENT_TYPES},
    .shape = shape_unchanged,
    .gradient_fn = reciprocal_grad_gradient,
    .kernels = {TYPED_FLOAT_AND_HALF_KERNELS(elementwise_slope, reciprocal_grad),
                TYPED_COMPLEX_KERNELS(elementwise_slope, reciprocal_grad)},
};

CONJUGATE_GRADIENT(inv_grad_gradient,
                   "InvGradGradient[T:type](y:T, dy:T, dz:T) -> (gy:T, gdy:T) {\n"
                   "  gdy = InvGrad[T=$T](~y, dz)\n" MINUS_TWO_Y_DY("~dz", "dy"))
const OpRegistration kOpInvGrad = {
    .name = "InvGrad",
    .inputs = {"y: T", "dy: T"},
    .outputs = {"z: T"},
    .attrs = {GRADIENT_TYPES},
    .shape = shape_unchanged,
    .gradient_fn = inv_grad_gradient,
    .kernels = {TYPED_FLOAT_AND_HALF_KERNELS(elementwise_slope, reciprocal_grad),
                TYPED_COMPLEX_KERNELS(elementwise_slope, reciprocal_grad)},
};

CONJUGATE_GRADIENT(tanh_grad_gradient,
                   "TanhGradGradient[T:type](y:T, dy:T, dz:T) -> (gy:T, gdy:T) {\n"
                   "  gdy = TanhGrad[T=$T](~y, dz)\n" MINUS_TWO_Y_DY("dz", "~dy"))
/* z = dy (1 - y^2) */
const OpRegistration kOpTanhGrad = {
    .name = "TanhGrad",
    .inputs = {"y: T", "dy: T"},
    .outputs = {"z: T"},
    .attrs = {GRADIENT_TYPES},
    .shape = shape_unchanged,
    .gradient_fn = tanh_grad_gradient,
    .kernels = {TYPED_FLOAT_AND_HALF_KERNELS(elementwise_slope, tanh_grad),
                TYPED_COMPLEX_KERNELS(elementwise_slope, tanh_grad)},
};

CONJUGATE_GRADIENT(sigmoid_grad_gradient,
                   "SigmoidGradGradient[T:type](y:T, dy:T, dz:T) -> (gy:T, gdy:T) {\n"
                   "  gdy = SigmoidGrad[T=$T](~y, dz)\n"
                   "  one = Const[dtype=$T, value=1]()\n"
                   "  two_y = Add[T=$T](~y, ~y)\n"
                   "  slope = Sub[T=$T](one:output:0, two_y:z:0)\n"
                   "  product = Mul[T=$T](dz, ~dy)\n"
                   "  gy = Mul[T=$T](product:z:0, slope:z:0)\n"
                   "  return gy = gy:z:0, gdy = gdy:z:0\n"
                   "}\n")
/* z = dy y (1 - y) */
const OpRegistration kOpSigmoidGrad = {
    .name = "SigmoidGrad",
    .inputs = {"y: T", "dy: T"},
    .outputs = {"z: T"},
    .attrs = {GRADIENT_TYPES},
    .shape = shape_unchanged,
    .gradient_fn = sigmoid_grad_gradient,
    .kernels = {TYPED_FLOAT_AND_HALF_KERNELS(elementwise_slope, sigmoid_grad),
                TYPED_COMPLEX_KERNELS(elementwise_slope, sigmoid_grad)},
};
