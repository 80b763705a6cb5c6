/* FakeQuantWithMinMaxArgs, -Vars and -VarsPerChannel: rounds floats to the levels of a quantized type, and
 * the straight-through gradient. The range is moved a little, so that zero is a level. */
#include <math.h>

#include "op/node_def.h"
#include "op/op_registry.h"

typedef struct FakeState {
  float min, max; /* of FakeQuantWithMinMaxArgs */
  int lowest, highest;
} FakeState;

static bool read_levels(const NodeDef *node, FakeState *state, Status *status) {
  int64_t bits;
  bool narrow;
  TRY(node_attr_int(node, "num_bits", &bits, status));
  if (bits < 2 || bits > 16) return status_invalid(status, "num_bits must be between 2 and 16, inclusive");
  TRY(node_attr_bool(node, "narrow_range", &narrow, status));
  state->lowest = narrow ? 1 : 0;
  state->highest = (1 << bits) - 1;
  return true;
}

static bool vars_construct(const KernelConstruction *construction, void *memory, Status *status) {
  return read_levels(construction->node, memory, status);
}

static bool args_construct(const KernelConstruction *construction, void *memory, Status *status) {
  FakeState *state = memory;
  const NodeDef *node = construction->node;
  TRY(node_attr_float(node, "min", &state->min, status));
  TRY(node_attr_float(node, "max", &state->max, status));
  if (!(state->min < state->max)) {
    return status_invalid(status, "min has to be smaller than max, was: %g >= %g", (double)state->min,
                          (double)state->max);
  }
  return read_levels(node, state, status);
}

/* The range after it was moved. A range from 0 to 0 has no levels: everything is 0. */
typedef struct Levels {
  float min, max, scale, inverse, zero;
  bool none;
} Levels;

static Levels levels_of(const FakeState *state, float min, float max) {
  float lowest = (float)state->lowest, highest = (float)state->highest;
  Levels l = {.none = min == 0 && max == 0};
  l.scale = (max - min) / (highest - lowest);
  l.inverse = (highest - lowest) / (max - min);
  float zero = lowest - min / l.scale;
  zero = zero < lowest ? lowest : zero > highest ? highest : roundf(zero);
  l.min = (lowest - zero) * l.scale;
  l.max = (highest - zero) * l.scale;
  l.zero = floorf(-l.min * l.inverse + 0.5f);
  return l;
}

/* TensorFlow divides by the scale where the range is an input, and multiplies by its inverse elsewhere. */
static float quantize(const Levels *l, float x, bool divide) {
  if (l->none) return 0;
  float clamped = x > l->max ? l->max : x;
  clamped = clamped < l->min ? l->min : clamped;
  float level = divide ? (clamped - l->min) / l->scale : (clamped - l->min) * l->inverse;
  return floorf(level - l->zero + 0.5f) * l->scale;
}

static float pass(const Levels *l, float x, float dy) {
  return l->none || (x >= l->min && x <= l->max) ? dy : dy * 0;
}

/* --- FakeQuantWithMinMaxArgs --- */

static bool fake_args(KernelContext *context, Status *status) {
  const FakeState *state = context->state;
  const Tensor *x = context->inputs[0];
  Tensor *y;
  TRY(kernel_forward_or_allocate(context, 0, 0, &x->shape, &y, status));
  Levels levels = levels_of(state, state->min, state->max);
  for (int64_t i = 0; i < tensor_num_elements(x); i++)
    tensor_f32(y)[i] = quantize(&levels, tensor_f32(x)[i], false);
  return true;
}

static bool fake_args_gradient(KernelContext *context, Status *status) {
  const FakeState *state = context->state;
  const Tensor *dy = context->inputs[0], *x = context->inputs[1];
  char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY];
  Tensor *dx;
  if (!shape_equal(&dy->shape, &x->shape)) {
    return status_invalid(status,
                          "Inputs to operation %s of type %s must have the same size and shape.  Input 0: %s "
                          "!= input 1: %s",
                          context->node_name, context->op_name, shape_text(&dy->shape, a),
                          shape_text(&x->shape, b));
  }
  TRY(kernel_allocate_output(context, 0, &x->shape, &dx, status));
  Levels levels = levels_of(state, state->min, state->max);
  for (int64_t i = 0; i < tensor_num_elements(x); i++)
    tensor_f32(dx)[i] = pass(&levels, tensor_f32(x)[i], tensor_f32(dy)[i]);
  return true;
}

/* --- the range as inputs --- */

/* Kernels whose data is this have one range for each element of the last axis. */
static const bool kPerChannel = true;

