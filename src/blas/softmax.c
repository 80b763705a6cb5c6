#include "blas/softmax.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "simd/vector_math.h"

SIMD_INLINE f64x8 exp_f64x8(f64x8 x) {
  for (int i = 0; i < 8; i++) x[i] = exp(x[i]);
  return x;
}

#define T float
#define V f32x16
#define LANES 16
#define FN(name) name##_f32
#define TYPE(name) FN(name)
#define VFN(name) f32x16_##name
#define QUARTER f32x4
#define QUARTER_LANES 4
#define QFN(name) f32x4_##name
#define EXP f32x16_exp_below_zero
#define NEAR_EXP f32x16_exp_near_zero
#define NEAREST -87.0f
#define LOG logf
#define ONES 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1
#include "blas/softmax.inc"
#undef T
#undef V
#undef LANES
#undef FN
#undef VFN
#undef QUARTER
#undef QUARTER_LANES
#undef QFN
#undef EXP
#undef NEAR_EXP
#undef NEAREST
#undef LOG
#undef ONES

#define T double
#define V f64x8
#define LANES 8
#define FN(name) name##_f64
#define TYPE(name) FN(name)
#define VFN(name) f64x8_##name
#define QUARTER f64x2
#define QUARTER_LANES 2
#define QFN(name) f64x2_##name
#define EXP exp_f64x8
#define NEAR_EXP exp_f64x8
#define NEAREST 0
#define LOG log
#define ONES 1, 1, 1, 1, 1, 1, 1, 1
#include "blas/softmax.inc"
