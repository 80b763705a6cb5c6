/* Eigenvalues and singular values, in double (_f64) and double _Complex (_c128). Matrices are stored row by
 * row without gaps. */
#ifndef TFCORE_OPS_LINALG_SPECTRAL_H_
#define TFCORE_OPS_LINALG_SPECTRAL_H_

#include "ops/linalg/matrix_batch.h"

/* The eigenvalues of a Hermitian matrix, ascending, from its lower triangle. Row j of `vectors` (n x n; NULL:
 * none) is the j-th eigenvector. `a` is overwritten. MATRIX_FAILED for infinite values and NaN. */
MatrixResult spectral_hermitian_f64(int64_t n, double *a, double *values, double *vectors);
MatrixResult spectral_hermitian_c128(int64_t n, double _Complex *a, double *values, double _Complex *vectors);

/* The singular values of an m x n matrix with m >= n, descending: a = U diag(values) V^H. Row j of `ut` is
 * column j of U, which has `columns` of them, n <= columns <= m; row j of `vt` (n x n) is column j of V; both
 * may be NULL. `a` is overwritten. Infinite values and NaN give NaN. */
MatrixResult spectral_singular_f64(int64_t m, int64_t n, double *a, double *values, int64_t columns,
                                   double *ut, double *vt);
MatrixResult spectral_singular_c128(int64_t m, int64_t n, double _Complex *a, double *values, int64_t columns,
                                    double _Complex *ut, double _Complex *vt);

/* Schur's form: a = Z T Z^H with an upper triangular T. Real eigenvalues of a real matrix are real numbers,
 * and its other ones pairs of exact conjugates that stand side by side. MATRIX_FAILED for infinite values and
 * NaN. */
MatrixResult spectral_schur_f64(int64_t n, double *a, double _Complex *t, double _Complex *z);
MatrixResult spectral_schur_c128(int64_t n, double _Complex *a, double _Complex *t, double _Complex *z);

#endif
