#include "ops/image/image_floats.h"

#include "ops/support/half_precision.h"
#include "simd/templates.h"

typedef struct ToFloats {
  const void *from;
  float *to;
} ToFloats;

#define TEMPLATE "ops/image/image_floats.inc"
#define TYPES (TYPES_FLOAT | TYPES_INT | TYPES_SMALL)
#include "simd/each_type.inc"

static ParallelBody *loop_of(DataType type) {
  switch (type) {
    case DT_DOUBLE: return image_floats_f64;
    case DT_INT32: return image_floats_i32;
    case DT_INT64: return image_floats_i64;
    case DT_UINT8: return image_floats_u8;
    case DT_INT8: return image_floats_i8;
    case DT_INT16: return image_floats_i16;
    case DT_UINT16: return image_floats_u16;
    default: return image_floats_f32;
  }
}

bool image_floats(KernelContext *context, const Tensor *tensor, Image *floats, Status *status) {
  int64_t count = tensor_num_elements(tensor), size;
  if (tensor->dtype == DT_FLOAT || half_precision(tensor->dtype))
    return image_read(context, tensor, NULL, false, floats, status);
  *floats = (Image){0};
  if (__builtin_mul_overflow(count, (int64_t)sizeof(float), &size)) return status_oom(status, "an image");
  floats->buffer = kernel_scratch(context, size, status);
  if (!floats->buffer) return false;
  floats->data = floats->buffer->data;
  ToFloats job = {tensor->data, floats->data};
  parallel_work(context->parallel, count, 1, loop_of(tensor->dtype), &job);
  return true;
}
