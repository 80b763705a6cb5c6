/* BiasAdd and its gradient op. */
#include "gradient_cases.h"
#include "harness.h"
#include "op_runner.h"

TEST(bias_is_added_to_the_last_dimension) {
  op_gives("BiasAdd[T=float]", "float[2,3] 1 2 3 4 5 6; float[3] 10 20 30", "float[2,3] 11 22 33 14 25 36");
  op_gives("BiasAdd[T=double]", "double[1,2,1,2] 1 2 3 4; double[2] 10 20", "double[1,2,1,2] 11 22 13 24");
  op_gives("BiasAdd[T=int32]", "int32[2,1] 1 2; int32[1] 5", "int32[2,1] 6 7");
  op_gives("BiasAdd[T=int64]", "int64[1,2] 1 2; int64[2] 5 6", "int64[1,2] 6 8");
  op_gives("BiasAdd[T=half]", "half[2,2] 1 2 3 4; half[2] 0.5 1", "half[2,2] 1.5 3 3.5 5");
  op_gives("BiasAdd[T=uint8]", "uint8[2,2] 250 2 3 4; uint8[2] 10 1", "uint8[2,2] 4 3 13 5");
  op_gives("BiasAddV1[T=float]", "float[2,3] 1 2 3 4 5 6; float[3] 10 20 30", "float[2,3] 11 22 33 14 25 36");
  op_gives("BiasAdd[T=float]", "float[0,3]; float[3] 1", "float[0,3]");
}

TEST(bias_is_added_to_the_channels) {
  op_gives("BiasAdd[T=float, data_format=NCHW]", "float[1,2,2,2] 1 2 3 4 5 6 7 8; float[2] 10 20",
           "float[1,2,2,2] 11 12 13 14 25 26 27 28");
  op_gives("BiasAdd[T=int16, data_format=NCHW]", "int16[2,2,2] 1 2 3 4 5 6 7 8; int16[2] 10 20",
           "int16[2,2,2] 11 12 23 24 15 16 27 28");
}

TEST(bias_errors) {
  op_fails("BiasAdd[T=float]", "float[3] 0; float[3] 0", CODE_INVALID_ARGUMENT,
           "Input tensor must be at least 2D: [3]");
  op_fails("BiasAdd[T=float]", "float[2,3] 0; float[1,3] 0", CODE_INVALID_ARGUMENT,
           "Biases must be 1D: [1,3]");
  op_fails("BiasAdd[T=float]", "float[2,3] 0; float[2] 0", CODE_INVALID_ARGUMENT,
           "Must provide as many biases as the last dimension of the input tensor: [2] vs. [2,3]");
  op_fails("BiasAdd[T=half]", "half[2,3] 0; half[2] 0", CODE_INVALID_ARGUMENT, "Must provide as many biases");
  op_fails("BiasAddGrad[T=float]", "float[3] 0", CODE_INVALID_ARGUMENT,
           "Input tensor must be at least 2D: [3]");
}

TEST(bias_gradient_sums_everything_else) {
  op_gives("BiasAddGrad[T=float]", "float[2,3] 1 2 3 4 5 6", "float[3] 5 7 9");
  op_gives("BiasAddGrad[T=double]", "double[2,2,2] 1 2 3 4 5 6 7 8", "double[2] 16 20");
  op_gives("BiasAddGrad[T=float, data_format=NCHW]", "float[2,2,2] 1 2 3 4 5 6 7 8", "float[2] 14 22");
  op_gives("BiasAddGrad[T=int32]", "int32[0,2]", "int32[2] 0");
  op_gives("BiasAddGrad[T=float]", "float[2,0]", "float[0]");
  op_gives("BiasAddGrad[T=bfloat16]", "bfloat16[2,1] 1 2", "bfloat16[1] 3");
}

GRADIENT_CASES(bias_add, {"BiasAdd|BiasAddV1[T=double]", "double[2,3] 1 2 3 4 5 6; double[3] 1 2 3"},
               {"BiasAdd|BiasAddV1[T=double]", "double[2,1,3] 1 2 3 4 5 6; double[3] 1 2 3"},
               {"BiasAdd|BiasAddV1[T=double]", "double[1,2,1,2] 1 2 3 4; double[2] 1 2"},
               {"BiasAdd[T=double, data_format=NCHW]",
                "double[2,2,3] 1 2 3 4 5 6 7 8 9 1 2 3; double[2] 1 2"},
               {"BiasAdd|BiasAddV1[T=complex128]",
                "complex128[2,2] 1+2i 0-2i 3 1-1i; complex128[2] 2+1i 0-1i"},
               {"BiasAddGrad[T=complex128]", "complex128[2,2] 1+2i 0-2i 3 1-1i"},
               {"BiasAddGrad[T=double]", "double[2,3] 1 2 3 4 5 6"},
               {"BiasAddGrad[T=double]", "double[1,2,1,2] 1 2 3 4"},
               {"BiasAddGrad[T=double, data_format=NCHW]", "double[2,2,3] 1 2 3 4 5 6 7 8 9 1 2 3"})
