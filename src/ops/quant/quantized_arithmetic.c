/* QuantizedAdd and QuantizedMul: sums and products of numbers of two ranges, as qint32. */
#include <math.h>

#include "op/op_registry.h"
#include "ops/support/quant_types.h"
#include "ops/support/broadcast.h"

/* Number n of an operand counts as offset + n * scale, within int32. */
typedef struct Operand {
  const uint8_t *numbers;
  int64_t count;
  int64_t offset, scale;
} Operand;

enum { BYTES = 256 };
static void count_each(const Operand *x, uint32_t counts[BYTES]) {
  for (int n = 0; n < BYTES; n++) {
    int64_t number = x->offset + n * x->scale;
    number = number < INT32_MIN ? INT32_MIN : number > INT32_MAX ? INT32_MAX : number;
    counts[n] = (uint32_t)(int32_t)number;
  }
}

typedef enum Combine { ADD, MULTIPLY } Combine; /* wraps around */

static bool construct(const KernelConstruction *construction, void *memory, Status *status) {
  (void)memory;
  TRY(quant_check_output(construction, DT_QINT32, status));
  DataType type = construction->input_types[1];
  return type == DT_QUINT8 || status_set(status, CODE_NOT_FOUND, "No kernel of Op '%s' has inputs of type %s",
                                         construction->node->op, dtype_name(type));
}

static const char *const kRanges[] = {"min_x", "max_x", "min_y", "max_y"};

static void read_operands(const KernelContext *context, Operand operands[2]) {
  for (int i = 0; i < 2; i++) {
    operands[i] =
        (Operand){.numbers = context->inputs[i]->data, .count = tensor_num_elements(context->inputs[i])};
  }
}

static bool check_ranges(const float ranges[4], const char *x_message, const char *y_message,
                         Status *status) {
  if (!(ranges[1] > ranges[0])) return status_invalid(status, "%s", x_message);
  return ranges[3] > ranges[2] || status_invalid(status, "%s", y_message);
}

static bool allocate(KernelContext *context, Tensor **z, Status *status) {
  Shape shape = {0};
  bool ok = broadcast_shapes(&context->inputs[0]->shape, &context->inputs[1]->shape, &shape, status) &&
            kernel_allocate_output(context, 0, &shape, z, status);
  shape_clear(&shape);
  return ok;
}

/* Of two kinds of dimensions TensorFlow repeats the smaller operand, whichever dimensions it lacks; more
 * kinds it refuses. `empty` is the message where the repeated one has no elements. */
static bool combine(KernelContext *context, const Operand operands[2], Combine function, const char *empty,
                    Tensor *z, Status *status) {
  const Shape *a = &context->inputs[0]->shape, *b = &context->inputs[1]->shape;
  const Operand *x = &operands[0], *y = &operands[1];
  char a_text[SHAPE_TEXT_CAPACITY], b_text[SHAPE_TEXT_CAPACITY];
  int64_t count = tensor_num_elements(z);
  Broadcast plan;
  if (count == 0) {
    return x->count == 1 || y->count == 1 || shape_equal(a, b) || status_invalid(status, "%s", empty);
  }
  broadcast_plan(a, b, &plan);
  if (plan.rank > 2 || (x->count < count && y->count < count)) {
    return status_set(status, CODE_UNIMPLEMENTED, "Broadcast between %s and %s is not supported yet.",
                      shape_text(a, a_text), shape_text(b, b_text));
  }
  uint32_t left[BYTES], right[BYTES];
  count_each(x, left);
  count_each(y, right);
  int64_t row = x->count < y->count ? x->count : y->count;
  for (int64_t at = 0; at < count; at += row) {
    const uint8_t *p = x->numbers + (x->count == count ? at : 0),
                  *q = y->numbers + (y->count == count ? at : 0);
    uint32_t *out = (uint32_t *)z->data + at;
    if (function == ADD) {
      for (int64_t i = 0; i < row; i++) out[i] = left[p[i]] + right[q[i]];
    } else {
      for (int64_t i = 0; i < row; i++) out[i] = left[p[i]] * right[q[i]];
    }
  }
  return true;
}

