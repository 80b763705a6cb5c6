/* TF_Tensor, and the elements of string tensors. */
#include <string.h>

#include "base/alloc.h"
#include "c_api/c_api_internal.h"
#include "tensorflow/c/tf_tstring.h"

/* The alignment of memory allocated for tensors; memory given by a program may be aligned to less. */
enum { TENSOR_ALIGNMENT = 64 };

size_t TF_DataTypeSize(TF_DataType dt) {
  return dtype_is_valid((int)dt) && dtype_is_pod((int)dt) ? dtype_size((int)dt) : 0;
}

TF_Tensor *TF_NewTensor(TF_DataType type, const int64_t *dims, int num_dims, void *data, size_t len,
                        void (*deallocator)(void *data, size_t len, void *arg), void *deallocator_arg) {
  Status status;
  status_init(&status);
  TF_Tensor *tensor = mem_calloc(1, sizeof *tensor);
  if (tensor && tensor_wrap(&tensor->tensor, (DataType)type, num_dims, dims, data, (int64_t)len, deallocator,
                            deallocator_arg, &status)) {
    return tensor;
  }
  mem_free(tensor);
  if (deallocator) deallocator(data, len, deallocator_arg);
  return NULL;
}

TF_Tensor *TF_AllocateTensor(TF_DataType type, const int64_t *dims, int num_dims, size_t len) {
  Status status;
  status_init(&status);
  TF_Tensor *tensor = mem_calloc(1, sizeof *tensor);
  if (tensor && dtype_is_valid((int)type) &&
      tensor_allocate_dims(&tensor->tensor, (DataType)type, num_dims, dims, NULL, &status) &&
      (size_t)tensor_bytes(&tensor->tensor) <= len) {
    return tensor;
  }
  TF_DeleteTensor(tensor);
  return NULL;
}

void TF_DeleteTensor(TF_Tensor *tensor) {
  if (!tensor) return;
  tensor_clear(&tensor->tensor);
  mem_free(tensor);
}

size_t TF_TensorDefaultAlignment(void) { return TENSOR_ALIGNMENT; }

bool TF_TensorIsAligned(const TF_Tensor *tensor) {
  return (uintptr_t)tensor->tensor.data % TENSOR_ALIGNMENT == 0;
}

TF_Tensor *TF_TensorMaybeMove(TF_Tensor *tensor) {
  return tensor->tensor.buffer && atomic_load(&tensor->tensor.buffer->references) == 1 ? tensor : NULL;
}

TF_Tensor *take_tensor(Tensor *value, Status *status) {
  TF_Tensor *tensor = mem_calloc(1, sizeof *tensor);
  if (tensor) {
    tensor_move(&tensor->tensor, value);
  } else {
    tensor_clear(value);
    status_oom(status, "a tensor");
  }
  return tensor;
}

TF_DataType TF_TensorType(const TF_Tensor *tensor) { return (TF_DataType)tensor->tensor.dtype; }

int TF_NumDims(const TF_Tensor *tensor) { return tensor->tensor.shape.rank; }

int64_t TF_Dim(const TF_Tensor *tensor, int dim_index) {
  return dim_index >= 0 && dim_index < tensor->tensor.shape.rank ? shape_dim(&tensor->tensor.shape, dim_index)
                                                                 : -1;
}

int64_t TF_TensorElementCount(const TF_Tensor *tensor) { return tensor_num_elements(&tensor->tensor); }

size_t TF_TensorByteSize(const TF_Tensor *tensor) { return (size_t)tensor_bytes(&tensor->tensor); }

void *TF_TensorData(const TF_Tensor *tensor) { return tensor->tensor.data; }

/* ---- other views of the same memory ---- */

