/* Incomplete gamma and beta functions in double precision, for many numbers: z[i] = f(a[i], x[i]) for i <
 * count. z must not overlap the others. Relative errors are below 1e-13 for parameters up to 1e5, of results
 * that are not subnormal. */
#ifndef TFCORE_OPS_MATH_INCOMPLETE_FUNCTIONS_H_
#define TFCORE_OPS_MATH_INCOMPLETE_FUNCTIONS_H_

#include <stdint.h>

/* P(a, x), the lower regularized incomplete gamma function, and 1 - P. NaN unless a > 0 and x >= 0. */
void incomplete_gamma(int64_t count, const double *a, const double *x, double *z);
void incomplete_gamma_upper(int64_t count, const double *a, const double *x, double *z);
/* The derivative of P by a. */
void incomplete_gamma_by_a(int64_t count, const double *a, const double *x, double *z);
/* The derivative of a sample of the gamma distribution by its parameter: -(dP / da) / (dP / dx). */
void incomplete_gamma_sample_by_a(int64_t count, const double *a, const double *sample, double *z);
/* I_x(a, b), the regularized incomplete beta function. NaN unless a, b > 0 and 0 <= x <= 1. */
void incomplete_beta(int64_t count, const double *a, const double *b, const double *x, double *z);

#endif
