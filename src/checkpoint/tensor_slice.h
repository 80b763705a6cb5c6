/* TensorSlice: a box of a tensor, the unit in which partitioned variables are saved; with its text forms, its
 * proto, and the key of its bytes in a checkpoint.
 *
 *   "4 3 0,2:-"   a tensor of shape [4,3], of which rows 0 and 1 and all columns ("shape and slice")
 */
#ifndef TFCORE_CHECKPOINT_TENSOR_SLICE_H_
#define TFCORE_CHECKPOINT_TENSOR_SLICE_H_

#include "proto/checkpoint_protos.h"
#include "tensor/tensor.h"

enum { SLICE_FULL = -1 }; /* as a length: the whole dimension, starting at 0 */
enum { SLICE_MAX_RANK = SHAPE_MAX_RANK };

typedef struct TensorSlice {
  int rank;
  int64_t starts[SLICE_MAX_RANK], lengths[SLICE_MAX_RANK];
} TensorSlice;

/* The slice of a whole tensor of that rank. */
void slice_full(int rank, TensorSlice *slice);
bool slice_is_full(const TensorSlice *slice);
/* "0,2:-"; "" for rank 0. */
void slice_print(const TensorSlice *slice, StrBuf *out);
/* Parses TensorFlow's "shape and slice" into the shape and `part`. INVALID_ARGUMENT, or, as in TensorFlow,
 * INTERNAL for a slice outside of the shape. */
MUST_CHECK bool slice_parse(Str text, Shape *shape, TensorSlice *slice, Shape *part, Status *status);
/* The shape of the slice of a tensor; INTERNAL when it is outside of the tensor. */
MUST_CHECK bool slice_shape(const TensorSlice *slice, const Shape *shape, Shape *part, Status *status);
/* False if the proto is not a slice of a tensor of that shape (NULL: only the rank, given by the proto, is
 * known). */
bool slice_from_proto(const TensorSliceProto *proto, const Shape *shape, TensorSlice *slice);
MUST_CHECK bool slice_to_proto(const TensorSlice *slice, Arena *arena, TensorSliceProto **proto,
                               Status *status);
/* The key of a slice of the tensor `name`. Keys sort by bytes in the order of the slices. */
void slice_append_key(Str name, const TensorSlice *slice, StrBuf *out);

/* Copies the intersection of two slices of a tensor of `shape` from the bytes of one, `from_bytes`, to those
 * of the other; every element is `element` bytes. Returns the number of elements in it. `copy` copies `count`
 * elements; NULL to only count. */
typedef bool (*SliceCopy)(void *to, const void *from, int64_t count, size_t element, Status *status);
MUST_CHECK bool slice_copy_common(const Shape *shape, const TensorSlice *from, const void *from_bytes,
                                  const TensorSlice *to, void *to_bytes, size_t element, SliceCopy copy,
                                  int64_t *common, Status *status);

/* The function that copies elements of a dtype. */
SliceCopy slice_copy_of(DataType dtype);

#endif
