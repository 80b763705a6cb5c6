/* Kernels for many types: how templates (simd/templates.h) define them and how a family registers them.
 *
 * A template defines kernels as TEMPLATE_KERNEL NAME(relu)(KernelContext *context, Status *status) {...}, and
 * the family registers them with the lists below: .kernels = {TYPED_REAL_KERNELS(relu)}. A kernel for few
 * types is written into the list by hand.
 */
#ifndef TFCORE_OPS_SUPPORT_ELEMENT_TYPES_H_
#define TFCORE_OPS_SUPPORT_ELEMENT_TYPES_H_

#include "simd/templates.h"
#include "tensor/dtype.h"

/* A kernel made by a template. The compiler refuses one that no op has: what a type is not computed with, its
 * template leaves out. */
#define TEMPLATE_KERNEL static bool

/* Lists of kernels, for the types that TYPES_... name. They stand in `.kernels = {...}` one after the other:
 * FLOAT_KERNELS(f), {DT_BOOL, f} is one function for three types, TYPED_FLOAT_KERNELS(f) is f_f32 and f_f64,
 * which a template made. */
#define FLOAT_KERNELS(f) \
  {DT_FLOAT, f}, { DT_DOUBLE, f }
#define HALF_KERNELS(f) \
  {DT_HALF, f}, { DT_BFLOAT16, f }
#define INT_KERNELS(f) \
  {DT_INT32, f}, { DT_INT64, f }
#define SMALL_KERNELS(f) \
  {DT_UINT8, f}, {DT_INT8, f}, {DT_INT16, f}, { DT_UINT16, f }
#define UNSIGNED_KERNELS(f) \
  {DT_UINT32, f}, { DT_UINT64, f }
#define COMPLEX_KERNELS(f) \
  {DT_COMPLEX64, f}, { DT_COMPLEX128, f }
/* All numbers that have an order, and all numbers: TensorFlow's realnumbertype and numbertype without the
 * quantized ones. */
#define REAL_KERNELS(f) \
  FLOAT_KERNELS(f), HALF_KERNELS(f), INT_KERNELS(f), SMALL_KERNELS(f), UNSIGNED_KERNELS(f)
#define NUMBER_KERNELS(f) REAL_KERNELS(f), COMPLEX_KERNELS(f)

#define TYPED_FLOAT_KERNELS(f) \
  {DT_FLOAT, f##_f32}, { DT_DOUBLE, f##_f64 }
#define TYPED_HALF_KERNELS(f) \
  {DT_HALF, f##_f16}, { DT_BFLOAT16, f##_bf16 }
#define TYPED_INT_KERNELS(f) \
  {DT_INT32, f##_i32}, { DT_INT64, f##_i64 }
#define TYPED_SMALL_KERNELS(f) \
  {DT_UINT8, f##_u8}, {DT_INT8, f##_i8}, {DT_INT16, f##_i16}, { DT_UINT16, f##_u16 }
#define TYPED_UNSIGNED_KERNELS(f) \
  {DT_UINT32, f##_u32}, { DT_UINT64, f##_u64 }
#define TYPED_COMPLEX_KERNELS(f) \
  {DT_COMPLEX64, f##_c64}, { DT_COMPLEX128, f##_c128 }
#define TYPED_REAL_KERNELS(f)                                                                  \
  TYPED_FLOAT_KERNELS(f), TYPED_HALF_KERNELS(f), TYPED_INT_KERNELS(f), TYPED_SMALL_KERNELS(f), \
      TYPED_UNSIGNED_KERNELS(f)
#define TYPED_NUMBER_KERNELS(f) TYPED_REAL_KERNELS(f), TYPED_COMPLEX_KERNELS(f)

/* For specs, in braces: all numbers, in the order in which TensorFlow 2.x lists them in its OpDefs. The
 * `numbertype` of the spec language is that of 1.x, without qint16 and quint16. */
#define NUMBER_TYPES                                                                                      \
  "float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16, qint16, " \
  "quint16, uint16, "                                                                                     \
  "complex128, half, uint32, uint64"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* What C calls CMPLX, which some libraries keep from clang. Unlike re + im * I it is right for infinities. */
ALWAYS_INLINE double _Complex complex_of(double re, double im) {
  union {
    double parts[2];
    double _Complex z;
  } both = {{re, im}};
  return both.z;
}

#endif
