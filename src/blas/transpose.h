/* Permutes the axes of a dense row-major array: y[i_perm[0], i_perm[1], ...] = x[i_0, i_1, ...], that is,
 * axis d of y is axis perm[d] of x. */
#ifndef TFCORE_BLAS_TRANSPOSE_H_
#define TFCORE_BLAS_TRANSPOSE_H_

#include <stdbool.h>
#include <stdint.h>

#include "base/parallel.h"

/* The limit after simplification: axes that stay adjacent in order count as one, axes of size 1 are
 * dropped. */
enum { TRANSPOSE_MAX_AXES = 16 };

/* `element_size` is 1, 2, 4, 8 or 16 bytes; elements are moved bitwise. x and y must not overlap and must be
 * aligned for their elements. `perm` is a permutation of 0..rank-1. False when more than TRANSPOSE_MAX_AXES
 * axes are left; then nothing was written. */
bool transpose(int element_size, int rank, const int64_t *dims, const int32_t *perm, const void *x, void *y,
               const Parallel *parallel);

#endif
