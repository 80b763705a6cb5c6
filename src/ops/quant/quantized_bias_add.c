/* QuantizedBiasAdd: adds numbers of two ranges as qint32, in a range that holds both sums many times. */
#include <math.h>

#include "op/op_registry.h"
#include "ops/support/quant_types.h"
#include "simd/templates.h"

static bool construct(const KernelConstruction *construction, void *memory, Status *status) {
  (void)memory;
  return quant_check_output(construction, DT_QINT32, status);
}

/* How numbers of one range become numbers of the sum. */
typedef struct Term {
  float first, level; /* the float of number n is first + n * level */
} Term;

static Term term_of(DataType dtype, float min, float max) {
  QuantType type = quant_type(dtype);
  float level = (float)((double)(max - min) / (ldexp(1, type.bits) - 1));
  float first = max == min ? min : roundf(min / level) * level;
  return (Term){first - (float)type.lowest * level, level};
}

/* The range of the sum, and its scale. */
typedef struct Sum {
  float max, scale, offset;
  uint32_t zero; /* the number for 0; sums wrap around */
} Sum;

/* In place. */
static void numbers_of(const Sum *sum, const Term *term, int64_t count, int32_t *numbers) {
  const Sum s = *sum;
  const Term t = *term;
  LOOP_INDEPENDENT
  for (int64_t i = 0; i < count; i++) {
    float number = quant_round((t.first + (float)numbers[i] * t.level) * s.scale) - s.offset;
    number = number > -0x1p31f ? number : -0x1p31f;
    numbers[i] = (int32_t)(number < 0x1.fffffep30f ? number : 0x1.fffffep30f);
  }
}

static Sum sum_of(const float ranges[4]) {
  QuantType type = quant_type(DT_QINT32);
  Sum sum = {.max = fmaxf(fmaxf(ranges[1], -ranges[0]), fmaxf(ranges[3], -ranges[2])) * (float)(1 << 17)};
  sum.scale = sum.max == 0 ? 0 : (float)((0x1p32 - 1) / (double)(sum.max + sum.max));
  sum.offset = roundf(-sum.max * sum.scale) - (float)type.lowest;
  sum.zero = (uint32_t)quant_from_float(&type, 0, -sum.max, sum.max);
  return sum;
}

static bool check_bias(const KernelContext *context, Status *status) {
  const Shape *x = &context->inputs[0]->shape, *bias = &context->inputs[1]->shape;
  char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY];
  if (x->rank < 2) return status_invalid(status, "Input tensor must be at least 2D: %s", shape_text(x, a));
  if (bias->rank != 1) return status_invalid(status, "Biases must be 1D: %s", shape_text(bias, a));
  if (shape_dim(bias, 0) == shape_dim(x, x->rank - 1)) return true;
  return status_invalid(status,
                        "Must provide as many biases as the last dimension of the input tensor: %s vs. %s",
                        shape_text(bias, a), shape_text(x, b));
}

static bool quantized_bias_add(KernelContext *context, Status *status) {
  static const char *const names[] = {"min_input", "max_input", "min_bias", "max_bias"};
  const Tensor *x = context->inputs[0], *bias = context->inputs[1];
  float ranges[4];
  Tensor *y;
  for (int i = 0; i < 4; i++) TRY(quant_scalar(context, 2 + i, names[i], &ranges[i], status));
  TRY(check_bias(context, status));
  TRY(kernel_allocate_output(context, 0, &x->shape, &y, status));
  Sum sum = sum_of(ranges);
  Term term = term_of(x->dtype, ranges[0], ranges[1]), bias_term = term_of(bias->dtype, ranges[2], ranges[3]);
  int64_t channels = tensor_num_elements(bias), count = tensor_num_elements(x);
  int32_t *numbers = tensor_i32(y), more[QUANT_PIECE];
  quant_read(x, 0, count, numbers);
  numbers_of(&sum, &term, count, numbers);
  for (int64_t channel = 0; channel < channels; channel += QUANT_PIECE) {
    int64_t n = quant_piece(channels - channel);
    quant_read(bias, channel, n, more);
    numbers_of(&sum, &bias_term, n, more);
    for (int64_t at = channel; at < count; at += channels) {
      LOOP_INDEPENDENT
      for (int64_t i = 0; i < n; i++)
        numbers[at + i] = (int32_t)((uint32_t)numbers[at + i] + (uint32_t)more[i] + sum.zero);
    }
  }
  TRY(quant_put_range(context, 1, -sum.max, status));
  return quant_put_range(context, 2, sum.max, status);
}

static bool bias_shape(InferenceContext *c, Status *status) {
  TRY(shape_bias_add(c, status));
  return quant_scalar_shapes(c, 2, 6, status);
}

const OpRegistration kOpQuantizedBiasAdd = {
    .name = "QuantizedBiasAdd",
    .inputs = {"input: T1", "bias: T2", "min_input: float", "max_input: float", "min_bias: float",
               "max_bias: float"},
    .outputs = {"output: out_type", "min_out: float", "max_out: float"},
    .attrs = {"T1: quantizedtype", "T2: quantizedtype", "out_type: quantizedtype"},
    .shape = bias_shape,
    .construct = construct,
    .kernels = {{DT_QUINT8, quantized_bias_add}, {DT_QINT8, quantized_bias_add}},
};
