#include "ops/support/quant_types.h"

#include "simd/templates.h"

QuantType quant_type(DataType type) {
  switch (type) {
    case DT_QINT8: return (QuantType){8, INT8_MIN, INT8_MAX};
    case DT_QUINT8: return (QuantType){8, 0, UINT8_MAX};
    case DT_QINT16: return (QuantType){16, INT16_MIN, INT16_MAX};
    case DT_QUINT16: return (QuantType){16, 0, UINT16_MAX};
    default: return (QuantType){32, INT32_MIN, INT32_MAX};
  }
}

int64_t quant_at(const Tensor *tensor, int64_t i) {
  switch (tensor->dtype) {
    case DT_QINT8: return ((const int8_t *)tensor->data)[i];
    case DT_QUINT8: return ((const uint8_t *)tensor->data)[i];
    case DT_QINT16: return ((const int16_t *)tensor->data)[i];
    case DT_QUINT16: return ((const uint16_t *)tensor->data)[i];
    default: return ((const int32_t *)tensor->data)[i];
  }
}

#define READ(T)                                                     \
  {                                                                 \
    const T *x = (const T *)tensor->data + at;                      \
    LOOP_INDEPENDENT                                                \
    for (int64_t i = 0; i < count; i++) numbers[i] = (int32_t)x[i]; \
    return;                                                         \
  }
void quant_read(const Tensor *tensor, int64_t at, int64_t count, int32_t *numbers) {
  switch (tensor->dtype) {
    case DT_QINT8: READ(int8_t)
    case DT_QUINT8: READ(uint8_t)
    case DT_QINT16: READ(int16_t)
    case DT_QUINT16: READ(uint16_t)
    default: READ(int32_t)
  }
}

#define WRITE(T)                                              \
  {                                                           \
    T *y = (T *)tensor->data + at;                            \
    LOOP_INDEPENDENT                                          \
    for (int64_t i = 0; i < count; i++) y[i] = (T)numbers[i]; \
    return;                                                   \
  }
void quant_write(Tensor *tensor, int64_t at, int64_t count, const int32_t *numbers) {
  switch (tensor->dtype) {
    case DT_QINT8: WRITE(int8_t)
    case DT_QUINT8: WRITE(uint8_t)
    case DT_QINT16: WRITE(int16_t)
    case DT_QUINT16: WRITE(uint16_t)
    default: WRITE(int32_t)
  }
}

void quant_nearest(const QuantType *type, int64_t count, const float *values, int32_t *numbers) {
  /* As a float the highest qint32 is one more, which no float below it reaches. */
  float lowest = (float)type->lowest, highest = (float)type->highest;
  int32_t least = (int32_t)type->lowest, most = (int32_t)type->highest;
  LOOP_INDEPENDENT
  for (int64_t i = 0; i < count; i++) {
    int32_t number = values[i] > lowest && values[i] < highest ? (int32_t)values[i] : least;
    numbers[i] = values[i] >= highest ? most : number;
  }
}

int64_t quant_from_float_unclamped(const QuantType *type, float value, float min, float max) {
  if (min == max) return type->lowest;
  double steps = ldexp(1, type->bits), range = (double)(max - min) * (steps / (steps - 1.0));
  double scale = steps / range;
  double number = round((double)value * scale) - round((double)min * scale);
  if (!(number > -0x1p62)) return INT64_MIN / 2;
  return number < 0x1p62 ? (int64_t)number + type->lowest : INT64_MAX / 2;
}

int64_t quant_from_float(const QuantType *type, float value, float min, float max) {
  int64_t number = quant_from_float_unclamped(type, value, min, max);
  return number < type->lowest ? type->lowest : number > type->highest ? type->highest : number;
}

float quant_to_float(const QuantType *type, int64_t value, float min, float max) {
  if (min == max) return min;
  double steps = ldexp(1, type->bits), range = (double)(max - min) * (steps / (steps - 1.0));
  double scale = range / steps, offset = (double)value - (double)type->lowest;
  /* the first level is rounded in float, as in the other direction */
  double first = (double)(roundf(min / (float)scale) * (float)scale);
  return (float)(first + offset * scale);
}

float quant_level(const QuantType *type, float min, float max) {
  return (max - min) / (float)(type->highest - type->lowest);
}

QuantMap quant_map(DataType from, float min, float max, DataType to, float to_min, float to_max) {
  QuantType in = quant_type(from), out = quant_type(to);
  QuantMap map = {.level = (float)((double)(max - min) / (ldexp(1, in.bits) - 1)),
                  .lowest = (float)out.lowest,
                  .highest = fminf((float)out.highest, 0x1.fffffep30f)};
  map.first = max == min ? min : roundf(min / map.level) * map.level;
  map.first -= (float)in.lowest * map.level;
  map.scale = to_max == to_min ? 0 : (float)((ldexp(1, out.bits) - 1) / (double)(to_max - to_min));
  map.offset = roundf(to_min * map.scale) - (float)out.lowest;
  return map;
}

static inline int32_t map_float(const QuantMap *map, float value) {
  float number = quant_round(value * map->scale) - map->offset;
  number = number > map->lowest ? number : map->lowest; /* also for NaN */
  return (int32_t)(number < map->highest ? number : map->highest);
}

void quant_map_floats(const QuantMap *map, int64_t count, const float *values, int32_t *numbers) {
  const QuantMap m = *map;
  LOOP_INDEPENDENT
  for (int64_t i = 0; i < count; i++) numbers[i] = map_float(&m, values[i]);
}

void quant_map_numbers(const QuantMap *map, int64_t count, int32_t *numbers) {
  const QuantMap m = *map;
  LOOP_INDEPENDENT
  for (int64_t i = 0; i < count; i++) numbers[i] = map_float(&m, m.first + (float)numbers[i] * m.level);
}

void quant_product_range(const QuantType *a, float min_a, float max_a, const QuantType *b, float min_b,
                         float max_b, const QuantType *to, float *min, float *max) {
  float level = quant_level(a, min_a, max_a) * quant_level(b, min_b, max_b);
  *min = level * (float)to->lowest;
  *max = level * (float)to->highest;
}

bool quant_check_output(const KernelConstruction *construction, DataType type, Status *status) {
  DataType output = construction->output_types[0];
  return output == type || status_set(status, CODE_NOT_FOUND, "No kernel of Op '%s' has outputs of type %s",
                                      construction->node->op, dtype_name(output));
}

bool quant_scalar(const KernelContext *context, int i, const char *name, float *value, Status *status) {
  const Tensor *input = context->inputs[i];
  if (input->shape.rank != 0)
    return status_invalid(status, "`%s` must be rank 0 but is rank %d", name, input->shape.rank);
  *value = tensor_f32(input)[0];
  return true;
}

bool quant_put_range(KernelContext *context, int i, float value, Status *status) {
  Tensor *out;
  TRY(kernel_allocate_output_dims(context, i, 0, NULL, &out, status));
  tensor_f32(out)[0] = value;
  return true;
}

bool quant_scalar_shapes(InferenceContext *c, int first, int end, Status *status) {
  ShapeHandle scalar;
  for (int i = first; i < end; i++) TRY(shape_with_rank(c, shape_input(c, i), 0, &scalar, status));
  TRY(shape_ok(shape_scalar(c), &scalar, status));
  for (int i = 1; i < c->num_outputs && i < 3; i++) shape_set_output(c, i, scalar);
  return true;
}
