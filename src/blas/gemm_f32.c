/* The matrix product of gemm.h for float, with vectors. */
#include <stddef.h>
#include <string.h>

#include "base/bits.h"
#include "blas/gemm.h"
#include "simd/templates.h"
#include "simd/simd.h"

#include "simd/types/f32.inc"
/* Measured in V8, which keeps a tile in its 15 registers only in loops of a single depth. 6 x 8 with a fused
 * multiply-add and 5 x 8 without (a product needs an extra register) reach nine tenths of the peak. */
#ifdef TFCORE_RELAXED_SIMD
#define MR 6
#define SHALLOW 16
#define ROW_PANELS 5
#else
#define MR 5
#define SHALLOW 40
#define ROW_PANELS 4
#endif
#define KC 256
#define MC 960
#define NC 1024
#include "blas/gemm_packed.inc"
