/* LinSpace. */
#include "harness.h"
#include "op_runner.h"

TEST(numbers_at_equal_distances) {
  op_gives_about("LinSpace[T=float]", "float[] 1; float[] 2; int32[] 4", "float[4] 1 1.3333333 1.6666667 2",
                 1e-7);
  op_gives("LinSpace[T=double, Tidx=int64]", "double[] 5; double[] 1; int64[] 3", "double[3] 5 3 1");
  op_gives("LinSpace[T=float]", "float[] 1; float[] 2; int32[] 1", "float[1] 1");
  op_gives("LinSpace[T=bfloat16]", "bfloat16[] 0; bfloat16[] 1; int32[] 5", "bfloat16[5] 0 0.25 0.5 0.75 1");
  op_gives_about("LinSpace[T=double]", "double[] 0; double[] 0.3; int32[] 4", "double[4] 0 0.1 0.2 0.3",
                 1e-16);
}

TEST(the_ends_are_those_given_where_the_distance_is_infinite) {
  op_gives("LinSpace[T=double]", "double[] -inf; double[] 1; int32[] 2", "double[2] -inf 1");
  op_gives("LinSpace[T=double]", "double[] 0; double[] inf; int32[] 3", "double[3] 0 inf inf");
}

TEST(arguments_of_lin_space_are_checked) {
  op_fails("LinSpace[T=float]", "float[1] 1; float[] 2; int32[] 4", CODE_INVALID_ARGUMENT,
           "start must be a scalar, not shape [1]");
  op_fails("LinSpace[T=float]", "float[] 1; float[2] 2; int32[] 4", CODE_INVALID_ARGUMENT,
           "stop must be a scalar, not shape [2]");
  op_fails("LinSpace[T=float]", "float[] 1; float[] 2; int32[1] 4", CODE_INVALID_ARGUMENT,
           "num must be a scalar, not shape [1]");
  op_fails("LinSpace[T=float]", "float[] 1; float[] 2; int32[] 0", CODE_INVALID_ARGUMENT,
           "Requires num > 0: 0");
}
