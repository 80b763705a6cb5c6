#include "blas/bias.h"

#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "blas/fake_parallel.h"
#include "harness.h"

TEST(bias_add_every_layout) {
  static const int64_t kShapes[][3] = {{1, 1, 1},     {3, 5, 1},     {1, 9, 1}, {2, 3, 4}, {4, 7, 30},
                                       {900, 130, 1}, {3, 2, 40000}, {0, 3, 1}, {2, 0, 5}};
  for (size_t s = 0; s < sizeof kShapes / sizeof kShapes[0]; s++) {
    int64_t outer = kShapes[s][0], channels = kShapes[s][1], inner = kShapes[s][2],
            total = outer * channels * inner;
    CHECK_CONTEXT("%d %d %d", (int)outer, (int)channels, (int)inner);
    float *x = mem_alloc(total * 4), *bias = mem_alloc(channels * 4);
    double *wide = mem_alloc(total * 8), *wide_bias = mem_alloc(channels * 8);
    int32_t *whole = mem_alloc(total * 4), *whole_bias = mem_alloc(channels * 4);
    int64_t *large = mem_alloc(total * 8), *large_bias = mem_alloc(channels * 8);
    for (int64_t i = 0; i < total; i++)
      large[i] = whole[i] = (int32_t)(i % 1000), wide[i] = x[i] = (float)whole[i];
    for (int64_t c = 0; c < channels; c++) {
      large_bias[c] = whole_bias[c] = (int32_t)(c * c) - 40, wide_bias[c] = bias[c] = (float)whole_bias[c];
    }
    int64_t calls = 0, bad = 0;
    Parallel parallel = {fake_parallel_run, &calls, 2};
    bias_add_f32(outer, channels, inner, x, bias, x, &parallel);
    bias_add_f64(outer, channels, inner, wide, wide_bias, wide, NULL);
    bias_add_i32(outer, channels, inner, whole, whole_bias, whole, &parallel);
    bias_add_i64(outer, channels, inner, large, large_bias, large, NULL);
    for (int64_t i = 0; i < total; i++) {
      int64_t c = i / inner % channels, want = i % 1000 + c * c - 40;
      bad += x[i] != (float)want || wide[i] != (double)want || whole[i] != want || large[i] != want;
    }
    CHECK_INT_EQ(bad, 0);
    mem_free(x), mem_free(bias), mem_free(wide), mem_free(wide_bias), mem_free(whole), mem_free(whole_bias);
    mem_free(large), mem_free(large_bias);
  }
  CHECK_CONTEXT("%s", "");
}

TEST(bias_add_wraps_around) {
  int32_t x = INT32_MAX, bias = 1, y;
  bias_add_i32(1, 1, 1, &x, &bias, &y, NULL);
  CHECK_INT_EQ(y, INT32_MIN);
}
