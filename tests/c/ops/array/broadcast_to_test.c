/* BroadcastTo. */
#include "gradient_cases.h"
#include "harness.h"
#include "op_runner.h"

TEST(broadcast_to_spreads_axes_of_one) {
  op_gives("BroadcastTo[T=float]", "float[3] 1 2 3; int32[2] 2 3", "float[2,3] 1 2 3 1 2 3");
  op_gives("BroadcastTo[T=float, Tidx=int64]", "float[2,1] 1 2; int64[2] 2 3", "float[2,3] 1 1 1 2 2 2");
  op_gives("BroadcastTo[T=int32]", "int32[2,1,2] 1 2 3 4; int32[3] 2 3 2",
           "int32[2,3,2] 1 2 1 2 1 2 3 4 3 4 3 4");
  op_gives("BroadcastTo[T=bool]", "bool[] true; int32[1] 4", "bool[4] true");
  op_gives("BroadcastTo[T=string]", "string[1] a; int32[2] 1 2", "string[1,2] a");
  op_gives("BroadcastTo[T=half]", "half[2] 1 2; int32[1] 2", "half[2] 1 2");
  op_gives("BroadcastTo[T=float]", "float[1,2] 1 2; int32[2] 0 2", "float[0,2]");
}

TEST(broadcast_to_refuses_shapes_that_do_not_fit) {
  op_fails("BroadcastTo[T=float]", "float[2,3] 0; int32[2] 2 1", CODE_INVALID_ARGUMENT,
           "Unable to broadcast tensor of shape [2,3] to tensor of shape [2,1]");
  op_fails("BroadcastTo[T=float]", "float[2,3] 0; int32[1] 3", CODE_INVALID_ARGUMENT,
           "Rank of input (2) must be no greater than rank of output shape (1).");
  op_fails("BroadcastTo[T=float]", "float[2,3] 0; int32[2] 4 3", CODE_INVALID_ARGUMENT,
           "Incompatible shapes: [2,3] vs. [4,3]");
  op_fails("BroadcastTo[T=float]", "float[1] 0; int32[1] -4", CODE_INVALID_ARGUMENT,
           "Dimension -4 must be >= 0");
  op_fails("BroadcastTo[T=float]", "float[1] 0; int32[] 4", CODE_INVALID_ARGUMENT, "got shape []");
}

GRADIENT_CASES(broadcast_to, {"BroadcastTo[T=double]", "double[2,1] 1 2; int32[3] 2 2 3"},
               {"BroadcastTo[T=double, Tidx=int64]", "double[] 1; int64[2] 2 3"},
               {"BroadcastTo[T=double]", "double[2] 1 2; int32[1] 2"},
               {"BroadcastTo[T=double]", "double[1,3] 1 2 3; int32[2] 0 3"},
               {"BroadcastTo[T=double]", "double[2,1] 1 2; int32[3] 3 2 4"})
