/* The derivatives of the logarithm of the gamma function, in double precision. */
#ifndef TFCORE_OPS_MATH_GAMMA_FUNCTIONS_H_
#define TFCORE_OPS_MATH_GAMMA_FUNCTIONS_H_

/* The first. NaN at its poles 0, -1, -2, ... */
double gamma_digamma(double x);
/* Derivative n + 1 for an integer n >= 0, else NaN. Infinite at its poles for n > 0. */
double gamma_polygamma(double n, double x);
/* Hurwitz's zeta: the sum of (q + k)^-s over k = 0, 1, ...; for an integer s also with q < 0. NaN for
 * s < 1. */
double gamma_zeta(double s, double q);

#endif
