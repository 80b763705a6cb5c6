/* Circular and hyperbolic functions but sine, cosine and the hyperbolic tangent, which are in
 * simd/vector_math.h, and their inverses: loops over arrays. Those of float32 are within 4 ulp of the
 * function in double precision, those of float64 within 3 ulp of the exact result, both tested over every
 * exponent, denormals included. Special values are those of C's math.h.
 */
#ifndef TFCORE_SIMD_CIRCULAR_MATH_H_
#define TFCORE_SIMD_CIRCULAR_MATH_H_

#include <stdint.h>

/* y[i] = f(x[i]) for i < count. y may be x, but must not overlap it otherwise. Neither length nor position
 * matters for the value of an element. */
void vector_tan_f32(int64_t count, const float *x, float *y);
void vector_asin_f32(int64_t count, const float *x, float *y);
void vector_acos_f32(int64_t count, const float *x, float *y);
void vector_atan_f32(int64_t count, const float *x, float *y);
void vector_sinh_f32(int64_t count, const float *x, float *y);
void vector_cosh_f32(int64_t count, const float *x, float *y);
void vector_asinh_f32(int64_t count, const float *x, float *y);
void vector_acosh_f32(int64_t count, const float *x, float *y);
void vector_atanh_f32(int64_t count, const float *x, float *y);

void vector_tan_f64(int64_t count, const double *x, double *y);
void vector_asin_f64(int64_t count, const double *x, double *y);
void vector_acos_f64(int64_t count, const double *x, double *y);
void vector_atan_f64(int64_t count, const double *x, double *y);
void vector_sinh_f64(int64_t count, const double *x, double *y);
void vector_cosh_f64(int64_t count, const double *x, double *y);
void vector_asinh_f64(int64_t count, const double *x, double *y);
void vector_acosh_f64(int64_t count, const double *x, double *y);
void vector_atanh_f64(int64_t count, const double *x, double *y);

/* z[i] = atan2(y[i], x[i]), the angle of the point (x, y); z may be y or x. */
void vector_atan2_f32(int64_t count, const float *y, const float *x, float *z);
void vector_atan2_f64(int64_t count, const double *y, const double *x, double *z);

#endif
