/* TF_TString: an element of a TF_STRING tensor, TensorFlow's C API.
 *
 *   TF_Tensor *tensor = TF_AllocateTensor(TF_STRING, dims, 1, 2 * sizeof(TF_TString));
 *   TF_TString *elements = TF_TensorData(tensor);
 *   TF_StringCopy(&elements[0], "left", 4);
 *
 * The elements of a tensor from TF_AllocateTensor are empty strings, and the tensor frees their contents. In
 * the program's own memory, TF_StringInit initialises an element and TF_StringDealloc frees its contents.
 *
 * The layout is TensorFlow's, and long strings come from malloc(). So programs compiled with TensorFlow's
 * headers, whose inline functions write and free elements themselves, work with this library.
 */
#ifndef TENSORFLOW_C_TF_TSTRING_H_
#define TENSORFLOW_C_TF_TSTRING_H_

#include <stddef.h>
#include <stdint.h>

#include "tensorflow/c/tf_export.h"
#include "tensorflow/c/tf_tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The place of the bytes: in the element, in owned memory, at an offset after the element, or in memory that
 * the string does not own. */
typedef enum TF_TString_Type {
  TF_TSTR_SMALL = 0x00,
  TF_TSTR_LARGE = 0x01,
  TF_TSTR_OFFSET = 0x02,
  TF_TSTR_VIEW = 0x03,
  TF_TSTR_TYPE_MASK = 0x03,
} TF_TString_Type;

typedef struct TF_TString_Raw {
  uint8_t raw[24];
} TF_TString_Raw;

typedef struct TF_TString {
  union {
    struct {
      size_t size;
      const char *ptr;
      void *owner_ref;
    } view; /* gives the alignment */
    TF_TString_Raw raw;
  } u;
} TF_TString;

/* Makes it the empty string and ignores its old contents. */
TF_CAPI_EXPORT extern void TF_StringInit(TF_TString *t);
/* Copies the bytes, and frees the old contents. When memory runs out, the string is unchanged. */
TF_CAPI_EXPORT extern void TF_StringCopy(TF_TString *dst, const char *src, size_t size);
/* Refers to bytes that must outlive the string and all strings assigned from it. */
TF_CAPI_EXPORT extern void TF_StringAssignView(TF_TString *dst, const char *src, size_t size);
/* Not always NUL-terminated. */
TF_CAPI_EXPORT extern const char *TF_StringGetDataPointer(const TF_TString *tstr);
TF_CAPI_EXPORT extern TF_TString_Type TF_StringGetType(const TF_TString *str);
TF_CAPI_EXPORT extern size_t TF_StringGetSize(const TF_TString *tstr);
/* 0 for strings that own no memory. */
TF_CAPI_EXPORT extern size_t TF_StringGetCapacity(const TF_TString *str);
TF_CAPI_EXPORT extern void TF_StringDealloc(TF_TString *tstr);

/* The same with the alternative names in TensorFlow's headers. */
static inline void TF_TString_Init(TF_TString *str) { TF_StringInit(str); }
static inline void TF_TString_Copy(TF_TString *dst, const char *src, size_t size) {
  TF_StringCopy(dst, src, size);
}
static inline void TF_TString_AssignView(TF_TString *dst, const char *src, size_t size) {
  TF_StringAssignView(dst, src, size);
}
static inline const char *TF_TString_GetDataPointer(const TF_TString *str) {
  return TF_StringGetDataPointer(str);
}
static inline TF_TString_Type TF_TString_GetType(const TF_TString *str) { return TF_StringGetType(str); }
static inline size_t TF_TString_GetSize(const TF_TString *str) { return TF_StringGetSize(str); }
static inline size_t TF_TString_GetCapacity(const TF_TString *str) { return TF_StringGetCapacity(str); }
static inline void TF_TString_Dealloc(TF_TString *str) { TF_StringDealloc(str); }

#ifdef __cplusplus
}
#endif

#endif
