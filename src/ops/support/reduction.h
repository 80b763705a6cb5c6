/* Reducing a tensor, for kernels of several ops. */
#ifndef TFCORE_OPS_SUPPORT_REDUCTION_H_
#define TFCORE_OPS_SUPPORT_REDUCTION_H_

#include "blas/reduce.h"
#include "op/kernel.h"

/* Reduces `input`, as an array of these dims, into `out`, which has the input's dtype and the number of
 * elements of the result. Every real number type except uint64. */
MUST_CHECK bool reduction_run(KernelContext *context, ReduceKind kind, const Tensor *input, int rank,
                              const int64_t *dims, const bool *reduced, Tensor *out, Status *status);

#endif
