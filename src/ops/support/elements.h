/* Copies of elements, for ops that join or split tensors. */
#ifndef TFCORE_OPS_SUPPORT_ELEMENTS_H_
#define TFCORE_OPS_SUPPORT_ELEMENTS_H_

#include "tensor/tensor.h"

/* Copies `count` consecutive elements between tensors of the same dtype. The copies of strings and objects
 * hold references of their own. */
MUST_CHECK bool tensor_copy_elements(const Tensor *from, int64_t from_first, Tensor *to, int64_t to_first,
                                     int64_t count, Status *status);
/* A new tensor with the elements of row `row` of a tensor of rank 1 or more. */
MUST_CHECK bool tensor_copy_row(const Tensor *from, int64_t row, BufferPool *pool, Tensor *to,
                                Status *status);
/* The same without a copy of numbers: a row shares the buffer, which lives as long as any row. */
MUST_CHECK bool tensor_share_row(const Tensor *from, int64_t row, BufferPool *pool, Tensor *to,
                                 Status *status);

#endif
