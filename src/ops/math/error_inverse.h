/* The inverses of the error function and of the normal distribution, in double precision. */
#ifndef TFCORE_OPS_MATH_ERROR_INVERSE_H_
#define TFCORE_OPS_MATH_ERROR_INVERSE_H_

/* The y with erf(y) = x: infinite at -1 and 1, NaN beyond. */
double error_inverse(double x);
/* The quantile of the normal distribution at probability p: infinite at 0 and 1, NaN beyond. */
double error_normal_quantile(double p);

#endif
