/* Rows of elements of any dtype that has values: numbers and strings. */
#ifndef TFCORE_OPS_SPARSE_ELEMENT_ROWS_H_
#define TFCORE_OPS_SPARSE_ELEMENT_ROWS_H_

#include "op/kernel.h"

/* Copies `length` elements between tensors of the same dtype, from element `from_at` to element `to_at`. */
MUST_CHECK bool copy_elements(const Tensor *from, int64_t from_at, Tensor *to, int64_t to_at, int64_t length,
                              Status *status);
/* "[1,2]": row `i` of a matrix of indices, for messages; a vector has rows of one index. */
void print_index(const Tensor *indices, int64_t i, StrBuf *text);

#endif
