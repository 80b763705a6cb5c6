#include "ops/image/image_floats.h"

#include "ops/support/half_precision.h"
#include "simd/templates.h"

typedef struct ToFloats {
  const void *from;
  void *to; /* floats or doubles */
} ToFloats;

#define TEMPLATE "ops/image/image_floats.inc"
#define TYPES (TYPES_FLOAT | TYPES_INT | TYPES_SMALL)
#include "simd/each_type.inc"

/* The loops of one type: to floats, to doubles, and from doubles. */
typedef struct ImageLoops {
  ParallelBody *floats, *doubles;
  void (*store)(const double *from, int64_t count, void *to);
} ImageLoops;
#define LOOPS(suffix) \
  { image_floats_##suffix, image_doubles_##suffix, image_store_##suffix }

static ImageLoops loops_of(DataType type) {
  switch (type) {
    case DT_DOUBLE: return (ImageLoops)LOOPS(f64);
    case DT_INT32: return (ImageLoops)LOOPS(i32);
    case DT_INT64: return (ImageLoops)LOOPS(i64);
    case DT_UINT8: return (ImageLoops)LOOPS(u8);
    case DT_INT8: return (ImageLoops)LOOPS(i8);
    case DT_INT16: return (ImageLoops)LOOPS(i16);
    case DT_UINT16: return (ImageLoops)LOOPS(u16);
    default: return (ImageLoops)LOOPS(f32);
  }
}

/* Converts elements that are not of 16 bits. */
static bool convert(KernelContext *context, const Tensor *tensor, const void *from, DataType type, bool wide,
                    Image *image, Status *status) {
  int64_t count = tensor_num_elements(tensor), size;
  *image = (Image){0};
  if (__builtin_mul_overflow(count, (int64_t)(wide ? sizeof(double) : sizeof(float)), &size))
    return status_oom(status, "an image");
  image->buffer = kernel_scratch(context, size, status);
  if (!image->buffer) return false;
  image->data = image->buffer->data;
  ToFloats job = {from, image->data};
  ImageLoops loops = loops_of(type);
  parallel_work(context->parallel, count, 1, wide ? loops.doubles : loops.floats, &job);
  return true;
}

bool image_floats(KernelContext *context, const Tensor *tensor, Image *floats, Status *status) {
  if (tensor->dtype == DT_FLOAT || half_precision(tensor->dtype))
    return image_read(context, tensor, NULL, false, floats, status);
  return convert(context, tensor, tensor->data, tensor->dtype, false, floats, status);
}

bool image_doubles(KernelContext *context, const Tensor *tensor, Image *doubles, Status *status) {
  Image floats;
  if (!half_precision(tensor->dtype))
    return convert(context, tensor, tensor->data, tensor->dtype, true, doubles, status);
  TRY(image_read(context, tensor, NULL, false, &floats, status));
  bool ok = convert(context, tensor, floats.data, DT_FLOAT, true, doubles, status);
  image_drop(&floats);
  return ok;
}

void image_store(const double *values, Tensor *out) {
  int64_t count = tensor_num_elements(out);
  if (!half_precision(out->dtype)) {
    loops_of(out->dtype).store(values, count, out->data);
    return;
  }
  for (int64_t i = 0; i < count; i++) {
    float value = (float)values[i];
    half_precision_narrow(out->dtype, &value, (uint16_t *)out->data + i, 1);
  }
}
