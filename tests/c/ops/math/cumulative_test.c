/* Cumulative sums and products. */
#include <stdio.h>

#include "gradient_cases.h"
#include "gradient_checker.h"
#include "harness.h"
#include "op_runner.h"

TEST(scans_in_every_direction) {
  op_gives("Cumsum[T=float]", "float[3] 1 2 3; int32[] 0", "float[3] 1 3 6");
  op_gives("Cumsum[T=float, exclusive=true]", "float[3] 1 2 3; int32[] 0", "float[3] 0 1 3");
  op_gives("Cumsum[T=float, reverse=true]", "float[3] 1 2 3; int32[] 0", "float[3] 6 5 3");
  op_gives("Cumsum[T=float, exclusive=true, reverse=true]", "float[3] 1 2 3; int32[] -1", "float[3] 5 3 0");
  op_gives("Cumprod[T=double]", "double[3] 1 2 3; int32[] 0", "double[3] 1 2 6");
  op_gives("Cumprod[T=double, exclusive=true]", "double[3] 1 2 3; int32[] 0", "double[3] 1 1 2");
  op_gives("Cumprod[T=double, reverse=true]", "double[3] 1 2 3; int32[] 0", "double[3] 6 6 3");
  op_gives("Cumprod[T=double, exclusive=true, reverse=true]", "double[3] 1 2 3; int32[] 0",
           "double[3] 6 3 1");
}

TEST(scans_along_every_axis) {
  const char *matrix = "int32[2,3] 1 2 3 4 5 6";
  char inputs[64];
  snprintf(inputs, sizeof inputs, "%s; int32[] 0", matrix);
  op_gives("Cumsum[T=int32]", inputs, "int32[2,3] 1 2 3 5 7 9");
  snprintf(inputs, sizeof inputs, "%s; int32[] 1", matrix);
  op_gives("Cumsum[T=int32]", inputs, "int32[2,3] 1 3 6 4 9 15");
  op_gives("Cumsum[T=int64, Tidx=int64]", "int64[2,2,2] 1 2 3 4 5 6 7 8; int64[] -2",
           "int64[2,2,2] 1 2 4 6 5 6 12 14");
  op_gives("Cumprod[T=int8]", "int8[2] 100 2; int32[] 0", "int8[2] 100 -56");
  op_gives("Cumsum[T=uint64]", "uint64[2] 18446744073709551615 2; int32[] 0",
           "uint64[2] 18446744073709551615 1");
  op_gives("Cumprod[T=complex64]", "complex64[3] 0+1i 0+1i 2; int32[] 0", "complex64[3] 0+1i -1 -2");
  op_gives("Cumsum[T=half]", "half[3] 1 0.5 0.25; int32[] 0", "half[3] 1 1.5 1.75");
  op_gives("Cumsum[T=float]", "float[2,0]; int32[] 0", "float[2,0]");
}

TEST(scans_check_their_axis) {
  op_fails("Cumsum[T=float]", "float[3] 1; int32[] 1", CODE_INVALID_ARGUMENT,
           "ScanOp: Expected scan axis in the range [-1, 1), but got 1");
  op_fails("Cumprod[T=float]", "float[1] 1; int32[] -2", CODE_INVALID_ARGUMENT,
           "ScanOp: Expected scan axis in the range [-1, 1), but got -1");
  op_fails("Cumsum[T=float]", "float[] 1; int32[] 0", CODE_INVALID_ARGUMENT,
           "ScanOp: Expected scan axis in the range [0, 0), but got 0");
  op_fails("Cumsum[T=float]", "float[3] 1; int32[2] 0", CODE_INVALID_ARGUMENT,
           "ScanOp: axis must be a scalar, not [2]");
}

#define SCANS(attrs) "Cumsum|Cumprod[T=double" attrs "]"
GRADIENT_CASES(cumulative, {SCANS(""), "double[2,3] 1.5 -2 0.7 1.2 3 -0.4; int32[] 1"},
               {SCANS(", exclusive=true"), "double[2,3] 1.5 -2 0.7 1.2 3 -0.4; int32[] 0"},
               {SCANS(", reverse=true"), "double[4] 1.5 -2 0.7 1.2; int32[] -1"},
               {SCANS(", exclusive=true, reverse=true"),
                "double[2,2,2] 1.5 -2 0.7 1.2 3 -0.4 2 1; int32[] 1"},
               {"Cumsum|Cumprod[T=complex128]", "complex128[3] 1+0.5i -0.5+1i 0.7-1.1i; int32[] 0"})

/* TensorFlow gives 0 there. */
TEST(gradient_of_a_running_product_at_zeros) {
  gradient_is("Cumprod[T=float]", "float[4] 2 0 3 4; int32[] 0", "float[4] 1 32 0 0");
  gradient_holds("Cumprod[T=double]", "double[4] 2 0 3 4; int32[] 0");
  gradient_holds("Cumprod[T=double, exclusive=true]", "double[2,4] 2 0 3 0 0 1 2 3; int32[] 1");
  gradient_holds("Cumprod[T=double, reverse=true]", "double[5] 2 0 3 0 4; int32[] 0");
  gradient_holds("Cumprod[T=complex128]", "complex128[3] 1+1i 0 2-1i; int32[] 0");
}
