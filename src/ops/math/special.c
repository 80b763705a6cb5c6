/* The error function, the quantiles of the normal distribution, and their kin. */
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/support/element_types.h"
#include "ops/support/elementwise.h"
#include "ops/math/error_inverse.h"
#include "simd/vector_math.h"

#define TEMPLATE "ops/math/special.inc"
#define TYPES TYPES_FLOAT
#include "simd/each_type.inc"

static const VectorFunction kVectorErf = {vector_erf_f32, vector_erf_f64, NULL, NULL};
static const VectorFunction kVectorErfc = {vector_erfc_f32, vector_erfc_f64, NULL, NULL};
static const VectorFunction kVectorErfinv = {erfinv_loop_f32, erfinv_loop_f64, NULL, NULL};
static const VectorFunction kVectorNdtri = {ndtri_loop_f32, ndtri_loop_f64, NULL, NULL};

#define REAL_TYPES "T: {bfloat16, half, float, double}"

/* 2 / sqrt(pi) * exp(-x^2), with a sign */
#define BELL(op, height)                                \
  op "Gradient[T:type](x:T, dy:T) -> (dx:T) {\n"        \
     "  height = Const[dtype=$T, value=" height         \
     "]()\n"                                            \
     "  x2 = Square[T=$T](x)\n"                         \
     "  minus = Neg[T=$T](x2:y:0)\n"                    \
     "  bell = Exp[T=$T](minus:y:0)\n"                  \
     "  slope = Mul[T=$T](height:output:0, bell:y:0)\n" \
     "  dx = Mul[T=$T](dy, slope:z:0)\n"                \
     "  return dx = dx:z:0\n"                           \
     "}\n"

const OpRegistration kOpErf = {
    .name = "Erf",
    .inputs = {"x: T"},
    .outputs = {"y: T"},
    .attrs = {REAL_TYPES},
    .shape = shape_unchanged,
    .gradient = BELL("Erf", "1.1283791670955126"),
    .kernels = {FLOAT_AND_HALF_KERNELS(elementwise_function, &kVectorErf)},
};

const OpRegistration kOpErfc = {
    .name = "Erfc",
    .inputs = {"x: T"},
    .outputs = {"y: T"},
    .attrs = {REAL_TYPES},
    .shape = shape_unchanged,
    .gradient = BELL("Erfc", "-1.1283791670955126"),
    .kernels = {FLOAT_AND_HALF_KERNELS(elementwise_function, &kVectorErfc)},
};

/* The inverses of Erf and of the normal distribution, from later op definitions. Their derivatives are the
 * reciprocals of the functions' derivatives. */
const OpRegistration kOpErfinv = {
    .name = "Erfinv",
    .inputs = {"x: T"},
    .outputs = {"y: T"},
    .attrs = {REAL_TYPES},
    .shape = shape_unchanged,
    .gradient =
        "ErfinvGradient[T:type](x:T, dy:T) -> (dx:T) {\n"
        "  width = Const[dtype=$T, value=0.886226925452758]()\n"
        "  y = Erfinv[T=$T](x)\n"
        "  y2 = Square[T=$T](y:y:0)\n"
        "  steepness = Exp[T=$T](y2:y:0)\n"
        "  slope = Mul[T=$T](width:output:0, steepness:y:0)\n"
        "  dx = Mul[T=$T](dy, slope:z:0)\n"
        "  return dx = dx:z:0\n"
        "}\n",
    .kernels = {FLOAT_AND_HALF_KERNELS(elementwise_function, &kVectorErfinv)},
};

const OpRegistration kOpNdtri = {
    .name = "Ndtri",
    .inputs = {"x: T"},
    .outputs = {"y: T"},
    .attrs = {REAL_TYPES},
    .shape = shape_unchanged,
    .gradient =
        "NdtriGradient[T:type](x:T, dy:T) -> (dx:T) {\n"
        "  width = Const[dtype=$T, value=2.5066282746310002]()\n"
        "  half = Const[dtype=$T, value=0.5]()\n"
        "  y = Ndtri[T=$T](x)\n"
        "  y2 = Square[T=$T](y:y:0)\n"
        "  exponent = Mul[T=$T](y2:y:0, half:output:0)\n"
        "  steepness = Exp[T=$T](exponent:z:0)\n"
        "  slope = Mul[T=$T](width:output:0, steepness:y:0)\n"
        "  dx = Mul[T=$T](dy, slope:z:0)\n"
        "  return dx = dx:z:0\n"
        "}\n",
    .kernels = {FLOAT_AND_HALF_KERNELS(elementwise_function, &kVectorNdtri)},
};
