/* Quotients and remainders of two tensors that broadcast against each other. */
#include "ops/math/division.h"

#include "op/op_registry.h"
#include "ops/support/broadcast.h"
#include "ops/support/broadcast_gradient.h"
#include "ops/support/complex_quotient.h"
#include "ops/support/conjugate.h"
#include "ops/support/element_types.h"
#include "ops/support/elementwise.h"

bool divide_kernel(KernelContext *context, Status *status) {
  const Tensor *x = context->inputs[0], *y = context->inputs[1];
  if (dtype_is_integer(y->dtype) && tensor_num_elements(x) > 0 && elementwise_has_zero(y)) {
    return status_invalid(status, "Integer division by zero");
  }
  return broadcast_kernel(context, status);
}

#define TEMPLATE "ops/math/division.inc"
#define TYPES (TYPES_FLOAT | TYPES_HALF | TYPES_INT | TYPES_SMALL | TYPES_UNSIGNED | TYPES_COMPLEX)
#include "simd/each_type.inc"

/* Integer quotients are truncated. */
CONJUGATE_GRADIENT(div_gradient, BROADCAST_GRADIENT("Div", "gx:z:0", "gy:y:0",
                                                    "  gx = Div[T=$T](dz, ~y)\n"
                                                    "  quotient = Div[T=$T](~x, ~y)\n"
                                                    "  slope = Mul[T=$T](gx:z:0, quotient:z:0)\n"
                                                    "  gy = Neg[T=$T](slope:z:0)\n"))
const OpRegistration kOpDiv = {
    .name = "Div",
    .inputs = {"x: T", "y: T"},
    .outputs = {"z: T"},
    .attrs = {QUOTIENT_TYPES},
    .shape = shape_broadcast_binary,
    .gradient_fn = div_gradient,
    .kernels = {TYPED_FLOAT_AND_HALF_KERNELS(divide_kernel, div), TYPED_INT_KERNELS(divide_kernel, div),
                TYPED_SMALL_KERNELS(divide_kernel, div), TYPED_UNSIGNED_KERNELS(divide_kernel, div),
                TYPED_COMPLEX_KERNELS(divide_kernel, div)},
};

const OpRegistration kOpFloorDiv = {
    .name = "FloorDiv",
    .inputs = {"x: T", "y: T"},
    .outputs = {"z: T"},
    .attrs = {QUOTIENT_TYPES},
    .shape = shape_broadcast_binary,
    .gradient = NO_GRADIENT,
    .kernels = {TYPED_FLOAT_AND_HALF_KERNELS(divide_kernel, floor_div),
                TYPED_INT_KERNELS(divide_kernel, floor_div), TYPED_SMALL_KERNELS(divide_kernel, floor_div),
                TYPED_UNSIGNED_KERNELS(divide_kernel, floor_div)},
};

/* The remainder with the sign of y. */
const OpRegistration kOpFloorMod = {
    .name = "FloorMod",
    .inputs = {"x: T", "y: T"},
    .outputs = {"z: T"},
    .attrs = {"T: {int8, int16, int32, int64, uint8, uint16, uint32, uint64, bfloat16, half, float, double}"},
    .shape = shape_broadcast_binary,
    .gradient = REMAINDER_GRADIENT("FloorMod", "FloorDiv"),
    .kernels = {TYPED_FLOAT_AND_HALF_KERNELS(divide_kernel, floor_mod),
                TYPED_INT_KERNELS(divide_kernel, floor_mod), TYPED_SMALL_KERNELS(divide_kernel, floor_mod),
                TYPED_UNSIGNED_KERNELS(divide_kernel, floor_mod)},
};

/* Zero where y is zero, whatever x is. */
CONJUGATE_GRADIENT(div_no_nan_gradient, BROADCAST_GRADIENT("DivNoNan", "gx:z:0", "gy:y:0",
                                                           "  gx = DivNoNan[T=$T](dz, ~y)\n"
                                                           "  quotient = DivNoNan[T=$T](~x, ~y)\n"
                                                           "  slope = Mul[T=$T](gx:z:0, quotient:z:0)\n"
                                                           "  gy = Neg[T=$T](slope:z:0)\n"))
const OpRegistration kOpDivNoNan = {
    .name = "DivNoNan",
    .inputs = {"x: T", "y: T"},
    .outputs = {"z: T"},
    .attrs = {"T: {half, float, bfloat16, double, complex64, complex128}"},
    .shape = shape_broadcast_binary,
    .gradient_fn = div_no_nan_gradient,
    .kernels = {TYPED_FLOAT_AND_HALF_KERNELS(broadcast_kernel, div_no_nan),
                TYPED_COMPLEX_KERNELS(broadcast_kernel, div_no_nan)},
};

/* Zero where y is zero, even if x is infinite or NaN. */
CONJUGATE_GRADIENT(mul_no_nan_gradient, BROADCAST_GRADIENT("MulNoNan", "gx:z:0", "gy:z:0",
                                                           "  gx = MulNoNan[T=$T](dz, ~y)\n"
                                                           "  gy = MulNoNan[T=$T](~x, dz)\n"))
const OpRegistration kOpMulNoNan = {
    .name = "MulNoNan",
    .inputs = {"x: T", "y: T"},
    .outputs = {"z: T"},
    .attrs = {"T: {bfloat16, half, float, double, complex64, complex128}"},
    .shape = shape_broadcast_binary,
    .gradient_fn = mul_no_nan_gradient,
    .kernels = {TYPED_FLOAT_AND_HALF_KERNELS(broadcast_kernel, mul_no_nan),
                TYPED_COMPLEX_KERNELS(broadcast_kernel, mul_no_nan)},
};
