/* QuantizedInstanceNorm and QuantizedBatchNormWithGlobalNormalization. */
#include <inttypes.h>
#include <math.h>

#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/support/quant_types.h"

/* --- QuantizedInstanceNorm: (x - mean) / sqrt(variance + epsilon), of each channel of each image --- */

typedef struct InstanceNormState {
  float epsilon, separation, min, max;
  bool range_given;
} InstanceNormState;

static bool instance_construct(const KernelConstruction *construction, void *memory, Status *status) {
  InstanceNormState *s = memory;
  const NodeDef *node = construction->node;
  TRY(node_attr_float(node, "variance_epsilon", &s->epsilon, status));
  TRY(node_attr_float(node, "min_separation", &s->separation, status));
  TRY(node_attr_bool(node, "output_range_given", &s->range_given, status));
  s->min = INFINITY, s->max = -INFINITY;
  if (!s->range_given) return true;
  TRY(node_attr_float(node, "given_y_min", &s->min, status));
  TRY(node_attr_float(node, "given_y_max", &s->max, status));
  return s->min < s->max || status_invalid(status, "given_y_min must be less than given_y_max : %g >= %g",
                                           (double)s->min, (double)s->max);
}

/* Images of quint8, and the float results. */
typedef struct Instances {
  const uint8_t *x;
  float *y;
  int64_t pixels, channels;
  float level, epsilon;
} Instances;

static void normalize_channel(const Instances *in, int64_t image, int64_t channel) {
  int64_t first = image * in->pixels * in->channels + channel, end = first + in->pixels * in->channels;
  double sum = 0, squares = 0;
  for (int64_t i = first; i < end; i += in->channels) sum += in->x[i];
  float mean = (float)(sum / (double)in->pixels);
  for (int64_t i = first; i < end; i += in->channels) {
    float distance = in->level * ((float)in->x[i] - mean);
    squares += (double)(distance * distance);
  }
  float shrink = 1 / sqrtf((float)(squares / (double)in->pixels) + in->epsilon);
  for (int64_t i = first; i < end; i += in->channels)
    in->y[i] = in->level * ((float)in->x[i] - mean) * shrink;
}

static bool check_instances(const KernelContext *context, float *min, float *max, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  TRY(quant_scalar(context, 1, "x_min", min, status));
  TRY(quant_scalar(context, 2, "x_max", max, status));
  if (!(*min < *max)) {
    return status_invalid(status, "input_min must be less than input_max : %g >= %g", (double)*min,
                          (double)*max);
  }
  const Shape *x = &context->inputs[0]->shape;
  return x->rank == 4 || status_invalid(status, "x must be 4-dimensional%s", shape_text(x, text));
}

static bool instance_norm(KernelContext *context, Status *status) {
  const InstanceNormState *s = context->state;
  const Tensor *x = context->inputs[0];
  int64_t count = tensor_num_elements(x), size;
  float from, to, min = s->min, max = s->max;
  Tensor *y;
  TRY(check_instances(context, &from, &to, status));
  TRY(kernel_allocate_output(context, 0, &x->shape, &y, status));
  if (__builtin_mul_overflow(count + 1, (int64_t)sizeof(float), &size))
    return status_oom(status, "normalised images");
  Buffer *buffer = kernel_scratch(context, size, status);
  if (!buffer) return false;
  const int64_t *dims = shape_dims(&x->shape);
  Instances in = {.x = x->data,
                  .y = buffer->data,
                  .pixels = count > 0 ? dims[1] * dims[2] : 0,
                  .channels = dims[3],
                  .level = (to - from) / 255.0f,
                  .epsilon = s->epsilon};
  for (int64_t i = 0; count > 0 && i < dims[0] * dims[3]; i++)
    normalize_channel(&in, i / dims[3], i % dims[3]);
  for (int64_t i = 0; !s->range_given && i < count; i++) {
    min = fminf(min, in.y[i]);
    max = fmaxf(max, in.y[i]);
  }
  if (max - min < s->separation) max = min + s->separation;
  QuantMap map = quant_map(x->dtype, from, to, y->dtype, min, max);
  int32_t numbers[QUANT_PIECE];
  for (int64_t at = 0; at < count; at += QUANT_PIECE) {
    int64_t n = quant_piece(count - at);
    quant_map_floats(&map, n, in.y + at, numbers);
    quant_write(y, at, n, numbers);
  }
  buffer_unref(buffer);
  TRY(quant_put_range(context, 1, min, status));
  return quant_put_range(context, 2, max, status);
}

