/* Cumulative sums and products along an axis. */
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/support/element_types.h"

typedef struct ScanState {
  bool exclusive, reverse;
} ScanState;

/* A tensor of [outer, length, inner]; a column has one outer and one inner index. */
typedef struct ScanJob {
  const void *x;
  void *out;
  int64_t length, inner;
  bool exclusive, reverse;
} ScanJob;

static bool scan_construct(const KernelConstruction *construction, void *memory, Status *status) {
  ScanState *state = memory;
  TRY(node_attr_bool(construction->node, "exclusive", &state->exclusive, status));
  return node_attr_bool(construction->node, "reverse", &state->reverse, status);
}

/* Its data is a ParallelBody. */
static bool scan_kernel(KernelContext *context, Status *status) {
  const Tensor *x = context->inputs[0], *axis_input = context->inputs[1];
  const ScanState *state = context->state;
  if (!tensor_is_scalar(axis_input)) {
    char text[SHAPE_TEXT_CAPACITY];
    return status_invalid(status, "ScanOp: axis must be a scalar, not %s",
                          shape_text(&axis_input->shape, text));
  }
  int rank = x->shape.rank;
  int64_t given = tensor_int_at(axis_input, 0), axis = given < 0 ? given + rank : given;
  if (axis < 0 || axis >= rank) {
    return status_invalid(status, "ScanOp: Expected scan axis in the range [%d, %d), but got %lld", -rank,
                          rank, (long long)axis);
  }
  Tensor *out;
  TRY(kernel_allocate_output(context, 0, &x->shape, &out, status));
  if (tensor_num_elements(x) == 0) return true;
  ScanJob job = {x->data, out->data, shape_dim(&x->shape, (int)axis), 1, state->exclusive, state->reverse};
  for (int i = (int)axis + 1; i < rank; i++) job.inner *= shape_dim(&x->shape, i);
  parallel_work(context->parallel, tensor_num_elements(x) / job.length, (double)job.length,
                (ParallelBody *)context->data, &job);
  return true;
}

#define TEMPLATE "ops/math/cumulative.inc"
#define TYPES (TYPES_FLOAT | TYPES_HALF | TYPES_INT | TYPES_SMALL | TYPES_UNSIGNED | TYPES_COMPLEX)
#include "simd/each_type.inc"

static const char *text_of(bool value) { return value ? "true" : "false"; }

/* An element contributes to the sums at and after its position, so its gradient is the sum of theirs: the
 * scan in reverse direction. */
static bool cumsum_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  bool exclusive, reverse;
  TRY(node_attr_bool(request->node, "exclusive", &exclusive, status));
  TRY(node_attr_bool(request->node, "reverse", &reverse, status));
  strbuf_printf(text,
                "CumsumGradient[T:type, Tidx:type](x:T, axis:Tidx, dy:T) -> (dx:T, daxis:Tidx) {\n"
                "  dx = Cumsum[T=$T, Tidx=$Tidx, exclusive=%s, reverse=%s](dy, axis)\n"
                "  daxis = ZerosLike[T=$Tidx](axis)\n"
                "  return dx = dx:out:0, daxis = daxis:y:0\n"
                "}\n",
                text_of(exclusive), text_of(!reverse));
  return strbuf_ok(text, status);
}

/* The sum of dy times the product of the other factors, over the positions to which x contributes. Nothing is
 * divided by zero, and the result is correct at x = 0, where TensorFlow gives zero: with zeros replaced by 1
 * the products are y, and the relevant ones have no zero factor, or x as the only one. */
static bool cumprod_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  bool exclusive, reverse;
  DataType type;
  TRY(node_attr_bool(request->node, "exclusive", &exclusive, status));
  TRY(node_attr_bool(request->node, "reverse", &reverse, status));
  TRY(node_attr_type(request->node, "T", &type, status));
  bool is_complex = dtype_is_complex((int)type);
  strbuf_append(text, "CumprodGradient[T:type, Tidx:type](x:T, axis:Tidx, dy:T) -> (dx:T, daxis:Tidx) {\n");
  if (is_complex) strbuf_append(text, "  conj_x = Conj[T=$T](x)\n");
  strbuf_printf(text,
                "  zero_x = ZerosLike[T=$T](x)\n"
                "  one_x = OnesLike[T=$T](x)\n"
                "  is_zero = Equal[T=$T](x, zero_x:y:0)\n"
                "  factors = Select[T=$T](is_zero:z:0, one_x:y:0, %s)\n"
                "  y = Cumprod[T=$T, Tidx=$Tidx, exclusive=%s, reverse=%s](factors:output:0, axis)\n"
                "  zeros = Cast[SrcT=bool, DstT=int32](is_zero:z:0)\n"
                "  count = Cumsum[T=int32, Tidx=$Tidx, exclusive=%s, reverse=%s](zeros:y:0, axis)\n",
                is_complex ? "conj_x:output:0" : "x", text_of(exclusive), text_of(reverse),
                text_of(exclusive), text_of(reverse));
  strbuf_printf(text,
                "  none = Const[dtype=int32, value=0]()\n"
                "  one = Const[dtype=int32, value=1]()\n"
                "  has_none = Equal[T=int32](count:out:0, none:output:0)\n"
                "  has_one = Equal[T=int32](count:out:0, one:output:0)\n"
                "  product = Mul[T=$T](dy, y:out:0)\n"
                "  whole = Select[T=$T](has_none:z:0, product:z:0, zero_x:y:0)\n"
                "  broken = Select[T=$T](has_one:z:0, product:z:0, zero_x:y:0)\n"
                "  sum = Cumsum[T=$T, Tidx=$Tidx, exclusive=%s, reverse=%s](whole:output:0, axis)\n"
                "  sum_at_zero = Cumsum[T=$T, Tidx=$Tidx, exclusive=%s, reverse=%s](broken:output:0, axis)\n"
                "  total = Select[T=$T](is_zero:z:0, sum_at_zero:out:0, sum:out:0)\n"
                "  dx = RealDiv[T=$T](total:output:0, factors:output:0)\n"
                "  daxis = ZerosLike[T=$Tidx](axis)\n"
                "  return dx = dx:z:0, daxis = daxis:y:0\n"
                "}\n",
                text_of(exclusive), text_of(!reverse), text_of(exclusive), text_of(!reverse));
  return strbuf_ok(text, status);
}

#define SCAN(loop)                                                                        \
  .inputs = {"x: T", "axis: Tidx"}, .outputs = {"out: T"},                                \
  .attrs = {"exclusive: bool = false", "reverse: bool = false", "T: {" NUMBER_TYPES "}",  \
            "Tidx: {int32, int64} = DT_INT32"},                                           \
  .shape = shape_unchanged, .state_size = sizeof(ScanState), .construct = scan_construct, \
  .kernels = {TYPED_NUMBER_KERNELS(scan_kernel, loop)}

const OpRegistration kOpCumsum = {
    .name = "Cumsum",
    SCAN(cumsum),
    .gradient_fn = cumsum_gradient,
};
const OpRegistration kOpCumprod = {
    .name = "Cumprod",
    SCAN(cumprod),
    .gradient_fn = cumprod_gradient,
};
