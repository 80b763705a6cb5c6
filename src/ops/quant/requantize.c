/* Numbers of one range as numbers of another: Requantize, QuantizeDownAndShrinkRange and the ranges for them.
 */
#include <math.h>

#include "op/op_registry.h"
#include "ops/support/quant_types.h"

/* A range of numbers. */
typedef struct NumberRange {
  float min, max;
} NumberRange;

/* From qint32 to quint8, as TensorFlow computes it: in integers with 16 bits of fraction. */
static void requantize_to_bytes(const Tensor *x, NumberRange from, NumberRange to, Tensor *y) {
  const int shift = 16;
  float width = to.max - to.min, centre = (float)(((double)from.min + (double)from.max) / 2.0);
  float inverse = width == 0 ? 0 : (float)(255.0 / (double)width);
  int64_t scale = 0, first = 0;
  if (width != 0) {
    scale = (int64_t)(255.0 * (1 << shift) * (double)(from.max - from.min) / (double)width);
    first = (int64_t)round((double)(1 << shift) * ((double)to.min * 255.0) / (double)width);
  }
  int64_t offset = (int64_t)(centre * inverse * (float)(1 << shift)) - first + (1 << (shift - 1));
  const int32_t *from_numbers = x->data;
  uint8_t *to_numbers = y->data;
  for (int64_t i = 0; i < tensor_num_elements(x); i++) {
    int64_t product = (int64_t)((uint64_t)from_numbers[i] * (uint64_t)scale);
    int64_t number = ((product >> 32) + offset) >> shift;
    to_numbers[i] = (uint8_t)(number < 0 ? 0 : number > 255 ? 255 : number);
  }
}

/* The general way: through floats. */
static void requantize_floats(const Tensor *x, NumberRange from, NumberRange to, Tensor *y) {
  QuantMap map = quant_map(x->dtype, from.min, from.max, y->dtype, to.min, to.max);
  int32_t numbers[QUANT_PIECE];
  for (int64_t at = 0; at < tensor_num_elements(x); at += QUANT_PIECE) {
    int64_t n = quant_piece(tensor_num_elements(x) - at);
    quant_read(x, at, n, numbers);
    quant_map_numbers(&map, n, numbers);
    quant_write(y, at, n, numbers);
  }
}

static bool put_requantized(KernelContext *context, NumberRange from, NumberRange to, Status *status) {
  const Tensor *x = context->inputs[0];
  Tensor *y;
  TRY(kernel_allocate_output(context, 0, &x->shape, &y, status));
  if (x->dtype == DT_QINT32 && y->dtype == DT_QUINT8) requantize_to_bytes(x, from, to, y);
  else requantize_floats(x, from, to, y);
  TRY(quant_put_range(context, 1, to.min, status));
  return quant_put_range(context, 2, to.max, status);
}

static bool requantize(KernelContext *context, Status *status) {
  NumberRange from, to;
  TRY(quant_scalar(context, 1, "input_min", &from.min, status));
  TRY(quant_scalar(context, 2, "input_max", &from.max, status));
  TRY(quant_scalar(context, 3, "requested_output_min", &to.min, status));
  TRY(quant_scalar(context, 4, "requested_output_max", &to.max, status));
  if (to.min > 0) {
    return status_invalid(status, "requested_output_min must be <= 0, but got %g", (double)to.min);
  }
  if (to.max < to.min) {
    return status_invalid(status, "requested_output_max must be >= requested_output_min, but got %g and %g",
                          (double)to.max, (double)to.min);
  }
  return put_requantized(context, from, to, status);
}

/* The floats of the smallest and the largest number; 0 is in the range. */
static bool used_range(const KernelContext *context, NumberRange *from, NumberRange *used, Status *status) {
  const Tensor *x = context->inputs[0];
  QuantType type = quant_type(x->dtype);
  int32_t lowest = (int32_t)type.highest, highest = (int32_t)type.lowest, numbers[QUANT_PIECE];
  TRY(quant_scalar(context, 1, "input_min", &from->min, status));
  TRY(quant_scalar(context, 2, "input_max", &from->max, status));
  for (int64_t at = 0; at < tensor_num_elements(x); at += QUANT_PIECE) {
    int64_t n = quant_piece(tensor_num_elements(x) - at);
    quant_read(x, at, n, numbers);
    for (int64_t i = 0; i < n; i++) {
      lowest = numbers[i] < lowest ? numbers[i] : lowest;
      highest = numbers[i] > highest ? numbers[i] : highest;
    }
  }
  used->min = fminf(0, quant_to_float(&type, lowest, from->min, from->max));
  used->max = quant_to_float(&type, highest, from->min, from->max);
  return true;
}

static bool shrink_range(KernelContext *context, Status *status) {
  NumberRange from, to;
  TRY(used_range(context, &from, &to, status));
  return put_requantized(context, from, to, status);
}

static bool requantization_range(KernelContext *context, Status *status) {
  NumberRange from, used;
  TRY(used_range(context, &from, &used, status));
  TRY(quant_put_range(context, 0, used.min, status));
  return quant_put_range(context, 1, used.max, status);
}

/* --- shapes and ops --- */

static bool requantize_shape(InferenceContext *c, Status *status) {
  shape_set_output(c, 0, shape_input(c, 0));
  return quant_scalar_shapes(c, 1, c->num_inputs, status);
}

static bool range_shape(InferenceContext *c, Status *status) {
  TRY(quant_scalar_shapes(c, 1, 3, status));
  shape_set_output(c, 0, c->outputs[1]);
  return true;
}

const OpRegistration kOpRequantize = {
    .name = "Requantize",
    .inputs = {"input: Tinput", "input_min: float", "input_max: float", "requested_output_min: float",
               "requested_output_max: float"},
    .outputs = {"output: out_type", "output_min: float", "output_max: float"},
    .attrs = {"Tinput: quantizedtype", "out_type: quantizedtype"},
    .shape = requantize_shape,
    .kernels = {{DT_QINT32, requantize}},
};

const OpRegistration kOpQuantizeDownAndShrinkRange = {
    .name = "QuantizeDownAndShrinkRange",
    .inputs = {"input: Tinput", "input_min: float", "input_max: float"},
    .outputs = {"output: out_type", "output_min: float", "output_max: float"},
    .attrs = {"Tinput: quantizedtype", "out_type: quantizedtype"},
    .shape = requantize_shape,
    .kernels = {{DT_QINT32, shrink_range}},
};

const OpRegistration kOpRequantizationRange = {
    .name = "RequantizationRange",
    .inputs = {"input: Tinput", "input_min: float", "input_max: float"},
    .outputs = {"output_min: float", "output_max: float"},
    .attrs = {"Tinput: quantizedtype"},
    .shape = range_shape,
    .kernels = {{DT_QINT32, requantization_range}},
};
