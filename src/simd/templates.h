/* The interface of templates: the only place that defines element types.
 *
 * A template `foo.inc` is ordinary C for one element type. A source file includes it for several types:
 *
 *   #define TEMPLATE "blas/foo.inc"
 *   #define TYPES (TYPES_FLOAT | TYPES_INT)
 *   #include "simd/each_type.inc"
 *
 * A file that needs one type, or additional defines, does the work of each_type.inc itself: it includes the
 * type's description ("simd/types/f32.inc"), the template, and "simd/types/end.inc". A template can use, for
 * every type:
 *
 *   T           an element in memory
 *   C           the type to compute in: T, but float for half and bfloat16
 *   U           C for floating types; for integers an unsigned type of
 *               at least 32 bits, in which + - * wrap around
 *   NAME(op)    op with the type's suffix: op_f32, op_i64, op_bf16
 *   TYPE(Name)  the same where a type is meant
 *   LOAD(x)     an element as C
 *   STORE(x)    a C as element
 *   FLOATING    1 or 0
 *   COMPLEX     1 or 0; complex types are FLOATING too, and have no order
 *   UNSIGNED    1 or 0
 *   SIDE_TYPE   1 for u8 i8 i16 u16 u32 u64, which many ops do not have
 *   IS_NAN(x)   of a C; false for integers
 *
 *   EACH_INDEX_ALONE  before a loop whose iterations touch their own
 *                     index only
 *
 * For real floating types:
 *
 *   MATH(sqrt)  the C library's function of a C: sqrtf or sqrt
 *
 * Only for half and bfloat16:
 *
 *   HALF        the DataType. Loops that should be fast convert pieces of
 *               the tensors: see ops/support/half_precision.h
 *
 * For float, double, int32 and int64, with simd/simd.h:
 *
 *   V           16 bytes of T: f32x4
 *   UV          V for arithmetic that wraps around: u32x4 for int32
 *   LANES       elements of V
 *   VFN(op)     V's function of that name: f32x4_op
 *   LOWEST      the neutral value of a maximum
 *   HIGHEST     the neutral value of a minimum
 *
 * For float and double, with simd/wide.h:
 *
 *   V4          four V abreast: f32x16
 *   V4FN(op)    V4's function of that name: f32x16_op
 */
#ifndef TFCORE_SIMD_TEMPLATES_H_
#define TFCORE_SIMD_TEMPLATES_H_

#include <complex.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#define TYPES_FLOAT 1     /* f32 f64 */
#define TYPES_HALF 2      /* f16 bf16 */
#define TYPES_INT 4       /* i32 i64 */
#define TYPES_SMALL 8     /* u8 i8 i16 u16 */
#define TYPES_UNSIGNED 16 /* u32 u64 */
#define TYPES_BOOL 32     /* bool */
#define TYPES_COMPLEX 64  /* c64 c128 */

#define TYPE(Name) NAME(Name)

/* Before a loop whose iterations only access their own index. Kernels work in place, so `out` may be one of
 * the inputs; without this the compiler's overlap check would send exactly that case down its scalar path. */
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed" /* builds with sanitizers do not vectorise */
#define LOOP_INDEPENDENT _Pragma("clang loop vectorize(assume_safety) interleave_count(4)")
#else
#define LOOP_INDEPENDENT _Pragma("GCC ivdep")
#endif
/* For types that are seldom computed with, and operations that take long: small code rather than fast code.
 */
#ifdef __clang__
#define LOOP_COMPACT _Pragma("clang loop vectorize(disable) unroll(disable)")
#else
#define LOOP_COMPACT
#endif

#endif
