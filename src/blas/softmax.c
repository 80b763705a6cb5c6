#include "blas/softmax.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "simd/vector_math.h"

SIMD_INLINE f64x2 exp_f64x2(f64x2 x) { return (f64x2){exp(x[0]), exp(x[1])}; }

#define T float
#define V f32x4
#define LANES 4
#define FN(name) name##_f32
#define VFN(name) f32x4_##name
#define EXP f32x4_exp
#define LOG logf
#include "blas/softmax.inc"
#undef T
#undef V
#undef LANES
#undef FN
#undef VFN
#undef EXP
#undef LOG

#define T double
#define V f64x2
#define LANES 2
#define FN(name) name##_f64
#define VFN(name) f64x2_##name
#define EXP exp_f64x2
#define LOG log
#include "blas/softmax.inc"
