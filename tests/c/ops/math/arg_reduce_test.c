/* ArgMax and ArgMin. */
#include <math.h>
#include <stdio.h>

#include "harness.h"
#include "op_runner.h"

TEST(arg_max_and_arg_min_along_each_dimension) {
  op_gives("ArgMax[T=float]", "float[2,3] 1 5 3 9 2 4; int32[] 1", "int64[2] 1 0");
  op_gives("ArgMax[T=float]", "float[2,3] 1 5 3 9 2 4; int32[] 0", "int64[3] 1 0 1");
  op_gives("ArgMin[T=float]", "float[2,3] 1 5 3 9 2 4; int32[] -1", "int64[2] 0 1");
  op_gives("ArgMax[T=int32, Tidx=int64, output_type=int32]", "int32[2,2,2] 1 2 3 4 8 7 6 5; int64[] 1",
           "int32[2,2] 1 1 0 0");
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

/* Rows of every length along an axis, several of which are searched at once, compared with a plain search. */
static void check_lines(bool smallest, DataType type, int axis, int64_t rows, int64_t columns) {
  char text[128];
  OpRun run;
  Status status;
  status_init(&status);
  snprintf(text, sizeof text, "%s[T=%s]", smallest ? "ArgMin" : "ArgMax", dtype_name(type));
  CHECK_CONTEXT("%s along %d of %d x %d", text, axis, (int)rows, (int)columns);
  CHECK_OK(op_run_begin(&run, text, &status), status);
  Tensor *x = op_run_input(&run, type, 2, (int64_t[]){rows, columns}),
         *along = op_run_input(&run, DT_INT32, 0, NULL);
  CHECK(x && along);
  unsigned seed = (unsigned)(rows * 41 + columns);
  for (int64_t i = 0; i < rows * columns; i++) {
    seed = seed * 1664525u + 1013904223u;
    int value = seed >> 20 & 15;
    bool floating = type == DT_FLOAT || type == DT_DOUBLE || type == DT_HALF || type == DT_BFLOAT16;
    tensor_put(x, i, !floating ? value : value == 0 ? NAN : value == 15 ? -INFINITY : value);
  }
  tensor_put(along, 0, axis);
  bool ran = op_run_compute(&run, &status);
  CHECK_OK(ran, status);
  int64_t length = axis == 1 ? columns : rows, step = axis == 1 ? 1 : columns;
  for (int64_t line = 0; ran && line < rows * columns / length; line++) {
    int64_t best = 0, begin = axis == 1 ? line * columns : line;
    for (int64_t i = 1; i < length; i++) {
      double a = tensor_get(x, begin + i * step), b = tensor_get(x, begin + best * step);
      if ((smallest ? a < b : a > b) || (isnan(b) && !isnan(a))) best = i;
    }
    CHECK_INT_EQ((int64_t)tensor_get(&run.outputs[0], line), best);
  }
  op_run_end(&run);
}

TEST(lines_of_all_lengths) {
  static const DataType kTypes[] = {DT_FLOAT, DT_DOUBLE, DT_HALF, DT_BFLOAT16, DT_INT32, DT_INT64, DT_UINT8};
  for (int t = 0; t < 7; t++)
    for (int smallest = 0; smallest < 2; smallest++) {
      for (int64_t columns = 1; columns <= 40; columns++) check_lines(smallest, kTypes[t], 1, 11, columns);
      for (int64_t columns = 1; columns <= 150; columns += 7) check_lines(smallest, kTypes[t], 0, 9, columns);
      for (int64_t columns = 63; columns <= 600; columns += 64)
        check_lines(smallest, kTypes[t], 1, 3, columns);
    }
}

TEST(first_numbers_of_long_rows) {
  static const DataType kTypes[] = {DT_FLOAT, DT_HALF, DT_BFLOAT16};
  for (int t = 0; t < 3; t++) {
    for (int64_t first = 0; first < 600; first += 13) {
      char text[64];
      OpRun run;
      Status status;
      status_init(&status);
      snprintf(text, sizeof text, "ArgMax[T=%s]", dtype_name(kTypes[t]));
      CHECK_OK(op_run_begin(&run, text, &status), status);
      Tensor *x = op_run_input(&run, kTypes[t], 1, (int64_t[]){600});
      CHECK(x);
      for (int64_t i = 0; i < 600; i++) tensor_put(x, i, i < first ? NAN : i % 2 == 0 ? -INFINITY : -3);
      CHECK_OK(op_run_inputs(&run, "int32[] 0", &status), status);
      CHECK_OK(op_run_compute(&run, &status), status);
      CHECK_INT_EQ((int64_t)tensor_get(&run.outputs[0], 0), first + (first % 2 == 0));
      op_run_end(&run);
    }
  }
}

TEST(empty_results_and_refused_dimensions) {
  op_gives("ArgMax[T=float]", "float[0,3]; int32[] 1", "int64[0]");
  op_gives("ArgMax[T=float]", "float[0,1,4611686018427387904,4]; int32[] 2", "int64[0,1,4]");
  op_gives("ArgMax[T=float]", "float[0,1,4611686018427387904,4]; int32[] 1",
           "int64[0,4611686018427387904,4]");
  op_fails("ArgMax[T=float]", "float[0,3]; int32[] 0", CODE_INVALID_ARGUMENT,
           "Reduction axis 0 is empty in shape [0,3]");
  op_fails("ArgMax[T=float]", "float[2,2] 0; int32[] 2", CODE_INVALID_ARGUMENT,
           "Expected dimension in the range [-2, 2), but got 2");
  op_fails("ArgMin[T=float]", "float[] 0; int32[] 0", CODE_INVALID_ARGUMENT,
           "Expected dimension in the range [0, 0), but got 0");
  op_fails("ArgMax[T=float]", "float[2,2] 0; int32[1] 0", CODE_INVALID_ARGUMENT, "dim must be a scalar");
}
