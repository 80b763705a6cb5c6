/* SparseTensorDenseAdd, and SparseDenseCwiseAdd, SparseDenseCwiseMul and SparseDenseCwiseDiv: a sparse tensor
 * with a dense one. The latter broadcast the dense tensor, and give the values of the entries. */
#include <string.h>

#include "op/op_registry.h"
#include "ops/support/array_box.h"
#include "ops/support/element_types.h"
#include "ops/sparse/sparse_tensor.h"
#include "ops/sparse/sparse_values.h"

enum { MAX_RANK = 5 };

static bool refuse_rank(int64_t rank, Status *status) {
  return status_invalid(status,
                        "Only tensors with ranks between 1 and 5 are currently supported.  Tensor rank: %lld",
                        (long long)rank);
}

/* --- SparseTensorDenseAdd --- */

static bool check_agree(int64_t a, int64_t b, Status *status) {
  return a == b ||
         status_invalid(status, "Dimensions %lld and %lld are not compatible", (long long)a, (long long)b);
}

static bool check_add(KernelContext *context, Status *status) {
  const Tensor *indices = context->inputs[0], *values = context->inputs[1], *sizes = context->inputs[2],
               *b = context->inputs[3];
  char x[SHAPE_TEXT_CAPACITY], y[SHAPE_TEXT_CAPACITY];
  if (indices->shape.rank != 2)
    return status_invalid(status, "Input a_indices should be a matrix but received shape: %s",
                          shape_text(&indices->shape, x));
  if (values->shape.rank != 1 || sizes->shape.rank != 1)
    return status_invalid(status,
                          "Inputs a_values and a_shape should be vectors but received shapes: %s and %s",
                          shape_text(&values->shape, x), shape_text(&sizes->shape, y));
  int64_t rank = tensor_num_elements(sizes), count = tensor_num_elements(values);
  TRY(check_agree(shape_dim(&indices->shape, 0), count, status));
  TRY(check_agree(shape_dim(&indices->shape, 1), rank, status));
  if (rank != b->shape.rank)
    return status_invalid(status, "Two operands have different ranks; received: %lld and %d", (long long)rank,
                          b->shape.rank);
  for (int d = 0; d < rank; d++) {
    if (tensor_int_at(sizes, d) != shape_dim(&b->shape, d))
      return status_invalid(status,
                            "Dimension %d does not equal (no broadcasting is supported): sparse side %lld vs "
                            "dense side %lld",
                            d, (long long)tensor_int_at(sizes, d), (long long)shape_dim(&b->shape, d));
  }
  return true;
}

static bool refuse_dimension(const Tensor *indices, int64_t i, int d, const Shape *shape, Status *status) {
  StrBuf text = {0};
  for (int k = 0; k < shape->rank; k++)
    strbuf_printf(&text, "%s%lld", k > 0 ? " " : "", (long long)shape_dim(shape, k));
  if (strbuf_ok(&text, status))
    status_invalid(status,
                   "Sparse tensor has an invalid index on dimension %d: a_indices(%lld,%d) = %lld, dense "
                   "tensor "
                   "shape: %s",
                   d, (long long)i, d, (long long)tensor_int_at(indices, i * shape->rank + d),
                   strbuf_text(&text));
  strbuf_free(&text);
  return false;
}

static bool find_positions(const Tensor *indices, const Shape *shape, int64_t *positions, Status *status) {
  for (int64_t i = 0; i < shape_dim(&indices->shape, 0); i++) {
    positions[i] = 0;
    for (int d = 0; d < shape->rank; d++) {
      int64_t at = tensor_int_at(indices, i * shape->rank + d), size = shape_dim(shape, d);
      if (at < 0 || at >= size) return refuse_dimension(indices, i, d, shape, status);
      positions[i] = positions[i] * size + at;
    }
  }
  return true;
}

