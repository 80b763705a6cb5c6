/* Gather, GatherV2, GatherNd. */
#include "blas/fake_parallel.h"
#include "gradient_cases.h"
#include "harness.h"
#include "op_runner.h"

TEST(gather_takes_slices) {
  op_gives("Gather[Tparams=float, Tindices=int32]", "float[3] 1 2 3; int32[4] 2 0 0 1", "float[4] 3 1 1 2");
  op_gives("Gather[Tparams=int32, Tindices=int64]", "int32[2,2] 1 2 3 4; int64[] 1", "int32[2] 3 4");
  op_gives("Gather[Tparams=string, Tindices=int32]", "string[2] a b; int32[1,2] 1 0", "string[1,2] b a");
  op_gives("GatherV2[Tparams=float, Tindices=int32, Taxis=int32]",
           "float[2,3] 1 2 3 4 5 6; int32[2] 2 0; int32[] 1", "float[2,2] 3 1 6 4");
  op_gives("GatherV2[Tparams=double, Tindices=int32, Taxis=int64]",
           "double[2,2,2] 1 2 3 4 5 6 7 8; int32[1,2] 1 1; int64[] -2", "double[2,1,2,2] 3 4 3 4 7 8 7 8");
  op_gives("GatherV2[batch_dims=1, Tparams=int8, Tindices=int32, Taxis=int32]",
           "int8[2,3] 1 2 3 4 5 6; int32[2,2] 0 2 1 1; int32[] 1", "int8[2,2] 1 3 5 5");
  op_gives("GatherV2[batch_dims=-1, Tparams=bool, Tindices=int64, Taxis=int32]",
           "bool[2,1,2] true false false true; int64[2,1] 1 0; int32[] 2", "bool[2,1,1] false");
  op_gives("GatherV2[Tparams=complex128, Tindices=int32, Taxis=int32]",
           "complex128[2] 1+1i 2; int32[1] 1; int32[] 0", "complex128[1] 2");
  op_gives("GatherV2[Tparams=float, Tindices=int32, Taxis=int32]", "float[0,2]; int32[0]; int32[] 0",
           "float[0,2]");
  op_gives("GatherV2[Tparams=half, Tindices=int32, Taxis=int32]", "half[2,0]; int32[3] 1; int32[] 0",
           "half[3,0]");
}

TEST(gather_refuses_what_is_not_there) {
  const char *op = "GatherV2[Tparams=float, Tindices=int32, Taxis=int32]";
  op_fails(op, "float[5] 0; int32[3] 0 1 99; int32[] 0", CODE_INVALID_ARGUMENT,
           "indices[2] = 99 is not in [0, 5)");
  op_fails(op, "float[5,2] 0; int32[2,2] 0 1 -1 3; int32[] 1", CODE_INVALID_ARGUMENT,
           "indices[1,0] = -1 is not in [0, 2)");
  op_fails(op, "float[] 0; int32[2] 0; int32[] 0", CODE_INVALID_ARGUMENT,
           "params must be at least 1 dimensional");
  op_fails(op, "float[5] 0; int32[2] 0; int32[1] 0", CODE_INVALID_ARGUMENT, "axis must be scalar");
  op_fails(op, "float[5] 0; int32[2] 0; int32[] 1", CODE_INVALID_ARGUMENT,
           "Expected axis in the range [-1, 1), but got 1");
  op_fails("GatherV2[batch_dims=2, Tparams=float, Tindices=int32, Taxis=int32]",
           "float[5,2] 0; int32[2] 0; int32[] 0", CODE_INVALID_ARGUMENT,
           "Expected batch_dims in the range [-1, 1], but got 2");
  op_fails("GatherV2[batch_dims=1, Tparams=float, Tindices=int32, Taxis=int32]",
           "float[5,2] 0; int32[2] 0; int32[] 0", CODE_INVALID_ARGUMENT,
           "batch_dims (1) must be less than or equal to axis (0).");
  op_fails("GatherV2[batch_dims=1, Tparams=float, Tindices=int32, Taxis=int32]",
           "float[5,2] 0; int32[2] 0; int32[] 1", CODE_INVALID_ARGUMENT,
           "params.shape[0]: 5 should be equal to indices.shape[0]: 2");
  op_fails("GatherV2[batch_dims=2, Tparams=float, Tindices=int32, Taxis=int32]",
           "float[5] 0; int32[1,2] 0; int32[] 0", CODE_INVALID_ARGUMENT,
           "batch_dims (2) must be less than rank(params) (1).");
  op_fails("Gather[Tparams=float, Tindices=int64]", "float[2] 0; int64[] 2", CODE_INVALID_ARGUMENT,
           "indices = 2 is not in [0, 2)");
}

