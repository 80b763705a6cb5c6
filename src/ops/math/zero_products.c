/* Products with logarithms and quotients that are zero if the first factor is zero. */
#include "op/op_registry.h"
#include "ops/support/broadcast.h"
#include "ops/support/broadcast_gradient.h"
#include "ops/support/complex_math.h"
#include "ops/support/complex_quotient.h"
#include "ops/support/conjugate.h"
#include "ops/support/element_types.h"
#include "simd/vector_math.h"

#define TEMPLATE "ops/math/zero_products.inc"
#define TYPES (TYPES_FLOAT | TYPES_HALF | TYPES_COMPLEX)
#include "simd/each_type.inc"

#define PRODUCT_TYPES "T: {half, bfloat16, float, double, complex64, complex128}"

/* `present` is 1 where x is not 0, else 0. */
#define PRODUCT_GRADIENT(op, gx, gy, lines)                       \
  BROADCAST_GRADIENT(op, gx, gy,                                  \
                     "  zeros = ZerosLike[T=$T](x)\n"             \
                     "  nonzero = NotEqual[T=$T](x, zeros:y:0)\n" \
                     "  present = Cast[SrcT=bool, DstT=$T](nonzero:z:0)\n" lines)

CONJUGATE_GRADIENT(xlogy_gradient, PRODUCT_GRADIENT("Xlogy", "gx:z:0", "gy:z:0",
                                                    "  logarithm = Xlogy[T=$T](present:y:0, ~y)\n"
                                                    "  gx = Mul[T=$T](dz, logarithm:z:0)\n"
                                                    "  slope = Xdivy[T=$T](~x, ~y)\n"
                                                    "  gy = Mul[T=$T](dz, slope:z:0)\n"))
const OpRegistration kOpXlogy = {
    .name = "Xlogy",
    .inputs = {"x: T", "y: T"},
    .outputs = {"z: T"},
    .attrs = {PRODUCT_TYPES},
    .shape = shape_broadcast_binary,
    .gradient_fn = xlogy_gradient,
    .kernels = {TYPED_FLOAT_AND_HALF_KERNELS(broadcast_kernel, xlogy),
                TYPED_COMPLEX_KERNELS(broadcast_kernel, xlogy)},
};

/* x * log(1 + y). Where x is 0, y counts as 0. */
CONJUGATE_GRADIENT(xlog1py_gradient,
                   PRODUCT_GRADIENT("Xlog1py", "gx:z:0", "gy:z:0",
                                    "  logarithm = Xlog1py[T=$T](present:y:0, ~y)\n"
                                    "  gx = Mul[T=$T](dz, logarithm:z:0)\n"
                                    "  one = Const[dtype=$T, value=1]()\n"
                                    "  safe_y = SelectV2[T=$T](nonzero:z:0, ~y, zeros:y:0)\n"
                                    "  one_y = Add[T=$T](safe_y:output:0, one:output:0)\n"
                                    "  quotient = RealDiv[T=$T](~x, one_y:z:0)\n"
                                    "  slope = Mul[T=$T](present:y:0, quotient:z:0)\n"
                                    "  gy = Mul[T=$T](dz, slope:z:0)\n"))
const OpRegistration kOpXlog1py = {
    .name = "Xlog1py",
    .inputs = {"x: T", "y: T"},
    .outputs = {"z: T"},
    .attrs = {PRODUCT_TYPES},
    .shape = shape_broadcast_binary,
    .gradient_fn = xlog1py_gradient,
    .kernels = {TYPED_FLOAT_AND_HALF_KERNELS(broadcast_kernel, xlog1py),
                TYPED_COMPLEX_KERNELS(broadcast_kernel, xlog1py)},
};

CONJUGATE_GRADIENT(xdivy_gradient, PRODUCT_GRADIENT("Xdivy", "gx:z:0", "gy:y:0",
                                                    "  inverse = Xdivy[T=$T](present:y:0, ~y)\n"
                                                    "  gx = Mul[T=$T](dz, inverse:z:0)\n"
                                                    "  quotient = Xdivy[T=$T](~x, ~y)\n"
                                                    "  slope = Xdivy[T=$T](quotient:z:0, ~y)\n"
                                                    "  product = Mul[T=$T](dz, slope:z:0)\n"
                                                    "  gy = Neg[T=$T](product:z:0)\n"))
const OpRegistration kOpXdivy = {
    .name = "Xdivy",
    .inputs = {"x: T", "y: T"},
    .outputs = {"z: T"},
    .attrs = {PRODUCT_TYPES},
    .shape = shape_broadcast_binary,
    .gradient_fn = xdivy_gradient,
    .kernels = {TYPED_FLOAT_AND_HALF_KERNELS(broadcast_kernel, xdivy),
                TYPED_COMPLEX_KERNELS(broadcast_kernel, xdivy)},
};
