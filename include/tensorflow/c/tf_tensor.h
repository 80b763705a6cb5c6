/* TF_Tensor: a value with dtype and shape, TensorFlow's C API. */
#ifndef TENSORFLOW_C_TF_TENSOR_H_
#define TENSORFLOW_C_TF_TENSOR_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tensorflow/c/c_api_macros.h"
#include "tensorflow/c/tf_datatype.h"
#include "tensorflow/c/tf_export.h"
#include "tensorflow/c/tf_status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TF_Tensor TF_Tensor;

/* The kind of memory for a kernel's tensors. There is only the host's, so this has no effect. */
typedef struct TF_AllocatorAttributes {
  size_t struct_size;
  TF_Bool on_host;
} TF_AllocatorAttributes;

#define TF_ALLOCATOR_ATTRIBUTES_STRUCT_SIZE TF_OFFSET_OF_END(TF_AllocatorAttributes, on_host)

/* Wraps `data` (row-major, `len` bytes); `deallocator` frees it when it is no longer needed. NULL if the
 * shape or `len` is invalid or memory ran out; `deallocator` was then called. */
TF_CAPI_EXPORT extern TF_Tensor *TF_NewTensor(TF_DataType type, const int64_t *dims, int num_dims, void *data,
                                              size_t len,
                                              void (*deallocator)(void *data, size_t len, void *arg),
                                              void *deallocator_arg);
/* Uninitialised numbers, empty strings (tf_tstring.h), uninitialised resources and variants; NULL if the
 * shape is invalid, `len` is too small, or memory ran out. */
TF_CAPI_EXPORT extern TF_Tensor *TF_AllocateTensor(TF_DataType type, const int64_t *dims, int num_dims,
                                                   size_t len);
TF_CAPI_EXPORT extern void TF_DeleteTensor(TF_Tensor *tensor);
/* The recommended alignment of memory provided by a program. */
TF_CAPI_EXPORT extern size_t TF_TensorDefaultAlignment(void);
/* If nothing else shares its memory, returns a tensor that replaces `tensor` (which is then empty), and which
 * the caller deletes; otherwise NULL. */
TF_CAPI_EXPORT extern TF_Tensor *TF_TensorMaybeMove(TF_Tensor *tensor);
TF_CAPI_EXPORT extern TF_DataType TF_TensorType(const TF_Tensor *tensor);
/* Changes the shape. The caller must ensure the same number of elements; otherwise the tensor is
 * unchanged. */
TF_CAPI_EXPORT extern void TF_SetShape(TF_Tensor *tensor, const int64_t *dims, int num_dims);
TF_CAPI_EXPORT extern int TF_NumDims(const TF_Tensor *tensor);
TF_CAPI_EXPORT extern int64_t TF_Dim(const TF_Tensor *tensor, int dim_index);
TF_CAPI_EXPORT extern int64_t TF_TensorElementCount(const TF_Tensor *tensor);
TF_CAPI_EXPORT extern size_t TF_TensorByteSize(const TF_Tensor *tensor);
/* Valid until the tensor is deleted. */
TF_CAPI_EXPORT extern void *TF_TensorData(const TF_Tensor *tensor);
/* Makes `to` share the memory of `from`, with another type and shape. INVALID_ARGUMENT if the sizes in bytes
 * differ or one of the types is not plain bytes. */
TF_CAPI_EXPORT extern void TF_TensorBitcastFrom(const TF_Tensor *from, TF_DataType type, TF_Tensor *to,
                                                const int64_t *new_dims, int num_new_dims, TF_Status *status);
/* Whether the memory is aligned to TF_TensorDefaultAlignment. */
TF_CAPI_EXPORT extern bool TF_TensorIsAligned(const TF_Tensor *tensor);

#ifdef __cplusplus
}
#endif

#endif
