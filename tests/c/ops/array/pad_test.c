/* Pad and PadV2. */
#include "blas/fake_parallel.h"
#include "gradient_cases.h"
#include "harness.h"
#include "op_runner.h"

TEST(pad_puts_zeros_around) {
  op_gives("Pad[T=float]", "float[2] 1 2; int32[1,2] 1 2", "float[5] 0 1 2 0 0");
  op_gives("Pad[T=int32, Tpaddings=int64]", "int32[1,2] 1 2; int64[2,2] 1 0 0 1", "int32[2,3] 0 0 0 1 2 0");
  op_gives("Pad[T=bool]", "bool[1] true; int32[1,2] 0 1", "bool[2] true false");
  op_gives("Pad[T=half]", "half[2] 1 2; int32[1,2] 0", "half[2] 1 2");
  op_gives("Pad[T=float]", "float[0]; int32[1,2] 1 1", "float[2] 0");
  op_gives("Pad[T=float]", "float[] 3; int32[0,2]", "float[] 3");
}

TEST(pad_refuses_wrong_paddings) {
  op_fails("Pad[T=float]", "float[2,3] 0; int32[1,2] 1", CODE_INVALID_ARGUMENT,
           "The first dimension of paddings must be the rank of inputs[1,2] [2,3]");
  op_fails("Pad[T=float]", "float[2,3] 0; int32[2,2] 1 -1 0 0", CODE_INVALID_ARGUMENT,
           "Paddings must be non-negative: 1 -1");
  op_fails("Pad[T=float]", "float[2] 0; int32[2] 1", CODE_INVALID_ARGUMENT,
           "paddings must be a matrix with 2 columns: [2]");
  op_fails("Pad[T=float, Tpaddings=int64]", "float[2] 0; int64[1,2] 9223372036854775807 1",
           CODE_INVALID_ARGUMENT, "2**63 - 1");
}

TEST(pad_v2_puts_a_value_around) {
  op_gives("PadV2[T=float]", "float[2] 1 2; int32[1,2] 1 2; float[] 7", "float[5] 7 1 2 7 7");
  op_gives("PadV2[T=string, Tpaddings=int64]", "string[1,1] a; int64[2,2] 0 0 1 0; string[] b",
           "string[1,2] b a");
  op_gives("PadV2[T=int32]", "int32[0]; int32[1,2] 1 1; int32[] 3", "int32[2] 3");
  op_fails("PadV2[T=float]", "float[2] 1 2; int32[1,2] 1 2; float[2] 7", CODE_INVALID_ARGUMENT,
           "constant_values must be a scalar. Found: [2]");
}

/* PadV2 of a matrix of 1, 2, 3, ... with fill value -1, each element in its position. */
static void check_large(int64_t rows, int64_t columns, const int32_t paddings[4]) {
  Status status;
  status_init(&status);
  OpRun run;
  int64_t calls = 0, dims[2] = {rows, columns};
  Parallel parallel = {fake_parallel_run, &calls, 4};
  if (CHECK_OK(op_run_begin(&run, "PadV2[T=int32]", &status), status)) {
    Tensor *x = op_run_input(&run, DT_INT32, 2, dims);
    for (int64_t i = 0; i < rows * columns; i++) tensor_i32(x)[i] = (int32_t)i + 1;
    Tensor *around = op_run_input(&run, DT_INT32, 2, (int64_t[]){2, 2});
    for (int i = 0; i < 4; i++) tensor_put(around, i, paddings[i]);
    tensor_put(op_run_input(&run, DT_INT32, 0, NULL), 0, -1);
    run.parallel = &parallel;
    if (CHECK_OK(op_run_compute(&run, &status), status)) {
      int64_t height = paddings[0] + rows + paddings[1], width = paddings[2] + columns + paddings[3],
              wrong = 0;
      for (int64_t i = 0; i < height * width; i++) {
        int64_t row = i / width - paddings[0], column = i % width - paddings[2];
        bool inside = row >= 0 && row < rows && column >= 0 && column < columns;
        wrong += tensor_i32(&run.outputs[0])[i] != (inside ? row * columns + column + 1 : -1);
      }
      CHECK_INT_EQ(wrong, 0);
      CHECK(calls > 1);
    }
  }
  op_run_end(&run);
}

TEST(pad_of_large_inputs_with_any_split) {
  check_large(500, 400, (int32_t[]){3, 2, 1, 4});
  check_large(4, 70000, (int32_t[]){1, 1, 5, 0});  /* rows in pieces */
  check_large(400, 500, (int32_t[]){7, 9, 0, 0});  /* one row in pieces */
  check_large(200000, 1, (int32_t[]){0, 3, 1, 1}); /* rows of one element */
}

GRADIENT_CASES(pad, {"PadV2[T=double]", "double[2,2] 1 2 3 4; int32[2,2] 1 0 2 1; double[] 5"},
               {"PadV2[T=double, Tpaddings=int64]", "double[2] 1 2; int64[1,2] 0 0; double[] 5"},
               {"PadV2[T=complex128]", "complex128[1,2,1] 1 2-1i; int32[3,2] 0 0 1 1 0 2; complex128[] 1+1i"},
               {"PadV2[T=double]", "double[0,2]; int32[2,2] 1 0 0 1; double[] 2"},
               {"Pad[T=double]", "double[2,2] 1 2 3 4; int32[2,2] 1 0 2 1"},
               {"Pad[T=double, Tpaddings=int64]", "double[2] 1 2; int64[1,2] 0 1"},
               {"Pad[T=double]", "double[1,2,1] 1 2; int32[3,2] 0 0 1 1 0 2"},
               {"Pad[T=double]", "double[0,2]; int32[2,2] 1 0 0 1"})
