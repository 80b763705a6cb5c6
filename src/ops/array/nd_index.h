/* Indices of several axes at once, the last axis of a tensor: what GatherNd and ScatterNd have in common. */
#ifndef TFCORE_OPS_ARRAY_ND_INDEX_H_
#define TFCORE_OPS_ARRAY_ND_INDEX_H_

#include "op/kernel.h"

/* Indices into the first `depth` axes of a shape; each names a slice of `length` elements. */
typedef struct NdIndex {
  int depth;
  int64_t count, length;
  bool ignore_bad; /* indices outside of the shape are passed over; set by who wants it, behind nd_index */
} NdIndex;

/* The state of an op with a bad_indices_policy. */
typedef struct NdIndexState {
  bool ignore_bad;
} NdIndexState;
bool nd_index_construct(const KernelConstruction *construction, void *memory, Status *status);

/* `indices` has at least one axis, the last no longer than the rank of `shape`. */
void nd_index(const Tensor *indices, const Shape *shape, NdIndex *index);
/* Writes which slice each index names, -1 for one that is passed over, and returns -1; or the number of the
 * first index outside of the shape. */
int64_t nd_index_rows(const NdIndex *index, const Tensor *indices, const Shape *shape, int64_t *rows);
/* "indices[0,1] = [0, 3] does not index into <what> [2,3]" */
MUST_CHECK bool nd_index_outside(const NdIndex *index, const Tensor *indices, const Shape *shape, int64_t i,
                                 const char *what, const char *behind, Status *status);

#endif