/* TensorFlow converts a single number alone, others by the distance of the first two. */
static void place_in_sum(Operand *x, const float *range, float max, bool single) {
  const QuantType byte = quant_type(DT_QUINT8), wide = quant_type(DT_QINT32);
  int64_t steps[2];
  for (int n = 0; n < 2; n++) {
    float value = quant_to_float(&byte, single ? x->numbers[0] : n, range[0], range[1]);
    steps[n] = quant_from_float_unclamped(&wide, value, -max, max);
  }
  x->offset = steps[0];
  x->scale = (int32_t)(uint32_t)((uint64_t)steps[1] - (uint64_t)steps[0]);
}

static bool quantized_add(KernelContext *context, Status *status) {
  Operand operands[2];
  float r[4];
  int scalar = 0;
  Tensor *z;
  for (int i = 0; i < 4; i++) TRY(quant_scalar(context, 2 + i, kRanges[i], &r[i], status));
  TRY(allocate(context, &z, status));
  TRY(check_ranges(r, "max_x must be larger than min_x.", "max_y must be larger than min_y.", status));
  float max = fmaxf(fabsf(fminf(r[0], r[2])), fabsf(fmaxf(r[1], r[3]))) * (1 << 14);
  read_operands(context, operands);
  for (int i = 0; i < 2; i++) place_in_sum(&operands[i], r + 2 * i, max, operands[i].count == 1 && !scalar++);
  TRY(combine(context, operands, ADD, "Must have some elements to add", z, status));
  TRY(quant_put_range(context, 1, -max, status));
  return quant_put_range(context, 2, max, status);
}

static bool quantized_mul(KernelContext *context, Status *status) {
  const QuantType byte = quant_type(DT_QUINT8), wide = quant_type(DT_QINT32);
  Operand operands[2];
  float r[4], min, max;
  Tensor *z;
  for (int i = 0; i < 4; i++) {
    if (context->inputs[2 + i]->shape.rank != 0)
      return status_invalid(status, "%s must be a scalar", kRanges[i]);
    r[i] = tensor_f32(context->inputs[2 + i])[0];
  }
  TRY(allocate(context, &z, status));
  TRY(check_ranges(r, "max_x must be larger than min_a.", "max_x must be larger than min_b.", status));
  read_operands(context, operands);
  for (int i = 0; i < 2; i++) {
    int64_t zero = quant_from_float_unclamped(&byte, 0, r[2 * i], r[2 * i + 1]);
    operands[i].offset = -(int64_t)(int32_t)(uint32_t)(uint64_t)zero;
    operands[i].scale = 1;
  }
  TRY(combine(context, operands, MULTIPLY, "vector must have at least 1 element", z, status));
  quant_product_range(&byte, r[0], r[1], &byte, r[2], r[3], &wide, &min, &max);
  TRY(quant_put_range(context, 1, min, status));
  return quant_put_range(context, 2, max, status);
}

static bool arithmetic_shape(InferenceContext *c, Status *status) {
  TRY(shape_broadcast_binary(c, status));
  return quant_scalar_shapes(c, 2, 6, status);
}

#define OPERANDS \
  { "x: T1", "y: T2", "min_x: float", "max_x: float", "min_y: float", "max_y: float" }

const OpRegistration kOpQuantizedAdd = {
    .name = "QuantizedAdd",
    .inputs = OPERANDS,
    .outputs = {"z: Toutput", "min_z: float", "max_z: float"},
    .attrs = {"T1: quantizedtype", "T2: quantizedtype", "Toutput: quantizedtype = DT_QINT32"},
    .shape = arithmetic_shape,
    .construct = construct,
    .kernels = {{DT_QUINT8, quantized_add}},
};

const OpRegistration kOpQuantizedMul = {
    .name = "QuantizedMul",
    .inputs = OPERANDS,
    .outputs = {"z: Toutput", "min_z: float", "max_z: float"},
    .attrs = {"T1: quantizedtype", "T2: quantizedtype", "Toutput: quantizedtype = DT_QINT32"},
    .shape = arithmetic_shape,
    .construct = construct,
    .kernels = {{DT_QUINT8, quantized_mul}},
};
