/* Functions of complex numbers, for complex128, and rounded for complex64. Each part of a result is within 4
 * units in the last place everywhere in the plane, with these exceptions:
 *
 *  - a part of a power that is less than 2^-45 of the other part;
 *  - a power of a number one of whose parts is so small beside the other that the ratio is not normal;
 *  - a power with an exponent above 2^500 in magnitude;
 *  - the real parts of expm1 and sigmoid at the numbers nearest to a zero, where they are less than 2^-52 of
 *    their terms (1139 of 23,760 parts at such numbers were further away: by up to 1000 units for expm1, 8600
 *    for sigmoid);
 *  - the same parts where their terms cancel at an angle above 2^25 (by up to 8 units).
 *
 * Branch cuts, signed zeros, infinities and NaN follow C99's Annex G.
 */
#ifndef TFCORE_OPS_SUPPORT_COMPLEX_MATH_H_
#define TFCORE_OPS_SUPPORT_COMPLEX_MATH_H_

#include <complex.h>
#include <math.h>
#include <stdbool.h>

static inline bool complex_is_finite(double _Complex z) { return isfinite(creal(z)) && isfinite(cimag(z)); }

double _Complex complex_sqrt(double _Complex z);
double _Complex complex_rsqrt(double _Complex z); /* 1 / sqrt(z) */
double _Complex complex_sign(double _Complex z);  /* z / |z|; 0 for 0 */
double _Complex complex_log(double _Complex z);
double _Complex complex_log1p(double _Complex z); /* log(1 + z) */
double _Complex complex_exp(double _Complex z);
double _Complex complex_expm1(double _Complex z);   /* exp(z) - 1 */
double _Complex complex_sigmoid(double _Complex z); /* 1 / (1 + exp(-z)) */
/* 1 if y is 0; 0 if x is 0 and the real part of y is above 0. */
double _Complex complex_pow(double _Complex x, double _Complex y);
/* The same with the precision that floats need. */
float _Complex complex_powf(float _Complex x, float _Complex y);

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

/* e^x * factor * scale, where e^x may overflow although the product does not. */
double complex_exp_times(double x, double factor, double scale);
/* log(hypot(x, y)) of finite numbers, not both 0, whose magnitude is not near 1. */
double complex_log_magnitude(double x, double y);

#endif
