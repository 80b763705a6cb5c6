/* SparseConcat: several sparse tensors beside one another along one axis. */
#include <string.h>

#include "base/alloc.h"
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/support/array_box.h"
#include "ops/sparse/sparse_tensor.h"

typedef struct ConcatState {
  int64_t axis;
} ConcatState;

static bool concat_construct(const KernelConstruction *construction, void *memory, Status *status) {
  return node_attr_int(construction->node, "concat_dim", &((ConcatState *)memory)->axis, status);
}

/* Inputs: `count` matrices of indices, as many vectors of values, and of sizes. */
static bool check_ranks(KernelContext *context, int count, Status *status) {
  static const char *const kNames[] = {"indices should be a matrix", "values should be a vector",
                                       "shapes should be a vector"};
  char text[SHAPE_TEXT_CAPACITY];
  for (int i = 0; i < 3 * count; i++) {
    const Shape *shape = &context->inputs[i]->shape;
    if (shape->rank != (i < count ? 2 : 1))
      return status_invalid(status, "Input %s but received shape %s at position %d", kNames[i / count],
                            shape_text(shape, text), i % count);
  }
  return true;
}

static bool check_sizes(const Tensor *first, const Tensor *sizes, int64_t axis, int at, Status *status) {
  int64_t rank = tensor_num_elements(first);
  if (tensor_num_elements(sizes) != rank)
    return status_invalid(status,
                          "Ranks of all input tensors must match: expected %lld but got %lld at position %d",
                          (long long)rank, (long long)tensor_num_elements(sizes), at);
  for (int64_t k = 0; k < rank; k++) {
    int64_t want = tensor_i64(first)[k], got = tensor_i64(sizes)[k];
    if (k != axis && want != got)
      return status_invalid(status,
                            "Input shapes must match: expected %lld for dimension %lld but got %lld at "
                            "position %d",
                            (long long)want, (long long)k, (long long)got, at);
  }
  return true;
}

/* Opens the inputs, and computes the sizes of the result. */
static bool open_inputs(KernelContext *context, int count, int64_t *axis, SparseTensor *parts, int64_t *sizes,
                        Status *status) {
  const Tensor *const *inputs = context->inputs, *first = inputs[2 * count];
  int64_t asked = ((const ConcatState *)context->state)->axis, rank = tensor_num_elements(first);
  for (int i = 0; i < count; i++) {
    if (!sparse_check_sizes(inputs[2 * count + i], status))
      return status_reword(status, CODE_INTERNAL, "Encountered overflow from large input shape.");
  }
  *axis = asked < 0 ? asked + rank : asked;
  if (*axis < 0 || *axis >= rank)
    return status_invalid(status, "Concat dimension must be in range [%lld, %lld), got %lld",
                          (long long)-rank, (long long)rank, (long long)asked);
  memcpy(sizes, tensor_i64(first), (size_t)rank * sizeof *sizes);
  sizes[*axis] = 0;
  for (int i = 0; i < count; i++) {
    const Tensor *own = inputs[2 * count + i];
    TRY(check_sizes(first, own, *axis, i, status));
    if (shape_dim(&inputs[i]->shape, 1) != rank)
      return status_invalid(status, "Order length must be SparseTensor rank.");
    TRY(sparse_create((const Tensor *const[]){inputs[i], inputs[count + i], own}, &parts[i], status));
    if (__builtin_add_overflow(sizes[*axis], tensor_i64(own)[*axis], &sizes[*axis]))
      return status_set(status, CODE_INTERNAL, "Encountered overflow from large input shape.");
  }
  return true;
}

