/* Reshape, ExpandDims and Squeeze. */
#include "gradient_cases.h"
#include "harness.h"
#include "op_runner.h"

TEST(reshape_keeps_the_elements) {
  op_gives("Reshape[T=float]", "float[2,3] 1 2 3 4 5 6; int32[2] 3 2", "float[3,2] 1 2 3 4 5 6");
  op_gives("Reshape[T=float, Tshape=int64]", "float[2,3] 1 2 3 4 5 6; int64[1] -1", "float[6] 1 2 3 4 5 6");
  op_gives("Reshape[T=int32]", "int32[] 7; int32[3] 1 -1 1", "int32[1,1,1] 7");
  op_gives("Reshape[T=string]", "string[2] a b; int32[2] 2 -1", "string[2,1] a b");
  op_gives("Reshape[T=float]", "float[1] 4; int32[0]", "float[] 4");
  op_gives("Reshape[T=float]", "float[0,3]; int32[2] 7 -1", "float[7,0]");
  op_gives("Reshape[T=float]", "float[0,3]; int32[2] 0 -1", "float[0,3]");
  op_gives("Reshape[T=float]", "float[0,3]; int32[3] 0 3 -1", "float[0,3,1]");
}

TEST(reshape_refuses_what_does_not_fit) {
  op_fails("Reshape[T=float]", "float[3,4] 0; int32[2] 2 3", CODE_INVALID_ARGUMENT,
           "Input to reshape is a tensor with 12 values, but the requested shape has 6");
  op_fails("Reshape[T=float]", "float[3,4] 0; int32[2] 5 -1", CODE_INVALID_ARGUMENT,
           "Input to reshape is a tensor with 12 values, but the requested shape requires a multiple of 5");
  op_fails("Reshape[T=float]", "float[6] 0; int32[2] 0 -1", CODE_INVALID_ARGUMENT,
           "Input to reshape is a tensor with 6 values, but the requested shape has 0");
  op_fails("Reshape[T=float]", "float[6] 0; int32[3] -1 -1 2", CODE_INVALID_ARGUMENT,
           "Only one input size may be -1, not both 0 and 1");
  op_fails("Reshape[T=float]", "float[6] 0; int32[2] -2 3", CODE_INVALID_ARGUMENT,
           "Size 0 must be non-negative, not -2");
  op_fails("Reshape[T=float]", "float[6] 0; int32[1,1] 6", CODE_INVALID_ARGUMENT,
           "sizes input must be 1-D, not [1,1]");
  op_fails("Reshape[T=float]", "float[6] 0; int32[300] 1", CODE_INVALID_ARGUMENT,
           "Too many dimensions in tensor");
}

TEST(reshape_survives_sizes_whose_product_overflows) {
  op_fails("Reshape[T=float, Tshape=int64]", "float[6] 0; int64[2] 4611686018427387904 4",
           CODE_INVALID_ARGUMENT, "2**63 - 1 elements");
  op_fails("Reshape[T=float, Tshape=int64]", "float[6] 0; int64[3] 4611686018427387904 -1 4",
           CODE_INVALID_ARGUMENT, "2**63 - 1 elements");
  op_fails("Reshape[T=float, Tshape=int64]", "float[6] 0; int64[1] -9223372036854775808",
           CODE_INVALID_ARGUMENT, "Size 0 must be non-negative");
  op_fails("Reshape[T=float, Tshape=int64]", "float[0,4611686018427387904,4]; int64[1] 3",
           CODE_INVALID_ARGUMENT, "has 3");
}

TEST(expand_dims_adds_an_axis) {
  op_gives("ExpandDims[T=float]", "float[2,3] 1 2 3 4 5 6; int32[] 0", "float[1,2,3] 1 2 3 4 5 6");
  op_gives("ExpandDims[T=float]", "float[2,3] 1 2 3 4 5 6; int32[] -1", "float[2,3,1] 1 2 3 4 5 6");
  op_gives("ExpandDims[T=float, Tdim=int64]", "float[2,3] 1 2 3 4 5 6; int64[1] 1",
           "float[2,1,3] 1 2 3 4 5 6");
  op_gives("ExpandDims[T=string]", "string[] a; int32[] 0", "string[1] a");
  op_fails("ExpandDims[T=float]", "float[2,3] 0; int32[] 3", CODE_INVALID_ARGUMENT,
           "Tried to expand dim index 3 for tensor with 2 dimensions.");
  op_fails("ExpandDims[T=float, Tdim=int64]", "float[2,3] 0; int64[] -9223372036854775808",
           CODE_INVALID_ARGUMENT,
           "Tried to expand dim index -9223372036854775808 for tensor with 2 dimensions.");
  op_fails("ExpandDims[T=float]", "float[2,3] 0; int32[2] 0 1", CODE_INVALID_ARGUMENT,
           "'dim' must be a tensor with a single value");
}

TEST(squeeze_removes_axes) {
  op_gives("Squeeze[T=float]", "float[1,2,1,3] 1 2 3 4 5 6", "float[2,3] 1 2 3 4 5 6");
  op_gives("Squeeze[T=float, squeeze_dims=[0]]", "float[1,2,1] 1 2", "float[2,1] 1 2");
  op_gives("Squeeze[T=float, squeeze_dims=[-1, 0]]", "float[1,2,1] 1 2", "float[2] 1 2");
  op_gives("Squeeze[T=int32]", "int32[1,1] 4", "int32[] 4");
  op_gives("Squeeze[T=float]", "float[0,1]", "float[0]");
  op_fails("Squeeze[T=float, squeeze_dims=[0]]", "float[2,3] 0", CODE_INVALID_ARGUMENT,
           "Can not squeeze dim[0], expected a dimension of 1, got 2");
  op_fails("Squeeze[T=float, squeeze_dims=[5]]", "float[2,3] 0", CODE_INVALID_ARGUMENT,
           "Tried to squeeze dim index 5 for tensor with 2 dimensions.");
}

GRADIENT_CASES(reshape, {"Reshape[T=double]", "double[2,3] 1 2 3 4 5 6; int32[2] 3 -1"},
               {"Reshape[T=double, Tshape=int64]", "double[2,3] 1 2 3 4 5 6; int64[1] 6"},
               {"Reshape[T=double]", "double[1] 4; int32[0]"},
               {"Reshape[T=double]", "double[2,2] 1 2 3 4; int32[3] 1 4 1"},
               {"ExpandDims[T=double]", "double[2,3] 1 2 3 4 5 6; int32[] 1"},
               {"ExpandDims[T=double, Tdim=int64]", "double[2] 1 2; int64[] -1"},
               {"ExpandDims[T=double]", "double[] 7; int32[] 0"},
               {"Squeeze[T=double]", "double[2,1,3] 1 2 3 4 5 6"},
               {"Squeeze[T=double, squeeze_dims=[1]]", "double[2,1,1] 1 2"},
               {"Squeeze[T=double]", "double[1,1] 5"})