static bool dense_add(KernelContext *context, Status *status) {
  const Tensor *indices = context->inputs[0], *values = context->inputs[1], *b = context->inputs[3];
  TRY(check_add(context, status));
  if (b->shape.rank < 1 || b->shape.rank > MAX_RANK) return refuse_rank(b->shape.rank, status);
  Tensor *out;
  int64_t *positions, count = tensor_num_elements(values);
  TRY(kernel_forward_or_allocate(context, 3, 0, &b->shape, &out, status));
  if (out->data != b->data) memcpy(out->data, b->data, (size_t)tensor_bytes(b));
  Buffer *scratch = array_row_numbers(context, count, &positions, status);
  if (!scratch) return false;
  bool ok = find_positions(indices, &b->shape, positions, status);
  if (ok) value_loops(out->dtype)->add_at(count, positions, values->data, out->data);
  buffer_unref(scratch);
  return ok;
}

static bool dense_add_shape(InferenceContext *c, Status *status) {
  (void)status;
  shape_set_output(c, 0, shape_input(c, 3));
  return true;
}

const OpRegistration kOpSparseTensorDenseAdd = {
    .name = "SparseTensorDenseAdd",
    .inputs = {"a_indices: Tindices", "a_values: T", "a_shape: Tindices", "b: T"},
    .outputs = {"output: T"},
    .attrs = {"T: {" NUMBER_TYPES "}", "Tindices: {int32, int64}"},
    .shape = dense_add_shape,
    .gradient =
        "SparseTensorDenseAddGradient[T:type, Tindices:type](i:Tindices, v:T, s:Tindices, b:T, dy:T) -> "
        "(di:Tindices, dv:T, ds:Tindices, db:T) {\n"
        "  dv = GatherNd[Tparams=$T, Tindices=$Tindices](dy, i)\n"
        "  db = Identity[T=$T](dy)\n"
        "  di = ZerosLike[T=$Tindices](i)\n"
        "  ds = ZerosLike[T=$Tindices](s)\n"
        "  return di = di:y:0, dv = dv:output:0, ds = ds:y:0, db = db:output:0\n"
        "}\n",
    .kernels = {NUMBER_KERNELS(dense_add)},
};

/* --- elementwise; the data of a kernel is a ValueOp --- */

static bool check_entries(KernelContext *context, Status *status) {
  const Tensor *indices = context->inputs[0], *values = context->inputs[1], *sizes = context->inputs[2];
  char x[SHAPE_TEXT_CAPACITY], y[SHAPE_TEXT_CAPACITY];
  if (indices->shape.rank != 2)
    return status_invalid(status, "Input sp_indices should be a matrix but received shape: %s",
                          shape_text(&indices->shape, x));
  if (values->shape.rank != 1 || sizes->shape.rank != 1)
    return status_invalid(status,
                          "Inputs sp_values and sp_shape should be vectors but received shapes: %s and %s",
                          shape_text(&values->shape, x), shape_text(&sizes->shape, y));
  int64_t count = shape_dim(&indices->shape, 0), rank = tensor_num_elements(sizes);
  if (tensor_num_elements(values) != count)
    return status_invalid(status, "The first dimension of values and indices should match. (%lld vs. %lld)",
                          (long long)tensor_num_elements(values), (long long)count);
  if (rank != shape_dim(&indices->shape, 1))
    return status_invalid(status,
                          "Number of dimensions must match second dimension of indices. Got %lld dimensions, "
                          "indices shape: %s",
                          (long long)rank, shape_text(&indices->shape, x));
  if (rank == 0) return status_invalid(status, "The shape argument requires at least one element.");
  TRY(sparse_check_sizes(sizes, status));
  return true;
}

