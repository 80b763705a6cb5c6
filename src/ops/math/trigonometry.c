/* Circular and hyperbolic functions but sine and cosine, and their inverses. TensorFlow's kernels omit some
 * types of the op definitions; here only integers are missing, whose results are not integers. */
#include "op/op_registry.h"
#include "ops/support/broadcast.h"
#include "ops/support/broadcast_gradient.h"
#include "ops/support/complex_math.h"
#include "ops/support/conjugate.h"
#include "ops/support/element_types.h"
#include "ops/support/elementwise.h"
#include "simd/circular_math.h"

#define TEMPLATE "ops/math/trigonometry.inc"
#define TYPES TYPES_COMPLEX
#include "simd/each_type.inc"

static const VectorFunction kVectorTan = {vector_tan_f32, vector_tan_f64, tan_loop_c64, tan_loop_c128};
static const VectorFunction kVectorAsin = {vector_asin_f32, vector_asin_f64, asin_loop_c64, asin_loop_c128};
static const VectorFunction kVectorAcos = {vector_acos_f32, vector_acos_f64, acos_loop_c64, acos_loop_c128};
static const VectorFunction kVectorAtan = {vector_atan_f32, vector_atan_f64, atan_loop_c64, atan_loop_c128};
static const VectorFunction kVectorSinh = {vector_sinh_f32, vector_sinh_f64, sinh_loop_c64, sinh_loop_c128};
static const VectorFunction kVectorCosh = {vector_cosh_f32, vector_cosh_f64, cosh_loop_c64, cosh_loop_c128};
static const VectorFunction kVectorAsinh = {vector_asinh_f32, vector_asinh_f64, asinh_loop_c64,
                                            asinh_loop_c128};
static const VectorFunction kVectorAcosh = {vector_acosh_f32, vector_acosh_f64, acosh_loop_c64,
                                            acosh_loop_c128};
static const VectorFunction kVectorAtanh = {vector_atanh_f32, vector_atanh_f64, atanh_loop_c64,
                                            atanh_loop_c128};

#define ALL_FLOATING(function) \
  { FLOAT_AND_HALF_KERNELS(elementwise_function, function), COMPLEX_KERNELS(elementwise_function, function) }
#define FLOATING_TYPES "T: {bfloat16, half, float, double, complex64, complex128}"
/* TensorFlow 1.x allowed integers in the op, but had no kernel for them. */
#define WIDER_TYPES "T: {bfloat16, half, float, double, complex64, complex128, int32, int64}"

CONJUGATE_GRADIENT(tan_gradient,
                   "TanGradient[T:type](x:T, dy:T) -> (dx:T) {\n"
                   "  cosine = Cos[T=$T](~x)\n"
                   "  secant = Reciprocal[T=$T](cosine:y:0)\n"
                   "  slope = Square[T=$T](secant:y:0)\n"
                   "  dx = Mul[T=$T](dy, slope:y:0)\n"
                   "  return dx = dx:z:0\n"
                   "}\n")
const OpRegistration kOpTan = {
    .name = "Tan",
    .inputs = {"x: T"},
    .outputs = {"y: T"},
    .attrs = {WIDER_TYPES},
    .shape = shape_unchanged,
    .gradient_fn = tan_gradient,
    .kernels = ALL_FLOATING(&kVectorTan),
};

CONJUGATE_GRADIENT(asin_gradient,
                   "AsinGradient[T:type](x:T, dy:T) -> (dx:T) {\n"
                   "  one = Const[dtype=$T, value=1]()\n"
                   "  x2 = Square[T=$T](~x)\n"
                   "  rest = Sub[T=$T](one:output:0, x2:y:0)\n"
                   "  root = Sqrt[T=$T](rest:z:0)\n"
                   "  dx = RealDiv[T=$T](dy, root:y:0)\n"
                   "  return dx = dx:z:0\n"
                   "}\n")
const OpRegistration kOpAsin = {
    .name = "Asin",
    .inputs = {"x: T"},
    .outputs = {"y: T"},
    .attrs = {WIDER_TYPES},
    .shape = shape_unchanged,
    .gradient_fn = asin_gradient,
    .kernels = ALL_FLOATING(&kVectorAsin),
};

CONJUGATE_GRADIENT(acos_gradient,
                   "AcosGradient[T:type](x:T, dy:T) -> (dx:T) {\n"
                   "  one = Const[dtype=$T, value=1]()\n"
                   "  x2 = Square[T=$T](~x)\n"
                   "  rest = Sub[T=$T](one:output:0, x2:y:0)\n"
                   "  root = Sqrt[T=$T](rest:z:0)\n"
                   "  quotient = RealDiv[T=$T](dy, root:y:0)\n"
                   "  dx = Neg[T=$T](quotient:z:0)\n"
                   "  return dx = dx:y:0\n"
                   "}\n")
const OpRegistration kOpAcos = {
    .name = "Acos",
    .inputs = {"x: T"},
    .outputs = {"y: T"},
    .attrs = {WIDER_TYPES},
    .shape = shape_unchanged,
    .gradient_fn = acos_gradient,
    .kernels = ALL_FLOATING(&kVectorAcos),
};

CONJUGATE_GRADIENT(atan_gradient,
                   "AtanGradient[T:type](x:T, dy:T) -> (dx:T) {\n"
                   "  one = Const[dtype=$T, value=1]()\n"
                   "  x2 = Square[T=$T](~x)\n"
                   "  sum = Add[T=$T](one:output:0, x2:y:0)\n"
                   "  dx = RealDiv[T=$T](dy, sum:z:0)\n"
                   "  return dx = dx:z:0\n"
                   "}\n")
