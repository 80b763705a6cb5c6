/* ConcatV2, Concat and ConcatOffset. */
#include "blas/fake_parallel.h"
#include "gradient_cases.h"
#include "harness.h"
#include "op_runner.h"

TEST(concat_joins_along_an_axis) {
  op_gives("ConcatV2[N=2, T=float]", "float[1,2] 1 2; float[2,2] 3 4 5 6; int32[] 0",
           "float[3,2] 1 2 3 4 5 6");
  op_gives("ConcatV2[N=2, T=float]", "float[2,1] 1 2; float[2,2] 3 4 5 6; int32[] -1",
           "float[2,3] 1 3 4 2 5 6");
  op_gives("ConcatV2[N=3, T=int8, Tidx=int64]", "int8[1] 1; int8[0]; int8[2] 2 3; int64[] 0",
           "int8[3] 1 2 3");
  op_gives("ConcatV2[N=2, T=string]", "string[1] a; string[1] b; int32[] 0", "string[2] a b");
  op_gives("ConcatV2[N=2, T=double]", "double[2,0]; double[2,0]; int32[] 1", "double[2,0]");
  op_gives("Concat[N=2, T=float]", "int32[] 1; float[2,1] 1 2; float[2,1] 3 4", "float[2,2] 1 3 2 4");
  op_gives("ConcatV2[N=2, T=int32]", "int32[2,1,2] 1 2 3 4; int32[2,2,2] 5 6 7 8 9 10 11 12; int32[] 1",
           "int32[2,3,2] 1 2 5 6 7 8 3 4 9 10 11 12");
}

TEST(concat_refuses_what_does_not_fit) {
  op_fails("ConcatV2[N=2, T=float]", "float[2,2] 0; float[3,3] 0; int32[] 0", CODE_INVALID_ARGUMENT,
           "ConcatOp : Dimensions of inputs should match: shape[0] = [2,2] vs. shape[1] = [3,3]");
  op_fails("ConcatV2[N=2, T=float]", "float[2,2] 0; float[3,3] 0; int32[] 5", CODE_INVALID_ARGUMENT,
           "ConcatOp : Expected concatenating dimensions in the range [-2, 2), but got 5");
  op_fails("ConcatV2[N=2, T=float, Tidx=int64]", "float[2,2] 0; float[2,2] 0; int64[] -9223372036854775808",
           CODE_INVALID_ARGUMENT, "in the range [-2, 2), but got -9223372036854775808");
  op_fails("ConcatV2[N=2, T=float]", "float[2,3] 0; float[3] 0; int32[] 0", CODE_INVALID_ARGUMENT,
           "ConcatOp : Ranks of all input tensors should match: shape[0] = [2,3] vs. shape[1] = [3]");
  op_fails("ConcatV2[N=2, T=float]", "float[] 0; float[] 0; int32[] 0", CODE_INVALID_ARGUMENT,
           "Can't concatenate scalars");
  op_fails("ConcatV2[N=2, T=float]", "float[1] 0; float[1] 0; int32[2] 0", CODE_INVALID_ARGUMENT,
           "axis tensor should be a scalar integer, but got shape [2]");
  op_fails("Concat[N=2, T=float]", "int32[2] 0; float[1] 0; float[1] 0", CODE_INVALID_ARGUMENT,
           "concat_dim tensor should be a scalar");
  op_fails("ConcatV2[N=2, T=float]", "float[0,9223372036854775807]; float[0,9223372036854775807]; int32[] 1",
           CODE_INVALID_ARGUMENT, "2**63 - 1");
}

TEST(concat_of_large_inputs_with_any_split) {
  Status status;
  status_init(&status);
  OpRun run;
  int64_t calls = 0, dims[2][2] = {{400, 300}, {400, 501}};
  Parallel parallel = {fake_parallel_run, &calls, 4};
  if (CHECK_OK(op_run_begin(&run, "ConcatV2[N=2, T=int32]", &status), status)) {
    for (int k = 0; k < 2; k++) {
      Tensor *x = op_run_input(&run, DT_INT32, 2, dims[k]);
      for (int64_t i = 0; i < tensor_num_elements(x); i++) {
        tensor_i32(x)[i] = (int32_t)(i / dims[k][1] * 10000 + k * 300 + i % dims[k][1]);
      }
    }
    tensor_put(op_run_input(&run, DT_INT32, 0, NULL), 0, 1);
    run.parallel = &parallel;
    if (CHECK_OK(op_run_compute(&run, &status), status)) {
      int64_t wrong = 0;
      for (int64_t i = 0; i < 400 * 801; i++)
        wrong += tensor_i32(&run.outputs[0])[i] != i / 801 * 10000 + i % 801;
      CHECK_INT_EQ(wrong, 0);
      CHECK(calls > 2);
    }
  }
  op_run_end(&run);
}

TEST(concat_offsets) {
  op_gives("ConcatOffset[N=3]", "int32[] 1; int32[3] 2 2 7; int32[3] 2 3 7; int32[3] 2 9 7",
           "int32[3] 0 0 0; int32[3] 0 2 0; int32[3] 0 5 0");
  op_gives("ConcatOffset[N=2]", "int32[] -1; int32[2] 2 3; int32[2] 2 4", "int32[2] 0 0; int32[2] 0 3");
  op_fails("ConcatOffset[N=2]", "int32[] 5; int32[2] 1 2; int32[2] 1 2", CODE_INVALID_ARGUMENT,
           "Concat dim is out of range: 5 vs. 2");
  op_fails("ConcatOffset[N=2]", "int32[] 0; int32[2] 1 2; int32[2] 1 3", CODE_INVALID_ARGUMENT,
           "All dimensions except 0 must match. Input 1 has shape [1 3] and doesn't match input 0 with shape "
           "[1 2].");
  op_fails("ConcatOffset[N=2]", "int32[] 0; int32[2] 1 2; int32[1] 1", CODE_INVALID_ARGUMENT,
           "input 1 should contain 2 elements, but got 1");
  op_fails("ConcatOffset[N=2]", "int32[] 0; int32[1] 1; int32[] 1", CODE_INVALID_ARGUMENT,
           "input 2 should be a vector, but got shape []");
  op_fails("ConcatOffset[N=3]", "int32[] 0; int32[1] 2147483647; int32[1] 2147483647; int32[1] 1",
           CODE_INVALID_ARGUMENT, "does not fit int32");
}

GRADIENT_CASES(concat, {"ConcatV2[N=2, T=double]", "double[2,1] 1 2; double[2,3] 3 4 5 6 7 8; int32[] 1"},
               {"ConcatV2[N=3, T=double, Tidx=int64]",
                "double[1,2] 1 2; double[2,2] 3 4 5 6; double[1,2] 7 8; int64[] -2"},
               {"ConcatV2[N=2, T=double]", "double[0,2]; double[1,2] 1 2; int32[] 0"},
               {"Concat[N=2, T=double]", "int32[] 0; double[1] 1; double[2] 2 3"},
               {"Concat[N=2, T=double]", "int32[] 1; double[2,2] 1 2 3 4; double[2,1] 5 6"},
               {"Concat[N=3, T=double]",
                "int32[] 2; double[1,2,1] 1 2; double[1,2,1] 3 4; double[1,2,2] 5 6 7 8"})
