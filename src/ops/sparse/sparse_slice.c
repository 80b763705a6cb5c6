/* SparseSlice, with its gradient, and SparseSplit: parts of a sparse tensor, with indices that begin at the
 * part. */
#include <string.h>

#include "base/alloc.h"
#include "op/op_registry.h"
#include "ops/support/array_box.h"
#include "ops/support/element_types.h"
#include "ops/sparse/sparse_tensor.h"

/* A box in a sparse tensor. */
typedef struct Box {
  int64_t start[SHAPE_MAX_RANK], size[SHAPE_MAX_RANK];
} Box;

static bool in_box(const int64_t *index, const Box *box, int rank) {
  for (int d = 0; d < rank; d++) {
    int64_t at;
    if (__builtin_sub_overflow(index[d], box->start[d], &at) || at < 0 || at >= box->size[d]) return false;
  }
  return true;
}

/* Gives the entries in the box as outputs `output`, `output` + `step` and `output` + 2 * `step`. */
static bool give_box(KernelContext *context, const SparseTensor *x, const Box *box, const int64_t *sizes,
                     int output, int step, int64_t *positions, Status *status) {
  int64_t count = 0;
  Tensor *indices, *values;
  for (int64_t i = 0; i < x->count; i++) {
    if (in_box(sparse_index(x, i), box, x->rank)) positions[count++] = i;
  }
  TRY(kernel_allocate_output_dims(context, output, 2, (int64_t[]){count, x->rank}, &indices, status));
  TRY(kernel_allocate_output_dims(context, output + step, 1, &count, &values, status));
  for (int64_t i = 0; i < count; i++) {
    for (int d = 0; d < x->rank; d++)
      tensor_i64(indices)[i * x->rank + d] = sparse_index(x, positions[i])[d] - box->start[d];
  }
  return array_gather_rows(x->values, positions, count, 1, values, context->parallel, status) &&
         sparse_give_sizes(context, output + 2 * step, sizes, x->rank, status);
}

/* --- SparseSlice --- */

static bool check_bounds(const Tensor *bounds, const char *name, int rank, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  if (!tensor_is_vector(bounds))
    return status_invalid(status, "Input %s should be a vector but received shape %s", name,
                          shape_text(&bounds->shape, text));
  return tensor_num_elements(bounds) == rank ||
         status_invalid(status, "Expected %s to be a vector of length %d but got length %lld", name, rank,
                        (long long)tensor_num_elements(bounds));
}

static bool slice(KernelContext *context, Status *status) {
  const Tensor *start = context->inputs[3], *size = context->inputs[4];
  SparseTensor x;
  Box box;
  int64_t sizes[SHAPE_MAX_RANK];
  TRY(sparse_open(context->inputs, &x, status));
  TRY(check_bounds(start, "start", x.rank, status));
  TRY(check_bounds(size, "size", x.rank, status));
  TRY(sparse_check_sizes(x.sizes, status));
  for (int d = 0; d < x.rank; d++) {
    int64_t whole = tensor_i64(x.sizes)[d], rest;
    box.start[d] = tensor_i64(start)[d];
    box.size[d] = tensor_i64(size)[d];
    if (__builtin_sub_overflow(whole, box.start[d], &rest)) rest = INT64_MAX;
    sizes[d] = rest <= 0 ? 0 : rest < box.size[d] ? rest : box.size[d];
    if (sizes[d] < 0)
      return status_invalid(status, "Expected a non-negative size, got %lld", (long long)sizes[d]);
  }
  int64_t *positions = mem_calloc(x.count, sizeof *positions);
  if (!positions) return status_oom(status, "the entries of a slice");
  bool ok = give_box(context, &x, &box, sizes, 0, 1, positions, status);
  mem_free(positions);
  return ok;
}

static bool part_shapes(InferenceContext *c, ShapeHandle sizes, int parts, Status *status) {
  ShapeHandle indices, values;
  DimHandle rank;
  TRY(dim_ok(shape_num_elements_of(c, sizes), &rank, status));
  TRY(shape_ok(shape_matrix(c, dim_unknown(c), rank), &indices, status));
  TRY(shape_ok(shape_vector(c, dim_unknown(c)), &values, status));
  for (int i = 0; i < parts; i++) {
    shape_set_output(c, i, indices);
    shape_set_output(c, parts + i, values);
    shape_set_output(c, 2 * parts + i, sizes);
  }
  return true;
}

