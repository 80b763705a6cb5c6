/* EnsureShape. */
#include "gradient_cases.h"
#include "harness.h"
#include "op_runner.h"

TEST(ensure_shape_checks_what_is_known) {
  op_gives("EnsureShape[shape=[2], T=float]", "float[2] 1 2", "float[2] 1 2");
  op_gives("EnsureShape[shape=[-1, 1], T=string]", "string[2,1] a b", "string[2,1] a b");
  op_gives("EnsureShape[shape=[], T=int32]", "int32[] 1", "int32[] 1");
  op_fails("EnsureShape[shape=[4], T=float]", "float[3] 0", CODE_INVALID_ARGUMENT,
           "[3] is not compatible with expected shape [4].");
  op_fails("EnsureShape[shape=[-1, 3], T=float]", "float[1,2] 0", CODE_INVALID_ARGUMENT,
           "[1,2] is not compatible with expected shape [?,3].");
  op_fails("EnsureShape[shape=[-1], T=float]", "float[1,2] 0", CODE_INVALID_ARGUMENT,
           "[1,2] is not compatible with expected shape [?].");
}

GRADIENT_CASES(ensure_shape, {"EnsureShape[shape=[2], T=double]", "double[2] 1 2"},
               {"EnsureShape[shape=[-1, 1], T=double]", "double[2,1] 1 2"},
               {"EnsureShape[shape=[1, -1], T=complex128]", "complex128[1,2] 1+1i 2"})
