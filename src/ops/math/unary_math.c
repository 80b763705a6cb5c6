/* Element-wise functions of one tensor. */
#include "op/op_registry.h"
#include "ops/support/complex_math.h"
#include "ops/support/complex_quotient.h"
#include "ops/support/conjugate.h"
#include "ops/support/element_types.h"
#include "ops/support/elementwise.h"
#include "ops/math/complex_floats.h"
#include "simd/vector_math.h"

#define TEMPLATE "ops/math/unary_signed.inc"
#define TYPES (TYPES_FLOAT | TYPES_HALF | TYPES_INT | TYPES_SMALL | TYPES_UNSIGNED | TYPES_COMPLEX)
#include "simd/each_type.inc"

#define TEMPLATE "ops/math/unary_roots.inc"
#define TYPES (TYPES_FLOAT | TYPES_HALF | TYPES_COMPLEX)
#include "simd/each_type.inc"

#define TEMPLATE "ops/math/complex_functions.inc"
#define TYPES TYPES_COMPLEX
#include "simd/each_type.inc"

static void sqrt_loop(int64_t count, const double _Complex *x, double _Complex *y) {
  for (int64_t i = 0; i < count; i++) y[i] = complex_sqrt(x[i]);
}
static void exp_loop(int64_t count, const double _Complex *x, double _Complex *y) {
  for (int64_t i = 0; i < count; i++) y[i] = complex_exp(x[i]);
}
static void log_loop(int64_t count, const double _Complex *x, double _Complex *y) {
  for (int64_t i = 0; i < count; i++) y[i] = complex_log(x[i]);
}

/* Real roots are in unary_roots.inc. */
static const VectorFunction kVectorComplexSqrt = {NULL, NULL, complex_floats_sqrt, sqrt_loop};
static const VectorFunction kVectorExp = {vector_exp_f32, vector_exp_f64, complex_floats_exp, exp_loop};
static const VectorFunction kVectorExpm1 = {vector_expm1_f32, vector_expm1_f64, expm1_loop_c64,
                                            expm1_loop_c128};
static const VectorFunction kVectorLog = {vector_log_f32, vector_log_f64, complex_floats_log, log_loop};
static const VectorFunction kVectorLog1p = {vector_log1p_f32, vector_log1p_f64, log1p_loop_c64,
                                            log1p_loop_c128};

#define SIGNED_TYPES "T: {bfloat16, half, float, double, int8, int16, int32, int64, complex64, complex128}"
#define FLOATING_TYPES "T: {bfloat16, half, float, double, complex64, complex128}"

