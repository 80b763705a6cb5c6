/* Sum, Mean, Prod, Max, Min, EuclideanNorm, All and Any over some axes of a tensor. */
#include <math.h>
#include <string.h>

#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/support/conjugate.h"
#include "ops/support/element_types.h"
#include "ops/support/half_precision.h"
#include "ops/support/reduction.h"

typedef struct ReductionState {
  bool keep_dims;
} ReductionState;

static bool reduction_construct(const KernelConstruction *construction, void *memory, Status *status) {
  return node_attr_bool(construction->node, "keep_dims", &((ReductionState *)memory)->keep_dims, status);
}

/* Marks the dimensions of `input` that the axes in `indices` (any shape) select. */
static bool read_axes(const Tensor *input, const Tensor *indices, bool reduced[SHAPE_MAX_RANK],
                      Status *status) {
  int rank = input->shape.rank;
  memset(reduced, 0, sizeof(bool) * SHAPE_MAX_RANK);
  for (int64_t i = 0; i < tensor_num_elements(indices); i++) {
    int64_t given = tensor_int_at(indices, i), axis = given < 0 ? given + rank : given;
    if (axis < 0 || axis >= rank) {
      return status_invalid(status, "Invalid reduction dimension (%lld for input with %d dimension(s)",
                            (long long)given, rank);
    }
    if (reduced[axis]) {
      return status_invalid(status, "Invalid reduction arguments: Axes contains duplicate dimension: %lld",
                            (long long)axis);
    }
    reduced[axis] = true;
  }
  return true;
}

/* Its data is a ReduceKind. */
static bool reduction_kernel(KernelContext *context, Status *status) {
  const Tensor *input = context->inputs[0];
  bool keep_dims = ((const ReductionState *)context->state)->keep_dims, reduced[SHAPE_MAX_RANK],
       changes = false;
  int64_t dims[SHAPE_MAX_RANK];
  int rank = 0;
  TRY(read_axes(input, context->inputs[1], reduced, status));
  for (int i = 0; i < input->shape.rank; i++) {
    int64_t size = shape_dim(&input->shape, i);
    if (!reduced[i]) dims[rank++] = size;
    if (reduced[i] && keep_dims) dims[rank++] = 1;
    changes = changes || (reduced[i] && size != 1);
  }
  if (!changes) {
    /* Without reduction: the same values with another shape. */
    Shape shape = {0};
    bool ok = shape_set(&shape, rank, dims, status) && kernel_set_output(context, 0, input, &shape, status);
    shape_clear(&shape);
    return ok;
  }
  Tensor *out;
  TRY(kernel_allocate_output_dims(context, 0, rank, dims, &out, status));
  return reduction_run(context, *(const ReduceKind *)context->data, input, input->shape.rank,
                       shape_dims(&input->shape), reduced, out, status);
}

static const ReduceKind kSum = REDUCE_SUM, kMean = REDUCE_MEAN, kProd = REDUCE_PROD, kMax = REDUCE_MAX,
                        kMin = REDUCE_MIN;

/* --- EuclideanNorm --- */

/* The type in which squares are summed. */
static DataType square_type(DataType type) {
  if (type == DT_DOUBLE || type == DT_COMPLEX128) return DT_DOUBLE;
  return dtype_is_floating(type) || type == DT_COMPLEX64 ? DT_FLOAT : DT_INT64;
}

static int64_t integer_at(const Tensor *x, int64_t i) {
  if (dtype_size(x->dtype) == 8) return ((const int64_t *)x->data)[i];
  return (int64_t)tensor_double_at(x, i);
}

