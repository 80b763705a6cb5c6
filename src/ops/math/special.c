/* The inverses of the error function and of the normal distribution. */
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/support/element_types.h"
#include "ops/support/elementwise.h"
#include "ops/math/error_inverse.h"
#include "ops/math/special_floats.h"

static void erfinv_loop(int64_t count, const double *x, double *y) {
  for (int64_t i = 0; i < count; i++) y[i] = error_inverse(x[i]);
}
static void ndtri_loop(int64_t count, const double *x, double *y) {
  for (int64_t i = 0; i < count; i++) y[i] = error_normal_quantile(x[i]);
}
static const VectorFunction kVectorErfinv = {special_floats_erfinv, erfinv_loop, NULL, NULL};
static const VectorFunction kVectorNdtri = {special_floats_ndtri, ndtri_loop, NULL, NULL};

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
