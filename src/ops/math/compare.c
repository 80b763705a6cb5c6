/* Comparisons of two tensors that broadcast against each other. Every comparison with NaN is false. */
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/support/broadcast.h"
#include "ops/support/element_types.h"
#include "simd/simd.h"

/* a > b is b < a. */
static BroadcastSide other_side(BroadcastSide still) {
  return still == BROADCAST_A ? BROADCAST_B : still == BROADCAST_B ? BROADCAST_A : BROADCAST_NONE;
}

/* --- equality --- */

typedef struct EqualityState {
  bool incompatible_shape_error;
} EqualityState;

static bool equality_construct(const KernelConstruction *construction, void *memory, Status *status) {
  EqualityState *state = memory;
  return node_attr_bool(construction->node, "incompatible_shape_error", &state->incompatible_shape_error,
                        status);
}

/* Shapes that do not broadcast are an error, or else unequal as a whole. */
static bool equality(KernelContext *context, bool when_incompatible, Status *status) {
  const EqualityState *state = context->state;
  Tensor *out;
  if (state->incompatible_shape_error ||
      broadcast_compatible(&context->inputs[0]->shape, &context->inputs[1]->shape)) {
    return broadcast_kernel(context, status);
  }
  TRY(kernel_allocate_output_dims(context, 0, 0, NULL, &out, status));
  tensor_bool(out)[0] = when_incompatible;
  return true;
}

static bool equal_kernel(KernelContext *context, Status *status) { return equality(context, false, status); }
static bool not_equal_kernel(KernelContext *context, Status *status) {
  return equality(context, true, status);
}

/* For shapes that may differ: the first sizes that clash, or may clash, decide. In the first case the result
 * is a scalar, in the second it is unknown. Two unknown sizes count as equal, as in TensorFlow, although they
 * may differ. */
static bool lenient_shape(InferenceContext *c, Status *status) {
  ShapeHandle a = shape_input(c, 0), b = shape_input(c, 1);
  if (!shape_rank_known(a) || !shape_rank_known(b)) return shape_unknown_outputs(c, status);
  for (int i = shape_rank(a) < shape_rank(b) ? shape_rank(a) : shape_rank(b); i > 0; i--) {
    DimHandle x = shape_dim_of(c, a, -i), y = shape_dim_of(c, b, -i);
    bool x_stays = dim_known(x) && dim_value(x) != 1, y_stays = dim_known(y) && dim_value(y) != 1;
    if (x_stays && y_stays && dim_value(x) != dim_value(y)) return shape_scalar_output(c, status);
    if ((x_stays && !dim_known(y)) || (y_stays && !dim_known(x))) return shape_unknown_outputs(c, status);
  }
  return shape_broadcast_binary(c, status);
}

static bool equality_shape(InferenceContext *c, Status *status) {
  bool strict;
  TRY(node_attr_bool(c->node, "incompatible_shape_error", &strict, status));
  return strict ? shape_broadcast_binary(c, status) : lenient_shape(c, status);
}

/* For the template: the loop NAME(op), which computes NAME(op_one)(C, C). Not inlined: two loops use it. */
#define COMPARE_LOOP(op)                                                                                 \
  SIMD_NOINLINE void NAME(op)(const void *a, const void *b, void *out, int64_t n, BroadcastSide still) { \
    NAME(compare)(NAME(op##_one), a, b, out, n, still);                                                  \
  }
#define WITH_ORDER
#define TEMPLATE "ops/math/compare_math.inc"
#define TYPES (TYPES_FLOAT | TYPES_HALF | TYPES_INT | TYPES_SMALL | TYPES_UNSIGNED)
#include "simd/each_type.inc"
#undef WITH_ORDER
#define TEMPLATE "ops/math/compare_math.inc"
#define TYPES TYPES_COMPLEX
#include "simd/each_type.inc"

static void compare_strings(const TString *a, const TString *b, bool *out, int64_t n, BroadcastSide still,
                            bool when_equal) {
  for (int64_t i = 0; i < n; i++) {
    out[i] = tstring_equal(&a[still == BROADCAST_A ? 0 : i], &b[still == BROADCAST_B ? 0 : i]) == when_equal;
  }
}
static void equal_string(const void *a, const void *b, void *out, int64_t n, BroadcastSide still) {
  compare_strings(a, b, out, n, still, true);
}
static void not_equal_string(const void *a, const void *b, void *out, int64_t n, BroadcastSide still) {
  compare_strings(a, b, out, n, still, false);
}
/* Bools compare as bytes; quantized numbers as the integers that they are stored as. */
#define EQUALITY_KERNELS(f, loop)                                                        \
  TYPED_NUMBER_KERNELS(f, loop), {DT_BOOL, f, loop##_u8}, {DT_STRING, f, loop##_string}, \
      {DT_QUINT8, f, loop##_u8}, {DT_QINT8, f, loop##_i8}, {DT_QINT16, f, loop##_i16},   \
      {DT_QUINT16, f, loop##_u16}, {                                                     \
    DT_QINT32, f, loop##_i32                                                             \
  }

const OpRegistration kOpEqual = {
    .name = "Equal",
    .inputs = {"x: T", "y: T"},
    .outputs = {"z: bool"},
    .attrs = {"T: type", "incompatible_shape_error: bool = true"},
    .is_commutative = true,
    .shape = equality_shape,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(EqualityState),
    .construct = equality_construct,
    .kernels = {EQUALITY_KERNELS(equal_kernel, equal)},
};

const OpRegistration kOpNotEqual = {
    .name = "NotEqual",
    .inputs = {"x: T", "y: T"},
    .outputs = {"z: bool"},
    .attrs = {"T: type", "incompatible_shape_error: bool = true"},
    .is_commutative = true,
    .shape = equality_shape,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(EqualityState),
    .construct = equality_construct,
    .kernels = {EQUALITY_KERNELS(not_equal_kernel, not_equal)},
};

const OpRegistration kOpLess = {
    .name = "Less",
    .inputs = {"x: T", "y: T"},
    .outputs = {"z: bool"},
    .attrs = {"T: realnumbertype"},
    .shape = shape_broadcast_binary,
    .gradient = NO_GRADIENT,
    .kernels = {TYPED_REAL_KERNELS(broadcast_kernel, less)},
};

const OpRegistration kOpLessEqual = {
    .name = "LessEqual",
    .inputs = {"x: T", "y: T"},
    .outputs = {"z: bool"},
    .attrs = {"T: realnumbertype"},
    .shape = shape_broadcast_binary,
    .gradient = NO_GRADIENT,
    .kernels = {TYPED_REAL_KERNELS(broadcast_kernel, less_equal)},
};

const OpRegistration kOpGreater = {
    .name = "Greater",
    .inputs = {"x: T", "y: T"},
    .outputs = {"z: bool"},
    .attrs = {"T: realnumbertype"},
    .shape = shape_broadcast_binary,
    .gradient = NO_GRADIENT,
    .kernels = {TYPED_REAL_KERNELS(broadcast_kernel, greater)},
};

const OpRegistration kOpGreaterEqual = {
    .name = "GreaterEqual",
    .inputs = {"x: T", "y: T"},
    .outputs = {"z: bool"},
    .attrs = {"T: realnumbertype"},
    .shape = shape_broadcast_binary,
    .gradient = NO_GRADIENT,
    .kernels = {TYPED_REAL_KERNELS(broadcast_kernel, greater_equal)},
};
