/* Functions of one tensor, element by element. */
#include "op/op_registry.h"
#include "ops/conjugate.h"
#include "ops/element_types.h"
#include "ops/elementwise.h"
#include "simd/vector_math.h"

#define TEMPLATE "ops/unary_signed.inc"
#define TYPES (TYPES_FLOAT | TYPES_HALF | TYPES_INT | TYPES_COMPLEX)
#include "ops/each_type.inc"

#define TEMPLATE "ops/unary_roots.inc"
#define TYPES (TYPES_FLOAT | TYPES_HALF | TYPES_COMPLEX)
#include "ops/each_type.inc"

#define TEMPLATE "ops/complex_functions.inc"
#define TYPES TYPES_COMPLEX
#include "ops/each_type.inc"

static bool exp_kernel(KernelContext *context, Status *status) {
  static const VectorFunction kExp = {vector_exp_f32, vector_exp_f64, exp_loop_c64, exp_loop_c128};
  return elementwise_function(context, &kExp, status);
}
static bool expm1_kernel(KernelContext *context, Status *status) {
  static const VectorFunction kExpm1 = {vector_expm1_f32, vector_expm1_f64, expm1_loop_c64, expm1_loop_c128};
  return elementwise_function(context, &kExpm1, status);
}
static bool log_kernel(KernelContext *context, Status *status) {
  static const VectorFunction kLog = {vector_log_f32, vector_log_f64, log_loop_c64, log_loop_c128};
  return elementwise_function(context, &kLog, status);
}
static bool log1p_kernel(KernelContext *context, Status *status) {
  static const VectorFunction kLog1p = {vector_log1p_f32, vector_log1p_f64, log1p_loop_c64, log1p_loop_c128};
  return elementwise_function(context, &kLog1p, status);
}

#define SIGNED_TYPES "T: {bfloat16, half, float, double, int32, int64, complex64, complex128}"
#define FLOATING_TYPES "T: {bfloat16, half, float, double, complex64, complex128}"

REGISTER_OP(Neg,
  .inputs = {"x: T"}, .outputs = {"y: T"}, .attrs = {SIGNED_TYPES}, .shape = shape_unchanged,
  .gradient =
    "NegGradient[T:type](x:T, dy:T) -> (dx:T) {\n"
    "  dx = Neg[T=$T](dy)\n"
    "  return dx = dx:y:0\n"
    "}\n",
  .kernels = {{DT_FLOAT, neg_f32}, {DT_DOUBLE, neg_f64}, {DT_INT32, neg_i32}, {DT_INT64, neg_i64}, {DT_HALF, neg_f16},
              {DT_BFLOAT16, neg_bf16},
              {DT_COMPLEX64, neg_c64}, {DT_COMPLEX128, neg_c128}})

REGISTER_OP(Abs,
  .inputs = {"x: T"}, .outputs = {"y: T"}, .attrs = {"T: {bfloat16, half, float, double, int32, int64}"},
  .shape = shape_unchanged,
  .gradient =
    "AbsGradient[T:type](x:T, dy:T) -> (dx:T) {\n"
    "  sign = Sign[T=$T](x)\n"
    "  dx = Mul[T=$T](dy, sign:y:0)\n"
    "  return dx = dx:z:0\n"
    "}\n",
  .kernels = {{DT_FLOAT, abs_f32}, {DT_DOUBLE, abs_f64}, {DT_INT32, abs_i32}, {DT_INT64, abs_i64}, {DT_HALF, abs_f16},
              {DT_BFLOAT16, abs_bf16}})

/* Of a NaN it is NaN. Flat everywhere, so its gradient is zero. */
REGISTER_OP(Sign,
  .inputs = {"x: T"}, .outputs = {"y: T"}, .attrs = {SIGNED_TYPES}, .shape = shape_unchanged,
  .gradient =
    "SignGradient[T:type](x:T, dy:T) -> (dx:T) {\n"
    "  dx = ZerosLike[T=$T](x)\n"
    "  return dx = dx:y:0\n"
    "}\n",
  .kernels = {{DT_FLOAT, sign_f32}, {DT_DOUBLE, sign_f64}, {DT_INT32, sign_i32}, {DT_INT64, sign_i64}, {DT_HALF, sign_f16},
              {DT_BFLOAT16, sign_bf16},
              {DT_COMPLEX64, sign_c64}, {DT_COMPLEX128, sign_c128}})

