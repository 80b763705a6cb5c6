/* Factorizations and triangular systems, in double (_f64) and double _Complex (_c128).
 *
 * Matrices are square with n rows and stored row by row without gaps. Functions that return bool return false
 * when memory ran out. */
#ifndef TFCORE_OPS_LINALG_FACTORS_H_
#define TFCORE_OPS_LINALG_FACTORS_H_

#include <complex.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/parallel.h"

/* a = its conjugate transpose. */
void factor_adjoint_f64(int64_t n, double *a);
void factor_adjoint_c128(int64_t n, double _Complex *a);

/* Gaussian elimination with row pivoting: L, with a unit diagonal that is not stored, and U replace `a`. Row
 * i of L U is row rows[i] of the input. `odd` tells the parity of this permutation. Zero pivots stay, and
 * their columns of L too. */
bool factor_lu_f64(int64_t n, double *a, int64_t *rows, bool *odd, const Parallel *parallel);
bool factor_lu_c128(int64_t n, double _Complex *a, int64_t *rows, bool *odd, const Parallel *parallel);
/* Whether the diagonal has a zero. */
bool factor_is_singular_f64(int64_t n, const double *a);
bool factor_is_singular_c128(int64_t n, const double _Complex *a);

/* Which triangle of a matrix is used, and whether its diagonal counts as ones. */
typedef struct Triangle {
  bool lower, unit;
} Triangle;
/* x = the solution of (triangle of a) solution = x, with x of n rows and k columns. */
bool factor_solve_f64(int64_t n, int64_t k, const double *a, Triangle triangle, double *x,
                      const Parallel *parallel);
bool factor_solve_c128(int64_t n, int64_t k, const double _Complex *a, Triangle triangle, double _Complex *x,
                       const Parallel *parallel);

/* The lower triangle of `a` becomes L with L L^H = a; the upper one becomes zero. Only the lower triangle is
 * read. */
typedef enum CholeskyResult { CHOLESKY_DONE, CHOLESKY_NO_MEMORY, CHOLESKY_NOT_POSITIVE } CholeskyResult;
CholeskyResult factor_cholesky_f64(int64_t n, double *a, const Parallel *parallel);
CholeskyResult factor_cholesky_c128(int64_t n, double _Complex *a, const Parallel *parallel);

#endif
