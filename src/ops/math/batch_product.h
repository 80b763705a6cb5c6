/* Products of many matrices of the same sizes (ops/math/batch_product.c). */
#ifndef TFCORE_OPS_MATH_BATCH_PRODUCT_H_
#define TFCORE_OPS_MATH_BATCH_PRODUCT_H_

#include "op/kernel.h"
#include "ops/math/matrix_product.h"

/* One product for each place of a box: at place (i, j, ...) the matrices are i * strides[...][0] +
 * j * strides[...][1] + ... elements after the first ones. */
typedef struct BatchProduct {
  MatrixProduct product; /* of the first matrices */
  int rank;              /* of the box; a size may be 0 */
  int64_t dims[SHAPE_MAX_RANK];
  int64_t strides[3][SHAPE_MAX_RANK]; /* of A, B and C; 0 where a factor serves for all places */
} BatchProduct;

/* Computes the products; merges axes of the box with the rows of the matrices where it can.
 * RESOURCE_EXHAUSTED. */
MUST_CHECK bool batch_product_run(KernelContext *context, BatchProduct *batch, Status *status);

#endif
