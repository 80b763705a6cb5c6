/* TF_Buffer: the bytes of a serialised message, TensorFlow's C API. */
#ifndef TENSORFLOW_C_TF_BUFFER_H_
#define TENSORFLOW_C_TF_BUFFER_H_

#include <stddef.h>

#include "tensorflow/c/tf_export.h"

#ifdef __cplusplus
extern "C" {
#endif

/* If `data_deallocator` is NULL, the buffer does not own its data. */
typedef struct TF_Buffer {
  const void *data;
  size_t length;
  void (*data_deallocator)(void *data, size_t length);
} TF_Buffer;

/* Copies the bytes. NULL when out of memory. */
TF_CAPI_EXPORT extern TF_Buffer *TF_NewBufferFromString(const void *proto, size_t proto_len);
TF_CAPI_EXPORT extern TF_Buffer *TF_NewBuffer(void);
TF_CAPI_EXPORT extern void TF_DeleteBuffer(TF_Buffer *buffer);
TF_CAPI_EXPORT extern TF_Buffer TF_GetBuffer(TF_Buffer *buffer);

#ifdef __cplusplus
}
#endif

#endif
