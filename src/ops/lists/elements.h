/* Elements of tensors that are put together, or taken apart. */
#ifndef TFCORE_OPS_LISTS_ELEMENTS_H_
#define TFCORE_OPS_LISTS_ELEMENTS_H_

#include "tensor/tensor.h"

/* Copies `count` elements behind one another, between tensors of one dtype; strings and objects get
 * references of their own. */
MUST_CHECK bool tensor_copy_elements(const Tensor *from, int64_t from_first, Tensor *to, int64_t to_first,
                                     int64_t count, Status *status);

#endif
