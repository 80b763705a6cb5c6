/* The matrix products of gemm.h for integers: plain loops. */
#include <stddef.h>

#include "blas/gemm.h"

/* Unsigned arithmetic wraps around, as the result shall; signed overflow would be undefined. */
#define T int32_t
#define U uint32_t
#define FN(name) name##_i32
#define TYPE(name) FN(name)
#include "blas/gemm_generic.inc"
#undef T
#undef U
#undef FN

#define T int64_t
#define U uint64_t
#define FN(name) name##_i64
#define TYPE(name) FN(name)
#include "blas/gemm_generic.inc"
