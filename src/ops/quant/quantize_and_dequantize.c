/* QuantizeAndDequantize: rounds floats to the levels of integers of some bits, in all versions. The range
 * becomes one in which 0 is a level; without a given range it is that of the input. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/support/element_types.h"

typedef struct RoundState {
  bool is_signed, range_given, narrow, half_up;
  int64_t bits, axis;
  float min, max; /* of the first version */
  bool has_range; /* which has them as attrs */
} RoundState;

/* The elements of a channel: blocks that begin at first, first + step, ... */
typedef struct Channel {
  int64_t first, end, step, block;
} Channel;

typedef struct Rounding {
  double lowest, highest, min, max, largest; /* largest: the largest number of the type */
  bool clamp, half_up;
} Rounding;

#define TEMPLATE "ops/quant/quantize_and_dequantize.inc"
#define TYPES (TYPES_FLOAT | TYPES_HALF)
#include "simd/each_type.inc"

/* The loops of a type: the data of the kernels. */
typedef struct RoundLoops {
  double (*limit)(const void *x, const Channel *channel, bool highest);
  void (*round)(const void *x, const Channel *channel, const Rounding *rounding, void *y);
  void (*pass)(const void *dy, const void *x, const Channel *channel, double min, double max, void *dx);
  double largest;
} RoundLoops;
static const RoundLoops kFloat = {lowest_of_f32, round_channel_f32, pass_channel_f32, FLT_MAX};
static const RoundLoops kDouble = {lowest_of_f64, round_channel_f64, pass_channel_f64, DBL_MAX};
static const RoundLoops kHalf = {lowest_of_f16, round_channel_f16, pass_channel_f16, 65504};
static const RoundLoops kBfloat = {lowest_of_bf16, round_channel_bf16, pass_channel_bf16, 0x1.fep127};

static bool optional_bool(const NodeDef *node, const char *name, bool *value, Status *status) {
  return !node_def_attr(node, name) || node_attr_bool(node, name, value, status);
}

static bool check_bits(int64_t bits, bool is_signed, const char *flag, Status *status) {
  if (bits > 0 && bits < (is_signed ? 62 : 63)) return true;
  return status_invalid(status, "num_bits is out of range: %lld with %s %d", (long long)bits, flag,
                        is_signed);
}

static bool round_construct(const KernelConstruction *construction, void *memory, Status *status) {
  RoundState *state = memory;
  const NodeDef *node = construction->node;
  state->axis = -1;
  TRY(node_attr_bool(node, "signed_input", &state->is_signed, status));
  TRY(node_attr_bool(node, "range_given", &state->range_given, status));
  TRY(optional_bool(node, "narrow_range", &state->narrow, status));
  if (node_def_attr(node, "axis")) TRY(node_attr_int(node, "axis", &state->axis, status));
  if (node_def_attr(node, "num_bits")) {
    TRY(node_attr_int(node, "num_bits", &state->bits, status));
    TRY(check_bits(state->bits, state->is_signed, "signed_input_", status));
  }
  if (node_def_attr(node, "round_mode")) {
    Str mode;
    TRY(node_attr_string(node, "round_mode", &mode, status));
    state->half_up = str_equal_text(mode, "HALF_UP");
  }
  if (node_def_attr(node, "input_min")) {
    state->has_range = true;
    TRY(node_attr_float(node, "input_min", &state->min, status));
    TRY(node_attr_float(node, "input_max", &state->max, status));
  }
  return state->axis >= -1 ||
         status_invalid(status, "Axis must be at least -1. Found %lld", (long long)state->axis);
}

static bool check_axis(const RoundState *state, const Tensor *x, bool given_bits, Status *status) {
  int rank = x->shape.rank;
  if (state->axis < rank) return true;
  if (given_bits) {
    return status_invalid(status,
                          "Axis requested is larger than input dimensions. Axis: %lld Input Dimensions: %d",
                          (long long)state->axis, rank);
  }
  return status_invalid(status, "Shape must be at least rank %lld but is rank %d", (long long)state->axis + 1,
                        rank);
}

