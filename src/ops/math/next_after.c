/* NextAfter: the next floating-point number towards another. */
#include <string.h>

#include "op/op_registry.h"
#include "ops/support/broadcast.h"
#include "ops/support/broadcast_gradient.h"
#include "ops/support/element_types.h"

#define TEMPLATE "ops/math/next_after.inc"
#define TYPES TYPES_FLOAT
#include "simd/each_type.inc"

/* The result differs from x by a negligible distance, so it has the gradient of x. */
const OpRegistration kOpNextAfter = {
    .name = "NextAfter",
    .inputs = {"x1: T", "x2: T"},
    .outputs = {"output: T"},
    .attrs = {"T: {double, float} = DT_FLOAT"},
    .shape = shape_broadcast_binary,
    .gradient =
        BROADCAST_GRADIENT_BY_X("NextAfterGradient[T:type](x:T, y:T, dz:T) -> (dx:T, dy:T)", "dz", ""),
    .kernels = {TYPED_FLOAT_KERNELS(broadcast_kernel, next_after)},
};
