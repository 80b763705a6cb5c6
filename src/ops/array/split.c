/* Splits a tensor along an axis: into equal parts (Split) or into parts of given sizes (SplitV). */
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/support/array_box.h"

/* Sets output `i` to the part that begins at `begin` along `axis` and has `size` elements there. */
static bool give_part(KernelContext *context, int i, const Tensor *value, int axis, int64_t begin,
                      int64_t size, Status *status) {
  const Shape *shape = &value->shape;
  int64_t dims[SHAPE_MAX_RANK], rows = 1, inner = 1, length = shape_dim(shape, axis);
  if (size == length) return kernel_set_output(context, i, value, NULL, status);
  for (int d = 0; d < shape->rank; d++) dims[d] = d == axis ? size : shape_dim(shape, d);
  ArrayBox box;
  array_box_begin(&box);
  if (!array_is_empty(shape->rank, dims)) {
    for (int d = 0; d < axis; d++) rows *= dims[d];
    for (int d = axis + 1; d < shape->rank; d++) inner *= dims[d];
    box.from_offset = begin * inner;
    array_box_add(&box, rows, length * inner, size * inner);
    array_box_add(&box, size * inner, 1, 1);
  }
  return array_box_take(context, i, &box, value, shape->rank, dims, status);
}

static bool find_axis(const Tensor *value, const Tensor *split_dim, int *axis, Status *status) {
  int rank = value->shape.rank;
  int64_t wanted = tensor_i32(split_dim)[0], found = wanted < 0 ? wanted + rank : wanted;
  if (found < 0 || found >= rank) {
    return status_invalid(status, "-input rank(-%d) <= split_dim < input rank (%d), but got %lld", rank, rank,
                          (long long)wanted);
  }
  *axis = (int)found;
  return true;
}

/* An output without incoming gradient has a dy of zeros. */
static bool split_gradient_text(const GradientRequest *request, bool v, StrBuf *text, Status *status) {
  int64_t n;
  TRY(node_attr_int(request->node, "num_split", &n, status));
  if (v) {
    strbuf_append(text, "SplitVGradient[T:type, Tlen:{int32, int64}](value:T, size_splits:Tlen, axis:int32");
  } else {
    strbuf_append(text, "SplitGradient[T:type](axis:int32, value:T");
  }
  for (int64_t i = 0; i < n; i++) strbuf_printf(text, ", dy%lld:T", (long long)i);
  strbuf_append(text,
                v ? ") -> (dvalue:T, dsizes:Tlen, daxis:int32) {\n" : ") -> (daxis:int32, dvalue:T) {\n");
  strbuf_append(text, "  daxis = ZerosLike[T=int32](axis)\n");
  if (v) strbuf_append(text, "  dsizes = ZerosLike[T=$Tlen](size_splits)\n");
  if (n == 1) {
    strbuf_append(text, "  d = Identity[T=$T](dy0)\n");
  } else {
    strbuf_printf(text, "  d = ConcatV2[N=%lld, T=$T, Tidx=int32](", (long long)n);
    for (int64_t i = 0; i < n; i++) strbuf_printf(text, "dy%lld, ", (long long)i);
    strbuf_append(text, "axis)\n");
  }
  strbuf_append(text, v ? "  return dvalue = d:output:0, dsizes = dsizes:y:0, daxis = daxis:y:0\n}\n"
                        : "  return daxis = daxis:y:0, dvalue = d:output:0\n}\n");
  return strbuf_ok(text, status);
}

/* --- Split --- */

static bool split_kernel(KernelContext *context, Status *status) {
  const Tensor *value = context->inputs[1];
  int axis = 0, count = context->num_outputs;
  if (!tensor_is_scalar(context->inputs[0])) {
    return status_invalid(status, "split_dim must be a scalar but has rank %d",
                          context->inputs[0]->shape.rank);
  }
  TRY(find_axis(value, context->inputs[0], &axis, status));
  int64_t length = shape_dim(&value->shape, axis);
  if (length % count != 0) {
    return status_invalid(status,
                          "Number of ways to split should evenly divide the split dimension, but got "
                          "split_dim %d "
                          "(size = %lld) and num_split %d",
                          axis, (long long)length, count);
  }
  for (int i = 0; i < count; i++) {
    TRY(give_part(context, i, value, axis, length / count * i, length / count, status));
  }
  return true;
}

static bool split_shape(InferenceContext *c, Status *status) {
  ShapeHandle input = shape_input(c, 1), output;
  DimHandle axis, size;
  int32_t rank = shape_rank_known(input) ? shape_rank(input) : UNKNOWN_RANK;
  TRY(dim_for_scalar_input_with_negative_indexing(c, 0, rank, &axis, status));
  if (dim_known(axis)) {
    TRY(shape_with_rank_at_least(c, input, dim_value(axis) + 1, &input, status));
    TRY(dim_divide(c, shape_dim_of(c, input, dim_value(axis)), c->num_outputs, true, &size, status));
    if (shape_rank_known(input)) {
      TRY(shape_replace_dim(c, input, dim_value(axis), size, &output, status));
    } else {
      TRY(shape_ok(shape_unknown(c), &output, status));
    }
  } else {
    TRY(shape_ok(rank == UNKNOWN_RANK ? shape_unknown(c) : shape_unknown_of_rank(c, rank), &output, status));
  }
  for (int i = 0; i < c->num_outputs; i++) shape_set_output(c, i, output);
  return true;
}

static bool split_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  return split_gradient_text(request, false, text, status);
}

