/* TopK and TopKV2: the largest elements of every row along the last dimension. InTopK and InTopKV2: whether a
 * class is among the k highest predictions. */
#include <math.h>

#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/support/element_types.h"
#include "ops/support/typed_loops.h"

typedef struct TopJob TopJob;
typedef void TopLoop(const TopJob *job, int64_t begin, int64_t end);
struct TopJob {
  const void *input;
  void *values;
  int32_t *indices;
  int64_t columns, k;
  TopLoop *top;
};

#define TEMPLATE "ops/nn/top_k_rows.inc"
#define TYPES (TYPES_FLOAT | TYPES_HALF | TYPES_INT | TYPES_SMALL | TYPES_UNSIGNED)
#include "simd/each_type.inc"

static void run_top(void *arg, int64_t begin, int64_t end) {
  const TopJob *job = arg;
  job->top(job, begin, end);
}

static const KernelEntry kTypedTops[] = {TYPED_REAL_KERNELS(NULL, top_rows)};

typedef struct TopKState {
  int64_t k; /* of TopK */
} TopKState;

static bool top_k_construct(const KernelConstruction *construction, void *memory, Status *status) {
  return node_attr_int(construction->node, "k", &((TopKState *)memory)->k, status);
}

/* Results are always sorted; without `sorted` any order would be valid. */
static bool top_k_run(KernelContext *context, int64_t k, Status *status) {
  const Tensor *input = context->inputs[0];
  char text[SHAPE_TEXT_CAPACITY];
  int rank = input->shape.rank;
  if (k < 0) return status_invalid(status, "Need k >= 0, got %lld", (long long)k);
  if (rank < 1)
    return status_invalid(status, "input must be >= 1-D, got shape %s", shape_text(&input->shape, text));
  int64_t columns = shape_dim(&input->shape, rank - 1), dims[SHAPE_MAX_RANK];
  if (columns < k) {
    return status_invalid(status, "input must have at least k columns. Had %lld, needed %lld",
                          (long long)columns, (long long)k);
  }
  DataType index_type = context->output_types[1];
  int64_t most = index_type == DT_INT16 ? INT16_MAX : INT32_MAX; /* positions are 32-bit */
  if (columns > most) {
    return status_invalid(status, "Second dimension of flattened input must be <= %lld, got %lld",
                          (long long)most, (long long)columns);
  }
  for (int i = 0; i < rank - 1; i++) dims[i] = shape_dim(&input->shape, i);
  dims[rank - 1] = k;
  Tensor *values, *indices;
  TRY(kernel_allocate_output_dims(context, 0, rank, dims, &values, status));
  TRY(kernel_allocate_output_dims(context, 1, rank, dims, &indices, status));
  if (tensor_num_elements(values) == 0) return true;
  Buffer *narrow = NULL; /* positions to be converted */
  int64_t count = tensor_num_elements(values);
  if (index_type != DT_INT32 && !(narrow = kernel_scratch(context, count * (int64_t)sizeof(int32_t), status)))
    return false;
  TopJob job = {.input = input->data,
                .values = values->data,
                .indices = narrow ? narrow->data : tensor_i32(indices),
                .columns = columns,
                .k = k};
  job.top = (TopLoop *)TYPED_LOOPS(kTypedTops, input->dtype);
  double work = (double)columns * (1 + 4 * log2((double)k)); /* of a row: its heap */
  parallel_work(context->parallel, count / k, work, run_top, &job);
  for (int64_t i = 0; narrow && i < count; i++) {
    if (index_type == DT_INT64) tensor_i64(indices)[i] = job.indices[i];
    else ((int16_t *)indices->data)[i] = (int16_t)job.indices[i];
  }
  buffer_unref(narrow);
  return true;
}

static bool top_k(KernelContext *context, Status *status) {
  return top_k_run(context, ((const TopKState *)context->state)->k, status);
}

static bool top_k_v2(KernelContext *context, Status *status) {
  const Tensor *k = context->inputs[1];
  char text[SHAPE_TEXT_CAPACITY];
  if (!tensor_is_scalar(k))
    return status_invalid(status, "k must be scalar, got shape %s", shape_text(&k->shape, text));
  return top_k_run(context, tensor_int_at(k, 0), status);
}