static bool refuse_broadcast(const Tensor *sizes, const Shape *dense, Status *status) {
  StrBuf a = {0}, b = {0};
  for (int64_t k = 0; k < tensor_num_elements(sizes); k++)
    strbuf_printf(&a, "%s%lld", k > 0 ? "," : "", (long long)tensor_i64(sizes)[k]);
  for (int k = 0; k < dense->rank; k++)
    strbuf_printf(&b, "%s%lld", k > 0 ? "," : "", (long long)shape_dim(dense, k));
  if (strbuf_ok(&a, status) && strbuf_ok(&b, status))
    status_invalid(status,
                   "SparseDenseBinaryOpShared broadcasts dense to sparse only; got incompatible shapes: [%s] "
                   "vs. [%s]",
                   strbuf_text(&a), strbuf_text(&b));
  strbuf_free(&a);
  strbuf_free(&b);
  return false;
}

/* The dense tensor has 1 or the sparse tensor's size in each of its axes, which are the last ones. */
static bool check_broadcast(const Tensor *sizes, const Shape *dense, Status *status) {
  int64_t rank = tensor_num_elements(sizes);
  if (dense->rank > rank) return refuse_broadcast(sizes, dense, status);
  for (int k = 1; k <= dense->rank; k++) {
    int64_t size = shape_dim(dense, dense->rank - k), whole = tensor_i64(sizes)[rank - k];
    if (size != whole && (size != 1 || whole < size)) return refuse_broadcast(sizes, dense, status);
  }
  return rank <= MAX_RANK || refuse_rank(rank, status);
}

static bool gather_positions(const Tensor *indices, const Tensor *sizes, const Shape *dense,
                             int64_t *positions, Status *status) {
  int rank = (int)tensor_num_elements(sizes), added = rank - dense->rank;
  for (int64_t i = 0; i < shape_dim(&indices->shape, 0); i++) {
    const int64_t *index = tensor_i64(indices) + i * rank;
    if (!sparse_inside(index, tensor_i64(sizes), rank))
      return status_invalid(status,
                            "Provided indices are out-of-bounds w.r.t. dense side with broadcasted shape");
    positions[i] = 0;
    for (int d = added; d < rank; d++) {
      int64_t size = shape_dim(dense, d - added);
      positions[i] = positions[i] * size + (size == 1 ? 0 : index[d]);
    }
  }
  return true;
}

static bool has_zero(const Tensor *numbers) {
  for (int64_t i = 0; i < tensor_num_elements(numbers); i++) {
    if (tensor_double_at(numbers, i) == 0) return true;
  }
  return false;
}

static bool cwise(KernelContext *context, Status *status) {
  const Tensor *indices = context->inputs[0], *values = context->inputs[1], *sizes = context->inputs[2],
               *dense = context->inputs[3];
  ValueOp op = *(const ValueOp *)context->data;
  int64_t *positions, count = tensor_num_elements(values);
  Tensor *out;
  TRY(check_entries(context, status));
  TRY(check_broadcast(sizes, &dense->shape, status));
  if (op == VALUE_DIVIDE && has_zero(dense))
    return status_invalid(status,
                          "SparseDenseCwiseDiv cannot divide by zero,but input dense tensor contains zero ");
  TRY(kernel_allocate_output_dims(context, 0, 1, &count, &out, status));
  Buffer *scratch = array_row_numbers(context, count, &positions, status);
  if (!scratch) return false;
  bool ok = gather_positions(indices, sizes, &dense->shape, positions, status) &&
            array_gather_rows(dense, positions, count, 1, out, context->parallel, status);
  if (ok) value_loops(out->dtype)->zip(op, count, values->data, out->data, out->data);
  buffer_unref(scratch);
  return ok;
}

static bool cwise_shape(InferenceContext *c, Status *status) {
  ShapeHandle indices, out;
  TRY(shape_with_rank(c, shape_input(c, 0), 2, &indices, status));
  TRY(shape_ok(shape_vector(c, shape_dim_of(c, indices, 0)), &out, status));
  shape_set_output(c, 0, out);
  return true;
}

/* The dense tensor gets leading axes of 1. `at` are the indices of the entries in it: 0 where it is
 * broadcast. */
