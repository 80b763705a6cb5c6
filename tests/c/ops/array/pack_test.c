/* Pack and Unpack. */
#include "gradient_cases.h"
#include "harness.h"
#include "op_runner.h"

TEST(pack_adds_an_axis) {
  op_gives("Pack[N=2, T=float]", "float[2] 1 2; float[2] 3 4", "float[2,2] 1 2 3 4");
  op_gives("Pack[N=2, T=float, axis=1]", "float[2] 1 2; float[2] 3 4", "float[2,2] 1 3 2 4");
  op_gives("Pack[N=3, T=int32, axis=-1]", "int32[1,2] 1 2; int32[1,2] 3 4; int32[1,2] 5 6",
           "int32[1,2,3] 1 3 5 2 4 6");
  op_gives("Pack[N=3, T=int32]", "int32[] 1; int32[] 2; int32[] 3", "int32[3] 1 2 3");
  op_gives("Pack[N=1, T=float, axis=-2]", "float[2] 1 2", "float[1,2] 1 2");
  op_gives("Pack[N=2, T=string]", "string[] a; string[] b", "string[2] a b");
  op_gives("Pack[N=2, T=float]", "float[0]; float[0]", "float[2,0]");
}

TEST(pack_refuses_what_does_not_fit) {
  op_fails("Pack[N=2, T=float]", "float[2,3] 0; float[3] 0", CODE_INVALID_ARGUMENT,
           "Shapes of all inputs must match: values[0].shape = [2,3] != values[1].shape = [3]");
  op_fails("Pack[N=2, T=float, axis=4]", "float[2,3] 0; float[2,3] 0", CODE_INVALID_ARGUMENT,
           "axis = 4 not in [-3, 3)");
}

TEST(unpack_takes_apart) {
  op_gives("Unpack[num=2, T=float]", "float[2,2] 1 2 3 4", "float[2] 1 2; float[2] 3 4");
  op_gives("Unpack[num=3, T=int64, axis=-1]", "int64[2,3] 1 2 3 4 5 6",
           "int64[2] 1 4; int64[2] 2 5; int64[2] 3 6");
  op_gives("Unpack[num=2, T=int16, axis=1]", "int16[2,2,2] 1 2 3 4 5 6 7 8",
           "int16[2,2] 1 2 5 6; int16[2,2] 3 4 7 8");
  op_gives("Unpack[num=2, T=string]", "string[2] a b", "string[] a; string[] b");
  op_gives("Unpack[num=2, T=float]", "float[2,0]", "float[0]; float[0]");
  op_gives("Unpack[num=0, T=float]", "float[0,2]", "");
  op_fails("Unpack[num=3, T=float]", "float[2,3] 0", CODE_INVALID_ARGUMENT,
           "Input shape axis 0 must equal 3, got shape [2,3]");
  op_fails("Unpack[num=3, T=float, axis=5]", "float[2,3] 0", CODE_INVALID_ARGUMENT,
           "axis = 5 not in [-2, 2)");
  op_fails("Unpack[num=1, T=float]", "float[] 0", CODE_INVALID_ARGUMENT, "axis = 0 not in [0, 0)");
}

GRADIENT_CASES(pack, {"Pack[N=2, T=double]", "double[2] 1 2; double[2] 3 4"},
               {"Pack[N=3, T=double, axis=-1]", "double[2] 1 2; double[2] 3 4; double[2] 5 6"},
               {"Pack[N=2, T=double, axis=1]", "double[2,3] 1 2 3 4 5 6; double[2,3] 6 5 4 3 2 1"},
               {"Pack[N=1, T=double]", "double[] 1"}, {"Unpack[num=2, T=double]", "double[2,2] 1 2 3 4"},
               {"Unpack[num=2, T=double, axis=1]", "double[3,2] 1 2 3 4 5 6"},
               {"Unpack[num=1, T=double, axis=-2]", "double[2,1,2] 1 2 3 4"})
