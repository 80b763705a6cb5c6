/* The product of float matrices in a kernel. */
#ifndef TFCORE_OPS_SUPPORT_FLOAT_PRODUCT_H_
#define TFCORE_OPS_SUPPORT_FLOAT_PRODUCT_H_

#include "blas/gemm.h"
#include "op/kernel.h"

/* gemm_f32.run on the threads of the kernel, with a workspace from its pool. */
MUST_CHECK bool float_product(KernelContext *context, const GemmArgs *args, Status *status);

#endif
