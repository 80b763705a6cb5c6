/* BroadcastTo: repeats the input along its axes of size 1, and along additional leading axes. */
#include "op/op_registry.h"
#include "ops/support/array_box.h"

static bool check_shapes(const Shape *in, const Shape *out, Status *status) {
  char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY];
  if (in->rank > out->rank) {
    return status_invalid(status, "Rank of input (%d) must be no greater than rank of output shape (%d).",
                          in->rank, out->rank);
  }
  for (int i = 0; i < in->rank; i++) {
    int64_t from = shape_dim(in, i), to = shape_dim(out, out->rank - in->rank + i);
    if (from == to || from == 1) continue;
    return status_invalid(status,
                          to == 1 ? "Unable to broadcast tensor of shape %s to tensor of shape %s"
                                  : "Incompatible shapes: %s vs. %s",
                          shape_text(in, a), shape_text(out, b));
  }
  return true;
}

static bool broadcast_to_kernel(KernelContext *context, Status *status) {
  const Tensor *input = context->inputs[0], *sizes = context->inputs[1];
  char text[SHAPE_TEXT_CAPACITY];
  int64_t dims[SHAPE_MAX_RANK], from[SHAPE_MAX_RANK], to[SHAPE_MAX_RANK];
  Shape shape = {0};
  bool ok = false;
  if (!tensor_is_vector(sizes)) {
    return status_invalid(status, "shape must be a vector of {int32,int64}, got shape %s",
                          shape_text(&sizes->shape, text));
  }
  TRY(array_read_ints(sizes, dims, status));
  TRY(shape_set(&shape, (int)tensor_num_elements(sizes), dims, status));
  TRY_DONE(check_shapes(&input->shape, &shape, status));
  if (shape_equal(&shape, &input->shape)) {
    ok = kernel_set_output(context, 0, input, NULL, status);
    goto done;
  }
  Tensor *out;
  TRY_DONE(kernel_allocate_output(context, 0, &shape, &out, status));
  array_strides(&input->shape, from);
  array_strides(&shape, to);
  ArrayBox box = {0};
  int missing = shape.rank - input->shape.rank;
  for (int i = 0; i < shape.rank; i++) {
    bool spread = i < missing || shape_dim(&input->shape, i - missing) == 1;
    array_box_add(&box, dims[i], spread ? 0 : from[i - missing], to[i]);
  }
  ok = array_box_copy(&box, input, out, context->parallel, status);
done:
  shape_clear(&shape);
  return ok;
}

/* Sizes above 1 must be kept; for others the input does not determine the output. */
static bool broadcast_to_shape(InferenceContext *c, Status *status) {
  ShapeHandle in = shape_input(c, 0), out;
  TRY(shape_from_input_tensor(c, 1, &out, status));
  shape_set_output(c, 0, out);
  if (!shape_rank_known(in) || !shape_rank_known(out)) return true;
  TRY(shape_with_rank_at_most(c, in, shape_rank(out), &in, status));
  for (int i = 1; i <= shape_rank(in); i++) {
    DimHandle size = shape_dim_of(c, in, -i), merged;
    if (dim_value(size) <= 1) continue;
    TRY(dim_merge(c, size, shape_dim_of(c, out, -i), &merged, status));
    TRY(shape_replace_dim(c, out, -i, merged, &out, status));
  }
  shape_set_output(c, 0, out);
  return true;
}

const OpRegistration kOpBroadcastTo = {
    .name = "BroadcastTo",
    .inputs = {"input: T", "shape: Tidx"},
    .outputs = {"output: T"},
    .attrs = {"T: type", "Tidx: {int32, int64} = DT_INT32"},
    .shape = broadcast_to_shape,
    .gradient =
        "BroadcastToGradient[T:type, Tidx:{int32, int64}](input:T, shape:Tidx, dy:T) -> (dinput:T, "
        "dshape:Tidx) {\n"
        "  none = ZerosLike[T=$Tidx](shape)\n"
        "  back = Shape[T=$T, out_type=$Tidx](input)\n"
        "  axes = BroadcastGradientArgs[T=$Tidx](back:output:0, shape)\n"
        "  total = Sum[T=$T, Tidx=$Tidx](dy, axes:r0:0)\n"
        "  d = Reshape[T=$T, Tshape=$Tidx](total:output:0, back:output:0)\n"
        "  return dinput = d:output:0, dshape = none:y:0\n"
        "}\n",
    .kernels = {{DT_INVALID, broadcast_to_kernel}},
};
