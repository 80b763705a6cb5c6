/* The inverses of the error function and of the normal distribution. */
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/support/element_types.h"
#include "ops/support/elementwise.h"
#include "ops/math/error_inverse.h"

#define TEMPLATE "ops/math/special.inc"
#define TYPES TYPES_FLOAT
#include "simd/each_type.inc"

static const VectorFunction kVectorErfinv = {erfinv_loop_f32, erfinv_loop_f64, NULL, NULL};
static const VectorFunction kVectorNdtri = {ndtri_loop_f32, ndtri_loop_f64, NULL, NULL};

#define REAL_TYPES "T: {bfloat16, half, float, double}"

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
