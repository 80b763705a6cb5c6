/* SparseSegmentSum, SparseSegmentMean and SparseSegmentSqrtN: select rows by indices, and add those with
 * equal ids, which must be sorted; SqrtN divides by the square root of their number. And their gradients. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "op/op_registry.h"
#include "ops/support/element_types.h"
#include "ops/math/segment_rows.h"

static bool check_inputs(const Tensor *data, const Tensor *indices, const Tensor *ids, Status *status) {
  if (data->shape.rank < 1) return status_invalid(status, "Shape must be at least rank 1");
  if (!tensor_is_vector(indices)) return status_invalid(status, "indices should be a vector.");
  if (!tensor_is_vector(ids)) return status_invalid(status, "segment_ids should be a vector.");
  if (tensor_num_elements(indices) != tensor_num_elements(ids)) {
    return status_invalid(status, "segment_ids and indices should have same size.");
  }
  return true;
}

/* An optional fourth input gives the number of segments, which otherwise follows from the last id. */
static bool sparse_kernel(KernelContext *context, Status *status) {
  SegmentKind kind = *(const SegmentKind *)context->data;
  const Tensor *data = context->inputs[0], *indices = context->inputs[1], *ids = context->inputs[2];
  const Tensor *sizes = context->num_inputs > 3 ? context->inputs[3] : NULL;
  char text[SHAPE_TEXT_CAPACITY];
  if (sizes && !tensor_is_scalar(sizes)) {
    return status_invalid(status, "num_segments should be a scalar, not shape %s",
                          shape_text(&sizes->shape, text));
  }
  TRY(check_inputs(data, indices, ids, status));
  SegmentRuns runs = {.kind = kind,
                      .data = data->data,
                      .count = tensor_num_elements(ids),
                      .ids = segment_ids(ids)};
  runs.rows = segment_ids(indices);
  int64_t needed = runs.count > 0 ? segment_id(runs.ids, runs.count - 1) + 1 : 0;
  runs.num_segments = sizes ? tensor_int_at(sizes, 0) : needed;
  if (needed < 0 || runs.num_segments < 0) return status_invalid(status, "segment ids must be >= 0");
  if (needed > runs.num_segments) return status_invalid(status, "segment ids must be < num_segments");
  TRY(segment_check_sorted(runs.ids, runs.count, runs.num_segments, status));
  int64_t rows = shape_dim(&data->shape, 0);
  for (int64_t i = 0; i < runs.count; i++) {
    int64_t row = segment_id(runs.rows, i);
    if (row < 0 || row >= rows) {
      return status_invalid(status, "Bad: indices[%lld] == %lld out of range [0, %lld)", (long long)i,
                            (long long)row, (long long)rows);
    }
  }
  Tensor *out;
  TRY(segment_allocate(context, data, 1, runs.num_segments, &out, &runs.columns, status));
  runs.out = out->data;
  return segment_combine_sorted(context, &runs, data->dtype, status);
}

/* Checks the inputs of a gradient, whose indices are below `rows`. */
static bool check_gradient(const Tensor *grad, const Tensor *indices, const Tensor *ids, int64_t rows,
                           Status *status) {
  TRY(check_inputs(grad, indices, ids, status));
  if (rows < 0) return status_invalid(status, "Expected a non-negative size, got %lld", (long long)rows);
  int64_t segments = shape_dim(&grad->shape, 0), count = tensor_num_elements(ids);
  if (count > 0 && tensor_int_at(ids, count - 1) >= segments)
    return status_invalid(status, "Invalid number of segments");
  for (int64_t i = 0; i < count; i++) {
    int64_t id = tensor_int_at(ids, i), index = tensor_int_at(indices, i);
    if (id < 0 || id >= segments)
      return status_invalid(status, "Segment id %lld out of range [0, %lld).", (long long)id,
                            (long long)segments);
    if ((index < 0 || index >= rows) && rows > 0)
      return status_invalid(status, "Index %lld out of range [0, %lld).", (long long)index, (long long)rows);
  }
  return true;
}

/* Adds row ids[i] of the gradient, divided as in its segment, to row rows[i] of output 0, which has
 * `num_rows`. Ids need not be sorted. */
