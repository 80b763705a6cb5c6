/* Tensors that JavaScript holds in the engine's memory, without a copy of its own. */
#ifndef TFCORE_WASM_WASM_TENSORS_H_
#define TFCORE_WASM_WASM_TENSORS_H_

#include "tensorflow/c/c_api.h"

/* Another TF_Tensor of the same memory, which lives until both are deleted. NULL when out of memory. */
TF_CAPI_EXPORT extern TF_Tensor *TF_WasmShareTensor(const TF_Tensor *tensor, TF_Status *status);
/* The elements, for the caller to write. If anything else refers to them (a variable that was assigned the
 * tensor, a step under way), the tensor gets a copy of its own first, and the others keep the old elements.
 * The pointer is valid until the tensor is next shared. NULL when out of memory. */
TF_CAPI_EXPORT extern void *TF_WasmWritableData(TF_Tensor *tensor, TF_Status *status);

#endif
