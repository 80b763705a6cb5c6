/* Strided copies of a box of elements from one tensor to another: the common part of slicing, padding,
 * tiling, concatenating and broadcasting. */
#ifndef TFCORE_OPS_SUPPORT_ARRAY_BOX_H_
#define TFCORE_OPS_SUPPORT_ARRAY_BOX_H_

#include "op/kernel.h"

/* A box that is not empty has at most 62 axes longer than 1, because its elements fit int64. */
enum { ARRAY_BOX_MAX_AXES = 62 };

/* Axes from the outermost to the innermost; adjacent axes are merged where possible. Strides and offsets are
 * in elements and may be negative, or 0 to repeat an element. Zero-initialise, or call array_box_begin. */
typedef struct ArrayBox {
  int rank;
  bool empty;
  int64_t dims[ARRAY_BOX_MAX_AXES], from_strides[ARRAY_BOX_MAX_AXES], to_strides[ARRAY_BOX_MAX_AXES];
  int64_t from_offset, to_offset;
} ArrayBox;

/* The same as zeros, without the cost of clearing all axes. */
static inline void array_box_begin(ArrayBox *box) {
  box->rank = 0;
  box->empty = false;
  box->from_offset = box->to_offset = 0;
}
/* Appends an innermost axis. */
void array_box_add(ArrayBox *box, int64_t size, int64_t from_stride, int64_t to_stride);
/* Copies elements of any type. Both tensors have the same dtype and do not share memory. */
MUST_CHECK bool array_box_copy(const ArrayBox *box, const Tensor *from, Tensor *to, const Parallel *parallel,
                               Status *status);

/* Whether one of the sizes is 0. */
bool array_is_empty(int rank, const int64_t *dims);
/* Sets output `i`, of the given sizes, to the elements of the box, whose axes are those of the output: shares
 * the memory of `from` where they lie one behind the other, or copies them. If an output is empty, the box is
 * not read. */
MUST_CHECK bool array_box_take(KernelContext *context, int i, const ArrayBox *box, const Tensor *from,
                               int rank, const int64_t *dims, Status *status);

/* Copies, and fills the other elements of `to` with the element at `around`, or with 0, false or "" if that
 * is NULL. The axes of the box must be those of `to`, with its strides. */
MUST_CHECK bool array_box_embed(const ArrayBox *box, const Tensor *from, const Tensor *around, Tensor *to,
                                const Parallel *parallel, Status *status);

/* Fills `count` elements of `to` with the element at `from`; elements of 1, 2, 4, 8 or 16 bytes, aligned. */
void array_spread(int64_t size, int64_t count, const void *from, void *to);

/* Rows of elements, one behind the other. Steps from row to row and strides within a row are in elements; 0
 * in `from` repeats. */
typedef struct ArrayRows {
  int64_t count, length;
  const char *from;
  char *to;
  int64_t from_step, from_stride, to_step, to_stride;
} ArrayRows;
/* Elements of 1, 2, 4, 8 or 16 bytes, aligned. */
void array_copy_rows(int64_t size, const ArrayRows *rows);

/* Copies row rows[i] of `from` to row i of `to`, or zeros if the number is negative. Rows have `length`
 * elements; the tensors have the same dtype. */
MUST_CHECK bool array_gather_rows(const Tensor *from, const int64_t *rows, int64_t count, int64_t length,
                                  Tensor *to, const Parallel *parallel, Status *status);
/* Copies row i of `from` to row rows[i] of `to`, in order, so that the last of several rows wins. Rows with a
 * negative number are skipped. */
MUST_CHECK bool array_scatter_rows(const Tensor *from, const int64_t *rows, int64_t count, int64_t length,
                                   Tensor *to, Status *status);
/* Memory for `count` numbers, to be freed with buffer_unref; NULL with status. */
Buffer *array_row_numbers(KernelContext *context, int64_t count, int64_t **numbers, Status *status);

/* Writes the row-major strides of a shape. */
void array_strides(const Shape *shape, int64_t *strides);
/* Fills `to`, which is uninitialised, with 0, false or "". */
void array_clear(Tensor *to);

/* "[1,0]": the index of element `i` in the first `rank` axes of a shape; "" for rank 0. */
void array_print_position(const Shape *shape, int rank, int64_t i, StrBuf *out);
/* INVALID_ARGUMENT "indices[1,0] = 7 is not in [0, 5)" for element `i` of an int32 or int64 tensor. Returns
 * false. */
bool array_refuse_index(const Tensor *indices, int64_t i, int64_t limit, Status *status);

/* The values of an int32 or int64 vector with one value per axis of a tensor; longer vectors are refused, so
 * nothing is allocated. */
MUST_CHECK bool array_read_ints(const Tensor *tensor, int64_t values[SHAPE_MAX_RANK], Status *status);

#endif