CONJUGATE_GRADIENT(square_gradient,
    "SquareGradient[T:type](x:T, dy:T) -> (dx:T) {\n"
    "  two_x = Add[T=$T](~x, ~x)\n"
    "  dx = Mul[T=$T](dy, two_x:z:0)\n"
    "  return dx = dx:z:0\n"
    "}\n")
REGISTER_OP(Square,
  .inputs = {"x: T"}, .outputs = {"y: T"}, .attrs = {SIGNED_TYPES}, .shape = shape_unchanged,
  .gradient_fn = square_gradient,
  .kernels = {{DT_FLOAT, square_f32}, {DT_DOUBLE, square_f64}, {DT_INT32, square_i32}, {DT_INT64, square_i64},
              {DT_HALF, square_f16}, {DT_BFLOAT16, square_bf16},
              {DT_COMPLEX64, square_c64}, {DT_COMPLEX128, square_c128}})

REGISTER_OP(Sqrt,
  .inputs = {"x: T"}, .outputs = {"y: T"}, .attrs = {FLOATING_TYPES}, .shape = shape_unchanged,
  .gradient =
    "SqrtGradient[T:type](x:T, dy:T) -> (dx:T) {\n"
    "  y = Sqrt[T=$T](x)\n"
    "  dx = SqrtGrad[T=$T](y:y:0, dy)\n"
    "  return dx = dx:z:0\n"
    "}\n",
  .kernels = {{DT_FLOAT, sqrt_f32}, {DT_DOUBLE, sqrt_f64}, {DT_HALF, sqrt_f16}, {DT_BFLOAT16, sqrt_bf16},
              {DT_COMPLEX64, sqrt_c64}, {DT_COMPLEX128, sqrt_c128}})

REGISTER_OP(Rsqrt,
  .inputs = {"x: T"}, .outputs = {"y: T"}, .attrs = {FLOATING_TYPES}, .shape = shape_unchanged,
  .gradient =
    "RsqrtGradient[T:type](x:T, dy:T) -> (dx:T) {\n"
    "  y = Rsqrt[T=$T](x)\n"
    "  dx = RsqrtGrad[T=$T](y:y:0, dy)\n"
    "  return dx = dx:z:0\n"
    "}\n",
  .kernels = {{DT_FLOAT, rsqrt_f32}, {DT_DOUBLE, rsqrt_f64}, {DT_HALF, rsqrt_f16}, {DT_BFLOAT16, rsqrt_bf16},
              {DT_COMPLEX64, rsqrt_c64}, {DT_COMPLEX128, rsqrt_c128}})

REGISTER_OP(Reciprocal,
  .inputs = {"x: T"}, .outputs = {"y: T"}, .attrs = {SIGNED_TYPES}, .shape = shape_unchanged,
  .gradient =
    "ReciprocalGradient[T:type](x:T, dy:T) -> (dx:T) {\n"
    "  y = Reciprocal[T=$T](x)\n"
    "  dx = ReciprocalGrad[T=$T](y:y:0, dy)\n"
    "  return dx = dx:z:0\n"
    "}\n",
  .kernels = {{DT_FLOAT, reciprocal_f32}, {DT_DOUBLE, reciprocal_f64}, {DT_HALF, reciprocal_f16}, {DT_BFLOAT16, reciprocal_bf16},
              {DT_COMPLEX64, reciprocal_c64}, {DT_COMPLEX128, reciprocal_c128}})