/* The given range: a number, or one for each channel. */
static bool check_range(const Tensor *min, const Tensor *max, int64_t axis, int64_t channels,
                        Status *status) {
  const Tensor *range[] = {min, max};
  static const char *const names[] = {"min", "max"};
  for (int i = 0; i < 2; i++) {
    int rank = range[i]->shape.rank;
    if (axis < 0 && rank != 0) return status_invalid(status, "input_%s must be a scalar.", names[i]);
    if (axis >= 0 && rank != 1) {
      return status_invalid(status, "Shape must be rank 1 for input_%s_tensor when the axis is specified",
                            names[i]);
    }
    if (axis < 0 || shape_dim(&range[i]->shape, 0) == channels) continue;
    return status_invalid(status, "%s has incorrect size, expected %lld was %lld", names[i],
                          (long long)channels, (long long)shape_dim(&range[i]->shape, 0));
  }
  for (int64_t c = 0; axis < 0 && c < channels; c++) {
    double low = tensor_double_at(min, c), high = tensor_double_at(max, c);
    if (!(low <= high))
      return status_invalid(status, "Invalid range: input_min %g > input_max %g", low, high);
  }
  return true;
}

/* The elements of x as channels of an axis, or one channel of all for axis -1. */
static Channel channel_of(const Tensor *x, int64_t axis, int64_t c) {
  int64_t inner = 1, all = tensor_num_elements(x);
  if (axis < 0) return (Channel){0, all, all > 0 ? all : 1, all};
  for (int i = (int)axis + 1; i < x->shape.rank; i++) inner *= shape_dim(&x->shape, i);
  return (Channel){c * inner, all, shape_dim(&x->shape, (int)axis) * inner, inner};
}

static Rounding rounding_of(const RoundState *state, int64_t bits, double largest) {
  double half = ldexp(1, (int)bits - 1);
  return (Rounding){.lowest = !state->is_signed ? 0
                              : state->narrow   ? 1 - half
                                                : -half,
                    .highest = state->is_signed ? half - 1 : 2 * half - 1,
                    .largest = largest,
                    .clamp = state->range_given,
                    .half_up = state->half_up};
}

static bool read_bits(const KernelContext *context, const RoundState *state, int64_t *bits, Status *status) {
  *bits = state->bits;
  if (context->num_inputs < 4) return true;
  const Tensor *given = context->inputs[3];
  if (given->shape.rank != 0) {
    return status_invalid(status,
                          "Invalid shape. The `num_bits` tensor should be a scalar. Got dimensions: %d",
                          given->shape.rank);
  }
  *bits = tensor_i32(given)[0];
  return check_bits(*bits, state->is_signed, "`signed_input_`", status);
}

static bool quantize_and_dequantize(KernelContext *context, Status *status) {
  const RoundState *state = context->state;
  const RoundLoops *loops = context->data;
  const Tensor *x = context->inputs[0];
  Tensor *y;
  int64_t bits;
  TRY(check_axis(state, x, context->num_inputs == 4, status));
  TRY(read_bits(context, state, &bits, status));
  int64_t channels = state->axis < 0 ? 1 : shape_dim(&x->shape, (int)state->axis);
  if (state->has_range && state->range_given && !(state->min <= state->max)) {
    return status_invalid(status, "Invalid range: input_min %g > input_max %g", (double)state->min,
                          (double)state->max);
  }
  if (state->range_given && !state->has_range)
    TRY(check_range(context->inputs[1], context->inputs[2], state->axis, channels, status));
  TRY(kernel_allocate_output(context, 0, &x->shape, &y, status));
  Rounding rounding = rounding_of(state, bits, loops->largest);
  for (int64_t c = 0; tensor_num_elements(x) > 0 && c < channels; c++) {
    Channel channel = channel_of(x, state->axis, c);
    if (!state->range_given) {
      rounding.min = loops->limit(x->data, &channel, false);
      rounding.max = loops->limit(x->data, &channel, true);
    } else if (state->has_range) {
      rounding.min = (double)state->min;
      rounding.max = (double)state->max;
    } else {
      rounding.min = tensor_double_at(context->inputs[1], c);
      rounding.max = tensor_double_at(context->inputs[2], c);
    }
    loops->round(x->data, &channel, &rounding, y->data);
  }
  return true;
}

/* --- QuantizeAndDequantizeV4Grad --- */

typedef struct GradState {
  int64_t axis;
} GradState;

