/* Fill. */
#include "blas/fake_parallel.h"
#include "gradient_cases.h"
#include "harness.h"
#include "op_runner.h"

TEST(fill_repeats_a_value) {
  op_gives("Fill[T=float]", "int32[2] 2 3; float[] 1.5", "float[2,3] 1.5");
  op_gives("Fill[T=int64, index_type=int64]", "int64[1] 5; int64[] -7", "int64[5] -7");
  op_gives("Fill[T=bool]", "int32[1] 3; bool[] true", "bool[3] true");
  op_gives("Fill[T=half]", "int32[1] 3; half[] 0.5", "half[3] 0.5");
  op_gives("Fill[T=string]", "int32[2] 1 2; string[] word", "string[1,2] word");
  op_gives("Fill[T=double]", "int32[0]; double[] 3", "double[] 3");
  op_gives("Fill[T=double]", "int32[2] 3 0; double[] 3", "double[3,0]");
}

TEST(fill_refuses_wrong_sizes) {
  op_fails("Fill[T=float]", "int32[2] 2 -3; float[] 0", CODE_INVALID_ARGUMENT, "Dimension -3 must be >= 0");
  op_fails("Fill[T=float]", "int32[1,1] 2; float[] 0", CODE_INVALID_ARGUMENT,
           "dims must represent a vector, got shape [1,1]");
  op_fails("Fill[T=float]", "int32[1] 2; float[1] 0", CODE_INVALID_ARGUMENT,
           "value must represent a scalar, got shape [1]");
  op_fails("Fill[T=float, index_type=int64]", "int64[2] 9223372036854775807 2; float[] 0",
           CODE_INVALID_ARGUMENT, "2**63 - 1");
  op_fails("Fill[T=float, index_type=int64]", "int64[1] 9223372036854775807; float[] 0",
           CODE_INVALID_ARGUMENT, "2**63 - 1 bytes");
  op_fails("Fill[T=float, index_type=int64]", "int64[1] 1152921504606846976; float[] 0",
           CODE_RESOURCE_EXHAUSTED,
           "OOM when allocating tensor with shape[1152921504606846976] and type float");
}

TEST(fill_writes_every_element_with_any_split) {
  Status status;
  status_init(&status);
  OpRun run;
  int64_t calls = 0;
  Parallel parallel = {fake_parallel_run, &calls, 4};
  if (CHECK_OK(op_run_begin(&run, "Fill[T=int32]", &status), status) &&
      CHECK_OK(op_run_inputs(&run, "int32[2] 700 501; int32[] 9", &status), status)) {
    run.parallel = &parallel;
    if (CHECK_OK(op_run_compute(&run, &status), status)) {
      int64_t wrong = 0;
      for (int64_t i = 0; i < 700 * 501; i++) wrong += tensor_i32(&run.outputs[0])[i] != 9;
      CHECK_INT_EQ(wrong, 0);
      CHECK(calls > 1);
    }
  }
  op_run_end(&run);
}

GRADIENT_CASES(fill, {"Fill[T=double]", "int32[2] 2 3; double[] 1.5"},
               {"Fill[T=double, index_type=int64]", "int64[0]; double[] 1.5"},
               {"Fill[T=double]", "int32[1] 4; double[] -2"},
               {"Fill[T=double]", "int32[3] 2 0 1; double[] 3"})
