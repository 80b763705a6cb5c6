#include "tensor/tensor.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"

void tensor_object_ref(TensorObject *object) {
  atomic_fetch_add_explicit(&object->references, 1, memory_order_relaxed);
}

void tensor_object_unref(TensorObject *object) {
  if (object && atomic_fetch_sub_explicit(&object->references, 1, memory_order_acq_rel) == 1)
    object->destroy(object);
}

static void destroy_strings(void *data, int64_t count) {
  TString *strings = data;
  for (int64_t i = 0; i < count; i++) tstring_free(&strings[i]);
}

static void destroy_objects(void *data, int64_t count) {
  TensorObject **objects = data;
  for (int64_t i = 0; i < count; i++) tensor_object_unref(objects[i]);
}

static bool out_of_memory(DataType dtype, const Shape *shape, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  return status_set(status, CODE_RESOURCE_EXHAUSTED, "OOM when allocating tensor with shape%s and type %s",
                    shape_text(shape, text), dtype_name(dtype));
}

/* The size in bytes of that many elements. */
static bool byte_size(DataType dtype, const Shape *shape, int64_t *bytes, Status *status) {
  *bytes = 0;
  if (!dtype_is_valid(dtype) || dtype_is_ref(dtype)) {
    return status_invalid(status, "Tensor cannot have dtype %d", (int)dtype);
  }
  int64_t count = shape_num_elements(shape), size = (int64_t)dtype_size(dtype);
  if (count < INT32_MAX) { /* without a product of 128 bits, which is a call in WebAssembly */
    *bytes = count * size;
  } else if (__builtin_mul_overflow(count, size, bytes)) {
    char text[SHAPE_TEXT_CAPACITY];
    return status_invalid(status, "Tensor with shape %s and type %s has more than 2**63 - 1 bytes",
                          shape_text(shape, text), dtype_name(dtype));
  }
  return true;
}

/* Replaces the contents of a tensor, and consumes the reference to the buffer, on errors too. `shape` may be
 * the tensor's own. */
static bool replace(Tensor *tensor, DataType dtype, const Shape *shape, Buffer *buffer, void *data,
                    Status *status) {
  if (!shape_copy(&tensor->shape, shape, status)) {
    buffer_unref(buffer);
    return false;
  }
  buffer_unref(tensor->buffer);
  tensor->dtype = dtype;
  tensor->buffer = buffer;
  tensor->data = data;
  return true;
}

bool tensor_allocate(Tensor *tensor, DataType dtype, const Shape *shape, BufferPool *pool, Status *status) {
  int64_t bytes;
  TRY(byte_size(dtype, shape, &bytes, status));
  Buffer *buffer = buffer_new(pool, bytes);
  if (!buffer) return out_of_memory(dtype, shape, status);
  if (!dtype_is_pod(dtype)) {
    memset(buffer->data, 0, (size_t)bytes);
    buffer_own_elements(buffer, shape_num_elements(shape),
                        dtype == DT_STRING ? destroy_strings : destroy_objects);
  }
  return replace(tensor, dtype, shape, buffer, buffer->data, status);
}

bool tensor_allocate_dims(Tensor *tensor, DataType dtype, int rank, const int64_t *dims, BufferPool *pool,
                          Status *status) {
  Shape shape = {0};
  TRY(shape_set(&shape, rank, dims, status));
  bool ok = tensor_allocate(tensor, dtype, &shape, pool, status);
  shape_clear(&shape);
  return ok;
}

bool tensor_wrap(Tensor *tensor, DataType dtype, int rank, const int64_t *dims, void *data, int64_t size,
                 void (*release)(void *data, size_t size, void *argument), void *argument, Status *status) {
  Tensor result = {.dtype = dtype};
  char text[SHAPE_TEXT_CAPACITY];
  int64_t bytes;
  bool ok = false;
  TRY(shape_set(&result.shape, rank, dims, status));
  TRY_DONE(byte_size(dtype, &result.shape, &bytes, status));
  if (!dtype_is_pod(dtype) && dtype != DT_STRING) {
    status_invalid(status, "Memory cannot be wrapped as a tensor of type %s", dtype_name(dtype));
    goto done;
  }
  if (size < bytes || (!data && bytes > 0)) {
    status_invalid(status, "%" PRId64 " bytes are not enough for a tensor with shape %s and type %s",
                   data ? size : 0, shape_text(&result.shape, text), dtype_name(dtype));
    goto done;
  }
  size_t element = dtype_size(dtype), alignment = element > 8 ? 8 : element;
  bool aligned = data && (uintptr_t)data % alignment == 0;
  if (!aligned && bytes > 0 && dtype == DT_STRING) {
    status_invalid(status, "Strings must lie at an address that is a multiple of %zu", alignment);
    goto done;
  }
  if (!aligned) {
    /* Elements at a misaligned address cannot be read, so they are copied to new memory. */
    TRY_DONE(tensor_allocate(&result, dtype, &result.shape, NULL, status));
    if (bytes > 0) memcpy(result.data, data, (size_t)bytes);
    if (release) release(data, (size_t)size, argument);
  } else {
    result.buffer = buffer_wrap(data, size, release, argument);
    if (!result.buffer) {
      status_oom(status, "tensor");
      goto done;
    }
    result.data = data;
  }
  tensor_move(tensor, &result);
  ok = true;
done:
  tensor_clear(&result);
  return ok;
}

