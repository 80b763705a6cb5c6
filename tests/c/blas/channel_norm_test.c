#include "blas/channel_norm.h"

#include <math.h>

#include "base/alloc.h"
#include "blas/fake_parallel.h"
#include "harness.h"

static float value(int64_t i) { return (float)sin((double)i * 1.3) * (float)(i % 7); }

/* Compares with sums in double, for rows shorter and longer than vectors, blocks and short rows. */
TEST(channel_norm_every_layout) {
  static const int64_t kSizes[][3] = {{1, 1, 1},    {5, 3, 1},     {40, 16, 1}, {70, 37, 1},
                                      {2000, 5, 1}, {30, 1100, 1}, {2, 3, 4},   {3, 2, 17},
                                      {2, 5, 5000}, {1, 1, 9000},  {4, 70, 6},  {3, 0, 4}};
  for (size_t s = 0; s < sizeof kSizes / sizeof kSizes[0]; s++) {
    ChannelNormSizes sizes = {kSizes[s][0], kSizes[s][1], kSizes[s][2]};
    int64_t channels = sizes.channels, count = sizes.outer * channels * sizes.inner, calls = 0,
            room = channel_norm_workspace(&sizes);
    double n = (double)(sizes.outer * sizes.inner);
    CHECK_CONTEXT("%d %d %d", (int)sizes.outer, (int)channels, (int)sizes.inner);
    CHECK(room >= 0);
    Parallel parallel = {fake_parallel_run, &calls, 2};
    float *x = mem_alloc(count * 4 + 1), *dy = mem_alloc(count * 4 + 1), *y = mem_alloc(count * 4 + 1);
    float *mean = mem_alloc(channels * 4 + 1), *variance = mem_alloc(channels * 4 + 1);
    float *sum = mem_alloc(channels * 4 + 1), *product = mem_alloc(channels * 4 + 1);
    void *workspace = mem_alloc(room + 1);
    for (int64_t i = 0; i < count; i++) x[i] = 5 + value(i), dy[i] = value(3 * i + 1);
    channel_norm_moments_f32(&sizes, x, mean, variance, workspace, &parallel);
    channel_norm_sums_f32(&sizes, dy, x, mean, sum, product, workspace, &parallel);
    for (int64_t c = 0; c < channels; c++) {
      double m = 0, v = 0, g = 0, gx = 0, size = 0;
      for (int64_t i = 0; i < count; i++) m += i / sizes.inner % channels == c ? x[i] / n : 0;
      for (int64_t i = 0; i < count; i++) {
        if (i / sizes.inner % channels != c) continue;
        v += (x[i] - m) * (x[i] - m) / n;
        g += dy[i];
        gx += dy[i] * (x[i] - m);
        size += fabs(dy[i]) * 10;
      }
      CHECK_NEAR(mean[c], m, 1e-6 * fabs(m));
      CHECK_NEAR(variance[c], v, 1e-6 * v);
      CHECK_NEAR(sum[c], g, 1e-6 * size);
      CHECK_NEAR(product[c], gx, 1e-6 * size);
    }
    channel_norm_apply_f32(&sizes, x, mean, sum, variance, y, &parallel);
    double worst = 0;
    for (int64_t i = 0; i < count; i++) {
      int64_t c = i / sizes.inner % channels;
      double want = ((double)x[i] - mean[c]) * sum[c] + variance[c];
      worst = fmax(worst, fabs(y[i] - want) / (1 + fabs(sum[c]) * 10));
    }
    CHECK(worst < 1e-6);
    channel_norm_backprop_f32(&sizes, dy, x, mean, sum, product, variance, dy, &parallel); /* in place */
    worst = 0;
    for (int64_t i = 0; i < count; i++) {
      int64_t c = i / sizes.inner % channels;
      double want = value(3 * i + 1) * (double)sum[c] + ((double)x[i] - mean[c]) * product[c] + variance[c];
      worst = fmax(worst, fabs(dy[i] - want) / (1 + fabs(sum[c]) * 10 + fabs(product[c]) * 10));
    }
    CHECK(worst < 1e-6);
    mem_free(x), mem_free(dy), mem_free(y), mem_free(mean), mem_free(variance), mem_free(sum),
        mem_free(product), mem_free(workspace);
  }
  CHECK_CONTEXT("%s", "");
}

/* Equal numbers have variance zero, and a NaN affects only its channel. */
TEST(channel_norm_of_constants) {
  ChannelNormSizes sizes = {3, 2, 1};
  float x[] = {0.1f, 1, 0.1f, NAN, 0.1f, 1}, mean[2], variance[2], workspace[8];
  CHECK(channel_norm_workspace(&sizes) <= (int64_t)sizeof workspace);
  channel_norm_moments_f32(&sizes, x, mean, variance, workspace, NULL);
  CHECK_NEAR(mean[0], 0.1f, 1e-8);
  CHECK_NEAR(variance[0], 0, 1e-15);
  CHECK(isnan(mean[1]) && isnan(variance[1]));
}
