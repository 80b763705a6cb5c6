/* Slice: the box of a tensor that begins at `begin`. */
#include "op/op_registry.h"
#include "ops/support/array_box.h"

static bool check_box(const Tensor *input, const int64_t *begin, int64_t *size, Status *status) {
  for (int i = 0; i < input->shape.rank; i++) {
    int64_t length = shape_dim(&input->shape, i), b = begin[i];
    if (size[i] == -1 && b >= 0 && b <= length) size[i] = length - b;
    if (length == 0) {
      if (b == 0 && size[i] == 0) continue;
      return status_invalid(status,
                            "Expected begin[%d] == 0 (got %lld) and size[%d] == 0 (got %lld) when "
                            "input.dim_size(%d) == 0",
                            i, (long long)b, i, (long long)size[i], i);
    }
    if (b < 0 || b > length) {
      return status_invalid(status, "Expected begin[%d] in [0, %lld], but got %lld", i, (long long)length,
                            (long long)b);
    }
    if (size[i] < 0 || size[i] > length - b) {
      return status_invalid(status, "Expected size[%d] in [0, %lld], but got %lld", i,
                            (long long)(length - b), (long long)size[i]);
    }
  }
  return true;
}

static bool slice_kernel(KernelContext *context, Status *status) {
  const Tensor *input = context->inputs[0], *begins = context->inputs[1], *sizes = context->inputs[2];
  char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY];
  int rank = input->shape.rank;
  if (!tensor_is_vector(begins) || !tensor_is_vector(sizes) || tensor_num_elements(begins) != rank ||
      tensor_num_elements(sizes) != rank) {
    return status_invalid(status,
                          "Expected begin and size arguments to be 1-D tensors of size %d, but got shapes %s "
                          "and %s instead.",
                          rank, shape_text(&begins->shape, a), shape_text(&sizes->shape, b));
  }
  int64_t begin[SHAPE_MAX_RANK], size[SHAPE_MAX_RANK], from[SHAPE_MAX_RANK], to[SHAPE_MAX_RANK];
  TRY(array_read_ints(begins, begin, status));
  TRY(array_read_ints(sizes, size, status));
  TRY(check_box(input, begin, size, status));
  bool whole = true;
  for (int i = 0; i < rank; i++) whole = whole && size[i] == shape_dim(&input->shape, i);
  if (whole) return kernel_set_output(context, 0, input, NULL, status);
  ArrayBox box;
  array_box_begin(&box);
  if (!array_is_empty(rank, size)) {
    int64_t stride = 1;
    array_strides(&input->shape, from);
    for (int i = rank - 1; i >= 0; stride *= size[i--]) to[i] = stride;
    for (int i = 0; i < rank; i++) {
      box.from_offset += begin[i] * from[i];
      array_box_add(&box, size[i], from[i], to[i]);
    }
  }
  return array_box_take(context, 0, &box, input, rank, size, status);
}

/* With known sizes: -1 stands for the rest of the axis. */
static bool known_sizes(InferenceContext *c, ShapeHandle input, ShapeHandle begin, const Tensor *sizes,
                        Status *status) {
  int64_t rank = tensor_num_elements(sizes);
  ShapeHandle output;
  TRY(shape_with_rank(c, begin, rank, &begin, status));
  TRY(shape_with_rank(c, input, rank, &input, status));
  DimHandle *dims = arena_alloc(c->arena, (rank + 1) * (int64_t)sizeof *dims);
  if (!dims) return status_oom(status, "shape inference");
  for (int64_t i = 0; i < rank; i++) {
    int64_t size = tensor_int_at(sizes, i);
    if (size < -1) {
      return status_invalid(status, "Out of bounds slicing on dimension %lld: size %lld cannot be < -1",
                            (long long)i, (long long)size);
    }
    if (size == -1) {
      TRY(dim_subtract(c, shape_dim_of(c, input, i), shape_dim_of(c, begin, i), &dims[i], status));
    } else {
      TRY(dim_ok(dim_make(c, size), &dims[i], status));
    }
  }
  TRY(shape_ok(shape_of_dims(c, dims, (int32_t)rank), &output, status));
  shape_set_output(c, 0, output);
  return true;
}

static bool slice_shape(InferenceContext *c, Status *status) {
  ShapeHandle input = shape_input(c, 0), begins, sizes, output;
  TRY(shape_with_rank(c, shape_input(c, 1), 1, &begins, status));
  TRY(shape_with_rank(c, shape_input(c, 2), 1, &sizes, status));
  TRY(shape_merge(c, begins, sizes, &begins, status));
  DimHandle length = shape_dim_of(c, begins, 0);
  if (dim_known(length)) TRY(shape_with_rank(c, input, dim_value(length), &input, status));
  /* It is not a shape, but reading it as one may give partial values. */
  ShapeHandle begin;
  TRY(shape_from_input_tensor(c, 1, &begin, status));
  const Tensor *size = shape_input_tensor(c, 2);
  if (size && (size->dtype == DT_INT32 || size->dtype == DT_INT64)) {
    return known_sizes(c, input, begin, size, status);
  }
  TRY(shape_from_input_tensor(c, 2, &output, status));
  if (shape_rank_known(output)) {
    TRY(shape_with_rank(c, begin, shape_rank(output), &begin, status));
  } else {
    TRY(shape_ok(shape_unknown_of_rank(c, shape_rank(input)), &output, status));
  }
  shape_set_output(c, 0, output);
  return true;
}

/* dy padded with zeros. */
const OpRegistration kOpSlice = {
    .name = "Slice",
    .inputs = {"input: T", "begin: Index", "size: Index"},
    .outputs = {"output: T"},
    .attrs = {"T: type", "Index: {int32, int64}"},
    .shape = slice_shape,
    .gradient =
        "SliceGradient[T:type, Index:{int32, int64}](input:T, begin:Index, size:Index, dy:T)"
        " -> (dinput:T, dbegin:Index, dsize:Index) {\n"
        "  dbegin = ZerosLike[T=$Index](begin)\n"
        "  dsize = ZerosLike[T=$Index](size)\n"
        "  whole = Shape[T=$T, out_type=$Index](input)\n"
        "  part = Shape[T=$T, out_type=$Index](dy)\n"
        "  rest = Sub[T=$Index](whole:output:0, begin)\n"
        "  after = Sub[T=$Index](rest:z:0, part:output:0)\n"
        "  paddings = Pack[N=2, T=$Index, axis=1](begin, after:z:0)\n"
        "  d = Pad[T=$T, Tpaddings=$Index](dy, paddings:output:0)\n"
        "  return dinput = d:output:0, dbegin = dbegin:y:0, dsize = dsize:y:0\n"
        "}\n",
    .kernels = {{DT_INVALID, slice_kernel}},
};
