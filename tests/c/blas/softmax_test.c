#include "blas/softmax.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "blas/fake_parallel.h"
#include "harness.h"

/* logits, the exact softmax and its logarithm in long double, for any size. */
static long double reference_log_sum(const double *x, int64_t columns, long double *largest) {
  long double sum = 0;
  *largest = -INFINITY;
  for (int64_t j = 0; j < columns; j++) *largest = fmaxl(*largest, x[j]);
  for (int64_t j = 0; j < columns; j++) sum += expl((long double)x[j] - *largest);
  return logl(sum);
}

static void check_shape(int64_t rows, int64_t columns) {
  CHECK_CONTEXT("%d x %d", (int)rows, (int)columns);
  int64_t total = rows * columns;
  float *x = mem_alloc(total * 4), *y = mem_alloc(total * 4), *z = mem_alloc(total * 4),
        *loss = mem_alloc(rows * 4);
  float *labels = mem_alloc(total * 4), *loss2 = mem_alloc(rows * 4);
  double *wide = mem_alloc(total * 8), *wide_y = mem_alloc(total * 8), *wide_loss = mem_alloc(rows * 8);
  int64_t *classes = mem_alloc(rows * 8);
  uint32_t state = (uint32_t)(columns * 77 + rows);
  for (int64_t i = 0; i < total; i++) {
    state = state * 1664525u + 1013904223u;
    x[i] = (float)(int32_t)state / 0x1p31f * 12 + (i / columns == 1 ? 5000 : 0);
    wide[i] = (double)x[i];
    labels[i] = (i % columns == i / columns % columns) ? 0.75f
                : columns > 1                          ? 0.25f / (float)(columns - 1)
                                                       : 0;
  }
  for (int64_t i = 0; i < rows; i++) classes[i] = (i * 7 + 3) % columns;

  double worst = 0, worst_log = 0, worst_wide = 0, worst_loss = 0, worst_grad = 0, worst_dense = 0;
  softmax_f32(rows, columns, x, y, NULL);
  softmax_f64(rows, columns, wide, wide_y, NULL);
  log_softmax_f32(rows, columns, x, z, NULL);
  long double largest = 0, log_sum = 0;
  for (int64_t i = 0; i < total; i++) {
    if (i % columns == 0) log_sum = reference_log_sum(wide + i, columns, &largest);
    long double want = wide[i] - largest - log_sum;
    worst = fmax(worst, (double)(fabsl(y[i] - expl(want)) / expl(want)));
    worst_wide = fmax(worst_wide, (double)(fabsl(wide_y[i] - expl(want)) / expl(want)));
    worst_log = fmax(worst_log, (double)(fabsl(z[i] - want) / (1 + fabsl(want))));
  }
  CHECK(worst < 4e-6); /* exp of a difference as large as 24, whose rounding counts 24 times in the result */
  CHECK(worst_wide < 1e-14);
  CHECK(worst_log < 3e-7);

  sparse_softmax_cross_entropy_f32(rows, columns, x, classes, loss, z, NULL);
  sparse_softmax_cross_entropy_f64(rows, columns, wide, classes, wide_loss, wide_y, NULL);
  for (int64_t i = 0; i < rows; i++) {
    log_sum = reference_log_sum(wide + i * columns, columns, &largest);
    long double want = log_sum - (wide[i * columns + classes[i]] - largest);
    worst_loss = fmax(worst_loss, fabs((double)(loss[i] - want)) / (1 + (double)want));
    CHECK_NEAR(wide_loss[i], (double)want, 1e-13);
    for (int64_t j = 0; j < columns; j++) {
      long double p = expl(wide[i * columns + j] - largest - log_sum) - (j == classes[i]);
      worst_grad = fmax(worst_grad, fabs((double)(z[i * columns + j] - p)));
    }
  }
  CHECK(worst_loss < 1e-6);
  CHECK(worst_grad < 3e-6);

  softmax_cross_entropy_f32(rows, columns, x, labels, loss, z, NULL);
  for (int64_t i = 0; i < rows; i++) {
    log_sum = reference_log_sum(wide + i * columns, columns, &largest);
    long double want = 0;
    for (int64_t j = 0; j < columns; j++)
      want += labels[i * columns + j] * (log_sum - (wide[i * columns + j] - largest));
    worst_dense = fmax(worst_dense, fabs((double)(loss[i] - want)) / (1 + (double)want));
    for (int64_t j = 0; j < columns; j++) {
      long double p = expl(wide[i * columns + j] - largest - log_sum) - labels[i * columns + j];
      worst_dense = fmax(worst_dense, fabs((double)(z[i * columns + j] - p)));
    }
  }
  CHECK(worst_dense < 3e-6);

  /* In place and split over threads: the same bits. */
  int64_t calls = 0;
  Parallel parallel = {fake_parallel_run, &calls, 4};
  memcpy(z, x, (size_t)total * 4);
  softmax_f32(rows, columns, z, z, &parallel);
  CHECK_MEM_EQ(z, y, (size_t)total * 4);
  sparse_softmax_cross_entropy_f32(rows, columns, x, classes, loss, y, NULL);
  memcpy(z, x, (size_t)total * 4);
  sparse_softmax_cross_entropy_f32(rows, columns, z, classes, loss2, z, &parallel);
  CHECK_MEM_EQ(z, y, (size_t)total * 4);
  CHECK_MEM_EQ(loss2, loss, (size_t)rows * 4);
  mem_free(x), mem_free(y), mem_free(z), mem_free(loss), mem_free(labels), mem_free(loss2), mem_free(wide),
      mem_free(wide_y);
  mem_free(wide_loss), mem_free(classes);
  CHECK_CONTEXT("%s", "");
}

