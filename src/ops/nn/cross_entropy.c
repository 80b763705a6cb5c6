/* Softmax cross-entropy: the loss of each row of logits for a class or a distribution, and its derivative. */
#include <string.h>

#include "blas/softmax.h"
#include "op/op_registry.h"
#include "ops/support/broadcast.h"
#include "ops/support/element_types.h"
#include "ops/support/half_precision.h"
#include "ops/support/typed_loops.h"

/* --- kernels --- */

/* Logits, labels (of the same type, or int64 classes) and results in the type of the loops. */
typedef struct Loss {
  int64_t rows, columns;
  const void *logits, *labels;
  void *loss, *backprop;
} Loss;

typedef void RunLoss(const Loss *l, bool sparse, const Parallel *parallel);
#define RUN_LOSS(type)                                                                                     \
  static void run_loss_##type(const Loss *l, bool sparse, const Parallel *parallel) {                      \
    if (sparse) {                                                                                          \
      sparse_softmax_cross_entropy_##type(l->rows, l->columns, l->logits, l->labels, l->loss, l->backprop, \
                                          parallel);                                                       \
    } else {                                                                                               \
      softmax_cross_entropy_##type(l->rows, l->columns, l->logits, l->labels, l->loss, l->backprop,        \
                                   parallel);                                                              \
    }                                                                                                      \
  }
RUN_LOSS(f32)
RUN_LOSS(f64)
static const KernelEntry kTypedLosses[] = {TYPED_FLOAT_KERNELS(NULL, run_loss)};

static void run_loss(const Loss *l, DataType type, bool sparse, const Parallel *parallel) {
  ((RunLoss *)TYPED_LOOPS(kTypedLosses, type))(l, sparse, parallel);
}

/* 16-bit floats are computed as float. */
static bool run_loss_half(KernelContext *context, Loss l, DataType type, bool sparse, Status *status) {
  int64_t count = l.rows * l.columns;
  Buffer *wide = kernel_scratch(context, (2 * count + l.rows + 1) * (int64_t)sizeof(float), status);
  if (!wide) return false;
  float *logits = wide->data, *labels = logits + count, *loss = labels + count;
  void *loss_out = l.loss, *backprop_out = l.backprop;
  half_precision_widen(type, l.logits, logits, count);
  if (!sparse) {
    half_precision_widen(type, l.labels, labels, count);
    l.labels = labels;
  }
  l.logits = logits, l.loss = loss, l.backprop = logits;
  run_loss(&l, DT_FLOAT, sparse, context->parallel);
  half_precision_narrow(type, loss, loss_out, l.rows);
  half_precision_narrow(type, logits, backprop_out, count);
  buffer_unref(wide);
  return true;
}

static bool allocate_results(KernelContext *context, int input, Loss *l, Status *status) {
  Tensor *loss, *backprop;
  Shape shape = {0};
  TRY(kernel_allocate_output_dims(context, 0, 1, &l->rows, &loss, status));
  bool ok = shape_set(&shape, 2, (int64_t[]){l->rows, l->columns}, status) &&
            kernel_forward_or_allocate(context, input, 1, &shape, &backprop, status);
  shape_clear(&shape);
  if (!ok) return false;
  l->loss = loss->data;
  l->backprop = backprop->data;
  return true;
}

/* Reads classes as int64 and rejects invalid ones. */
static bool read_labels(const Tensor *labels, int64_t classes, int64_t *to, Status *status) {
  int64_t count = tensor_num_elements(labels);
  for (int64_t i = 0; i < count; i++) {
    to[i] = tensor_int_at(labels, i);
    if (to[i] < 0 || to[i] >= classes) {
      status_invalid(status,
                     "Received a label value of %lld which is outside the valid range of [0, %lld).  Label "
                     "values:",
                     (long long)to[i], (long long)classes);
      for (int64_t k = 0; k < count && k < 64; k++)
        status_append(status, " %lld", (long long)tensor_int_at(labels, k));
      if (count > 64) status_append(status, " ...");
      return false;
    }
  }
  return true;
}

