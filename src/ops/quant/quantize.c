/* QuantizeV2 and Dequantize: floats as numbers of a range, and back, in three modes.
 *
 *   MIN_COMBINED   numbers spread evenly over the range
 *   MIN_FIRST      the same, with a range that is rounded so that 0 is a number
 *   SCALED         0 stands for 0, and one factor for both sides
 */
#include <float.h>
#include <math.h>

#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/quant/channel_numbers.h"

typedef enum QuantMode { MIN_COMBINED, MIN_FIRST, SCALED } QuantMode;

typedef struct QuantState {
  QuantMode mode;
  bool narrow, to_even;
  int64_t axis;
  float least_range;
} QuantState;

static bool read_mode(const NodeDef *node, QuantState *state, Str *mode, Status *status) {
  TRY(node_attr_string(node, "mode", mode, status));
  state->mode = str_equal_text(*mode, "MIN_FIRST") ? MIN_FIRST
                : str_equal_text(*mode, "SCALED")  ? SCALED
                                                   : MIN_COMBINED;
  TRY(node_attr_bool(node, "narrow_range", &state->narrow, status));
  return node_attr_int(node, "axis", &state->axis, status);
}

static bool quantize_construct(const KernelConstruction *construction, void *memory, Status *status) {
  QuantState *state = memory;
  Str mode, rounding;
  TRY(read_mode(construction->node, state, &mode, status));
  TRY(node_attr_string(construction->node, "round_mode", &rounding, status));
  TRY(node_attr_float(construction->node, "ensure_minimum_range", &state->least_range, status));
  state->to_even = str_equal_text(rounding, "HALF_TO_EVEN");
  if (!state->to_even || state->mode == SCALED) return true;
  return status_invalid(status,
                        "Round mode 'HALF_TO_EVEN' only supported for mode 'SCALED', but mode is '%.*s'.",
                        (int)mode.length, mode.data);
}

static bool dequantize_construct(const KernelConstruction *construction, void *memory, Status *status) {
  Str mode;
  return read_mode(construction->node, memory, &mode, status);
}

/* The slices of an axis are channels; axis -1: all elements are in one slice. */
static int64_t slices_of(const Tensor *x, int64_t axis, int64_t *inner) {
  *inner = 1;
  if (axis < 0) return 1;
  for (int i = (int)axis + 1; i < x->shape.rank; i++) *inner *= shape_dim(&x->shape, i);
  return shape_dim(&x->shape, (int)axis);
}

/* --- QuantizeV2 --- */

static bool check_quantize_range(const Tensor *range, const char *name, const Tensor *x, int64_t axis,
                                 Status *status) {
  if (axis < 0) {
    int64_t count = tensor_num_elements(range);
    return count == 1 ||
           status_invalid(status,
                          "If axis is not specified, %s_range must contain a single float element, but it "
                          "contains %lld elements",
                          name, (long long)count);
  }
  static const char *const kOneRange =
      "must be a 1-D tensor whose size matches the axis dimension of the input and output tensors, but";
  if (range->shape.rank != 1) {
    return status_invalid(status, "If axis is specified, %s_range %s %s_range dims are %d", name, kOneRange,
                          name, range->shape.rank);
  }
  int64_t size = shape_dim(&x->shape, (int)axis), found = shape_dim(&range->shape, 0);
  if (found == size) return true;
  return status_invalid(status,
                        "If axis is specified, %s_range %s %s_range is a 1-D tensor of size %lld and input's "
                        "axis dimension is of size %lld",
                        name, kOneRange, name, (long long)found, (long long)size);
}

static bool check_quantize(const KernelContext *context, int64_t axis, Status *status) {
  const QuantState *state = context->state;
  const Tensor *x = context->inputs[0];
  if (axis >= x->shape.rank) {
    return status_invalid(status,
                          "Axis is on a zero-based index, so its value must always be less than number of "
                          "input's dims, but given axis value was %lld and input's dims was %d",
                          (long long)axis, x->shape.rank);
  }
  TRY(check_quantize_range(context->inputs[1], "min", x, axis, status));
  TRY(check_quantize_range(context->inputs[2], "max", x, axis, status));
  if (axis < 0 || shape_dim(&x->shape, (int)axis) == 1 || state->mode != MIN_FIRST) return true;
  return status_set(status, CODE_UNIMPLEMENTED,
                    "MIN_FIRST mode is not implemented for Quantize with axis != -1.");
}

