/* SparseAdd with its gradient, SparseSparseMaximum and SparseSparseMinimum: two sparse tensors of one shape
 * are merged. An entry that only one of them has meets a 0. */
#include <math.h>

#include "base/alloc.h"
#include "op/op_registry.h"
#include "ops/support/array_box.h"
#include "ops/support/element_types.h"
#include "ops/sparse/element_rows.h"
#include "ops/sparse/sparse_tensor.h"
#include "ops/sparse/sparse_values.h"

/* For each entry of the union its positions in a and b, or -1. */
typedef struct Union {
  int64_t *a, *b, count;
} Union;

static bool unite(const SparseTensor *a, const SparseTensor *b, Union *both, Status *status) {
  int64_t i = 0, k = 0;
  both->a = mem_calloc(a->count + b->count, 2 * sizeof *both->a);
  if (!both->a) return status_oom(status, "the union of indices");
  both->b = both->a + a->count + b->count;
  for (both->count = 0; i < a->count || k < b->count; both->count++) {
    int order = i == a->count   ? 1
                : k == b->count ? -1
                                : sparse_compare(sparse_index(a, i), sparse_index(b, k), a->rank);
    both->a[both->count] = order <= 0 ? i++ : -1;
    both->b[both->count] = order >= 0 ? k++ : -1;
  }
  return true;
}

/* The values of a and b for each entry of the union, 0 where there is none. */
static bool pair_values(KernelContext *context, const SparseTensor *a, const SparseTensor *b,
                        const Union *both, Tensor pair[2], Status *status) {
  const SparseTensor *from[] = {a, b};
  const int64_t *rows[] = {both->a, both->b};
  for (int i = 0; i < 2; i++) {
    TRY(tensor_allocate_dims(&pair[i], a->values->dtype, 1, &both->count, context->pool, status));
    TRY(array_gather_rows(from[i]->values, rows[i], both->count, 1, &pair[i], NULL, status));
  }
  return true;
}

static bool give_indices(KernelContext *context, const SparseTensor *a, const SparseTensor *b,
                         const Union *both, Status *status) {
  Tensor *indices;
  TRY(kernel_allocate_output_dims(context, 0, 2, (int64_t[]){both->count, a->rank}, &indices, status));
  for (int64_t i = 0; i < both->count; i++) {
    const int64_t *from = both->a[i] >= 0 ? sparse_index(a, both->a[i]) : sparse_index(b, both->b[i]);
    for (int d = 0; d < a->rank; d++) tensor_i64(indices)[i * a->rank + d] = from[d];
  }
  return true;
}

static bool check_equal_sizes(const Tensor *a, const Tensor *b, Status *status) {
  for (int64_t d = 0; d < tensor_num_elements(a); d++) {
    if (tensor_i64(a)[d] != tensor_i64(b)[d])
      return status_invalid(status, "Operands' shapes do not match: got %lld and %lld for dimension %lld",
                            (long long)tensor_i64(a)[d], (long long)tensor_i64(b)[d], (long long)d);
  }
  return true;
}

/* --- SparseAdd --- */

static bool refuse_shapes(const char *what, const Tensor *a, const Tensor *b, Status *status) {
  char x[SHAPE_TEXT_CAPACITY], y[SHAPE_TEXT_CAPACITY];
  return status_invalid(status, "Input %s %s and %s", what, shape_text(&a->shape, x),
                        shape_text(&b->shape, y));
}

static bool check_add(KernelContext *context, Status *status) {
  const Tensor *const *a = context->inputs, *const *b = context->inputs + 3, *limit = context->inputs[6];
  char text[SHAPE_TEXT_CAPACITY];
  if (a[0]->shape.rank != 2 || b[0]->shape.rank != 2)
    return refuse_shapes("indices should be matrices but received shapes:", a[0], b[0], status);
  if (a[1]->shape.rank != 1 || b[1]->shape.rank != 1)
    return refuse_shapes("values should be vectors but received shapes:", a[1], b[1], status);
  const Shape *x = &a[0]->shape, *y = &b[0]->shape;
  if (tensor_num_elements(a[1]) != shape_dim(x, 0) || tensor_num_elements(b[1]) != shape_dim(y, 0))
    return status_invalid(status, "Expected %lld and %lld non-empty input values, got %lld and %lld",
                          (long long)shape_dim(x, 0), (long long)shape_dim(y, 0),
                          (long long)tensor_num_elements(a[1]), (long long)tensor_num_elements(b[1]));
  if (shape_dim(x, 1) != shape_dim(y, 1))
    return status_invalid(status, "Input indices must have the same dimension, got %lld and %lld",
                          (long long)shape_dim(x, 1), (long long)shape_dim(y, 1));
  if (a[2]->shape.rank != 1 || b[2]->shape.rank != 1)
    return refuse_shapes("shapes should be a vector but received shapes", a[2], b[2], status);
  if (tensor_num_elements(a[2]) != shape_dim(x, 1))
    return status_invalid(status,
                          "Second dimension of a_indices and length of a_shape must match, got %lld and %lld",
                          (long long)shape_dim(x, 1), (long long)tensor_num_elements(a[2]));
  if (tensor_num_elements(b[2]) != tensor_num_elements(a[2]))
    return status_invalid(status, "Operands do not have the same ranks");
  TRY(check_equal_sizes(a[2], b[2], status));
  return tensor_is_scalar(limit) ||
         status_invalid(status, "The magnitude threshold must be a scalar: got shape %s",
                        shape_text(&limit->shape, text));
}