static bool scatter_gradient(KernelContext *context, const Tensor *ids, SegmentIds rows, int64_t num_rows,
                             Status *status) {
  SegmentKind kind = *(const SegmentKind *)context->data;
  const Tensor *grad = context->inputs[0];
  SegmentScatter scatter = {.kind = SEGMENT_SUM,
                            .data = grad->data,
                            .count = tensor_num_elements(ids),
                            .ids = rows,
                            .num_segments = num_rows};
  scatter.rows = segment_ids(ids);
  int64_t segments = shape_dim(&grad->shape, 0);
  Tensor *out;
  TRY(segment_allocate(context, grad, 1, num_rows, &out, &scatter.columns, status));
  if (scatter.columns == 0 || num_rows == 0) return true;
  Buffer *scratch = kernel_scratch(context, segments * (int64_t)sizeof(double) + 1, status);
  if (!scratch) return false;
  double *weights = scratch->data;
  memset(weights, 0, (size_t)segments * sizeof *weights);
  for (int64_t i = 0; i < scatter.count; i++) weights[segment_id(scatter.rows, i)]++;
  for (int64_t i = 0; i < segments; i++) {
    if (weights[i] > 0)
      weights[i] = kind == SEGMENT_SUM ? 1 : 1 / (kind == SEGMENT_MEAN ? weights[i] : sqrt(weights[i]));
  }
  scatter.weights = weights;
  scatter.out = out->data;
  segment_scatter(context, &scatter, grad->dtype);
  buffer_unref(scratch);
  return true;
}

static bool sparse_gradient_kernel(KernelContext *context, Status *status) {
  const Tensor *indices = context->inputs[1], *ids = context->inputs[2], *sizes = context->inputs[3];
  if (!tensor_is_scalar(sizes)) return status_invalid(status, "output_dim0 should be a scalar.");
  int64_t rows = tensor_int_at(sizes, 0);
  return check_gradient(context->inputs[0], indices, ids, rows, status) &&
         scatter_gradient(context, ids, segment_ids(indices), rows, status);
}

/* --- with the rows that have a gradient alone --- */

