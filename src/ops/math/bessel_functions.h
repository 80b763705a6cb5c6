/* Modified Bessel functions in double precision, relative error below 1e-14. (J is the C library's.)
 * With an `e` they are scaled: by exp(-|x|) for I, by exp(x) for K. */
#ifndef TFCORE_OPS_MATH_BESSEL_FUNCTIONS_H_
#define TFCORE_OPS_MATH_BESSEL_FUNCTIONS_H_

double bessel_i0(double x);
double bessel_i0e(double x);
double bessel_i1(double x);
double bessel_i1e(double x);
/* Infinite at 0 and, as in TensorFlow, below. */
double bessel_k0(double x);
double bessel_k0e(double x);
double bessel_k1(double x);
double bessel_k1e(double x);
/* The C library's, but minus infinity at 0 and, as in TensorFlow, below. */
double bessel_y0(double x);
double bessel_y1(double x);

#endif
