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
  .kernels = {{DT_FLOAT, equal_f32}, {DT_DOUBLE, equal_f64}, {DT_INT32, equal_i32}, {DT_INT64, equal_i64}, {DT_BOOL, equal_bool},
              {DT_UINT8, equal_u8}, {DT_INT8, equal_i8}, {DT_INT16, equal_i16}, {DT_HALF, equal_f16}, {DT_BFLOAT16, equal_bf16},
              {DT_STRING, equal_string},
              {DT_COMPLEX64, equal_c64}, {DT_COMPLEX128, equal_c128}})

REGISTER_OP(NotEqual,
  .inputs = {"x: T", "y: T"},
  .outputs = {"z: bool"},
  .attrs = {"T: {bfloat16, half, float, double, uint8, int8, int16, int32, int64, complex64, quint8, qint8, qint32, string, "
            "bool, complex128}"},
  .is_commutative = true,
  .shape = shape_broadcast_binary,
  .gradient = NO_GRADIENT,
  .kernels = {{DT_FLOAT, not_equal_f32}, {DT_DOUBLE, not_equal_f64}, {DT_INT32, not_equal_i32}, {DT_INT64, not_equal_i64},
              {DT_BOOL, not_equal_bool}, {DT_UINT8, not_equal_u8}, {DT_INT8, not_equal_i8}, {DT_INT16, not_equal_i16},
              {DT_HALF, not_equal_f16}, {DT_BFLOAT16, not_equal_bf16}, {DT_STRING, not_equal_string},
              {DT_COMPLEX64, not_equal_c64}, {DT_COMPLEX128, not_equal_c128}})

REGISTER_OP(Less,
  .inputs = {"x: T", "y: T"},
  .outputs = {"z: bool"},
  .attrs = {"T: realnumbertype"},
  .shape = shape_broadcast_binary,
  .gradient = NO_GRADIENT,
  .kernels = {{DT_FLOAT, less_f32}, {DT_DOUBLE, less_f64}, {DT_INT32, less_i32}, {DT_INT64, less_i64}, {DT_UINT8, less_u8},
              {DT_INT8, less_i8}, {DT_INT16, less_i16}, {DT_UINT16, less_u16}, {DT_UINT32, less_u32}, {DT_UINT64, less_u64},
              {DT_HALF, less_f16}, {DT_BFLOAT16, less_bf16}})

REGISTER_OP(LessEqual,
  .inputs = {"x: T", "y: T"},
  .outputs = {"z: bool"},
  .attrs = {"T: realnumbertype"},
  .shape = shape_broadcast_binary,
  .gradient = NO_GRADIENT,
  .kernels = {{DT_FLOAT, less_equal_f32}, {DT_DOUBLE, less_equal_f64}, {DT_INT32, less_equal_i32}, {DT_INT64, less_equal_i64},
              {DT_UINT8, less_equal_u8}, {DT_INT8, less_equal_i8}, {DT_INT16, less_equal_i16}, {DT_UINT16, less_equal_u16},
              {DT_UINT32, less_equal_u32}, {DT_UINT64, less_equal_u64}, {DT_HALF, less_equal_f16},
              {DT_BFLOAT16, less_equal_bf16}})

REGISTER_OP(Greater,
  .inputs = {"x: T", "y: T"},
  .outputs = {"z: bool"},
  .attrs = {"T: realnumbertype"},
  .shape = shape_broadcast_binary,
  .gradient = NO_GRADIENT,
  .kernels = {{DT_FLOAT, greater_f32}, {DT_DOUBLE, greater_f64}, {DT_INT32, greater_i32}, {DT_INT64, greater_i64},
              {DT_UINT8, greater_u8}, {DT_INT8, greater_i8}, {DT_INT16, greater_i16}, {DT_UINT16, greater_u16},
              {DT_UINT32, greater_u32}, {DT_UINT64, greater_u64}, {DT_HALF, greater_f16}, {DT_BFLOAT16, greater_bf16}})

REGISTER_OP(GreaterEqual,
  .inputs = {"x: T", "y: T"},
  .outputs = {"z: bool"},
  .attrs = {"T: realnumbertype"},
  .shape = shape_broadcast_binary,
  .gradient = NO_GRADIENT,
  .kernels = {{DT_FLOAT, greater_equal_f32}, {DT_DOUBLE, greater_equal_f64}, {DT_INT32, greater_equal_i32},
              {DT_INT64, greater_equal_i64}, {DT_UINT8, greater_equal_u8}, {DT_INT8, greater_equal_i8},
              {DT_INT16, greater_equal_i16}, {DT_UINT16, greater_equal_u16}, {DT_UINT32, greater_equal_u32},
              {DT_UINT64, greater_equal_u64}, {DT_HALF, greater_equal_f16}, {DT_BFLOAT16, greater_equal_bf16}})
