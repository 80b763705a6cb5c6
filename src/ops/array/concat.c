/* Concatenates tensors along an axis. */
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/support/array_box.h"

static bool axis_is_scalar(const Tensor *axis, const char *what, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  if (tensor_num_elements(axis) == 1) return true;
  return status_invalid(status, "%s tensor should be a scalar integer, but got shape %s", what,
                        shape_text(&axis->shape, text));
}

/* --- ConcatV2 and Concat --- */

/* All sizes except those along `axis` must agree; *total is the sum of the latter. */
static bool check_inputs(const Tensor *const *inputs, int count, int axis, int64_t *total, Status *status) {
  const Shape *first = &inputs[0]->shape;
  char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY];
  *total = 0;
  for (int i = 0; i < count; i++) {
    const Shape *shape = &inputs[i]->shape;
    if (shape->rank != first->rank) {
      return status_invalid(status,
                            "ConcatOp : Ranks of all input tensors should match: shape[0] = %s vs. shape[%d] "
                            "= %s",
                            shape_text(first, a), i, shape_text(shape, b));
    }
    for (int d = 0; d < shape->rank; d++) {
      if (d == axis || shape_dim(shape, d) == shape_dim(first, d)) continue;
      return status_invalid(status,
                            "ConcatOp : Dimensions of inputs should match: shape[0] = %s vs. shape[%d] = %s",
                            shape_text(first, a), i, shape_text(shape, b));
    }
    if (__builtin_add_overflow(*total, shape_dim(shape, axis), total)) {
      return status_invalid(status, "ConcatOp : the sizes along dimension %d add up to more than 2**63 - 1",
                            axis);
    }
  }
  return true;
}

static bool concat(KernelContext *context, const Tensor *const *inputs, int count, const Tensor *axis_tensor,
                   const char *what, Status *status) {
  TRY(axis_is_scalar(axis_tensor, what, status));
  const Shape *first = &inputs[0]->shape;
  int rank = first->rank;
  int64_t wanted = tensor_int_at(axis_tensor, 0), dims[SHAPE_MAX_RANK], total;
  if (rank == 0) return status_invalid(status, "ConcatOp : Can't concatenate scalars (use tf.stack instead)");
  if (wanted < -rank || wanted >= rank) {
    return status_invalid(status,
                          "ConcatOp : Expected concatenating dimensions in the range [%d, %d), but got %lld",
                          -rank, rank, (long long)wanted);
  }
  int axis = (int)(wanted < 0 ? wanted + rank : wanted);
  TRY(check_inputs(inputs, count, axis, &total, status));
  for (int d = 0; d < rank; d++) dims[d] = d == axis ? total : shape_dim(first, d);
  Tensor *out;
  TRY(kernel_allocate_output_dims(context, 0, rank, dims, &out, status));
  if (tensor_num_elements(out) == 0) return true;
  int64_t rows = 1, inner = 1, offset = 0;
  for (int d = 0; d < axis; d++) rows *= dims[d];
  for (int d = axis + 1; d < rank; d++) inner *= dims[d];
  for (int i = 0; i < count; i++) {
    int64_t row = shape_dim(&inputs[i]->shape, axis) * inner;
    ArrayBox box = {.to_offset = offset};
    array_box_add(&box, rows, row, total * inner);
    array_box_add(&box, row, 1, 1);
    TRY(array_box_copy(&box, inputs[i], out, context->parallel, status));
    offset += row;
  }
  return true;
}

static bool concat_v2_kernel(KernelContext *context, Status *status) {
  int count = context->num_inputs - 1;
  return concat(context, context->inputs, count, context->inputs[count], "axis", status);
}

static bool concat_kernel(KernelContext *context, Status *status) {
  return concat(context, context->inputs + 1, context->num_inputs - 1, context->inputs[0], "concat_dim",
                status);
}

/* The part of dy for each input. The axis is the first or the last argument. */
static bool write_gradient(const NodeDef *node, bool v2, StrBuf *text, Status *status) {
  int64_t n;
  TRY(node_attr_int(node, "N", &n, status));
  const char *axis = v2 ? "axis:Tidx" : "axis:int32", *daxis = v2 ? "daxis:Tidx" : "daxis:int32";
  strbuf_printf(text, "Concat%sGradient[T:type%s](%s%s", v2 ? "V2" : "", v2 ? ", Tidx:{int32, int64}" : "",
                v2 ? "" : axis, v2 ? "" : ", ");
  for (int64_t i = 0; i < n; i++) strbuf_printf(text, "x%lld:T, ", (long long)i);
  strbuf_printf(text, "%s%sdy:T) -> (%s", v2 ? axis : "", v2 ? ", " : "", v2 ? "" : daxis);
  for (int64_t i = 0; i < n; i++) strbuf_printf(text, "%sdx%lld:T", v2 && i == 0 ? "" : ", ", (long long)i);
  strbuf_printf(text, "%s%s) {\n", v2 ? ", " : "", v2 ? daxis : "");
  strbuf_printf(text, "  none = ZerosLike[T=%s](axis)\n", v2 ? "$Tidx" : "int32");
  if (v2) strbuf_append(text, "  axis32 = Cast[SrcT=$Tidx, DstT=int32](axis)\n");
  strbuf_printf(text, "  shapes = ShapeN[N=%lld, T=$T, out_type=int32](", (long long)n);
  for (int64_t i = 0; i < n; i++) strbuf_printf(text, "%sx%lld", i == 0 ? "" : ", ", (long long)i);
  strbuf_printf(text, ")\n  offsets = ConcatOffset[N=%lld](%s, shapes:output)\n", (long long)n,
                v2 ? "axis32:y:0" : "axis");
  for (int64_t i = 0; i < n; i++) {
    strbuf_printf(text, "  dx%lld = Slice[T=$T, Index=int32](dy, offsets:offset:%lld, shapes:output:%lld)\n",
                  (long long)i, (long long)i, (long long)i);
  }
  strbuf_printf(text, "  return daxis = none:y:0");
  for (int64_t i = 0; i < n; i++)
    strbuf_printf(text, ", dx%lld = dx%lld:output:0", (long long)i, (long long)i);
  strbuf_append(text, "\n}\n");
  return strbuf_ok(text, status);
}
static bool concat_v2_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  return write_gradient(request->node, true, text, status);
}
static bool concat_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  return write_gradient(request->node, false, text, status);
}