TEST(softmax_against_long_double) {
  for (int64_t columns = 1; columns <= 100; columns++) check_shape(5, columns);
  check_shape(3, 5000);
  check_shape(2000, 10);
  check_shape(700, 63);
}

TEST(softmax_special_rows) {
  for (int columns = 1; columns <= 83; columns += columns < 12 ? 1 : 9) {
    for (int at = 0; at < columns; at++) {
      float x[83] = {0}, y[83];
      x[at] = -INFINITY;
      softmax_f32(1, columns, x, y, NULL);
      for (int j = 0; j < columns; j++) {
        if (columns == 1) CHECK(isnan(y[j]));
        else if (j == at) CHECK(y[j] == 0);
        else CHECK_NEAR(y[j], 1.0 / (columns - 1), 1e-7);
      }
      x[at] = NAN;
      softmax_f32(1, columns, x, y, NULL);
      for (int j = 0; j < columns; j++) CHECK(isnan(y[j]));
      x[at] = INFINITY;
      log_softmax_f32(1, columns, x, y, NULL);
      CHECK(isnan(y[at]));
    }
  }
}

/* Beside what is near: numbers of which the exponential is a denormal, or 0. */
TEST(softmax_of_masked_rows) {
  static const float kFar[] = {-1e9f, -INFINITY, -FLT_MAX, -104.5f, -103.5f, -95.0f, -88.0f};
  enum { KINDS = sizeof kFar / sizeof kFar[0], MOST = 83 };
  unsigned seed = 5;
  for (int columns = 1; columns <= MOST; columns++) {
    for (int kinds = 1; kinds <= KINDS; kinds++) {
      float x[MOST], y[MOST];
      double wide[MOST];
      for (int j = 0; j < columns; j++) {
        x[j] = random_to(&seed, 2) == 1 && j > 0 ? kFar[random_to(&seed, kinds) - 1]
                                                 : -(float)random_to(&seed, 1000) * 0.01f;
        wide[j] = (double)x[j];
      }
      x[0] = 0, wide[0] = 0;
      long double largest, log_sum = reference_log_sum(wide, columns, &largest);
      softmax_f32(1, columns, x, y, NULL);
      for (int j = 0; j < columns; j++) {
        long double want = expl(wide[j] - log_sum);
        if (!CHECK(fabsl(y[j] - want) <= 4e-6L * want + 3 * 0x1p-149L)) break;
        if (x[j] < -104) CHECK(y[j] == 0);
      }
    }
  }
}

TEST(sparse_cross_entropy_marks_labels_out_of_range) {
  float x[6] = {1, 2, 3, 4, 5, 6}, loss[2], y[6];
  int64_t labels[2] = {3, -1};
  sparse_softmax_cross_entropy_f32(2, 3, x, labels, loss, y, NULL);
  for (int i = 0; i < 6; i++) CHECK(isnan(y[i]));
  CHECK(isnan(loss[0]) && isnan(loss[1]));
}

TEST(softmax_of_no_columns) {
  float loss[2] = {7, 7};
  softmax_f32(3, 0, NULL, NULL, NULL);
  softmax_cross_entropy_f32(2, 0, NULL, NULL, loss, NULL, NULL);
  CHECK(loss[0] == 0 && loss[1] == 0);
}
