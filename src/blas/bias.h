/* Adding one value per channel, and the sums that are its gradient. Arrays are [outer, channels, inner]:
 * inner is 1 for channels-last data (a matrix plus a row), height * width for channels-first. */
#ifndef TFCORE_BLAS_BIAS_H_
#define TFCORE_BLAS_BIAS_H_

#include <stdint.h>

#include "base/parallel.h"

/* y[o][c][i] = x[o][c][i] + bias[c]. y may be x. */
void bias_add_f32(int64_t outer, int64_t channels, int64_t inner, const float *x, const float *bias, float *y,
                  const Parallel *parallel);
void bias_add_f64(int64_t outer, int64_t channels, int64_t inner, const double *x, const double *bias,
                  double *y, const Parallel *parallel);
void bias_add_i32(int64_t outer, int64_t channels, int64_t inner, const int32_t *x, const int32_t *bias,
                  int32_t *y, const Parallel *parallel);
void bias_add_i64(int64_t outer, int64_t channels, int64_t inner, const int64_t *x, const int64_t *bias,
                  int64_t *y, const Parallel *parallel);

/* The gradient is a sum over outer and inner: reduce_f32(REDUCE_SUM, 3, {outer, channels, inner}, {true,
 * false, true}, ...). */

#endif