static int compare_numbers(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/* Sorts the numbers and drops repeated ones; returns how many are left. */
static int64_t sort_unique(int64_t *numbers, int64_t count) {
  int64_t kept = 0;
  if (count > 0) qsort(numbers, (size_t)count, sizeof *numbers, compare_numbers);
  for (int64_t i = 0; i < count; i++) {
    if (kept == 0 || numbers[kept - 1] != numbers[i]) numbers[kept++] = numbers[i];
  }
  return kept;
}

/* `memory` has room for twice the number of indices. */
static bool give_rows(KernelContext *context, int64_t *memory, int64_t count, Status *status) {
  const Tensor *indices = context->inputs[1];
  int64_t *unique = memory, *rows = memory + count;
  Tensor *out;
  for (int64_t i = 0; i < count; i++) unique[i] = tensor_int_at(indices, i);
  int64_t kept = sort_unique(unique, count);
  for (int64_t i = 0; i < count; i++) {
    int64_t index = tensor_int_at(indices, i);
    rows[i] = (int64_t *)bsearch(&index, unique, (size_t)kept, sizeof *unique, compare_numbers) - unique;
  }
  TRY(kernel_allocate_output_dims(context, 1, 1, &kept, &out, status));
  for (int64_t i = 0; i < kept; i++) {
    if (out->dtype == DT_INT32) tensor_i32(out)[i] = (int32_t)unique[i];
    else tensor_i64(out)[i] = unique[i];
  }
  return scatter_gradient(context, context->inputs[2], (SegmentIds){rows, DT_INT64}, kept, status);
}

static bool unique_gradient_kernel(KernelContext *context, Status *status) {
  const Tensor *indices = context->inputs[1], *sizes = context->inputs[3];
  if (!tensor_is_scalar(sizes)) return status_invalid(status, "dense_output_dim0 should be a scalar.");
  int64_t rows = tensor_int_at(sizes, 0);
  TRY(check_gradient(context->inputs[0], indices, context->inputs[2], rows, status));
  int64_t count = rows > 0 ? tensor_num_elements(indices) : 0;
  Buffer *scratch = kernel_scratch(context, count * 2 * (int64_t)sizeof(int64_t) + 1, status);
  if (!scratch) return false;
  bool ok = give_rows(context, scratch->data, count, status);
  buffer_unref(scratch);
  return ok;
}

/* --- shapes --- */

static bool merge_indices(InferenceContext *c, ShapeHandle *data, Status *status) {
  ShapeHandle indices, ids;
  TRY(shape_with_rank_at_least(c, shape_input(c, 0), 1, data, status));
  TRY(shape_with_rank(c, shape_input(c, 1), 1, &indices, status));
  TRY(shape_with_rank(c, shape_input(c, 2), 1, &ids, status));
  return shape_merge(c, indices, ids, &ids, status);
}

static bool sparse_shape(InferenceContext *c, Status *status) {
  ShapeHandle data;
  TRY(merge_indices(c, &data, status));
  return segment_set_shape(c, data, 1, NULL, status);
}

/* With the number of rows in input 3, called `name`. */
static bool sized_shape(InferenceContext *c, const char *name, Status *status) {
  ShapeHandle data, size;
  DimHandle rows = NULL;
  TRY(merge_indices(c, &data, status));
  TRY(shape_with_rank(c, shape_input(c, 3), 0, &size, status));
  const Tensor *value = shape_input_tensor(c, 3);
  if (value) {
    int64_t number = tensor_int_at(value, 0);
    if (number < 0) return status_invalid(status, "Cannot specify a negative value for %s", name);
    TRY(dim_ok(dim_make(c, number), &rows, status));
  }
  return segment_set_shape(c, data, 1, rows, status);
}
static bool sparse_sized_shape(InferenceContext *c, Status *status) {
  return sized_shape(c, "num_segments", status);
}
static bool sparse_gradient_shape(InferenceContext *c, Status *status) {
  return sized_shape(c, "output_dim0", status);
}
static bool unique_gradient_shape(InferenceContext *c, Status *status) {
  ShapeHandle data, scalar, indices;
  TRY(merge_indices(c, &data, status));
  TRY(shape_with_rank(c, shape_input(c, 3), 0, &scalar, status));
  TRY(shape_ok(shape_unknown_of_rank(c, 1), &indices, status));
  shape_set_output(c, 1, indices);
  return segment_set_shape(c, data, 1, NULL, status);
}

/* --- ops --- */

static const SegmentKind kSum = SEGMENT_SUM, kMean = SEGMENT_MEAN, kSqrtN = SEGMENT_SQRT_N;

#define SPARSE_ARGS                                                                             \
  .inputs = {"data: T", "indices: Tidx", "segment_ids: Tsegmentids"}, .outputs = {"output: T"}, \
  .shape = sparse_shape
#define SIZED_ARGS                                                                                  \
  .inputs = {"data: T", "indices: Tidx", "segment_ids: Tsegmentids", "num_segments: Tnumsegments"}, \
  .outputs = {"output: T"}, .shape = sparse_sized_shape
#define GRADIENT_ARGS                                                                       \
  .inputs = {"grad: T", "indices: Tidx", "segment_ids: Tsegmentids", "output_dim0: int32"}, \
  .outputs = {"output: T"}, .shape = sparse_gradient_shape
#define FLOATS "T: {bfloat16, half, float, double}"
#define INDICES "Tidx: {int32, int64} = DT_INT32"
#define SEGMENT_IDS "Tsegmentids: {int32, int64} = DT_INT32"
/* The gradient in the form for the sparse gradient ops, where these exist. */
#define SPARSE_GRADIENT "sparse_gradient: bool = false"
#define SIZES "Tnumsegments: {int32, int64} = DT_INT32"

/* Parts of gradient text: the number of rows of x, and the signatures. */
#define ROWS_OF_X                                                   \
  "  shape = Shape[T=$T](x)\n"                                      \
  "  start = Const[dtype=int32, value=[0]]()\n"                     \
  "  one = Const[dtype=int32, value=[1]]()\n"                       \
  "  rows = StridedSlice[T=int32, Index=int32, shrink_axis_mask=1]" \
  "(shape:output:0, start:output:0, one:output:0, one:output:0)\n"
#define ZERO_IDS                   \
  "  di = ZerosLike[T=$Tidx](i)\n" \
  "  ds = ZerosLike[T=$Tsegmentids](s)\n"
#define BEGIN_SPARSE(op)                                                                                   \
  op "Gradient[T:type, Tidx:type, Tsegmentids:type](x:T, i:Tidx, s:Tsegmentids, dy:T) -> (dx:T, di:Tidx, " \
     "ds:Tsegmentids) {\n"
#define END_SPARSE ZERO_IDS "  return dx = dx:output:0, di = di:y:0, ds = ds:y:0\n}\n"
#define BEGIN_SIZED(op)                                                                              \
  op "Gradient[T:type, Tidx:type, Tnumsegments:type, Tsegmentids:type](x:T, i:Tidx, s:Tsegmentids, " \
     "n:Tnumsegments, dy:T) -> "                                                                     \
     "(dx:T, di:Tidx, ds:Tsegmentids, dn:Tnumsegments) {\n"
#define END_SIZED                          \
  ZERO_IDS                                 \
  "  dn = ZerosLike[T=$Tnumsegments](n)\n" \
  "  return dx = dx:output:0, di = di:y:0, ds = ds:y:0, dn = dn:y:0\n}\n"

#define SUM_BACK                                                                              \
  ROWS_OF_X                                                                                   \
  "  dy_rows = Gather[Tparams=$T, Tindices=$Tsegmentids](dy, s)\n"                            \
  "  dx = UnsortedSegmentSum[T=$T, Tindices=$Tidx, Tnumsegments=int32](dy_rows:output:0, i, " \
  "rows:output:0)\n"
#define DIVIDED_BACK(op) \
  ROWS_OF_X "  dx = " op "[T=$T, Tidx=$Tidx, Tsegmentids=$Tsegmentids](dy, i, s, rows:output:0)\n"

const OpRegistration kOpSparseSegmentSum = {
    .name = "SparseSegmentSum",
    SPARSE_ARGS,
    .attrs = {"T: realnumbertype", INDICES, SEGMENT_IDS, SPARSE_GRADIENT},
    .gradient = BEGIN_SPARSE("SparseSegmentSum") SUM_BACK END_SPARSE,
    .kernels = {REAL_KERNELS(sparse_kernel, &kSum)},
};

const OpRegistration kOpSparseSegmentSumWithNumSegments = {
    .name = "SparseSegmentSumWithNumSegments",
    SIZED_ARGS,
    .attrs = {"T: realnumbertype", INDICES, SIZES, SEGMENT_IDS, SPARSE_GRADIENT},
    .gradient = BEGIN_SIZED("SparseSegmentSumWithNumSegments") SUM_BACK END_SIZED,
    .kernels = {REAL_KERNELS(sparse_kernel, &kSum)},
};

const OpRegistration kOpSparseSegmentMean = {
    .name = "SparseSegmentMean",
    SPARSE_ARGS,
    .attrs = {FLOATS, INDICES, SEGMENT_IDS, SPARSE_GRADIENT},
    .gradient = BEGIN_SPARSE("SparseSegmentMean") DIVIDED_BACK("SparseSegmentMeanGrad") END_SPARSE,
    .kernels = {FLOAT_AND_HALF_KERNELS(sparse_kernel, &kMean)},
};

const OpRegistration kOpSparseSegmentMeanWithNumSegments = {
    .name = "SparseSegmentMeanWithNumSegments",
    SIZED_ARGS,
    .attrs = {FLOATS, INDICES, SIZES, SEGMENT_IDS, SPARSE_GRADIENT},
    .gradient =
        BEGIN_SIZED("SparseSegmentMeanWithNumSegments") DIVIDED_BACK("SparseSegmentMeanGrad") END_SIZED,
    .kernels = {FLOAT_AND_HALF_KERNELS(sparse_kernel, &kMean)},
};

const OpRegistration kOpSparseSegmentSqrtN = {
    .name = "SparseSegmentSqrtN",
    SPARSE_ARGS,
    .attrs = {FLOATS, INDICES, SEGMENT_IDS, SPARSE_GRADIENT},
    .gradient = BEGIN_SPARSE("SparseSegmentSqrtN") DIVIDED_BACK("SparseSegmentSqrtNGrad") END_SPARSE,
    .kernels = {FLOAT_AND_HALF_KERNELS(sparse_kernel, &kSqrtN)},
};

const OpRegistration kOpSparseSegmentSqrtNWithNumSegments = {
    .name = "SparseSegmentSqrtNWithNumSegments",
    SIZED_ARGS,
    .attrs = {FLOATS, INDICES, SIZES, SEGMENT_IDS, SPARSE_GRADIENT},
    .gradient =
        BEGIN_SIZED("SparseSegmentSqrtNWithNumSegments") DIVIDED_BACK("SparseSegmentSqrtNGrad") END_SIZED,
    .kernels = {FLOAT_AND_HALF_KERNELS(sparse_kernel, &kSqrtN)},
};

/* They are linear, so their gradient is the op that they are the gradient of. */
#define SPARSE_GRADIENT_BACK(op, forward)                                                                  \
  op "Gradient[T:type, Tidx:type, Tsegmentids:type](x:T, i:Tidx, s:Tsegmentids, n:int32, dy:T) -> (dx:T, " \
     "di:Tidx, ds:Tsegmentids, dn:int32) {\n" ROWS_OF_X "  dx = " forward                                  \
     "[T=$T, Tidx=$Tidx, Tnumsegments=int32, Tsegmentids=$Tsegmentids]"                                    \
     "(dy, i, s, rows:output:0)\n" ZERO_IDS                                                                \
     "  dn = ZerosLike[T=int32](n)\n"                                                                      \
     "  return dx = dx:output:0, di = di:y:0, ds = ds:y:0, dn = dn:y:0\n}\n"

const OpRegistration kOpSparseSegmentSumGrad = {
    .name = "SparseSegmentSumGrad",
    GRADIENT_ARGS,
    .attrs = {FLOATS, INDICES, SEGMENT_IDS},
    .gradient = SPARSE_GRADIENT_BACK("SparseSegmentSumGrad", "SparseSegmentSumWithNumSegments"),
    .kernels = {FLOAT_AND_HALF_KERNELS(sparse_gradient_kernel, &kSum)},
};

const OpRegistration kOpSparseSegmentMeanGrad = {
    .name = "SparseSegmentMeanGrad",
    GRADIENT_ARGS,
    .attrs = {FLOATS, INDICES, SEGMENT_IDS},
    .gradient = SPARSE_GRADIENT_BACK("SparseSegmentMeanGrad", "SparseSegmentMeanWithNumSegments"),
    .kernels = {FLOAT_AND_HALF_KERNELS(sparse_gradient_kernel, &kMean)},
};

const OpRegistration kOpSparseSegmentSqrtNGrad = {
    .name = "SparseSegmentSqrtNGrad",
    GRADIENT_ARGS,
    .attrs = {FLOATS, INDICES, SEGMENT_IDS},
    .gradient = SPARSE_GRADIENT_BACK("SparseSegmentSqrtNGrad", "SparseSegmentSqrtNWithNumSegments"),
    .kernels = {FLOAT_AND_HALF_KERNELS(sparse_gradient_kernel, &kSqrtN)},
};

#define UNIQUE_GRADIENT(k)                                                                          \
  .inputs = {"grad: T", "indices: Tidx", "segment_ids: Tsegmentids", "dense_output_dim0: int32"},   \
  .outputs = {"output: T", "sorted_unique_indices: Tidx"}, .attrs = {FLOATS, INDICES, SEGMENT_IDS}, \
  .shape = unique_gradient_shape, .gradient = NO_GRADIENT,                                          \
  .kernels = {FLOAT_AND_HALF_KERNELS(unique_gradient_kernel, k)}

const OpRegistration kOpSparseSegmentSumGradV2 = {
    .name = "SparseSegmentSumGradV2",
    UNIQUE_GRADIENT(&kSum),
};

const OpRegistration kOpSparseSegmentMeanGradV2 = {
    .name = "SparseSegmentMeanGradV2",
    UNIQUE_GRADIENT(&kMean),
};

const OpRegistration kOpSparseSegmentSqrtNGradV2 = {
    .name = "SparseSegmentSqrtNGradV2",
    UNIQUE_GRADIENT(&kSqrtN),
};
