/* A constant matrix, packed for fast products. */
#ifndef TFCORE_OPS_SUPPORT_PACKED_MATRIX_H_
#define TFCORE_OPS_SUPPORT_PACKED_MATRIX_H_

#include <stdbool.h>

#include "base/status.h"
#include "blas/gemm.h"
#include "tensor/dtype.h"

/* Packs args->b, which is not empty, of type float or double: *packed is for GemmArgs.packed_b. The caller
 * frees it with mem_free. */
MUST_CHECK bool packed_matrix_new(DataType type, const GemmArgs *args, void **packed, Status *status);

#endif