void TF_SetShape(TF_Tensor *tensor, const int64_t *dims, int num_dims) {
  Status status;
  status_init(&status);
  Shape shape = {0};
  Tensor reshaped = {0};
  if (shape_set(&shape, num_dims, dims, &status) &&
      shape_num_elements(&shape) == tensor_num_elements(&tensor->tensor) &&
      tensor_reshape(&reshaped, &tensor->tensor, &shape, &status)) {
    tensor_move(&tensor->tensor, &reshaped);
  }
  shape_clear(&shape);
}

static bool bitcast(const Tensor *from, int type, const int64_t *dims, int num_dims, Tensor *to,
                    Status *status) {
  Shape shape = {0};
  Tensor cast = {0};
  bool ok = false;
  int64_t bytes;
  for (int i = 0; i < num_dims; i++) {
    if (dims[i] >= 0) continue;
    return status_invalid(status, "Expected a non-negative size, got %lld", (long long)dims[i]);
  }
  TRY_DONE(shape_set(&shape, num_dims, dims, status));
  if (!dtype_is_pod((int)from->dtype)) {
    status_invalid(status, "other tensor has zero-sized data type");
    goto done;
  }
  if (!dtype_is_valid(type) || dtype_is_ref(type) || !dtype_is_pod(type)) {
    status_invalid(status, "specified output type is zero-sized");
    goto done;
  }
  if (__builtin_mul_overflow(shape_num_elements(&shape), (int64_t)dtype_size(type), &bytes) ||
      bytes != tensor_bytes(from)) {
    status_invalid(status, "input and output shapes/data type sizes are not compatible");
    goto done;
  }
  TRY_DONE(tensor_assign(&cast, from, status));
  TRY_DONE(shape_copy(&cast.shape, &shape, status));
  cast.dtype = (DataType)type;
  tensor_move(to, &cast);
  ok = true;
done:
  tensor_clear(&cast);
  shape_clear(&shape);
  return ok;
}

void TF_TensorBitcastFrom(const TF_Tensor *from, TF_DataType type, TF_Tensor *to, const int64_t *new_dims,
                          int num_new_dims, TF_Status *status) {
  start_status(status);
  reported(bitcast(&from->tensor, (int)type, new_dims, num_new_dims, &to->tensor, &status->status));
}

void TF_TensorFromProto(const TF_Buffer *from, TF_Tensor *to, TF_Status *status) {
  start_status(status);
  Arena *arena = arena_new();
  void *proto;
  Tensor tensor = {0};
  if (parse_given(kTensorProto, from->data, from->length, "Unparseable tensorflow.TensorProto proto", arena,
                  &proto, &status->status) &&
      tensor_copy_proto(proto, &tensor, &status->status)) {
    tensor_move(&to->tensor, &tensor);
  }
  arena_free(arena);
}

/* ---- strings ---- */

_Static_assert(sizeof(TF_TString) == sizeof(TString) && _Alignof(TF_TString) == _Alignof(TString),
               "an element is the same inside and outside");

static TString *to_string(TF_TString *string) { return (TString *)string; }
static const TString *to_const_string(const TF_TString *string) { return (const TString *)string; }

void TF_StringInit(TF_TString *t) { tstring_init(to_string(t)); }

void TF_StringCopy(TF_TString *dst, const char *src, size_t size) {
  Status status;
  status_init(&status);
  reported(tstring_set(to_string(dst), src, size, &status));
}

void TF_StringAssignView(TF_TString *dst, const char *src, size_t size) {
  tstring_assign_view(to_string(dst), src, size);
}

const char *TF_StringGetDataPointer(const TF_TString *tstr) {
  return tstring_view(to_const_string(tstr)).data;
}

TF_TString_Type TF_StringGetType(const TF_TString *str) {
  return (TF_TString_Type)tstring_type(to_const_string(str));
}

size_t TF_StringGetSize(const TF_TString *tstr) { return tstring_view(to_const_string(tstr)).length; }

size_t TF_StringGetCapacity(const TF_TString *str) { return tstring_capacity(to_const_string(str)); }

void TF_StringDealloc(TF_TString *tstr) { tstring_free(to_string(tstr)); }
