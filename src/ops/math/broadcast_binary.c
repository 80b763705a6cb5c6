/* Arithmetic of two tensors that broadcast against each other. */
#include "op/op_registry.h"
#include "ops/support/broadcast.h"
#include "ops/support/broadcast_gradient.h"
#include "ops/support/complex_quotient.h"
#include "ops/support/conjugate.h"
#include "ops/support/element_types.h"
#include "ops/math/string_add.h"

#define TEMPLATE "ops/math/binary_math.inc"
#define TYPES (TYPES_FLOAT | TYPES_HALF | TYPES_INT | TYPES_SMALL | TYPES_UNSIGNED | TYPES_COMPLEX)
#include "simd/each_type.inc"

#define TEMPLATE "ops/math/binary_order.inc"
#define TYPES (TYPES_FLOAT | TYPES_HALF | TYPES_INT | TYPES_SMALL | TYPES_UNSIGNED | TYPES_COMPLEX)
#include "simd/each_type.inc"

#define TEMPLATE "ops/math/binary_divide.inc"
#define TYPES (TYPES_FLOAT | TYPES_HALF | TYPES_COMPLEX)
#include "simd/each_type.inc"

const OpRegistration kOpAdd = {
    .name = "Add",
    .inputs = {"x: T", "y: T"},
    .outputs = {"z: T"},
    .attrs = {"T: {bfloat16, half, float, double, uint8, int8, int16, int32, int64, complex64, complex128, "
              "string}"},
    .shape = shape_broadcast_binary,
    .gradient = BROADCAST_GRADIENT("Add", "dz", "dz", ""),
    .kernels = {TYPED_FLOAT_AND_HALF_KERNELS(broadcast_kernel, add),
                TYPED_INT_KERNELS(broadcast_kernel, add),
                {DT_UINT8, broadcast_kernel, add_u8},
                {DT_INT8, broadcast_kernel, add_i8},
                {DT_INT16, broadcast_kernel, add_i16},
                TYPED_COMPLEX_KERNELS(broadcast_kernel, add),
                {DT_STRING, add_string}},
};

const OpRegistration kOpAddV2 = {
    .name = "AddV2",
    .inputs = {"x: T", "y: T"},
    .outputs = {"z: T"},
    .attrs = {"T: {bfloat16, half, float, double, uint8, uint16, uint32, uint64, int8, int16, int32, int64, "
              "complex64, "
              "complex128}"},
    .is_commutative = true,
    .is_aggregate = true,
    .shape = shape_broadcast_binary,
    .gradient = BROADCAST_GRADIENT("AddV2", "dz", "dz", ""),
    .kernels = {TYPED_NUMBER_KERNELS(broadcast_kernel, add)},
};

const OpRegistration kOpSub = {
    .name = "Sub",
    .inputs = {"x: T", "y: T"},
    .outputs = {"z: T"},
    .attrs = {"T: {bfloat16, half, float, double, uint8, int8, uint16, int16, int32, int64, complex64, "
              "complex128, uint32, uint64}"},
    .shape = shape_broadcast_binary,
    .gradient =
        "SubGradient[T:type](x:T, y:T, dz:T) -> (dx:T, dy:T) {\n"
        "  sx = Shape[T=$T](x)\n"
        "  sy = Shape[T=$T](y)\n"
        "  axes = BroadcastGradientArgs(sx:output:0, sy:output:0)\n"
        "  total_x = Sum[T=$T](dz, axes:r0:0)\n"
        "  dx = Reshape[T=$T](total_x:output:0, sx:output:0)\n"
        "  total_y = Sum[T=$T](dz, axes:r1:0)\n"
        "  minus = Neg[T=$T](total_y:output:0)\n"
        "  dy = Reshape[T=$T](minus:y:0, sy:output:0)\n"
        "  return dx = dx:output:0, dy = dy:output:0\n"
        "}\n",
    .kernels = {TYPED_NUMBER_KERNELS(broadcast_kernel, sub)},
};

CONJUGATE_GRADIENT(mul_gradient, BROADCAST_GRADIENT("Mul", "gx:z:0", "gy:z:0",
                                                    "  gx = Mul[T=$T](dz, ~y)\n"
                                                    "  gy = Mul[T=$T](~x, dz)\n"))
