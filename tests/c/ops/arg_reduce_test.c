/* ArgMax and ArgMin. */
#include "harness.h"
#include "op_runner.h"

TEST(arg_max_and_arg_min_along_each_dimension) {
  op_gives("ArgMax[T=float]", "float[2,3] 1 5 3 9 2 4; int32[] 1", "int64[2] 1 0");
  op_gives("ArgMax[T=float]", "float[2,3] 1 5 3 9 2 4; int32[] 0", "int64[3] 1 0 1");
  op_gives("ArgMin[T=float]", "float[2,3] 1 5 3 9 2 4; int32[] -1", "int64[2] 0 1");
  op_gives("ArgMax[T=int32, Tidx=int64, output_type=int32]", "int32[2,2,2] 1 2 3 4 8 7 6 5; int64[] 1", "int32[2,2] 1 1 0 0");
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

TEST(empty_results_and_refused_dimensions) {
  op_gives("ArgMax[T=float]", "float[0,3]; int32[] 1", "int64[0]");
  op_gives("ArgMax[T=float]", "float[0,1,4611686018427387904,4]; int32[] 2", "int64[0,1,4]");
  op_gives("ArgMax[T=float]", "float[0,1,4611686018427387904,4]; int32[] 1", "int64[0,4611686018427387904,4]");
  op_fails("ArgMax[T=float]", "float[0,3]; int32[] 0", CODE_INVALID_ARGUMENT, "Reduction axis 0 is empty in shape [0,3]");
  op_fails("ArgMax[T=float]", "float[2,2] 0; int32[] 2", CODE_INVALID_ARGUMENT, "Expected dimension in the range [-2, 2), but got 2");
  op_fails("ArgMin[T=float]", "float[] 0; int32[] 0", CODE_INVALID_ARGUMENT, "Expected dimension in the range [0, 0), but got 0");
  op_fails("ArgMax[T=float]", "float[2,2] 0; int32[1] 0", CODE_INVALID_ARGUMENT, "dim must be a scalar");
}
