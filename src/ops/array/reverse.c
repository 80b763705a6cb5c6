/* Reverse and ReverseV2: elements in reverse order along some axes. */
#include "op/op_registry.h"
#include "ops/support/array_box.h"

enum { REVERSE_MAX_RANK = 8 };

static bool reverse_axes(KernelContext *context, const bool *reversed, Status *status) {
  const Tensor *input = context->inputs[0];
  int64_t strides[SHAPE_MAX_RANK];
  bool same = true;
  for (int i = 0; i < input->shape.rank; i++)
    same = same && (!reversed[i] || shape_dim(&input->shape, i) == 1);
  if (same || tensor_num_elements(input) == 0) return kernel_set_output(context, 0, input, NULL, status);
  Tensor *out;
  TRY(kernel_allocate_output(context, 0, &input->shape, &out, status));
  array_strides(&input->shape, strides);
  ArrayBox box = {0};
  for (int i = 0; i < input->shape.rank; i++) {
    int64_t size = shape_dim(&input->shape, i);
    if (reversed[i]) box.from_offset += (size - 1) * strides[i];
    array_box_add(&box, size, reversed[i] ? -strides[i] : strides[i], strides[i]);
  }
  return array_box_copy(&box, input, out, context->parallel, status);
}

static bool check_rank(const Tensor *input, const Tensor *dims, Status *status) {
  if (!tensor_is_vector(dims)) {
    return status_invalid(status, "'dims' must be 1-dimension, not %d", dims->shape.rank);
  }
  if (input->shape.rank <= REVERSE_MAX_RANK) return true;
  return status_set(status, CODE_UNIMPLEMENTED, "reverse is not implemented for tensors of rank > 8.");
}

static bool reverse_kernel(KernelContext *context, Status *status) {
  const Tensor *input = context->inputs[0], *dims = context->inputs[1];
  TRY(check_rank(input, dims, status));
  if (tensor_num_elements(dims) != input->shape.rank) {
    return status_invalid(status,
                          "'dims' must have the same number of values as 'input' has dimensions. 'input' has "
                          "%d'dims' "
                          "has %lld values",
                          input->shape.rank, (long long)tensor_num_elements(dims));
  }
  return reverse_axes(context, tensor_bool(dims), status);
}

static bool reverse_v2_kernel(KernelContext *context, Status *status) {
  const Tensor *input = context->inputs[0], *axes = context->inputs[1];
  bool reversed[SHAPE_MAX_RANK] = {false};
  int rank = input->shape.rank;
  if (rank > 0) TRY(check_rank(input, axes, status));
  for (int64_t i = 0; i < tensor_num_elements(axes) && rank > 0; i++) {
    int64_t given = tensor_int_at(axes, i), axis = given < 0 ? given + rank : given;
    if (axis < 0 || axis >= rank) {
      return status_invalid(status, "'axis'[%lld] = %lld is out of valid range [0, %d", (long long)i,
                            (long long)given, rank - 1);
    }
    if (reversed[axis]) return status_invalid(status, "axis %lld specified more than once.", (long long)axis);
    reversed[axis] = true;
  }
  return reverse_axes(context, reversed, status);
}

static bool rank_too_large(Status *status) {
  return status_invalid(status, "reverse does not work on tensors with more than 8 dimensions");
}

static bool reverse_shape(InferenceContext *c, Status *status) {
  ShapeHandle input = shape_input(c, 0), dims;
  DimHandle length;
  TRY(shape_with_rank(c, shape_input(c, 1), 1, &dims, status));
  length = shape_dim_of(c, dims, 0);
  if (dim_known(length)) TRY(shape_with_rank(c, input, dim_value(length), &input, status));
  if (shape_rank_known(input) && shape_rank(input) > REVERSE_MAX_RANK) return rank_too_large(status);
  shape_set_output(c, 0, input);
  return true;
}

static bool reverse_v2_shape(InferenceContext *c, Status *status) {
  ShapeHandle input = shape_input(c, 0), axes_shape;
  TRY(shape_with_rank(c, shape_input(c, 1), 1, &axes_shape, status));
  int64_t count = dim_value(shape_dim_of(c, axes_shape, 0));
  if (count > REVERSE_MAX_RANK || (shape_rank_known(input) && shape_rank(input) > REVERSE_MAX_RANK)) {
    return rank_too_large(status);
  }
  const Tensor *axes = shape_input_tensor(c, 1);
  if (axes && shape_rank_known(input)) {
    int64_t rank = shape_rank(input), seen = 0;
    for (int64_t i = 0; i < tensor_num_elements(axes); i++) {
      int64_t given = tensor_int_at(axes, i), axis = given < 0 ? given + rank : given;
      if (axis < 0 || axis >= rank) {
        return status_invalid(status, "'axis'[%lld] = %lld is out of valid range [0, %lld]", (long long)i,
                              (long long)given, (long long)rank - 1);
      }
      if (seen >> axis & 1)
        return status_invalid(status, "axis %lld specified more than once.", (long long)axis);
      seen |= (int64_t)1 << axis;
    }
  }
  shape_set_output(c, 0, input);
  return true;
}

const OpRegistration kOpReverse = {
    .name = "Reverse",
    .inputs = {"tensor: T", "dims: bool"},
    .outputs = {"output: T"},
    .attrs = {"T: {uint8, int8, uint16, int16, uint32, int32, uint64, int64, bool, bfloat16, half, float, "
              "double, complex64, "
              "complex128, string}"},
    .shape = reverse_shape,
    .gradient =
        "ReverseGradient[T:type](tensor:T, dims:bool, dy:T) -> (dtensor:T, ddims:bool) {\n"
        "  none = ZerosLike[T=bool](dims)\n"
        "  d = Reverse[T=$T](dy, dims)\n"
        "  return dtensor = d:output:0, ddims = none:y:0\n"
        "}\n",
    .kernels = {{DT_INVALID, reverse_kernel}},
};

const OpRegistration kOpReverseV2 = {
    .name = "ReverseV2",
    .inputs = {"tensor: T", "axis: Tidx"},
    .outputs = {"output: T"},
    .attrs = {"Tidx: {int32, int64} = DT_INT32",
              "T: {uint8, int8, uint16, int16, int32, uint32, int64, uint64, bool, bfloat16, half, float, "
              "double, complex64, "
              "complex128, string}"},
    .shape = reverse_v2_shape,
    .gradient =
        "ReverseV2Gradient[T:type, Tidx:{int32, int64}](tensor:T, axis:Tidx, dy:T) -> (dtensor:T, "
        "daxis:Tidx) {\n"
        "  none = ZerosLike[T=$Tidx](axis)\n"
        "  d = ReverseV2[Tidx=$Tidx, T=$T](dy, axis)\n"
        "  return dtensor = d:output:0, daxis = none:y:0\n"
        "}\n",
    .kernels = {{DT_INVALID, reverse_v2_kernel}},
};