const OpRegistration kOpConcatV2 = {
    .name = "ConcatV2",
    .inputs = {"values: N * T", "axis: Tidx"},
    .outputs = {"output: T"},
    .attrs = {"N: int >= 2", "T: type", "Tidx: {int32, int64} = DT_INT32"},
    .shape = shape_concat_v2,
    .gradient_fn = concat_v2_gradient,
    .kernels = {{DT_INVALID, concat_v2_kernel}},
};

const OpRegistration kOpConcat = {
    .name = "Concat",
    .inputs = {"concat_dim: int32", "values: N * T"},
    .outputs = {"output: T"},
    .attrs = {"N: int >= 2", "T: type"},
    .shape = shape_concat,
    .gradient_fn = concat_gradient,
    .kernels = {{DT_INVALID, concat_kernel}},
};

/* --- ConcatOffset: the offset of each input in the result --- */

static bool sizes_differ(int axis, int i, const Tensor *sizes, const Tensor *first, Status *status) {
  StrBuf text = {0};
  strbuf_printf(&text, "All dimensions except %d must match. Input %d has shape [", axis, i);
  for (int64_t d = 0; d < tensor_num_elements(sizes); d++) {
    strbuf_printf(&text, "%s%lld", d > 0 ? " " : "", (long long)tensor_int_at(sizes, d));
  }
  strbuf_append(&text, "] and doesn't match input 0 with shape [");
  for (int64_t d = 0; d < tensor_num_elements(first); d++) {
    strbuf_printf(&text, "%s%lld", d > 0 ? " " : "", (long long)tensor_int_at(first, d));
  }
  if (strbuf_ok(&text, status)) status_invalid(status, "%s].", strbuf_text(&text));
  strbuf_free(&text);
  return false;
}

static bool concat_offset_kernel(KernelContext *context, Status *status) {
  const Tensor *axis_tensor = context->inputs[0], *const *sizes = context->inputs + 1;
  char text[SHAPE_TEXT_CAPACITY];
  TRY(axis_is_scalar(axis_tensor, "Concat dim", status));
  int count = context->num_inputs - 1;
  for (int i = 0; i < count; i++) {
    if (!tensor_is_vector(sizes[i])) {
      return status_invalid(status, "input %d should be a vector, but got shape %s", i + 1,
                            shape_text(&sizes[i]->shape, text));
    }
  }
  int64_t rank = tensor_num_elements(sizes[0]), wanted = tensor_i32(axis_tensor)[0], offset = 0;
  int64_t axis = wanted < 0 ? wanted + rank : wanted;
  if (axis < 0 || axis >= rank) {
    return status_invalid(status, "Concat dim is out of range: %lld vs. %lld", (long long)wanted,
                          (long long)rank);
  }
  for (int i = 0; i < count; i++) {
    if (tensor_num_elements(sizes[i]) != rank) {
      return status_invalid(status, "input %d should contain %lld elements, but got %lld", i, (long long)rank,
                            (long long)tensor_num_elements(sizes[i]));
    }
    Tensor *out;
    TRY(kernel_allocate_output(context, i, &sizes[i]->shape, &out, status));
    for (int64_t d = 0; d < rank; d++) {
      if (d != axis && tensor_int_at(sizes[i], d) != tensor_int_at(sizes[0], d)) {
        return sizes_differ((int)axis, i, sizes[i], sizes[0], status);
      }
    }
    array_clear(out);
    bool wide = out->dtype == DT_INT64;
    if (!wide && (offset < INT32_MIN || offset > INT32_MAX)) {
      return status_invalid(status, "The offset of input %d does not fit int32", i);
    }
    if (wide) tensor_i64(out)[axis] = offset;
    else tensor_i32(out)[axis] = (int32_t)offset;
    if (__builtin_add_overflow(offset, tensor_int_at(sizes[i], axis), &offset)) {
      return status_invalid(status, "The offset behind input %d does not fit int64", i);
    }
  }
  return true;
}

static bool concat_offset_shape(InferenceContext *c, Status *status) {
  (void)status;
  for (int i = 1; i < c->num_inputs; i++) shape_set_output(c, i - 1, shape_input(c, i));
  return true;
}

const OpRegistration kOpConcatOffset = {
    .name = "ConcatOffset",
    .inputs = {"concat_dim: int32", "shape: N * shape_type"},
    .outputs = {"offset: N * shape_type"},
    .attrs = {"N: int >= 2", "shape_type: {int32, int64} = DT_INT32"},
    .shape = concat_offset_shape,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, concat_offset_kernel}},
};
