/* SegmentSum, SegmentMean, SegmentProd, SegmentMin and SegmentMax: combine the rows with equal ids, which
 * must be sorted. */
#include "op/op_registry.h"
#include "ops/support/conjugate.h"
#include "ops/support/element_types.h"
#include "ops/math/segment_rows.h"

/* Its data is a SegmentKind. */
static bool segment_kernel(KernelContext *context, Status *status) {
  SegmentKind kind = *(const SegmentKind *)context->data;
  const Tensor *data = context->inputs[0], *ids = context->inputs[1];
  if (data->shape.rank < 1) return status_invalid(status, "input must be at least rank 1");
  if (!tensor_is_vector(ids)) return status_invalid(status, "segment_ids should be a vector.");
  int64_t count = tensor_num_elements(ids);
  if (count != shape_dim(&data->shape, 0)) {
    return status_invalid(status, "segment_ids should be the same size as dimension 0 of input.");
  }
  SegmentRuns runs = {.kind = kind, .data = data->data, .count = count, .ids = segment_ids(ids)};
  if (count > 0) {
    int64_t last = segment_id(runs.ids, count - 1);
    if (last < -1 || last == INT64_MAX) return status_invalid(status, "segment ids must be >= 0");
    runs.num_segments = last + 1;
  }
  TRY(segment_check_sorted(runs.ids, count, runs.num_segments, status));
  Tensor *out;
  TRY(segment_allocate(context, data, 1, runs.num_segments, &out, &runs.columns, status));
  runs.out = out->data;
  return segment_combine_sorted(context, &runs, data->dtype, status);
}

static const SegmentKind kSum = SEGMENT_SUM, kMean = SEGMENT_MEAN, kProd = SEGMENT_PROD, kMin = SEGMENT_MIN,
                         kMax = SEGMENT_MAX;

static bool segment_shape(InferenceContext *c, Status *status) {
  ShapeHandle data, ids;
  TRY(shape_with_rank_at_least(c, shape_input(c, 0), 1, &data, status));
  TRY(shape_with_rank(c, shape_input(c, 1), 1, &ids, status));
  return segment_set_shape(c, data, 1, NULL, status);
}

#define SEGMENT_ARGS \
  .inputs = {"data: T", "segment_ids: Tindices"}, .outputs = {"output: T"}, .shape = segment_shape

const OpRegistration kOpSegmentSum = {
    .name = "SegmentSum",
    SEGMENT_ARGS,
    .attrs = {"T: {" NUMBER_TYPES "}", "Tindices: {int32, int64}"},
    .gradient =
        "SegmentSumGradient[T:type, Tindices:type](x:T, ids:Tindices, dy:T) -> (dx:T, dids:Tindices) {\n"
        "  dx = Gather[Tparams=$T, Tindices=$Tindices](dy, ids)\n"
        "  dids = ZerosLike[T=$Tindices](ids)\n"
        "  return dx = dx:output:0, dids = dids:y:0\n"
        "}\n",
    .kernels = {NUMBER_KERNELS(segment_kernel, &kSum)},
};

/* Divides by the number of rows, which is zero for segments without rows. */
const OpRegistration kOpSegmentMean = {
    .name = "SegmentMean",
    SEGMENT_ARGS,
    .attrs = {"T: {" NUMBER_TYPES "}", "Tindices: {int32, int64}"},
    .gradient =
        "SegmentMeanGradient[T:type, Tindices:type](x:T, ids:Tindices, dy:T) -> (dx:T, dids:Tindices) {\n"
        "  ones = OnesLike[T=$T](x)\n"
        "  counts = SegmentSum[T=$T, Tindices=$Tindices](ones:y:0, ids)\n"
        "  counts_rows = Gather[Tparams=$T, Tindices=$Tindices](counts:output:0, ids)\n"
        "  rows = Gather[Tparams=$T, Tindices=$Tindices](dy, ids)\n"
        "  dx = RealDiv[T=$T](rows:output:0, counts_rows:output:0)\n"
        "  dids = ZerosLike[T=$Tindices](ids)\n"
        "  return dx = dx:z:0, dids = dids:y:0\n"
        "}\n",
    .kernels = {NUMBER_KERNELS(segment_kernel, &kMean)},
};

/* dy times the product of the other rows, without a division by zero. If no other row of the segment is zero,
 * that is the product of all nonzero rows over this one. If another one is zero, it is that product times the
 * other, which is written as the sum of all zeros except this one: its value is zero, but its derivative is
 * not. */
