/* SpaceToBatch, SpaceToBatchND, BatchToSpace, BatchToSpaceND. */
#include "gradient_cases.h"
#include "harness.h"
#include "op_runner.h"

TEST(space_to_batch_deals_out_blocks) {
  op_gives("SpaceToBatchND[T=float]", "float[1,2,2] 1 2 3 4; int32[2] 2; int32[2,2] 0",
           "float[4,1,1] 1 2 3 4");
  op_gives("SpaceToBatchND[T=int32, Tblock_shape=int64]",
           "int32[2,3] 1 2 3 4 5 6; int64[1] 2; int32[1,2] 1 0", "int32[4,2] 0 2 0 5 1 3 4 6");
  op_gives("SpaceToBatchND[T=string]", "string[1,3,1] a b c; int32[1] 3; int32[1,2] 0",
           "string[3,1,1] a b c");
  op_gives("SpaceToBatchND[T=half, Tpaddings=int64]", "half[1,1] 5; int32[1] 2; int64[1,2] 3 2",
           "half[2,3] 0 0 0 0 5 0");
  op_gives("SpaceToBatchND[T=float]", "float[2] 1 2; int32[0]; int32[0,2]", "float[2] 1 2");
  op_gives("SpaceToBatch[block_size=2, T=float]", "float[1,2,4,1] 1 2 3 4 5 6 7 8; int32[2,2] 0",
           "float[4,1,2,1] 1 3 2 4 5 7 6 8");
  op_gives("SpaceToBatchND[T=float]", "float[1,0]; int32[1] 2; int32[1,2] 1 1", "float[2,1] 0");
}

TEST(batch_to_space_puts_blocks_together) {
  op_gives("BatchToSpaceND[T=float]", "float[4,1,1] 1 2 3 4; int32[2] 2; int32[2,2] 0",
           "float[1,2,2] 1 2 3 4");
  op_gives("BatchToSpaceND[T=int32]", "int32[4,2] 9 2 9 5 1 3 4 6; int32[1] 2; int32[1,2] 1 0",
           "int32[2,3] 1 2 3 4 5 6");
  op_gives("BatchToSpaceND[T=string, Tcrops=int64]", "string[2,1] a b; int32[1] 2; int64[1,2] 0 1",
           "string[1,1] a");
  op_gives("BatchToSpace[block_size=2, T=float]", "float[4,1,2,1] 1 3 2 4 5 7 6 8; int32[2,2] 0",
           "float[1,2,4,1] 1 2 3 4 5 6 7 8");
  op_gives("BatchToSpaceND[T=float]", "float[2,1] 1 2; int32[1] 2; int32[1,2] 1 1", "float[1,0]");
}

TEST(blocks_that_do_not_fit_are_refused) {
  const char *to = "SpaceToBatchND[T=float]", *from = "BatchToSpaceND[T=float]";
  op_fails(to, "float[1,4,4,1] 0; int32[2] 2 3; int32[2,2] 0", CODE_INVALID_ARGUMENT,
           "padded_shape[1]=4 is not divisible by block_shape[1]=3");
  op_fails(to, "float[1,4,4,1] 0; int32[2] 0 2; int32[2,2] 0", CODE_INVALID_ARGUMENT,
           "All values in block_shape must be positive, got value, 0 at index 0.");
  op_fails(to, "float[1,4] 0; int32[2] 2; int32[2,2] 0", CODE_INVALID_ARGUMENT,
           "input rank should be >= 3 instead of 2");
  op_fails(to, "float[1,4,4] 0; int32[2] 2; int32[2,2] 0 -1 0 0", CODE_INVALID_ARGUMENT,
           "Paddings must be non-negative");
  op_fails(to, "float[1,4,4] 0; int32[2] 2; int32[1,2] 0", CODE_INVALID_ARGUMENT,
           "paddings should have shape [2, 2] instead of [1,2]");
  op_fails(to, "float[1,4,4] 0; int32[1,2] 2; int32[1,2] 0", CODE_INVALID_ARGUMENT,
           "block_shape rank should be 1 instead of 2");
  op_fails("SpaceToBatchND[T=float, Tblock_shape=int64, Tpaddings=int64]",
           "float[2,1] 0; int64[1] 9223372036854775807; int64[1,2] 0 9223372036854775806",
           CODE_INVALID_ARGUMENT, "2**63 - 1");
  op_fails(from, "float[3,2,2] 0; int32[2] 2; int32[2,2] 0", CODE_INVALID_ARGUMENT,
           "Input batch dimension (3) is not divisible by product of block sizes (4)");
  op_fails(from, "float[4,2,2] 0; int32[2] 2; int32[2,2] 3 2 0 0", CODE_INVALID_ARGUMENT,
           "cropped_shape[0]=-1 must be non-negative");
  op_fails(from, "float[4,2,2] 0; int32[2] 2; int32[2,2] -1 2 0 0", CODE_INVALID_ARGUMENT,
           "Crops must be non-negative");
  op_fails("BatchToSpaceND[T=float, Tcrops=int64]",
           "float[2,1] 0; int32[1] 2; int64[1,2] 9223372036854775807", CODE_INVALID_ARGUMENT,
           "must be non-negative");
  op_fails("SpaceToBatch[block_size=2, T=float]", "float[4,2,2] 0; int32[2,2] 0", CODE_INVALID_ARGUMENT,
           "Input rank should be: 4instead of: 3");
}

GRADIENT_CASES(
    space_batch, {"SpaceToBatchND[T=double]", "double[1,2,2] 1 2 3 4; int32[2] 2; int32[2,2] 0"},
    {"SpaceToBatchND[T=double, Tblock_shape=int64]", "double[2,3] 1 2 3 4 5 6; int64[1] 2; int32[1,2] 1 0"},
    {"SpaceToBatchND[T=complex128, Tpaddings=int64]", "complex128[1,1,2] 1+1i 2; int32[1] 2; int64[1,2] 1 0"},
    {"BatchToSpaceND[T=double]", "double[4,1,1] 1 2 3 4; int32[2] 2; int32[2,2] 0"},
    {"BatchToSpaceND[T=double, Tcrops=int64]", "double[4,2] 9 2 9 5 1 3 4 6; int32[1] 2; int64[1,2] 1 0"},
    {"BatchToSpaceND[T=complex128]", "complex128[2,1,1] 1+1i 2; int32[1] 2; int32[1,2] 0 1"},
    {"SpaceToBatch[block_size=2, T=double]", "double[1,2,4,1] 1 2 3 4 5 6 7 8; int32[2,2] 0"},
    {"SpaceToBatch[block_size=2, T=double, Tpaddings=int64]", "double[1,1,1,2] 1 2; int64[2,2] 1 0 0 1"},
    {"SpaceToBatch[block_size=3, T=complex128]", "complex128[1,3,3,1] 1+1i 2 3; int32[2,2] 0"},
    {"BatchToSpace[block_size=2, T=double]", "double[4,1,2,1] 1 3 2 4 5 7 6 8; int32[2,2] 0"},
    {"BatchToSpace[block_size=2, T=double, Tidx=int64]",
     "double[4,1,1,2] 1 2 3 4 5 6 7 8; int64[2,2] 1 0 0 1"},
    {"BatchToSpace[block_size=2, T=complex128]", "complex128[4,1,1,1] 1+1i 2 3 4; int32[2,2] 0"})
