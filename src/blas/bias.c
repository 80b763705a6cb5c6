#include "blas/bias.h"

#define T float
#define U float
#define FN(name) name##_f32
#define TYPE(name) FN(name)
#include "blas/bias.inc"
#undef T
#undef U
#undef FN

#define T double
#define U double
#define FN(name) name##_f64
#define TYPE(name) FN(name)
#include "blas/bias.inc"
#undef T
#undef U
#undef FN

/* Unsigned, as signed overflow is undefined. */
#define T int32_t
#define U uint32_t
#define FN(name) name##_i32
#define TYPE(name) FN(name)
#include "blas/bias.inc"
#undef T
#undef U
#undef FN

#define T int64_t
#define U uint64_t
#define FN(name) name##_i64
#define TYPE(name) FN(name)
#include "blas/bias.inc"
