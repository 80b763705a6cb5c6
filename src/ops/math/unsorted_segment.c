/* UnsortedSegmentSum, UnsortedSegmentProd, UnsortedSegmentMin and UnsortedSegmentMax: combine the rows with
 * equal ids, in any order; rows with negative ids are dropped. */
#include "op/op_registry.h"
#include "ops/support/array_box.h"
#include "ops/support/conjugate.h"
#include "ops/support/element_types.h"
#include "ops/support/index_text.h"
#include "ops/math/segment_rows.h"

/* "segment_ids[0,1] = 4 is out of range [0, 4)"; a scalar has no position. */
static bool out_of_range(const Tensor *ids, int64_t i, int64_t id, int64_t num_segments, Status *status) {
  StrBuf text = {0};
  array_print_position(&ids->shape, ids->shape.rank, i, &text);
  if (strbuf_ok(&text, status)) {
    status_invalid(status, "segment_ids%s = %lld is out of range [0, %lld)", strbuf_text(&text),
                   (long long)id, (long long)num_segments);
  }
  strbuf_free(&text);
  return false;
}

/* Its data is a SegmentKind. */
static bool unsorted_kernel(KernelContext *context, Status *status) {
  SegmentKind kind = *(const SegmentKind *)context->data;
  const Tensor *data = context->inputs[0], *ids = context->inputs[1], *sizes = context->inputs[2];
  char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY];
  if (!tensor_is_scalar(sizes)) {
    return status_invalid(status, "num_segments should be a scalar, not shape %s",
                          shape_text(&sizes->shape, a));
  }
  bool fits = data->shape.rank >= ids->shape.rank;
  for (int i = 0; fits && i < ids->shape.rank; i++)
    fits = shape_dim(&data->shape, i) == shape_dim(&ids->shape, i);
  if (!fits) {
    return status_invalid(status, "data.shape = %s does not start with segment_ids.shape = %s",
                          shape_text(&data->shape, a), shape_text(&ids->shape, b));
  }
  SegmentScatter scatter = {.kind = kind,
                            .data = data->data,
                            .count = tensor_num_elements(ids),
                            .ids = segment_ids(ids)};
  scatter.num_segments = tensor_int_at(sizes, 0);
  if (scatter.num_segments < 0) {
    return status_invalid(status, "Input num_segments == %lld must not be negative.",
                          (long long)scatter.num_segments);
  }
  int64_t checked =
      tensor_num_elements(data) > 0 ? scatter.count : 0; /* ids of rows without elements are not checked */
  for (int64_t i = 0; i < checked; i++) {
    int64_t id = segment_id(scatter.ids, i);
    if (id >= scatter.num_segments) return out_of_range(ids, i, id, scatter.num_segments, status);
  }
  Tensor *out;
  TRY(segment_allocate(context, data, ids->shape.rank, scatter.num_segments, &out, &scatter.columns, status));
  scatter.out = out->data;
  segment_scatter(context, &scatter, data->dtype);
  return true;
}

static const SegmentKind kSum = SEGMENT_SUM, kProd = SEGMENT_PROD, kMin = SEGMENT_MIN, kMax = SEGMENT_MAX;

static bool unsorted_shape(InferenceContext *c, Status *status) {
  ShapeHandle data = shape_input(c, 0), ids = shape_input(c, 1), sizes;
  DimHandle rows;
  TRY(shape_with_rank(c, shape_input(c, 2), 0, &sizes, status));
  if (!shape_rank_known(data) || !shape_rank_known(ids)) return shape_unknown_outputs(c, status);
  TRY(shape_merge_prefix(c, data, ids, &data, &ids, status));
  TRY(dim_for_scalar_input(c, 2, &rows, status));
  return segment_set_shape(c, data, shape_rank(ids), rows, status);
}

#define UNSORTED_ARGS                                                                                     \
  .inputs = {"data: T", "segment_ids: Tindices", "num_segments: Tnumsegments"}, .outputs = {"output: T"}, \
  .shape = unsorted_shape
