/* The error function. Its inverse and its relatives are in special.c. */
#include "op/op_registry.h"
#include "ops/support/element_types.h"
#include "ops/support/elementwise.h"
#include "simd/vector_math.h"

static const VectorFunction kVectorErf = {vector_erf_f32, vector_erf_f64, NULL, NULL};
static const VectorFunction kVectorErfc = {vector_erfc_f32, vector_erfc_f64, NULL, NULL};

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