const OpRegistration kOpMul = {
    .name = "Mul",
    .inputs = {"x: T", "y: T"},
    .outputs = {"z: T"},
    .attrs = {"T: {bfloat16, half, float, double, uint8, int8, uint16, int16, int32, uint32, uint64, int64, "
              "complex64, complex128}"},
    .is_commutative = true,
    .shape = shape_broadcast_binary,
    .gradient_fn = mul_gradient,
    .kernels = {TYPED_NUMBER_KERNELS(broadcast_kernel, mul)},
};

CONJUGATE_GRADIENT(real_div_gradient, BROADCAST_GRADIENT("RealDiv", "gx:z:0", "gy:y:0",
                                                         "  gx = RealDiv[T=$T](dz, ~y)\n"
                                                         "  quotient = RealDiv[T=$T](~x, ~y)\n"
                                                         "  slope = Mul[T=$T](gx:z:0, quotient:z:0)\n"
                                                         "  gy = Neg[T=$T](slope:z:0)\n"))
/* TensorFlow has no kernels for integers here either. */
const OpRegistration kOpRealDiv = {
    .name = "RealDiv",
    .inputs = {"x: T", "y: T"},
    .outputs = {"z: T"},
    .attrs = {"T: {bfloat16, half, float, double, uint8, int8, uint16, int16, int32, uint32, uint64, int64, "
              "complex64, complex128}"},
    .shape = shape_broadcast_binary,
    .gradient_fn = real_div_gradient,
    .kernels = {TYPED_FLOAT_AND_HALF_KERNELS(broadcast_kernel, divide),
                TYPED_COMPLEX_KERNELS(broadcast_kernel, divide)},
};

/* If both are equal the gradient goes to x, as in TensorFlow. */
const OpRegistration kOpMaximum = {
    .name = "Maximum",
    .inputs = {"x: T", "y: T"},
    .outputs = {"z: T"},
    .attrs = {"T: {bfloat16, half, float, double, int8, uint8, int16, uint16, int32, uint32, int64, uint64}"},
    .shape = shape_broadcast_binary,
    .gradient = BROADCAST_GRADIENT("Maximum", "gx:output:0", "gy:output:0",
                                   "  x_wins = GreaterEqual[T=$T](x, y)\n"
                                   "  zeros = ZerosLike[T=$T](dz)\n"
                                   "  gx = Select[T=$T](x_wins:z:0, dz, zeros:y:0)\n"
                                   "  gy = Select[T=$T](x_wins:z:0, zeros:y:0, dz)\n"),
    .kernels = {TYPED_REAL_KERNELS(broadcast_kernel, maximum)},
};

const OpRegistration kOpMinimum = {
    .name = "Minimum",
    .inputs = {"x: T", "y: T"},
    .outputs = {"z: T"},
    .attrs = {"T: {bfloat16, half, float, double, int8, uint8, int16, uint16, int32, uint32, int64, uint64}"},
    .shape = shape_broadcast_binary,
    .gradient = BROADCAST_GRADIENT("Minimum", "gx:output:0", "gy:output:0",
                                   "  x_wins = LessEqual[T=$T](x, y)\n"
                                   "  zeros = ZerosLike[T=$T](dz)\n"
                                   "  gx = Select[T=$T](x_wins:z:0, dz, zeros:y:0)\n"
                                   "  gy = Select[T=$T](x_wins:z:0, zeros:y:0, dz)\n"),
    .kernels = {TYPED_REAL_KERNELS(broadcast_kernel, minimum)},
};

const OpRegistration kOpSquaredDifference = {
    .name = "SquaredDifference",
    .inputs = {"x: T", "y: T"},
    .outputs = {"z: T"},
    .attrs = {"T: {bfloat16, half, float, double, int32, int64, complex64, complex128}"},
    .is_commutative = true,
    .shape = shape_broadcast_binary,
    .gradient = BROADCAST_GRADIENT("SquaredDifference", "gx:z:0", "gy:y:0",
                                   "  difference = Sub[T=$T](x, y)\n"
                                   "  two = Const[dtype=$T, value=2]()\n"
                                   "  slope = Mul[T=$T](two:output:0, difference:z:0)\n"
                                   "  gx = Mul[T=$T](dz, slope:z:0)\n"
                                   "  gy = Neg[T=$T](gx:z:0)\n"),
    .kernels = {TYPED_FLOAT_AND_HALF_KERNELS(broadcast_kernel, squared_difference),
                TYPED_INT_KERNELS(broadcast_kernel, squared_difference),
                TYPED_COMPLEX_KERNELS(broadcast_kernel, squared_difference)},
};