static bool instance_shape(InferenceContext *c, Status *status) {
  TRY(shape_unchanged_with_rank(c, shape_input(c, 0), 4, status));
  return quant_scalar_shapes(c, 1, 3, status);
}

const OpRegistration kOpQuantizedInstanceNorm = {
    .name = "QuantizedInstanceNorm",
    .inputs = {"x: T", "x_min: float", "x_max: float"},
    .outputs = {"y: T", "y_min: float", "y_max: float"},
    .attrs = {"T: quantizedtype", "output_range_given: bool = false", "given_y_min: float = 0",
              "given_y_max: float = 0", "variance_epsilon: float = 1e-5", "min_separation: float = 1e-3"},
    .shape = instance_shape,
    .state_size = sizeof(InstanceNormState),
    .construct = instance_construct,
    .kernels = {{DT_QUINT8, instance_norm}},
};

/* --- QuantizedBatchNormWithGlobalNormalization, in integers of the range [-2^20, 2^20] --- */

typedef struct BatchNormState {
  float epsilon;
  bool scales;
} BatchNormState;

static bool batch_construct(const KernelConstruction *construction, void *memory, Status *status) {
  BatchNormState *s = memory;
  TRY(quant_check_output(construction, DT_QINT32, status));
  TRY(node_attr_float(construction->node, "variance_epsilon", &s->epsilon, status));
  return node_attr_bool(construction->node, "scale_after_normalization", &s->scales, status);
}

enum { INPUT, MEAN, VARIANCE, BETA, GAMMA, BATCH_OPERANDS };

/* An operand and its range; the operands are every third input. */
typedef struct BatchOperand {
  const Tensor *tensor;
  float min, max;
} BatchOperand;

static bool read_batch_ranges(const KernelContext *context, BatchOperand *operands, Status *status) {
  static const char *const names[] = {"input", "mean", "var", "beta", "gamma"};
  for (int i = 0; i < BATCH_OPERANDS; i++) {
    const Tensor *min = context->inputs[3 * i + 1], *max = context->inputs[3 * i + 2];
    if (tensor_num_elements(min) != 1) return status_invalid(status, "%s_min must have 1 element", names[i]);
    if (tensor_num_elements(max) != 1) return status_invalid(status, "%s_max must have 1 element", names[i]);
    operands[i] = (BatchOperand){context->inputs[3 * i], tensor_f32(min)[0], tensor_f32(max)[0]};
  }
  for (int i = 0; i < BATCH_OPERANDS; i++) {
    const Shape *shape = &operands[i].tensor->shape;
    char text[SHAPE_TEXT_CAPACITY];
    if (shape->rank != (i == INPUT ? 4 : 1)) {
      return status_invalid(status, "%s must be %d-dimensional%s", names[i], i == INPUT ? 4 : 1,
                            shape_text(shape, text));
    }
  }
  return true;
}

static bool check_batch_sizes(const BatchOperand *operands, Status *status) {
  static const char *const names[] = {"", "", "variance", "beta", "gamma"};
  const Shape *input = &operands[INPUT].tensor->shape, *mean = &operands[MEAN].tensor->shape;
  char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY];
  if (shape_dim(mean, 0) <= 1) return status_invalid(status, "Must have at least a mean value");
  if (shape_dim(mean, 0) != shape_dim(input, 3)) {
    return status_invalid(status,
                          "Must provide as many means as the last dimension of the input tensor: %s vs. %s",
                          shape_text(mean, a), shape_text(input, b));
  }
  for (int i = VARIANCE; i < BATCH_OPERANDS; i++) {
    const Shape *shape = &operands[i].tensor->shape;
    if (shape_dim(shape, 0) == shape_dim(mean, 0)) continue;
    return status_invalid(status, "Mean and %s tensors must have the same shape: %s vs. %s", names[i],
                          shape_text(mean, a), shape_text(shape, b));
  }
  return true;
}

