#include "blas/conv.h"

#include <string.h>

#include "blas/gemm.h"
#include "simd/simd.h"

#define T float
#define V f32x4
#define LANES 4
#define FN(name) name##_f32
#define TYPE(name) FN(name)
#define VFN(name) f32x4_##name
#define GEMM(name) gemm_f32##name
#define CONV(name) conv_f32##name
#include "blas/interleave.inc"
#include "blas/conv_pack.inc"
#include "blas/conv_product.inc"
#undef T
#undef V
#undef LANES
#undef FN
#undef VFN
#undef GEMM
#undef CONV

#define T double
#define V f64x2
#define LANES 2
#define FN(name) name##_f64
#define TYPE(name) FN(name)
#define VFN(name) f64x2_##name
#define GEMM(name) gemm_f64##name
#define CONV(name) conv_f64##name
#include "blas/interleave.inc"
#include "blas/conv_pack.inc"
#include "blas/conv_product.inc"