CONJUGATE_GRADIENT(
    segment_prod_gradient,
    "SegmentProdGradient[T:type, Tindices:type](x:T, ids:Tindices, dy:T) -> (dx:T, dids:Tindices) {\n"
    "  none = ZerosLike[T=$T](~x)\n"
    "  ones = OnesLike[T=$T](~x)\n"
    "  is_zero = Equal[T=$T](~x, none:y:0)\n"
    "  factors = Select[T=$T](is_zero:z:0, ones:y:0, ~x)\n"
    "  product = SegmentProd[T=$T, Tindices=$Tindices](factors:output:0, ids)\n"
    "  product_rows = Gather[Tparams=$T, Tindices=$Tindices](product:output:0, ids)\n"
    "  quotient = RealDiv[T=$T](product_rows:output:0, factors:output:0)\n"
    "  zero = Cast[SrcT=bool, DstT=$T](is_zero:z:0)\n"
    "  count = SegmentSum[T=$T, Tindices=$Tindices](zero:y:0, ids)\n"
    "  count_rows = Gather[Tparams=$T, Tindices=$Tindices](count:output:0, ids)\n"
    "  other_count = Sub[T=$T](count_rows:output:0, zero:y:0)\n"
    "  value = Select[T=$T](is_zero:z:0, ~x, none:y:0)\n"
    "  values = SegmentSum[T=$T, Tindices=$Tindices](value:output:0, ids)\n"
    "  values_rows = Gather[Tparams=$T, Tindices=$Tindices](values:output:0, ids)\n"
    "  other_value = Sub[T=$T](values_rows:output:0, value:output:0)\n"
    "  small = Mul[T=$T](quotient:z:0, other_value:z:0)\n"
    "  no_other = Equal[T=$T](other_count:z:0, none:y:0)\n"
    "  one_other = Equal[T=$T](other_count:z:0, ones:y:0)\n"
    "  with_zero = Select[T=$T](one_other:z:0, small:z:0, none:y:0)\n"
    "  others = Select[T=$T](no_other:z:0, quotient:z:0, with_zero:output:0)\n"
    "  rows = Gather[Tparams=$T, Tindices=$Tindices](dy, ids)\n"
    "  dx = Mul[T=$T](rows:output:0, others:output:0)\n"
    "  dids = ZerosLike[T=$Tindices](ids)\n"
    "  return dx = dx:z:0, dids = dids:y:0\n"
    "}\n")

const OpRegistration kOpSegmentProd = {
    .name = "SegmentProd",
    SEGMENT_ARGS,
    .attrs = {"T: {" NUMBER_TYPES "}", "Tindices: {int32, int64}"},
    .gradient_fn = segment_prod_gradient,
    .kernels = {NUMBER_KERNELS(segment_kernel, &kProd)},
};

/* Several extremes of a segment share its dy equally. */
#define EXTREME_GRADIENT(op)                                                                 \
  op "Gradient[T:type, Tindices:type](x:T, ids:Tindices, dy:T) -> (dx:T, dids:Tindices) {\n" \
     "  y = " op                                                                             \
     "[T=$T, Tindices=$Tindices](x, ids)\n"                                                  \
     "  y_rows = Gather[Tparams=$T, Tindices=$Tindices](y:output:0, ids)\n"                  \
     "  wins = Equal[T=$T](x, y_rows:output:0)\n"                                            \
     "  winner = Cast[SrcT=bool, DstT=$T](wins:z:0)\n"                                       \
     "  count = SegmentSum[T=$T, Tindices=$Tindices](winner:y:0, ids)\n"                     \
     "  count_rows = Gather[Tparams=$T, Tindices=$Tindices](count:output:0, ids)\n"          \
     "  rows = Gather[Tparams=$T, Tindices=$Tindices](dy, ids)\n"                            \
     "  share = RealDiv[T=$T](rows:output:0, count_rows:output:0)\n"                         \
     "  none = ZerosLike[T=$T](x)\n"                                                         \
     "  dx = Select[T=$T](wins:z:0, share:z:0, none:y:0)\n"                                  \
     "  dids = ZerosLike[T=$Tindices](ids)\n"                                                \
     "  return dx = dx:output:0, dids = dids:y:0\n"                                          \
     "}\n"

const OpRegistration kOpSegmentMin = {
    .name = "SegmentMin",
    SEGMENT_ARGS,
    .attrs = {"T: realnumbertype", "Tindices: {int32, int64}"},
    .gradient = EXTREME_GRADIENT("SegmentMin"),
    .kernels = {REAL_KERNELS(segment_kernel, &kMin)},
};

const OpRegistration kOpSegmentMax = {
    .name = "SegmentMax",
    SEGMENT_ARGS,
    .attrs = {"T: realnumbertype", "Tindices: {int32, int64}"},
    .gradient = EXTREME_GRADIENT("SegmentMax"),
    .kernels = {REAL_KERNELS(segment_kernel, &kMax)},
};
