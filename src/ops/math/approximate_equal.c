/* Approximate equality. */
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/support/element_types.h"

typedef struct NearState {
  float tolerance;
} NearState;

typedef struct NearJob {
  const void *x, *y;
  bool *out;
  double tolerance;
} NearJob;

static bool near_construct(const KernelConstruction *construction, void *memory, Status *status) {
  return node_attr_float(construction->node, "tolerance", &((NearState *)memory)->tolerance, status);
}

/* The data is a ParallelBody. */
static bool near_kernel(KernelContext *context, Status *status) {
  const Tensor *x = context->inputs[0], *y = context->inputs[1];
  if (!shape_equal(&x->shape, &y->shape)) {
    char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY];
    return status_invalid(status, "x and y must be of the same shape. x shape: %s. y shape: %s",
                          shape_text(&x->shape, a), shape_text(&y->shape, b));
  }
  Tensor *out;
  TRY(kernel_allocate_output(context, 0, &x->shape, &out, status));
  NearJob job = {x->data, y->data, tensor_bool(out), (double)((const NearState *)context->state)->tolerance};
  parallel_work(context->parallel, tensor_num_elements(x), 1, (ParallelBody *)context->data, &job);
  return true;
}

#define TEMPLATE "ops/math/approximate_equal.inc"
#define TYPES (TYPES_FLOAT | TYPES_HALF | TYPES_INT | TYPES_SMALL | TYPES_UNSIGNED | TYPES_COMPLEX)
#include "simd/each_type.inc"

static bool near_shape(InferenceContext *c, Status *status) {
  ShapeHandle merged;
  TRY(shape_merge(c, shape_input(c, 0), shape_input(c, 1), &merged, status));
  shape_set_output(c, 0, shape_input(c, 0));
  return true;
}

/* |x - y| <= tolerance. TensorFlow compares floating numbers only. */
const OpRegistration kOpApproximateEqual = {
    .name = "ApproximateEqual",
    .inputs = {"x: T", "y: T"},
    .outputs = {"z: bool"},
    .attrs = {"T: {" NUMBER_TYPES "}", "tolerance: float = 0.00001"},
    .is_commutative = true,
    .shape = near_shape,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(NearState),
    .construct = near_construct,
    .kernels = {TYPED_NUMBER_KERNELS(near_kernel, near)},
};
