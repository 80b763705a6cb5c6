/* TF_Status, TF_Tensor, TF_Buffer. */
#include <string.h>

#include "base/alloc.h"
#include "c_api/c_api_internal.h"

TF_Status *TF_NewStatus(void) {
  TF_Status *status = mem_alloc(sizeof *status);
  if (status) status_init(&status->status);
  return status;
}

void TF_DeleteStatus(TF_Status *status) { mem_free(status); }

void TF_SetStatus(TF_Status *status, TF_Code code, const char *message) {
  status_init(&status->status);
  if (code != TF_OK) status_set(&status->status, (Code)code, "%s", message ? message : "");
}

TF_Code TF_GetCode(const TF_Status *status) { return (TF_Code)status->status.code; }

const char *TF_Message(const TF_Status *status) { return status->status.message; }

size_t TF_DataTypeSize(TF_DataType dt) {
  return dtype_is_valid((int)dt) && dtype_is_pod((int)dt) ? dtype_size((int)dt) : 0;
}

TF_Tensor *TF_NewTensor(TF_DataType type, const int64_t *dims, int num_dims, void *data, size_t len,
                        void (*deallocator)(void *data, size_t len, void *arg), void *deallocator_arg) {
  Status status;
  status_init(&status);
  TF_Tensor *tensor = mem_calloc(1, sizeof *tensor);
  if (tensor && dtype_is_pod((int)type) &&
      tensor_wrap(&tensor->tensor, (DataType)type, num_dims, dims, data, (int64_t)len, deallocator,
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

TF_DataType TF_TensorType(const TF_Tensor *tensor) { return (TF_DataType)tensor->tensor.dtype; }

int TF_NumDims(const TF_Tensor *tensor) { return tensor->tensor.shape.rank; }

int64_t TF_Dim(const TF_Tensor *tensor, int dim_index) {
  return dim_index >= 0 && dim_index < tensor->tensor.shape.rank ? shape_dim(&tensor->tensor.shape, dim_index)
                                                                 : -1;
}

int64_t TF_TensorElementCount(const TF_Tensor *tensor) { return tensor_num_elements(&tensor->tensor); }

size_t TF_TensorByteSize(const TF_Tensor *tensor) { return (size_t)tensor_bytes(&tensor->tensor); }

void *TF_TensorData(const TF_Tensor *tensor) { return tensor->tensor.data; }

static void free_data(void *data, size_t length) {
  (void)length;
  mem_free(data);
}

TF_Buffer *TF_NewBuffer(void) { return mem_calloc(1, sizeof(TF_Buffer)); }

TF_Buffer *TF_NewBufferFromString(const void *proto, size_t proto_len) {
  TF_Buffer *buffer = TF_NewBuffer();
  char *copy = buffer ? mem_strdup(proto, proto_len) : NULL;
  if (!copy) {
    mem_free(buffer);
    return NULL;
  }
  *buffer = (TF_Buffer){copy, proto_len, free_data};
  return buffer;
}

void TF_DeleteBuffer(TF_Buffer *buffer) {
  if (!buffer) return;
  if (buffer->data_deallocator) buffer->data_deallocator((void *)buffer->data, buffer->length);
  mem_free(buffer);
}

TF_Buffer TF_GetBuffer(TF_Buffer *buffer) { return *buffer; }

bool fill_buffer(StrBuf *text, TF_Buffer *buffer, Status *status) {
  if (buffer->data) {
    strbuf_free(text);
    return status_invalid(status, "Passing non-empty output buffer is invalid.");
  }
  if (!strbuf_ok(text, status)) {
    strbuf_free(text);
    return false;
  }
  *buffer = (TF_Buffer){text->data, (size_t)text->length, free_data};
  *text = (StrBuf){0};
  return true;
}

bool fill_buffer_with_message(const void *message, TF_Buffer *buffer, Status *status) {
  StrBuf bytes = {0};
  if (proto_serialize(message, &bytes, status)) return fill_buffer(&bytes, buffer, status);
  strbuf_free(&bytes);
  return false;
}
