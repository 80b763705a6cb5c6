/* Incomplete gamma and beta functions in double precision. Relative errors are below 1e-13 for parameters up
 * to 1e5, of results that are not subnormal. */
#ifndef TFCORE_OPS_MATH_INCOMPLETE_FUNCTIONS_H_
#define TFCORE_OPS_MATH_INCOMPLETE_FUNCTIONS_H_

/* P(a, x), the lower regularized incomplete gamma function, and 1 - P. NaN unless a > 0 and x >= 0. */
double incomplete_gamma(double a, double x);
double incomplete_gamma_upper(double a, double x);
/* The derivative of P by a. */
double incomplete_gamma_by_a(double a, double x);
/* The derivative of a sample of the gamma distribution by its parameter: -(dP / da) / (dP / dx). */
double incomplete_gamma_sample_by_a(double a, double sample);
/* I_x(a, b), the regularized incomplete beta function. NaN unless a, b > 0 and 0 <= x <= 1. */
double incomplete_beta(double a, double b, double x);

#endif
