/* Quotients that are truncated, and their remainders. */
#include "op/op_registry.h"
#include "ops/math/division.h"
#include "ops/support/broadcast.h"
#include "ops/support/broadcast_gradient.h"
#include "ops/support/complex_quotient.h"
#include "ops/support/element_types.h"

#define TEMPLATE "ops/math/truncated_division.inc"
#define TYPES (TYPES_FLOAT | TYPES_HALF | TYPES_INT | TYPES_SMALL | TYPES_UNSIGNED)
#include "simd/each_type.inc"

const OpRegistration kOpTruncateDiv = {
    .name = "TruncateDiv",
    .inputs = {"x: T", "y: T"},
    .outputs = {"z: T"},
    .attrs = {QUOTIENT_TYPES},
    .shape = shape_broadcast_binary,
    .gradient = NO_GRADIENT,
    .kernels = {TYPED_FLOAT_AND_HALF_KERNELS(divide_kernel, truncate_div),
                TYPED_INT_KERNELS(divide_kernel, truncate_div),
                TYPED_SMALL_KERNELS(divide_kernel, truncate_div),
                TYPED_UNSIGNED_KERNELS(divide_kernel, truncate_div)},
};

/* The remainder with the sign of x, under two names. TensorFlow has no gradients for them. */
const OpRegistration kOpMod = {
    .name = "Mod",
    .inputs = {"x: T", "y: T"},
    .outputs = {"z: T"},
    .attrs = {"T: {int32, int64, half, half, bfloat16, float, double}"},
    .shape = shape_broadcast_binary,
    .gradient = REMAINDER_GRADIENT("Mod", "TruncateDiv"),
    .kernels = {TYPED_FLOAT_AND_HALF_KERNELS(divide_kernel, truncate_mod),
                TYPED_INT_KERNELS(divide_kernel, truncate_mod)},
};

const OpRegistration kOpTruncateMod = {
    .name = "TruncateMod",
    .inputs = {"x: T", "y: T"},
    .outputs = {"z: T"},
    .attrs = {"T: {int32, int64, bfloat16, half, float, double}"},
    .shape = shape_broadcast_binary,
    .gradient = REMAINDER_GRADIENT("TruncateMod", "TruncateDiv"),
    .kernels = {TYPED_FLOAT_AND_HALF_KERNELS(divide_kernel, truncate_mod),
                TYPED_INT_KERNELS(divide_kernel, truncate_mod)},
};