const OpRegistration kOpAtan = {
    .name = "Atan",
    .inputs = {"x: T"},
    .outputs = {"y: T"},
    .attrs = {WIDER_TYPES},
    .shape = shape_unchanged,
    .gradient_fn = atan_gradient,
    .kernels = ALL_FLOATING(&kVectorAtan),
};

CONJUGATE_GRADIENT(sinh_gradient,
                   "SinhGradient[T:type](x:T, dy:T) -> (dx:T) {\n"
                   "  slope = Cosh[T=$T](~x)\n"
                   "  dx = Mul[T=$T](dy, slope:y:0)\n"
                   "  return dx = dx:z:0\n"
                   "}\n")
const OpRegistration kOpSinh = {
    .name = "Sinh",
    .inputs = {"x: T"},
    .outputs = {"y: T"},
    .attrs = {FLOATING_TYPES},
    .shape = shape_unchanged,
    .gradient_fn = sinh_gradient,
    .kernels = ALL_FLOATING(&kVectorSinh),
};

CONJUGATE_GRADIENT(cosh_gradient,
                   "CoshGradient[T:type](x:T, dy:T) -> (dx:T) {\n"
                   "  slope = Sinh[T=$T](~x)\n"
                   "  dx = Mul[T=$T](dy, slope:y:0)\n"
                   "  return dx = dx:z:0\n"
                   "}\n")
const OpRegistration kOpCosh = {
    .name = "Cosh",
    .inputs = {"x: T"},
    .outputs = {"y: T"},
    .attrs = {FLOATING_TYPES},
    .shape = shape_unchanged,
    .gradient_fn = cosh_gradient,
    .kernels = ALL_FLOATING(&kVectorCosh),
};

/* TensorFlow's text multiplies, although the derivative is 1 / cosh(y); the same with Acosh. */
CONJUGATE_GRADIENT(asinh_gradient,
                   "AsinhGradient[T:type](x:T, dy:T) -> (dx:T) {\n"
                   "  y = Asinh[T=$T](~x)\n"
                   "  slope = Cosh[T=$T](y:y:0)\n"
                   "  dx = RealDiv[T=$T](dy, slope:y:0)\n"
                   "  return dx = dx:z:0\n"
                   "}\n")
const OpRegistration kOpAsinh = {
    .name = "Asinh",
    .inputs = {"x: T"},
    .outputs = {"y: T"},
    .attrs = {FLOATING_TYPES},
    .shape = shape_unchanged,
    .gradient_fn = asinh_gradient,
    .kernels = ALL_FLOATING(&kVectorAsinh),
};

CONJUGATE_GRADIENT(acosh_gradient,
                   "AcoshGradient[T:type](x:T, dy:T) -> (dx:T) {\n"
                   "  y = Acosh[T=$T](~x)\n"
                   "  slope = Sinh[T=$T](y:y:0)\n"
                   "  dx = RealDiv[T=$T](dy, slope:y:0)\n"
                   "  return dx = dx:z:0\n"
                   "}\n")
const OpRegistration kOpAcosh = {
    .name = "Acosh",
    .inputs = {"x: T"},
    .outputs = {"y: T"},
    .attrs = {FLOATING_TYPES},
    .shape = shape_unchanged,
    .gradient_fn = acosh_gradient,
    .kernels = ALL_FLOATING(&kVectorAcosh),
};

CONJUGATE_GRADIENT(atanh_gradient,
                   "AtanhGradient[T:type](x:T, dy:T) -> (dx:T) {\n"
                   "  one = Const[dtype=$T, value=1]()\n"
                   "  x2 = Square[T=$T](~x)\n"
                   "  rest = Sub[T=$T](one:output:0, x2:y:0)\n"
                   "  dx = RealDiv[T=$T](dy, rest:z:0)\n"
                   "  return dx = dx:z:0\n"
                   "}\n")
const OpRegistration kOpAtanh = {
    .name = "Atanh",
    .inputs = {"x: T"},
    .outputs = {"y: T"},
    .attrs = {FLOATING_TYPES},
    .shape = shape_unchanged,
    .gradient_fn = atanh_gradient,
    .kernels = ALL_FLOATING(&kVectorAtanh),
};

#define TEMPLATE "ops/math/atan2.inc"
#define TYPES (TYPES_FLOAT | TYPES_HALF)
#include "simd/each_type.inc"

/* The angle of the point (x, y). */
const OpRegistration kOpAtan2 = {
    .name = "Atan2",
    .inputs = {"y: T", "x: T"},
    .outputs = {"z: T"},
    .attrs = {"T: {bfloat16, half, float, double}"},
    .shape = shape_broadcast_binary,
    .gradient =
        BROADCAST_GRADIENT_OF("Atan2Gradient[T:type](y:T, x:T, dz:T) -> (dy:T, dx:T)", "gx:y:0", "gy:z:0",
                              "  y2 = Square[T=$T](y)\n"
                              "  x2 = Square[T=$T](x)\n"
                              "  radius2 = Add[T=$T](x2:y:0, y2:y:0)\n"
                              "  share = RealDiv[T=$T](dz, radius2:z:0)\n"
                              "  turned = Mul[T=$T](y, share:z:0)\n"
                              "  gx = Neg[T=$T](turned:z:0)\n"
                              "  gy = Mul[T=$T](x, share:z:0)\n"),
    .kernels = {TYPED_FLOAT_AND_HALF_KERNELS(broadcast_kernel, atan2)},
};