const OpRegistration kOpSplit = {
    .name = "Split",
    .inputs = {"split_dim: int32", "value: T"},
    .outputs = {"output: num_split * T"},
    .attrs = {"num_split: int >= 1", "T: type"},
    .shape = split_shape,
    .gradient_fn = split_gradient,
    .kernels = {{DT_INVALID, split_kernel}},
};

/* --- SplitV --- */

/* One size may be -1: the rest. A length of -1 is unknown. */
static bool check_sizes(const Tensor *sizes, int count, int64_t length, int64_t *rest, Status *status) {
  int64_t total = 0;
  int open = -1;
  for (int i = 0; i < count; i++) {
    int64_t size = tensor_int_at(sizes, i);
    if (size == -1) {
      if (open >= 0) return status_invalid(status, "There can only be one -1 in the input.");
      open = i;
    } else if (size < 0) {
      return status_invalid(status, "Split size at index %d must be >= 0. Got: %lld", i, (long long)size);
    } else if (__builtin_add_overflow(total, size, &total)) {
      return status_invalid(status, "The split sizes add up to more than 2**63 - 1");
    }
  }
  if (length < 0) {
    *rest = -1;
    return true;
  }
  if (total > length || (open < 0 && total != length)) {
    return status_invalid(
        status,
        "Determined shape must either match input shape along split_dim exactly if fully specified, "
        "or be less than the size of the input along split_dim if not fully specified.  Got: %lld",
        (long long)total);
  }
  *rest = length - total;
  return true;
}

static bool split_v_kernel(KernelContext *context, Status *status) {
  const Tensor *value = context->inputs[0], *sizes = context->inputs[1];
  int axis = 0, count = context->num_outputs;
  int64_t rest = 0, begin = 0;
  if (tensor_num_elements(context->inputs[2]) != 1) {
    return status_invalid(status, "split_dim_tensor must have exactly one element.");
  }
  TRY(find_axis(value, context->inputs[2], &axis, status));
  if (!tensor_is_vector(sizes) || tensor_num_elements(sizes) != count) {
    return status_invalid(status,
                          "size of the split_tensor must be 1-D and have the same elements as outputs got %d "
                          "-D and %lld elements",
                          sizes->shape.rank, (long long)tensor_num_elements(sizes));
  }
  if (count == 1 && tensor_int_at(sizes, 0) != shape_dim(&value->shape, axis)) {
    return status_invalid(status,
                          "If there is only one output, it must have the same size as the input. Input size: "
                          "%lld output size: %lld",
                          (long long)shape_dim(&value->shape, axis), (long long)tensor_int_at(sizes, 0));
  }
  TRY(check_sizes(sizes, count, shape_dim(&value->shape, axis), &rest, status));
  for (int i = 0; i < count; i++) {
    int64_t size = tensor_int_at(sizes, i);
    if (size == -1) size = rest;
    TRY(give_part(context, i, value, axis, begin, size, status));
    begin += size;
  }
  return true;
}

/* Parts with unknown size and axis. */
static bool unknown_parts(InferenceContext *c, ShapeHandle input, DimHandle axis, Status *status) {
  for (int i = 0; i < c->num_outputs; i++) {
    ShapeHandle output;
    if (shape_rank_known(input) && dim_known(axis)) {
      TRY(shape_replace_dim(c, input, dim_value(axis), dim_unknown(c), &output, status));
    } else {
      TRY(shape_ok(shape_rank_known(input) ? shape_unknown_of_rank(c, shape_rank(input)) : shape_unknown(c),
                   &output, status));
    }
    shape_set_output(c, i, output);
  }
  return true;
}

static bool split_v_shape(InferenceContext *c, Status *status) {
  ShapeHandle input = shape_input(c, 0), output;
  DimHandle axis;
  int32_t rank = shape_rank_known(input) ? shape_rank(input) : UNKNOWN_RANK;
  TRY(dim_for_scalar_input_with_negative_indexing(c, 2, rank, &axis, status));
  const Tensor *sizes = shape_input_tensor(c, 1);
  if (dim_known(axis)) TRY(shape_with_rank_at_least(c, input, dim_value(axis) + 1, &input, status));
  if (!shape_rank_known(input) || !sizes) return unknown_parts(c, input, axis, status);
  if (tensor_num_elements(sizes) != c->num_outputs) {
    return status_invalid(status, "Length of size_splits should be equal to num_outputs");
  }
  if (!dim_known(axis)) return unknown_parts(c, input, axis, status);
  DimHandle length = shape_dim_of(c, input, dim_value(axis));
  int64_t rest = 0;
  TRY(check_sizes(sizes, c->num_outputs, dim_value(length), &rest, status));
  for (int i = 0; i < c->num_outputs; i++) {
    int64_t size = tensor_int_at(sizes, i);
    DimHandle part = size >= 0 ? dim_make(c, size) : rest >= 0 ? dim_make(c, rest) : dim_unknown(c);
    TRY(shape_replace_dim(c, input, dim_value(axis), part, &output, status));
    shape_set_output(c, i, output);
  }
  return true;
}

static bool split_v_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  return split_gradient_text(request, true, text, status);
}

const OpRegistration kOpSplitV = {
    .name = "SplitV",
    .inputs = {"value: T", "size_splits: Tlen", "split_dim: int32"},
    .outputs = {"output: num_split * T"},
    .attrs = {"num_split: int >= 1", "T: type", "Tlen: {int8, int32, int64} = DT_INT64"},
    .shape = split_v_shape,
    .gradient_fn = split_v_gradient,
    .kernels = {{DT_INVALID, split_v_kernel}},
};
