/* Householder reflections H = I - tau v v^H with v[0] = 1, in double (_f64) and double _Complex (_c128).
 *
 * Signs are Eigen's, and so TensorFlow's: H x = beta e_0 with a real beta, whose sign is opposite to that of
 * the real part of x[0]. If only x[0] is not zero and it is real, H is the identity. */
#ifndef TFCORE_OPS_LINALG_REFLECTORS_H_
#define TFCORE_OPS_LINALG_REFLECTORS_H_

#include <complex.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/parallel.h"

/* Replaces x by v, and returns beta. */
double reflector_make_f64(int64_t n, double *x, double *tau);
double reflector_make_c128(int64_t n, double _Complex *x, double _Complex *tau);

/* A = H A for m rows with a stride; `work` has a number for each of the n columns. */
void reflector_left_f64(int64_t m, int64_t n, const double *v, double tau, double *a, int64_t stride,
                        double *work);
void reflector_left_c128(int64_t m, int64_t n, const double _Complex *v, double _Complex tau,
                         double _Complex *a, int64_t stride, double _Complex *work);

/* A = A H^H for m rows of n numbers with a stride. */
void reflector_right_f64(int64_t m, int64_t n, const double *v, double tau, double *a, int64_t stride);
void reflector_right_c128(int64_t m, int64_t n, const double _Complex *v, double _Complex tau,
                          double _Complex *a, int64_t stride);

/* A = Q R for an m x n matrix with k = min(m, n): `a` becomes R in its upper triangle, with zeros below, and
 * `q`, m x columns with k <= columns <= m, the first columns of Q. False when out of memory. */
bool reflector_qr_f64(int64_t m, int64_t n, double *a, int64_t columns, double *q, const Parallel *parallel);
bool reflector_qr_c128(int64_t m, int64_t n, double _Complex *a, int64_t columns, double _Complex *q,
                       const Parallel *parallel);

#endif
