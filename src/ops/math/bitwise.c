/* Operations on the bits of integers. Pairs broadcast against each other. */
#include "op/op_registry.h"
#include "ops/support/broadcast.h"
#include "ops/support/element_types.h"
#include "ops/support/elementwise.h"

typedef struct BitCountJob {
  const void *x;
  uint8_t *out;
} BitCountJob;

/* Its data is a ParallelBody. */
static bool count_kernel(KernelContext *context, Status *status) {
  const Tensor *x = context->inputs[0];
  Tensor *out;
  TRY(kernel_allocate_output(context, 0, &x->shape, &out, status));
  BitCountJob job = {x->data, out->data};
  parallel_work(context->parallel, tensor_num_elements(x), 1, (ParallelBody *)context->data, &job);
  return true;
}

#define TEMPLATE "ops/math/bitwise.inc"
#define TYPES (TYPES_INT | TYPES_SMALL | TYPES_UNSIGNED)
#include "simd/each_type.inc"

#define BIT_TYPES "T: {int8, int16, int32, int64, uint8, uint16, uint32, uint64}"
#define BIT_KERNELS(f, loop) \
  TYPED_INT_KERNELS(f, loop), TYPED_SMALL_KERNELS(f, loop), TYPED_UNSIGNED_KERNELS(f, loop)

const OpRegistration kOpBitwiseAnd = {
    .name = "BitwiseAnd",
    .inputs = {"x: T", "y: T"},
    .outputs = {"z: T"},
    .attrs = {BIT_TYPES},
    .is_commutative = true,
    .shape = shape_broadcast_binary,
    .gradient = NO_GRADIENT,
    .kernels = {BIT_KERNELS(broadcast_kernel, bitwise_and)},
};

const OpRegistration kOpBitwiseOr = {
    .name = "BitwiseOr",
    .inputs = {"x: T", "y: T"},
    .outputs = {"z: T"},
    .attrs = {BIT_TYPES},
    .is_commutative = true,
    .shape = shape_broadcast_binary,
    .gradient = NO_GRADIENT,
    .kernels = {BIT_KERNELS(broadcast_kernel, bitwise_or)},
};

const OpRegistration kOpBitwiseXor = {
    .name = "BitwiseXor",
    .inputs = {"x: T", "y: T"},
    .outputs = {"z: T"},
    .attrs = {BIT_TYPES},
    .is_commutative = true,
    .shape = shape_broadcast_binary,
    .gradient = NO_GRADIENT,
    .kernels = {BIT_KERNELS(broadcast_kernel, bitwise_xor)},
};

/* A negative count shifts by nothing, one beyond the last bit by all bits but one. */
const OpRegistration kOpLeftShift = {
    .name = "LeftShift",
    .inputs = {"x: T", "y: T"},
    .outputs = {"z: T"},
    .attrs = {BIT_TYPES},
    .shape = shape_broadcast_binary,
    .gradient = NO_GRADIENT,
    .kernels = {BIT_KERNELS(broadcast_kernel, left_shift)},
};

const OpRegistration kOpRightShift = {
    .name = "RightShift",
    .inputs = {"x: T", "y: T"},
    .outputs = {"z: T"},
    .attrs = {BIT_TYPES},
    .shape = shape_broadcast_binary,
    .gradient = NO_GRADIENT,
    .kernels = {BIT_KERNELS(broadcast_kernel, right_shift)},
};

const OpRegistration kOpInvert = {
    .name = "Invert",
    .inputs = {"x: T"},
    .outputs = {"y: T"},
    .attrs = {BIT_TYPES},
    .shape = shape_unchanged,
    .gradient = NO_GRADIENT,
    .kernels = {BIT_KERNELS(elementwise_unary, invert)},
};

/* How many bits are set. */
const OpRegistration kOpPopulationCount = {
    .name = "PopulationCount",
    .inputs = {"x: T"},
    .outputs = {"y: uint8"},
    .attrs = {BIT_TYPES},
    .shape = shape_unchanged,
    .gradient = NO_GRADIENT,
    .kernels = {BIT_KERNELS(count_kernel, count_bits)},
};
