/* The depthwise convolutions of conv.h, for each type. */
#include <string.h>

#include "blas/conv.h"
#include "simd/simd.h"

#define T float
#define V f32x4
#define LANES 4
#define FN(name) name##_f32
#define TYPE(name) FN(name)
#define VFN(name) f32x4_##name
#include "blas/depthwise.inc"
#undef T
#undef V
#undef LANES
#undef FN
#undef VFN

#define T double
#define V f64x2
#define LANES 2
#define FN(name) name##_f64
#define TYPE(name) FN(name)
#define VFN(name) f64x2_##name
#include "blas/depthwise.inc"