/* Reciprocal under its old name. */
REGISTER_OP(Inv,
  .inputs = {"x: T"}, .outputs = {"y: T"}, .attrs = {SIGNED_TYPES}, .shape = shape_unchanged,
  .gradient =
    "InvGradient[T:type](x:T, dy:T) -> (dx:T) {\n"
    "  y = Inv[T=$T](x)\n"
    "  dx = InvGrad[T=$T](y:y:0, dy)\n"
    "  return dx = dx:z:0\n"
    "}\n",
  .kernels = {{DT_FLOAT, reciprocal_f32}, {DT_DOUBLE, reciprocal_f64}, {DT_HALF, reciprocal_f16}, {DT_BFLOAT16, reciprocal_bf16},
              {DT_COMPLEX64, reciprocal_c64}, {DT_COMPLEX128, reciprocal_c128}})

CONJUGATE_GRADIENT(exp_gradient,
    "ExpGradient[T:type](x:T, dy:T) -> (dx:T) {\n"
    "  y = Exp[T=$T](~x)\n"
    "  dx = Mul[T=$T](dy, y:y:0)\n"
    "  return dx = dx:z:0\n"
    "}\n")
REGISTER_OP(Exp,
  .inputs = {"x: T"}, .outputs = {"y: T"}, .attrs = {FLOATING_TYPES}, .shape = shape_unchanged,
  .gradient_fn = exp_gradient,
  .kernels = {{DT_FLOAT, exp_kernel}, {DT_DOUBLE, exp_kernel}, {DT_HALF, exp_kernel}, {DT_BFLOAT16, exp_kernel},
              {DT_COMPLEX64, exp_kernel}, {DT_COMPLEX128, exp_kernel}})

CONJUGATE_GRADIENT(expm1_gradient,
    "Expm1Gradient[T:type](x:T, dy:T) -> (dx:T) {\n"
    "  slope = Exp[T=$T](~x)\n"
    "  dx = Mul[T=$T](dy, slope:y:0)\n"
    "  return dx = dx:z:0\n"
    "}\n")
REGISTER_OP(Expm1,
  .inputs = {"x: T"}, .outputs = {"y: T"}, .attrs = {FLOATING_TYPES}, .shape = shape_unchanged,
  .gradient_fn = expm1_gradient,
  .kernels = {{DT_FLOAT, expm1_kernel}, {DT_DOUBLE, expm1_kernel}, {DT_HALF, expm1_kernel}, {DT_BFLOAT16, expm1_kernel},
              {DT_COMPLEX64, expm1_kernel}, {DT_COMPLEX128, expm1_kernel}})

CONJUGATE_GRADIENT(log_gradient,
    "LogGradient[T:type](x:T, dy:T) -> (dx:T) {\n"
    "  dx = RealDiv[T=$T](dy, ~x)\n"
    "  return dx = dx:z:0\n"
    "}\n")
REGISTER_OP(Log,
  .inputs = {"x: T"}, .outputs = {"y: T"}, .attrs = {FLOATING_TYPES}, .shape = shape_unchanged,
  .gradient_fn = log_gradient,
  .kernels = {{DT_FLOAT, log_kernel}, {DT_DOUBLE, log_kernel}, {DT_HALF, log_kernel}, {DT_BFLOAT16, log_kernel},
              {DT_COMPLEX64, log_kernel}, {DT_COMPLEX128, log_kernel}})

CONJUGATE_GRADIENT(log1p_gradient,
    "Log1pGradient[T:type](x:T, dy:T) -> (dx:T) {\n"
    "  one = Const[dtype=$T, value=1]()\n"
    "  one_x = Add[T=$T](one:output:0, ~x)\n"
    "  dx = RealDiv[T=$T](dy, one_x:z:0)\n"
    "  return dx = dx:z:0\n"
    "}\n")
REGISTER_OP(Log1p,
  .inputs = {"x: T"}, .outputs = {"y: T"}, .attrs = {FLOATING_TYPES}, .shape = shape_unchanged,
  .gradient_fn = log1p_gradient,
  .kernels = {{DT_FLOAT, log1p_kernel}, {DT_DOUBLE, log1p_kernel}, {DT_HALF, log1p_kernel}, {DT_BFLOAT16, log1p_kernel},
              {DT_COMPLEX64, log1p_kernel}, {DT_COMPLEX128, log1p_kernel}})
