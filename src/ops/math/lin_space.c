/* LinSpace: `num` numbers at equal distances, from a given first to a given last one. */
#include "op/op_registry.h"
#include "ops/support/element_types.h"

static bool lin_space_kernel(KernelContext *context, Status *status) {
  static const char *const kNames[] = {"start", "stop", "num"};
  for (int i = 0; i < 3; i++) {
    char text[SHAPE_TEXT_CAPACITY];
    if (!tensor_is_scalar(context->inputs[i])) {
      return status_invalid(status, "%s must be a scalar, not shape %s", kNames[i],
                            shape_text(&context->inputs[i]->shape, text));
    }
  }
  double start = tensor_double_at(context->inputs[0], 0), stop = tensor_double_at(context->inputs[1], 0);
  int64_t num = tensor_int_at(context->inputs[2], 0);
  if (num <= 0) return status_invalid(status, "Requires num > 0: %lld", (long long)num);
  Tensor *out;
  TRY(kernel_allocate_output_dims(context, 0, 1, &num, &out, status));
  double step = num > 1 ? (stop - start) / (double)(num - 1) : 0;
  for (int64_t i = 0; i < num; i++) {
    double value = i == 0 ? start : i == num - 1 ? stop : start + step * (double)i;
    if (out->dtype == DT_FLOAT) {
      tensor_f32(out)[i] = (float)value;
    } else if (out->dtype == DT_DOUBLE) {
      tensor_f64(out)[i] = value;
    } else {
      ((uint16_t *)out->data)[i] = float_to_bfloat16((float)value);
    }
  }
  return true;
}

static bool lin_space_shape(InferenceContext *c, Status *status) {
  static const char *const kNames[] = {"start", "stop", "num"};
  for (int i = 0; i < 3; i++) {
    ShapeHandle checked;
    if (!shape_with_rank(c, shape_input(c, i), 0, &checked, status))
      return status_append(status, "\n\t for '%s'", kNames[i]);
  }
  const Tensor *num = shape_input_tensor(c, 2);
  DimHandle size;
  ShapeHandle output;
  if (num && tensor_num_elements(num) == 1) {
    int64_t value = tensor_int_at(num, 0);
    if (value <= 0) return status_invalid(status, "Requires num > 0: %lld", (long long)value);
    TRY(dim_ok(dim_make(c, value), &size, status));
  } else {
    TRY(dim_ok(dim_unknown(c), &size, status));
  }
  TRY(shape_ok(shape_vector(c, size), &output, status));
  shape_set_output(c, 0, output);
  return true;
}

const OpRegistration kOpLinSpace = {
    .name = "LinSpace",
    .inputs = {"start: T", "stop: T", "num: Tidx"},
    .outputs = {"output: T"},
    .attrs = {"T: {bfloat16, half, float, double}", "Tidx: {int32, int64} = DT_INT32"},
    .shape = lin_space_shape,
    .gradient = NO_GRADIENT,
    .kernels = {FLOAT_KERNELS(lin_space_kernel), {DT_BFLOAT16, lin_space_kernel}},
};
