/* FakeQuantWithMinMaxArgs, -Vars and -VarsPerChannel: rounds floats to the levels of a quantized type, and
 * the straight-through gradient. The range is moved a little, so that zero is a level. */
#include <math.h>
#include <string.h>

#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/quant/channel_numbers.h"
#include "simd/simd.h"

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
  float exist; /* 1 or 0 */
} Levels;
enum { LEVELS_WIDTH = sizeof(Levels) / sizeof(float) };

static Levels levels_of(const FakeState *state, float min, float max) {
  float lowest = (float)state->lowest, highest = (float)state->highest;
  Levels l = {.exist = min != 0 || max != 0};
  l.scale = (max - min) / (highest - lowest);
  l.inverse = (highest - lowest) / (max - min);
  float zero = lowest - min / l.scale;
  zero = zero < lowest ? lowest : zero > highest ? highest : roundf(zero);
  l.min = (lowest - zero) * l.scale;
  l.max = (highest - zero) * l.scale;
  l.zero = floorf(-l.min * l.inverse + 0.5f);
  return l;
}

/* The levels of channels with these ranges, which are neighbours. */
static bool begin_levels(KernelContext *context, ChannelNumbers *levels, const float *min, const float *max,
                         int64_t channels, Status *status) {
  TRY(channel_numbers_begin(context, levels, LEVELS_WIDTH, channels, 1, status));
  for (int64_t c = 0; c < channels; c++)
    ((Levels *)levels->of_channels)[c] = levels_of(context->state, min[c], max[c]);
  return true;
}

/* The numbers of Levels. */
#define MIN piece_number(&p, spread, 0, i)
#define MAX piece_number(&p, spread, 1, i)
#define SCALE piece_number(&p, spread, 2, i)
#define INVERSE piece_number(&p, spread, 3, i)
#define ZERO piece_number(&p, spread, 4, i)
#define EXIST piece_number(&p, spread, 5, i)

/* TensorFlow divides by the scale where the range is an input, and multiplies by its inverse elsewhere. `y`
 * may be `x`. */
ALWAYS_INLINE void quantize(PieceNumbers p, bool spread, bool divide, int64_t count, const float *x,
                            float *y) {
  LOOP_INDEPENDENT
  for (int64_t i = 0; i < count; i++) {
    float inside = x[i] > MAX ? MAX : x[i];
    float above = (inside < MIN ? MIN : inside) - MIN;
    float level = divide ? above / SCALE : above * INVERSE;
    float rounded = floorf(level - ZERO + 0.5f) * SCALE;
    y[i] = EXIST != 0 ? rounded : 0;
  }
}

static void quantize_all(ChannelNumbers *levels, const Tensor *x, bool divide, Tensor *y) {
  for (int64_t at = 0, n; at < tensor_num_elements(x); at += n) {
    n = channel_numbers_next(levels, tensor_num_elements(x) - at);
    const float *from = tensor_f32(x) + at;
    float *to = tensor_f32(y) + at;
    if (divide) quantize(levels->piece, false, true, n, from, to);
    else if (levels->spread) quantize(levels->piece, true, false, n, from, to);
    else quantize(levels->piece, false, false, n, from, to);
  }
}

ALWAYS_INLINE void pass(PieceNumbers p, bool spread, int64_t count, const float *x, const float *dy,
                        float *dx) {
  LOOP_INDEPENDENT
  for (int64_t i = 0; i < count; i++) {
    float min = MIN, max = MAX, exist = EXIST;
    bool passes = (x[i] >= min && x[i] <= max) || exist == 0;
    dx[i] = dy[i] * (passes ? 1 : 0);
  }
}

/* The gradients of elements below and above their ranges. */
ALWAYS_INLINE void divert(PieceNumbers p, bool spread, int64_t count, const float *x, const float *dy,
                          float *below, float *above) {
  LOOP_INDEPENDENT
  for (int64_t i = 0; i < count; i++) {
    float counted = EXIST != 0 ? dy[i] : 0;
    below[i] = x[i] < MIN ? counted : 0;
    above[i] = x[i] > MAX ? counted : 0;
  }
}

