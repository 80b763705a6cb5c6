/* SpaceToDepth and DepthToSpace. */
#include "gradient_cases.h"
#include "harness.h"
#include "op_runner.h"

TEST(space_to_depth_lays_blocks_out) {
  op_gives("SpaceToDepth[block_size=2, T=float]", "float[1,2,2,1] 1 2 3 4", "float[1,1,1,4] 1 2 3 4");
  op_gives("SpaceToDepth[block_size=2, T=int32]", "int32[1,2,4,2] 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16",
           "int32[1,1,2,8] 1 2 3 4 9 10 11 12 5 6 7 8 13 14 15 16");
  op_gives("SpaceToDepth[block_size=2, T=half, data_format=NCHW]", "half[1,2,2,2] 1 2 3 4 5 6 7 8",
           "half[1,8,1,1] 1 5 2 6 3 7 4 8");
  op_gives("SpaceToDepth[block_size=2, T=string]", "string[1,2,2,1] a b c d", "string[1,1,1,4] a b c d");
}

TEST(depth_to_space_puts_blocks_together) {
  op_gives("DepthToSpace[block_size=2, T=float]", "float[1,1,1,4] 1 2 3 4", "float[1,2,2,1] 1 2 3 4");
  op_gives("DepthToSpace[block_size=2, T=uint8]", "uint8[1,1,2,8] 1 2 3 4 9 10 11 12 5 6 7 8 13 14 15 16",
           "uint8[1,2,4,2] 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16");
  op_gives("DepthToSpace[block_size=2, T=complex64, data_format=NCHW]",
           "complex64[1,8,1,1] 1 5 2 6 3 7 4 8+1i", "complex64[1,2,2,2] 1 2 3 4 5 6 7 8+1i");
  op_gives("DepthToSpace[block_size=2, T=float]", "float[0,1,1,4]", "float[0,2,2,1]");
}

TEST(images_that_are_not_divisible_are_refused) {
  op_fails("SpaceToDepth[block_size=2, T=float]", "float[1,3,2,1] 0", CODE_INVALID_ARGUMENT,
           "Image width 2 and height 3 should be divisible by block_size: 2");
  op_fails("SpaceToDepth[block_size=2, T=float]", "float[1,2,2] 0", CODE_INVALID_ARGUMENT,
           "Input rank should be 4 instead of 3");
  op_fails("DepthToSpace[block_size=2, T=float]", "float[1,3,2,3] 0", CODE_INVALID_ARGUMENT,
           "Input depth dimension 3 should be divisible by: 4");
  op_fails("DepthToSpace[block_size=2, T=float]", "float[1,3,2] 0", CODE_INVALID_ARGUMENT,
           "Input rank should be: 4 instead of: 3");
  op_fails("DepthToSpace[block_size=4294967296, T=float]", "float[1,1,1,4] 0", CODE_INVALID_ARGUMENT,
           "Input depth dimension 4 should be divisible by");
  op_fails("SpaceToDepth[block_size=2, T=qint8, data_format=NCHW_VECT_C]", "qint8[1,1,2,2,4] 0",
           CODE_INVALID_ARGUMENT, "Only NHWC data_format supported on CPU. Got NCHW_VECT_C");
}

GRADIENT_CASES(space_depth, {"SpaceToDepth[block_size=2, T=double]", "double[1,2,4,1] 1 2 3 4 5 6 7 8"},
               {"SpaceToDepth[block_size=2, T=double, data_format=NCHW]", "double[1,2,2,2] 1 2 3 4 5 6 7 8"},
               {"SpaceToDepth[block_size=2, T=complex128]", "complex128[1,2,2,1] 1+1i 2 3 4"},
               {"DepthToSpace[block_size=2, T=double]", "double[1,1,2,4] 1 2 3 4 5 6 7 8"},
               {"DepthToSpace[block_size=2, T=double, data_format=NCHW]", "double[1,8,1,1] 1 2 3 4 5 6 7 8"},
               {"DepthToSpace[block_size=2, T=complex128]", "complex128[1,1,1,4] 1+1i 2 3 4"})
