/* The sum of tensors of numbers, from the first to the last. */
#ifndef TFCORE_OPS_SUPPORT_NUMBER_SUM_H_
#define TFCORE_OPS_SUPPORT_NUMBER_SUM_H_

#include "op/kernel.h"

/* out = inputs[0] + ... + inputs[count - 1], all of one dtype and shape, which `out` has too; it may be in
 * the memory of inputs[0]. UNIMPLEMENTED "AddN of string is not supported" for what is no number. */
MUST_CHECK bool number_sum(const Tensor *const *inputs, int count, const Tensor *out,
                           const Parallel *parallel, Status *status);

#endif