#define CWISE_GRADIENT(op, lines)                                                                 \
  op "Gradient[T:type](i:int64, v:T, s:int64, d:T, dy:T) -> (di:int64, dv:T, ds:int64, dd:T) {\n" \
     "  own = Shape[T=$T, out_type=int64](d)\n"                                                   \
     "  one = Const[dtype=int64, value=1]()\n"                                                    \
     "  axis = Const[dtype=int32, value=0]()\n"                                                   \
     "  rank = Size[T=int64, out_type=int32](s)\n"                                                \
     "  own_rank = Size[T=int64, out_type=int32](own:output:0)\n"                                 \
     "  added = Sub[T=int32](rank:output:0, own_rank:output:0)\n"                                 \
     "  count = ExpandDims[T=int32, Tdim=int32](added:z:0, axis:output:0)\n"                      \
     "  ones = Fill[T=int64, index_type=int32](count:output:0, one:output:0)\n"                   \
     "  dims = ConcatV2[N=2, T=int64, Tidx=int32](ones:output:0, own:output:0, axis:output:0)\n"  \
     "  last = Sub[T=int64](dims:output:0, one:output:0)\n"                                       \
     "  at = Minimum[T=int64](i, last:z:0)\n"                                                     \
     "  dense = Reshape[T=$T, Tshape=int64](d, dims:output:0)\n"                                  \
     "  taken = GatherNd[Tparams=$T, Tindices=int64](dense:output:0, at:z:0)\n" lines             \
     "  total = ScatterNd[T=$T, Tindices=int64](at:z:0, part:z:0, dims:output:0)\n"               \
     "  dd = Reshape[T=$T, Tshape=int64](total:output:0, own:output:0)\n"                         \
     "  di = ZerosLike[T=int64](i)\n"                                                             \
     "  ds = ZerosLike[T=int64](s)\n"                                                             \
     "  return di = di:y:0, dv = dv:z:0, ds = ds:y:0, dd = dd:output:0\n"                         \
     "}\n"

static const ValueOp kAdd = VALUE_ADD, kMultiply = VALUE_MULTIPLY, kDivide = VALUE_DIVIDE;

#define CWISE_OP                                                                                            \
  .inputs = {"sp_indices: int64", "sp_values: T", "sp_shape: int64", "dense: T"}, .outputs = {"output: T"}, \
  .attrs = {"T: {" NUMBER_TYPES "}"}, .shape = cwise_shape

const OpRegistration kOpSparseDenseCwiseAdd = {
    .name = "SparseDenseCwiseAdd",
    CWISE_OP,
    .gradient = CWISE_GRADIENT("SparseDenseCwiseAdd",
                               "  none = ZerosLike[T=$T](taken:output:0)\n"
                               "  dv = Add[T=$T](dy, none:y:0)\n"
                               "  part = Add[T=$T](dy, none:y:0)\n"),
    .kernels = {REAL_KERNELS(cwise, &kAdd)},
};

const OpRegistration kOpSparseDenseCwiseMul = {
    .name = "SparseDenseCwiseMul",
    CWISE_OP,
    .gradient = CWISE_GRADIENT("SparseDenseCwiseMul",
                               "  dv = Mul[T=$T](dy, taken:output:0)\n"
                               "  part = Mul[T=$T](dy, v)\n"),
    .kernels = {REAL_KERNELS(cwise, &kMultiply)},
};

const OpRegistration kOpSparseDenseCwiseDiv = {
    .name = "SparseDenseCwiseDiv",
    CWISE_OP,
    .gradient = CWISE_GRADIENT("SparseDenseCwiseDiv",
                               "  dv = Div[T=$T](dy, taken:output:0)\n"
                               "  back = Mul[T=$T](dv:z:0, v)\n"
                               "  share = Div[T=$T](back:z:0, taken:output:0)\n"
                               "  none = ZerosLike[T=$T](dy)\n"
                               "  part = Sub[T=$T](none:y:0, share:z:0)\n"),
    .kernels = {REAL_KERNELS(cwise, &kDivide)},
};