/* --- FakeQuantWithMinMaxArgs --- */

static bool fake_args(KernelContext *context, Status *status) {
  const FakeState *state = context->state;
  const Tensor *x = context->inputs[0];
  Tensor *y;
  TRY(kernel_forward_or_allocate(context, 0, 0, &x->shape, &y, status));
  ChannelNumbers levels;
  bool ok = begin_levels(context, &levels, &state->min, &state->max, 1, status);
  if (ok) quantize_all(&levels, x, false, y);
  channel_numbers_end(&levels);
  return ok;
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
  ChannelNumbers levels;
  bool ok = begin_levels(context, &levels, &state->min, &state->max, 1, status);
  for (int64_t at = 0, n; ok && at < tensor_num_elements(x); at += n) {
    n = channel_numbers_next(&levels, tensor_num_elements(x) - at);
    pass(levels.piece, false, n, tensor_f32(x) + at, tensor_f32(dy) + at, tensor_f32(dx) + at);
  }
  channel_numbers_end(&levels);
  return ok;
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
  ChannelNumbers levels;
  bool ok =
      begin_levels(context, &levels, tensor_f32(min), tensor_f32(max), tensor_num_elements(min), status);
  if (ok) quantize_all(&levels, x, context->data != &kPerChannel, y);
  channel_numbers_end(&levels);
  return ok;
}

/* The sums of the channels. */
typedef struct OutsideSums {
  int64_t channels, channel; /* of the next element */
  double *below, *above;
} OutsideSums;

enum { LANES_OF_SUM = 4 };
static double sum_of(int64_t count, const float *x) {
  double sums[LANES_OF_SUM] = {0};
  int64_t i = 0;
  for (; i + LANES_OF_SUM <= count; i += LANES_OF_SUM) {
    SIMD_UNROLL
    for (int k = 0; k < LANES_OF_SUM; k++) sums[k] += (double)x[i + k];
  }
  for (; i < count; i++) sums[0] += (double)x[i];
  return (sums[0] + sums[2]) + (sums[1] + sums[3]);
}

static void add_outside(OutsideSums *sums, int64_t count, const float *below, const float *above) {
  if (sums->channels == 1) {
    sums->below[0] += sum_of(count, below);
    sums->above[0] += sum_of(count, above);
    return;
  }
  for (int64_t i = 0; i < count; i++) {
    sums->below[sums->channel] += (double)below[i];
    sums->above[sums->channel] += (double)above[i];
    sums->channel = sums->channel + 1 < sums->channels ? sums->channel + 1 : 0;
  }
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
  Buffer *buffer = kernel_scratch(context, (2 * channels + 1) * (int64_t)sizeof(double), status);
  if (!buffer) return false;
  memset(buffer->data, 0, (size_t)(2 * channels) * sizeof(double));
  OutsideSums sums = {.channels = channels,
                      .below = buffer->data,
                      .above = (double *)buffer->data + channels};
  ChannelNumbers levels;
  bool ok = begin_levels(context, &levels, tensor_f32(min), tensor_f32(max), channels, status);
  for (int64_t at = 0, n; ok && at < count; at += n) {
    n = channel_numbers_next(&levels, count - at);
    const float *from = tensor_f32(x) + at, *given = tensor_f32(dy) + at;
    float *to = tensor_f32(dx) + at, below[QUANT_PIECE], above[QUANT_PIECE];
    if (levels.spread) {
      pass(levels.piece, true, n, from, given, to);
      divert(levels.piece, true, n, from, given, below, above);
    } else {
      pass(levels.piece, false, n, from, given, to);
      divert(levels.piece, false, n, from, given, below, above);
    }
    add_outside(&sums, n, below, above);
  }
  for (int64_t c = 0; ok && c < channels; c++) {
    tensor_f32(dmin)[c] = (float)sums.below[c];
    tensor_f32(dmax)[c] = (float)sums.above[c];
  }
  channel_numbers_end(&levels);
  buffer_unref(buffer);
  return ok;
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