#define NUM_SEGMENTS "Tnumsegments: {int32, int64} = DT_INT32"
#define INDEX_ATTRS "Tindices: {int32, int64}", NUM_SEGMENTS

/* Parts of gradient text. Ids are flattened first; negative ids select an arbitrary row, which is dropped at
 * the end. */
#define GRADIENT_ROWS(type, ids)                  \
  "  vector = Const[dtype=int32, value=[-1]]()\n" \
  "  zero = Const[dtype=" type                    \
  ", value=0]()\n"                                \
  "  flat = Reshape[T=" type "](" ids             \
  ", vector:output:0)\n"                          \
  "  at = Maximum[T=" type                        \
  "](flat:output:0, zero:output:0)\n"             \
  "  kept = GreaterEqual[T=" type                 \
  "](flat:output:0, zero:output:0)\n"             \
  "  dy_rows = Gather[Tparams=$T, Tindices=" type \
  "](dy, at:z:0)\n"                               \
  "  none = ZerosLike[T=$T](dy_rows:output:0)\n"
#define BEGIN_GRADIENT(op)                                                                             \
  op "Gradient[T:type, Tindices:type, Tnumsegments:type](x:T, ids:Tindices, n:Tnumsegments, dy:T) -> " \
     "(dx:T, dids:Tindices, dn:Tnumsegments) {\n" GRADIENT_ROWS("$Tindices", "ids")
#define X_ROWS(x)                             \
  "  shape = Shape[T=$T](dy_rows:output:0)\n" \
  "  x_rows = Reshape[T=$T](" x ", shape:output:0)\n"
#define SUM_OVER_SEGMENT(sum, of)                                                                       \
  "  " sum "_of_segment = UnsortedSegmentSum[T=$T, Tindices=$Tindices, Tnumsegments=$Tnumsegments](" of \
  ", flat:output:0, n)\n"                                                                               \
  "  " sum " = Gather[Tparams=$T, Tindices=$Tindices](" sum "_of_segment:output:0, at:z:0)\n"
#define END_GRADIENT(rows)                                    \
  "  chosen = Select[T=$T](kept:z:0, " rows                   \
  ", none:y:0)\n"                                             \
  "  x_shape = Shape[T=$T](x)\n"                              \
  "  dx = Reshape[T=$T](chosen:output:0, x_shape:output:0)\n" \
  "  dids = ZerosLike[T=$Tindices](ids)\n"                    \
  "  dn = ZerosLike[T=$Tnumsegments](n)\n"                    \
  "  return dx = dx:output:0, dids = dids:y:0, dn = dn:y:0\n" \
  "}\n"

/* The other ops here have no narrow ids. */
static bool unsorted_sum_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  return index_text(request, "ids",
                    "UnsortedSegmentSumGradient[T:type, Tindices:type, Tnumsegments:type](x:T, ids:Tindices, "
                    "n:Tnumsegments, dy:T) -> "
                    "(dx:T, dids:Tindices, dn:Tnumsegments) {\n" GRADIENT_ROWS("@", "#")
                        END_GRADIENT("dy_rows:output:0"),
                    text, status);
}
const OpRegistration kOpUnsortedSegmentSum = {
    .name = "UnsortedSegmentSum",
    UNSORTED_ARGS,
    .attrs = {"T: {" NUMBER_TYPES "}", "Tindices: {int16, int32, int64}", NUM_SEGMENTS},
    .gradient_fn = unsorted_sum_gradient,
    .kernels = {NUMBER_KERNELS(unsorted_kernel, &kSum)},
};

