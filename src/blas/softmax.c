#include "blas/softmax.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "simd/templates.h"
#include "simd/vector_math.h"

/* For double the C library's exp replaces f32x16_exp_below_zero and f32x16_exp_near_zero. */
SIMD_INLINE f64x8 f64x8_exp_below_zero(f64x8 x) {
  for (int i = 0; i < 8; i++) x[i] = exp(x[i]);
  return x;
}
#define f64x8_exp_near_zero f64x8_exp_below_zero

/* The range of f32x16_exp_near_zero: NEAREST <= x <= 0. */
#define NEAREST -87.0f

#define TEMPLATE "blas/softmax.inc"
#define TYPES TYPES_FLOAT
#include "simd/each_type.inc"
