/* C -= A B on row-major matrices of double or double _Complex: the step in which blocked algorithms spend
 * their time. */
#ifndef TFCORE_OPS_LINALG_MATRIX_UPDATE_H_
#define TFCORE_OPS_LINALG_MATRIX_UPDATE_H_

#include <complex.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/parallel.h"

/* Element (i, j) of A, which is m x k, is a[i * lda + j]; likewise of B, which is k x n, and of C. With
 * `adjoint`, B is stored as n x k and its conjugate transpose is used. C does not overlap A and B, which may
 * be parts of one matrix with C. False when out of memory: then C is unchanged. */
typedef struct MatrixUpdate {
  int64_t m, n, k;
  const void *a, *b;
  void *c;
  int64_t lda, ldb, ldc;
  bool adjoint;
} MatrixUpdate;

/* The size of the last block. */
static inline int64_t matrix_smaller(int64_t a, int64_t b) { return a < b ? a : b; }

bool matrix_update_f64(const MatrixUpdate *update, const Parallel *parallel);
bool matrix_update_c128(const MatrixUpdate *update, const Parallel *parallel);

#endif