/* Squares of the absolute values. Those of integers wrap around. */
static void put_squares(const Tensor *x, Tensor *squares) {
  int64_t n = tensor_num_elements(x);
  for (int64_t i = 0; i < n; i++) {
    if (x->dtype == DT_COMPLEX128) {
      const double *z = (const double *)x->data + 2 * i;
      ((double *)squares->data)[i] = z[0] * z[0] + z[1] * z[1];
    } else if (x->dtype == DT_COMPLEX64) {
      const float *z = (const float *)x->data + 2 * i;
      ((float *)squares->data)[i] = z[0] * z[0] + z[1] * z[1];
    } else if (squares->dtype == DT_INT64) {
      uint64_t value = (uint64_t)integer_at(x, i);
      ((int64_t *)squares->data)[i] = (int64_t)(value * value);
    } else if (squares->dtype == DT_FLOAT) {
      float value = (float)tensor_double_at(x, i);
      ((float *)squares->data)[i] = value * value;
    } else {
      double value = ((const double *)x->data)[i];
      ((double *)squares->data)[i] = value * value;
    }
  }
}

/* The root of a sum of squares in an integer type, in which the sum wrapped around. */
static void put_integer_root(int64_t sum, Tensor *out, int64_t i) {
  switch ((int)out->dtype) {
    case DT_INT8: ((int8_t *)out->data)[i] = (int8_t)sqrt((int8_t)sum); break;
    case DT_UINT8: ((uint8_t *)out->data)[i] = (uint8_t)sqrt((uint8_t)sum); break;
    case DT_INT16: ((int16_t *)out->data)[i] = (int16_t)sqrt((int16_t)sum); break;
    case DT_UINT16: ((uint16_t *)out->data)[i] = (uint16_t)sqrt((uint16_t)sum); break;
    case DT_INT32: ((int32_t *)out->data)[i] = (int32_t)sqrt((int32_t)sum); break;
    case DT_UINT32: ((uint32_t *)out->data)[i] = (uint32_t)sqrt((uint32_t)sum); break;
    case DT_UINT64: ((uint64_t *)out->data)[i] = (uint64_t)sqrt((double)(uint64_t)sum); break;
    default: ((int64_t *)out->data)[i] = (int64_t)sqrt((double)sum); break;
  }
}

static void put_roots(Tensor *sums, Tensor *out) {
  int64_t n = tensor_num_elements(out);
  for (int64_t i = 0; i < n; i++) {
    if (sums->dtype == DT_INT64) {
      put_integer_root(tensor_i64(sums)[i], out, i);
    } else if (sums->dtype == DT_DOUBLE) {
      double root = sqrt(((const double *)sums->data)[i]);
      if (out->dtype == DT_DOUBLE) ((double *)out->data)[i] = root;
      else ((double *)out->data)[2 * i] = root, ((double *)out->data)[2 * i + 1] = 0;
    } else {
      float root = tensor_f32(sums)[i] = sqrtf(tensor_f32(sums)[i]);
      if (out->dtype == DT_FLOAT) tensor_f32(out)[i] = root;
      else if (out->dtype == DT_COMPLEX64) tensor_f32(out)[2 * i] = root, tensor_f32(out)[2 * i + 1] = 0;
    }
  }
  if (half_precision(out->dtype)) half_precision_narrow(out->dtype, tensor_f32(sums), out->data, n);
}

/* The root of a sum of squares, which the kernel of Sum computes. */
static bool norm_kernel(KernelContext *context, Status *status) {
  const Tensor *x = context->inputs[0];
  DataType type = square_type(x->dtype);
  Tensor squares = {0}, sums = {0}, *out;
  KernelContext inner = *context;
  inner.inputs = (const Tensor *[]){&squares, context->inputs[1]};
  inner.outputs = &sums;
  inner.output_types = &type;
  inner.last_use = NULL;
  inner.data = &kSum;
  bool ok = tensor_allocate(&squares, type, &x->shape, context->pool, status);
  if (ok) put_squares(x, &squares);
  ok =
      ok && reduction_kernel(&inner, status) && kernel_allocate_output(context, 0, &sums.shape, &out, status);
  if (ok) put_roots(&sums, out);
  tensor_clear(&squares);
  tensor_clear(&sums);
  return ok;
}

/* --- gradients --- */

