#include "blas/softmax.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "simd/vector_math.h"

SIMD_INLINE f64x2 exp_f64x2(f64x2 x) { return (f64x2){exp(x[0]), exp(x[1])}; }

/* None of the numbers is above zero. */
SIMD_INLINE bool all_have_normal_exp(const f32x4 x[4]) {
  return f32x4_has_normal_exp(f32x4_pmin(f32x4_pmin(f32x4_pmin(f32x4_pmin(f32x4_splat(0), x[0]), x[1]), x[2]), x[3]));
}

#define T float
#define V f32x4
#define LANES 4
#define FN(name) name##_f32
#define VFN(name) f32x4_##name
#define EXP f32x4_exp
#define FAST_EXP f32x4_exp_normal
#define HAVE_FAST_EXP(x) all_have_normal_exp(x)
#define LOG logf
#include "blas/softmax.inc"
#undef T
#undef V
#undef LANES
#undef FN
#undef VFN
#undef EXP
#undef FAST_EXP
#undef HAVE_FAST_EXP
#undef LOG

#define T double
#define V f64x2
#define LANES 2
#define FN(name) name##_f64
#define VFN(name) f64x2_##name
#define EXP exp_f64x2
#define FAST_EXP exp_f64x2
#define HAVE_FAST_EXP(x) true
#define LOG log
#include "blas/softmax.inc"
