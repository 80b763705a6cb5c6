/* Chooses between the elements of two tensors: SelectV2, alone or as a part of a fused program. */
#ifndef TFCORE_OPS_SUPPORT_SELECT_ELEMENTS_H_
#define TFCORE_OPS_SUPPORT_SELECT_ELEMENTS_H_

#include "base/odometer.h"
#include "base/parallel.h"
#include "tensor/shape.h"

enum { SELECT_CONDITION, SELECT_THEN, SELECT_ELSE, SELECT_OPERANDS };

/* out[i] = condition[i] ? then[i] : else[i], for `count` elements of `size` bytes: 1, 2, 4, 8 or 16. Bit k of
 * `still` says that all use the one element of operand k. `out` may be an operand of as many elements. */
void select_elements(int64_t count, int64_t size, const void *const *operands, unsigned still, void *out);

/* The loop nest over the elements of a result. Dimensions of size 1 are left out, and adjacent ones along
 * which each operand lies contiguously, or is broadcast, are merged. */
typedef struct SelectNest {
  int rank; /* at least 1 */
  int64_t dims[SHAPE_MAX_RANK];
  int64_t strides[SELECT_OPERANDS][SHAPE_MAX_RANK]; /* elements; 0 where the operand is broadcast */
} SelectNest;

/* For operands that broadcast to `shape`, none of whose sizes is 0. */
void select_nest_plan(SelectNest *nest, const Shape *const *shapes, const Shape *shape);
/* Walks over the elements of the operands; `index` has SHAPE_MAX_RANK elements. */
Odometer select_nest_walk(const SelectNest *nest, int64_t *index);

/* The shape to which the three broadcast, for an empty *shape. INVALID_ARGUMENT if they do not. */
MUST_CHECK bool select_shape_of(const Shape *const *shapes, Shape *shape, Status *status);
/* The same as select_elements for operands that broadcast to `shape`. */
void select_broadcast(const Parallel *parallel, const Shape *const *shapes, const void *const *operands,
                      const Shape *shape, int64_t size, void *out);

#endif