TEST(gather_of_many_rows_with_any_split) {
  Status status;
  status_init(&status);
  OpRun run;
  int64_t calls = 0, dims[2] = {500, 7}, count = 90000;
  Parallel parallel = {fake_parallel_run, &calls, 4};
  if (CHECK_OK(op_run_begin(&run, "Gather[Tparams=int32, Tindices=int32]", &status), status)) {
    Tensor *params = op_run_input(&run, DT_INT32, 2, dims),
           *indices = op_run_input(&run, DT_INT32, 1, &count);
    for (int i = 0; i < 3500; i++) tensor_i32(params)[i] = i;
    for (int i = 0; i < count; i++) tensor_i32(indices)[i] = (int32_t)(i * 17L % 500);
    run.parallel = &parallel;
    if (CHECK_OK(op_run_compute(&run, &status), status)) {
      int64_t wrong = 0;
      for (int64_t i = 0; i < count * 7; i++) {
        wrong += tensor_i32(&run.outputs[0])[i] != i / 7 * 17 % 500 * 7 + i % 7;
      }
      CHECK_INT_EQ(wrong, 0);
      CHECK(calls > 2);
    }
  }
  op_run_end(&run);
}

TEST(gather_nd_takes_slices_at_indices_of_several_axes) {
  op_gives("GatherNd[Tparams=float, Tindices=int32]", "float[2,2] 1 2 3 4; int32[3,2] 0 1 1 1 0 0",
           "float[3] 2 4 1");
  op_gives("GatherNd[Tparams=int64, Tindices=int64]", "int64[2,2] 1 2 3 4; int64[1,1,1] 1",
           "int64[1,1,2] 3 4");
  op_gives("GatherNd[Tparams=string, Tindices=int32]", "string[2] a b; int32[1] 1", "string[] b");
  op_gives("GatherNd[Tparams=half, Tindices=int32]", "half[2] 1 2; int32[2,0]", "half[2,2] 1 2 1 2");
  op_gives("GatherNd[Tparams=float, Tindices=int32]", "float[0,2]; int32[0,1]", "float[0,2]");
}

TEST(gather_nd_refuses_what_is_not_there) {
  const char *op = "GatherNd[Tparams=float, Tindices=int32]";
  op_fails(op, "float[2,3] 0; int32[1,2,2] 0 0 0 3", CODE_INVALID_ARGUMENT,
           "indices[0,1] = [0, 3] does not index into param shape [2,3]");
  op_fails(op, "float[2] 0; int32[1,2] 0", CODE_INVALID_ARGUMENT,
           "index innermost dimension length must be <= params rank; saw: 2 vs. 1");
  op_fails(op, "float[] 0; int32[1,1] 0", CODE_INVALID_ARGUMENT, "params must be at least a vector");
  op_fails(op, "float[2] 0; int32[] 0", CODE_INVALID_ARGUMENT, "indices must be at least a vector");
  op_fails(op, "float[0,3]; int32[1,1] 0", CODE_INVALID_ARGUMENT,
           "Requested more than 0 entries, but params is empty.  Params shape: [0,3]");
  op_fails("GatherNd[Tparams=float, Tindices=int64]", "float[2] 0; int64[1,1] -9223372036854775808",
           CODE_INVALID_ARGUMENT, "indices[0] = [-9223372036854775808] does not index into param shape [2]");
}

GRADIENT_CASES(gather, {"Gather[Tparams=double, Tindices=int32]", "double[3] 1 2 3; int32[4] 2 0 0 1"},
               {"Gather[Tparams=double, Tindices=int64]", "double[2,2] 1 2 3 4; int64[] 1"},
               {"Gather[Tparams=complex128, Tindices=int32]", "complex128[2,1] 1+1i 2; int32[1,2] 1 1"},
               {"GatherV2[Tparams=double, Tindices=int32, Taxis=int32]",
                "double[3,2] 1 2 3 4 5 6; int32[3] 2 0 2; int32[] 0"},
               {"GatherV2[Tparams=double, Tindices=int64, Taxis=int32]",
                "double[2,2,2] 1 2 3 4 5 6 7 8; int64[1,2] 1 1; int32[] -2"},
               {"GatherV2[batch_dims=1, Tparams=double, Tindices=int32, Taxis=int64]",
                "double[2,2,3] 1 2 3 4 5 6 7 8 9 10 11 12; int32[2,2] 0 2 1 1; int64[] 2"},
               {"GatherV2[batch_dims=-1, Tparams=double, Tindices=int32, Taxis=int32]",
                "double[2,3] 1 2 3 4 5 6; int32[2,1] 0 2; int32[] -1"},
               {"GatherV2[Tparams=complex128, Tindices=int32, Taxis=int32]",
                "complex128[2] 1+1i 2; int32[] 1; int32[] 0"},
               {"GatherV2[Tparams=double, Tindices=int32, Taxis=int32]",
                "double[2,1] 1 2; int32[0]; int32[] 0"},
               {"GatherNd[Tparams=double, Tindices=int32]", "double[2,2] 1 2 3 4; int32[3,2] 0 1 1 1 0 1"},
               {"GatherNd[Tparams=double, Tindices=int64]", "double[2,2] 1 2 3 4; int64[1,1,1] 1"},
               {"GatherNd[Tparams=double, Tindices=int32]", "double[2] 1 2; int32[2,0]"},
               {"GatherNd[Tparams=complex128, Tindices=int32]", "complex128[2] 1 2-1i; int32[1] 1"})
