#include "ops/support/half_precision.h"

void half_precision_widen(DataType type, const void *from, float *to, int64_t count) {
  const uint16_t *x = from;
  if (type == DT_HALF) {
    for (int64_t i = 0; i < count; i++) to[i] = half_to_float(x[i]);
  } else {
    for (int64_t i = 0; i < count; i++) to[i] = bfloat16_to_float(x[i]);
  }
}

void half_precision_narrow(DataType type, const float *from, void *to, int64_t count) {
  uint16_t *y = to;
  if (type == DT_HALF) {
    for (int64_t i = 0; i < count; i++) y[i] = float_to_half(from[i]);
  } else {
    for (int64_t i = 0; i < count; i++) y[i] = float_to_bfloat16(from[i]);
  }
}