static bool grad_construct(const KernelConstruction *construction, void *memory, Status *status) {
  return node_attr_int(construction->node, "axis", &((GradState *)memory)->axis, status);
}

static bool check_grad(const KernelContext *context, int64_t axis, Status *status) {
  const Tensor *dy = context->inputs[0], *x = context->inputs[1];
  int rank = x->shape.rank;
  if (!shape_equal(&dy->shape, &x->shape))
    return status_invalid(status, "gradient and input must be the same size");
  if (axis < -1 || axis >= rank) {
    return status_invalid(status,
                          "Axis should be -1 or 0 or a positive value less than %dbut given axis value was "
                          "%lld",
                          rank, (long long)axis);
  }
  static const char *const names[] = {"min", "max"};
  for (int i = 0; axis < 0 && i < 2; i++) {
    if (context->inputs[2 + i]->shape.rank != 0)
      return status_invalid(status, "input_%s must be a scalar if axis is unspecified", names[i]);
  }
  if (axis < 0) return true;
  return check_range(context->inputs[2], context->inputs[3], axis, shape_dim(&x->shape, (int)axis), status);
}

static bool round_grad(KernelContext *context, Status *status) {
  int64_t axis = ((const GradState *)context->state)->axis;
  const RoundLoops *loops = context->data;
  const Tensor *x = context->inputs[1], *min = context->inputs[2], *max = context->inputs[3];
  Tensor *dx, *drange;
  TRY(check_grad(context, axis, status));
  TRY(kernel_allocate_output(context, 0, &x->shape, &dx, status));
  for (int i = 1; i < 3; i++) {
    TRY(kernel_allocate_output(context, i, &min->shape, &drange, status));
    memset(drange->data, 0, (size_t)tensor_bytes(drange));
  }
  int64_t channels = axis < 0 ? 1 : shape_dim(&x->shape, (int)axis);
  for (int64_t c = 0; c < channels; c++) {
    Channel channel = channel_of(x, axis, c);
    loops->pass(context->inputs[0]->data, x->data, &channel, tensor_double_at(min, c),
                tensor_double_at(max, c), dx->data);
  }
  return true;
}

/* --- shapes --- */

/* The shape of the input `x`, and that of the range at the inputs after it. */
static bool range_shape(InferenceContext *c, int x, ShapeHandle *range, Status *status) {
  int64_t axis;
  ShapeHandle input, max;
  TRY(node_attr_int(c->node, "axis", &axis, status));
  if (axis < -1) return status_invalid(status, "axis should be at least -1, got %lld", (long long)axis);
  TRY(shape_with_rank(c, shape_input(c, x + 1), axis < 0 ? 0 : 1, range, status));
  TRY(shape_merge(c, *range, shape_input(c, x + 2), &max, status));
  if (axis < 0) return true;
  DimHandle depth;
  TRY(shape_with_rank_at_least(c, shape_input(c, x), axis + 1, &input, status));
  return dim_merge(c, shape_dim_of(c, *range, 0), shape_dim_of(c, input, axis), &depth, status);
}

static bool round_shape(InferenceContext *c, Status *status) {
  ShapeHandle range, bits;
  TRY(range_shape(c, 0, &range, status));
  if (c->num_inputs > 3) TRY(shape_with_rank(c, shape_input(c, 3), 0, &bits, status));
  shape_set_output(c, 0, shape_input(c, 0));
  return true;
}

static bool grad_shape(InferenceContext *c, Status *status) {
  ShapeHandle range, input;
  TRY(range_shape(c, 1, &range, status));
  TRY(shape_merge(c, shape_input(c, 0), shape_input(c, 1), &input, status));
  shape_set_output(c, 0, input);
  shape_set_output(c, 1, range);
  shape_set_output(c, 2, range);
  return true;
}

/* --- ops --- */

#define FLOATING_TYPES "T: {bfloat16, half, float, double}"
#define ROUND_KERNELS(f) \
  {DT_FLOAT, f, &kFloat}, {DT_DOUBLE, f, &kDouble}, {DT_HALF, f, &kHalf}, { DT_BFLOAT16, f, &kBfloat }
#define ROUND                                                                               \
  .outputs = {"output: T"}, .state_size = sizeof(RoundState), .construct = round_construct, \
  .kernels = {ROUND_KERNELS(quantize_and_dequantize)}
