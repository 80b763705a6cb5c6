/* The matrix product of gemm.h for double, with vectors. */
#include <stddef.h>
#include <string.h>

#include "base/bits.h"
#include "blas/gemm.h"
#include "simd/templates.h"
#include "simd/simd.h"

#include "simd/types/f64.inc"
/* As in gemm_f32.c: the number of registers decides, whatever they hold. */
#ifdef TFCORE_RELAXED_SIMD
#define MR 6
#define SHALLOW 16
#else
#define MR 5
#define SHALLOW 40
#endif
#define KC 192
#define MC 480
#define NC 512
#include "blas/gemm_packed.inc"
