/* Empty, DeepCopy and GuaranteeConst. */
#include "harness.h"
#include "op_runner.h"

TEST(empty_makes_a_tensor) {
  op_gives("Empty[dtype=float, init=true]", "int32[2] 2 1", "float[2,1] 0");
  op_gives("Empty[dtype=int64]", "int32[0]", "int64[] 0");
  op_fails("Empty[dtype=float]", "int32[1,1] 2", CODE_INVALID_ARGUMENT,
           "shape must be a vector of int32, got shape [1,1]");
  op_fails("Empty[dtype=float]", "int32[1] -2", CODE_INVALID_ARGUMENT, "must be >= 0");
}

TEST(deep_copy_has_memory_of_its_own) {
  Status status;
  status_init(&status);
  OpRun run;
  if (CHECK_OK(op_run_begin(&run, "DeepCopy[T=int32]", &status), status) &&
      CHECK_OK(op_run_inputs(&run, "int32[2] 1 2", &status), status) &&
      CHECK_OK(op_run_compute(&run, &status), status)) {
    CHECK(run.outputs[0].data != run.inputs[0].data);
    CHECK_INT_EQ(tensor_i32(&run.outputs[0])[1], 2);
  }
  op_run_end(&run);
  op_gives("DeepCopy[T=string]", "string[2] a b", "string[2] a b");
  op_gives("GuaranteeConst[T=half]", "half[2] 1 2", "half[2] 1 2");
}