static bool top_shape(InferenceContext *c, DimHandle k, Status *status) {
  ShapeHandle input, rows, out;
  TRY(shape_with_rank_at_least(c, shape_input(c, 0), 1, &input, status));
  if (!shape_rank_known(input)) return shape_unknown_outputs(c, status);
  DimHandle last = shape_dim_of(c, input, -1);
  if (dim_known(last) && dim_known(k) && dim_value(last) < dim_value(k)) {
    return status_invalid(status, "input must have last dimension >= k = %lld but is %lld",
                          (long long)dim_value(k), (long long)dim_value(last));
  }
  TRY(shape_subshape(c, input, 0, -1, 1, &rows, status));
  TRY(shape_concatenate(c, rows, shape_vector(c, k), &out, status));
  shape_set_output(c, 0, out);
  shape_set_output(c, 1, out);
  return true;
}
static bool top_k_shape(InferenceContext *c, Status *status) {
  int64_t k;
  DimHandle size;
  TRY(node_attr_int(c->node, "k", &k, status));
  if (k < 0) return status_invalid(status, "Need k >= 0, got %lld", (long long)k);
  TRY(dim_ok(dim_make(c, k), &size, status));
  return top_shape(c, size, status);
}
static bool top_k_v2_shape(InferenceContext *c, Status *status) {
  DimHandle size;
  TRY(dim_for_scalar_input(c, 1, &size, status));
  return top_shape(c, size, status);
}

/* Scatters dvalues to the positions of the values, numbered through all rows. */
#define SCATTER_VALUES                                                                 \
  "  shape = Shape[T=$T](x)\n"                                                         \
  "  size = Size[T=$T](x)\n"                                                           \
  "  zero = Const[dtype=int32, value=0]()\n"                                           \
  "  one = Const[dtype=int32, value=1]()\n"                                            \
  "  none = Const[dtype=int32, value=[0]]()\n"                                         \
  "  single = Const[dtype=int32, value=[1]]()\n"                                       \
  "  last = Const[dtype=int32, value=[-1]]()\n"                                        \
  "  columns = StridedSlice[T=int32, Index=int32, shrink_axis_mask=1]"                 \
  "(shape:output:0, last:output:0, none:output:0, single:output:0)\n"                  \
  "  rows = StridedSlice[T=int32, Index=int32]"                                        \
  "(shape:output:0, none:output:0, last:output:0, single:output:0)\n"                  \
  "  row_count = Prod[T=int32](rows:output:0, zero:output:0)\n"                        \
  "  numbers = Range[Tidx=int32](zero:output:0, row_count:output:0, one:output:0)\n"   \
  "  starts = Mul[T=int32](numbers:output:0, columns:output:0)\n"                      \
  "  column = ConcatV2[N=2, T=int32](rows:output:0, single:output:0, zero:output:0)\n" \
  "  starts_column = Reshape[T=int32](starts:z:0, column:output:0)\n"                  \
  "  places = AddV2[T=int32](top:indices:0, starts_column:output:0)\n"                 \
  "  behind = Const[dtype=int32, value=-1]()\n"                                        \
  "  place = ExpandDims[T=int32](places:z:0, behind:output:0)\n"                       \
  "  all = Reshape[T=int32](size:output:0, single:output:0)\n"                         \
  "  flat = ScatterNd[T=$T, Tindices=int32](place:output:0, dvalues, all:output:0)\n"  \
  "  dx = Reshape[T=$T](flat:output:0, shape:output:0)\n"

static bool top_k_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  int64_t k;
  TRY(node_attr_int(request->node, "k", &k, status));
  strbuf_append(text, "TopKGradient[T:type](x:T, dvalues:T, dindices:int32) -> (dx:T) {\n");
  strbuf_printf(text, "  k = Const[dtype=int32, value=%lld]()\n", (long long)k);
  strbuf_append(text,
                "  top = TopKV2[T=$T](x, k:output:0)\n" SCATTER_VALUES "  return dx = dx:output:0\n}\n");
  return strbuf_ok(text, status);
}

#define TOP_TYPES "sorted: bool = true", "T: realnumbertype"

const OpRegistration kOpTopK = {
    .name = "TopK",
    .inputs = {"input: T"},
    .outputs = {"values: T", "indices: int32"},
    .attrs = {"k: int >= 0", TOP_TYPES},
    .deprecated_version = 7,
    .deprecation_explanation = "Use TopKV2 instead",
    .shape = top_k_shape,
    .gradient_fn = top_k_gradient,
    .state_size = sizeof(TopKState),
    .construct = top_k_construct,
    .kernels = {REAL_KERNELS(top_k)},
};

