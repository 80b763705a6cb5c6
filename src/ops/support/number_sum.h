/* The sum of several tensors of numbers, in order. */
#ifndef TFCORE_OPS_SUPPORT_NUMBER_SUM_H_
#define TFCORE_OPS_SUPPORT_NUMBER_SUM_H_

#include "op/kernel.h"

/* out = inputs[0] + ... + inputs[count - 1], all with the dtype and shape of `out`, which may share memory
 * with inputs[0]. UNIMPLEMENTED "AddN of string is not supported" for other types. */
MUST_CHECK bool number_sum(const Tensor *const *inputs, int count, const Tensor *out,
                           const Parallel *parallel, Status *status);

#endif