/* Leaves the sums in pair[0]; an entry that only one tensor has keeps its value, also if it is -0. */
static bool sum_pairs(const Union *both, Tensor pair[2], Status *status) {
  size_t size = dtype_size(pair[0].dtype);
  const ValueLoops *loops = value_loops(pair[0].dtype);
  for (int64_t i = 0; i < both->count; i++) {
    char *a = (char *)pair[0].data + (size_t)i * size, *b = (char *)pair[1].data + (size_t)i * size;
    if (both->a[i] < 0) TRY(copy_elements(&pair[1], i, &pair[0], i, 1, status));
    else if (both->b[i] >= 0) loops->zip(VALUE_ADD, 1, a, b, a);
  }
  return true;
}

static double magnitude(const Tensor *values, int64_t i) {
  if (values->dtype == DT_COMPLEX64) return (double)cabsf(((const float _Complex *)values->data)[i]);
  if (values->dtype == DT_COMPLEX128) return cabs(((const double _Complex *)values->data)[i]);
  return fabs(tensor_double_at(values, i));
}

/* Leaves out entries that both tensors have, and whose sums are nearer to 0 than the limit. */
static void drop_small(Union *both, const Tensor *sum, const Tensor *limit, int64_t *kept) {
  double least = tensor_double_at(limit, 0);
  int64_t count = 0;
  for (int64_t i = 0; i < both->count; i++) {
    bool small = both->a[i] >= 0 && both->b[i] >= 0 && !(least <= magnitude(sum, i));
    if (small) continue;
    both->a[count] = both->a[i];
    both->b[count] = both->b[i];
    kept[count++] = i;
  }
  both->count = count;
}

static bool add_union(KernelContext *context, const SparseTensor *a, const SparseTensor *b, Union *both,
                      Tensor pair[2], Status *status) {
  Tensor *values;
  int64_t *kept = NULL;
  TRY(pair_values(context, a, b, both, pair, status));
  TRY(sum_pairs(both, pair, status));
  Buffer *scratch = array_row_numbers(context, both->count, &kept, status);
  if (!scratch) return false;
  drop_small(both, &pair[0], context->inputs[6], kept);
  bool ok = kernel_allocate_output_dims(context, 1, 1, &both->count, &values, status) &&
            array_gather_rows(&pair[0], kept, both->count, 1, values, context->parallel, status) &&
            give_indices(context, a, b, both, status) &&
            kernel_set_output(context, 2, a->sizes, NULL, status);
  buffer_unref(scratch);
  return ok;
}

static bool sparse_add(KernelContext *context, Status *status) {
  SparseTensor a, b;
  Union both = {0};
  Tensor pair[2] = {{0}};
  TRY(check_add(context, status));
  bool ok = sparse_open(context->inputs, &a, status) && sparse_open(context->inputs + 3, &b, status) &&
            unite(&a, &b, &both, status) && add_union(context, &a, &b, &both, pair, status);
  tensor_clear(&pair[0]);
  tensor_clear(&pair[1]);
  mem_free(both.a);
  return ok;
}

static bool add_shape(InferenceContext *c, Status *status) {
  ShapeHandle sizes, indices, values;
  TRY(shape_with_rank(c, shape_input(c, 2), 1, &sizes, status));
  TRY(shape_ok(shape_matrix(c, dim_unknown(c), shape_dim_of(c, sizes, 0)), &indices, status));
  TRY(shape_ok(shape_vector(c, dim_unknown(c)), &values, status));
  shape_set_output(c, 0, indices);
  shape_set_output(c, 1, values);
  shape_set_output(c, 2, sizes);
  return true;
}

