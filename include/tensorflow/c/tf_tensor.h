/* TF_Tensor: a value with dtype and shape, TensorFlow's C API. */
#ifndef TENSORFLOW_C_TF_TENSOR_H_
#define TENSORFLOW_C_TF_TENSOR_H_

#include <stddef.h>
#include <stdint.h>

#include "tensorflow/c/c_api_macros.h"
#include "tensorflow/c/tf_datatype.h"
#include "tensorflow/c/tf_export.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TF_Tensor TF_Tensor;

/* Where memory of kernels is wanted. There is only the host's, so nothing depends on it. */
typedef struct TF_AllocatorAttributes {
  size_t struct_size;
  TF_Bool on_host;
} TF_AllocatorAttributes;

#define TF_ALLOCATOR_ATTRIBUTES_STRUCT_SIZE TF_OFFSET_OF_END(TF_AllocatorAttributes, on_host)

/* Wraps `data` (row-major, `len` bytes), which `deallocator` gives back when it is no longer needed. NULL
 * when the shape or `len` is wrong or memory ran out; `deallocator` was then called. */
TF_CAPI_EXPORT extern TF_Tensor *TF_NewTensor(TF_DataType type, const int64_t *dims, int num_dims, void *data,
                                              size_t len,
                                              void (*deallocator)(void *data, size_t len, void *arg),
                                              void *deallocator_arg);
/* Uninitialised elements; NULL when the shape is wrong, `len` is less than it needs, or memory ran out. */
TF_CAPI_EXPORT extern TF_Tensor *TF_AllocateTensor(TF_DataType type, const int64_t *dims, int num_dims,
                                                   size_t len);
TF_CAPI_EXPORT extern void TF_DeleteTensor(TF_Tensor *tensor);
TF_CAPI_EXPORT extern TF_DataType TF_TensorType(const TF_Tensor *tensor);
TF_CAPI_EXPORT extern int TF_NumDims(const TF_Tensor *tensor);
TF_CAPI_EXPORT extern int64_t TF_Dim(const TF_Tensor *tensor, int dim_index);
TF_CAPI_EXPORT extern int64_t TF_TensorElementCount(const TF_Tensor *tensor);
TF_CAPI_EXPORT extern size_t TF_TensorByteSize(const TF_Tensor *tensor);
/* Valid until the tensor is deleted. */
TF_CAPI_EXPORT extern void *TF_TensorData(const TF_Tensor *tensor);

#ifdef __cplusplus
}
#endif

#endif
