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
  if (__builtin_mul_overflow(shape_num_elements(shape), (int64_t)dtype_size(dtype), bytes)) {
    char text[SHAPE_TEXT_CAPACITY];
    return status_invalid(status, "Tensor with shape %s and type %s has more than 2**63 - 1 bytes",
                          shape_text(shape, text), dtype_name(dtype));
  }
  return true;
}

bool tensor_allocate(Tensor *tensor, DataType dtype, const Shape *shape, BufferPool *pool, Status *status) {
  int64_t bytes;
  TRY(byte_size(dtype, shape, &bytes, status));
  Tensor result = {.dtype = dtype};
  TRY(shape_copy(&result.shape, shape, status));
  result.buffer = buffer_new(pool, bytes);
  if (!result.buffer) {
    shape_clear(&result.shape);
    return out_of_memory(dtype, shape, status);
  }
  result.data = result.buffer->data;
  if (!dtype_is_pod(dtype)) {
    memset(result.data, 0, (size_t)bytes);
    buffer_own_elements(result.buffer, tensor_num_elements(&result),
                        dtype == DT_STRING ? destroy_strings : destroy_objects);
  }
  tensor_move(tensor, &result);
  return true;
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
  return tensor_reshape(to, from, &from->shape, status);
}

bool tensor_reshape(Tensor *to, const Tensor *from, const Shape *shape, Status *status) {
  if (shape_num_elements(shape) != tensor_num_elements(from)) {
    return status_invalid(status,
                          "Input to reshape is a tensor with %" PRId64
                          " values, but the requested shape has %" PRId64,
                          tensor_num_elements(from), shape_num_elements(shape));
  }
  Tensor result = {.dtype = from->dtype, .buffer = from->buffer, .data = from->data};
  TRY(shape_copy(&result.shape, shape, status));
  if (result.buffer) buffer_ref(result.buffer);
  tensor_move(to, &result);
  return true;
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

/* Makes it an empty tensor. Leaves the unused dimensions of a scalar as they are, because steps clear many
 * tensors. */
static void forget(Tensor *tensor) {
  tensor->dtype = DT_INVALID;
  tensor->buffer = NULL;
  tensor->data = NULL;
}

void tensor_clear(Tensor *tensor) {
  buffer_unref(tensor->buffer);
  shape_clear(&tensor->shape);
  forget(tensor);
}

void tensor_move(Tensor *to, Tensor *from) {
  if (to == from) return;
  tensor_clear(to);
  *to = *from;
  from->shape.rank = 0;
  forget(from);
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
