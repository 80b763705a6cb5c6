#include "blas/reduce.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "simd/templates.h"
#include "simd/simd.h"

/* An axis of size 1 neither separates nor forms a group. */
static bool reduces(const int64_t *dims, const bool *reduced, int axis) {
  return reduced[axis] && dims[axis] != 1;
}

/* The number of groups of adjacent reduced axes. */
static int reduce_groups(int rank, const int64_t *dims, const bool *reduced) {
  int groups = 0;
  bool inside = false;
  for (int i = 0; i < rank; i++) {
    if (dims[i] == 1) continue;
    groups += reduced[i] && !inside;
    inside = reduced[i];
  }
  return groups;
}

int64_t reduce_workspace(int rank, const int64_t *dims, const bool *reduced, size_t element_size) {
  int groups = reduce_groups(rank, dims, reduced);
  int64_t left = 1, size = 0;
  for (int i = 0; i < rank; i++) left *= dims[i];
  if (left == 0) return 0;
  for (int axis = rank - 1; axis >= 0 && groups > 1; axis--) {
    if (!reduces(dims, reduced, axis)) continue;
    for (; axis >= 0 && (reduced[axis] || dims[axis] == 1); axis--) left /= dims[axis];
    size += left, groups--;
  }
  return size * (int64_t)element_size;
}

#define TEMPLATE "blas/reduce.inc"
#define TYPES (TYPES_FLOAT | TYPES_INT)
#include "simd/each_type.inc"
