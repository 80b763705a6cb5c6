/* Functions of matrices in Schur's form Z T Z^H, with an upper triangular T of double _Complex. Matrices are
 * n x n, stored row by row. */
#ifndef TFCORE_OPS_LINALG_TRIANGULAR_FUNCTIONS_H_
#define TFCORE_OPS_LINALG_TRIANGULAR_FUNCTIONS_H_

#include <complex.h>
#include <stdbool.h>
#include <stdint.h>

/* Columns of v: eigenvectors of length 1, in the order of T's diagonal. `real`: of a real matrix, whose real
 * eigenvalues get real vectors and whose pairs get conjugate ones. `work` has n numbers. */
void triangular_eigenvectors(int64_t n, const double _Complex *t, const double _Complex *z, bool real,
                             double _Complex *v, double _Complex *work);
/* r = the square root of T whose eigenvalues have real parts >= 0. */
void triangular_sqrt(int64_t n, const double _Complex *t, double _Complex *r);
/* T becomes its principal logarithm. NaN if T is singular. False when out of memory. */
bool triangular_log(int64_t n, double _Complex *t);
/* out = Z T Z^H; `work` has n * n numbers. */
void triangular_restore(int64_t n, const double _Complex *t, const double _Complex *z, double _Complex *out,
                        double _Complex *work);

#endif
