/* What the files of shape inference share. */
#ifndef TFCORE_OP_SHAPE_INTERNAL_H_
#define TFCORE_OP_SHAPE_INTERNAL_H_

#include "op/shape_inference.h"

/* A handle that was to be made and is NULL: memory ran out. Returns false. */
static inline bool shape_oom(Status *status) { return status_oom(status, "shape inference"); }

/* Room for `rank` handles in the context's arena; never NULL for rank 0 while there is memory. */
DimHandle *shape_new_dims(InferenceContext *c, int64_t rank);
/* A shape around an array that is already in the arena. */
ShapeHandle shape_around(InferenceContext *c, const DimHandle *dims, int32_t rank);
/* -1 for an index outside the shape; `i` may be negative from the end. */
int64_t shape_dim_index(ShapeHandle s, int64_t i);

#endif