static bool begin_gradient(const NodeDef *node, const char *name, bool *keep_dims, StrBuf *text,
                           Status *status) {
  strbuf_printf(text, "%sGradient[T:type, Tidx:type](x:T, i:Tidx, dy:T) -> (dx:T, di:Tidx) {\n", name);
  strbuf_append(text, "  di = ZerosLike[T=$Tidx](i)\n");
  return node_attr_bool(node, "keep_dims", keep_dims, status);
}

/* Computes `shape`, the shape of x, and `kept`, the same with 1 along the reduced dimensions, unless the
 * result has that shape already. Negative axes become positive by the remainder. */
static bool write_shapes(const NodeDef *node, bool keep_dims, StrBuf *text, Status *status) {
  DataType type;
  TRY(node_attr_type(node, "Tidx", &type, status));
  strbuf_append(text, "  shape = Shape[T=$T](x)\n");
  if (keep_dims) return true;
  if (type != DT_INT32) strbuf_append(text, "  axes = Cast[SrcT=$Tidx, DstT=int32](i)\n");
  strbuf_printf(text,
                "  rank = Rank[T=$T](x)\n"
                "  first = Const[dtype=int32, value=0]()\n"
                "  step = Const[dtype=int32, value=1]()\n"
                "  places = Range[Tidx=int32](first:output:0, rank:output:0, step:output:0)\n"
                "  reduced = FloorMod[T=int32](%s, rank:output:0)\n"
                "  single = OnesLike[T=int32](reduced:z:0)\n"
                "  kept = DynamicStitch[N=2, T=int32](places:output:0, reduced:z:0, shape:output:0, "
                "single:y:0)\n",
                type == DT_INT32 ? "i" : "axes:y:0");
  return true;
}

/* A value of the result's shape reshaped to `kept`: returns its name. */
static const char *under_kept_shape(bool keep_dims, const char *name, const char *value, const char *reshaped,
                                    StrBuf *text) {
  if (keep_dims) return value;
  strbuf_printf(text, "  %s = Reshape[T=$T](%s, kept:merged:0)\n", name, value);
  return reshaped;
}

static bool end_gradient(const char *dx, StrBuf *text, Status *status) {
  strbuf_printf(text, "  return dx = %s, di = di:y:0\n}\n", dx);
  return strbuf_ok(text, status);
}

/* dy, broadcast. */
static bool sum_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  bool keep_dims;
  TRY(begin_gradient(request->node, "Sum", &keep_dims, text, status));
  TRY(write_shapes(request->node, keep_dims, text, status));
  const char *dy = under_kept_shape(keep_dims, "dy_kept", "dy", "dy_kept:output:0", text);
  strbuf_printf(text, "  dx = BroadcastTo[T=$T](%s, shape:output:0)\n", dy);
  return end_gradient("dx:output:0", text, status);
}

/* dy over the number of elements of x per element of y, broadcast. */
static bool mean_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  bool keep_dims;
  TRY(begin_gradient(request->node, "Mean", &keep_dims, text, status));
  TRY(write_shapes(request->node, keep_dims, text, status));
  strbuf_append(text,
                "  size_x = Size[T=$T](x)\n"
                "  size_y = Size[T=$T](dy)\n"
                "  one = Const[dtype=int32, value=1]()\n"
                "  at_least_one = Maximum[T=int32](size_y:output:0, one:output:0)\n"
                "  ratio = FloorDiv[T=int32](size_x:output:0, at_least_one:z:0)\n"
                "  divisor = Maximum[T=int32](ratio:z:0, one:output:0)\n" /* without elements: avoids 0 / 0 in
                                                                           * the next derivative */
                "  count = Cast[SrcT=int32, DstT=$T](divisor:z:0)\n"
                "  share = RealDiv[T=$T](dy, count:y:0)\n");
  const char *share = under_kept_shape(keep_dims, "share_kept", "share:z:0", "share_kept:output:0", text);
  strbuf_printf(text, "  dx = BroadcastTo[T=$T](%s, shape:output:0)\n", share);
  return end_gradient("dx:output:0", text, status);
}

