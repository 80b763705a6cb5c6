#include "ops/support/elements.h"

#include "base/copy.h"

bool tensor_copy_elements(const Tensor *from, int64_t from_first, Tensor *to, int64_t to_first, int64_t count,
                          Status *status) {
  if (dtype_is_pod(to->dtype)) {
    int64_t size = (int64_t)dtype_size(to->dtype);
    copy_bytes((char *)to->data + to_first * size, (const char *)from->data + from_first * size,
               count * size);
    return true;
  }
  for (int64_t i = 0; i < count; i++) {
    if (to->dtype == DT_STRING) {
      TRY(tstring_copy(&tensor_strings(to)[to_first + i], &tensor_strings(from)[from_first + i], status));
    } else {
      TensorObject *object = ((TensorObject **)from->data)[from_first + i];
      if (object) tensor_object_ref(object);
      ((TensorObject **)to->data)[to_first + i] = object;
    }
  }
  return true;
}

static int row_dims(const Tensor *tensor, int64_t dims[SHAPE_MAX_RANK]) {
  int rank = tensor->shape.rank - 1;
  for (int d = 0; d < rank; d++) dims[d] = shape_dim(&tensor->shape, d + 1);
  return rank;
}

bool tensor_copy_row(const Tensor *from, int64_t row, BufferPool *pool, Tensor *to, Status *status) {
  int64_t dims[SHAPE_MAX_RANK];
  int rank = row_dims(from, dims);
  TRY(tensor_allocate_dims(to, from->dtype, rank, dims, pool, status));
  int64_t size = tensor_num_elements(to);
  return tensor_copy_elements(from, row * size, to, 0, size, status);
}

bool tensor_share_row(const Tensor *from, int64_t row, BufferPool *pool, Tensor *to, Status *status) {
  if (!dtype_is_pod((int)from->dtype)) return tensor_copy_row(from, row, pool, to, status);
  int64_t dims[SHAPE_MAX_RANK];
  int rank = row_dims(from, dims);
  TRY(shape_set(&to->shape, rank, dims, status));
  buffer_ref(from->buffer);
  buffer_unref(to->buffer);
  to->dtype = from->dtype;
  to->buffer = from->buffer;
  to->data = (char *)from->data + row * tensor_num_elements(to) * (int64_t)dtype_size((int)to->dtype);
  return true;
}
