/* Softmax and LogSoftmax over the last dimension. */
#include "blas/softmax.h"
#include "op/op_registry.h"
#include "ops/support/element_types.h"
#include "ops/support/half_precision.h"

typedef void RowFunction(int64_t rows, int64_t columns, const void *x, void *y, const Parallel *parallel);

#define ROW_FUNCTION(name, T)                                                                                \
  static void each_##name(int64_t rows, int64_t columns, const void *x, void *y, const Parallel *parallel) { \
    name(rows, columns, (const T *)x, (T *)y, parallel);                                                     \
  }
ROW_FUNCTION(softmax_f32, float)
ROW_FUNCTION(softmax_f64, double)
ROW_FUNCTION(log_softmax_f32, float)
ROW_FUNCTION(log_softmax_f64, double)

/* Its data is a RowFunction; that for 16-bit floats computes in float. */
static bool rows_kernel(KernelContext *context, Status *status) {
  RowFunction *function = (RowFunction *)context->data;
  const Tensor *logits = context->inputs[0];
  char text[SHAPE_TEXT_CAPACITY];
  int rank = logits->shape.rank;
  if (rank < 1)
    return status_invalid(status, "logits must have >= 1 dimension, got %s",
                          shape_text(&logits->shape, text));
  Tensor *out;
  TRY(kernel_forward_or_allocate(context, 0, 0, &logits->shape, &out, status));
  int64_t count = tensor_num_elements(logits);
  if (count == 0) return true;
  int64_t columns = shape_dim(&logits->shape, rank - 1), rows = count / columns;
  if (!half_precision(logits->dtype)) {
    function(rows, columns, logits->data, out->data, context->parallel);
  } else {
    Buffer *wide = kernel_scratch(context, count * (int64_t)sizeof(float), status);
    if (!wide) return false;
    half_precision_widen(logits->dtype, logits->data, wide->data, count);
    function(rows, columns, wide->data, wide->data, context->parallel);
    half_precision_narrow(logits->dtype, wide->data, out->data, count);
    buffer_unref(wide);
  }
  return true;
}

static bool rows_shape(InferenceContext *c, Status *status) {
  ShapeHandle logits;
  TRY(shape_with_rank_at_least(c, shape_input(c, 0), 1, &logits, status));
  shape_set_output(c, 0, logits);
  return true;
}

/* dx = (dy - sum(dy * y)) * y, row by row */
const OpRegistration kOpSoftmax = {
    .name = "Softmax",
    .inputs = {"logits: T"},
    .outputs = {"softmax: T"},
    .attrs = {"T: {half, bfloat16, float, double}"},
    .shape = rows_shape,
    .gradient =
        "SoftmaxGradient[T:type](x:T, dy:T) -> (dx:T) {\n"
        "  y = Softmax[T=$T](x)\n"
        "  last = Const[dtype=int32, value=-1]()\n"
        "  product = Mul[T=$T](dy, y:softmax:0)\n"
        "  total = Sum[T=$T, keep_dims=true](product:z:0, last:output:0)\n"
        "  centered = Sub[T=$T](dy, total:output:0)\n"
        "  dx = Mul[T=$T](centered:z:0, y:softmax:0)\n"
        "  return dx = dx:z:0\n"
        "}\n",
    .kernels = {TYPED_FLOAT_KERNELS(rows_kernel, each_softmax), HALF_KERNELS(rows_kernel, each_softmax_f32)},
};

/* dx = dy - sum(dy) * exp(y), row by row */
const OpRegistration kOpLogSoftmax = {
    .name = "LogSoftmax",
    .inputs = {"logits: T"},
    .outputs = {"logsoftmax: T"},
    .attrs = {"T: {half, bfloat16, float, double}"},
    .shape = rows_shape,
    .gradient =
        "LogSoftmaxGradient[T:type](x:T, dy:T) -> (dx:T) {\n"
        "  y = LogSoftmax[T=$T](x)\n"
        "  probability = Exp[T=$T](y:logsoftmax:0)\n"
        "  last = Const[dtype=int32, value=-1]()\n"
        "  total = Sum[T=$T, keep_dims=true](dy, last:output:0)\n"
        "  part = Mul[T=$T](total:output:0, probability:y:0)\n"
        "  dx = Sub[T=$T](dy, part:z:0)\n"
        "  return dx = dx:z:0\n"
        "}\n",
    .kernels = {TYPED_FLOAT_KERNELS(rows_kernel, each_log_softmax),
                HALF_KERNELS(rows_kernel, each_log_softmax_f32)},
};
