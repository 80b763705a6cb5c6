/* The transforms of blas/winograd.c in one direction, of vectors of four channels. A sum of `taps` products
 * over SEEN pixels
 *
 *   result[i] = sum of pixel[i + k] * tap[k] over k < taps,    i < results = SEEN + 1 - taps
 *
 * is results_of(results, image_points(pixels) * filter_points(taps, tap)), where the six products belong to
 * the points 0, +-1/sqrt(2), +-sqrt(2) and infinity. `taps` and `results` are 2 to 5, and fast if they are
 * constants.
 */
#ifndef TFCORE_BLAS_WINOGRAD_POINTS_H_
#define TFCORE_BLAS_WINOGRAD_POINTS_H_

#include "simd/simd.h"

enum { SEEN = 6, MOST_TAPS = 5 };

/* The values of the polynomial a[0] + a[1] x + a[2] x^2 + ... at the points, in units that the other
 * transforms undo. */
SIMD_INLINE void filter_points(int taps, const f32x4 *a, f32x4 to[SEEN]) {
  static const float kNear[] = {-2.0f / 3, -0.47140452f, -1.0f / 3, -0.23570226f, -1.0f / 6},
                     kFar[] = {1.0f / 6, 0.23570226f, 1.0f / 3, 0.47140452f, 2.0f / 3};
  const float *nears = simd_table(kNear), *fars = simd_table(kFar);
  /* the even powers and the odd ones */
  f32x4 near[2] = {f32x4_load_splat(nears) * a[0], f32x4_load_splat(nears + 1) * a[1]},
        far[2] = {f32x4_load_splat(fars) * a[0], f32x4_load_splat(fars + 1) * a[1]};
  SIMD_UNROLL
  for (int k = 2; k < MOST_TAPS; k++) {
    if (k >= taps) break;
    near[k % 2] += f32x4_load_splat(nears + k) * a[k];
    far[k % 2] += f32x4_load_splat(fars + k) * a[k];
  }
  to[0] = a[0];
  to[1] = near[0] + near[1];
  to[2] = near[0] - near[1];
  to[3] = far[0] + far[1];
  to[4] = far[0] - far[1];
  to[5] = a[taps - 1];
}

/* The values at the points of the six pixels. */
SIMD_INLINE void image_points(const f32x4 d[SEEN], f32x4 to[SEEN]) {
  static const float kNumbers[] = {-2.5f, -2, -0.5f, 1.41421356f, 0.70710678f};
  const float *table = simd_table(kNumbers);
  f32x4 root = f32x4_load_splat(table + 3), half_root = f32x4_load_splat(table + 4);
  f32x4 near = f32x4_madd(f32x4_load_splat(table + 1), d[2], d[4]), near_odd = half_root * d[3] - root * d[1];
  f32x4 far = f32x4_madd(f32x4_load_splat(table + 2), d[2], d[4]), far_odd = root * d[3] - half_root * d[1];
  f32x4 outer = f32x4_load_splat(table);
  to[0] = f32x4_madd(outer, d[2], d[0] + d[4]);
  to[1] = near + near_odd;
  to[2] = near - near_odd;
  to[3] = far + far_odd;
  to[4] = far - far_odd;
  to[5] = f32x4_madd(outer, d[3], d[1] + d[5]);
}

/* The results of six products. */
SIMD_INLINE void results_of(int results, const f32x4 m[SEEN], f32x4 *to) {
  static const float kNear[] = {1, 0.70710678f, 0.5f, 0.35355339f, 0.25f},
                     kFar[] = {1, 1.41421356f, 2, 2.82842712f, 4};
  const float *nears = simd_table(kNear), *fars = simd_table(kFar);
  f32x4 near[2] = {m[1] + m[2], m[1] - m[2]}, far[2] = {m[3] + m[4], m[3] - m[4]};
  to[0] = m[0] + near[0] + far[0];
  for (int k = 1; k < results; k++) {
    to[k] = f32x4_load_splat(nears + k) * near[k % 2] + f32x4_load_splat(fars + k) * far[k % 2];
  }
  to[results - 1] += m[5];
}

#endif
