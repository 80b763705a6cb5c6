/* Declarations shared by the files of shape inference. */
#ifndef TFCORE_OP_SHAPE_INTERNAL_H_
#define TFCORE_OP_SHAPE_INTERNAL_H_

#include "op/shape_inference.h"

/* Reports a NULL handle, which means that memory ran out. Returns false. */
static inline bool shape_oom(Status *status) { return status_oom(status, "shape inference"); }

/* Space for `rank` handles in the context's arena; NULL only when out of memory, even for rank 0. */
DimHandle *shape_new_dims(InferenceContext *c, int64_t rank);
/* A shape that uses an array in the arena. */
ShapeHandle shape_around(InferenceContext *c, const DimHandle *dims, int32_t rank);
/* -1 for an index outside the shape; `i` may be negative from the end. */
int64_t shape_dim_index(ShapeHandle s, int64_t i);

#endif
