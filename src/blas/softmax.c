#include "blas/softmax.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "simd/vector_math.h"

SIMD_INLINE f64x2 exp_f64x2(f64x2 x) { return (f64x2){exp(x[0]), exp(x[1])}; }

SIMD_INLINE bool all_have_normal_exp(const f32x4 x[4]) {
  i32x4 near = i32x4_splat(-1);
  SIMD_UNROLL for (int k = 0; k < 4; k++) near &= f32x4_has_normal_exp(x[k]);
  return !i32x4_any(~near);
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
