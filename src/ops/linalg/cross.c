/* Cross: products of vectors in space. */
#include "op/op_registry.h"
#include "ops/support/element_types.h"

typedef struct CrossJob {
  const void *a, *b;
  void *out;
} CrossJob;

#define TEMPLATE "ops/linalg/cross.inc"
#define TYPES (TYPES_FLOAT | TYPES_HALF | TYPES_INT | TYPES_SMALL | TYPES_UNSIGNED)
#include "simd/each_type.inc"

static bool cross_kernel(KernelContext *context, Status *status) {
  const Tensor *a = context->inputs[0], *b = context->inputs[1];
  char a_text[SHAPE_TEXT_CAPACITY], b_text[SHAPE_TEXT_CAPACITY];
  if (!shape_equal(&a->shape, &b->shape)) {
    return status_invalid(status, "Both inputs must be of same shape: %s vs. %s",
                          shape_text(&a->shape, a_text), shape_text(&b->shape, b_text));
  }
  int rank = a->shape.rank;
  if (rank < 1) return status_invalid(status, "Input must be at least 1D%s", shape_text(&a->shape, a_text));
  if (shape_dim(&a->shape, rank - 1) != 3) {
    return status_set(status, CODE_FAILED_PRECONDITION,
                      "Cross-products are only defined for 3-element vectors.");
  }
  Tensor *out;
  TRY(kernel_allocate_output(context, 0, &a->shape, &out, status));
  CrossJob job = {a->data, b->data, out->data};
  parallel_work(context->parallel, tensor_num_elements(a) / 3, 9, context->data, &job);
  return true;
}

static bool cross_shape(InferenceContext *c, Status *status) {
  ShapeHandle a, b;
  DimHandle three;
  TRY(shape_with_rank_at_least(c, shape_input(c, 0), 1, &a, status));
  TRY(shape_with_rank_at_least(c, shape_input(c, 1), 1, &b, status));
  TRY(shape_merge(c, a, b, &a, status));
  if (shape_rank_known(a)) TRY(dim_with_value(c, shape_dim_of(c, a, -1), 3, &three, status));
  shape_set_output(c, 0, a);
  return true;
}

const OpRegistration kOpCross = {
    .name = "Cross",
    .inputs = {"a: T", "b: T"},
    .outputs = {"product: T"},
    .attrs = {"T: realnumbertype"},
    .shape = cross_shape,
    .gradient =
        "CrossGradient[T:type](a:T, b:T, dy:T) -> (da:T, db:T) {\n"
        "  da = Cross[T=$T](b, dy)\n"
        "  db = Cross[T=$T](dy, a)\n"
        "  return da = da:product:0, db = db:product:0\n"
        "}\n",
    .kernels = {TYPED_REAL_KERNELS(cross_kernel, cross)},
};