static bool sparse_cross_entropy(KernelContext *context, Status *status) {
  const Tensor *logits = context->inputs[0], *labels = context->inputs[1];
  char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY];
  if (logits->shape.rank != 2) {
    return status_invalid(status, "logits must be 2-D, but got shape %s", shape_text(&logits->shape, a));
  }
  if (labels->shape.rank != 1) {
    return status_invalid(status, "labels must be 1-D, but got shape %s", shape_text(&labels->shape, a));
  }
  Loss l = {.rows = shape_dim(&logits->shape, 0),
            .columns = shape_dim(&logits->shape, 1),
            .logits = logits->data};
  if (l.rows != tensor_num_elements(labels)) {
    return status_invalid(status,
                          "logits and labels must have the same first dimension, got logits shape %s and "
                          "labels shape %s",
                          shape_text(&logits->shape, a), shape_text(&labels->shape, b));
  }
  if (l.columns == 0) {
    return status_invalid(status, "Must have at least one class, but got logits shape %s",
                          shape_text(&logits->shape, a));
  }
  Buffer *classes = kernel_scratch(context, (l.rows + 1) * (int64_t)sizeof(int64_t), status);
  if (!classes) return false;
  bool ok = read_labels(labels, l.columns, classes->data, status) && allocate_results(context, 0, &l, status);
  if (ok && l.rows > 0) {
    l.labels = classes->data;
    if (half_precision(logits->dtype)) {
      ok = run_loss_half(context, l, logits->dtype, true, status);
    } else {
      run_loss(&l, logits->dtype, true, context->parallel);
    }
  }
  buffer_unref(classes);
  return ok;
}

/* Repeats rows and columns of a matrix (or vector) to broadcast it to rows x columns. */
static void spread(const Tensor *from, int64_t rows, int64_t columns, char *to) {
  size_t size = dtype_size(from->dtype);
  int rank = from->shape.rank;
  int64_t own_columns = rank > 0 ? shape_dim(&from->shape, rank - 1) : 1,
          own_rows = rank > 1 ? shape_dim(&from->shape, 0) : 1;
  for (int64_t i = 0; i < rows; i++) {
    const char *row = (const char *)from->data + (size_t)((own_rows == 1 ? 0 : i) * own_columns) * size;
    for (int64_t j = 0; j < columns; j++, to += size)
      memcpy(to, row + (size_t)(own_columns == 1 ? 0 : j) * size, size);
  }
}

static bool dense_cross_entropy(KernelContext *context, Status *status) {
  const Tensor *logits = context->inputs[0], *labels = context->inputs[1];
  char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY];
  Shape shape = {0};
  if (!broadcast_shapes(&logits->shape, &labels->shape, &shape, status)) {
    return status_reword(status, CODE_INVALID_ARGUMENT,
                         "logits and labels must be broadcastable: logits_size=%s labels_size=%s",
                         shape_text(&logits->shape, a), shape_text(&labels->shape, b));
  }
  if (shape.rank != 2) {
    shape_clear(&shape);
    return status_invalid(
        status, "logits and labels must be either 2-dimensional, or broadcasted to be 2-dimensional");
  }
  Loss l = {.rows = shape_dim(&shape, 0),
            .columns = shape_dim(&shape, 1),
            .logits = logits->data,
            .labels = labels->data};
  bool same = shape_equal(&logits->shape, &labels->shape);
  shape_clear(&shape);
  TRY(allocate_results(context, 0, &l, status));
  if (l.rows == 0) return true;
  if (l.columns == 0) {
    memset(l.loss, 0, (size_t)l.rows * dtype_size(logits->dtype));
    return true;
  }
  Buffer *copies = NULL;
  if (!same) {
    int64_t bytes = tensor_bytes(&context->outputs[1]);
    if (bytes > INT64_MAX / 2) return status_oom(status, "broadcast logits and labels");
    if (!(copies = kernel_scratch(context, 2 * bytes, status))) return false;
    char *spread_logits = copies->data, *spread_labels = spread_logits + bytes;
    spread(logits, l.rows, l.columns, spread_logits);
    spread(labels, l.rows, l.columns, spread_labels);
    l.logits = spread_logits, l.labels = spread_labels;
  }
  bool ok = true;
  if (half_precision(logits->dtype)) {
    ok = run_loss_half(context, l, logits->dtype, false, status);
  } else {
    run_loss(&l, logits->dtype, false, context->parallel);
  }
  buffer_unref(copies);
  return ok;
}

