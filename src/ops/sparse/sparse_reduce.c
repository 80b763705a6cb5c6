/* SparseReduceSum and SparseReduceMax, and the same with sparse results: reductions of the entries over axes.
 * Positions without entries do not count. */
#include <string.h>

#include "base/alloc.h"
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/support/array_box.h"
#include "ops/support/element_types.h"
#include "ops/sparse/sparse_tensor.h"
#include "ops/sparse/sparse_values.h"

typedef struct ReduceState {
  bool keep_dims;
} ReduceState;

static bool reduce_construct(const KernelConstruction *construction, void *memory, Status *status) {
  return node_attr_bool(construction->node, "keep_dims", &((ReduceState *)memory)->keep_dims, status);
}

typedef struct Reduction {
  int axes[SHAPE_MAX_RANK];                              /* those that stay, then those that are reduced */
  int stay;                                              /* the number of axes that stay */
  int64_t sizes[SHAPE_MAX_RANK], places[SHAPE_MAX_RANK]; /* of the result, and of each staying axis in it */
  int rank;                                              /* of the result */
} Reduction;

static bool check_axes(const Tensor *sizes, const Tensor *axes, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  int64_t rank = tensor_num_elements(sizes);
  if (!tensor_is_vector(sizes))
    return status_invalid(status, "Expected input_shape to be a vector; got shape: %s",
                          shape_text(&sizes->shape, text));
  if (axes->shape.rank > 1)
    return status_invalid(status, "Expected reduction_axes to be a scalar or a vector; got shape: %s",
                          shape_text(&axes->shape, text));
  for (int64_t i = 0; i < tensor_num_elements(axes); i++) {
    int64_t axis = tensor_i32(axes)[i];
    if (axis < -rank || axis >= rank)
      return status_invalid(status, "Invalid reduction dimension %lld, for input with %lld dimensions.",
                            (long long)axis, (long long)rank);
  }
  return true;
}

static void plan(const SparseTensor *x, const Tensor *axes, bool keep_dims, Reduction *reduction) {
  bool reduced[SHAPE_MAX_RANK] = {false};
  for (int64_t i = 0; i < tensor_num_elements(axes); i++) {
    int axis = tensor_i32(axes)[i];
    reduced[axis < 0 ? axis + x->rank : axis] = true;
  }
  reduction->stay = reduction->rank = 0;
  for (int d = 0; d < x->rank; d++) {
    if (!reduced[d]) {
      reduction->places[reduction->stay] = reduction->rank;
      reduction->axes[reduction->stay++] = d;
    }
    if (!reduced[d] || keep_dims)
      reduction->sizes[reduction->rank++] = reduced[d] ? 1 : tensor_i64(x->sizes)[d];
  }
  for (int d = 0, next = reduction->stay; d < x->rank; d++) {
    if (reduced[d]) reduction->axes[next++] = d;
  }
}

/* The entries in the order of `axes`; NULL with status. */
static int64_t *begin(KernelContext *context, SparseTensor *x, Reduction *reduction, Status *status) {
  if (!check_axes(context->inputs[2], context->inputs[3], status)) return NULL;
  if (!sparse_create(context->inputs, x, status)) return NULL;
  plan(x, context->inputs[3], ((const ReduceState *)context->state)->keep_dims, reduction);
  return sparse_sort(x, reduction->axes, status);
}

/* --- dense results; the data of a kernel is a ValueOp --- */

static int64_t place_of(const SparseTensor *x, const Reduction *reduction, const int64_t *index) {
  uint64_t at = 0; /* wraps around for indices that are outside */
  for (int k = 0; k < reduction->stay; k++)
    at = at * (uint64_t)tensor_i64(x->sizes)[reduction->axes[k]] + (uint64_t)index[reduction->axes[k]];
  return (int64_t)at;
}

static bool reduce_to(KernelContext *context, const SparseTensor *x, const Reduction *reduction,
                      const int64_t *order, Status *status) {
  Tensor *out;
  TRY(kernel_allocate_output_dims(context, 0, reduction->rank, reduction->sizes, &out, status));
  array_clear(out);
  for (int64_t i = 0, end; i < x->count; i = end) {
    end = sparse_run_end(x, order, i, reduction->axes, reduction->stay);
    int64_t at = place_of(x, reduction, sparse_index(x, order[i]));
    if (at < 0 || at >= tensor_num_elements(out))
      return status_set(status, CODE_INTERNAL,
                        "Obtained a write index of %lld which is outside of bounds of [0, %lld)",
                        (long long)at, (long long)tensor_num_elements(out));
    value_loops(out->dtype)
        ->reduce(*(const ValueOp *)context->data, end - i, order + i, x->values->data, out->data, at);
  }
  return true;
}

static bool reduce(KernelContext *context, Status *status) {
  SparseTensor x;
  Reduction reduction;
  int64_t *order = begin(context, &x, &reduction, status);
  if (!order) return false;
  bool ok = reduce_to(context, &x, &reduction, order, status);
  mem_free(order);
  return ok;
}

/* --- sparse results --- */

static int64_t count_runs(const SparseTensor *x, const Reduction *reduction, const int64_t *order) {
  int64_t runs = 0;
  for (int64_t i = 0; i < x->count; runs++) i = sparse_run_end(x, order, i, reduction->axes, reduction->stay);
  return runs;
}

