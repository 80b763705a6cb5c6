/* SparseReorder: the entries of a sparse tensor in row-major order. */
#include "base/alloc.h"
#include "op/op_registry.h"
#include "ops/sparse/sparse_tensor.h"

static bool reorder(KernelContext *context, Status *status) {
  SparseTensor x;
  TRY(sparse_open(context->inputs, &x, status));
  int64_t *order = sparse_sort(&x, NULL, status);
  if (!order) return false;
  bool ok = sparse_give_entries(context, 0, &x, order, x.count, status);
  mem_free(order);
  return ok;
}

static bool reorder_shape(InferenceContext *c, Status *status) {
  TRY(sparse_shapes(c, 0, status));
  ShapeHandle indices, values;
  TRY(shape_with_rank(c, shape_input(c, 0), 2, &indices, status));
  TRY(shape_with_rank(c, shape_input(c, 1), 1, &values, status));
  shape_set_output(c, 0, indices);
  shape_set_output(c, 1, values);
  return true;
}

/* The numbers of the entries are sorted in the same way; their inverse says where each entry went. */
static const char kReorderGradient[] =
    "SparseReorderGradient[T:type](indices:int64, values:T, sizes:int64, dindices:int64, dy:T) -> "
    "(di:int64, dvalues:T, dsizes:int64) {\n"
    "  shape = Shape[T=int64, out_type=int32](indices)\n"
    "  first = Const[dtype=int32, value=[0]]()\n"
    "  one = Const[dtype=int32, value=[1]]()\n"
    "  count = StridedSlice[T=int32, Index=int32, shrink_axis_mask=1]"
    "(shape:output:0, first:output:0, one:output:0, one:output:0)\n"
    "  zero = Const[dtype=int32, value=0]()\n"
    "  step = Const[dtype=int32, value=1]()\n"
    "  numbers = Range[Tidx=int32](zero:output:0, count:output:0, step:output:0)\n"
    "  sorted = SparseReorder[T=int32](indices, numbers:output:0, sizes)\n"
    "  places = InvertPermutation[T=int32](sorted:output_values:0)\n"
    "  dvalues = Gather[Tparams=$T, Tindices=int32](dy, places:y:0)\n"
    "  di = ZerosLike[T=int64](indices)\n"
    "  dsizes = ZerosLike[T=int64](sizes)\n"
    "  return di = di:y:0, dvalues = dvalues:output:0, dsizes = dsizes:y:0\n"
    "}\n";

const OpRegistration kOpSparseReorder = {
    .name = "SparseReorder",
    .inputs = {"input_indices: int64", "input_values: T", "input_shape: int64"},
    .outputs = {"output_indices: int64", "output_values: T"},
    .attrs = {"T: type"},
    .shape = reorder_shape,
    .gradient = kReorderGradient,
    .kernels = {{DT_INVALID, reorder}},
};