/* As of SegmentProd. */
CONJUGATE_GRADIENT(unsorted_prod_gradient,
  BEGIN_GRADIENT("UnsortedSegmentProd")
  X_ROWS("~x")
  "  ones = OnesLike[T=$T](x_rows:output:0)\n"
  "  is_zero = Equal[T=$T](x_rows:output:0, none:y:0)\n"
  "  factors = Select[T=$T](is_zero:z:0, ones:y:0, x_rows:output:0)\n"
  "  product = UnsortedSegmentProd[T=$T, Tindices=$Tindices, Tnumsegments=$Tnumsegments](factors:output:0, flat:output:0, n)\n"
  "  product_rows = Gather[Tparams=$T, Tindices=$Tindices](product:output:0, at:z:0)\n"
  "  quotient = RealDiv[T=$T](product_rows:output:0, factors:output:0)\n"
  "  is_one = Cast[SrcT=bool, DstT=$T](is_zero:z:0)\n"
  SUM_OVER_SEGMENT("count", "is_one:y:0")
  "  other_count = Sub[T=$T](count:output:0, is_one:y:0)\n"
  "  value = Select[T=$T](is_zero:z:0, x_rows:output:0, none:y:0)\n"
  SUM_OVER_SEGMENT("values", "value:output:0")
  "  other_value = Sub[T=$T](values:output:0, value:output:0)\n"
  "  small = Mul[T=$T](quotient:z:0, other_value:z:0)\n"
  "  no_other = Equal[T=$T](other_count:z:0, none:y:0)\n"
  "  one_other = Equal[T=$T](other_count:z:0, ones:y:0)\n"
  "  with_zero = Select[T=$T](one_other:z:0, small:z:0, none:y:0)\n"
  "  others = Select[T=$T](no_other:z:0, quotient:z:0, with_zero:output:0)\n"
  "  slope = Mul[T=$T](dy_rows:output:0, others:output:0)\n"
  END_GRADIENT("slope:z:0"))

const OpRegistration kOpUnsortedSegmentProd = {
    .name = "UnsortedSegmentProd",
    UNSORTED_ARGS,
    .attrs = {"T: {" NUMBER_TYPES "}", INDEX_ATTRS},
    .gradient_fn = unsorted_prod_gradient,
    .kernels = {NUMBER_KERNELS(unsorted_kernel, &kProd)},
};

/* Several extremes of a segment share its dy equally. A row with a negative id may have no extremes to share
 * with. */
#define EXTREME_GRADIENT(op) \
  BEGIN_GRADIENT(op)         \
  X_ROWS("x")                \
  "  y = " op "[T=$T, Tindices=$Tindices, Tnumsegments=$Tnumsegments](x_rows:output:0, flat:output:0, n)\n"            \
    "  y_rows = Gather[Tparams=$T, Tindices=$Tindices](y:output:0, at:z:0)\n"                                            \
    "  wins = Equal[T=$T](x_rows:output:0, y_rows:output:0)\n"                                                           \
    "  winner = Cast[SrcT=bool, DstT=$T](wins:z:0)\n"                                                                    \
    SUM_OVER_SEGMENT("count", "winner:y:0")                                                                              \
    "  one = Const[dtype=$T, value=1]()\n"                                                                               \
    "  divisor = Maximum[T=$T](count:output:0, one:output:0)\n"                                                          \
    "  share = RealDiv[T=$T](dy_rows:output:0, divisor:z:0)\n"                                                           \
    "  won = Select[T=$T](wins:z:0, share:z:0, none:y:0)\n"                                                              \
    END_GRADIENT("won:output:0")

const OpRegistration kOpUnsortedSegmentMin = {
    .name = "UnsortedSegmentMin",
    UNSORTED_ARGS,
    .attrs = {"T: realnumbertype", INDEX_ATTRS},
    .gradient = EXTREME_GRADIENT("UnsortedSegmentMin"),
    .kernels = {REAL_KERNELS(unsorted_kernel, &kMin)},
};

const OpRegistration kOpUnsortedSegmentMax = {
    .name = "UnsortedSegmentMax",
    UNSORTED_ARGS,
    .attrs = {"T: realnumbertype", INDEX_ATTRS},
    .gradient = EXTREME_GRADIENT("UnsortedSegmentMax"),
    .kernels = {REAL_KERNELS(unsorted_kernel, &kMax)},
};
