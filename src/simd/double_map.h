/* The loop over arrays of doubles of which functions of simd/double_math.h are made. */
#ifndef TFCORE_SIMD_DOUBLE_MAP_H_
#define TFCORE_SIMD_DOUBLE_MAP_H_

#include "simd/simd.h"

/* y[i] = function(x[i]) for i < count; y may be x. `function` is a constant after inlining. Pairs do not wait
 * for each other. The last one is alone, in a pair with itself. */
SIMD_INLINE void double_map(int64_t count, const double *x, double *y, f64x2 (*function)(f64x2)) {
  for (; count > 0; count -= 2, x += 2, y += 2) {
    f64x2 result = function(count == 1 ? f64x2_load_splat(x) : f64x2_load(x));
    if (count == 1) y[0] = result[0];
    else f64x2_store(y, result);
  }
}

#endif
