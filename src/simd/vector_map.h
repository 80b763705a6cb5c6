/* The loop over arrays of floats of which the functions of simd/vector_math.h and their relatives are made.
 */
#ifndef TFCORE_SIMD_VECTOR_MAP_H_
#define TFCORE_SIMD_VECTOR_MAP_H_

#include "simd/wide.h"

/* y[i] = function(x[i]) for i < count; y may be x. `function` is a constant after inlining, so it is inlined
 * too: once, because such functions are long. The remainder goes through a padded array. */
SIMD_INLINE void vector_map(int64_t count, const float *x, float *y, f32x16 (*function)(f32x16)) {
  float some[16];
  for (int64_t left = count; left > 0; left -= 16, x += 16, y += 16) {
    const float *from = x;
    float *to = y;
    if (left < 16) {
      f32x16_store(some, f32x16_load_some(x, left, 0));
      from = to = some;
    }
    f32x16_store(to, function(f32x16_load(from)));
    if (left < 16) memcpy(y, some, sizeof *y * (size_t)left);
  }
}

#endif
