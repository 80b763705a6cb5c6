/* Range. */
#include "harness.h"
#include "op_runner.h"

TEST(ranges_of_integers) {
  op_gives("Range[Tidx=int32]", "int32[] 0; int32[] 5; int32[] 1", "int32[5] 0 1 2 3 4");
  op_gives("Range[Tidx=int32]", "int32[] 3; int32[] 18; int32[] 3", "int32[5] 3 6 9 12 15");
  op_gives("Range[Tidx=int32]", "int32[] 3; int32[] 1; int32[] -1", "int32[2] 3 2");
  op_gives("Range[Tidx=int32]", "int32[] 1; int32[] 1; int32[] -7", "int32[0]");
  op_gives("Range[Tidx=int64]", "int64[] 0; int64[] 10; int64[] 4", "int64[3] 0 4 8");
  op_gives("Range[Tidx=int64]",
           "int64[] -9223372036854775808; int64[] 9223372036854775807; int64[] 9223372036854775807",
           "int64[3] -9223372036854775808 -1 9223372036854775806");
  op_gives("Range[Tidx=int64]",
           "int64[] 9223372036854775807; int64[] -9223372036854775808; int64[] -9223372036854775808",
           "int64[2] 9223372036854775807 -1");
  op_gives("Range[Tidx=int32]", "int32[] 2147483646; int32[] 2147483647; int32[] 5", "int32[1] 2147483646");
}

/* As in TensorFlow: start + i * delta in the type itself. */
TEST(ranges_of_floats) {
  op_gives("Range[Tidx=float]", "float[] 3; float[] 1; float[] -0.5", "float[4] 3 2.5 2 1.5");
  op_gives("Range[Tidx=float]", "float[] 0; float[] 1; float[] 0.1",
           "float[10] 0 0.10000000149011612 0.20000000298023224 0.30000001192092896 0.4000000059604645 0.5 "
           "0.6000000238418579 "
           "0.699999988079071 0.800000011920929 0.9000000357627869");
  op_gives("Range[Tidx=double]", "double[] 0; double[] 1; double[] 0.25", "double[4] 0 0.25 0.5 0.75");
  op_gives("Range[Tidx=bfloat16]", "bfloat16[] 0.3; bfloat16[] 0.95; bfloat16[] 0.1",
           "bfloat16[7] 0.30078125 0.400390625 0.5 0.6015625 0.703125 0.80078125 0.90234375");
}

TEST(ranges_that_lead_nowhere_are_refused) {
  op_fails("Range[Tidx=int32]", "int32[] 0; int32[] 5; int32[] 0", CODE_INVALID_ARGUMENT,
           "Requires delta != 0");
  op_fails("Range[Tidx=int32]", "int32[] 0; int32[] 5; int32[] -1", CODE_INVALID_ARGUMENT,
           "Requires start >= limit when delta < 0: 0/5");
  op_fails("Range[Tidx=float]", "float[] 2; float[] 1; float[] 0.5", CODE_INVALID_ARGUMENT,
           "Requires start <= limit when delta > 0: 2/1");
  op_fails("Range[Tidx=float]", "float[] 0; float[] inf; float[] 1", CODE_INVALID_ARGUMENT,
           "Requires ((limit - start) / delta) <=");
  op_fails("Range[Tidx=double]", "double[] 0; double[] nan; double[] 1", CODE_INVALID_ARGUMENT,
           "Requires ((limit - start) / delta) <=");
  op_fails("Range[Tidx=double]", "double[] 0; double[] 1; double[] nan", CODE_INVALID_ARGUMENT,
           "Requires ((limit - start) / delta) <=");
  op_fails("Range[Tidx=int64]", "int64[] -9223372036854775808; int64[] 9223372036854775807; int64[] 1",
           CODE_INVALID_ARGUMENT, "Requires ((limit - start) / delta) <=");
  op_fails("Range[Tidx=int64]", "int64[] 0; int64[] 9223372036854775807; int64[] 16", CODE_RESOURCE_EXHAUSTED,
           "OOM when allocating");
  op_fails("Range[Tidx=int32]", "int32[1] 0; int32[] 5; int32[] 1", CODE_INVALID_ARGUMENT,
           "start must be a scalar, not shape [1]");
  op_fails("Range[Tidx=int32]", "int32[] 0; int32[1] 5; int32[] 1", CODE_INVALID_ARGUMENT,
           "limit must be a scalar, not shape [1]");
  op_fails("Range[Tidx=int32]", "int32[] 0; int32[] 5; int32[1] 1", CODE_INVALID_ARGUMENT,
           "delta must be a scalar, not shape [1]");
}
