/* Tile: repeats the input along every axis. */
#include "op/op_registry.h"
#include "ops/support/array_box.h"

static bool tile_kernel(KernelContext *context, Status *status) {
  const Tensor *input = context->inputs[0], *multiples = context->inputs[1];
  char text[SHAPE_TEXT_CAPACITY];
  int rank = input->shape.rank;
  if (!tensor_is_vector(multiples)) {
    return status_invalid(status, "Expected multiples to be 1-D, but got shape %s",
                          shape_text(&multiples->shape, text));
  }
  if (tensor_num_elements(multiples) != rank) {
    return status_invalid(status,
                          "Expected multiples argument to be a vector of length %d but got length %lld", rank,
                          (long long)tensor_num_elements(multiples));
  }
  int64_t times[SHAPE_MAX_RANK], dims[SHAPE_MAX_RANK], from[SHAPE_MAX_RANK], to[SHAPE_MAX_RANK];
  TRY(array_read_ints(multiples, times, status));
  bool same = true;
  for (int i = 0; i < rank; i++) {
    int64_t size = shape_dim(&input->shape, i);
    if (times[i] < 0) {
      return status_invalid(status, "Expected multiples[%d] >= 0, but got %lld", i, (long long)times[i]);
    }
    if (__builtin_mul_overflow(size, times[i], &dims[i])) {
      return status_invalid(status, "Dimension %d of size %lld times %lld is more than 2**63 - 1", i,
                            (long long)size, (long long)times[i]);
    }
    same = same && times[i] == 1;
  }
  if (same) return kernel_set_output(context, 0, input, NULL, status);
  Tensor *out;
  TRY(kernel_allocate_output_dims(context, 0, rank, dims, &out, status));
  array_strides(&input->shape, from);
  array_strides(&out->shape, to);
  ArrayBox box = {0};
  if (tensor_num_elements(out) == 0) return true;
  for (int i = 0; i < rank; i++) {
    int64_t size = shape_dim(&input->shape, i);
    array_box_add(&box, times[i], 0, size * to[i]);
    array_box_add(&box, size, from[i], to[i]);
  }
  return array_box_copy(&box, input, out, context->parallel, status);
}

static bool tile_shape(InferenceContext *c, Status *status) {
  ShapeHandle input = shape_input(c, 0), multiples, output;
  TRY(shape_from_input_tensor(c, 1, &multiples, status));
  if (!shape_rank_known(input)) {
    TRY(shape_ok(shape_unknown_of_rank(c, shape_rank(multiples)), &output, status));
    shape_set_output(c, 0, output);
    return true;
  }
  int32_t rank = shape_rank(input);
  TRY(shape_with_rank(c, multiples, rank, &multiples, status));
  DimHandle *dims = arena_alloc(c->arena, (rank + 1) * (int64_t)sizeof *dims);
  if (!dims) return status_oom(status, "shape inference");
  for (int32_t i = 0; i < rank; i++) {
    TRY(dim_multiply(c, shape_dim_of(c, input, i), shape_dim_of(c, multiples, i), &dims[i], status));
  }
  TRY(shape_ok(shape_of_dims(c, dims, rank), &output, status));
  shape_set_output(c, 0, output);
  return true;
}

/* dy with every axis split into (repetition, position), summed over the repetitions. */
const OpRegistration kOpTile = {
    .name = "Tile",
    .inputs = {"input: T", "multiples: Tmultiples"},
    .outputs = {"output: T"},
    .attrs = {"T: type", "Tmultiples: {int32, int64} = DT_INT32"},
    .shape = tile_shape,
    .gradient =
        "TileGradient[T:type, Tmultiples:{int32, int64}](input:T, multiples:Tmultiples, dy:T)"
        " -> (dinput:T, dmultiples:Tmultiples) {\n"
        "  none = ZerosLike[T=$Tmultiples](multiples)\n"
        "  shape = Shape[T=$T, out_type=$Tmultiples](input)\n"
        "  pairs = Pack[N=2, T=$Tmultiples, axis=1](multiples, shape:output:0)\n"
        "  flat = Const[dtype=int32, value=[-1]]()\n"
        "  split = Reshape[T=$Tmultiples, Tshape=int32](pairs:output:0, flat:output:0)\n"
        "  dy_split = Reshape[T=$T, Tshape=$Tmultiples](dy, split:output:0)\n"
        "  zero = Const[dtype=int32, value=0]()\n"
        "  two = Const[dtype=int32, value=2]()\n"
        "  axes_split = Size[T=$Tmultiples, out_type=int32](split:output:0)\n"
        "  repetitions = Range[Tidx=int32](zero:output:0, axes_split:output:0, two:output:0)\n"
        "  total = Sum[T=$T, Tidx=int32](dy_split:output:0, repetitions:output:0)\n"
        "  return dinput = total:output:0, dmultiples = none:y:0\n"
        "}\n",
    .kernels = {{DT_INVALID, tile_kernel}},
};