/* --- shapes --- */

static bool sparse_shape(InferenceContext *c, Status *status) {
  ShapeHandle features, labels, loss;
  DimHandle rows;
  TRY(shape_with_rank(c, shape_input(c, 0), 2, &features, status));
  TRY(shape_with_rank(c, shape_input(c, 1), 1, &labels, status));
  TRY(dim_merge(c, shape_dim_of(c, features, 0), shape_dim_of(c, labels, 0), &rows, status));
  TRY(shape_replace_dim(c, features, 0, rows, &features, status));
  TRY(shape_ok(shape_vector(c, rows), &loss, status));
  shape_set_output(c, 0, loss);
  shape_set_output(c, 1, features);
  return true;
}

/* TensorFlow takes a size of 1 beside an unknown one as 1, but the unknown one may be larger and
 * broadcast. */
static bool keep_broadcast_open(InferenceContext *c, int d, ShapeHandle *both, Status *status) {
  DimHandle size = shape_dim_of(c, *both, d);
  if (!dim_known(size) || dim_value(size) != 1) return true;
  for (int i = 0; i < 2; i++) {
    ShapeHandle input = shape_input(c, i);
    if (shape_rank_known(input) && dim_known(shape_dim_of(c, input, d))) continue;
    return shape_replace_dim(c, *both, d, dim_unknown(c), both, status);
  }
  return true;
}

static bool dense_shape(InferenceContext *c, Status *status) {
  ShapeHandle both, loss;
  Status differs;
  status_init(&differs);
  /* Equal matrices; for other ranks or unequal shapes the op may broadcast. */
  bool equal = shape_with_rank(c, shape_input(c, 0), 2, &both, &differs) &&
               shape_merge(c, both, shape_input(c, 1), &both, &differs);
  if (differs.code == CODE_RESOURCE_EXHAUSTED) return status_oom(status, "shape inference");
  if (!equal) {
    TRY(shape_broadcast(c, shape_input(c, 0), shape_input(c, 1), &both, status));
    if (!shape_rank_known(both))
      return status_invalid(status, "Shape must be broadcasted with rank 2, but is rank is unknown.");
    if (shape_rank(both) != 2) {
      return status_invalid(status, "Shape must be broadcasted with rank 2, but is rank %d.",
                            (int)shape_rank(both));
    }
  }
  for (int d = 0; equal && d < 2; d++) TRY(keep_broadcast_open(c, d, &both, status));
  TRY(shape_ok(shape_vector(c, shape_dim_of(c, both, 0)), &loss, status));
  shape_set_output(c, 0, loss);
  shape_set_output(c, 1, both);
  return true;
}

/* --- gradients ---
 * loss changes by backprop, which is softmax(x) - labels. backprop itself changes as softmax does; a gradient
 * arrives there in second derivatives only. */

/* Computes the gradient of the logits as `gx:z:0`, from the forward node `y`. */
static void write_logits_gradient(const GradientRequest *request, StrBuf *text) {
  bool loss = !request->flows || request->flows[0], backprop = !request->flows || request->flows[1];
  if (loss) {
    strbuf_printf(text,
                  "  column = Const[dtype=int32, value=[-1, 1]]()\n"
                  "  dloss_column = Reshape[T=$T](dloss, column:output:0)\n"
                  "  %s = Mul[T=$T](dloss_column:output:0, y:backprop:0)\n",
                  backprop ? "through_loss" : "gx");
  }
  if (backprop) {
    strbuf_printf(text,
                  "  last = Const[dtype=int32, value=-1]()\n"
                  "  p = Softmax[T=$T](x)\n"
                  "  product = Mul[T=$T](dbackprop, p:softmax:0)\n"
                  "  total = Sum[T=$T, keep_dims=true](product:z:0, last:output:0)\n"
                  "  centered = Sub[T=$T](dbackprop, total:output:0)\n"
                  "  %s = Mul[T=$T](centered:z:0, p:softmax:0)\n",
                  loss ? "through_backprop" : "gx");
  }
  if (loss && backprop) strbuf_append(text, "  gx = Add[T=$T](through_loss:z:0, through_backprop:z:0)\n");
}