static bool slice_shape(InferenceContext *c, Status *status) {
  return part_shapes(c, shape_input(c, 2), 1, status);
}

const OpRegistration kOpSparseSlice = {
    .name = "SparseSlice",
    .inputs = {"indices: int64", "values: T", "shape: int64", "start: int64", "size: int64"},
    .outputs = {"output_indices: int64", "output_values: T", "output_shape: int64"},
    .attrs = {"T: type"},
    .shape = slice_shape,
    .gradient =
        "SparseSliceGradient[T:type](indices:int64, values:T, sizes:int64, start:int64, size:int64, "
        "dindices:int64, dy:T, dsizes:int64) -> (di:int64, dvalues:T, ds:int64, dstart:int64, "
        "dsize:int64) {\n"
        "  part = SparseSlice[T=$T](indices, values, sizes, start, size)\n"
        "  grad = SparseSliceGrad[T=$T](dy, indices, start, part:output_indices:0)\n"
        "  di = ZerosLike[T=int64](indices)\n"
        "  ds = ZerosLike[T=int64](sizes)\n"
        "  dstart = ZerosLike[T=int64](start)\n"
        "  dsize = ZerosLike[T=int64](size)\n"
        "  return di = di:y:0, dvalues = grad:val_grad:0, ds = ds:y:0, dstart = dstart:y:0, dsize = "
        "dsize:y:0\n"
        "}\n",
    .kernels = {{DT_INVALID, slice}},
};

/* --- SparseSliceGrad --- */

static bool check_gradient(KernelContext *context, Status *status) {
  const Tensor *grad = context->inputs[0], *indices = context->inputs[1], *start = context->inputs[2],
               *part = context->inputs[3];
  char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY];
  if (indices->shape.rank != 2 || part->shape.rank != 2)
    return status_invalid(status,
                          "Input and output indices should be matrices but received shapes: %s and %s",
                          shape_text(&indices->shape, a), shape_text(&part->shape, b));
  if (!tensor_is_vector(grad))
    return status_invalid(status, "Input backprop_val_grad should be a vector but received shape: %s",
                          shape_text(&grad->shape, a));
  if (!tensor_is_vector(start))
    return status_invalid(status, "The input_start should be a vector but received shape %s",
                          shape_text(&start->shape, a));
  int64_t rank = shape_dim(&indices->shape, 1), count = shape_dim(&part->shape, 0);
  if (tensor_num_elements(start) != rank)
    return status_invalid(status, "Expected input_start to be a vector of length %lld but got length %lld",
                          (long long)rank, (long long)tensor_num_elements(start));
  if (shape_dim(&part->shape, 1) != rank)
    return status_invalid(status, "The input and output should have the same ndims: got: %lld and %lld",
                          (long long)rank, (long long)shape_dim(&part->shape, 1));
  return tensor_num_elements(grad) == count ||
         status_invalid(status,
                        "# elements of backprop_val_grad and # rows of output_indices should match (#nnz of "
                        "sum): got %lld and %lld",
                        (long long)tensor_num_elements(grad), (long long)count);
}

/* Entry i of the input became entry j of the slice if their indices differ by the start. */
static bool is_moved(const int64_t *from, const int64_t *to, const int64_t *start, int64_t rank) {
  for (int64_t d = 0; d < rank; d++) {
    if (from[d] != (int64_t)((uint64_t)to[d] + (uint64_t)start[d])) return false;
  }
  return true;
}

static bool slice_grad(KernelContext *context, Status *status) {
  const Tensor *grad = context->inputs[0], *indices = context->inputs[1], *start = context->inputs[2],
               *part = context->inputs[3];
  TRY(check_gradient(context, status));
  int64_t rank = shape_dim(&indices->shape, 1), count = shape_dim(&indices->shape, 0), used = 0;
  Tensor *out;
  TRY(kernel_allocate_output_dims(context, 0, 1, &count, &out, status));
  Buffer *scratch = NULL;
  int64_t *positions;
  if (!(scratch = array_row_numbers(context, count, &positions, status))) return false;
  for (int64_t i = 0; i < count; i++) {
    bool moved =
        used < tensor_num_elements(grad) &&
        is_moved(tensor_i64(indices) + i * rank, tensor_i64(part) + used * rank, tensor_i64(start), rank);
    positions[i] = moved ? used++ : -1;
  }
  bool ok = used == tensor_num_elements(grad) ||
            status_set(status, CODE_INTERNAL,
                       "Elements of backprop_val_grad aren't all propagated. Num elements:%lld, used: %lld",
                       (long long)tensor_num_elements(grad), (long long)used);
  ok = ok && array_gather_rows(grad, positions, count, 1, out, context->parallel, status);
  buffer_unref(scratch);
  return ok;
}

