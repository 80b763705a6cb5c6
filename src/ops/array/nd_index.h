/* Indices into several axes, along the last axis of a tensor: shared by GatherNd and ScatterNd. */
#ifndef TFCORE_OPS_ARRAY_ND_INDEX_H_
#define TFCORE_OPS_ARRAY_ND_INDEX_H_

#include "op/kernel.h"

/* Indices into the first `depth` axes of a shape; each selects a slice of `length` elements. */
typedef struct NdIndex {
  int depth;
  int64_t count, length;
  bool ignore_bad; /* ignore indices outside of the shape; set by the caller after nd_index */
} NdIndex;

/* The state of an op with a bad_indices_policy. */
typedef struct NdIndexState {
  bool ignore_bad;
} NdIndexState;
bool nd_index_construct(const KernelConstruction *construction, void *memory, Status *status);

/* `indices` has at least one axis, whose last size is at most the rank of `shape`. */
void nd_index(const Tensor *indices, const Shape *shape, NdIndex *index);
/* Writes the slice number of each index, -1 for an ignored one, and returns -1; or returns the number of the
 * first index outside of the shape. */
int64_t nd_index_rows(const NdIndex *index, const Tensor *indices, const Shape *shape, int64_t *rows);
/* "indices[0,1] = [0, 3] does not index into <what> [2,3]" */
MUST_CHECK bool nd_index_outside(const NdIndex *index, const Tensor *indices, const Shape *shape, int64_t i,
                                 const char *what, const char *behind, Status *status);

#endif
