/* RequantizePerChannel and RequantizationRangePerChannel: numbers of images with a range for each channel, in
 * one range. Numbers are taken as fractions of the larger end of their range. */
#include <inttypes.h>
#include <math.h>

#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/quant/channel_numbers.h"

/* The larger end of the range of a channel. */
static float reach(const KernelContext *context, int64_t channel) {
  return fmaxf(fabsf(tensor_f32(context->inputs[1])[channel]),
               fabsf(tensor_f32(context->inputs[2])[channel]));
}

static bool check_channels(const Tensor *x, int64_t channels, Status *status) {
  if (x->shape.rank != 4) return status_invalid(status, "input must be in NHWC format");
  return shape_dim(&x->shape, 3) == channels ||
         status_invalid(status,
                        "input must have same number of channels as length of input_min: %" PRId64
                        " vs %" PRId64,
                        shape_dim(&x->shape, 3), channels);
}

/* --- RequantizePerChannel --- */

static bool requantize_construct(const KernelConstruction *construction, void *memory, Status *status) {
  (void)memory;
  DataType type = construction->output_types[0];
  return type == DT_QINT8 || type == DT_QUINT8 ||
         status_invalid(status, "out_type must be qint8 or quint8, but got: %s", dtype_name(type));
}

static bool read_requested(const KernelContext *context, DataType type, float *min, float *max,
                           Status *status) {
  const Tensor *lower = context->inputs[3], *upper = context->inputs[4];
  if (tensor_num_elements(lower) != 1) return status_invalid(status, "requested_output_min must be a scalar");
  if (tensor_num_elements(upper) != 1) return status_invalid(status, "requested_output_max must be a scalar");
  *min = tensor_f32(lower)[0], *max = tensor_f32(upper)[0];
  return type != DT_QINT8 || *min < 0 ||
         status_invalid(status, "If out_type is QINT8, requested_output_max must be non negative, got %g",
                        (double)*min);
}

ALWAYS_INLINE void scaled(PieceNumbers p, bool spread, int64_t count, const int32_t *numbers, float *values) {
  LOOP_INDEPENDENT
  for (int64_t i = 0; i < count; i++) values[i] = rintf((float)numbers[i] * piece_number(&p, spread, 0, i));
}

static void requantize_elements(const Tensor *x, ChannelNumbers *scales, Tensor *y) {
  QuantType type = quant_type(y->dtype);
  int32_t numbers[QUANT_PIECE];
  float values[QUANT_PIECE];
  for (int64_t at = 0, n; at < tensor_num_elements(x); at += n) {
    n = channel_numbers_next(scales, tensor_num_elements(x) - at);
    quant_read(x, at, n, numbers);
    if (scales->spread) scaled(scales->piece, true, n, numbers, values);
    else scaled(scales->piece, false, n, numbers, values);
    quant_nearest(&type, n, values, numbers);
    quant_write(y, at, n, numbers);
  }
}

static bool requantize_channels(KernelContext *context, Status *status) {
  const Tensor *x = context->inputs[0];
  DataType type = context->output_types[0];
  int64_t channels = tensor_num_elements(context->inputs[1]), maxes = tensor_num_elements(context->inputs[2]);
  float min = 0, max = 0;
  Tensor *y;
  if (maxes != channels) {
    return status_invalid(status, "input_max has incorrect size, expected %" PRId64 " was %" PRId64, channels,
                          maxes);
  }
  TRY(read_requested(context, type, &min, &max, status));
  TRY(check_channels(x, channels, status));
  TRY(kernel_allocate_output(context, 0, &x->shape, &y, status));
  float factor = type == DT_QINT8 ? 127 : 255, requested = fmaxf(fabsf(min), fabsf(max));
  ChannelNumbers scales;
  bool ok = channel_numbers_begin(context, &scales, 1, channels, 1, status);
  for (int64_t c = 0; ok && c < channels; c++)
    scales.of_channels[c] = factor * (reach(context, c) / requested / 0x1p31f);
  if (ok) requantize_elements(x, &scales, y);
  channel_numbers_end(&scales);
  TRY(ok);
  TRY(quant_put_range(context, 1, min, status));
  return quant_put_range(context, 2, max, status);
}

static bool vector_ranges(InferenceContext *c, Status *status) {
  ShapeHandle vector;
  TRY(shape_with_rank(c, shape_input(c, 1), 1, &vector, status));
  return shape_with_rank(c, shape_input(c, 2), 1, &vector, status);
}

static bool requantize_shape(InferenceContext *c, Status *status) {
  shape_set_output(c, 0, shape_input(c, 0));
  TRY(vector_ranges(c, status));
  return quant_scalar_shapes(c, 3, 5, status);
}

const OpRegistration kOpRequantizePerChannel = {
    .name = "RequantizePerChannel",
    .inputs = {"input: T", "input_min: float", "input_max: float", "requested_output_min: float",
               "requested_output_max: float"},
    .outputs = {"output: out_type", "output_min: float", "output_max: float"},
    .attrs = {"T: quantizedtype = DT_QINT32", "out_type: quantizedtype = DT_QUINT8"},
    .shape = requantize_shape,
    .construct = requantize_construct,
    .kernels = {{DT_QINT32, requantize_channels}},
};

/* --- RequantizationRangePerChannel --- */

static bool range_construct(const KernelConstruction *construction, void *memory, Status *status) {
  return node_attr_float(construction->node, "clip_value_max", memory, status);
}

static bool check_ranges(const KernelContext *context, Status *status) {
  const Tensor *x = context->inputs[0], *min = context->inputs[1], *max = context->inputs[2];
  int64_t channels = tensor_num_elements(max);
  if (min->shape.rank != 1 || max->shape.rank != 1)
    return status_invalid(status, "input_min and input_max must be vectors");
  if (tensor_num_elements(min) != channels) {
    return status_invalid(status, "input_min has incorrect size, expected %" PRId64 " was %" PRId64, channels,
                          tensor_num_elements(min));
  }
  if (tensor_num_elements(x) == 0) return status_invalid(status, "input must not be empty");
  return check_channels(x, channels, status);
}

static bool range_of_channels(KernelContext *context, Status *status) {
  const Tensor *x = context->inputs[0];
  float largest = 0x1p-126f; /* TensorFlow begins with the smallest normal number */
  bool negative = false;
  TRY(check_ranges(context, status));
  int64_t channels = shape_dim(&x->shape, 3);
  for (int64_t i = 0; i < tensor_num_elements(x); i++) {
    int64_t number = quant_at(x, i);
    negative = negative || number < 0;
    float size = (float)(number < 0 ? -number : number);
    largest = fmaxf(largest, reach(context, i % channels) * size / 0x1p31f);
  }
  largest = fminf(largest, *(const float *)context->state);
  TRY(quant_put_range(context, 0, negative ? -largest : 0, status));
  return quant_put_range(context, 1, largest, status);
}

static bool range_shape(InferenceContext *c, Status *status) {
  TRY(vector_ranges(c, status));
  return shape_scalar_output(c, status);
}

const OpRegistration kOpRequantizationRangePerChannel = {
    .name = "RequantizationRangePerChannel",
    .inputs = {"input: T", "input_min: float", "input_max: float"},
    .outputs = {"output_min: float", "output_max: float"},
    .attrs = {"T: quantizedtype = DT_QINT32", "clip_value_max: float"},
    .shape = range_shape,
    .state_size = sizeof(float),
    .construct = range_construct,
    .kernels = {{DT_QINT32, range_of_channels}},
};
