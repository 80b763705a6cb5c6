/* Functions that are integrals, in double precision: relative error below 1e-14, away from zeros of the
 * exponential integral. */
#ifndef TFCORE_OPS_MATH_INTEGRAL_FUNCTIONS_H_
#define TFCORE_OPS_MATH_INTEGRAL_FUNCTIONS_H_

/* exp(-x^2) times the integral of exp(t^2) from 0 to x. */
double integral_dawson(double x);
/* The principal value of the integral of exp(t) / t from minus infinity to x; NaN for x < 0. */
double integral_exponential(double x);
/* The integrals of cos and sin of pi t^2 / 2 from 0 to x. */
double integral_fresnel_cos(double x);
double integral_fresnel_sin(double x);
/* The integral of log(t) / (1 - t) from 1 to x; NaN for x < 0. */
double integral_spence(double x);

#endif
