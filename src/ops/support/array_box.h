/* Copying a box of elements from one tensor into another, each with strides of its own: what slicing,
 * padding, tiling, concatenating and broadcasting have in common. */
#ifndef TFCORE_OPS_SUPPORT_ARRAY_BOX_H_
#define TFCORE_OPS_SUPPORT_ARRAY_BOX_H_

#include "op/kernel.h"

/* A box that is not empty has at most 62 axes longer than 1, because its elements fit int64. */
enum { ARRAY_BOX_MAX_AXES = 62 };

/* Axes from the outermost in; what can count as one axis does. Strides and offsets are in elements and may be
 * negative or, where one element is copied to many places, 0. Zero-initialise. */
typedef struct ArrayBox {
  int rank;
  bool empty;
  int64_t dims[ARRAY_BOX_MAX_AXES], from_strides[ARRAY_BOX_MAX_AXES], to_strides[ARRAY_BOX_MAX_AXES];
  int64_t from_offset, to_offset;
} ArrayBox;

/* Adds an axis inside those that are there. */
void array_box_add(ArrayBox *box, int64_t size, int64_t from_stride, int64_t to_stride);
/* Copies; elements of any type. Both tensors have the same dtype and do not share memory. */
MUST_CHECK bool array_box_copy(const ArrayBox *box, const Tensor *from, Tensor *to, const Parallel *parallel,
                               Status *status);

/* Copies, and all other elements of `to` become `around`'s one, or 0, false or "" where that is NULL. The box
 * lies in `to` as a tensor of fewer elements does in one of more: its axes have the strides of `to`. */
MUST_CHECK bool array_box_embed(const ArrayBox *box, const Tensor *from, const Tensor *around, Tensor *to,
                                const Parallel *parallel, Status *status);

/* Every one of `count` elements of `to` becomes the one at `from`; elements of 1, 2, 4, 8 or 16 bytes,
 * aligned. */
void array_spread(int64_t size, int64_t count, const void *from, void *to);

/* Row i of `to` becomes row rows[i] of `from`, or zeros where that is negative; rows have `length` elements
 * and the tensors one dtype. */
MUST_CHECK bool array_gather_rows(const Tensor *from, const int64_t *rows, int64_t count, int64_t length,
                                  Tensor *to, const Parallel *parallel, Status *status);
/* Row rows[i] of `to` becomes row i of `from`, one after the other: what comes later stays. Negative ones
 * name no row. */
MUST_CHECK bool array_scatter_rows(const Tensor *from, const int64_t *rows, int64_t count, int64_t length,
                                   Tensor *to, Status *status);
/* Memory for as many numbers, until buffer_unref; NULL with status. */
Buffer *array_row_numbers(KernelContext *context, int64_t count, int64_t **numbers, Status *status);

/* Writes the row-major strides of a shape. */
void array_strides(const Shape *shape, int64_t *strides);
/* Every element of `to`, not yet written, becomes 0, false or "". */
void array_clear(Tensor *to);

/* "[1,0]": where element `i` stands in the first `rank` axes of a shape; nothing for rank 0. */
void array_print_position(const Shape *shape, int rank, int64_t i, StrBuf *out);
/* INVALID_ARGUMENT "indices[1,0] = 7 is not in [0, 5)" about element `i` of an int32 or int64 tensor. Returns
 * false. */
bool array_refuse_index(const Tensor *indices, int64_t i, int64_t limit, Status *status);

/* The values of an int32 or int64 vector of sizes or of something else that there is one of for each axis of
 * a tensor; longer ones are refused, so nothing is allocated. */
MUST_CHECK bool array_read_ints(const Tensor *tensor, int64_t values[SHAPE_MAX_RANK], Status *status);

#endif
