/* Functions of complex numbers, for many pairs of floats. Bounds and special values are those of the
 * functions for complex128 (ops/support/complex_math.h). */
#ifndef TFCORE_OPS_MATH_COMPLEX_FLOATS_H_
#define TFCORE_OPS_MATH_COMPLEX_FLOATS_H_

#include <complex.h>
#include <stdint.h>

/* y[i] = f(x[i]) for i < count. y may be x, but must not overlap it otherwise. */
void complex_floats_sqrt(int64_t count, const float _Complex *x, float _Complex *y);
void complex_floats_log(int64_t count, const float _Complex *x, float _Complex *y);
void complex_floats_exp(int64_t count, const float _Complex *x, float _Complex *y);

#endif