bool tensor_assign(Tensor *to, const Tensor *from, Status *status) {
  if (to == from) return true;
  if (from->buffer) buffer_ref(from->buffer);
  return replace(to, from->dtype, &from->shape, from->buffer, from->data, status);
}

bool tensor_reshape(Tensor *to, const Tensor *from, const Shape *shape, Status *status) {
  if (shape_num_elements(shape) != tensor_num_elements(from)) {
    return status_invalid(status,
                          "Input to reshape is a tensor with %" PRId64
                          " values, but the requested shape has %" PRId64,
                          tensor_num_elements(from), shape_num_elements(shape));
  }
  if (from->buffer) buffer_ref(from->buffer);
  return replace(to, from->dtype, shape, from->buffer, from->data, status);
}

bool tensor_copy(Tensor *to, const Tensor *from, BufferPool *pool, Status *status) {
  if (tensor_is_empty(from)) {
    tensor_clear(to);
    return true;
  }
  Tensor result = {0};
  TRY(tensor_allocate(&result, from->dtype, &from->shape, pool, status));
  int64_t count = tensor_num_elements(from);
  if (from->dtype == DT_STRING) {
    const TString *strings = tensor_strings(from);
    for (int64_t i = 0; i < count; i++) {
      if (!tstring_copy(&tensor_strings(&result)[i], &strings[i], status)) {
        tensor_clear(&result);
        return false;
      }
    }
  } else {
    memcpy(result.data, from->data, (size_t)tensor_bytes(from));
    TensorObject **objects = result.data;
    for (int64_t i = 0; !dtype_is_pod(from->dtype) && i < count; i++) {
      if (objects[i]) tensor_object_ref(objects[i]);
    }
  }
  tensor_move(to, &result);
  return true;
}

void tensor_move(Tensor *to, Tensor *from) {
  if (to == from) return;
  tensor_clear(to);
  shape_copy_fields(&to->shape, &from->shape);
  to->dtype = from->dtype;
  to->buffer = from->buffer;
  to->data = from->data;
  tensor_forget(from);
}

int64_t tensor_bytes(const Tensor *tensor) {
  return tensor_num_elements(tensor) * (int64_t)dtype_size(tensor->dtype);
}

int64_t tensor_int_at(const Tensor *tensor, int64_t i) {
  switch (tensor->dtype) {
    case DT_INT32: return tensor_i32(tensor)[i];
    case DT_UINT8: return ((const uint8_t *)tensor->data)[i];
    case DT_INT8: return ((const int8_t *)tensor->data)[i];
    case DT_UINT16: return ((const uint16_t *)tensor->data)[i];
    case DT_INT16: return ((const int16_t *)tensor->data)[i];
    case DT_UINT32: return ((const uint32_t *)tensor->data)[i];
    default: return tensor_i64(tensor)[i];
  }
}

/* The lowest `bits` bits as a signed number. */
static int sign_extend(uint8_t value, int bits) {
  int limit = 1 << bits, low = value & (limit - 1);
  return low >= limit / 2 ? low - limit : low;
}

double tensor_double_at(const Tensor *tensor, int64_t i) {
  const void *data = tensor->data;
  switch (tensor->dtype) {
    case DT_FLOAT: return (double)((const float *)data)[i];
    case DT_DOUBLE: return ((const double *)data)[i];
    case DT_INT32:
    case DT_QINT32: return ((const int32_t *)data)[i];
    case DT_UINT8:
    case DT_QUINT8: return ((const uint8_t *)data)[i];
    case DT_INT16:
    case DT_QINT16: return ((const int16_t *)data)[i];
    case DT_INT8:
    case DT_QINT8: return ((const int8_t *)data)[i];
    case DT_COMPLEX64: return (double)((const float *)data)[2 * i];
    case DT_INT64: return (double)((const int64_t *)data)[i];
    case DT_BOOL: return ((const uint8_t *)data)[i] != 0;
    case DT_BFLOAT16: return (double)bfloat16_to_float(((const uint16_t *)data)[i]);
    case DT_UINT16:
    case DT_QUINT16: return ((const uint16_t *)data)[i];
    case DT_COMPLEX128: return ((const double *)data)[2 * i];
    case DT_HALF: return (double)half_to_float(((const uint16_t *)data)[i]);
    case DT_UINT32: return ((const uint32_t *)data)[i];
    case DT_UINT64: return (double)((const uint64_t *)data)[i];
    case DT_INT4: return sign_extend(((const uint8_t *)data)[i], 4);
    case DT_INT2: return sign_extend(((const uint8_t *)data)[i], 2);
    case DT_UINT4: return ((const uint8_t *)data)[i] & 15;
    case DT_UINT2: return ((const uint8_t *)data)[i] & 3;
    default:
      if (dtype_is_float8(tensor->dtype))
        return (double)float8_to_float(tensor->dtype, ((const uint8_t *)data)[i]);
      return 0;
  }
}
