/* What ops on several elements of a TensorArray share. */
#ifndef TFCORE_OPS_LISTS_TENSOR_ARRAY_ROWS_H_
#define TFCORE_OPS_LISTS_TENSOR_ARRAY_ROWS_H_

#include "ops/lists/tensor_array.h"

/* Writes `rows` rows of the tensor, from row `first` on, as one element. `keep`: the element has a dimension
 * for its rows; otherwise it is one row. */
MUST_CHECK bool array_write_rows(KernelContext *context, TensorArray *array, int64_t index,
                                 const Tensor *value, int64_t first, int64_t rows, bool keep, Status *status);

/* Reads the elements `indices`, or the first `count` elements if it is NULL: `count` values for
 * array_drop_all. NULL with status on failure. */
Tensor *array_read_all(TensorArray *array, const int32_t *indices, int64_t count, BufferPool *pool,
                       Status *status);
void array_drop_all(Tensor *values, int64_t count);

/* Sets output 0 to the concatenation of the values, with the sizes `dims`. */
MUST_CHECK bool array_join(KernelContext *context, const Tensor *values, int64_t count, int rank,
                           const int64_t *dims, Status *status);
/* Sets output 0 to a tensor of no elements of the sizes `dims`. */
MUST_CHECK bool array_no_elements(KernelContext *context, int rank, const int64_t *dims, Status *status);
/* UNIMPLEMENTED, for an array of no elements and a shape that is not fully defined; returns false. `what` is
 * the name of the shape, `doing` what the op does: "packing". */
bool array_refuse_empty(const char *what, const char *doing, int rank, const int64_t *dims, Status *status);

#endif
