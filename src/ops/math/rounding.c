/* Rounding, and tests for infinity and NaN. */
#include "op/op_registry.h"
#include "ops/support/element_types.h"
#include "ops/support/elementwise.h"

typedef struct TestJob {
  const void *x;
  bool *out;
} TestJob;

/* Its data is a ParallelBody. */
static bool test_kernel(KernelContext *context, Status *status) {
  const Tensor *x = context->inputs[0];
  Tensor *out;
  TRY(kernel_allocate_output(context, 0, &x->shape, &out, status));
  TestJob job = {x->data, tensor_bool(out)};
  parallel_work(context->parallel, tensor_num_elements(x), 1, (ParallelBody *)context->data, &job);
  return true;
}

#define TEMPLATE "ops/math/rounding.inc"
#define TYPES (TYPES_FLOAT | TYPES_HALF)
#include "simd/each_type.inc"

/* Integers are unchanged. */
static bool keep(KernelContext *context, Status *status) {
  return kernel_set_output(context, 0, context->inputs[0], NULL, status);
}

#define REAL_TYPES "T: {bfloat16, half, float, double}"

const OpRegistration kOpFloor = {
    .name = "Floor",
    .inputs = {"x: T"},
    .outputs = {"y: T"},
    .attrs = {REAL_TYPES},
    .shape = shape_unchanged,
    .gradient = NO_GRADIENT,
    .kernels = {TYPED_FLOAT_AND_HALF_KERNELS(elementwise_unary, floor)},
};

const OpRegistration kOpCeil = {
    .name = "Ceil",
    .inputs = {"x: T"},
    .outputs = {"y: T"},
    .attrs = {REAL_TYPES},
    .shape = shape_unchanged,
    .gradient = NO_GRADIENT,
    .kernels = {TYPED_FLOAT_AND_HALF_KERNELS(elementwise_unary, ceil)},
};

/* Halves go to the even neighbour, here and in Round. */
const OpRegistration kOpRint = {
    .name = "Rint",
    .inputs = {"x: T"},
    .outputs = {"y: T"},
    .attrs = {REAL_TYPES},
    .shape = shape_unchanged,
    .gradient = NO_GRADIENT,
    .kernels = {TYPED_FLOAT_AND_HALF_KERNELS(elementwise_unary, rint)},
};

/* TensorFlow has no kernels for complex numbers here either. */
const OpRegistration kOpRound = {
    .name = "Round",
    .inputs = {"x: T"},
    .outputs = {"y: T"},
    .attrs = {"T: {bfloat16, half, float, double, int8, int16, int32, int64, complex64, complex128}"},
    .shape = shape_unchanged,
    .gradient = NO_GRADIENT,
    .kernels = {TYPED_FLOAT_AND_HALF_KERNELS(elementwise_unary, rint), INT_KERNELS(keep)},
};

const OpRegistration kOpIsNan = {
    .name = "IsNan",
    .inputs = {"x: T"},
    .outputs = {"y: bool"},
    .attrs = {REAL_TYPES},
    .shape = shape_unchanged,
    .gradient = NO_GRADIENT,
    .kernels = {TYPED_FLOAT_AND_HALF_KERNELS(test_kernel, is_nan)},
};

const OpRegistration kOpIsInf = {
    .name = "IsInf",
    .inputs = {"x: T"},
    .outputs = {"y: bool"},
    .attrs = {REAL_TYPES},
    .shape = shape_unchanged,
    .gradient = NO_GRADIENT,
    .kernels = {TYPED_FLOAT_AND_HALF_KERNELS(test_kernel, is_inf)},
};

const OpRegistration kOpIsFinite = {
    .name = "IsFinite",
    .inputs = {"x: T"},
    .outputs = {"y: bool"},
    .attrs = {REAL_TYPES},
    .shape = shape_unchanged,
    .gradient = NO_GRADIENT,
    .kernels = {TYPED_FLOAT_AND_HALF_KERNELS(test_kernel, is_finite)},
};
