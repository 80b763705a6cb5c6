/* Products of many matrices of floats that are too small to fill vectors: each lane computes a product. */
#ifndef TFCORE_BLAS_GEMM_SMALL_H_
#define TFCORE_BLAS_GEMM_SMALL_H_

#include "blas/gemm.h"

enum { GEMM_SMALL_LANES = 4, GEMM_SMALL_ELEMENTS = 64 /* of a matrix, at most */ };

/* Whether the functions below take matrices of these sizes. */
bool gemm_is_small(const GemmArgs *args);

/* GEMM_SMALL_LANES products. A, B and C of product i are at_a[i], at_b[i] and at_c[i] elements after those of
 * `args`, of which the sizes, the strides and the transposes count. Products may be given twice, to fill the
 * lanes. Each element is summed in the order of the depth, in each lane alike. */
void gemm_small_f32(const GemmArgs *args, const int64_t *at_a, const int64_t *at_b, const int64_t *at_c);

#endif
