/* Inverses of error functions and scaled Bessel functions, for many floats. The results err by less than 4
 * units in the last place, denormals included. Special values are those of the functions in double precision
 * (ops/math/error_inverse.h, ops/math/bessel_functions.h). */
#ifndef TFCORE_OPS_MATH_SPECIAL_FLOATS_H_
#define TFCORE_OPS_MATH_SPECIAL_FLOATS_H_

#include <stdint.h>

/* y[i] = f(x[i]) for i < count. y may be x, but must not overlap it otherwise. */
void special_floats_erfinv(int64_t count, const float *x, float *y);
void special_floats_ndtri(int64_t count, const float *x, float *y);
void special_floats_i0e(int64_t count, const float *x, float *y);
void special_floats_i1e(int64_t count, const float *x, float *y);

#endif
