/* Statistics of channels, and their application: the loops of batch normalisation. Arrays are dense, [outer,
 * channels, inner]: inner is 1 for channels-last data, height * width for channels-first. Vectors hold one
 * value per channel. n = outer * inner must be at least 1. Results do not depend on the number of threads. */
#ifndef TFCORE_BLAS_CHANNEL_NORM_H_
#define TFCORE_BLAS_CHANNEL_NORM_H_

#include <stdint.h>

#include "base/parallel.h"

typedef struct ChannelNormSizes {
  int64_t outer, channels, inner;
} ChannelNormSizes;

/* The size of `workspace` for the two sums below, in bytes; -1 when it exceeds int64. */
int64_t channel_norm_workspace(const ChannelNormSizes *sizes);

/* mean[c] = the mean of x, variance[c] = the mean of (x - mean[c])^2. Accurate however far the mean is from
 * zero. */
void channel_norm_moments_f32(const ChannelNormSizes *sizes, const float *x, float *mean, float *variance,
                              void *workspace, const Parallel *parallel);

/* sum[c] = the sum of dy, product[c] = the sum of dy * (x - mean[c]). */
void channel_norm_sums_f32(const ChannelNormSizes *sizes, const float *dy, const float *x, const float *mean,
                           float *sum, float *product, void *workspace, const Parallel *parallel);

/* y = (x - mean[c]) * factor[c] + offset[c]. y may be x. */
void channel_norm_apply_f32(const ChannelNormSizes *sizes, const float *x, const float *mean,
                            const float *factor, const float *offset, float *y, const Parallel *parallel);

/* dx = dy * factor[c] + (x - mean[c]) * slope[c] + offset[c]. dx may be dy or x. */
void channel_norm_backprop_f32(const ChannelNormSizes *sizes, const float *dy, const float *x,
                               const float *mean, const float *factor, const float *slope,
                               const float *offset, float *dx, const Parallel *parallel);

#endif