static bool slice_grad_shape(InferenceContext *c, Status *status) {
  ShapeHandle indices, out;
  TRY(shape_with_rank(c, shape_input(c, 1), 2, &indices, status));
  TRY(shape_ok(shape_vector(c, shape_dim_of(c, indices, 0)), &out, status));
  shape_set_output(c, 0, out);
  return true;
}

const OpRegistration kOpSparseSliceGrad = {
    .name = "SparseSliceGrad",
    .inputs = {"backprop_val_grad: T", "input_indices: int64", "input_start: int64", "output_indices: int64"},
    .outputs = {"val_grad: T"},
    .attrs = {"T: {" NUMBER_TYPES "}"},
    .shape = slice_grad_shape,
    .gradient = NO_GRADIENT,
    .kernels = {NUMBER_KERNELS(slice_grad)},
};

/* --- SparseSplit --- */

static bool check_split(const Tensor *const *inputs, Status *status) {
  static const char *const kWords[] = {"", "indices should be a matrix", "values should be a vector",
                                       "shape should be a vector"};
  char text[SHAPE_TEXT_CAPACITY];
  for (int i = 1; i < 4; i++) {
    if (inputs[i]->shape.rank != (i == 1 ? 2 : 1))
      return status_invalid(status, "Input %s but received shape %s", kWords[i],
                            shape_text(&inputs[i]->shape, text));
  }
  return true;
}

static bool read_axis(const Tensor *axis, const SparseTensor *x, int parts, int *d, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  if (!tensor_is_scalar(axis))
    return status_invalid(status, "Input axis should be a scalar but received shape %s",
                          shape_text(&axis->shape, text));
  int64_t asked = tensor_i64(axis)[0];
  if (asked < -x->rank || asked >= x->rank)
    return status_invalid(status, "Input axis should be in range [%d, %d), got %lld", -x->rank, x->rank,
                          (long long)asked);
  *d = (int)(asked < 0 ? asked + x->rank : asked);
  int64_t size = tensor_i64(x->sizes)[*d];
  return parts <= size ||
         status_invalid(status,
                        "Input num_split should be between 1 and the splitting dimension size (%lld), got %d",
                        (long long)size, parts);
}

/* The first parts are longer by one if the size is not a multiple of their number. */
static bool split(KernelContext *context, Status *status) {
  int parts = context->num_outputs / 3, axis = 0;
  SparseTensor x;
  Box box;
  TRY(check_split(context->inputs, status));
  TRY(sparse_open(context->inputs + 1, &x, status));
  for (int64_t i = 0; i < x.count; i++) {
    if (!sparse_inside(sparse_index(&x, i), tensor_i64(x.sizes), x.rank))
      return sparse_refuse_index(&x, i, "is out of bounds", status);
  }
  TRY(read_axis(context->inputs[0], &x, parts, &axis, status));
  TRY(sparse_check_sizes(x.sizes, status));
  memset(box.start, 0, sizeof box.start);
  memcpy(box.size, tensor_i64(x.sizes), (size_t)x.rank * sizeof *box.size);
  int64_t size = box.size[axis], *positions = mem_calloc(x.count, sizeof *positions);
  bool ok = positions || status_oom(status, "the entries of a part");
  for (int i = 0; ok && i < parts; i++, box.start[axis] += box.size[axis]) {
    box.size[axis] = size / parts + (i < size % parts);
    ok = give_box(context, &x, &box, box.size, i, parts, positions, status);
  }
  mem_free(positions);
  return ok;
}

static bool split_shape(InferenceContext *c, Status *status) {
  return part_shapes(c, shape_input(c, 3), c->num_outputs / 3, status);
}

const OpRegistration kOpSparseSplit = {
    .name = "SparseSplit",
    .inputs = {"split_dim: int64", "indices: int64", "values: T", "shape: int64"},
    .outputs = {"output_indices: num_split * int64", "output_values: num_split * T",
                "output_shape: num_split * int64"},
    .attrs = {"num_split: int >= 1", "T: type"},
    .shape = split_shape,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, split}},
};
