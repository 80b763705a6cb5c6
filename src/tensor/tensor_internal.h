/* Declarations shared by the files of tensor/. */
#ifndef TFCORE_TENSOR_TENSOR_INTERNAL_H_
#define TFCORE_TENSOR_TENSOR_INTERNAL_H_

#include "tensor/tensor.h"

/* The text of tensor_print for a tensor of that shape. `values`, a tensor of any shape, has the elements to
 * print. */
void print_tensor_as(const Tensor *values, const Shape *shape, int64_t max_entries, StrBuf *out);

#endif
