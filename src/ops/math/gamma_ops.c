/* The logarithm of the gamma function, and its derivatives. */
#include <math.h>

#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/support/broadcast.h"
#include "ops/support/broadcast_gradient.h"
#include "ops/support/element_types.h"
#include "ops/support/elementwise.h"
#include "ops/math/gamma_floats.h"
#include "ops/math/gamma_functions.h"

static void polygamma_loop(int64_t count, const double *n, const double *x, double *z) {
  for (int64_t i = 0; i < count; i++) z[i] = gamma_polygamma(n[i], x[i]);
}

#define TEMPLATE "ops/math/gamma_ops.inc"
#define TYPES TYPES_FLOAT
#include "simd/each_type.inc"

static void digamma_loop(int64_t count, const double *x, double *y) {
  for (int64_t i = 0; i < count; i++) y[i] = gamma_digamma(x[i]);
}
static const VectorFunction kVectorLgamma = {lgamma_loop_f32, lgamma_loop_f64, NULL, NULL};
static const VectorFunction kVectorDigamma = {gamma_floats_digamma, digamma_loop, NULL, NULL};

#define REAL_TYPES "T: {bfloat16, half, float, double}"

/* The logarithm of the gamma function's magnitude. */
const OpRegistration kOpLgamma = {
    .name = "Lgamma",
    .inputs = {"x: T"},
    .outputs = {"y: T"},
    .attrs = {REAL_TYPES},
    .shape = shape_unchanged,
    .gradient =
        "LgammaGradient[T:type](x:T, dy:T) -> (dx:T) {\n"
        "  slope = Digamma[T=$T](x)\n"
        "  dx = Mul[T=$T](dy, slope:y:0)\n"
        "  return dx = dx:z:0\n"
        "}\n",
    .kernels = {FLOAT_AND_HALF_KERNELS(elementwise_function, &kVectorLgamma)},
};

/* Polygamma is for float and double; other types are converted to float. */
static bool digamma_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  DataType type;
  TRY(node_attr_type(request->node, "T", &type, status));
  bool narrow = type == DT_HALF || type == DT_BFLOAT16;
  strbuf_append(text, "DigammaGradient[T:type](x:T, dy:T) -> (dx:T) {\n");
  if (narrow) {
    strbuf_append(text,
                  "  wide_x = Cast[SrcT=$T, DstT=float](x)\n"
                  "  one = Const[dtype=float, value=1]()\n"
                  "  wide_slope = Polygamma[T=float](one:output:0, wide_x:y:0)\n"
                  "  slope = Cast[SrcT=float, DstT=$T](wide_slope:z:0)\n");
  } else {
    strbuf_append(text,
                  "  one = Const[dtype=$T, value=1]()\n"
                  "  slope = Polygamma[T=$T](one:output:0, x)\n");
  }
  strbuf_printf(text,
                "  dx = Mul[T=$T](dy, slope:%s:0)\n"
                "  return dx = dx:z:0\n"
                "}\n",
                narrow ? "y" : "z");
  return strbuf_ok(text, status);
}

const OpRegistration kOpDigamma = {
    .name = "Digamma",
    .inputs = {"x: T"},
    .outputs = {"y: T"},
    .attrs = {REAL_TYPES},
    .shape = shape_unchanged,
    .gradient_fn = digamma_gradient,
    .kernels = {FLOAT_AND_HALF_KERNELS(elementwise_function, &kVectorDigamma)},
};

/* Derivative a of Digamma. It is defined only for integer a, so there is no gradient by a. */
const OpRegistration kOpPolygamma = {
    .name = "Polygamma",
    .inputs = {"a: T", "x: T"},
    .outputs = {"z: T"},
    .attrs = {"T: {float, double}"},
    .shape = shape_broadcast_binary,
    .gradient = BROADCAST_GRADIENT_BY_X("PolygammaGradient[T:type](y:T, x:T, dz:T) -> (dy:T, dx:T)", "gx:z:0",
                                        "  one = Const[dtype=$T, value=1]()\n"
                                        "  next = Add[T=$T](y, one:output:0)\n"
                                        "  slope = Polygamma[T=$T](next:z:0, x)\n"
                                        "  gx = Mul[T=$T](dz, slope:z:0)\n"),
    .kernels = {TYPED_FLOAT_KERNELS(broadcast_kernel, polygamma)},
};
