/* The product of two matrices of any supported type: shared by MatMul, BatchMatMul and SparseMatMul. */
#ifndef TFCORE_OPS_MATH_MATRIX_PRODUCT_H_
#define TFCORE_OPS_MATH_MATRIX_PRODUCT_H_

#include "blas/gemm.h"
#include "tensor/dtype.h"

typedef struct MatrixProduct {
  DataType type; /* float, double, half, bfloat16, int16, int32, int64, complex64, complex128 */
  GemmArgs args; /* bias, activation, epilogue and packed_b for float and double only */
  bool conjugate_a, conjugate_b; /* of complex matrices */
} MatrixProduct;

/* Whether lda, ldb and ldc may be more than the lengths of rows: for types that are multiplied as they are.
 */
bool matrix_product_takes_strides(DataType type);
/* The size of `workspace` in bytes (64-byte aligned; may be 0); -1 when it exceeds int64. */
int64_t matrix_product_workspace(const MatrixProduct *product);
void matrix_product_run(const MatrixProduct *product, const Parallel *parallel, void *workspace);

/* The order and the transposes of the operands in the gradient of op(a) op(b) with respect to side 0 or 1:
 * "dy, b" or "a, dy", and the flags of its factors. */
typedef struct MatrixProductGradient {
  bool dy_first, transpose_first, transpose_second;
} MatrixProductGradient;
MatrixProductGradient matrix_product_gradient(int side, bool transpose_a, bool transpose_b);

#endif
