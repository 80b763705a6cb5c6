/* RefSelect: selects one of several references by index. */
#include "op/op_registry.h"

static bool ref_select(KernelContext *context, Status *status) {
  const Tensor *index = context->inputs[0];
  char text[SHAPE_TEXT_CAPACITY];
  int count = context->num_inputs - 1;
  if (index->shape.rank != 0)
    return status_invalid(status, "Index must be a scalar, but it has shape %s",
                          shape_text(&index->shape, text));
  int32_t chosen = *tensor_i32(index);
  if (chosen < 0 || chosen >= count)
    return status_invalid(status, "Index must be in the range [0, %d) but got %d", count, (int)chosen);
  return kernel_set_output(context, 0, context->inputs[1 + chosen], NULL, status);
}

/* The shape of all references; unknown if they have different shapes. */
static bool ref_select_shape(InferenceContext *c, Status *status) {
  ShapeHandle scalar, out = shape_input(c, 1);
  TRY(shape_with_rank(c, shape_input(c, 0), 0, &scalar, status));
  bool equal = shape_fully_defined(out);
  for (int i = 2; equal && i < c->num_inputs; i++) {
    ShapeHandle other = shape_input(c, i);
    equal = shape_fully_defined(other) && shape_rank(other) == shape_rank(out);
    for (int d = 0; equal && d < shape_rank(out); d++)
      equal = dim_value(out->dims[d]) == dim_value(other->dims[d]);
  }
  if (!equal) TRY(shape_ok(shape_unknown(c), &out, status));
  shape_set_output(c, 0, out);
  return true;
}

/* TensorFlow has no gradient for it. */
const OpRegistration kOpRefSelect = {
    .name = "RefSelect",
    .inputs = {"index: int32", "inputs: Ref(N * T)"},
    .outputs = {"output: Ref(T)"},
    .attrs = {"T: type", "N: int >= 1"},
    .shape = ref_select_shape,
    .kernels = {{DT_INVALID, ref_select}},
};
