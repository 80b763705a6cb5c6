/* Roll. */
#include "gradient_cases.h"
#include "harness.h"
#include "op_runner.h"

TEST(roll_shifts_along_axes) {
  op_gives("Roll[T=float, Tshift=int32, Taxis=int32]", "float[4] 1 2 3 4; int32[] 1; int32[] 0",
           "float[4] 4 1 2 3");
  op_gives("Roll[T=int32, Tshift=int64, Taxis=int64]", "int32[2,3] 1 2 3 4 5 6; int64[2] 1 -1; int64[2] 0 -1",
           "int32[2,3] 5 6 4 2 3 1");
  op_gives("Roll[T=string, Tshift=int32, Taxis=int32]", "string[3] a b c; int32[2] 4 -2; int32[2] 0 0",
           "string[3] b c a");
  op_gives("Roll[T=half, Tshift=int32, Taxis=int32]",
           "half[2,2,2] 1 2 3 4 5 6 7 8; int32[3] 1; int32[3] 0 1 2", "half[2,2,2] 8 7 6 5 4 3 2 1");
  op_gives("Roll[T=bool, Tshift=int64, Taxis=int32]",
           "bool[2] true false; int64[1] -9223372036854775808; int32[1] 0", "bool[2] true false");
  op_gives("Roll[T=float, Tshift=int32, Taxis=int32]", "float[0,2]; int32[1] 1; int32[1] 0", "float[0,2]");
}

TEST(roll_refuses_what_does_not_fit) {
  const char *op = "Roll[T=float, Tshift=int32, Taxis=int32]";
  op_fails(op, "float[3] 0; int32[1] 1; int32[1] 1", CODE_INVALID_ARGUMENT, "axis 1 is out of range");
  op_fails(op, "float[3] 0; int32[1] 1; int32[1] -2", CODE_INVALID_ARGUMENT, "axis -1 is out of range");
  op_fails(op, "float[3] 0; int32[2] 1; int32[1] 0", CODE_INVALID_ARGUMENT,
           "shift and axis must have the same size");
  op_fails(op, "float[] 0; int32[1] 1; int32[1] 0", CODE_INVALID_ARGUMENT, "input must be 1-D or higher");
  op_fails(op, "float[3] 0; int32[1,1] 1; int32[1] 0", CODE_INVALID_ARGUMENT,
           "shift must be a scalar or a 1-D vector. Found: [1,1]");
  op_fails(op, "float[3] 0; int32[1] 1; int32[1,1] 0", CODE_INVALID_ARGUMENT,
           "axis must be a scalar or a 1-D vector. Found: [1,1]");
}

GRADIENT_CASES(roll, {"Roll[T=double, Tshift=int32, Taxis=int32]", "double[4] 1 2 3 4; int32[] 1; int32[] 0"},
               {"Roll[T=double, Tshift=int64, Taxis=int32]",
                "double[2,3] 1 2 3 4 5 6; int64[2] 1 -1; int32[2] 0 -1"},
               {"Roll[T=complex128, Tshift=int32, Taxis=int64]",
                "complex128[1,2,1] 1+1i 2; int32[1] 3; int64[1] 1"})