static bool check_range(const KernelContext *context, int x, Status *status) {
  static const char *const names[] = {"min", "max"};
  const Shape *shape = &context->inputs[x]->shape;
  bool channels = context->data == &kPerChannel;
  if (channels && shape->rank == 0) return status_invalid(status, "inputs must have at least one dimension");
  for (int i = 0; i < 2; i++) {
    const Shape *range = &context->inputs[x + 1 + i]->shape;
    if (range->rank != (channels ? 1 : 0)) {
      return status_invalid(status, "`%s` must be rank %d but is rank %d", names[i], channels ? 1 : 0,
                            range->rank);
    }
    if (!channels || shape_dim(range, 0) == shape_dim(shape, shape->rank - 1)) continue;
    return status_invalid(status, "%s has incorrect size, expected %lld was %lld", names[i],
                          (long long)shape_dim(shape, shape->rank - 1), (long long)shape_dim(range, 0));
  }
  return true;
}

static bool fake_vars(KernelContext *context, Status *status) {
  const Tensor *x = context->inputs[0], *min = context->inputs[1], *max = context->inputs[2];
  Tensor *y;
  TRY(check_range(context, 0, status));
  TRY(kernel_allocate_output(context, 0, &x->shape, &y, status));
  int64_t channels = tensor_num_elements(min), count = tensor_num_elements(x);
  for (int64_t c = 0; c < channels; c++) {
    Levels levels = levels_of(context->state, tensor_f32(min)[c], tensor_f32(max)[c]);
    for (int64_t i = c; i < count; i += channels)
      tensor_f32(y)[i] = quantize(&levels, tensor_f32(x)[i], context->data != &kPerChannel);
  }
  return true;
}

static bool fake_vars_gradient(KernelContext *context, Status *status) {
  const Tensor *dy = context->inputs[0], *x = context->inputs[1], *min = context->inputs[2],
               *max = context->inputs[3];
  Tensor *dx, *dmin, *dmax;
  if (!shape_equal(&dy->shape, &x->shape))
    return status_invalid(status, "gradient and input must be the same size");
  TRY(check_range(context, 1, status));
  TRY(kernel_allocate_output(context, 0, &x->shape, &dx, status));
  TRY(kernel_allocate_output(context, 1, &min->shape, &dmin, status));
  TRY(kernel_allocate_output(context, 2, &min->shape, &dmax, status));
  int64_t channels = tensor_num_elements(min), count = tensor_num_elements(x);
  for (int64_t c = 0; c < channels; c++) {
    Levels levels = levels_of(context->state, tensor_f32(min)[c], tensor_f32(max)[c]);
    double below = 0, above = 0;
    for (int64_t i = c; i < count; i += channels) {
      float value = tensor_f32(x)[i], g = tensor_f32(dy)[i];
      tensor_f32(dx)[i] = pass(&levels, value, g);
      if (!levels.none && value < levels.min) below += (double)g;
      if (!levels.none && value > levels.max) above += (double)g;
    }
    tensor_f32(dmin)[c] = (float)below;
    tensor_f32(dmax)[c] = (float)above;
  }
  return true;
}

/* --- shapes and ops --- */

static bool range_shape(InferenceContext *c, int x, int rank, ShapeHandle *input, ShapeHandle *range,
                        Status *status) {
  *input = shape_input(c, x);
  if (x > 0) TRY(shape_merge(c, *input, shape_input(c, 0), input, status));
  if (rank > 0) TRY(shape_with_rank_at_least(c, *input, 1, input, status));
  TRY(shape_with_rank(c, shape_input(c, x + 1), rank, range, status));
  TRY(shape_merge(c, *range, shape_input(c, x + 2), range, status));
  if (rank == 0 || !shape_rank_known(*input)) return true;
  DimHandle depth;
  TRY(dim_merge(c, shape_dim_of(c, *range, 0), shape_dim_of(c, *input, -1), &depth, status));
  TRY(shape_ok(shape_vector(c, depth), range, status));
  return shape_replace_dim(c, *input, -1, depth, input, status);
}

static bool fake_shape(InferenceContext *c, int x, int rank, Status *status) {
  ShapeHandle input, range;
  TRY(range_shape(c, x, rank, &input, &range, status));
  shape_set_output(c, 0, input);
  for (int i = 1; i < c->num_outputs; i++) shape_set_output(c, i, range);
  return true;
}
static bool vars_shape(InferenceContext *c, Status *status) { return fake_shape(c, 0, 0, status); }
static bool vars_gradient_shape(InferenceContext *c, Status *status) { return fake_shape(c, 1, 0, status); }
static bool channel_shape(InferenceContext *c, Status *status) { return fake_shape(c, 0, 1, status); }
static bool channel_gradient_shape(InferenceContext *c, Status *status) {
  return fake_shape(c, 1, 1, status);
}