/* The range that contains 0 and is not too narrow. */
static bool widen_range(const QuantState *state, float *min, float *max, Status *status) {
  if (*max < *min) return status_invalid(status, "input_max_range must be larger than input_min_range.");
  float largest = fmaxf(1, fmaxf(fabsf(*min), fabsf(*max)));
  *min = fminf(0, *min);
  *max = fmaxf(0, fmaxf(*max, *min + largest * state->least_range));
  return true;
}

static float factor_of(int64_t limit, float end) {
  return (float)limit * end > 0 ? (float)limit / end : FLT_MAX;
}

/* The factor of the mode SCALED, which makes the range that of the numbers. */
static float scale_range(const QuantState *state, const QuantType *type, float *min, float *max) {
  int64_t lowest = type->lowest + (state->narrow ? 1 : 0);
  float factor = fminf(factor_of(lowest, *min), factor_of(type->highest, *max));
  *min = (float)lowest / factor;
  *max = (float)type->highest / factor;
  return factor;
}

static inline float clamp(float x, float min, float max) {
  x = x > max ? max : x;
  return x < min ? min : x;
}

/* How numbers are computed: x * factor, less an offset. */
typedef struct Scaling {
  float min, max, factor, offset;
} Scaling;

static Scaling scaling_of(const QuantState *state, const QuantType *type, float *min, float *max) {
  Scaling s = {.min = *min, .max = *max};
  if (state->mode == MIN_COMBINED) {
    s.factor = (float)((double)type->highest - (double)type->lowest) / (*max - *min);
    s.offset = type->lowest < 0 ? (float)(((double)type->highest - (double)type->lowest + 1) / 2) : 0;
  } else if (state->mode == MIN_FIRST) {
    s.factor = *max == *min ? 0 : (float)((ldexp(1, type->bits) - 1) / (double)(*max - *min));
    s.offset = roundf(*min * s.factor) - (float)type->lowest;
  } else {
    s.factor = scale_range(state, type, min, max);
    s.min = *min;
    s.max = *max;
  }
  return s;
}

/* The numbers of a piece of x, before they are made to fit. */
#define MIN piece_number(&p, spread, 0, i)
#define MAX piece_number(&p, spread, 1, i)
#define FACTOR piece_number(&p, spread, 2, i)
#define OFFSET piece_number(&p, spread, 3, i)
ALWAYS_INLINE void numbers_of(const QuantState *state, const QuantType *type, PieceNumbers p, bool spread,
                              int64_t count, const float *x, float *numbers) {
  if (state->mode == MIN_FIRST) {
    LOOP_INDEPENDENT
    for (int64_t i = 0; i < count; i++) numbers[i] = quant_round(x[i] * FACTOR) - OFFSET;
  } else if (state->mode == SCALED && state->to_even) {
    LOOP_INDEPENDENT
    for (int64_t i = 0; i < count; i++) numbers[i] = rintf(clamp(x[i], MIN, MAX) * FACTOR);
  } else if (state->mode == SCALED) {
    LOOP_INDEPENDENT
    for (int64_t i = 0; i < count; i++) numbers[i] = quant_round(clamp(x[i], MIN, MAX) * FACTOR);
  } else if (type->lowest < 0) {
    LOOP_INDEPENDENT
    for (int64_t i = 0; i < count; i++)
      numbers[i] = quant_round((clamp(x[i], MIN, MAX) - MIN) * FACTOR - OFFSET);
  } else {
    LOOP_INDEPENDENT
    for (int64_t i = 0; i < count; i++) numbers[i] = floorf((clamp(x[i], MIN, MAX) - MIN) * FACTOR + 0.5f);
  }
}

static void quantize_elements(const QuantState *state, const Tensor *x, ChannelNumbers *scalings, Tensor *y) {
  QuantType type = quant_type(y->dtype);
  float values[QUANT_PIECE];
  int32_t numbers[QUANT_PIECE];
  for (int64_t at = 0, n; at < tensor_num_elements(x); at += n) {
    n = channel_numbers_next(scalings, tensor_num_elements(x) - at);
    if (scalings->spread) numbers_of(state, &type, scalings->piece, true, n, tensor_f32(x) + at, values);
    else numbers_of(state, &type, scalings->piece, false, n, tensor_f32(x) + at, values);
    quant_nearest(&type, n, values, numbers);
    quant_write(y, at, n, numbers);
  }
}

