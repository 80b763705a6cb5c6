#include "blas/reduce.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "blas/reduce_axes.h"
#include "simd/templates.h"
#include "simd/simd.h"

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
#define TYPES TYPES_FLOAT
#include "simd/each_type.inc"
