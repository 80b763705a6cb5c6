/* The derivatives of the logarithm of the gamma function, for many floats. Computed in pairs of doubles: the
 * results err by less than 1 ulp, also next to the zeros of the first one. Special values are those of the
 * functions in double precision (ops/math/gamma_functions.h). */
#ifndef TFCORE_OPS_MATH_GAMMA_FLOATS_H_
#define TFCORE_OPS_MATH_GAMMA_FLOATS_H_

#include <stdint.h>

/* y[i] = f(x[i]) for i < count. y may be x, but must not overlap it otherwise. */
void gamma_floats_digamma(int64_t count, const float *x, float *y);
/* z[i] = f(s[i], q[i]); z may be s or q. */
void gamma_floats_polygamma(int64_t count, const float *n, const float *x, float *z);
void gamma_floats_zeta(int64_t count, const float *s, const float *q, float *z);

#endif