static const float kBatchRange = 1 << 20;

/* The number for a float in the range of the result. */
static int32_t batch_number(float value) {
  QuantType wide = quant_type(DT_QINT32);
  return (int32_t)quant_from_float(&wide, value, -kBatchRange, kBatchRange);
}

static float operand_at(const BatchOperand *operand, int64_t i) {
  QuantType byte = quant_type(DT_QUINT8);
  return quant_to_float(&byte, quant_at(operand->tensor, i), operand->min, operand->max);
}

static bool batch_norm(KernelContext *context, Status *status) {
  const BatchNormState *s = context->state;
  BatchOperand operands[BATCH_OPERANDS];
  Tensor *out;
  TRY(read_batch_ranges(context, operands, status));
  TRY(check_batch_sizes(operands, status));
  TRY(kernel_allocate_output(context, 0, &operands[INPUT].tensor->shape, &out, status));
  int64_t channels = tensor_num_elements(operands[MEAN].tensor), count = tensor_num_elements(out);
  int32_t one = batch_number(1);
  for (int64_t c = 0; c < channels && count > 0; c++) {
    float scale = 1 / sqrtf(operand_at(&operands[VARIANCE], c) + s->epsilon);
    if (s->scales) scale *= operand_at(&operands[GAMMA], c);
    float offset = -operand_at(&operands[MEAN], c) * scale + operand_at(&operands[BETA], c);
    uint32_t factor = (uint32_t)batch_number(scale), term = (uint32_t)batch_number(offset);
    for (int64_t i = c; i < count; i += channels) {
      uint32_t number = (uint32_t)batch_number(operand_at(&operands[INPUT], i));
      tensor_i32(out)[i] = (int32_t)((uint32_t)((int32_t)(number * factor) / one) + term);
    }
  }
  TRY(quant_put_range(context, 1, -kBatchRange, status));
  return quant_put_range(context, 2, kBatchRange, status);
}

static bool batch_shape(InferenceContext *c, Status *status) {
  ShapeHandle input, vector;
  DimHandle channels;
  TRY(shape_with_rank(c, shape_input(c, 0), 4, &input, status));
  channels = shape_dim_of(c, input, 3);
  for (int i = MEAN; i < BATCH_OPERANDS; i++) {
    TRY(shape_with_rank(c, shape_input(c, 3 * i), 1, &vector, status));
    TRY(dim_merge(c, channels, shape_dim_of(c, vector, 0), &channels, status));
  }
  for (int i = 0; i < BATCH_OPERANDS; i++) TRY(quant_scalar_shapes(c, 3 * i + 1, 3 * i + 3, status));
  TRY(shape_replace_dim(c, input, 3, channels, &input, status));
  shape_set_output(c, 0, input);
  return true;
}

const OpRegistration kOpQuantizedBatchNormWithGlobalNormalization = {
    .name = "QuantizedBatchNormWithGlobalNormalization",
    .inputs = {"t: Tinput", "t_min: float", "t_max: float", "m: Tinput", "m_min: float", "m_max: float",
               "v: Tinput", "v_min: float", "v_max: float", "beta: Tinput", "beta_min: float",
               "beta_max: float", "gamma: Tinput", "gamma_min: float", "gamma_max: float"},
    .outputs = {"result: out_type", "result_min: float", "result_max: float"},
    .attrs = {"Tinput: quantizedtype", "out_type: quantizedtype", "variance_epsilon: float",
              "scale_after_normalization: bool"},
    .shape = batch_shape,
    .state_size = sizeof(BatchNormState),
    .construct = batch_construct,
    .kernels = {{DT_QUINT8, batch_norm}},
};
