/* Shared by the ops that save tensors, in both versions of checkpoints. */
#ifndef TFCORE_OPS_IO_SAVED_SLICE_H_
#define TFCORE_OPS_IO_SAVED_SLICE_H_

#include "checkpoint/tensor_slice.h"

/* Element `i` of a string tensor; borrowed. */
Str saved_string(const Tensor *tensor, int64_t i);
/* Parses the "shape and slice" of a tensor to save: `whole` (zeroed at entry, the caller clears it) receives
 * the shape of the whole tensor. INVALID_ARGUMENT when the slice does not have the shape of `tensor`. */
MUST_CHECK bool saved_slice_parse(Str text, const Tensor *tensor, Shape *whole, TensorSlice *slice,
                                  Status *status);

#endif
