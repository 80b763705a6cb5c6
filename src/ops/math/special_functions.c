/* Bessel functions, and functions that are integrals. */
#include "op/op_registry.h"
#include "ops/support/element_types.h"
#include "ops/support/elementwise.h"
#include "ops/math/bessel_functions.h"
#include "ops/math/integral_functions.h"
#include "ops/math/special_floats.h"

#define TEMPLATE "ops/math/special_functions.inc"
#define TYPES TYPES_FLOAT
#include "simd/each_type.inc"

static void i0e_loop(int64_t count, const double *x, double *y) {
  for (int64_t i = 0; i < count; i++) y[i] = bessel_i0e(x[i]);
}
static void i1e_loop(int64_t count, const double *x, double *y) {
  for (int64_t i = 0; i < count; i++) y[i] = bessel_i1e(x[i]);
}

#define FUNCTION(name) \
  { name##_f32, name##_f64, NULL, NULL }
static const VectorFunction kVectorI0 = FUNCTION(i0), kVectorI0e = {special_floats_i0e, i0e_loop, NULL, NULL},
                            kVectorI1 = FUNCTION(i1), kVectorI1e = {special_floats_i1e, i1e_loop, NULL, NULL},
                            kVectorJ0 = FUNCTION(j0), kVectorJ1 = FUNCTION(j1), kVectorK0 = FUNCTION(k0),
                            kVectorK0e = FUNCTION(k0e), kVectorK1 = FUNCTION(k1), kVectorK1e = FUNCTION(k1e),
                            kVectorY0 = FUNCTION(y0), kVectorY1 = FUNCTION(y1),
                            kVectorDawson = FUNCTION(dawson), kVectorExponential = FUNCTION(exponential),
                            kVectorFresnelCos = FUNCTION(fresnel_cos),
                            kVectorFresnelSin = FUNCTION(fresnel_sin), kVectorSpence = FUNCTION(spence);

#define UNARY                                                                               \
  .inputs = {"x: T"}, .outputs = {"y: T"}, .attrs = {"T: {bfloat16, half, float, double}"}, \
  .shape = shape_unchanged
#define BESSEL_KERNELS(function)                                                                 \
  {                                                                                              \
    FLOAT_KERNELS(elementwise_function, &function), { DT_HALF, elementwise_function, &function } \
  }

/* The lines compute slope. */
#define SLOPE(op, lines, slope)                                                      \
  op "Gradient[T:type](x:T, dy:T) -> (dx:T) {\n" lines "  dx = Mul[T=$T](dy, " slope \
     ")\n"                                                                           \
     "  return dx = dx:z:0\n"                                                        \
     "}\n"
#define OTHER(name, op) "  " name " = " op "[T=$T](x)\n"
#define MINUS(name, value) "  " name " = Neg[T=$T](" value ")\n"
#define SUB(name, a, b) "  " name " = Sub[T=$T](" a ", " b ")\n"
/* slope:output:0: the value, but `at` for x = `from`. */
#define EXCEPT_AT(from, value, at)                    \
  "  from = Const[dtype=$T, value=" from              \
  "]()\n"                                             \
  "  limit = Const[dtype=$T, value=" at               \
  "]()\n"                                             \
  "  zeros = ZerosLike[T=$T](x)\n"                    \
  "  limits = Add[T=$T](zeros:y:0, limit:output:0)\n" \
  "  is_there = Equal[T=$T](x, from:output:0)\n"      \
  "  slope = Select[T=$T](is_there:z:0, limits:z:0, " value ")\n"

const OpRegistration kOpBesselI0 = {
    .name = "BesselI0",
    UNARY,
    .gradient = SLOPE("BesselI0", OTHER("other", "BesselI1"), "other:y:0"),
    .kernels = BESSEL_KERNELS(kVectorI0),
};

const OpRegistration kOpBesselI0e = {
    .name = "BesselI0e",
    UNARY,
    .gradient =
        SLOPE("BesselI0e",
              OTHER("y", "BesselI0e") OTHER("other", "BesselI1e")
                  OTHER("sign", "Sign") "  signed = Mul[T=$T](sign:y:0, y:y:0)\n" SUB("slope", "other:y:0",
                                                                                      "signed:z:0"),
              "slope:z:0"),
    .kernels = BESSEL_KERNELS(kVectorI0e),
};

const OpRegistration kOpBesselI1 = {
    .name = "BesselI1",
    UNARY,
    .gradient =
        SLOPE("BesselI1",
              OTHER("y", "BesselI1")
                  OTHER("other", "BesselI0") "  ratio = RealDiv[T=$T](y:y:0, x)\n" SUB("rest", "other:y:0",
                                                                                       "ratio:z:0")
                      EXCEPT_AT("0", "rest:z:0", "0.5"),
              "slope:output:0"),
    .kernels = BESSEL_KERNELS(kVectorI1),
};

const OpRegistration kOpBesselI1e = {
    .name = "BesselI1e",
    UNARY,
    .gradient =
        SLOPE("BesselI1e",
              OTHER("y", "BesselI1e") OTHER("other", "BesselI0e")
                  OTHER("sign", "Sign") "  inverse = Reciprocal[T=$T](x)\n"
                                        "  factor = Add[T=$T](sign:y:0, inverse:y:0)\n"
                                        "  part = Mul[T=$T](y:y:0, factor:z:0)\n" SUB("rest", "other:y:0",
                                                                                      "part:z:0")
                                            EXCEPT_AT("0", "rest:z:0", "0.5"),
              "slope:output:0"),
    .kernels = BESSEL_KERNELS(kVectorI1e),
};

const OpRegistration kOpBesselK0 = {
    .name = "BesselK0",
    UNARY,
    .gradient = SLOPE("BesselK0", OTHER("other", "BesselK1") MINUS("slope", "other:y:0"), "slope:y:0"),
    .kernels = BESSEL_KERNELS(kVectorK0),
};

const OpRegistration kOpBesselK0e = {
    .name = "BesselK0e",
    UNARY,
    .gradient = SLOPE("BesselK0e",
                      OTHER("y", "BesselK0e") OTHER("other", "BesselK1e") SUB("slope", "y:y:0", "other:y:0"),
                      "slope:z:0"),
    .kernels = BESSEL_KERNELS(kVectorK0e),
};

const OpRegistration kOpBesselK1 = {
    .name = "BesselK1",
    UNARY,
    .gradient =
        SLOPE("BesselK1",
              OTHER("y", "BesselK1") OTHER("other", "BesselK0")
                  MINUS("minus", "other:y:0") "  ratio = RealDiv[T=$T](y:y:0, x)\n" SUB("slope", "minus:y:0",
                                                                                        "ratio:z:0"),
              "slope:z:0"),
    .kernels = BESSEL_KERNELS(kVectorK1),
};

const OpRegistration kOpBesselK1e = {
    .name = "BesselK1e",
    UNARY,
    .gradient =
        SLOPE("BesselK1e",
              OTHER("y", "BesselK1e")
                  OTHER("other", "BesselK0e") "  ratio = RealDiv[T=$T](y:y:0, x)\n" SUB("rest", "y:y:0",
                                                                                        "ratio:z:0")
                      SUB("slope", "rest:z:0", "other:y:0"),
              "slope:z:0"),
    .kernels = BESSEL_KERNELS(kVectorK1e),
};

const OpRegistration kOpBesselJ0 = {
    .name = "BesselJ0",
    UNARY,
    .gradient = SLOPE("BesselJ0", OTHER("other", "BesselJ1") MINUS("slope", "other:y:0"), "slope:y:0"),
    .kernels = BESSEL_KERNELS(kVectorJ0),
};

const OpRegistration kOpBesselJ1 = {
    .name = "BesselJ1",
    UNARY,
    .gradient =
        SLOPE("BesselJ1",
              OTHER("y", "BesselJ1")
                  OTHER("other", "BesselJ0") "  ratio = RealDiv[T=$T](y:y:0, x)\n" SUB("rest", "other:y:0",
                                                                                       "ratio:z:0")
                      EXCEPT_AT("0", "rest:z:0", "0.5"),
              "slope:output:0"),
    .kernels = BESSEL_KERNELS(kVectorJ1),
};

const OpRegistration kOpBesselY0 = {
    .name = "BesselY0",
    UNARY,
    .gradient = SLOPE("BesselY0", OTHER("other", "BesselY1") MINUS("slope", "other:y:0"), "slope:y:0"),
    .kernels = BESSEL_KERNELS(kVectorY0),
};

const OpRegistration kOpBesselY1 = {
    .name = "BesselY1",
    UNARY,
    .gradient =
        SLOPE("BesselY1",
              OTHER("y", "BesselY1")
                  OTHER("other", "BesselY0") "  ratio = RealDiv[T=$T](y:y:0, x)\n" SUB("slope", "other:y:0",
                                                                                       "ratio:z:0"),
              "slope:z:0"),
    .kernels = BESSEL_KERNELS(kVectorY1),
};

/* --- integrals --- */

const OpRegistration kOpDawsn = {
    .name = "Dawsn",
    UNARY,
    .gradient =
        SLOPE("Dawsn",
              OTHER("y", "Dawsn") "  one = Const[dtype=$T, value=1]()\n"
                                  "  two = Const[dtype=$T, value=2]()\n"
                                  "  xy = Mul[T=$T](x, y:y:0)\n"
                                  "  twice = Mul[T=$T](two:output:0, xy:z:0)\n" SUB("slope", "one:output:0",
                                                                                    "twice:z:0"),
              "slope:z:0"),
    .kernels = {FLOAT_KERNELS(elementwise_function, &kVectorDawson)},
};

const OpRegistration kOpExpint = {
    .name = "Expint",
    UNARY,
    .gradient = SLOPE("Expint", OTHER("power", "Exp") "  slope = RealDiv[T=$T](power:y:0, x)\n", "slope:z:0"),
    .kernels = {FLOAT_KERNELS(elementwise_function, &kVectorExponential)},
};

#define WAVE(op, function)                                          \
  SLOPE(op,                                                         \
        "  half_pi = Const[dtype=$T, value=1.5707963267948966]()\n" \
        "  square = Square[T=$T](x)\n"                              \
        "  angle = Mul[T=$T](half_pi:output:0, square:y:0)\n"       \
        "  slope = " function "[T=$T](angle:z:0)\n",                \
        "slope:y:0")

const OpRegistration kOpFresnelCos = {
    .name = "FresnelCos",
    UNARY,
    .gradient = WAVE("FresnelCos", "Cos"),
    .kernels = {FLOAT_KERNELS(elementwise_function, &kVectorFresnelCos)},
};

const OpRegistration kOpFresnelSin = {
    .name = "FresnelSin",
    UNARY,
    .gradient = WAVE("FresnelSin", "Sin"),
    .kernels = {FLOAT_KERNELS(elementwise_function, &kVectorFresnelSin)},
};

const OpRegistration kOpSpence = {
    .name = "Spence",
    UNARY,
    .gradient =
        SLOPE("Spence",
              "  one = Const[dtype=$T, value=1]()\n" OTHER("power", "Log")
                  SUB("below", "one:output:0",
                      "x") "  ratio = RealDiv[T=$T](power:y:0, below:z:0)\n" EXCEPT_AT("1", "ratio:z:0",
                                                                                       "-1"),
              "slope:output:0"),
    .kernels = {FLOAT_KERNELS(elementwise_function, &kVectorSpence)},
};
