/* QuantizedRelu, QuantizedRelu6, QuantizedReluX: bounds on numbers, in the range of the input. */
#include "op/op_registry.h"
#include "ops/support/quant_types.h"
#include "simd/templates.h"

static bool clamp(KernelContext *context, int range, bool bounded, float bound, Status *status) {
  const Tensor *x = context->inputs[0];
  float min, max;
  Tensor *y;
  TRY(quant_scalar(context, range, "min_input", &min, status));
  TRY(quant_scalar(context, range + 1, "max_input", &max, status));
  TRY(kernel_forward_or_allocate(context, 0, 0, &x->shape, &y, status));
  QuantType type = quant_type(x->dtype);
  int32_t lowest = (int32_t)quant_from_float(&type, 0, min, max);
  int32_t highest = (int32_t)(bounded ? quant_from_float(&type, bound, min, max) : type.highest);
  int32_t numbers[QUANT_PIECE];
  for (int64_t at = 0; at < tensor_num_elements(x); at += QUANT_PIECE) {
    int64_t n = quant_piece(tensor_num_elements(x) - at);
    quant_read(x, at, n, numbers);
    LOOP_INDEPENDENT
    for (int64_t i = 0; i < n; i++) {
      int32_t number = numbers[i] < lowest ? lowest : numbers[i];
      numbers[i] = number > highest ? highest : number;
    }
    quant_write(y, at, n, numbers);
  }
  TRY(quant_put_range(context, 1, min, status));
  return quant_put_range(context, 2, max, status);
}

static bool relu(KernelContext *context, Status *status) { return clamp(context, 1, false, 0, status); }
static bool relu6(KernelContext *context, Status *status) { return clamp(context, 1, true, 6, status); }
static bool relu_x(KernelContext *context, Status *status) {
  float bound;
  TRY(quant_scalar(context, 1, "max_value", &bound, status));
  return clamp(context, 2, true, bound, status);
}

static bool relu_shape(InferenceContext *c, Status *status) {
  shape_set_output(c, 0, shape_input(c, 0));
  return quant_scalar_shapes(c, 1, c->num_inputs, status);
}

#define RELU                                                                                \
  .outputs = {"activations: out_type", "min_activations: float", "max_activations: float"}, \
  .attrs = {"Tinput: quantizedtype", "out_type: quantizedtype = DT_QUINT8"}, .shape = relu_shape

const OpRegistration kOpQuantizedRelu = {
    .name = "QuantizedRelu",
    .inputs = {"features: Tinput", "min_features: float", "max_features: float"},
    RELU,
    .kernels = {{DT_QUINT8, relu}, {DT_QINT32, relu}},
};

const OpRegistration kOpQuantizedRelu6 = {
    .name = "QuantizedRelu6",
    .inputs = {"features: Tinput", "min_features: float", "max_features: float"},
    RELU,
    .kernels = {{DT_QUINT8, relu6}, {DT_QINT32, relu6}},
};

const OpRegistration kOpQuantizedReluX = {
    .name = "QuantizedReluX",
    .inputs = {"features: Tinput", "max_value: float", "min_features: float", "max_features: float"},
    RELU,
    .kernels = {{DT_QUINT8, relu_x}, {DT_QINT32, relu_x}},
};
