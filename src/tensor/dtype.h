/* DataType: the element types, with TensorFlow's names and numbers (types.proto). */
#ifndef TFCORE_TENSOR_DTYPE_H_
#define TFCORE_TENSOR_DTYPE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

typedef enum DataType {
  DT_INVALID = 0,
  DT_FLOAT = 1,
  DT_DOUBLE = 2,
  DT_INT32 = 3,
  DT_UINT8 = 4,
  DT_INT16 = 5,
  DT_INT8 = 6,
  DT_STRING = 7,
  DT_COMPLEX64 = 8,
  DT_INT64 = 9,
  DT_BOOL = 10,
  DT_QINT8 = 11,
  DT_QUINT8 = 12,
  DT_QINT32 = 13,
  DT_BFLOAT16 = 14,
  DT_QINT16 = 15,
  DT_QUINT16 = 16,
  DT_UINT16 = 17,
  DT_COMPLEX128 = 18,
  DT_HALF = 19,
  DT_RESOURCE = 20,
  DT_VARIANT = 21,
  DT_UINT32 = 22,
  DT_UINT64 = 23,
  /* Storage types: one byte per element (also for 4-bit and 2-bit types), without arithmetic. */
  DT_FLOAT8_E5M2 = 24,
  DT_FLOAT8_E4M3FN = 25,
  DT_FLOAT8_E4M3FNUZ = 26,
  DT_FLOAT8_E4M3B11FNUZ = 27,
  DT_FLOAT8_E5M2FNUZ = 28,
  DT_INT4 = 29,
  DT_UINT4 = 30,
  DT_INT2 = 31,
  DT_UINT2 = 32,
  DT_FLOAT4_E2M1FN = 33,
  DT_REF = 100, /* added to a type: a reference to a tensor of it */
} DataType;

enum { NUM_DTYPES = 34 };

/* "float", "int32", "float_ref"; "invalid" for other numbers, where TensorFlow prints "unknown dtype enum:
 * N". Static text. */
const char *dtype_name(int dtype);
/* "DT_FLOAT", "DT_FLOAT_REF"; else "DT_INVALID". */
const char *dtype_enum_name(int dtype);
/* From "float", "int32", "half", "float16", "float32", "float64", "float_ref"...; DT_INVALID if it is not the
 * name of a type. */
int dtype_from_name(Str name);
/* Whether it is a known type, reference or not. */
bool dtype_is_valid(int dtype);
static inline bool dtype_is_ref(int dtype) { return dtype > DT_REF && dtype < DT_REF + NUM_DTYPES; }
static inline int dtype_base(int dtype) { return dtype_is_ref(dtype) ? dtype - DT_REF : dtype; }
int dtype_ref(int dtype);
/* Bytes per element: 4 for DT_FLOAT; sizeof(TString) for DT_STRING, the size of a pointer for DT_RESOURCE and
 * DT_VARIANT; 0 for DT_INVALID. */
size_t dtype_size(int dtype);
bool dtype_is_floating(int dtype); /* half, bfloat16, float, double: the types with arithmetic */
bool dtype_is_integer(int dtype);  /* signed and unsigned of 8 bits and more, not quantized */
bool dtype_is_complex(int dtype);
bool dtype_is_quantized(int dtype);
bool dtype_is_float8(int dtype); /* float8_* and float4_*: one byte per element */
/* True when elements are plain bytes (everything but string, resource, variant). */
bool dtype_is_pod(int dtype);
/* The lowest finite number of a real type that is not quantized. */
double dtype_lowest(DataType type);

float half_to_float(uint16_t half);
uint16_t float_to_half(float value); /* round to nearest even */
float bfloat16_to_float(uint16_t bfloat16);
uint16_t float_to_bfloat16(float value); /* round to nearest even, NaN stays NaN */
/* The value of an element of a type for which dtype_is_float8 holds; 0 for other types. */
float float8_to_float(int dtype, uint8_t bits);

#endif
