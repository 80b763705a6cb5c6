/* Reducing a tensor, for the kernels that do it under other names. */
#ifndef TFCORE_OPS_SUPPORT_REDUCTION_H_
#define TFCORE_OPS_SUPPORT_REDUCTION_H_

#include "blas/reduce.h"
#include "op/kernel.h"

/* Reduces `input`, seen as an array of these dims, into `out`, which has the dtype of the input and the right
 * number of elements. Every real number type but uint64. */
MUST_CHECK bool reduction_run(KernelContext *context, ReduceKind kind, const Tensor *input, int rank,
                              const int64_t *dims, const bool *reduced, Tensor *out, Status *status);

#endif
