/* TensorArray: tensors of one dtype by index. Each element is written once. It can be read once, or any
 * number of times if the array does not clear elements after reading. An array lives for one step.
 *
 * The gradients of an array form an array, too (tensor_array_gradient). That array sums all values written to
 * the same element. An element without a write is zeros, if the first array knows its shape. */
#ifndef TFCORE_OPS_LISTS_TENSOR_ARRAY_H_
#define TFCORE_OPS_LISTS_TENSOR_ARRAY_H_

#include "op/op_registry.h"

typedef struct ArrayItem {
  Tensor value; /* empty: not written, cleared, or zeros */
  Shape shape;  /* when written */
  bool written, read, cleared;
} ArrayItem;

typedef struct TensorArray {
  Resource resource;
  char *name;
  DataType dtype;
  int rank; /* of the elements; -1: any */
  int64_t dims[SHAPE_MAX_RANK];
  int64_t count;    /* of elements */
  ArrayItem *items; /* the elements up to the last one that was used; later elements were not written */
  int64_t num_items, capacity;
  bool closed, dynamic_size, clear_after_read, identical_shapes;
  bool adds;                     /* a second write adds to the first, as gradients do */
  struct TensorArray *gradients; /* the first of a list; this array has a reference to each */
  struct TensorArray *next;
  char *source; /* of an array of gradients: the attr `source`; else NULL */
} TensorArray;

/* A new array of `count` elements with one reference. Takes over `name`. NULL with status when out of
 * memory. */
TensorArray *tensor_array_new(char *name, DataType dtype, int64_t count, Status *status);
/* Finds the array that a handle refers to, borrowed. tensor_array_of refuses a closed array. */
MUST_CHECK bool tensor_array_find(const Tensor *handle, TensorArray **array, Status *status);
MUST_CHECK bool tensor_array_of(const Tensor *handle, TensorArray **array, Status *status);
/* Also refuses an array of another dtype. `verb` is part of the message: "requested", "is trying to write".
 */
MUST_CHECK bool tensor_array_of_type(const Tensor *handle, DataType dtype, const char *verb,
                                     TensorArray **array, Status *status);
void tensor_array_close(Resource *resource);
/* Finds or makes the array of gradients with that source, borrowed. Its elements have the `rank` leading
 * dimensions `dims` in addition. The first array does not grow after this call. */
MUST_CHECK bool tensor_array_gradient(TensorArray *array, Str source, int rank, const int64_t *dims,
                                      TensorArray **gradient, bool *is_new, Status *status);

MUST_CHECK bool tensor_array_write(TensorArray *array, int64_t index, const Tensor *value, BufferPool *pool,
                                   Status *status);
MUST_CHECK bool tensor_array_read(TensorArray *array, int64_t index, Tensor *value, BufferPool *pool,
                                  Status *status);
/* Merges the element shape that a node states into the element shape of the array. */
MUST_CHECK bool tensor_array_merge_shape(TensorArray *array, int rank, const int64_t *dims, Status *status);

#endif