static bool quantize(KernelContext *context, Status *status) {
  const QuantState *state = context->state;
  const Tensor *x = context->inputs[0];
  int64_t axis = state->axis < 0 ? -1 : state->axis, inner;
  Tensor *y, *mins, *maxs;
  TRY(check_quantize(context, axis, status));
  TRY(kernel_allocate_output(context, 0, &x->shape, &y, status));
  /* A single range may have any shape, and its result is a scalar. */
  const Shape scalar = {0}, *ranges = axis < 0 ? &scalar : &context->inputs[1]->shape;
  TRY(kernel_allocate_output(context, 1, ranges, &mins, status));
  TRY(kernel_allocate_output(context, 2, ranges, &maxs, status));
  QuantType type = quant_type(y->dtype);
  int64_t slices = slices_of(x, axis, &inner);
  ChannelNumbers scalings;
  bool ok = channel_numbers_begin(context, &scalings, 4, slices, inner, status);
  for (int64_t c = 0; ok && c < slices; c++) {
    float min = tensor_f32(context->inputs[1])[c], max = tensor_f32(context->inputs[2])[c];
    if (!(ok = widen_range(state, &min, &max, status))) break;
    ((Scaling *)scalings.of_channels)[c] = scaling_of(state, &type, &min, &max);
    tensor_f32(mins)[c] = min;
    tensor_f32(maxs)[c] = max;
  }
  if (ok) quantize_elements(state, x, &scalings, y);
  channel_numbers_end(&scalings);
  return ok;
}

/* --- Dequantize --- */

static bool check_dequantize(const KernelContext *context, Status *status) {
  const QuantState *state = context->state;
  const Tensor *x = context->inputs[0];
  if (state->axis >= x->shape.rank) {
    return status_invalid(status, "Axis must be less than input dimension(%d), got %lld", x->shape.rank,
                          (long long)state->axis);
  }
  int64_t slices = state->axis > -1 ? shape_dim(&x->shape, (int)state->axis) : 1;
  static const char *const names[] = {"min", "max"};
  for (int i = 0; i < 2; i++) {
    int64_t count = tensor_num_elements(context->inputs[1 + i]);
    if (count == slices) continue;
    return status_invalid(status,
                          "input_%s_tensor must have as many elements as input on the dequantization axis "
                          "(%lld), got %lld, expected %lld",
                          names[i], (long long)state->axis, (long long)count, (long long)slices);
  }
  if (slices == 1 || state->mode != MIN_FIRST) return true;
  return status_set(status, CODE_UNIMPLEMENTED,
                    "MIN_FIRST mode is not implemented for Dequantize with axis != -1.");
}

/* The float of a number: (x + shift) * factor + first. */
typedef struct Unscaling {
  float shift, factor, first;
} Unscaling;

static Unscaling unscaling_of(const QuantState *state, const QuantType *type, float min, float max) {
  if (state->mode == SCALED) {
    float lowest = (float)(type->lowest + (state->narrow ? 1 : 0)), highest = (float)type->highest;
    float factor = max / highest;
    if (type->lowest < 0) factor = fmaxf(min / lowest, factor);
    return (Unscaling){.factor = factor};
  }
  float count = (float)type->highest - (float)type->lowest;
  if (state->mode == MIN_COMBINED) {
    float half = type->lowest < 0 ? (count + 1) / 2 : 0;
    return (Unscaling){half, (max - min) / count, min};
  }
  float factor = (float)((double)(max - min) / (ldexp(1, type->bits) - 1));
  float first = max == min ? min : roundf(min / factor) * factor;
  return (Unscaling){0, factor, first - (float)type->lowest * factor};
}

ALWAYS_INLINE void floats_of(PieceNumbers p, bool spread, int64_t count, const int32_t *numbers, float *y) {
  LOOP_INDEPENDENT
  for (int64_t i = 0; i < count; i++) {
    float shifted = (float)numbers[i] + piece_number(&p, spread, 0, i);
    y[i] = shifted * piece_number(&p, spread, 1, i) + piece_number(&p, spread, 2, i);
  }
}

static void dequantize_elements(const Tensor *x, ChannelNumbers *unscalings, Tensor *y) {
  int32_t numbers[QUANT_PIECE];
  float values[QUANT_PIECE];
  for (int64_t at = 0, n; at < tensor_num_elements(x); at += n) {
    float *to = y->dtype == DT_FLOAT ? tensor_f32(y) + at : values;
    n = channel_numbers_next(unscalings, tensor_num_elements(x) - at);
    quant_read(x, at, n, numbers);
    if (unscalings->spread) floats_of(unscalings->piece, true, n, numbers, to);
    else floats_of(unscalings->piece, false, n, numbers, to);
    if (y->dtype == DT_BFLOAT16) half_precision_narrow(DT_BFLOAT16, values, (uint16_t *)y->data + at, n);
  }
}

