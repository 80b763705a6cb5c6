/* Values of eager execution. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "native/native_eager.h"
#include "tensorflow/c/c_api_experimental.h"
#include "tensorflow/c/eager/c_api_experimental.h"

static const char kHostDevice[] = "/job:localhost/replica:0/task:0/device:CPU:0";

TFE_TensorHandle *new_tensor_handle(Tensor *value, const char *device, Status *status) {
  TFE_TensorHandle *handle = mem_calloc(1, sizeof *handle);
  if (handle) handle->device = mem_strdup(device, strlen(device));
  if (handle && handle->device) {
    tensor_move(&handle->value, value);
    return handle;
  }
  mem_free(handle);
  tensor_clear(value);
  status_oom(status, "a value");
  return NULL;
}

static TFE_TensorHandle *share_value(const Tensor *value, const char *device, Status *status) {
  Tensor shared = {0};
  return tensor_assign(&shared, value, status) ? new_tensor_handle(&shared, device, status) : NULL;
}

TFE_TensorHandle *TFE_NewTensorHandle(const TF_Tensor *t, TF_Status *status) {
  start_status(status);
  if (t) return share_value(&t->tensor, kHostDevice, &status->status);
  status_invalid(&status->status, "Invalid tensor");
  return NULL;
}

TFE_TensorHandle *TFE_NewTensorHandleFromScalar(TF_DataType data_type, void *data, size_t len,
                                                TF_Status *status) {
  start_status(status);
  Tensor scalar = {0};
  if (len == 0 || len != TF_DataTypeSize(data_type)) {
    status_invalid(&status->status, "A scalar of %zu bytes is no value of type %s", len,
                   dtype_name((int)data_type));
    return NULL;
  }
  if (!tensor_allocate_dims(&scalar, (DataType)data_type, 0, NULL, NULL, &status->status)) return NULL;
  memcpy(scalar.data, data, len);
  return new_tensor_handle(&scalar, kHostDevice, &status->status);
}

void TFE_DeleteTensorHandle(TFE_TensorHandle *h) {
  if (!h) return;
  tensor_clear(&h->value);
  mem_free(h->device);
  mem_free(h);
}

static bool check_handle(const TFE_TensorHandle *h, TF_Status *status) {
  start_status(status);
  return h || status_invalid(&status->status, "Invalid handle");
}

TF_DataType TFE_TensorHandleDataType(TFE_TensorHandle *h) { return (TF_DataType)h->value.dtype; }

int TFE_TensorHandleNumDims(TFE_TensorHandle *h, TF_Status *status) {
  return check_handle(h, status) ? h->value.shape.rank : -1;
}

int64_t TFE_TensorHandleNumElements(TFE_TensorHandle *h, TF_Status *status) {
  return check_handle(h, status) ? tensor_num_elements(&h->value) : -1;
}

int64_t TFE_TensorHandleDim(TFE_TensorHandle *h, int dim_index, TF_Status *status) {
  if (!check_handle(h, status)) return -1;
  if (dim_index >= 0 && dim_index < h->value.shape.rank) return shape_dim(&h->value.shape, dim_index);
  status_invalid(&status->status, "Dimension %d is not in a value of rank %d", dim_index,
                 h->value.shape.rank);
  return -1;
}

const char *TFE_TensorHandleDeviceName(TFE_TensorHandle *h, TF_Status *status) {
  return check_handle(h, status) ? h->device : NULL;
}

const char *TFE_TensorHandleBackingDeviceName(TFE_TensorHandle *h, TF_Status *status) {
  return check_handle(h, status) ? h->device : NULL;
}

TFE_TensorHandle *TFE_TensorHandleCopySharingTensor(TFE_TensorHandle *h, TF_Status *status) {
  return check_handle(h, status) ? share_value(&h->value, h->device, &status->status) : NULL;
}

TF_Tensor *TFE_TensorHandleResolve(TFE_TensorHandle *h, TF_Status *status) {
  return check_handle(h, status) ? share_tensor(&h->value, &status->status) : NULL;
}

TFE_TensorHandle *TFE_TensorHandleCopyToDevice(TFE_TensorHandle *h, TFE_Context *ctx, const char *device_name,
                                               TF_Status *status) {
  if (!check_handle(h, status)) return NULL;
  const Device *device = eager_find_device(ctx->eager, device_name);
  if (device) return share_value(&h->value, device->name, &status->status);
  status_invalid(&status->status, "%s unknown device.", device_name);
  return NULL;
}

/* ---- memory and devices ---- */

