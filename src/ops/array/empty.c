/* Empty: a new tensor; DeepCopy: a copy with its own memory. */
#include "op/op_registry.h"
#include "ops/support/array_box.h"

/* --- Empty --- */

/* Elements are zeros even without `init`, so that old memory contents are never visible. */
static bool empty_kernel(KernelContext *context, Status *status) {
  const Tensor *sizes = context->inputs[0];
  int64_t dims[SHAPE_MAX_RANK];
  char text[SHAPE_TEXT_CAPACITY];
  Tensor *out;
  if (!tensor_is_vector(sizes)) {
    return status_invalid(status, "shape must be a vector of int32, got shape %s",
                          shape_text(&sizes->shape, text));
  }
  TRY(array_read_ints(sizes, dims, status));
  TRY(kernel_allocate_output_dims(context, 0, (int)tensor_num_elements(sizes), dims, &out, status));
  array_clear(out);
  return true;
}

static bool empty_shape(InferenceContext *c, Status *status) {
  ShapeHandle output;
  TRY(shape_from_input_tensor(c, 0, &output, status));
  shape_set_output(c, 0, output);
  return true;
}

const OpRegistration kOpEmpty = {
    .name = "Empty",
    .inputs = {"shape: int32"},
    .outputs = {"output: dtype"},
    .attrs = {"dtype: type", "init: bool = false"},
    .is_stateful = true,
    .shape = empty_shape,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, empty_kernel}},
};

/* --- DeepCopy --- */

static bool deep_copy_kernel(KernelContext *context, Status *status) {
  return tensor_copy(&context->outputs[0], context->inputs[0], context->pool, status);
}

const OpRegistration kOpDeepCopy = {
    .name = "DeepCopy",
    .inputs = {"x: T"},
    .outputs = {"y: T"},
    .attrs = {"T: type"},
    .is_stateful = true,
    .shape = shape_unchanged,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, deep_copy_kernel}},
};
