/* Fill: one value everywhere. */
#include "op/op_registry.h"
#include "ops/support/array_box.h"

static bool fill_kernel(KernelContext *context, Status *status) {
  const Tensor *sizes = context->inputs[0], *value = context->inputs[1];
  char text[SHAPE_TEXT_CAPACITY];
  if (!tensor_is_vector(sizes)) {
    return status_invalid(status, "dims must represent a vector, got shape %s",
                          shape_text(&sizes->shape, text));
  }
  if (!tensor_is_scalar(value)) {
    return status_invalid(status, "value must represent a scalar, got shape %s",
                          shape_text(&value->shape, text));
  }
  int64_t dims[SHAPE_MAX_RANK];
  Tensor *out;
  TRY(array_read_ints(sizes, dims, status));
  TRY(kernel_allocate_output_dims(context, 0, (int)tensor_num_elements(sizes), dims, &out, status));
  ArrayBox box = {0};
  array_box_add(&box, tensor_num_elements(out), 0, 1);
  return array_box_copy(&box, value, out, context->parallel, status);
}

static bool fill_shape(InferenceContext *c, Status *status) {
  ShapeHandle checked, output;
  TRY(shape_with_rank(c, shape_input(c, 0), 1, &checked, status));
  TRY(shape_with_rank(c, shape_input(c, 1), 0, &checked, status));
  const Tensor *sizes = shape_input_tensor(c, 0);
  if (sizes && (sizes->dtype == DT_INT32 || sizes->dtype == DT_INT64)) {
    for (int64_t i = 0; i < tensor_num_elements(sizes); i++) {
      if (tensor_int_at(sizes, i) < 0) return status_invalid(status, "Fill dimensions must be >= 0");
    }
  }
  TRY(shape_from_input_tensor(c, 0, &output, status));
  shape_set_output(c, 0, output);
  if (c->input_handles && c->input_handles[1] && c->output_handles) {
    c->output_handles[0] = c->input_handles[1];
  }
  return true;
}

const OpRegistration kOpFill = {
    .name = "Fill",
    .inputs = {"dims: index_type", "value: T"},
    .outputs = {"output: T"},
    .attrs = {"T: type", "index_type: {int32, int64} = DT_INT32"},
    .shape = fill_shape,
    .gradient =
        "FillGradient[T:type, index_type:{int32, int64}](dims:index_type, value:T, dy:T) -> "
        "(ddims:index_type, dvalue:T) {\n"
        "  none = ZerosLike[T=$index_type](dims)\n"
        "  zero = Const[dtype=int32, value=0]()\n"
        "  one = Const[dtype=int32, value=1]()\n"
        "  rank = Rank[T=$T](dy)\n"
        "  axes = Range[Tidx=int32](zero:output:0, rank:output:0, one:output:0)\n"
        "  total = Sum[T=$T, Tidx=int32](dy, axes:output:0)\n"
        "  return ddims = none:y:0, dvalue = total:output:0\n"
        "}\n",
    .kernels = {{DT_INVALID, fill_kernel}},
};
