/* Roll: shifts elements cyclically along axes. */
#include "op/op_registry.h"
#include "ops/support/array_box.h"

/* The shift of each axis, in [0, size). */
static bool read_shifts(KernelContext *context, int64_t *shifts, Status *status) {
  const Tensor *input = context->inputs[0], *shift = context->inputs[1], *axes = context->inputs[2];
  char text[SHAPE_TEXT_CAPACITY];
  int rank = input->shape.rank;
  if (rank < 1) return status_invalid(status, "input must be 1-D or higher");
  if (shift->shape.rank > 1) {
    return status_invalid(status, "shift must be a scalar or a 1-D vector. Found: %s",
                          shape_text(&shift->shape, text));
  }
  if (axes->shape.rank > 1) {
    return status_invalid(status, "axis must be a scalar or a 1-D vector. Found: %s",
                          shape_text(&axes->shape, text));
  }
  if (!shape_equal(&shift->shape, &axes->shape)) {
    return status_invalid(status, "shift and axis must have the same size");
  }
  for (int d = 0; d < rank; d++) shifts[d] = 0;
  for (int64_t i = 0; i < tensor_num_elements(shift); i++) {
    int64_t axis = tensor_int_at(axes, i), size;
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank) return status_invalid(status, "axis %lld is out of range", (long long)axis);
    size = shape_dim(&input->shape, (int)axis);
    if (size == 0) continue;
    int64_t by = tensor_int_at(shift, i) % size;
    if (by < 0) by += size;
    /* Avoids an overflow, because sizes may be large. */
    shifts[axis] = shifts[axis] >= size - by ? shifts[axis] - (size - by) : shifts[axis] + by;
  }
  return true;
}

/* Copies both parts of a shifted axis; axes are shifted one after the other. */
static bool roll_axis(const KernelContext *context, const Tensor *from, int axis, int64_t by, Tensor *to,
                      Status *status) {
  int64_t strides[SHAPE_MAX_RANK], size = shape_dim(&from->shape, axis);
  array_strides(&from->shape, strides);
  for (int part = 0; part < 2; part++) {
    ArrayBox box = {0};
    for (int d = 0; d < from->shape.rank; d++) {
      int64_t length = d != axis ? shape_dim(&from->shape, d) : part == 0 ? size - by : by;
      array_box_add(&box, length, strides[d], strides[d]);
    }
    if (part == 0) {
      box.to_offset = by * strides[axis];
    } else {
      box.from_offset = (size - by) * strides[axis];
    }
    TRY(array_box_copy(&box, from, to, context->parallel, status));
  }
  return true;
}

static bool roll_kernel(KernelContext *context, Status *status) {
  const Tensor *input = context->inputs[0];
  int64_t shifts[SHAPE_MAX_RANK];
  TRY(read_shifts(context, shifts, status));
  int axes[SHAPE_MAX_RANK], count = 0;
  for (int d = 0; d < input->shape.rank; d++) {
    if (shifts[d] != 0) axes[count++] = d;
  }
  if (count == 0 || tensor_num_elements(input) == 0)
    return kernel_set_output(context, 0, input, NULL, status);
  Tensor *out, between[2] = {{0}, {0}};
  TRY(kernel_allocate_output(context, 0, &input->shape, &out, status));
  bool ok = true;
  for (int i = 0; i + 1 < count && i < 2 && ok; i++) {
    ok = tensor_allocate(&between[i], input->dtype, &input->shape, context->pool, status);
  }
  for (int i = 0; i < count && ok; i++) {
    const Tensor *from = i == 0 ? input : &between[(i - 1) % 2];
    ok = roll_axis(context, from, axes[i], shifts[axes[i]], i == count - 1 ? out : &between[i % 2], status);
  }
  tensor_clear(&between[0]);
  tensor_clear(&between[1]);
  return ok;
}

static bool roll_shape(InferenceContext *c, Status *status) {
  ShapeHandle input, shift, axis;
  TRY(shape_with_rank_at_least(c, shape_input(c, 0), 1, &input, status));
  TRY(shape_with_rank_at_most(c, shape_input(c, 1), 1, &shift, status));
  TRY(shape_with_rank_at_most(c, shape_input(c, 2), 1, &axis, status));
  TRY(shape_merge(c, shift, axis, &axis, status));
  return shape_unchanged(c, status);
}

const OpRegistration kOpRoll = {
    .name = "Roll",
    .inputs = {"input: T", "shift: Tshift", "axis: Taxis"},
    .outputs = {"output: T"},
    .attrs = {"T: type", "Tshift: {int32, int64}", "Taxis: {int32, int64}"},
    .shape = roll_shape,
    .gradient =
        "RollGradient[T:type, Tshift:{int32, int64}, Taxis:{int32, int64}](input:T, shift:Tshift, "
        "axis:Taxis, dy:T)"
        " -> (dinput:T, dshift:Tshift, daxis:Taxis) {\n"
        "  dshift = ZerosLike[T=$Tshift](shift)\n"
        "  daxis = ZerosLike[T=$Taxis](axis)\n"
        "  back = Neg[T=$Tshift](shift)\n"
        "  d = Roll[T=$T, Tshift=$Tshift, Taxis=$Taxis](dy, back:y:0, axis)\n"
        "  return dinput = d:output:0, dshift = dshift:y:0, daxis = daxis:y:0\n"
        "}\n",
    .kernels = {{DT_INVALID, roll_kernel}},
};