#define NO_BITS "signed_input: bool = true", "range_given: bool = true", FLOATING_TYPES
#define ATTRS                                                                                    \
  "signed_input: bool = true", "num_bits: int = 8", "range_given: bool = false", FLOATING_TYPES, \
      "round_mode: {'HALF_TO_EVEN', 'HALF_UP'} = 'HALF_TO_EVEN'", "narrow_range: bool = false",  \
      "axis: int = -1"

const OpRegistration kOpQuantizeAndDequantize = {
    .name = "QuantizeAndDequantize",
    .inputs = {"input: T"},
    .attrs = {"signed_input: bool = true", "num_bits: int = 8", "range_given: bool = false",
              "input_min: float = 0", "input_max: float = 0", FLOATING_TYPES},
    .deprecated_version = 22,
    .deprecation_explanation = "Replaced by QuantizeAndDequantizeV2",
    .shape = shape_unchanged,
    .gradient =
        "QuantizeAndDequantizeGradient[T:type](input:T, dy:T) -> (dinput:T) {\n"
        "  dx = Identity[T=$T](dy)\n"
        "  return dinput = dx:output:0\n"
        "}\n",
    ROUND,
};

const OpRegistration kOpQuantizeAndDequantizeV2 = {
    .name = "QuantizeAndDequantizeV2",
    .inputs = {"input: T", "input_min: T", "input_max: T"},
    .attrs = {ATTRS},
    .shape = round_shape,
    .gradient =
        "QuantizeAndDequantizeV2Gradient[T:type](input:T, min:T, max:T, dy:T) -> "
        "(dinput:T, dmin:T, dmax:T) {\n"
        "  dx = Identity[T=$T](dy)\n"
        "  dl = ZerosLike[T=$T](min)\n"
        "  dh = ZerosLike[T=$T](max)\n"
        "  return dinput = dx:output:0, dmin = dl:y:0, dmax = dh:y:0\n"
        "}\n",
    ROUND,
};

const OpRegistration kOpQuantizeAndDequantizeV3 = {
    .name = "QuantizeAndDequantizeV3",
    .inputs = {"input: T", "input_min: T", "input_max: T", "num_bits: int32"},
    .attrs = {NO_BITS, "narrow_range: bool = false", "axis: int = -1"},
    .shape = round_shape,
    .gradient =
        "QuantizeAndDequantizeV3Gradient[T:type](input:T, min:T, max:T, num_bits:int32, dy:T) -> "
        "(dinput:T, dmin:T, dmax:T, dnum_bits:int32) {\n"
        "  dx = Identity[T=$T](dy)\n"
        "  dl = ZerosLike[T=$T](min)\n"
        "  dh = ZerosLike[T=$T](max)\n"
        "  db = ZerosLike[T=int32](num_bits)\n"
        "  return dinput = dx:output:0, dmin = dl:y:0, dmax = dh:y:0, dnum_bits = db:y:0\n"
        "}\n",
    ROUND,
};

const OpRegistration kOpQuantizeAndDequantizeV4 = {
    .name = "QuantizeAndDequantizeV4",
    .inputs = {"input: T", "input_min: T", "input_max: T"},
    .attrs = {ATTRS},
    .shape = round_shape,
    .gradient =
        "QuantizeAndDequantizeV4Gradient[T:type, axis:int](input:T, min:T, max:T, dy:T) -> "
        "(dinput:T, dmin:T, dmax:T) {\n"
        "  g = QuantizeAndDequantizeV4Grad[T=$T, axis=$axis](dy, input, min, max)\n"
        "  return dinput = g:input_backprop:0, dmin = g:input_min_backprop:0, "
        "dmax = g:input_max_backprop:0\n"
        "}\n",
    ROUND,
};

const OpRegistration kOpQuantizeAndDequantizeV4Grad = {
    .name = "QuantizeAndDequantizeV4Grad",
    .inputs = {"gradients: T", "input: T", "input_min: T", "input_max: T"},
    .outputs = {"input_backprop: T", "input_min_backprop: T", "input_max_backprop: T"},
    .attrs = {FLOATING_TYPES, "axis: int = -1"},
    .shape = grad_shape,
    .state_size = sizeof(GradState),
    .construct = grad_construct,
    .kernels = {ROUND_KERNELS(round_grad)},
};
