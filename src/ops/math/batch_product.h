/* Products of the matrices in the last two dimensions of two tensors (ops/math/batch_matmul.c). */
#ifndef TFCORE_OPS_MATH_BATCH_PRODUCT_H_
#define TFCORE_OPS_MATH_BATCH_PRODUCT_H_

#include "op/kernel.h"

typedef struct BatchFactor {
  const Tensor *matrices;
  bool transpose, conjugate; /* each matrix; `conjugate` is for complex numbers only */
} BatchFactor;

/* out = the products, newly allocated; `out` is empty at entry. The other dimensions of the factors are
 * equal, or, if `broadcasts`, compatible. The types are those of MatrixProduct. INVALID_ARGUMENT in
 * BatchMatMul's words. */
MUST_CHECK bool batch_product(KernelContext *context, const BatchFactor factors[2], bool broadcasts,
                              Tensor *out, Status *status);

#endif