TF_Tensor *TFE_AllocateHostTensor(TFE_Context *ctx, TF_DataType dtype, const int64_t *dims, int num_dims,
                                  TF_Status *status) {
  Tensor value = {0};
  (void)ctx;
  start_status(status);
  if (!tensor_allocate_dims(&value, (DataType)dtype, num_dims, dims, NULL, &status->status)) return NULL;
  return take_tensor(&value, &status->status);
}

TFE_TensorHandle *TFE_NewTensorHandleFromTensor(TFE_Context *ctx, TF_Tensor *t, TF_Status *status) {
  (void)ctx;
  return TFE_NewTensorHandle(t, status);
}

TFE_TensorHandle *TFE_NewTensorHandleFromDeviceMemory(TFE_Context *ctx, const char *device_name,
                                                      TF_DataType dtype, const int64_t *dims, int num_dims,
                                                      void *data, size_t len,
                                                      void (*deallocator)(void *data, size_t len, void *arg),
                                                      void *deallocator_arg, TF_Status *status) {
  TFE_TensorHandle *handle = NULL;
  start_status(status);
  const Device *device = eager_find_device(ctx->eager, device_name);
  TF_Tensor *tensor = TF_NewTensor(dtype, dims, num_dims, data, len, deallocator, deallocator_arg);
  if (!device) status_invalid(&status->status, "%s unknown device.", device_name);
  else if (!tensor) status_invalid(&status->status, "%zu bytes are no value of that type and shape", len);
  else handle = share_value(&tensor->tensor, device->name, &status->status);
  TF_DeleteTensor(tensor);
  return handle;
}

void *TFE_TensorHandleDevicePointer(TFE_TensorHandle *h, TF_Status *status) {
  return check_handle(h, status) ? h->value.data : NULL;
}

size_t TFE_TensorHandleDeviceMemorySize(TFE_TensorHandle *h, TF_Status *status) {
  return check_handle(h, status) ? (size_t)tensor_bytes(&h->value) : 0;
}

const char *TFE_TensorHandleDeviceType(TFE_TensorHandle *h, TF_Status *status) {
  return check_handle(h, status) ? "CPU" : NULL;
}

int TFE_TensorHandleDeviceID(TFE_TensorHandle *h, TF_Status *status) {
  return check_handle(h, status) ? atoi(strrchr(h->device, ':') + 1) : -1;
}

void TFE_TensorHandleGetStatus(TFE_TensorHandle *h, TF_Status *status) { reported(check_handle(h, status)); }

/* ---- debug info ---- */

struct TFE_TensorDebugInfo {
  Shape shape;
};

TFE_TensorDebugInfo *TFE_TensorHandleTensorDebugInfo(TFE_TensorHandle *h, TF_Status *status) {
  if (!check_handle(h, status)) return NULL;
  TFE_TensorDebugInfo *info = mem_calloc(1, sizeof *info);
  if (!info) {
    status_oom(&status->status, "debug info");
    return NULL;
  }
  if (shape_copy(&info->shape, &h->value.shape, &status->status)) return info;
  mem_free(info);
  return NULL;
}

void TFE_DeleteTensorDebugInfo(TFE_TensorDebugInfo *debug_info) {
  if (!debug_info) return;
  shape_clear(&debug_info->shape);
  mem_free(debug_info);
}

int TFE_TensorDebugInfoOnDeviceNumDims(TFE_TensorDebugInfo *debug_info) { return debug_info->shape.rank; }

int64_t TFE_TensorDebugInfoOnDeviceDim(TFE_TensorDebugInfo *debug_info, int dim_index) {
  if (dim_index < 0 || dim_index >= debug_info->shape.rank) return -1;
  return shape_dim(&debug_info->shape, dim_index);
}