static bool sparse_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  strbuf_append(text,
                "SparseSoftmaxCrossEntropyWithLogitsGradient[T:type, Tlabels:type](x:T, labels:Tlabels, "
                "dloss:T, dbackprop:T)"
                " -> (dx:T, dlabels:Tlabels) {\n"
                "  y = SparseSoftmaxCrossEntropyWithLogits[T=$T, Tlabels=$Tlabels](x, labels)\n");
  write_logits_gradient(request, text);
  strbuf_append(text,
                "  dlabels = ZerosLike[T=$Tlabels](labels)\n"
                "  return dx = gx:z:0, dlabels = dlabels:y:0\n"
                "}\n");
  return strbuf_ok(text, status);
}

static bool dense_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  bool loss = !request->flows || request->flows[0], backprop = !request->flows || request->flows[1];
  strbuf_append(text,
                "SoftmaxCrossEntropyWithLogitsGradient[T:type](x:T, labels:T, dloss:T, dbackprop:T) -> "
                "(dx:T, dlabels:T) {\n"
                "  y = SoftmaxCrossEntropyWithLogits[T=$T](x, labels)\n");
  write_logits_gradient(request, text);
  if (loss) {
    strbuf_append(text,
                  "  log_p = LogSoftmax[T=$T](x)\n"
                  "  information = Mul[T=$T](dloss_column:output:0, log_p:logsoftmax:0)\n");
  }
  if (loss && backprop) strbuf_append(text, "  both = Add[T=$T](information:z:0, dbackprop)\n");
  strbuf_printf(text,
                "  glabels = Neg[T=$T](%s)\n"
                "  sx = Shape[T=$T](x)\n"
                "  slabels = Shape[T=$T](labels)\n"
                "  axes = BroadcastGradientArgs(sx:output:0, slabels:output:0)\n"
                "  total_x = Sum[T=$T](gx:z:0, axes:r0:0)\n"
                "  dx = Reshape[T=$T](total_x:output:0, sx:output:0)\n"
                "  total_labels = Sum[T=$T](glabels:y:0, axes:r1:0)\n"
                "  dlabels = Reshape[T=$T](total_labels:output:0, slabels:output:0)\n"
                "  return dx = dx:output:0, dlabels = dlabels:output:0\n"
                "}\n",
                !loss      ? "dbackprop"
                : backprop ? "both:z:0"
                           : "information:z:0");
  return strbuf_ok(text, status);
}

const OpRegistration kOpSparseSoftmaxCrossEntropyWithLogits = {
    .name = "SparseSoftmaxCrossEntropyWithLogits",
    .inputs = {"features: T", "labels: Tlabels"},
    .outputs = {"loss: T", "backprop: T"},
    .attrs = {"T: {half, bfloat16, float, double}", "Tlabels: {int32, int64} = DT_INT64"},
    .shape = sparse_shape,
    .gradient_fn = sparse_gradient,
    .kernels = {FLOAT_AND_HALF_KERNELS(sparse_cross_entropy)},
};

const OpRegistration kOpSoftmaxCrossEntropyWithLogits = {
    .name = "SoftmaxCrossEntropyWithLogits",
    .inputs = {"features: T", "labels: T"},
    .outputs = {"loss: T", "backprop: T"},
    .attrs = {"T: {half, bfloat16, float, double}"},
    .shape = dense_shape,
    .gradient_fn = dense_gradient,
    .kernels = {FLOAT_AND_HALF_KERNELS(dense_cross_entropy)},
};
