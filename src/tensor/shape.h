/* Shape: the sizes of an actual tensor: rank 0 to 254, every size known and >= 0. (For shapes with unknown
 * parts see op/shape_inference.h, and TensorShapeProto in attrs.) */
#ifndef TFCORE_TENSOR_SHAPE_H_
#define TFCORE_TENSOR_SHAPE_H_

#include "base/str.h"
#include "proto/proto.h"

enum { SHAPE_MAX_RANK = 254, SHAPE_INLINE_RANK = 8 };

/* Up to 8 dimensions are stored inline, more on the heap: copy with shape_copy, free with shape_clear. A
 * zero-initialised Shape is a scalar's. */
typedef struct Shape {
  int rank;
  union {
    int64_t inline_dims[SHAPE_INLINE_RANK];
    int64_t *heap_dims;
  } storage;
} Shape;

static inline const int64_t *shape_dims(const Shape *shape) {
  return shape->rank <= SHAPE_INLINE_RANK ? shape->storage.inline_dims : shape->storage.heap_dims;
}
static inline int64_t shape_dim(const Shape *shape, int i) { return shape_dims(shape)[i]; }

/* Replaces the shape. Checks rank <= 254, sizes >= 0 and that the number of elements fits int64:
 * INVALID_ARGUMENT in TensorFlow's words. */
MUST_CHECK bool shape_set(Shape *shape, int rank, const int64_t *dims, Status *status);
MUST_CHECK bool shape_copy(Shape *to, const Shape *from, Status *status);
void shape_free_dims(Shape *shape); /* of a shape with dimensions on the heap */
/* Copies the fields; both shapes then own the dimensions on the heap. One by one, because a compiler for
 * WebAssembly makes a call of the engine from the assignment of a struct. */
static inline void shape_copy_fields(Shape *to, const Shape *from) {
  to->rank = from->rank;
  if (from->rank == 0) return;
  int64_t *dims = to->storage.inline_dims;
  const int64_t *old = from->storage.inline_dims;
  dims[0] = old[0], dims[1] = old[1], dims[2] = old[2], dims[3] = old[3];
  dims[4] = old[4], dims[5] = old[5], dims[6] = old[6], dims[7] = old[7];
}
/* Makes it a scalar's. */
static inline void shape_clear(Shape *shape) {
  if (shape->rank > SHAPE_INLINE_RANK) shape_free_dims(shape);
  shape->rank = 0;
}
bool shape_equal(const Shape *a, const Shape *b);
/* 1 for a scalar. Cannot overflow, because shape_set has checked it. */
static inline int64_t shape_num_elements(const Shape *shape) {
  int64_t elements = 1;
  const int64_t *dims = shape_dims(shape);
  for (int i = 0; i < shape->rank; i++) elements *= dims[i];
  return elements;
}
/* "[2,3]", "[]". */
void shape_print(const Shape *shape, StrBuf *out);
/* The same into a caller's array, truncated at its size; returns `text`, for error messages. */
enum { SHAPE_TEXT_CAPACITY = 160 };
const char *shape_text(const Shape *shape, char text[SHAPE_TEXT_CAPACITY]);
/* Checks that a TensorShapeProto (NULL: a scalar's) is a Shape: fully known, rank <= 254, number of elements
 * in int64. `num_elements` may be NULL. Allocates nothing. */
MUST_CHECK bool shape_check_proto(const TensorShapeProto *proto, int64_t *num_elements, Status *status);
/* The Shape of such a proto. */
MUST_CHECK bool shape_from_proto(const TensorShapeProto *proto, Shape *shape, Status *status);

#endif
