/* HistogramFixedWidth where TensorFlow writes outside of the result. */
#include "harness.h"
#include "op_runner.h"

TEST(distances_beyond_int64_are_in_the_last_bin) {
  op_gives("HistogramFixedWidth[T=int64]",
           "int64[3] 9000000000000000000 -9000000000000000000 0; int64[2] -9000000000000000000 10; int32[] 4",
           "int32[4] 1 0 0 2");
  op_gives("HistogramFixedWidth[T=float, dtype=int64]", "float[2] 1 2; float[2] -inf 0; int32[] 3",
           "int64[3] 0 0 2");
}