#define LEVELS "num_bits: int = 8", "narrow_range: bool = false"
#define STATE .state_size = sizeof(FakeState)
#define VARS_GRADIENT(op)                                                                      \
  op "Grad[num_bits:int, narrow_range:bool](inputs:float, min:float, max:float, dy:float) -> " \
     "(dinputs:float, dmin:float, dmax:float) {\n"                                             \
     "  g = " op                                                                               \
     "Gradient[num_bits=$num_bits, narrow_range=$narrow_range](dy, inputs, min, max)\n"        \
     "  return dinputs = g:backprops_wrt_input:0, dmin = g:backprop_wrt_min:0, "               \
     "dmax = g:backprop_wrt_max:0\n"                                                           \
     "}\n"

const OpRegistration kOpFakeQuantWithMinMaxArgs = {
    .name = "FakeQuantWithMinMaxArgs",
    .inputs = {"inputs: float"},
    .outputs = {"outputs: float"},
    .attrs = {"min: float = -6.0", "max: float = 6.0", LEVELS},
    .shape = shape_unchanged,
    .gradient =
        "FakeQuantWithMinMaxArgsGrad[min:float, max:float, num_bits:int, narrow_range:bool](inputs:float, "
        "dy:float) -> (dinputs:float) {\n"
        "  g = FakeQuantWithMinMaxArgsGradient[min=$min, max=$max, num_bits=$num_bits, "
        "narrow_range=$narrow_range](dy, inputs)\n"
        "  return dinputs = g:backprops:0\n"
        "}\n",
    STATE,
    .construct = args_construct,
    .kernels = {{DT_INVALID, fake_args}},
};

const OpRegistration kOpFakeQuantWithMinMaxArgsGradient = {
    .name = "FakeQuantWithMinMaxArgsGradient",
    .inputs = {"gradients: float", "inputs: float"},
    .outputs = {"backprops: float"},
    .attrs = {"min: float = -6.0", "max: float = 6.0", LEVELS},
    .shape = shape_unchanged,
    STATE,
    .construct = args_construct,
    .kernels = {{DT_INVALID, fake_args_gradient}},
};

const OpRegistration kOpFakeQuantWithMinMaxVars = {
    .name = "FakeQuantWithMinMaxVars",
    .inputs = {"inputs: float", "min: float", "max: float"},
    .outputs = {"outputs: float"},
    .attrs = {LEVELS},
    .shape = vars_shape,
    .gradient = VARS_GRADIENT("FakeQuantWithMinMaxVars"),
    STATE,
    .construct = vars_construct,
    .kernels = {{DT_INVALID, fake_vars}},
};

const OpRegistration kOpFakeQuantWithMinMaxVarsGradient = {
    .name = "FakeQuantWithMinMaxVarsGradient",
    .inputs = {"gradients: float", "inputs: float", "min: float", "max: float"},
    .outputs = {"backprops_wrt_input: float", "backprop_wrt_min: float", "backprop_wrt_max: float"},
    .attrs = {LEVELS},
    .shape = vars_gradient_shape,
    STATE,
    .construct = vars_construct,
    .kernels = {{DT_INVALID, fake_vars_gradient}},
};

const OpRegistration kOpFakeQuantWithMinMaxVarsPerChannel = {
    .name = "FakeQuantWithMinMaxVarsPerChannel",
    .inputs = {"inputs: float", "min: float", "max: float"},
    .outputs = {"outputs: float"},
    .attrs = {LEVELS},
    .shape = channel_shape,
    .gradient = VARS_GRADIENT("FakeQuantWithMinMaxVarsPerChannel"),
    STATE,
    .construct = vars_construct,
    .kernels = {{DT_INVALID, fake_vars, &kPerChannel}},
};

const OpRegistration kOpFakeQuantWithMinMaxVarsPerChannelGradient = {
    .name = "FakeQuantWithMinMaxVarsPerChannelGradient",
    .inputs = {"gradients: float", "inputs: float", "min: float", "max: float"},
    .outputs = {"backprops_wrt_input: float", "backprop_wrt_min: float", "backprop_wrt_max: float"},
    .attrs = {LEVELS},
    .shape = channel_gradient_shape,
    STATE,
    .construct = vars_construct,
    .kernels = {{DT_INVALID, fake_vars_gradient, &kPerChannel}},
};
