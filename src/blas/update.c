#include "blas/update.h"

#include <math.h>

#include "simd/simd.h"

#define T float
#define V f32x4
#define LANES 4
#define FN(name) name##_f32
#define VFN(name) f32x4_##name
#define SQRT sqrtf
#include "blas/update.inc"
#undef T
#undef V
#undef LANES
#undef FN
#undef VFN
#undef SQRT

#define T double
#define V f64x2
#define LANES 2
#define FN(name) name##_f64
#define VFN(name) f64x2_##name
#define SQRT sqrt
#include "blas/update.inc"
