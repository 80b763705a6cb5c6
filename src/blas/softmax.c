#include "blas/softmax.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "simd/double_math.h"
#include "simd/templates.h"
#include "simd/vector_math.h"

SIMD_INLINE f64x8 f64x8_exp_below_zero(f64x8 x) {
  SIMD_EACH_QUARTER(f64x8, f64x2, f64x2_exp(f64x8_quarter(x, k)));
}
SIMD_INLINE f64x8 f64x8_exp_near_zero(f64x8 x) {
  SIMD_EACH_QUARTER(f64x8, f64x2, f64x2_exp_near(f64x8_quarter(x, k)));
}

/* The range of exp_near_zero: NEAREST <= x <= 0. */
#define NEAREST -87.0f

#define TEMPLATE "blas/softmax.inc"
#define TYPES TYPES_FLOAT
#include "simd/each_type.inc"
