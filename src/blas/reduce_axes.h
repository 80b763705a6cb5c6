/* The axes that a reduction (blas/reduce.h) reduces. */
#ifndef TFCORE_BLAS_REDUCE_AXES_H_
#define TFCORE_BLAS_REDUCE_AXES_H_

#include <stdbool.h>
#include <stdint.h>

/* An axis of size 1 neither separates nor forms a group. */
static inline bool reduces(const int64_t *dims, const bool *reduced, int axis) {
  return reduced[axis] && dims[axis] != 1;
}

/* The number of groups of adjacent reduced axes. */
static inline int reduce_groups(int rank, const int64_t *dims, const bool *reduced) {
  int groups = 0;
  bool inside = false;
  for (int i = 0; i < rank; i++) {
    if (dims[i] == 1) continue;
    groups += reduced[i] && !inside;
    inside = reduced[i];
  }
  return groups;
}

#endif
