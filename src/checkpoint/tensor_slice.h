/* TensorSlice: a box of a tensor, as partitioned variables are saved; its text forms, its proto, and the key
 * under which its bytes stand in a checkpoint.
 *
 *   "4 3 0,2:-"   a tensor of shape [4,3], of which rows 0 and 1 and all columns ("shape and slice")
 */
#ifndef TFCORE_CHECKPOINT_TENSOR_SLICE_H_
#define TFCORE_CHECKPOINT_TENSOR_SLICE_H_

#include "proto/checkpoint_protos.h"
#include "tensor/tensor.h"

enum { SLICE_FULL = -1 }; /* as a length: the whole dimension, which then starts at 0 */
enum { SLICE_MAX_RANK = SHAPE_MAX_RANK };

typedef struct TensorSlice {
  int rank;
  int64_t starts[SLICE_MAX_RANK], lengths[SLICE_MAX_RANK];
} TensorSlice;

/* Everything of a tensor of that rank. */
void slice_full(int rank, TensorSlice *slice);
bool slice_is_full(const TensorSlice *slice);
/* "0,2:-"; "" for rank 0. */
void slice_print(const TensorSlice *slice, StrBuf *out);
/* TensorFlow's "shape and slice"; what it holds of the tensor goes to `part`. INVALID_ARGUMENT, or, as in
 * TensorFlow, INTERNAL for a slice that does not lie in the shape. */
MUST_CHECK bool slice_parse(Str text, Shape *shape, TensorSlice *slice, Shape *part, Status *status);
/* The shape of the slice of a tensor; INTERNAL when it does not lie in it. */
MUST_CHECK bool slice_shape(const TensorSlice *slice, const Shape *shape, Shape *part, Status *status);
/* False for a proto that is no slice of a tensor of that shape (NULL: has the rank of the proto). */
bool slice_from_proto(const TensorSliceProto *proto, const Shape *shape, TensorSlice *slice);
MUST_CHECK bool slice_to_proto(const TensorSlice *slice, Arena *arena, TensorSliceProto **proto,
                               Status *status);
/* The key of a slice of the tensor `name`: bytes that sort as the parts do. */
void slice_append_key(Str name, const TensorSlice *slice, StrBuf *out);

/* Copies what two slices of a tensor of `shape` have in common from the bytes of one, `from_bytes`, to those
 * of the other; every element is `element` bytes. Returns how many elements that are. `copy` may be NULL for
 * the count alone, or knows how to copy `count` elements. */
typedef bool (*SliceCopy)(void *to, const void *from, int64_t count, size_t element, Status *status);
MUST_CHECK bool slice_copy_common(const Shape *shape, const TensorSlice *from, const void *from_bytes,
                                  const TensorSlice *to, void *to_bytes, size_t element, SliceCopy copy,
                                  int64_t *common, Status *status);

/* What copies elements of a dtype. */
SliceCopy slice_copy_of(DataType dtype);

#endif