#define PAIR_INPUTS \
  "a_indices: int64", "a_values: T", "a_shape: int64", "b_indices: int64", "b_values: T", "b_shape: int64"
#define SUM_KERNELS(f) FLOAT_KERNELS(f), INT_KERNELS(f), {DT_INT8, f}, {DT_INT16, f}, COMPLEX_KERNELS(f)

const OpRegistration kOpSparseAdd = {
    .name = "SparseAdd",
    .inputs = {PAIR_INPUTS, "thresh: Treal"},
    .outputs = {"sum_indices: int64", "sum_values: T", "sum_shape: int64"},
    .attrs = {"T: {" NUMBER_TYPES "}", "Treal: realnumbertype"},
    .shape = add_shape,
    .gradient =
        "SparseAddGradient[T:type, Treal:type](ai:int64, av:T, as:int64, bi:int64, bv:T, bs:int64, "
        "limit:Treal, "
        "di:int64, dy:T, ds:int64) -> (dai:int64, dav:T, das:int64, dbi:int64, dbv:T, dbs:int64, "
        "dlimit:Treal) {\n"
        "  sum = SparseAdd[T=$T, Treal=$Treal](ai, av, as, bi, bv, bs, limit)\n"
        "  grad = SparseAddGrad[T=$T](dy, ai, bi, sum:sum_indices:0)\n"
        "  dai = ZerosLike[T=int64](ai)\n"
        "  das = ZerosLike[T=int64](as)\n"
        "  dbi = ZerosLike[T=int64](bi)\n"
        "  dbs = ZerosLike[T=int64](bs)\n"
        "  dlimit = ZerosLike[T=$Treal](limit)\n"
        "  return dai = dai:y:0, dav = grad:a_val_grad:0, das = das:y:0, dbi = dbi:y:0, dbv = "
        "grad:b_val_grad:0, dbs = dbs:y:0, dlimit = dlimit:y:0\n"
        "}\n",
    .kernels = {SUM_KERNELS(sparse_add)},
};

/* --- SparseAddGrad --- */

static bool check_add_grad(KernelContext *context, Status *status) {
  const Tensor *grad = context->inputs[0], *a = context->inputs[1], *b = context->inputs[2],
               *sum = context->inputs[3];
  char x[SHAPE_TEXT_CAPACITY], y[SHAPE_TEXT_CAPACITY], z[SHAPE_TEXT_CAPACITY];
  if (a->shape.rank != 2 || b->shape.rank != 2 || sum->shape.rank != 2)
    return status_invalid(status, "Input indices should be matrices but received shapes: %s and %s and %s",
                          shape_text(&a->shape, x), shape_text(&b->shape, y), shape_text(&sum->shape, z));
  if (!tensor_is_vector(grad))
    return status_invalid(status, "Input backprop_val_grad should be a vector but received shape: %s",
                          shape_text(&grad->shape, x));
  long long ranks[] = {shape_dim(&a->shape, 1), shape_dim(&b->shape, 1), shape_dim(&sum->shape, 1)};
  if (ranks[0] != ranks[1] || ranks[1] != ranks[2])
    return status_invalid(status,
                          "The densified operands should have the same ndims; for A, B, sum got: "
                          "%lld%lld%lld",
                          ranks[0], ranks[1], ranks[2]);
  return tensor_num_elements(grad) == shape_dim(&sum->shape, 0) ||
         status_invalid(status,
                        "# elements of backprop_val_grad and # rows of sum_indices should match (#nnz of "
                        "sum): "
                        "got %lld and %lld",
                        (long long)tensor_num_elements(grad), (long long)shape_dim(&sum->shape, 0));
}

/* The gradient at the entries of the sum that come from `part`, 0 for those that were too small. */
static bool part_grad(KernelContext *context, const Tensor *part, int output, Status *status) {
  const Tensor *grad = context->inputs[0], *sum = context->inputs[3];
  int rank = (int)shape_dim(&part->shape, 1);
  int64_t count = shape_dim(&part->shape, 0), k = 0, *positions;
  Tensor *out;
  TRY(kernel_allocate_output_dims(context, output, 1, &count, &out, status));
  Buffer *scratch = array_row_numbers(context, count, &positions, status);
  if (!scratch) return false;
  for (int64_t i = 0; i < count; i++) {
    const int64_t *index = tensor_i64(part) + i * rank;
    int order = 1;
    while (k < tensor_num_elements(grad) &&
           (order = sparse_compare(index, tensor_i64(sum) + k * rank, rank)) > 0)
      k++;
    positions[i] = k < tensor_num_elements(grad) && order == 0 ? k : -1;
  }
  bool ok = array_gather_rows(grad, positions, count, 1, out, context->parallel, status);
  buffer_unref(scratch);
  return ok;
}

