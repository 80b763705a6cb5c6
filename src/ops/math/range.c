/* Range: start, start + delta, ... up to the limit. */
#include <math.h>

#include "op/op_registry.h"
#include "ops/support/element_types.h"

/* The three numbers of a floating range, and the rounding of its type. */
typedef struct FloatRange {
  DataType type;
  double start, limit, delta;
} FloatRange;

static double rounded(DataType type, double value) {
  if (type == DT_DOUBLE) return value;
  float f = (float)value;
  if (type == DT_FLOAT) return (double)f;
  return (double)(type == DT_HALF ? half_to_float(float_to_half(f))
                                  : bfloat16_to_float(float_to_bfloat16(f)));
}

/* Number `i`, rounded as the type's own arithmetic: the product first, then the sum. */
static double float_at(const FloatRange *range, int64_t i) {
  double distance = rounded(range->type, rounded(range->type, (double)i) * range->delta);
  return rounded(range->type, range->start + distance);
}

static bool wrong_direction(bool up, double start, double limit, Status *status) {
  return status_invalid(status, "Requires start %s limit when delta %s 0: %g/%g",
                        up ? "<=" : ">=", up ? ">" : "<", start, limit);
}

static bool float_count(const FloatRange *range, int64_t *count, Status *status) {
  double start = range->start, limit = range->limit, delta = range->delta;
  if (start > limit && delta > 0) return wrong_direction(true, start, limit, status);
  if (start < limit && delta < 0) return wrong_direction(false, start, limit, status);
  if (delta == 0) return status_invalid(status, "Requires delta != 0: 0");
  double steps = rounded(range->type, rounded(range->type, limit - start) / delta);
  double size = ceil(fabs(steps));
  if (!(size < 9223372036854775808.0)) {
    return status_invalid(status, "Requires ((limit - start) / delta) <= %lld", (long long)INT64_MAX);
  }
  *count = (int64_t)size;
  return true;
}

static bool int_count(int64_t start, int64_t limit, int64_t delta, int64_t *count, Status *status) {
  if ((start > limit && delta > 0) || (start < limit && delta < 0)) {
    bool up = delta > 0;
    return status_invalid(status, "Requires start %s limit when delta %s 0: %lld/%lld",
                          up ? "<=" : ">=", up ? ">" : "<", (long long)start, (long long)limit);
  }
  if (delta == 0) return status_invalid(status, "Requires delta != 0: 0");
  /* Distances between int64 values fit uint64. */
  uint64_t distance = delta > 0 ? (uint64_t)limit - (uint64_t)start : (uint64_t)start - (uint64_t)limit;
  uint64_t step = delta > 0 ? (uint64_t)delta : 0 - (uint64_t)delta;
  uint64_t size = distance / step + (distance % step != 0);
  if (size > INT64_MAX) {
    return status_invalid(status, "Requires ((limit - start) / delta) <= %lld", (long long)INT64_MAX);
  }
  *count = (int64_t)size;
  return true;
}

static FloatRange float_range(const Tensor *start, const Tensor *limit, const Tensor *delta) {
  return (FloatRange){start->dtype, tensor_double_at(start, 0), tensor_double_at(limit, 0),
                      tensor_double_at(delta, 0)};
}

/* The number of values between three scalars of one type. */
static bool range_count(const Tensor *start, const Tensor *limit, const Tensor *delta, int64_t *count,
                        Status *status) {
  if (dtype_is_floating(start->dtype)) {
    FloatRange range = float_range(start, limit, delta);
    return float_count(&range, count, status);
  }
  return int_count(tensor_int_at(start, 0), tensor_int_at(limit, 0), tensor_int_at(delta, 0), count, status);
}

static bool range_kernel(KernelContext *context, Status *status) {
  static const char *const kNames[] = {"start", "limit", "delta"};
  const Tensor *const *in = context->inputs;
  for (int i = 0; i < 3; i++) {
    char text[SHAPE_TEXT_CAPACITY];
    if (!tensor_is_scalar(in[i])) {
      return status_invalid(status, "%s must be a scalar, not shape %s", kNames[i],
                            shape_text(&in[i]->shape, text));
    }
  }
  int64_t count;
  Tensor *out;
  TRY(range_count(in[0], in[1], in[2], &count, status));
  TRY(kernel_allocate_output_dims(context, 0, 1, &count, &out, status));
  if (dtype_is_floating(out->dtype)) {
    FloatRange range = float_range(in[0], in[1], in[2]);
    for (int64_t i = 0; i < count; i++) {
      double value = float_at(&range, i);
      if (out->dtype == DT_FLOAT) {
        tensor_f32(out)[i] = (float)value;
      } else if (out->dtype == DT_DOUBLE) {
        tensor_f64(out)[i] = value;
      } else if (out->dtype == DT_HALF) {
        ((uint16_t *)out->data)[i] = float_to_half((float)value);
      } else {
        ((uint16_t *)out->data)[i] = float_to_bfloat16((float)value);
      }
    }
    return true;
  }
  /* Unsigned, because the number after the last one may overflow. */
  uint64_t value = (uint64_t)tensor_int_at(in[0], 0), delta = (uint64_t)tensor_int_at(in[2], 0);
  for (int64_t i = 0; i < count; i++, value += delta) {
    if (out->dtype == DT_INT32) {
      tensor_i32(out)[i] = (int32_t)(uint32_t)value;
    } else {
      tensor_i64(out)[i] = (int64_t)value;
    }
  }
  return true;
}

static bool range_shape(InferenceContext *c, Status *status) {
  static const char *const kNames[] = {"start", "limit", "delta"};
  const Tensor *values[3];
  bool known = true;
  for (int i = 0; i < 3; i++) {
    ShapeHandle checked;
    if (!shape_with_rank(c, shape_input(c, i), 0, &checked, status)) {
      return status_append(status, "\n\t for '%s'", kNames[i]);
    }
  }
  for (int i = 0; i < 3; i++) {
    values[i] = shape_input_tensor(c, i);
    known = known && values[i] && tensor_num_elements(values[i]) == 1 && dtype_is_pod(values[i]->dtype);
  }
  known = known && values[1]->dtype == values[0]->dtype && values[2]->dtype == values[0]->dtype;
  DimHandle size;
  ShapeHandle output;
  if (known) {
    int64_t count;
    TRY(range_count(values[0], values[1], values[2], &count, status));
    TRY(dim_ok(dim_make(c, count), &size, status));
  } else {
    TRY(dim_ok(dim_unknown(c), &size, status));
  }
  TRY(shape_ok(shape_vector(c, size), &output, status));
  shape_set_output(c, 0, output);
  return true;
}

const OpRegistration kOpRange = {
    .name = "Range",
    .inputs = {"start: Tidx", "limit: Tidx", "delta: Tidx"},
    .outputs = {"output: Tidx"},
    .attrs = {"Tidx: {bfloat16, half, float, double, int8, int16, int32, int64, uint16, uint32, uint64} = "
              "DT_INT32"},
    .shape = range_shape,
    .gradient = NO_GRADIENT,
    .kernels = {FLOAT_AND_HALF_KERNELS(range_kernel), INT_KERNELS(range_kernel)},
};