static bool reduce_entries(KernelContext *context, const SparseTensor *x, const Reduction *reduction,
                           const int64_t *order, Status *status) {
  int64_t count = count_runs(x, reduction, order), run = 0;
  Tensor *indices, *values;
  TRY(kernel_allocate_output_dims(context, 0, 2, (int64_t[]){count, reduction->rank}, &indices, status));
  TRY(kernel_allocate_output_dims(context, 1, 1, &count, &values, status));
  array_clear(indices);
  for (int64_t i = 0, end; i < x->count; i = end, run++) {
    end = sparse_run_end(x, order, i, reduction->axes, reduction->stay);
    for (int k = 0; k < reduction->stay; k++)
      tensor_i64(indices)[run * reduction->rank + reduction->places[k]] =
          sparse_index(x, order[i])[reduction->axes[k]];
    value_loops(values->dtype)
        ->reduce(*(const ValueOp *)context->data, end - i, order + i, x->values->data, values->data, run);
  }
  return sparse_give_sizes(context, 2, reduction->sizes, reduction->rank, status);
}

static bool reduce_sparse(KernelContext *context, Status *status) {
  SparseTensor x;
  Reduction reduction;
  int64_t *order = begin(context, &x, &reduction, status);
  if (!order) return false;
  bool ok = reduce_entries(context, &x, &reduction, order, status);
  mem_free(order);
  return ok;
}

/* --- ops --- */

/* dy with the reduced axes as 1; an entry reads it at its index, 0 in these axes. */
static const char kReduceSumGradient[] =
    "SparseReduceSumGradient[T:type](indices:int64, values:T, sizes:int64, axes:int32, dy:T) -> (di:int64, "
    "dvalues:T, dsizes:int64, daxes:int32) {\n"
    "  rank = Size[T=int64, out_type=int32](sizes)\n"
    "  zero = Const[dtype=int32, value=0]()\n"
    "  one = Const[dtype=int32, value=1]()\n"
    "  all = Range[Tidx=int32](zero:output:0, rank:output:0, one:output:0)\n"
    "  shifted = Add[T=int32](axes, rank:output:0)\n"
    "  positive = FloorMod[T=int32](shifted:z:0, rank:output:0)\n"
    "  minus = Const[dtype=int32, value=[-1]]()\n"
    "  flat = Reshape[T=int32, Tshape=int32](positive:z:0, minus:output:0)\n"
    "  stay = ListDiff[T=int32, out_idx=int32](all:output:0, flat:output:0)\n"
    "  column = ExpandDims[T=int32, Tdim=int32](stay:out:0, one:output:0)\n"
    "  places = Shape[T=int64, out_type=int32](sizes)\n"
    "  kept = Gather[Tparams=int64, Tindices=int32](sizes, stay:out:0)\n"
    "  reduced = OnesLike[T=int64](sizes)\n"
    "  less = OnesLike[T=int64](kept:output:0)\n"
    "  more = Sub[T=int64](kept:output:0, less:y:0)\n"
    "  added = ScatterNd[T=int64, Tindices=int32](column:output:0, more:z:0, places:output:0)\n"
    "  shape = Add[T=int64](reduced:y:0, added:output:0)\n"
    "  dense = Reshape[T=$T, Tshape=int64](dy, shape:z:0)\n"
    "  at = Minimum[T=int64](indices, added:output:0)\n"
    "  dvalues = GatherNd[Tparams=$T, Tindices=int64](dense:output:0, at:z:0)\n"
    "  di = ZerosLike[T=int64](indices)\n"
    "  dsizes = ZerosLike[T=int64](sizes)\n"
    "  daxes = ZerosLike[T=int32](axes)\n"
    "  return di = di:y:0, dvalues = dvalues:output:0, dsizes = dsizes:y:0, daxes = daxes:y:0\n"
    "}\n";

static const ValueOp kSum = VALUE_ADD, kMax = VALUE_MAX;

#define REDUCE_INPUTS \
  .inputs = {"input_indices: int64", "input_values: T", "input_shape: int64", "reduction_axes: int32"}
#define REDUCE_STATE \
  .shape = shape_unknown_outputs, .state_size = sizeof(ReduceState), .construct = reduce_construct
#define SPARSE_RESULT .outputs = {"output_indices: int64", "output_values: T", "output_shape: int64"}
#define KEEP_DIMS "keep_dims: bool = false"

const OpRegistration kOpSparseReduceSum = {
    .name = "SparseReduceSum",
    REDUCE_INPUTS,
    .outputs = {"output: T"},
    .attrs = {KEEP_DIMS, "T: {" NUMBER_TYPES "}"},
    REDUCE_STATE,
    .gradient = kReduceSumGradient,
    .kernels = {NUMBER_KERNELS(reduce, &kSum)},
};

const OpRegistration kOpSparseReduceMax = {
    .name = "SparseReduceMax",
    REDUCE_INPUTS,
    .outputs = {"output: T"},
    .attrs = {KEEP_DIMS, "T: realnumbertype"},
    REDUCE_STATE,
    .gradient = NO_GRADIENT,
    .kernels = {REAL_KERNELS(reduce, &kMax)},
};

const OpRegistration kOpSparseReduceSumSparse = {
    .name = "SparseReduceSumSparse",
    REDUCE_INPUTS,
    SPARSE_RESULT,
    .attrs = {KEEP_DIMS, "T: {" NUMBER_TYPES "}"},
    REDUCE_STATE,
    .gradient = NO_GRADIENT,
    .kernels = {NUMBER_KERNELS(reduce_sparse, &kSum)},
};

const OpRegistration kOpSparseReduceMaxSparse = {
    .name = "SparseReduceMaxSparse",
    REDUCE_INPUTS,
    SPARSE_RESULT,
    .attrs = {KEEP_DIMS, "T: realnumbertype"},
    REDUCE_STATE,
    .gradient = NO_GRADIENT,
    .kernels = {REAL_KERNELS(reduce_sparse, &kMax)},
};