#define SIGNED_KERNELS(compute, loop) \
  {DT_INT8, compute, loop##_i8}, { DT_INT16, compute, loop##_i16 }

const OpRegistration kOpNeg = {
    .name = "Neg",
    .inputs = {"x: T"},
    .outputs = {"y: T"},
    .attrs = {SIGNED_TYPES},
    .shape = shape_unchanged,
    .gradient =
        "NegGradient[T:type](x:T, dy:T) -> (dx:T) {\n"
        "  dx = Neg[T=$T](dy)\n"
        "  return dx = dx:y:0\n"
        "}\n",
    .kernels = {TYPED_FLOAT_AND_HALF_KERNELS(elementwise_unary, neg),
                TYPED_INT_KERNELS(elementwise_unary, neg), SIGNED_KERNELS(elementwise_unary, neg),
                TYPED_COMPLEX_KERNELS(elementwise_unary, neg)},
};

const OpRegistration kOpAbs = {
    .name = "Abs",
    .inputs = {"x: T"},
    .outputs = {"y: T"},
    .attrs = {"T: {bfloat16, half, float, double, int8, int16, int32, int64}"},
    .shape = shape_unchanged,
    .gradient =
        "AbsGradient[T:type](x:T, dy:T) -> (dx:T) {\n"
        "  sign = Sign[T=$T](x)\n"
        "  dx = Mul[T=$T](dy, sign:y:0)\n"
        "  return dx = dx:z:0\n"
        "}\n",
    .kernels = {TYPED_FLOAT_AND_HALF_KERNELS(elementwise_unary, abs),
                TYPED_INT_KERNELS(elementwise_unary, abs), SIGNED_KERNELS(elementwise_unary, abs)},
};

/* NaN for NaN. Constant everywhere else, so its gradient is zero. */
const OpRegistration kOpSign = {
    .name = "Sign",
    .inputs = {"x: T"},
    .outputs = {"y: T"},
    .attrs = {SIGNED_TYPES},
    .shape = shape_unchanged,
    .gradient =
        "SignGradient[T:type](x:T, dy:T) -> (dx:T) {\n"
        "  dx = ZerosLike[T=$T](x)\n"
        "  return dx = dx:y:0\n"
        "}\n",
    .kernels = {TYPED_FLOAT_AND_HALF_KERNELS(elementwise_unary, sign),
                TYPED_INT_KERNELS(elementwise_unary, sign), SIGNED_KERNELS(elementwise_unary, sign),
                TYPED_COMPLEX_KERNELS(elementwise_unary, sign)},
};

CONJUGATE_GRADIENT(square_gradient,
                   "SquareGradient[T:type](x:T, dy:T) -> (dx:T) {\n"
                   "  two_x = Add[T=$T](~x, ~x)\n"
                   "  dx = Mul[T=$T](dy, two_x:z:0)\n"
                   "  return dx = dx:z:0\n"
                   "}\n")
const OpRegistration kOpSquare = {
    .name = "Square",
    .inputs = {"x: T"},
    .outputs = {"y: T"},
    .attrs = {"T: {bfloat16, half, float, double, int8, int16, int32, int64, uint8, uint16, uint32, uint64, "
              "complex64, complex128}"},
    .shape = shape_unchanged,
    .gradient_fn = square_gradient,
    .kernels = {TYPED_NUMBER_KERNELS(elementwise_unary, square)},
};

const OpRegistration kOpSqrt = {
    .name = "Sqrt",
    .inputs = {"x: T"},
    .outputs = {"y: T"},
    .attrs = {FLOATING_TYPES},
    .shape = shape_unchanged,
    .gradient =
        "SqrtGradient[T:type](x:T, dy:T) -> (dx:T) {\n"
        "  y = Sqrt[T=$T](x)\n"
        "  dx = SqrtGrad[T=$T](y:y:0, dy)\n"
        "  return dx = dx:z:0\n"
        "}\n",
    .kernels = {TYPED_FLOAT_AND_HALF_KERNELS(elementwise_unary, sqrt),
                COMPLEX_KERNELS(elementwise_function, &kVectorComplexSqrt)},
};

const OpRegistration kOpRsqrt = {
    .name = "Rsqrt",
    .inputs = {"x: T"},
    .outputs = {"y: T"},
    .attrs = {FLOATING_TYPES},
    .shape = shape_unchanged,
    .gradient =
        "RsqrtGradient[T:type](x:T, dy:T) -> (dx:T) {\n"
        "  y = Rsqrt[T=$T](x)\n"
        "  dx = RsqrtGrad[T=$T](y:y:0, dy)\n"
        "  return dx = dx:z:0\n"
        "}\n",
    .kernels = {TYPED_FLOAT_AND_HALF_KERNELS(elementwise_unary, rsqrt),
                TYPED_COMPLEX_KERNELS(elementwise_unary, rsqrt)},
};

const OpRegistration kOpReciprocal = {
    .name = "Reciprocal",
    .inputs = {"x: T"},
    .outputs = {"y: T"},
    .attrs = {SIGNED_TYPES},
    .shape = shape_unchanged,
    .gradient =
        "ReciprocalGradient[T:type](x:T, dy:T) -> (dx:T) {\n"
        "  y = Reciprocal[T=$T](x)\n"
        "  dx = ReciprocalGrad[T=$T](y:y:0, dy)\n"
        "  return dx = dx:z:0\n"
        "}\n",
    .kernels = {TYPED_FLOAT_AND_HALF_KERNELS(elementwise_unary, reciprocal),
                TYPED_COMPLEX_KERNELS(elementwise_unary, reciprocal)},
};

/* Reciprocal under its old name. */
const OpRegistration kOpInv = {
    .name = "Inv",
    .inputs = {"x: T"},
    .outputs = {"y: T"},
    .attrs = {SIGNED_TYPES},
    .shape = shape_unchanged,
    .gradient =
        "InvGradient[T:type](x:T, dy:T) -> (dx:T) {\n"
        "  y = Inv[T=$T](x)\n"
        "  dx = InvGrad[T=$T](y:y:0, dy)\n"
        "  return dx = dx:z:0\n"
        "}\n",
    .kernels = {TYPED_FLOAT_AND_HALF_KERNELS(elementwise_unary, reciprocal),
                TYPED_COMPLEX_KERNELS(elementwise_unary, reciprocal)},
};

CONJUGATE_GRADIENT(exp_gradient,
                   "ExpGradient[T:type](x:T, dy:T) -> (dx:T) {\n"
                   "  y = Exp[T=$T](~x)\n"
                   "  dx = Mul[T=$T](dy, y:y:0)\n"
                   "  return dx = dx:z:0\n"
                   "}\n")
const OpRegistration kOpExp = {
    .name = "Exp",
    .inputs = {"x: T"},
    .outputs = {"y: T"},
    .attrs = {FLOATING_TYPES},
    .shape = shape_unchanged,
    .gradient_fn = exp_gradient,
    .kernels = {FLOAT_AND_HALF_KERNELS(elementwise_function, &kVectorExp),
                COMPLEX_KERNELS(elementwise_function, &kVectorExp)},
};

CONJUGATE_GRADIENT(expm1_gradient,
                   "Expm1Gradient[T:type](x:T, dy:T) -> (dx:T) {\n"
                   "  slope = Exp[T=$T](~x)\n"
                   "  dx = Mul[T=$T](dy, slope:y:0)\n"
                   "  return dx = dx:z:0\n"
                   "}\n")
const OpRegistration kOpExpm1 = {
    .name = "Expm1",
    .inputs = {"x: T"},
    .outputs = {"y: T"},
    .attrs = {FLOATING_TYPES},
    .shape = shape_unchanged,
    .gradient_fn = expm1_gradient,
    .kernels = {FLOAT_AND_HALF_KERNELS(elementwise_function, &kVectorExpm1),
                COMPLEX_KERNELS(elementwise_function, &kVectorExpm1)},
};

CONJUGATE_GRADIENT(log_gradient,
                   "LogGradient[T:type](x:T, dy:T) -> (dx:T) {\n"
                   "  dx = RealDiv[T=$T](dy, ~x)\n"
                   "  return dx = dx:z:0\n"
                   "}\n")
const OpRegistration kOpLog = {
    .name = "Log",
    .inputs = {"x: T"},
    .outputs = {"y: T"},
    .attrs = {FLOATING_TYPES},
    .shape = shape_unchanged,
    .gradient_fn = log_gradient,
    .kernels = {FLOAT_AND_HALF_KERNELS(elementwise_function, &kVectorLog),
                COMPLEX_KERNELS(elementwise_function, &kVectorLog)},
};

CONJUGATE_GRADIENT(log1p_gradient,
                   "Log1pGradient[T:type](x:T, dy:T) -> (dx:T) {\n"
                   "  one = Const[dtype=$T, value=1]()\n"
                   "  one_x = Add[T=$T](one:output:0, ~x)\n"
                   "  dx = RealDiv[T=$T](dy, one_x:z:0)\n"
                   "  return dx = dx:z:0\n"
                   "}\n")
const OpRegistration kOpLog1p = {
    .name = "Log1p",
    .inputs = {"x: T"},
    .outputs = {"y: T"},
    .attrs = {FLOATING_TYPES},
    .shape = shape_unchanged,
    .gradient_fn = log1p_gradient,
    .kernels = {FLOAT_AND_HALF_KERNELS(elementwise_function, &kVectorLog1p),
                COMPLEX_KERNELS(elementwise_function, &kVectorLog1p)},
};
