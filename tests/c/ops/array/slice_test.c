/* Slice. */
#include "gradient_cases.h"
#include "harness.h"
#include "op_runner.h"

TEST(slice_takes_a_box) {
  op_gives("Slice[T=float, Index=int32]", "float[3,3] 1 2 3 4 5 6 7 8 9; int32[2] 1 1; int32[2] 2 1",
           "float[2,1] 5 8");
  op_gives("Slice[T=int32, Index=int64]", "int32[3,3] 1 2 3 4 5 6 7 8 9; int64[2] 0 1; int64[2] -1 2",
           "int32[3,2] 2 3 5 6 8 9");
  op_gives("Slice[T=string, Index=int32]", "string[3] a b c; int32[1] 1; int32[1] -1", "string[2] b c");
  op_gives("Slice[T=float, Index=int32]", "float[2] 1 2; int32[1] 0; int32[1] 2", "float[2] 1 2");
  op_gives("Slice[T=float, Index=int32]", "float[2] 1 2; int32[1] 2; int32[1] -1", "float[0]");
  op_gives("Slice[T=float, Index=int32]", "float[0]; int32[1] 0; int32[1] -1", "float[0]");
  op_gives("Slice[T=float, Index=int32]", "float[] 4; int32[0]; int32[0]", "float[] 4");
}

TEST(slice_refuses_boxes_that_stick_out) {
  op_fails("Slice[T=float, Index=int32]", "float[2,3] 0; int32[1] 0; int32[1] 1", CODE_INVALID_ARGUMENT,
           "Expected begin and size arguments to be 1-D tensors of size 2, but got shapes [1] and [1] "
           "instead.");
  op_fails("Slice[T=float, Index=int32]", "float[2,3] 0; int32[2] 0 4; int32[2] 1 1", CODE_INVALID_ARGUMENT,
           "Expected begin[1] in [0, 3], but got 4");
  op_fails("Slice[T=float, Index=int32]", "float[3] 0; int32[1] 0; int32[1] 5", CODE_INVALID_ARGUMENT,
           "Expected size[0] in [0, 3], but got 5");
  op_fails("Slice[T=float, Index=int32]", "float[3] 0; int32[1] 0; int32[1] -2", CODE_INVALID_ARGUMENT,
           "Expected size[0] in [0, 3], but got -2");
  op_fails("Slice[T=float, Index=int64]", "float[3] 0; int64[1] -9223372036854775808; int64[1] -1",
           CODE_INVALID_ARGUMENT, "Expected begin[0] in [0, 3], but got -9223372036854775808");
  op_fails("Slice[T=float, Index=int64]", "float[3] 0; int64[1] 1; int64[1] 9223372036854775807",
           CODE_INVALID_ARGUMENT, "Expected size[0] in [0, 2], but got 9223372036854775807");
  op_fails("Slice[T=float, Index=int32]", "float[0]; int32[1] 1; int32[1] 0", CODE_INVALID_ARGUMENT,
           "Expected begin[0] == 0 (got 1) and size[0] == 0 (got 0) when input.dim_size(0) == 0");
}

GRADIENT_CASES(slice,
               {"Slice[T=double, Index=int32]", "double[3,2] 1 2 3 4 5 6; int32[2] 1 0; int32[2] 2 -1"},
               {"Slice[T=double, Index=int64]", "double[3] 1 2 3; int64[1] 1; int64[1] 1"},
               {"Slice[T=double, Index=int32]",
                "double[2,2,2] 1 2 3 4 5 6 7 8; int32[3] 0 1 0; int32[3] 2 1 2"},
               {"Slice[T=double, Index=int32]", "double[] 3; int32[0]; int32[0]"})