/* dy where x is the extreme; several extremes share it equally. The quotient is taken of the weights: without
 * elements there are no weights, while dy over a count of 0 would give NaN in the next derivative. */
static bool extreme_gradient(const NodeDef *node, const char *op, StrBuf *text, Status *status) {
  bool keep_dims;
  TRY(begin_gradient(node, op, &keep_dims, text, status));
  if (!keep_dims) TRY(write_shapes(node, keep_dims, text, status));
  strbuf_printf(text, "  y = %s[T=$T, Tidx=$Tidx, keep_dims=%s](x, i)\n", op, keep_dims ? "true" : "false");
  const char *y = under_kept_shape(keep_dims, "y_kept", "y:output:0", "y_kept:output:0", text);
  const char *dy = under_kept_shape(keep_dims, "dy_kept", "dy", "dy_kept:output:0", text);
  strbuf_printf(text,
                "  extreme = Equal[T=$T](x, %s)\n"
                "  winners = Cast[SrcT=bool, DstT=$T](extreme:z:0)\n"
                "  count = Sum[T=$T, Tidx=$Tidx, keep_dims=true](winners:y:0, i)\n"
                "  weights = RealDiv[T=$T](winners:y:0, count:output:0)\n"
                "  dx = Mul[T=$T](weights:z:0, %s)\n",
                y, dy);
  return end_gradient("dx:z:0", text, status);
}
/* dy x / |x|; for complex numbers, too. */
static bool norm_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  bool keep_dims;
  TRY(begin_gradient(request->node, "EuclideanNorm", &keep_dims, text, status));
  strbuf_append(text, "  y = EuclideanNorm[T=$T, Tidx=$Tidx, keep_dims=true](x, i)\n");
  if (!keep_dims)
    strbuf_append(text,
                  "  kept = Shape[T=$T](y:output:0)\n"
                  "  dy_kept = Reshape[T=$T](dy, kept:output:0)\n");
  strbuf_printf(text,
                "  slope = RealDiv[T=$T](%s, y:output:0)\n"
                "  dx = Mul[T=$T](x, slope:z:0)\n",
                keep_dims ? "dy" : "dy_kept:output:0");
  return end_gradient("dx:z:0", text, status);
}
static bool max_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  return extreme_gradient(request->node, "Max", text, status);
}
static bool min_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  return extreme_gradient(request->node, "Min", text, status);
}

/* dy times the product of the other elements, without a division by zero. If no other element is zero, that
 * is the product of all nonzero elements over this one. If another one is zero, it is that product times the
 * other, which is written as the sum of all zero elements except this one: its value is zero, but its
 * derivative is not. */
static bool prod_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  StrBuf marked = {0};
  bool keep_dims, ok = false;
  TRY_DONE(begin_gradient(request->node, "Prod", &keep_dims, &marked, status));
  strbuf_append(&marked,
                "  none = ZerosLike[T=$T](x)\n"
                "  ones = OnesLike[T=$T](x)\n"
                "  is_zero = Equal[T=$T](x, none:y:0)\n"
                "  factors = Select[T=$T](is_zero:z:0, ones:y:0, ~x)\n"
                "  product = Prod[T=$T, Tidx=$Tidx, keep_dims=true](factors:output:0, i)\n"
                "  quotient = RealDiv[T=$T](product:output:0, factors:output:0)\n"
                "  is_one = Cast[SrcT=bool, DstT=$T](is_zero:z:0)\n"
                "  count = Sum[T=$T, Tidx=$Tidx, keep_dims=true](is_one:y:0, i)\n"
                "  other_count = Sub[T=$T](count:output:0, is_one:y:0)\n"
                "  value = Select[T=$T](is_zero:z:0, ~x, none:y:0)\n"
                "  values = Sum[T=$T, Tidx=$Tidx, keep_dims=true](value:output:0, i)\n"
                "  other_value = Sub[T=$T](values:output:0, value:output:0)\n"
                "  small = Mul[T=$T](quotient:z:0, other_value:z:0)\n"
                "  no_other = Equal[T=$T](other_count:z:0, none:y:0)\n"
                "  one_other = Equal[T=$T](other_count:z:0, ones:y:0)\n"
                "  with_zero = Select[T=$T](one_other:z:0, small:z:0, none:y:0)\n"
                "  others = Select[T=$T](no_other:z:0, quotient:z:0, with_zero:output:0)\n");
  if (!keep_dims)
    strbuf_append(&marked,
                  "  kept = Shape[T=$T](product:output:0)\n  dy_kept = Reshape[T=$T](dy, kept:output:0)\n");
  const char *dy = keep_dims ? "dy" : "dy_kept:output:0";
  strbuf_printf(&marked, "  dx = Mul[T=$T](%s, others:output:0)\n", dy);
  TRY_DONE(end_gradient("dx:z:0", &marked, status));
  ok = conjugate_text(request, marked.data, text, status);
