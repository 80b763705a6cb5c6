#include "wasm/wasm_tensors.h"

#include "c_api/c_api_internal.h"

TF_Tensor *TF_WasmShareTensor(const TF_Tensor *tensor, TF_Status *status) {
  start_status(status);
  return share_tensor(&tensor->tensor, &status->status);
}

void *TF_WasmWritableData(TF_Tensor *tensor, TF_Status *status) {
  Tensor *own = &tensor->tensor;
  start_status(status);
  bool ok = buffer_is_unshared(own->buffer) || tensor_copy(own, own, NULL, &status->status);
  return ok ? own->data : NULL;
}
