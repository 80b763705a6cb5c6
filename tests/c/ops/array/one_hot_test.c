/* OneHot and Where. */
#include "blas/fake_parallel.h"
#include "harness.h"
#include "op_runner.h"

TEST(one_hot_is_on_at_the_index) {
  op_gives("OneHot[T=float]", "int64[3] 0 2 -1; int32[] 3; float[] 5; float[] 1",
           "float[3,3] 5 1 1 1 1 5 1 1 1");
  op_gives("OneHot[axis=0, T=int32, TI=int32]", "int32[2] 1 0; int32[] 3; int32[] 1; int32[] 0",
           "int32[3,2] 0 1 1 0 0 0");
  op_gives("OneHot[axis=1, T=bool, TI=uint8]", "uint8[2,2] 0 1 1 255; int32[] 2; bool[] true; bool[] false",
           "bool[2,2,2] true false false true false false true false");
  op_gives("OneHot[T=string]", "int64[] 1; int32[] 2; string[] on; string[] off", "string[2] off on");
  op_gives("OneHot[T=complex128]", "int64[1] 0; int32[] 1; complex128[] 1+1i; complex128[] 0",
           "complex128[1,1] 1+1i");
  op_gives("OneHot[T=half]", "int64[2] 0; int32[] 0; half[] 1; half[] 0", "half[2,0]");
}

TEST(one_hot_refuses_what_does_not_fit) {
  op_fails("OneHot[axis=2, T=float]", "int64[1] 0; int32[] 2; float[] 1; float[] 0", CODE_INVALID_ARGUMENT,
           "Expected axis to be -1 or between [0, 2).  But received: 2");
  op_fails("OneHot[axis=-2, T=float]", "int64[1] 0; int32[] 2; float[] 1; float[] 0", CODE_INVALID_ARGUMENT,
           "Expected axis to be -1 or between [0, 2).  But received: -2");
  op_fails("OneHot[T=float]", "int64[1] 0; int32[] -1; float[] 1; float[] 0", CODE_INVALID_ARGUMENT,
           "depth must be non-negative, got: -1");
  op_fails("OneHot[T=float]", "int64[1] 0; int32[2] 1; float[] 1; float[] 0", CODE_INVALID_ARGUMENT,
           "depth must be a scalar, but got: [2]");
  op_fails("OneHot[T=float]", "int64[1] 0; int32[] 1; float[2] 1; float[] 0", CODE_INVALID_ARGUMENT,
           "on_value must be a scalar, but got: [2]");
  op_fails("OneHot[T=float]", "int64[1] 0; int32[] 1; float[] 1; float[1] 0", CODE_INVALID_ARGUMENT,
           "off_value must be a scalar, but got: [1]");
}

TEST(one_hot_of_many_indices_with_any_split) {
  Status status;
  status_init(&status);
  OpRun run;
  int64_t calls = 0, count = 70000;
  Parallel parallel = {fake_parallel_run, &calls, 4};
  if (CHECK_OK(op_run_begin(&run, "OneHot[T=int32, TI=int32]", &status), status)) {
    Tensor *indices = op_run_input(&run, DT_INT32, 1, &count);
    for (int i = 0; i < count; i++) tensor_i32(indices)[i] = i % 6 - 1;
    for (int i = 0; i < 3; i++) tensor_put(op_run_input(&run, DT_INT32, 0, NULL), 0, i == 0 ? 4 : 2 - i);
    run.parallel = &parallel;
    if (CHECK_OK(op_run_compute(&run, &status), status)) {
      int64_t wrong = 0;
      for (int64_t i = 0; i < count * 4; i++)
        wrong += tensor_i32(&run.outputs[0])[i] != (i % 4 == i / 4 % 6 - 1);
      CHECK_INT_EQ(wrong, 0);
      CHECK(calls > 1);
    }
  }
  op_run_end(&run);
}

TEST(where_lists_what_is_set) {
  op_gives("Where", "bool[4] false true false true", "int64[2,1] 1 3");
  op_gives("Where[T=float]", "float[2,3] 0 1 nan -0 0 -2", "int64[3,2] 0 1 0 2 1 2");
  op_gives("Where[T=complex64]", "complex64[1,2,2] 0 0+1i 0 0", "int64[1,3] 0 0 1");
  op_gives("Where[T=half]", "half[3] 0 -0 1", "int64[1,1] 2");
  op_gives("Where[T=uint64]", "uint64[1,1] 7", "int64[1,2] 0 0");
  op_gives("Where", "bool[0,2]", "int64[0,2]");
  op_gives("Where", "bool[2] false", "int64[0,1]");
  op_fails("Where", "bool[] true", CODE_INVALID_ARGUMENT, "WhereOp : Unhandled input dimensions: 0");
  op_fails("Where", "bool[1,1,1,1,1,1,1,1,1] true", CODE_INVALID_ARGUMENT,
           "WhereOp : Unhandled input dimensions: 9");
}
