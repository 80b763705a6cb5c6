/* Arithmetic of two tensors that broadcast against each other. */
#include "op/op_registry.h"
#include "ops/broadcast.h"
#include "ops/broadcast_gradient.h"
#include "ops/complex_quotient.h"
#include "ops/conjugate.h"
#include "ops/element_types.h"
#include "ops/string_add.h"

#define TEMPLATE "ops/binary_math.inc"
#define TYPES (TYPES_FLOAT | TYPES_HALF | TYPES_INT | TYPES_SMALL | TYPES_UNSIGNED | TYPES_COMPLEX)
#include "ops/each_type.inc"

#define TEMPLATE "ops/binary_order.inc"
#define TYPES (TYPES_FLOAT | TYPES_HALF | TYPES_INT | TYPES_SMALL | TYPES_UNSIGNED | TYPES_COMPLEX)
#include "ops/each_type.inc"

#define TEMPLATE "ops/binary_divide.inc"
#define TYPES (TYPES_FLOAT | TYPES_HALF | TYPES_COMPLEX)
#include "ops/each_type.inc"

const OpRegistration kOpAdd = {
    .name = "Add",
    .inputs = {"x: T", "y: T"},
    .outputs = {"z: T"},
    .attrs = {"T: {bfloat16, half, float, double, uint8, int8, int16, int32, int64, complex64, complex128, "
              "string}"},
    .shape = shape_broadcast_binary,
    .gradient = "AddGradient[T:type](x:T, y:T, dz:T) -> (dx:T, dy:T) {\n" BROADCAST_AXES REDUCE_TO_X("dz")
        REDUCE_TO_Y("dz") RETURN_DX_DY,
    .kernels = {TYPED_FLOAT_KERNELS(add),
                TYPED_HALF_KERNELS(add),
                TYPED_INT_KERNELS(add),
                {DT_UINT8, add_u8},
                {DT_INT8, add_i8},
                {DT_INT16, add_i16},
                TYPED_COMPLEX_KERNELS(add),
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
    .gradient = "AddV2Gradient[T:type](x:T, y:T, dz:T) -> (dx:T, dy:T) {\n" BROADCAST_AXES REDUCE_TO_X("dz")
        REDUCE_TO_Y("dz") RETURN_DX_DY,
    .kernels = {TYPED_NUMBER_KERNELS(add)},
};

const OpRegistration kOpSub = {
    .name = "Sub",
    .inputs = {"x: T", "y: T"},
    .outputs = {"z: T"},
    .attrs = {"T: {bfloat16, half, float, double, uint8, int8, uint16, int16, int32, int64, complex64, complex128, uint32, uint64}"},
    .shape = shape_broadcast_binary,
    .gradient =
        "SubGradient[T:type](x:T, y:T, dz:T) -> (dx:T, dy:T) {\n"
        BROADCAST_AXES
        REDUCE_TO_X("dz")
        "  total_y = Sum[T=$T](dz, axes:r1:0)\n"
        "  minus = Neg[T=$T](total_y:output:0)\n"
        "  dy = Reshape[T=$T](minus:y:0, sy:output:0)\n"
        RETURN_DX_DY,
    .kernels = {TYPED_NUMBER_KERNELS(sub)},
};

CONJUGATE_GRADIENT(mul_gradient,
                   "MulGradient[T:type](x:T, y:T, dz:T) -> (dx:T, dy:T) {\n" BROADCAST_AXES
                   "  gx = Mul[T=$T](dz, ~y)\n" REDUCE_TO_X(
                       "gx:z:0") "  gy = Mul[T=$T](~x, dz)\n" REDUCE_TO_Y("gy:z:0") RETURN_DX_DY)
const OpRegistration kOpMul = {
    .name = "Mul",
    .inputs = {"x: T", "y: T"},
    .outputs = {"z: T"},
    .attrs = {"T: {bfloat16, half, float, double, uint8, int8, uint16, int16, int32, uint32, uint64, int64, "
              "complex64, complex128}"},
    .is_commutative = true,
    .shape = shape_broadcast_binary,
    .gradient_fn = mul_gradient,
    .kernels = {TYPED_NUMBER_KERNELS(mul)},
};

CONJUGATE_GRADIENT(real_div_gradient,
    "RealDivGradient[T:type](x:T, y:T, dz:T) -> (dx:T, dy:T) {\n"
    BROADCAST_AXES
    "  gx = RealDiv[T=$T](dz, ~y)\n"
    REDUCE_TO_X("gx:z:0")
    "  quotient = RealDiv[T=$T](~x, ~y)\n"
    "  slope = Mul[T=$T](gx:z:0, quotient:z:0)\n"
    "  gy = Neg[T=$T](slope:z:0)\n"
    REDUCE_TO_Y("gy:y:0")
    RETURN_DX_DY)
/* TensorFlow has no kernels for integers here either. */
const OpRegistration kOpRealDiv = {
    .name = "RealDiv",
    .inputs = {"x: T", "y: T"},
    .outputs = {"z: T"},
    .attrs = {"T: {bfloat16, half, float, double, uint8, int8, uint16, int16, int32, uint32, uint64, int64, "
              "complex64, complex128}"},
    .shape = shape_broadcast_binary,
    .gradient_fn = real_div_gradient,
    .kernels = {TYPED_FLOAT_KERNELS(divide), TYPED_HALF_KERNELS(divide), TYPED_COMPLEX_KERNELS(divide)},
};

/* Where both are equal the gradient is x's, as in TensorFlow. */
const OpRegistration kOpMaximum = {
    .name = "Maximum",
    .inputs = {"x: T", "y: T"},
    .outputs = {"z: T"},
    .attrs = {"T: {bfloat16, half, float, double, int8, uint8, int16, uint16, int32, uint32, int64, uint64}"},
    .shape = shape_broadcast_binary,
    .gradient =
        "MaximumGradient[T:type](x:T, y:T, dz:T) -> (dx:T, dy:T) {\n" BROADCAST_AXES
        "  x_wins = GreaterEqual[T=$T](x, y)\n"
        "  zeros = ZerosLike[T=$T](dz)\n"
        "  gx = Select[T=$T](x_wins:z:0, dz, zeros:y:0)\n" REDUCE_TO_X(
            "gx:output:0") "  gy = Select[T=$T](x_wins:z:0, zeros:y:0, dz)\n" REDUCE_TO_Y("gy:output:0")
            RETURN_DX_DY,
    .kernels = {TYPED_REAL_KERNELS(maximum)},
};

const OpRegistration kOpMinimum = {
    .name = "Minimum",
    .inputs = {"x: T", "y: T"},
    .outputs = {"z: T"},
    .attrs = {"T: {bfloat16, half, float, double, int8, uint8, int16, uint16, int32, uint32, int64, uint64}"},
    .shape = shape_broadcast_binary,
    .gradient =
        "MinimumGradient[T:type](x:T, y:T, dz:T) -> (dx:T, dy:T) {\n" BROADCAST_AXES
        "  x_wins = LessEqual[T=$T](x, y)\n"
        "  zeros = ZerosLike[T=$T](dz)\n"
        "  gx = Select[T=$T](x_wins:z:0, dz, zeros:y:0)\n" REDUCE_TO_X(
            "gx:output:0") "  gy = Select[T=$T](x_wins:z:0, zeros:y:0, dz)\n" REDUCE_TO_Y("gy:output:0")
            RETURN_DX_DY,
    .kernels = {TYPED_REAL_KERNELS(minimum)},
};

const OpRegistration kOpSquaredDifference = {
    .name = "SquaredDifference",
    .inputs = {"x: T", "y: T"},
    .outputs = {"z: T"},
    .attrs = {"T: {bfloat16, half, float, double, int32, int64, complex64, complex128}"},
    .is_commutative = true,
    .shape = shape_broadcast_binary,
    .gradient = "SquaredDifferenceGradient[T:type](x:T, y:T, dz:T) -> (dx:T, dy:T) {\n" BROADCAST_AXES
                "  difference = Sub[T=$T](x, y)\n"
                "  two = Const[dtype=$T, value=2]()\n"
                "  slope = Mul[T=$T](two:output:0, difference:z:0)\n"
                "  gx = Mul[T=$T](dz, slope:z:0)\n" REDUCE_TO_X(
                    "gx:z:0") "  gy = Neg[T=$T](gx:z:0)\n" REDUCE_TO_Y("gy:y:0") RETURN_DX_DY,
    .kernels = {TYPED_FLOAT_KERNELS(squared_difference), TYPED_HALF_KERNELS(squared_difference),
                TYPED_INT_KERNELS(squared_difference), TYPED_COMPLEX_KERNELS(squared_difference)},
};
