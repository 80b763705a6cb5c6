/* Kernels for many types: how templates (simd/templates.h) define them and how a family registers them.
 *
 * A template defines loops, and the family registers them with the lists below, as data of a kernel that is
 * the same for all types:
 *
 *   static void NAME(relu)(int64_t count, const void *x, void *y) {...}
 *
 *   .kernels = {TYPED_REAL_KERNELS(elementwise_unary, relu)}
 *
 * A kernel for a few types is written as an entry of its own.
 */
#ifndef TFCORE_OPS_SUPPORT_ELEMENT_TYPES_H_
#define TFCORE_OPS_SUPPORT_ELEMENT_TYPES_H_

#include "ops/support/half_precision.h"
#include "simd/templates.h"
#include "tensor/dtype.h"

/* Lists of kernels for the types of TYPES_... . Several can follow one another in `.kernels = {...}`:
 *
 *   FLOAT_KERNELS(f), {DT_BOOL, f}   one function for three types
 *   FLOAT_KERNELS(f, &kData)         the same function with data
 *   TYPED_FLOAT_KERNELS(f, loop)     f with the data loop_f32 and loop_f64, which a template defines
 *
 * The compiler refuses unused loops, so a template leaves out those for types that its ops do not have.
 */
#define FLOAT_KERNELS(...) \
  {DT_FLOAT, __VA_ARGS__}, { DT_DOUBLE, __VA_ARGS__ }
#define HALF_KERNELS(...) \
  {DT_HALF, __VA_ARGS__}, { DT_BFLOAT16, __VA_ARGS__ }
#define FLOAT_AND_HALF_KERNELS(...) FLOAT_KERNELS(__VA_ARGS__), HALF_KERNELS(__VA_ARGS__)
#define INT_KERNELS(...) \
  {DT_INT32, __VA_ARGS__}, { DT_INT64, __VA_ARGS__ }
#define SMALL_KERNELS(...) \
  {DT_UINT8, __VA_ARGS__}, {DT_INT8, __VA_ARGS__}, {DT_INT16, __VA_ARGS__}, { DT_UINT16, __VA_ARGS__ }
#define UNSIGNED_KERNELS(...) \
  {DT_UINT32, __VA_ARGS__}, { DT_UINT64, __VA_ARGS__ }
#define COMPLEX_KERNELS(...) \
  {DT_COMPLEX64, __VA_ARGS__}, { DT_COMPLEX128, __VA_ARGS__ }
/* All numbers with an order, and all numbers: TensorFlow's realnumbertype and numbertype without the
 * quantized types. */
#define REAL_KERNELS(...)                                                                    \
  FLOAT_AND_HALF_KERNELS(__VA_ARGS__), INT_KERNELS(__VA_ARGS__), SMALL_KERNELS(__VA_ARGS__), \
      UNSIGNED_KERNELS(__VA_ARGS__)
#define NUMBER_KERNELS(...) REAL_KERNELS(__VA_ARGS__), COMPLEX_KERNELS(__VA_ARGS__)

#define TYPED_FLOAT_KERNELS(f, loop) \
  {DT_FLOAT, f, loop##_f32}, { DT_DOUBLE, f, loop##_f64 }
#define TYPED_HALF_KERNELS(f, loop) \
  {DT_HALF, f, loop##_f16}, { DT_BFLOAT16, f, loop##_bf16 }
#define TYPED_FLOAT_AND_HALF_KERNELS(f, loop) TYPED_FLOAT_KERNELS(f, loop), TYPED_HALF_KERNELS(f, loop)
#define TYPED_INT_KERNELS(f, loop) \
  {DT_INT32, f, loop##_i32}, { DT_INT64, f, loop##_i64 }
#define TYPED_SMALL_KERNELS(f, loop) \
  {DT_UINT8, f, loop##_u8}, {DT_INT8, f, loop##_i8}, {DT_INT16, f, loop##_i16}, { DT_UINT16, f, loop##_u16 }
#define TYPED_UNSIGNED_KERNELS(f, loop) \
  {DT_UINT32, f, loop##_u32}, { DT_UINT64, f, loop##_u64 }
#define TYPED_COMPLEX_KERNELS(f, loop) \
  {DT_COMPLEX64, f, loop##_c64}, { DT_COMPLEX128, f, loop##_c128 }
#define TYPED_REAL_KERNELS(f, loop)                                                                \
  TYPED_FLOAT_AND_HALF_KERNELS(f, loop), TYPED_INT_KERNELS(f, loop), TYPED_SMALL_KERNELS(f, loop), \
      TYPED_UNSIGNED_KERNELS(f, loop)
#define TYPED_NUMBER_KERNELS(f, loop) TYPED_REAL_KERNELS(f, loop), TYPED_COMPLEX_KERNELS(f, loop)

/* For specs, in braces: all numbers, in the order in which TensorFlow 2.x lists them in its OpDefs. The
 * `numbertype` of the spec language is 1.x's, without qint16 and quint16. */
#define NUMBER_TYPES                                                                                      \
  "float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16, qint16, " \
  "quint16, uint16, "                                                                                     \
  "complex128, half, uint32, uint64"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* C's CMPLX, which some libraries do not define for clang. Unlike re + im * I it is correct for
 * infinities. */
ALWAYS_INLINE double _Complex complex_of(double re, double im) {
  union {
    double parts[2];
    double _Complex z;
  } both = {{re, im}};
  return both.z;
}

#endif