static bool dequantize(KernelContext *context, Status *status) {
  const QuantState *state = context->state;
  const Tensor *x = context->inputs[0];
  Tensor *y;
  if (context->output_types[0] == DT_BFLOAT16 && state->mode != MIN_COMBINED) {
    return status_invalid(status, "When output type is bfloat16, Mode string must be 'MIN_COMBINED', is '%s'",
                          state->mode == SCALED ? "SCALED" : "MIN_FIRST");
  }
  TRY(check_dequantize(context, status));
  TRY(kernel_allocate_output(context, 0, &x->shape, &y, status));
  QuantType type = quant_type(x->dtype);
  int64_t inner, slices = slices_of(x, state->axis, &inner);
  ChannelNumbers unscalings;
  bool ok = channel_numbers_begin(context, &unscalings, 3, slices, inner, status);
  for (int64_t c = 0; ok && c < slices; c++) {
    ((Unscaling *)unscalings.of_channels)[c] =
        unscaling_of(state, &type, tensor_f32(context->inputs[1])[c], tensor_f32(context->inputs[2])[c]);
  }
  if (ok) dequantize_elements(x, &unscalings, y);
  channel_numbers_end(&unscalings);
  return ok;
}

/* --- shapes and ops --- */

/* The ranges are scalars, or have one element for each slice of the axis. */
static bool range_shape(InferenceContext *c, ShapeHandle *range, Status *status) {
  int64_t axis;
  ShapeHandle input, max;
  DimHandle depth;
  TRY(node_attr_int(c->node, "axis", &axis, status));
  if (axis < -1) return status_invalid(status, "axis should be at least -1, got %lld", (long long)axis);
  TRY(shape_with_rank(c, shape_input(c, 1), axis < 0 ? 0 : 1, range, status));
  TRY(shape_with_rank(c, shape_input(c, 2), axis < 0 ? 0 : 1, &max, status));
  if (axis < 0) return true;
  TRY(shape_merge(c, *range, max, range, status));
  TRY(shape_with_rank_at_least(c, shape_input(c, 0), axis + 1, &input, status));
  return dim_merge(c, shape_dim_of(c, *range, 0), shape_dim_of(c, input, axis), &depth, status);
}

static bool quant_shape(InferenceContext *c, Status *status) {
  ShapeHandle range;
  TRY(range_shape(c, &range, status));
  shape_set_output(c, 0, shape_input(c, 0));
  for (int i = 1; i < c->num_outputs; i++) shape_set_output(c, i, range);
  return true;
}

#define MODES "mode: {'MIN_COMBINED', 'MIN_FIRST', 'SCALED'} = 'MIN_COMBINED'"
#define QUANT_KERNELS(f) \
  {DT_QINT8, f}, {DT_QUINT8, f}, {DT_QINT16, f}, {DT_QUINT16, f}, { DT_QINT32, f }

const OpRegistration kOpQuantizeV2 = {
    .name = "QuantizeV2",
    .inputs = {"input: float", "min_range: float", "max_range: float"},
    .outputs = {"output: T", "output_min: float", "output_max: float"},
    .attrs = {"T: quantizedtype", MODES,
              "round_mode: {'HALF_AWAY_FROM_ZERO', 'HALF_TO_EVEN'} = 'HALF_AWAY_FROM_ZERO'",
              "narrow_range: bool = false", "axis: int = -1", "ensure_minimum_range: float = 0.01"},
    .shape = quant_shape,
    .state_size = sizeof(QuantState),
    .construct = quantize_construct,
    .kernels = {QUANT_KERNELS(quantize)},
};

const OpRegistration kOpDequantize = {
    .name = "Dequantize",
    .inputs = {"input: T", "min_range: float", "max_range: float"},
    .outputs = {"output: dtype"},
    .attrs = {"T: quantizedtype", MODES, "narrow_range: bool = false", "axis: int = -1",
              "dtype: {bfloat16, float} = DT_FLOAT"},
    .shape = quant_shape,
    .state_size = sizeof(QuantState),
    .construct = dequantize_construct,
    .kernels = {QUANT_KERNELS(dequantize)},
};
