/* ArgMax and ArgMin. */
#include <math.h>
#include <stdio.h>

#include "harness.h"
#include "op_runner.h"

TEST(arg_max_and_arg_min_along_each_dimension) {
  op_gives("ArgMax[T=float]", "float[2,3] 1 5 3 9 2 4; int32[] 1", "int64[2] 1 0");
  op_gives("ArgMax[T=float]", "float[2,3] 1 5 3 9 2 4; int32[] 0", "int64[3] 1 0 1");
  op_gives("ArgMin[T=float]", "float[2,3] 1 5 3 9 2 4; int32[] -1", "int64[2] 0 1");
  op_gives("ArgMax[T=int32, Tidx=int64, output_type=int32]", "int32[2,2,2] 1 2 3 4 8 7 6 5; int64[] 1", "int32[2,2] 1 1 0 0");
  op_gives("ArgMin[T=uint8]", "uint8[4] 3 1 1 2; int32[] 0", "int64[] 1");
  op_gives("ArgMax[T=half]", "half[1,3] 1 3 2; int32[] 1", "int64[1] 1");
  op_gives("ArgMax[T=uint64]", "uint64[2] 1 18446744073709551615; int32[] 0", "int64[] 1");
}

TEST(the_first_of_equals_wins_and_nan_never) {
  op_gives("ArgMax[T=float]", "float[4] 2 3 3 1; int32[] 0", "int64[] 1");
  op_gives("ArgMax[T=float]", "float[4] nan 1 nan 2; int32[] 0", "int64[] 3");
  op_gives("ArgMin[T=double]", "double[4] nan 1 nan 2; int32[] 0", "int64[] 1");
  op_gives("ArgMax[T=float]", "float[3] nan; int32[] 0", "int64[] 0");
  op_gives("ArgMax[T=float]", "float[3] -inf; int32[] 0", "int64[] 0");
  op_gives("ArgMax[T=float]", "float[2] nan -inf; int32[] 0", "int64[] 1");
}

/* Rows of every length, short ones of which are searched several at once, against a plain search. */
static void check_rows(bool smallest, DataType type, int64_t columns) {
  enum { ROWS = 11 };
  char text[128];
  OpRun run;
  Status status;
  status_init(&status);
  snprintf(text, sizeof text, "%s[T=%s]", smallest ? "ArgMin" : "ArgMax", dtype_name(type));
  CHECK_CONTEXT("%s of %d rows of %d", text, ROWS, (int)columns);
  CHECK_OK(op_run_begin(&run, text, &status), status);
  Tensor *x = op_run_input(&run, type, 2, (int64_t[]){ROWS, columns}), *axis = op_run_input(&run, DT_INT32, 0, NULL);
  CHECK(x != NULL && axis != NULL);
  unsigned seed = (unsigned)columns;
  for (int64_t i = 0; i < ROWS * columns; i++) {
    seed = seed * 1664525u + 1013904223u;
    unsigned value = seed >> 20 & 15;
    tensor_put(x, i, value == 0 ? NAN : value == 15 ? -INFINITY : value);
  }
  tensor_put(axis, 0, 1);
  bool ran = op_run_compute(&run, &status);
  CHECK_OK(ran, status);
  for (int64_t row = 0; ran && row < ROWS; row++) {
    int64_t best = 0;
    for (int64_t i = 1; i < columns; i++) {
      double a = tensor_get(x, row * columns + i), b = tensor_get(x, row * columns + best);
      if ((smallest ? a < b : a > b) || (isnan(b) && !isnan(a))) best = i;
    }
    CHECK_INT_EQ((int64_t)tensor_get(&run.outputs[0], row), best);
  }
  op_run_end(&run);
}

TEST(rows_of_all_lengths) {
  static const DataType kTypes[] = {DT_FLOAT, DT_DOUBLE, DT_HALF, DT_BFLOAT16};
  for (int t = 0; t < 4; t++) for (int64_t columns = 1; columns <= 40; columns++) {
    check_rows(false, kTypes[t], columns);
    check_rows(true, kTypes[t], columns);
  }
}

TEST(empty_results_and_refused_dimensions) {
  op_gives("ArgMax[T=float]", "float[0,3]; int32[] 1", "int64[0]");
  op_gives("ArgMax[T=float]", "float[0,1,4611686018427387904,4]; int32[] 2", "int64[0,1,4]");
  op_gives("ArgMax[T=float]", "float[0,1,4611686018427387904,4]; int32[] 1", "int64[0,4611686018427387904,4]");
  op_fails("ArgMax[T=float]", "float[0,3]; int32[] 0", CODE_INVALID_ARGUMENT, "Reduction axis 0 is empty in shape [0,3]");
  op_fails("ArgMax[T=float]", "float[2,2] 0; int32[] 2", CODE_INVALID_ARGUMENT, "Expected dimension in the range [-2, 2), but got 2");
  op_fails("ArgMin[T=float]", "float[] 0; int32[] 0", CODE_INVALID_ARGUMENT, "Expected dimension in the range [0, 0), but got 0");
  op_fails("ArgMax[T=float]", "float[2,2] 0; int32[1] 0", CODE_INVALID_ARGUMENT, "dim must be a scalar");
}
