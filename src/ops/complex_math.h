/* Functions of complex numbers, for complex128, and rounded for complex64. Each part of a result is within 4 units in the last place,
 * wherever in the plane, with two exceptions. complex_pow loses about log2(1 + |y log x|) bits. The real parts of expm1 and sigmoid
 * lose digits where they are less than 2^-45 of their terms, or where their terms cancel at an angle above 2^25. Branch cuts, signed
 * zeros, infinities and NaN are as C99's Annex G says.
 */
#ifndef TFCORE_OPS_COMPLEX_MATH_H_
#define TFCORE_OPS_COMPLEX_MATH_H_

#include <complex.h>

double _Complex complex_sqrt(double _Complex z);
double _Complex complex_rsqrt(double _Complex z); /* 1 / sqrt(z) */
double _Complex complex_sign(double _Complex z);  /* z / |z|; 0 of 0 */
double _Complex complex_log(double _Complex z);
double _Complex complex_log1p(double _Complex z); /* log(1 + z) */
double _Complex complex_exp(double _Complex z);
double _Complex complex_expm1(double _Complex z); /* exp(z) - 1 */
double _Complex complex_sigmoid(double _Complex z); /* 1 / (1 + exp(-z)) */
/* 1 when y is 0; 0 when x is and the real part of y is above 0. */
double _Complex complex_pow(double _Complex x, double _Complex y);

double _Complex complex_sin(double _Complex z);
double _Complex complex_cos(double _Complex z);
double _Complex complex_tan(double _Complex z);
double _Complex complex_sinh(double _Complex z);
double _Complex complex_cosh(double _Complex z);
double _Complex complex_tanh(double _Complex z);
double _Complex complex_asin(double _Complex z);
double _Complex complex_acos(double _Complex z);
double _Complex complex_atan(double _Complex z);
double _Complex complex_asinh(double _Complex z);
double _Complex complex_acosh(double _Complex z);
double _Complex complex_atanh(double _Complex z);

/* log(hypot(x, y)) of any finite numbers, not both 0, whose magnitude is not near 1. */
double complex_log_magnitude(double x, double y);

#endif
