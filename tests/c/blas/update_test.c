#include "blas/update.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "blas/fake_parallel.h"
#include "harness.h"

enum { COUNT = 70000 };

static double wave(int i, int seed) { return sin(i * 0.37 + seed); }

TEST(update_sgd_and_momentum) {
  for (int nesterov = 0; nesterov < 3; nesterov++) { /* 2: plain sgd */
    float *var = mem_alloc(COUNT * 4), *accum = mem_alloc(COUNT * 4), *grad = mem_alloc(COUNT * 4);
    double *wide_var = mem_alloc(COUNT * 8), *wide_accum = mem_alloc(COUNT * 8), *wide_grad = mem_alloc(COUNT * 8);
    for (int i = 0; i < COUNT; i++) {
      wide_var[i] = (double)(var[i] = (float)wave(i, 1));
      wide_accum[i] = (double)(accum[i] = (float)wave(i, 2));
      wide_grad[i] = (double)(grad[i] = (float)wave(i, 3));
    }
    int64_t calls = 0;
    Parallel parallel = {fake_parallel_run, &calls, 2};
    if (nesterov == 2) {
      update_sgd_f32(COUNT, var, grad, 0.125f, &parallel);
      update_sgd_f64(COUNT, wide_var, wide_grad, 0.125, NULL);
    } else {
      update_momentum_f32(COUNT, var, accum, grad, 0.125f, 0.75f, nesterov, &parallel);
      update_momentum_f64(COUNT, wide_var, wide_accum, wide_grad, 0.125, 0.75, nesterov, NULL);
    }
    double worst = 0;
    for (int i = 0; i < COUNT; i++) {
      double v = (double)(float)wave(i, 1), a = (double)(float)wave(i, 2), g = (double)(float)wave(i, 3);
      double new_a = nesterov == 2 ? a : a * 0.75 + g;
      double step = nesterov == 2 ? g : nesterov == 1 ? g + 0.75 * new_a : new_a;
      worst = fmax(worst, fabs((double)accum[i] - new_a));
      worst = fmax(worst, fabs((double)var[i] - (v - 0.125 * step)));
      worst = fmax(worst, 1e8 * fabs(wide_accum[i] - new_a));
      worst = fmax(worst, 1e8 * fabs(wide_var[i] - (v - 0.125 * step)));
    }
    CHECK(worst < 3e-7);
    CHECK(calls > 1);
    mem_free(var), mem_free(accum), mem_free(grad), mem_free(wide_var), mem_free(wide_accum), mem_free(wide_grad);
  }
}

/* Three steps against Adam as its paper writes it: m and v as weighted means, corrected for their bias. */
TEST(update_adam) {
  for (int nesterov = 0; nesterov < 2; nesterov++) {
    enum { N = 1003 };
    float var[N], m[N], v[N], grad[N], again[N], m2[N], v2[N];
    double var64[N], m64[N], v64[N], grad64[N];
    double want_var[N], want_m[N], want_v[N], worst = 0;
    for (int i = 0; i < N; i++) {
      want_var[i] = var64[i] = (double)(var[i] = again[i] = (float)wave(i, 1));
      want_m[i] = want_v[i] = m64[i] = v64[i] = m[i] = v[i] = m2[i] = v2[i] = 0;
    }
    AdamRates rates = {.rate = 0.25, .beta1 = 0.875, .beta2 = 0.96875, .beta1_power = 1, .beta2_power = 1, .epsilon = 0x1p-10,
                       .nesterov = nesterov};
    for (int t = 1; t <= 3; t++) {
      rates.beta1_power *= rates.beta1;
      rates.beta2_power *= rates.beta2;
      for (int i = 0; i < N; i++) {
        grad64[i] = (double)(grad[i] = (float)wave(i, t + 4));
        double g = grad64[i];
        want_m[i] = 0.875 * want_m[i] + 0.125 * g;
        want_v[i] = 0.96875 * want_v[i] + 0.03125 * g * g;
        double direction = nesterov ? 0.875 * want_m[i] + 0.125 * g : want_m[i];
        double step = 0.25 * sqrt(1 - pow(0.96875, t)) / (1 - pow(0.875, t));
        want_var[i] -= step * direction / (sqrt(want_v[i]) + 0x1p-10);
      }
      update_adam_f32(N, var, m, v, grad, &rates, NULL);
      update_adam_f64(N, var64, m64, v64, grad64, &rates, NULL);
      for (int i = 0; i < N; i++) update_adam_f32(1, again + i, m2 + i, v2 + i, grad + i, &rates, NULL);
    }
    CHECK_MEM_EQ(again, var, sizeof var); /* position and length do not matter */
    for (int i = 0; i < N; i++) {
      worst = fmax(worst, fabs((double)var[i] - want_var[i]));
      worst = fmax(worst, fabs((double)m[i] - want_m[i]));
      worst = fmax(worst, fabs((double)v[i] - want_v[i]));
      worst = fmax(worst, 1e8 * fabs(var64[i] - want_var[i]));
    }
    CHECK_CONTEXT("worst %g", worst);
    CHECK(worst < 2e-6);
    CHECK_CONTEXT("%s", "");
  }
}
