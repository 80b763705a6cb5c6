/* CheckNumerics and Bitcast. */
#include "gradient_cases.h"
#include "harness.h"
#include "op_runner.h"

TEST(check_numerics_passes_finite_numbers_on) {
  op_gives("CheckNumerics[T=float, message=x]", "float[3] 1 -2 3e38", "float[3] 1 -2 3e38");
  op_gives("CheckNumerics[T=bfloat16, message=x]", "bfloat16[0]", "bfloat16[0]");
  op_fails("CheckNumerics[T=float, message=here]", "float[2] 1 nan", CODE_INVALID_ARGUMENT,
           "here : Tensor had NaN values");
  op_fails("CheckNumerics[T=double, message=here]", "double[2] 1 inf", CODE_INVALID_ARGUMENT,
           "here : Tensor had Inf values");
  op_fails("CheckNumerics[T=half, message=here]", "half[2] nan -inf", CODE_INVALID_ARGUMENT,
           "here : Tensor had Inf and NaN values");
}

TEST(bitcast_keeps_the_bytes) {
  op_gives("Bitcast[T=float, type=int32]", "float[2] 1 -2", "int32[2] 1065353216 -1073741824");
  op_gives("Bitcast[T=int32, type=uint8]", "int32[1] 67305985", "uint8[1,4] 1 2 3 4");
  op_gives("Bitcast[T=uint8, type=int32]", "uint8[1,4] 1 2 3 4", "int32[1] 67305985");
  op_gives("Bitcast[T=double, type=complex64]", "double[] 0", "complex64[] 0");
  op_fails("Bitcast[T=float, type=int64]", "float[3] 0", CODE_INVALID_ARGUMENT, "Cannot bitcast from 1 to 9");
  op_fails("Bitcast[T=float, type=int64]", "float[] 0", CODE_INVALID_ARGUMENT, "Cannot bitcast from 1 to 9");
}

GRADIENT_CASES(check_numerics, {"CheckNumerics[T=double, message=x]", "double[2] 1 2"},
               {"CheckNumerics[T=double, message=x]", "double[1,2] 1 2"},
               {"CheckNumerics[T=double, message=x]", "double[] 1"})
