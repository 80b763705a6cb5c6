/* Pad and PadV2: pad every axis with zeros, or with a given value. */
#include "op/op_registry.h"
#include "ops/support/array_box.h"
#include "ops/array/paddings.h"

/* NULL stands for zero. */
static bool pad(KernelContext *context, const Tensor *value, Status *status) {
  const Tensor *input = context->inputs[0], *paddings = context->inputs[1];
  int rank = input->shape.rank;
  TRY(paddings_check(input, paddings, "", status));
  int64_t dims[SHAPE_MAX_RANK], from[SHAPE_MAX_RANK], to[SHAPE_MAX_RANK];
  bool same = true;
  for (int i = 0; i < rank; i++) {
    int64_t before = tensor_int_at(paddings, 2 * i), after = tensor_int_at(paddings, 2 * i + 1);
    if (before < 0 || after < 0) {
      return status_invalid(status, "Paddings must be non-negative: %lld %lld", (long long)before,
                            (long long)after);
    }
    if (__builtin_add_overflow(shape_dim(&input->shape, i), before, &dims[i]) ||
        __builtin_add_overflow(dims[i], after, &dims[i])) {
      return status_invalid(status, "Dimension %d with paddings %lld and %lld is larger than 2**63 - 1", i,
                            (long long)before, (long long)after);
    }
    same = same && before == 0 && after == 0;
  }
  if (same) return kernel_set_output(context, 0, input, NULL, status);
  Tensor *out;
  TRY(kernel_allocate_output_dims(context, 0, rank, dims, &out, status));
  array_strides(&input->shape, from);
  array_strides(&out->shape, to);
  ArrayBox box = {0};
  for (int i = 0; i < rank; i++) {
    box.to_offset += tensor_int_at(paddings, 2 * i) * to[i];
    array_box_add(&box, shape_dim(&input->shape, i), from[i], to[i]);
  }
  return array_box_embed(&box, input, value, out, context->parallel, status);
}

static bool pad_kernel(KernelContext *context, Status *status) { return pad(context, NULL, status); }

static bool pad_v2_kernel(KernelContext *context, Status *status) {
  const Tensor *value = context->inputs[2];
  char text[SHAPE_TEXT_CAPACITY];
  if (tensor_is_scalar(value)) return pad(context, value, status);
  return status_invalid(status, "constant_values must be a scalar. Found: %s",
                        shape_text(&value->shape, text));
}

/* The part of dy that came from the input. */
const OpRegistration kOpPad = {
    .name = "Pad",
    .inputs = {"input: T", "paddings: Tpaddings"},
    .outputs = {"output: T"},
    .attrs = {"T: type", "Tpaddings: {int32, int64} = DT_INT32"},
    .shape = paddings_shape,
    .gradient =
        "PadGradient[T:type, Tpaddings:{int32, int64}](input:T, paddings:Tpaddings, dy:T) -> (dinput:T, "
        "dpaddings:Tpaddings) {\n"
        "  none = ZerosLike[T=$Tpaddings](paddings)\n"
        "  corner = Const[dtype=int32, value=[0, 0]]()\n"
        "  column = Const[dtype=int32, value=[-1, 1]]()\n"
        "  flat = Const[dtype=int32, value=[-1]]()\n"
        "  befores = Slice[T=$Tpaddings, Index=int32](paddings, corner:output:0, column:output:0)\n"
        "  begin = Reshape[T=$Tpaddings, Tshape=int32](befores:output:0, flat:output:0)\n"
        "  size = Shape[T=$T, out_type=$Tpaddings](input)\n"
        "  d = Slice[T=$T, Index=$Tpaddings](dy, begin:output:0, size:output:0)\n"
        "  return dinput = d:output:0, dpaddings = none:y:0\n"
        "}\n",
    .kernels = {{DT_INVALID, pad_kernel}},
};

/* The value gets the gradient of all other elements. */
const OpRegistration kOpPadV2 = {
    .name = "PadV2",
    .inputs = {"input: T", "paddings: Tpaddings", "constant_values: T"},
    .outputs = {"output: T"},
    .attrs = {"T: type", "Tpaddings: {int32, int64} = DT_INT32"},
    .shape = paddings_shape,
    .gradient =
        "PadV2Gradient[T:type, Tpaddings:{int32, int64}](input:T, paddings:Tpaddings, constant_values:T, "
        "dy:T)"
        " -> (dinput:T, dpaddings:Tpaddings, dvalue:T) {\n"
        "  none = ZerosLike[T=$Tpaddings](paddings)\n"
        "  corner = Const[dtype=int32, value=[0, 0]]()\n"
        "  column = Const[dtype=int32, value=[-1, 1]]()\n"
        "  flat = Const[dtype=int32, value=[-1]]()\n"
        "  befores = Slice[T=$Tpaddings, Index=int32](paddings, corner:output:0, column:output:0)\n"
        "  begin = Reshape[T=$Tpaddings, Tshape=int32](befores:output:0, flat:output:0)\n"
        "  size = Shape[T=$T, out_type=$Tpaddings](input)\n"
        "  d = Slice[T=$T, Index=$Tpaddings](dy, begin:output:0, size:output:0)\n"
        "  inside = Pad[T=$T, Tpaddings=$Tpaddings](d:output:0, paddings)\n"
        "  outside = Sub[T=$T](dy, inside:output:0)\n"
        "  zero = Const[dtype=int32, value=0]()\n"
        "  one = Const[dtype=int32, value=1]()\n"
        "  rank = Rank[T=$T](input)\n"
        "  axes = Range[Tidx=int32](zero:output:0, rank:output:0, one:output:0)\n"
        "  total = Sum[T=$T, Tidx=int32](outside:z:0, axes:output:0)\n"
        "  return dinput = d:output:0, dpaddings = none:y:0, dvalue = total:output:0\n"
        "}\n",
    .kernels = {{DT_INVALID, pad_v2_kernel}},
};
