/* The values of a slice in a checkpoint of version 1: a TensorProto without dtype and shape that lists all
 * values. */
#include "checkpoint/slice_file_internal.h"

/* Allocates the field's array; false when out of memory. */
static bool list(Arena *arena, int64_t count, size_t element, size_t *length, void **array, Status *status) {
  *array = arena_calloc(arena, count + (count == 0), (int64_t)element);
  if (!*array) return status_oom(status, "the values of a checkpoint");
  *length = (size_t)count;
  return true;
}

/* Copies integers of up to 32 bits, sign-extended if they are signed. */
static int32_t integer_at(const Tensor *tensor, int64_t i) {
  switch (tensor->dtype) {
    case DT_UINT8:
    case DT_QUINT8: return ((const uint8_t *)tensor->data)[i];
    case DT_INT8:
    case DT_QINT8: return ((const int8_t *)tensor->data)[i];
    case DT_UINT16:
    case DT_QUINT16: return ((const uint16_t *)tensor->data)[i];
    case DT_INT16:
    case DT_QINT16: return ((const int16_t *)tensor->data)[i];
    default: return ((const int32_t *)tensor->data)[i];
  }
}

bool slice_values_set(const Tensor *tensor, Arena *arena, TensorProto *proto, Status *status) {
  int64_t n = tensor_num_elements(tensor);
  const void *data = tensor->data;
#define LIST(field, factor) \
  list(arena, n *(factor), sizeof *proto->field, &proto->n_##field, (void **)&proto->field, status)
  switch (tensor->dtype) {
    case DT_FLOAT:
      TRY(LIST(float_val, 1));
      for (int64_t i = 0; i < n; i++) proto->float_val[i] = ((const float *)data)[i];
      return true;
    case DT_DOUBLE:
      TRY(LIST(double_val, 1));
      for (int64_t i = 0; i < n; i++) proto->double_val[i] = ((const double *)data)[i];
      return true;
    case DT_COMPLEX64:
      TRY(LIST(scomplex_val, 2));
      for (int64_t i = 0; i < 2 * n; i++) proto->scomplex_val[i] = ((const float *)data)[i];
      return true;
    case DT_COMPLEX128:
      TRY(LIST(dcomplex_val, 2));
      for (int64_t i = 0; i < 2 * n; i++) proto->dcomplex_val[i] = ((const double *)data)[i];
      return true;
    case DT_INT64:
      TRY(LIST(int64_val, 1));
      for (int64_t i = 0; i < n; i++) proto->int64_val[i] = ((const int64_t *)data)[i];
      return true;
    case DT_BOOL:
      TRY(LIST(bool_val, 1));
      for (int64_t i = 0; i < n; i++) proto->bool_val[i] = ((const bool *)data)[i];
      return true;
    case DT_HALF:
      TRY(LIST(half_val, 1));
      for (int64_t i = 0; i < n; i++) proto->half_val[i] = ((const uint16_t *)data)[i];
      return true;
    case DT_INT32:
    case DT_UINT8:
    case DT_INT16:
    case DT_INT8:
    case DT_UINT16:
    case DT_QINT8:
    case DT_QUINT8:
    case DT_QINT16:
    case DT_QUINT16:
    case DT_QINT32:
      TRY(LIST(int_val, 1));
      for (int64_t i = 0; i < n; i++) proto->int_val[i] = integer_at(tensor, i);
      return true;
    case DT_STRING:
      TRY(LIST(string_val, 1));
      for (int64_t i = 0; i < n; i++) {
        Str text = tstring_view(&tensor_strings(tensor)[i]);
        proto->string_val[i].data = (uint8_t *)(uintptr_t)text.data;
        proto->string_val[i].len = text.length;
      }
      return true;
    default:
      return status_set(status, CODE_UNIMPLEMENTED, "Saving data type %s not yet supported",
                        dtype_name(tensor->dtype));
  }
#undef LIST
}
