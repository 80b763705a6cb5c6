/* ClipByValue and ApproximateEqual. */
#include "gradient_cases.h"
#include "gradient_checker.h"
#include "harness.h"
#include "op_runner.h"

TEST(clipping) {
  op_gives("ClipByValue[T=float]", "float[1,3] 1 2 3; float[] 2; float[1,3] 1 3 3", "float[1,3] 2 2 3");
  op_gives("ClipByValue[T=float]", "float[4] 1 nan 3 5; float[] 4; float[] 2", "float[4] 4 nan 4 4");
  op_gives("ClipByValue[T=float]", "float[3] nan 2 3; float[] nan; float[] 3", "float[3] nan 2 3");
  op_gives("ClipByValue[T=int8]", "int8[3] -128 5 127; int8[3] -7 6 0; int8[] 100", "int8[3] -7 6 100");
  op_gives("ClipByValue[T=uint64]", "uint64[2] 18446744073709551615 0; uint64[] 1; uint64[] 9",
           "uint64[2] 9 1");
  op_gives("ClipByValue[T=bfloat16]", "bfloat16[] 7; bfloat16[] 1; bfloat16[] 3", "bfloat16[] 3");
  op_fails("ClipByValue[T=float]", "float[3] 1; float[1] 2; float[3] 3", CODE_INVALID_ARGUMENT,
           "clip_value_min and clip_value_max must be either of the same shape as input, or a scalar. "
           "input shape: [3]clip_value_min shape: [1]clip_value_max shape: [3]");
}

TEST(values_that_are_nearly_equal) {
  op_gives("ApproximateEqual[T=float]", "float[4] 1 2 nan inf; float[4] 1.000001 2.1 nan inf",
           "bool[4] 1 0 0 0");
  op_gives("ApproximateEqual[T=int32, tolerance=1.5]", "int32[3] 1 1 -2147483648; int32[3] 2 3 2147483647",
           "bool[3] 1 0 0");
  op_gives("ApproximateEqual[T=uint8, tolerance=1]", "uint8[2] 0 7; uint8[2] 255 7", "bool[2] 0 1");
  op_gives("ApproximateEqual[T=complex128, tolerance=0.5]", "complex128[2] 1 1; complex128[2] 1+0.4i 1+0.6i",
           "bool[2] 1 0");
  op_fails("ApproximateEqual[T=float]", "float[2] 1; float[3] 1", CODE_INVALID_ARGUMENT,
           "x and y must be of the same shape. x shape: [2]. y shape: [3]");
}

GRADIENT_CASES(clip,
               {"ClipByValue[T=double]", "double[2,3] -3 -1.5 -0.25 0.5 1.25 2.5; double[] -1; double[] 1"},
               {"ClipByValue[T=double]", "double[3] -3 0.5 2.5; double[3] -1 -2 0; double[] 1"},
               {"ClipByValue[T=double]", "double[3] -3 0.5 2.5; double[] -1; double[3] 2 0 1"},
               {"ClipByValue[T=double]", "double[] 0.3; double[] -1; double[] 1"})

TEST(gradients_at_the_limits_are_those_of_the_value) {
  gradient_is("ClipByValue[T=float]", "float[5] 0 1 2 3 4; float[] 1; float[] 3",
              "float[5] 0 1 1 1 0; float[] 1; float[] 1");
}
