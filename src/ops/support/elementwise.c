#include "ops/support/elementwise.h"

#include "ops/support/element_types.h"

typedef struct ElementwiseJob {
  const char *x, *y;
  char *out;
  int64_t size;
  UnaryLoop *unary;
  PairLoop *pair;
  const VectorFunction *function;
} ElementwiseJob;

static void run_unary(void *arg, int64_t begin, int64_t end) {
  const ElementwiseJob *job = arg;
  job->unary(end - begin, job->x + begin * job->size, job->out + begin * job->size);
}

bool elementwise_unary(KernelContext *context, Status *status) {
  const Tensor *x = context->inputs[0];
  Tensor *out;
  TRY(kernel_forward_or_allocate(context, 0, 0, &x->shape, &out, status));
  ElementwiseJob job = {.x = x->data,
                        .out = out->data,
                        .size = (int64_t)dtype_size(x->dtype),
                        .unary = (UnaryLoop *)context->data};
  parallel_work(context->parallel, tensor_num_elements(x), 1, run_unary, &job);
  return true;
}

static void run_pair(void *arg, int64_t begin, int64_t end) {
  const ElementwiseJob *job = arg;
  int64_t at = begin * job->size;
  job->pair(end - begin, job->x + at, job->y + at, job->out + at);
}

bool elementwise_check_shape(const char *node, const char *op, const Shape *first, int i, const Shape *other,
                             Status *status) {
  if (shape_equal(first, other)) return true;
  char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY];
  return status_invalid(status,
                        "Inputs to operation %s of type %s must have the same size and shape.  Input 0: %s "
                        "!= input %d: %s",
                        node, op, shape_text(first, a), i, shape_text(other, b));
}

bool elementwise_check_shapes(const KernelContext *context, Status *status) {
  for (int i = 1; i < context->num_inputs; i++) {
    TRY(elementwise_check_shape(context->node_name, context->op_name, &context->inputs[0]->shape, i,
                                &context->inputs[i]->shape, status));
  }
  return true;
}

bool elementwise_pair(KernelContext *context, Status *status) {
  const Tensor *x = context->inputs[0], *y = context->inputs[1];
  TRY(elementwise_check_shapes(context, status));
  /* Prefers the memory of the incoming gradient, which usually has no other readers; either is valid. */
  bool take_y = context->last_use && !context->last_use[0] && context->last_use[1];
  Tensor *out;
  TRY(kernel_forward_or_allocate(context, take_y ? 1 : 0, 0, &x->shape, &out, status));
  ElementwiseJob job = {.x = x->data,
                        .y = y->data,
                        .out = out->data,
                        .size = (int64_t)dtype_size(x->dtype),
                        .pair = (PairLoop *)context->data};
  parallel_work(context->parallel, tensor_num_elements(x), 1, run_pair, &job);
  return true;
}

bool elementwise_check_counts(int64_t count, int64_t other, Status *status) {
  if (count == other) return true;
  return status_invalid(status,
                        "The two arguments to a cwise op must have same number of elements, got %lld and "
                        "%lld",
                        (long long)count, (long long)other);
}

bool elementwise_slope(KernelContext *context, Status *status) {
  TRY(elementwise_check_counts(tensor_num_elements(context->inputs[0]),
                               tensor_num_elements(context->inputs[1]), status));
  return elementwise_pair(context, status);
}

static void run_f32(void *arg, int64_t begin, int64_t end) {
  const ElementwiseJob *job = arg;
  job->function->f32(end - begin, (const float *)(const void *)job->x + begin,
                     (float *)(void *)job->out + begin);
}
static void run_f64(void *arg, int64_t begin, int64_t end) {
  const ElementwiseJob *job = arg;
  job->function->f64(end - begin, (const double *)(const void *)job->x + begin,
                     (double *)(void *)job->out + begin);
}

static void run_c64(void *arg, int64_t begin, int64_t end) {
  const ElementwiseJob *job = arg;
  job->function->c64(end - begin, (const float _Complex *)(const void *)job->x + begin,
                     (float _Complex *)(void *)job->out + begin);
}
static void run_c128(void *arg, int64_t begin, int64_t end) {
  const ElementwiseJob *job = arg;
  job->function->c128(end - begin, (const double _Complex *)(const void *)job->x + begin,
                      (double _Complex *)(void *)job->out + begin);
}

static void run_half(DataType type, const ElementwiseJob *job, int64_t begin, int64_t end) {
  const uint16_t *x = (const void *)job->x;
  uint16_t *out = (void *)job->out;
  float wide[HALF_PIECE];
  for (int64_t at = begin; at < end; at += HALF_PIECE) {
    int64_t n = half_piece(end - at);
    half_precision_widen(type, x + at, wide, n);
    job->function->f32(n, wide, wide);
    half_precision_narrow(type, wide, out + at, n);
  }
}
static void run_f16(void *arg, int64_t begin, int64_t end) { run_half(DT_HALF, arg, begin, end); }
static void run_bf16(void *arg, int64_t begin, int64_t end) { run_half(DT_BFLOAT16, arg, begin, end); }

static ParallelBody *body_for(DataType type) {
  switch (type) {
    case DT_FLOAT: return run_f32;
    case DT_DOUBLE: return run_f64;
    case DT_HALF: return run_f16;
    case DT_BFLOAT16: return run_bf16;
    case DT_COMPLEX64: return run_c64;
    default: return run_c128;
  }
}

bool elementwise_function(KernelContext *context, Status *status) {
  const Tensor *x = context->inputs[0];
  Tensor *out;
  TRY(kernel_forward_or_allocate(context, 0, 0, &x->shape, &out, status));
  ElementwiseJob job = {.x = x->data, .out = out->data, .function = context->data};
  parallel_work(context->parallel, tensor_num_elements(x), 4, body_for(x->dtype), &job);
  return true;
}

bool elementwise_has_zero(const Tensor *tensor) {
  int64_t n = tensor_num_elements(tensor), zeros = 0;
  switch (dtype_size(tensor->dtype)) {
    case 1:
      for (int64_t i = 0; i < n; i++) zeros += ((const uint8_t *)tensor->data)[i] == 0;
      break;
    case 2:
      for (int64_t i = 0; i < n; i++) zeros += ((const uint16_t *)tensor->data)[i] == 0;
      break;
    case 4:
      for (int64_t i = 0; i < n; i++) zeros += ((const uint32_t *)tensor->data)[i] == 0;
      break;
    default:
      for (int64_t i = 0; i < n; i++) zeros += ((const uint64_t *)tensor->data)[i] == 0;
      break;
  }
  return zeros > 0;
}
