/* What the files of tensor/ share. */
#ifndef TFCORE_TENSOR_TENSOR_INTERNAL_H_
#define TFCORE_TENSOR_TENSOR_INTERNAL_H_

#include "tensor/tensor.h"

/* What tensor_print prints for a tensor of that shape whose first elements, as many as are printed, stand in
 * `values`, a tensor of any shape. */
void print_tensor_as(const Tensor *values, const Shape *shape, int64_t max_entries, StrBuf *out);

#endif
