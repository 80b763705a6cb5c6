/* Bincount. */
#include "harness.h"
#include "op_runner.h"

TEST(occurrences_are_counted) {
  op_gives("Bincount[T=float]", "int32[3] 1 1 3; int32[] 2; float[0]", "float[2] 0 2");
  op_gives("Bincount[T=int32]", "int32[2,2] 1 1 3 0; int32[] 5; int32[0]", "int32[5] 1 2 0 1 0");
  op_gives("Bincount[T=double]", "int32[3] 1 1 3; int32[] 4; double[3] 0.5 2 -1", "double[4] 0 2.5 0 -1");
  op_gives("Bincount[T=int64]", "int32[2] 0 0; int32[] 1; int64[2] 9223372036854775807 1",
           "int64[1] -9223372036854775808");
  op_gives("Bincount[T=int64]", "int32[0]; int32[] 0; int64[0]", "int64[0]");
}

TEST(what_cannot_be_counted) {
  op_fails("Bincount[T=float]", "int32[3] 1 -1 3; int32[] 2; float[0]", CODE_INVALID_ARGUMENT,
           "Input arr must be non-negative!");
  op_fails("Bincount[T=float]", "int32[3] 1; int32[] -2; float[0]", CODE_INVALID_ARGUMENT,
           "size (-2) must be non-negative");
  op_fails("Bincount[T=float]", "int32[3] 1; int32[] 2; float[2] 1", CODE_INVALID_ARGUMENT,
           "Input indices and weights must have the same size.");
  op_fails("Bincount[T=float]", "int32[3] 1; int32[1] 2; float[0]", CODE_INVALID_ARGUMENT,
           "Shape must be rank 0 but is rank 1");
}
