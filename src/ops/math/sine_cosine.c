/* Sine and cosine. The other functions of their kind are in trigonometry.c. */
#include "op/op_registry.h"
#include "ops/support/complex_math.h"
#include "ops/support/conjugate.h"
#include "ops/support/element_types.h"
#include "ops/support/elementwise.h"
#include "simd/vector_math.h"

#define TEMPLATE "ops/math/sine_cosine.inc"
#define TYPES TYPES_COMPLEX
#include "simd/each_type.inc"

static const VectorFunction kVectorSin = {vector_sin_f32, vector_sin_f64, sin_loop_c64, sin_loop_c128};
static const VectorFunction kVectorCos = {vector_cos_f32, vector_cos_f64, cos_loop_c64, cos_loop_c128};

#define ALL_FLOATING(function) \
  { FLOAT_AND_HALF_KERNELS(elementwise_function, function), COMPLEX_KERNELS(elementwise_function, function) }
#define FLOATING_TYPES "T: {bfloat16, half, float, double, complex64, complex128}"

CONJUGATE_GRADIENT(sin_gradient,
                   "SinGradient[T:type](x:T, dy:T) -> (dx:T) {\n"
                   "  cosine = Cos[T=$T](~x)\n"
                   "  dx = Mul[T=$T](dy, cosine:y:0)\n"
                   "  return dx = dx:z:0\n"
                   "}\n")
const OpRegistration kOpSin = {
    .name = "Sin",
    .inputs = {"x: T"},
    .outputs = {"y: T"},
    .attrs = {FLOATING_TYPES},
    .shape = shape_unchanged,
    .gradient_fn = sin_gradient,
    .kernels = ALL_FLOATING(&kVectorSin),
};

CONJUGATE_GRADIENT(cos_gradient,
                   "CosGradient[T:type](x:T, dy:T) -> (dx:T) {\n"
                   "  sine = Sin[T=$T](~x)\n"
                   "  slope = Neg[T=$T](sine:y:0)\n"
                   "  dx = Mul[T=$T](dy, slope:y:0)\n"
                   "  return dx = dx:z:0\n"
                   "}\n")
const OpRegistration kOpCos = {
    .name = "Cos",
    .inputs = {"x: T"},
    .outputs = {"y: T"},
    .attrs = {FLOATING_TYPES},
    .shape = shape_unchanged,
    .gradient_fn = cos_gradient,
    .kernels = ALL_FLOATING(&kVectorCos),
};
