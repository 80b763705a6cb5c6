/* HistogramFixedWidth where TensorFlow writes outside of the result. */
#include <stdio.h>

#include "harness.h"
#include "op_runner.h"

TEST(distances_beyond_int64_are_in_the_last_bin) {
  op_gives("HistogramFixedWidth[T=int64]",
           "int64[3] 9000000000000000000 -9000000000000000000 0; int64[2] -9000000000000000000 10; int32[] 4",
           "int32[4] 1 0 0 2");
  op_gives("HistogramFixedWidth[T=float, dtype=int64]", "float[2] 1 2; float[2] -inf 0; int32[] 3",
           "int64[3] 0 0 2");
}

/* More values than are binned together. */
TEST(histogram_of_many_values) {
  enum { VALUES = 2000, BINS = 7 };
  static const DataType kTypes[] = {DT_FLOAT, DT_DOUBLE, DT_INT32, DT_INT64};
  for (int t = 0; t < 4; t++) {
    OpRun run;
    Status status;
    char op[80];
    int64_t want[BINS] = {0};
    status_init(&status);
    snprintf(op, sizeof op, "HistogramFixedWidth[T=%s, dtype=%s]", dtype_name(kTypes[t]),
             t % 2 ? "int64" : "int32");
    CHECK_OK(op_run_begin(&run, op, &status), status);
    Tensor *x = op_run_input(&run, kTypes[t], 1, (int64_t[]){VALUES}),
           *range = op_run_input(&run, kTypes[t], 1, (int64_t[]){2});
    for (int i = 0; i < VALUES; i++) {
      int value = i * 37 % 101 - 20, bin = value / 10;
      tensor_put(x, i, value);
      want[value < 0 ? 0 : bin >= BINS ? BINS - 1 : bin]++;
    }
    tensor_put(range, 0, 0), tensor_put(range, 1, 10 * BINS);
    CHECK_OK(op_run_inputs(&run, "int32[] 7", &status), status);
    CHECK_OK(op_run_compute(&run, &status), status);
    for (int k = 0; k < BINS; k++) CHECK_INT_EQ((int64_t)tensor_get(&run.outputs[0], k), want[k]);
    op_run_end(&run);
  }
  op_fails("HistogramFixedWidth[T=float]", "float[3] 1 nan 2; float[2] 0 1; int32[] 3", CODE_INVALID_ARGUMENT,
           "Histogram values must not contain NaN");
  op_gives("HistogramFixedWidth[T=float]", "float[4] inf -inf 0.5 -0; float[2] 0 1; int32[] 4",
           "int32[4] 2 0 1 1");
}