const OpRegistration kOpTopKV2 = {
    .name = "TopKV2",
    .inputs = {"input: T", "k: Tk"},
    .outputs = {"values: T", "indices: index_type"},
    .attrs = {TOP_TYPES, "Tk: {int16, int32, int64} = DT_INT32",
              "index_type: {int16, int32, int64} = DT_INT32"},
    .shape = top_k_v2_shape,
    .gradient =
        "TopKV2Gradient[T:type, Tk:type, index_type:type](x:T, k:Tk, dvalues:T, dindices:index_type) -> "
        "(dx:T, dk:Tk) {\n"
        "  top = TopKV2[T=$T, Tk=$Tk, index_type=int32](x, k)\n" SCATTER_VALUES
        "  dk = ZerosLike[T=$Tk](k)\n"
        "  return dx = dx:output:0, dk = dk:y:0\n"
        "}\n",
    .kernels = {REAL_KERNELS(top_k_v2)},
};

/* --- InTopK --- */

/* Whether fewer than k classes are above the target. False if the target is out of range, or if a prediction
 * that was compared is not finite. */
static bool is_in_top(const float *row, int64_t classes, int64_t target, int64_t k) {
  if (target < 0 || target >= classes || !isfinite(row[target])) return false;
  int64_t above = 0;
  for (int64_t i = 0; i < classes && above < k; i++) {
    if (!isfinite(row[i])) return false;
    above += row[i] > row[target];
  }
  return above < k;
}

static bool in_top_run(KernelContext *context, int64_t k, Status *status) {
  const Tensor *predictions = context->inputs[0], *targets = context->inputs[1];
  if (predictions->shape.rank != 2) return status_invalid(status, "predictions must be 2-dimensional");
  if (!tensor_is_vector(targets)) return status_invalid(status, "targets must be 1-dimensional");
  int64_t rows = shape_dim(&predictions->shape, 0), classes = shape_dim(&predictions->shape, 1);
  if (rows != tensor_num_elements(targets)) {
    return status_invalid(status, "First dimension of predictions %lld must match length of targets %lld",
                          (long long)rows, (long long)tensor_num_elements(targets));
  }
  Tensor *out;
  TRY(kernel_allocate_output(context, 0, &targets->shape, &out, status));
  for (int64_t i = 0; i < rows; i++) {
    tensor_bool(out)[i] =
        is_in_top(tensor_f32(predictions) + i * classes, classes, tensor_int_at(targets, i), k);
  }
  return true;
}

static bool in_top_k(KernelContext *context, Status *status) {
  return in_top_run(context, ((const TopKState *)context->state)->k, status);
}

static bool in_top_k_v2(KernelContext *context, Status *status) {
  const Tensor *k = context->inputs[2];
  char text[SHAPE_TEXT_CAPACITY];
  if (!tensor_is_scalar(k))
    return status_invalid(status, "k must be 0-D, got shape %s", shape_text(&k->shape, text));
  return in_top_run(context, tensor_int_at(k, 0), status);
}

static bool in_top_k_shape(InferenceContext *c, Status *status) {
  ShapeHandle predictions, targets, precision;
  DimHandle rows;
  TRY(shape_with_rank(c, shape_input(c, 0), 2, &predictions, status));
  TRY(shape_with_rank(c, shape_input(c, 1), 1, &targets, status));
  TRY(dim_merge(c, shape_dim_of(c, predictions, 0), shape_dim_of(c, targets, 0), &rows, status));
  TRY(shape_ok(shape_vector(c, rows), &precision, status));
  shape_set_output(c, 0, precision);
  return true;
}

const OpRegistration kOpInTopK = {
    .name = "InTopK",
    .inputs = {"predictions: float", "targets: T"},
    .outputs = {"precision: bool"},
    .attrs = {"k: int", "T: {int32, int64} = DT_INT32"},
    .shape = in_top_k_shape,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(TopKState),
    .construct = top_k_construct,
    .kernels = {{DT_INVALID, in_top_k}},
};

const OpRegistration kOpInTopKV2 = {
    .name = "InTopKV2",
    .inputs = {"predictions: float", "targets: T", "k: T"},
    .outputs = {"precision: bool"},
    .attrs = {"T: {int32, int64} = DT_INT32"},
    .shape = in_top_k_shape,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, in_top_k_v2}},
};
