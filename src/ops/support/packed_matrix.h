/* A constant matrix, packed for fast products. */
#ifndef TFCORE_OPS_SUPPORT_PACKED_MATRIX_H_
#define TFCORE_OPS_SUPPORT_PACKED_MATRIX_H_

#include "blas/gemm.h"
#include "ops/support/constant_form.h"
#include "tensor/dtype.h"

/* args->b, which is not empty, of type float or double, packed for GemmArgs.packed_b. */
MUST_CHECK bool packed_matrix_get(ConstantForm *form, DataType type, const GemmArgs *args,
                                  const Parallel *parallel, const void **packed, Status *status);
/* The same of type float for GemmArgs.row_b. */
MUST_CHECK bool packed_row_get(ConstantForm *form, const GemmArgs *args, const Parallel *parallel,
                               const void **packed, Status *status);

#endif