static bool add_grad(KernelContext *context, Status *status) {
  return check_add_grad(context, status) && part_grad(context, context->inputs[1], 0, status) &&
         part_grad(context, context->inputs[2], 1, status);
}

static bool add_grad_shape(InferenceContext *c, Status *status) {
  for (int i = 0; i < 2; i++) {
    ShapeHandle indices, out;
    TRY(shape_with_rank(c, shape_input(c, 1 + i), 2, &indices, status));
    TRY(shape_ok(shape_vector(c, shape_dim_of(c, indices, 0)), &out, status));
    shape_set_output(c, i, out);
  }
  return true;
}

const OpRegistration kOpSparseAddGrad = {
    .name = "SparseAddGrad",
    .inputs = {"backprop_val_grad: T", "a_indices: int64", "b_indices: int64", "sum_indices: int64"},
    .outputs = {"a_val_grad: T", "b_val_grad: T"},
    .attrs = {"T: {" NUMBER_TYPES "}"},
    .shape = add_grad_shape,
    .gradient = NO_GRADIENT,
    .kernels = {SUM_KERNELS(add_grad)},
};

/* --- SparseSparseMaximum, SparseSparseMinimum: their data is a ValueOp --- */

static bool open_inside(const Tensor *const *inputs, SparseTensor *x, Status *status) {
  TRY(sparse_open(inputs, x, status));
  for (int64_t i = 0; i < x->count; i++) {
    if (!sparse_inside(sparse_index(x, i), tensor_i64(x->sizes), x->rank))
      return sparse_refuse_index(x, i, "is out of bounds", status);
  }
  return true;
}

static bool extreme_of_union(KernelContext *context, const SparseTensor *a, const SparseTensor *b,
                             const Union *both, Tensor pair[2], Status *status) {
  Tensor *values;
  TRY(pair_values(context, a, b, both, pair, status));
  TRY(kernel_allocate_output_dims(context, 1, 1, &both->count, &values, status));
  value_loops(values->dtype)
      ->zip(*(const ValueOp *)context->data, both->count, pair[0].data, pair[1].data, values->data);
  return give_indices(context, a, b, both, status);
}

static bool sparse_extreme(KernelContext *context, Status *status) {
  SparseTensor a, b;
  Union both = {0};
  Tensor pair[2] = {{0}};
  TRY(open_inside(context->inputs, &a, status));
  TRY(open_inside(context->inputs + 3, &b, status));
  if (a.rank != b.rank) return status_invalid(status, "Operands do not have the same ranks");
  TRY(check_equal_sizes(a.sizes, b.sizes, status));
  bool ok = unite(&a, &b, &both, status) && extreme_of_union(context, &a, &b, &both, pair, status);
  tensor_clear(&pair[0]);
  tensor_clear(&pair[1]);
  mem_free(both.a);
  return ok;
}

static bool extreme_shape(InferenceContext *c, Status *status) {
  return sparse_shapes(c, 0, status) && sparse_shapes(c, 3, status) &&
         sparse_set_shapes(c, 0, NULL, NULL, status);
}

static const ValueOp kMax = VALUE_MAX, kMin = VALUE_MIN;

const OpRegistration kOpSparseSparseMaximum = {
    .name = "SparseSparseMaximum",
    .inputs = {PAIR_INPUTS},
    .outputs = {"output_indices: int64", "output_values: T"},
    .attrs = {"T: realnumbertype"},
    .shape = extreme_shape,
    .gradient = NO_GRADIENT,
    .kernels = {REAL_KERNELS(sparse_extreme, &kMax)},
};

const OpRegistration kOpSparseSparseMinimum = {
    .name = "SparseSparseMinimum",
    .inputs = {PAIR_INPUTS},
    .outputs = {"output_indices: int64", "output_values: T"},
    .attrs = {"T: {" NUMBER_TYPES "}"},
    .shape = extreme_shape,
    .gradient = NO_GRADIENT,
    .kernels = {REAL_KERNELS(sparse_extreme, &kMin)},
};
