/* Comparisons of two tensors that broadcast against each other. Nothing equals, exceeds or falls below a NaN. */

#include "op/op_registry.h"
#include "ops/broadcast.h"
#include "ops/element_types.h"

/* a > b is b < a. */
static BroadcastSide other_side(BroadcastSide still) {
  return still == BROADCAST_A ? BROADCAST_B : still == BROADCAST_B ? BROADCAST_A : BROADCAST_NONE;
}

#define WITH_ORDER
#define TEMPLATE "ops/compare_math.inc"
#define TYPES (TYPES_FLOAT | TYPES_HALF | TYPES_INT | TYPES_SMALL | TYPES_UNSIGNED)
#include "ops/each_type.inc"
#undef WITH_ORDER
#define TEMPLATE "ops/compare_math.inc"
#define TYPES (TYPES_BOOL | TYPES_COMPLEX)
#include "ops/each_type.inc"

static void compare_strings(const TString *a, const TString *b, bool *out, int64_t n, BroadcastSide still, bool when_equal) {
  for (int64_t i = 0; i < n; i++) {
    out[i] = tstring_equal(&a[still == BROADCAST_A ? 0 : i], &b[still == BROADCAST_B ? 0 : i]) == when_equal;
  }
}
static void equal_loop_string(const void *a, const void *b, void *out, int64_t n, BroadcastSide still) {
  compare_strings(a, b, out, n, still, true);
}
static void not_equal_loop_string(const void *a, const void *b, void *out, int64_t n, BroadcastSide still) {
  compare_strings(a, b, out, n, still, false);
}
static bool equal_string(KernelContext *context, Status *status) { return broadcast_binary(context, equal_loop_string, status); }
static bool not_equal_string(KernelContext *context, Status *status) {
  return broadcast_binary(context, not_equal_loop_string, status);
}

REGISTER_OP(Equal,
  .inputs = {"x: T", "y: T"},
  .outputs = {"z: bool"},
  .attrs = {"T: {bfloat16, half, float, double, uint8, int8, int16, int32, int64, complex64, quint8, qint8, qint32, string, "
            "bool, complex128}"},
  .is_commutative = true,
  .shape = shape_broadcast_binary,
  .gradient = NO_GRADIENT,
  .kernels = {TYPED_FLOAT_KERNELS(equal), TYPED_HALF_KERNELS(equal), TYPED_INT_KERNELS(equal), {DT_UINT8, equal_u8}, {DT_INT8, equal_i8},
              {DT_INT16, equal_i16}, {DT_BOOL, equal_bool}, TYPED_COMPLEX_KERNELS(equal), {DT_STRING, equal_string},
              {DT_QUINT8, equal_u8}, {DT_QINT8, equal_i8}, {DT_QINT32, equal_i32}})

REGISTER_OP(NotEqual,
  .inputs = {"x: T", "y: T"},
  .outputs = {"z: bool"},
  .attrs = {"T: {bfloat16, half, float, double, uint8, int8, int16, int32, int64, complex64, quint8, qint8, qint32, string, "
            "bool, complex128}"},
  .is_commutative = true,
  .shape = shape_broadcast_binary,
  .gradient = NO_GRADIENT,
  .kernels = {TYPED_FLOAT_KERNELS(not_equal), TYPED_HALF_KERNELS(not_equal), TYPED_INT_KERNELS(not_equal), {DT_UINT8, not_equal_u8},
              {DT_INT8, not_equal_i8}, {DT_INT16, not_equal_i16}, {DT_BOOL, not_equal_bool}, TYPED_COMPLEX_KERNELS(not_equal),
              {DT_STRING, not_equal_string}, {DT_QUINT8, not_equal_u8}, {DT_QINT8, not_equal_i8}, {DT_QINT32, not_equal_i32}})

REGISTER_OP(Less,
  .inputs = {"x: T", "y: T"},
  .outputs = {"z: bool"},
  .attrs = {"T: realnumbertype"},
  .shape = shape_broadcast_binary,
  .gradient = NO_GRADIENT,
  .kernels = {TYPED_REAL_KERNELS(less)})

REGISTER_OP(LessEqual,
  .inputs = {"x: T", "y: T"},
  .outputs = {"z: bool"},
  .attrs = {"T: realnumbertype"},
  .shape = shape_broadcast_binary,
  .gradient = NO_GRADIENT,
  .kernels = {TYPED_REAL_KERNELS(less_equal)})

REGISTER_OP(Greater,
  .inputs = {"x: T", "y: T"},
  .outputs = {"z: bool"},
  .attrs = {"T: realnumbertype"},
  .shape = shape_broadcast_binary,
  .gradient = NO_GRADIENT,
  .kernels = {TYPED_REAL_KERNELS(greater)})

REGISTER_OP(GreaterEqual,
  .inputs = {"x: T", "y: T"},
  .outputs = {"z: bool"},
  .attrs = {"T: realnumbertype"},
  .shape = shape_broadcast_binary,
  .gradient = NO_GRADIENT,
  .kernels = {TYPED_REAL_KERNELS(greater_equal)})