done:
  strbuf_free(&marked);
  return ok;
}

#define REDUCTION(gradient, types)                                                           \
  .inputs = {"input: T", "reduction_indices: Tidx"}, .outputs = {"output: T"},               \
  .attrs = {"keep_dims: bool = false", "T: {" types "}", "Tidx: {int32, int64} = DT_INT32"}, \
  .shape = shape_reduction, .gradient_fn = gradient, .state_size = sizeof(ReductionState),   \
  .construct = reduction_construct

/* TensorFlow 1.x allowed complex numbers in the op, but had no kernel for them. */
#define ORDERED_TYPES                                                                                        \
  "float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64, qint8, quint8, " \
  "qint32, "                                                                                                 \
  "qint16, quint16, complex64, complex128"

const OpRegistration kOpSum = {
    .name = "Sum",
    REDUCTION(sum_gradient, NUMBER_TYPES),
    .kernels = {NUMBER_KERNELS(reduction_kernel, &kSum)},
};
const OpRegistration kOpMean = {
    .name = "Mean",
    REDUCTION(mean_gradient, NUMBER_TYPES),
    .kernels = {NUMBER_KERNELS(reduction_kernel, &kMean)},
};
const OpRegistration kOpProd = {
    .name = "Prod",
    REDUCTION(prod_gradient, NUMBER_TYPES),
    .kernels = {NUMBER_KERNELS(reduction_kernel, &kProd)},
};
const OpRegistration kOpEuclideanNorm = {
    .name = "EuclideanNorm",
    REDUCTION(norm_gradient, NUMBER_TYPES),
    .kernels = {NUMBER_KERNELS(norm_kernel)},
};
const OpRegistration kOpMax = {
    .name = "Max",
    REDUCTION(max_gradient, ORDERED_TYPES),
    .kernels = {REAL_KERNELS(reduction_kernel, &kMax)},
};
const OpRegistration kOpMin = {
    .name = "Min",
    REDUCTION(min_gradient, ORDERED_TYPES),
    .kernels = {REAL_KERNELS(reduction_kernel, &kMin)},
};

/* All and Any are the minimum and the maximum of bools. */
#define LOGICAL_REDUCTION(kind)                                                                      \
  .inputs = {"input: bool", "reduction_indices: Tidx"}, .outputs = {"output: bool"},                 \
  .attrs = {"keep_dims: bool = false", "Tidx: {int32, int64} = DT_INT32"}, .shape = shape_reduction, \
  .gradient = NO_GRADIENT, .state_size = sizeof(ReductionState), .construct = reduction_construct,   \
  .kernels = {{DT_INVALID, reduction_kernel, kind}}
const OpRegistration kOpAll = {
    .name = "All",
    LOGICAL_REDUCTION(&kMin),
};
const OpRegistration kOpAny = {
    .name = "Any",
    LOGICAL_REDUCTION(&kMax),
};