/* All entries in the order of the inputs, with their indices in the result. */
static bool join(KernelContext *context, const SparseTensor *parts, int count, int64_t axis, Tensor *indices,
                 Tensor *values, Status *status) {
  int64_t total = 0, at = 0, offset = 0;
  int rank = parts[0].rank;
  for (int i = 0; i < count; i++) total += parts[i].count;
  TRY(tensor_allocate_dims(indices, DT_INT64, 2, (int64_t[]){total, rank}, context->pool, status));
  TRY(tensor_allocate_dims(values, parts[0].values->dtype, 1, &total, context->pool, status));
  for (int i = 0; i < count; i++) {
    ArrayBox box = {.to_offset = at};
    array_box_add(&box, parts[i].count, 1, 1);
    TRY(array_box_copy(&box, parts[i].values, values, NULL, status));
    for (int64_t k = 0; k < parts[i].count; k++, at++) {
      int64_t *to = tensor_i64(indices) + at * rank;
      for (int d = 0; d < rank; d++) to[d] = sparse_index(&parts[i], k)[d];
      to[axis] = (int64_t)((uint64_t)to[axis] + (uint64_t)offset); /* indices outside may wrap around */
    }
    offset += tensor_i64(parts[i].sizes)[axis];
  }
  return true;
}

static bool give_sorted(KernelContext *context, const Tensor *indices, const Tensor *values,
                        const Tensor *sizes, Status *status) {
  SparseTensor joined;
  TRY(sparse_open((const Tensor *const[]){indices, values, sizes}, &joined, status));
  int64_t *order = sparse_sort(&joined, NULL, status);
  bool ok = order && sparse_give_entries(context, 0, &joined, order, joined.count, status);
  mem_free(order);
  return ok;
}

static bool concat(KernelContext *context, Status *status) {
  int count = context->num_inputs / 3;
  int64_t axis = 0, sizes[SHAPE_MAX_RANK];
  Tensor indices = {0}, values = {0};
  TRY(check_ranks(context, count, status));
  SparseTensor *parts = mem_calloc(count, sizeof *parts);
  bool ok = (parts || status_oom(status, "the inputs of SparseConcat")) &&
            open_inputs(context, count, &axis, parts, sizes, status) &&
            join(context, parts, count, axis, &indices, &values, status) &&
            give_sorted(context, &indices, &values, parts[0].sizes, status) &&
            sparse_give_sizes(context, 2, sizes, parts[0].rank, status);
  tensor_clear(&indices);
  tensor_clear(&values);
  mem_free(parts);
  return ok;
}

static bool concat_shape(InferenceContext *c, Status *status) {
  int count = c->num_inputs / 3;
  DimHandle rows, columns;
  ShapeHandle sizes, out;
  TRY(dim_ok(dim_make(c, 0), &rows, status));
  TRY(dim_ok(dim_unknown(c), &columns, status));
  TRY(shape_ok(shape_unknown(c), &sizes, status));
  for (int i = 0; i < count; i++) {
    ShapeHandle indices, values, own;
    DimHandle entries;
    TRY(shape_with_rank(c, shape_input(c, i), 2, &indices, status));
    TRY(shape_with_rank(c, shape_input(c, count + i), 1, &values, status));
    TRY(shape_with_rank(c, shape_input(c, 2 * count + i), 1, &own, status));
    TRY(dim_merge(c, shape_dim_of(c, indices, 0), shape_dim_of(c, values, 0), &entries, status));
    TRY(dim_add(c, rows, entries, &rows, status));
    TRY(dim_merge(c, columns, shape_dim_of(c, indices, 1), &columns, status));
    TRY(shape_merge(c, sizes, own, &sizes, status));
  }
  TRY(shape_ok(shape_matrix(c, rows, columns), &out, status));
  shape_set_output(c, 0, out);
  TRY(shape_ok(shape_vector(c, rows), &out, status));
  shape_set_output(c, 1, out);
  shape_set_output(c, 2, sizes);
  return true;
}

const OpRegistration kOpSparseConcat = {
    .name = "SparseConcat",
    .inputs = {"indices: N * int64", "values: N * T", "shapes: N * int64"},
    .outputs = {"output_indices: int64", "output_values: T", "output_shape: int64"},
    .attrs = {"concat_dim: int", "N: int >= 2", "T: type"},
    .shape = concat_shape,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(ConcatState),
    .construct = concat_construct,
    .kernels = {{DT_INVALID, concat}},
};
