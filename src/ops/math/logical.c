/* Logical ops on tensors that broadcast against each other. */
#include "op/op_registry.h"
#include "ops/support/broadcast.h"
#include "ops/support/element_types.h"
#include "ops/support/elementwise.h"

static void and_loop(const void *left, const void *right, void *out, int64_t n, BroadcastSide still) {
  const bool *a = left, *b = right;
  for (int64_t i = 0; i < n; i++)
    ((bool *)out)[i] = a[still == BROADCAST_A ? 0 : i] & b[still == BROADCAST_B ? 0 : i];
}
static void or_loop(const void *left, const void *right, void *out, int64_t n, BroadcastSide still) {
  const bool *a = left, *b = right;
  for (int64_t i = 0; i < n; i++)
    ((bool *)out)[i] = a[still == BROADCAST_A ? 0 : i] | b[still == BROADCAST_B ? 0 : i];
}
static void not_loop(int64_t count, const void *x, void *y) {
  for (int64_t i = 0; i < count; i++) ((bool *)y)[i] = !((const bool *)x)[i];
}
const OpRegistration kOpLogicalAnd = {
    .name = "LogicalAnd",
    .inputs = {"x: bool", "y: bool"},
    .outputs = {"z: bool"},
    .is_commutative = true,
    .shape = shape_broadcast_binary,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, broadcast_kernel, and_loop}},
};

const OpRegistration kOpLogicalOr = {
    .name = "LogicalOr",
    .inputs = {"x: bool", "y: bool"},
    .outputs = {"z: bool"},
    .is_commutative = true,
    .shape = shape_broadcast_binary,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, broadcast_kernel, or_loop}},
};

const OpRegistration kOpLogicalNot = {
    .name = "LogicalNot",
    .inputs = {"x: bool"},
    .outputs = {"y: bool"},
    .shape = shape_unchanged,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, elementwise_unary, not_loop}},
};
