/* Unique and ListDiff. */
#include "harness.h"
#include "op_runner.h"

TEST(unique_finds_different_elements) {
  op_gives("Unique[T=int32]", "int32[6] 5 3 5 5 1 3", "int32[3] 5 3 1; int32[6] 0 1 0 0 2 1");
  op_gives("Unique[T=string, out_idx=int64]", "string[3] a b a", "string[2] a b; int64[3] 0 1 0");
  op_gives("Unique[T=float]", "float[4] nan nan 0 -0", "float[3] nan nan 0; int32[4] 0 1 2 2");
  op_gives("Unique[T=half]", "half[3] -0 1 0", "half[2] -0 1; int32[3] 0 1 0");
  op_gives("Unique[T=bool]", "bool[0]", "bool[0]; int32[0]");
  op_fails("Unique[T=float]", "float[3,2] 0", CODE_INVALID_ARGUMENT, "unique expects a 1D vector.");
}

TEST(unique_of_many_elements) {
  Status status;
  status_init(&status);
  OpRun run;
  int64_t count = 20000;
  if (CHECK_OK(op_run_begin(&run, "Unique[T=int64]", &status), status)) {
    Tensor *x = op_run_input(&run, DT_INT64, 1, &count);
    for (int64_t i = 0; i < count; i++) tensor_i64(x)[i] = (i * 7919 % 5003) << 40;
    if (CHECK_OK(op_run_compute(&run, &status), status)) {
      int64_t wrong = 0;
      CHECK_INT_EQ(tensor_num_elements(&run.outputs[0]), 5003);
      for (int64_t i = 0; i < count; i++) {
        wrong += tensor_i32(&run.outputs[1])[i] != i % 5003;
        wrong += tensor_i64(&run.outputs[0])[i % 5003] != tensor_i64(x)[i];
      }
      CHECK_INT_EQ(wrong, 0);
    }
  }
  op_run_end(&run);
}

TEST(list_diff_leaves_out_what_the_other_has) {
  op_gives("ListDiff[T=int32]", "int32[4] 1 2 3 2; int32[1] 2", "int32[2] 1 3; int32[2] 0 2");
  op_gives("ListDiff[T=string, out_idx=int64]", "string[3] a b a; string[2] b c",
           "string[2] a a; int64[2] 0 2");
  op_gives("ListDiff[T=float]", "float[2] nan 0; float[2] nan -0", "float[1] nan; int32[1] 0");
  op_gives("ListDiff[T=uint8]", "uint8[0]; uint8[1] 1", "uint8[0]; int32[0]");
  op_fails("ListDiff[T=float]", "float[3,2] 0; float[2] 0", CODE_INVALID_ARGUMENT,
           "x should be a 1D vector.");
  op_fails("ListDiff[T=float]", "float[3] 0; float[1,2] 0", CODE_INVALID_ARGUMENT,
           "y should be a 1D vector.");
}
