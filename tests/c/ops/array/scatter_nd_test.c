/* ScatterNd, ScatterNdNonAliasingAdd, TensorScatterUpdate, TensorScatterAdd, TensorScatterSub. */
#include "blas/fake_parallel.h"
#include "gradient_cases.h"
#include "harness.h"
#include "op_runner.h"

TEST(scatter_nd_adds_into_zeros) {
  op_gives("ScatterNd[T=float, Tindices=int32]", "int32[3,1] 1 3 1; float[3] 1 2 4; int32[1] 4",
           "float[4] 0 5 0 2");
  op_gives("ScatterNd[T=int32, Tindices=int64]", "int64[2,1] 2 0; int32[2,2] 1 2 3 4; int64[2] 3 2",
           "int32[3,2] 3 4 0 0 1 2");
  op_gives("ScatterNd[T=half, Tindices=int32]", "int32[1,2] 1 0; half[1] 2; int32[2] 2 2",
           "half[2,2] 0 0 2 0");
  op_gives("ScatterNd[T=complex64, Tindices=int32]", "int32[2,1] 0 0; complex64[2] 1 0+2i; int32[1] 2",
           "complex64[2] 1+2i 0");
  op_gives("ScatterNd[T=bool, Tindices=int32]", "int32[2,1] 0 0; bool[2] true; int32[1] 2",
           "bool[2] true false");
  op_gives("ScatterNd[T=uint8, Tindices=int32]", "int32[2,1] 0 0; uint8[2] 200 100; int32[1] 1",
           "uint8[1] 44");
  op_gives("ScatterNd[T=float, Tindices=int32]", "int32[0,1]; float[0]; int32[1] 0", "float[0]");
}

TEST(scatter_nd_refuses_what_does_not_fit) {
  const char *op = "ScatterNd[T=float, Tindices=int32]";
  op_fails(op, "int32[2,1] 0 5; float[2] 0; int32[1] 4", CODE_INVALID_ARGUMENT,
           "indices[1] = [5] does not index into shape [4]");
  op_fails(op, "int32[2,1] 0 1; float[3] 0; int32[1] 4", CODE_INVALID_ARGUMENT,
           "Dimensions [0,1) of indices[shape=[2,1]] must match dimensions [0,1) of updates[shape=[3]]");
  op_fails(op, "int32[2,1] 0 1; float[2,3] 0; int32[2] 4 2", CODE_INVALID_ARGUMENT,
           "Dimensions [1,2) of input[shape=[4,2]] must match dimensions [1,2) of updates[shape=[2,3]]");
  op_fails(op, "int32[1,2] 0 1; float[1] 0; int32[1] 4", CODE_INVALID_ARGUMENT,
           "Dimensions [2,1) of input[shape=[4]] must match dimensions [1,1) of updates[shape=[1]]");
  op_fails(op, "int32[1,1] 0; float[1] 0; int32[1,1] 4", CODE_INVALID_ARGUMENT, "Shape must be a vector");
  op_fails(op, "int32[1,1] 0; float[1] 0; int32[1] 0", CODE_INVALID_ARGUMENT,
           "Indices and updates specified for empty output.  indices shape: [1,1]");
  op_fails(op, "int32[1,1] 0; float[1] 0; int32[1] -1", CODE_INVALID_ARGUMENT, "must be >= 0");
  op_fails(op, "int32[] 0; float[1] 0; int32[1] 4", CODE_INVALID_ARGUMENT,
           "Indices shape must have rank at least one. Found:[]");
  op_fails(op, "int32[1,1] 0; float[] 0; int32[1] 4", CODE_INVALID_ARGUMENT,
           "Updates shape must have rank at least one. Found:[]");
  op_fails("ScatterNd[T=float, Tindices=int64]", "int64[1,1] 0; float[1] 0; int64[1] 9223372036854775807",
           CODE_INVALID_ARGUMENT, "");
}

TEST(scatter_nd_of_wide_rows_with_any_split) {
  Status status;
  status_init(&status);
  OpRun run;
  int64_t calls = 0, index_dims[2] = {50, 1}, update_dims[2] = {50, 4000}, two = 2;
  Parallel parallel = {fake_parallel_run, &calls, 4};
  if (CHECK_OK(op_run_begin(&run, "ScatterNd[T=int64, Tindices=int32]", &status), status)) {
    Tensor *indices = op_run_input(&run, DT_INT32, 2, index_dims),
           *updates = op_run_input(&run, DT_INT64, 2, update_dims);
    Tensor *shape = op_run_input(&run, DT_INT32, 1, &two);
    for (int i = 0; i < 50; i++) tensor_i32(indices)[i] = i % 3;
    for (int i = 0; i < 200000; i++) tensor_i64(updates)[i] = i;
    tensor_i32(shape)[0] = 3;
    tensor_i32(shape)[1] = 4000;
    run.parallel = &parallel;
    if (CHECK_OK(op_run_compute(&run, &status), status)) {
      int64_t wrong = 0;
      for (int row = 0; row < 3; row++) {
        int64_t rows = 0, numbers = 0;
        for (int i = row; i < 50; i += 3, rows++) numbers += i;
        for (int64_t k = 0; k < 4000; k++) {
          wrong += tensor_i64(&run.outputs[0])[row * 4000 + k] != numbers * 4000 + rows * k;
        }
      }
      CHECK_INT_EQ(wrong, 0);
      CHECK(calls > 1);
    }
  }
  op_run_end(&run);
}

#define EMPTY_OUTPUT "Indices and updates specified for empty output"
#define FIRST_AXIS \
  "Dimensions [0,1) of indices[shape=[1]] = 1 must match dimensions [0,1) of updates[shape=[3]] = 3"

TEST(scatters_refuse_indices_without_slices_to_write) {
  const char *op = "ScatterNd[T=float, Tindices=int32]";
  op_fails(op, "int32[1,1] 5; float[1,0]; int32[2] 3 0", CODE_INVALID_ARGUMENT, EMPTY_OUTPUT " shape");
  op_fails(op, "int32[2,0]; float[2,4] 1; int32[1] 4", CODE_INVALID_ARGUMENT, EMPTY_OUTPUT " shape");
  op_fails(op, "int32[1,1] 5; float[1,3] 1; int32[2] 0 3", CODE_INVALID_ARGUMENT,
           EMPTY_OUTPUT ".  indices shape: [1,1]");
  op_gives(op, "int32[2,0]; float[2,3,0]; int32[2] 3 0", "float[3,0]");
  op_fails("TensorScatterUpdate[T=float, Tindices=int32]", "float[3,0]; int32[1,1] 5; float[1,0]",
           CODE_INVALID_ARGUMENT, EMPTY_OUTPUT " shape");
  op_fails("ScatterNdNonAliasingAdd[T=float, Tindices=int32]", "float[3,0]; int32[1,1] 5; float[1,0]",
           CODE_INVALID_ARGUMENT, EMPTY_OUTPUT ".  indices shape: [1,1]");
  op_fails("GatherNd[Tparams=float, Tindices=int32]", "float[3,0]; int32[1,1] 5", CODE_INVALID_ARGUMENT,
           "Requested more than 0 entries, but params is empty.  Params shape: [3,0]");
  op_fails("GatherNd[Tparams=float, Tindices=int32]", "float[3,0]; int32[2,0]", CODE_INVALID_ARGUMENT,
           "params is empty");
  op_gives("GatherNd[Tparams=float, Tindices=int32]", "float[3,0]; int32[0,1]", "float[0,0]");
}

TEST(vectors_of_indices_are_no_single_index) {
  const char *op = "ScatterNd[T=float, Tindices=int32]";
  op_fails(op, "int32[1] 1; float[] 1; int32[1] 4", CODE_INVALID_ARGUMENT,
           "Updates shape must have rank at least one. Found:[]");
  op_fails(op, "int32[1] 1; float[1] 1; int32[1] 4", CODE_INVALID_ARGUMENT,
           "Dimensions [1,1) of input[shape=[4]] must match dimensions [0,1) of updates[shape=[1]]");
  op_fails(op, "int32[1] 1; float[3] 1; int32[2] 2 3", CODE_INVALID_ARGUMENT, FIRST_AXIS);
  op_gives(op, "int32[0]; float[0,3]; int32[2] 0 3", "float[0,3]");
  op_fails("TensorScatterUpdate[T=float, Tindices=int32]", "float[2,3] 0; int32[1] 1; float[3] 1",
           CODE_INVALID_ARGUMENT, FIRST_AXIS);
  /* TensorFlow reads the first index only. */
  op_gives("ScatterNdNonAliasingAdd[T=float, Tindices=int32]", "float[2,3] 0; int32[1] 1; float[1,3] 1",
           "float[2,3] 0 0 0 1 1 1");
  op_gives("ScatterNdNonAliasingAdd[T=float, Tindices=int32]", "float[4] 0; int32[2] 0 7; float[2] 1",
           "float[4] 1 0 0 0");
  op_fails("ScatterNdNonAliasingAdd[T=float, Tindices=int32]", "float[4] 0; int32[1] 5; float[1] 1",
           CODE_INVALID_ARGUMENT, "indices = [5] does not index into shape [4]");
}

TEST(tensor_scatter_changes_a_copy) {
  op_gives("TensorScatterUpdate[T=float, Tindices=int32]",
           "float[4] 1 2 3 4; int32[3,1] 1 3 1; float[3] 8 9 7", "float[4] 1 7 3 9");
  op_gives("TensorScatterUpdate[T=string, Tindices=int64]", "string[2] a b; int64[1,1] 0; string[1] c",
           "string[2] c b");
  op_gives("TensorScatterUpdate[T=bool, Tindices=int32]",
           "bool[2,2] true; int32[1,1] 1; bool[1,2] false true", "bool[2,2] true true false true");
  op_gives("TensorScatterAdd[T=int32, Tindices=int32]",
           "int32[2,2] 1 2 3 4; int32[2,2] 0 1 0 1; int32[2] 10 20", "int32[2,2] 1 32 3 4");
  op_gives("TensorScatterSub[T=double, Tindices=int32]", "double[3] 1 2 3; int32[2,1] 2 2; double[2] 1 5",
           "double[3] 1 2 -3");
  op_gives("ScatterNdNonAliasingAdd[T=bfloat16, Tindices=int32]",
           "bfloat16[2] 1 2; int32[1,1] 1; bfloat16[1] 4", "bfloat16[2] 1 6");
}

TEST(tensor_scatter_refuses_what_does_not_fit) {
  const char *op = "TensorScatterUpdate[T=float, Tindices=int32]";
  op_fails(op, "float[4] 0; int32[2,1] 0 -1; float[2] 0", CODE_INVALID_ARGUMENT,
           "indices[1] = [-1] does not index into shape [4]");
  op_fails(op, "float[4] 0; int32[2,1] 0 1; float[3] 0", CODE_INVALID_ARGUMENT,
           "Outer dimensions of indices and update must match. Indices shape: [2,1], updates shape:[3]");
  op_fails(op, "float[] 0; int32[1,1] 0; float[1] 0", CODE_INVALID_ARGUMENT,
           "Inner dimensions of output shape must match inner dimensions of updates shape. Output: [] "
           "updates: [1]");
  op_fails(op, "float[0]; int32[1,1] 0; float[1] 0", CODE_INVALID_ARGUMENT,
           "Indices and updates specified for empty output shape");
  op_fails(op, "float[3] 0; int32[] 0; float[1] 0", CODE_INVALID_ARGUMENT,
           "Indices shape must have rank at least one. Found:[]");
  op_fails(op, "float[4,2] 0; int32[2,1] 0 1; float[2,3] 0", CODE_INVALID_ARGUMENT,
           "The inner 1 dimensions of output.shape=[4,2] must match the inner 1 dimensions of "
           "updates.shape=[2,3]");
  op_fails("ScatterNdNonAliasingAdd[T=float, Tindices=int32]", "float[4] 0; int32[2,1] 0 7; float[2] 0",
           CODE_INVALID_ARGUMENT, "indices[1] = [7] does not index into shape [4]");
  op_fails(op, "float[] 0; int32[0,0]; float[0]", CODE_INVALID_ARGUMENT,
           "Output must be at least 1-D, got shape: []");
  op_fails("ScatterNdNonAliasingAdd[T=float, Tindices=int32]", "float[] 0; int32[2,0]; float[2] 0",
           CODE_INVALID_ARGUMENT, "Output must be at least 1-D, got shape: []");
}

GRADIENT_CASES(scatter_nd,
               {"ScatterNd[T=double, Tindices=int32]", "int32[3,1] 1 3 1; double[3] 1 2 4; int32[1] 4"},
               {"ScatterNd[T=double, Tindices=int64]", "int64[2,1] 2 0; double[2,2] 1 2 3 4; int64[2] 3 2"},
               {"ScatterNd[T=complex128, Tindices=int32]",
                "int32[1,2] 1 0; complex128[1] 1+1i; int32[2] 2 2"},
               {"ScatterNdNonAliasingAdd|TensorScatterAdd|TensorScatterSub|TensorScatterUpdate[T=double, "
                "Tindices=int32]",
                "double[3] 1 2 3; int32[2,1] 2 0; double[2] 1 5"},
               {"ScatterNdNonAliasingAdd|TensorScatterAdd|TensorScatterSub[T=double, Tindices=int64]",
                "double[2,2] 1 2 3 4; int64[2,2] 0 1 0 1; double[2] 1 5"},
               {"TensorScatterUpdate[T=double, Tindices=int64]",
                "double[2,2] 1 2 3 4; int64[2,2] 0 1 1 1; double[2] 1 5"},
               {"ScatterNdNonAliasingAdd|TensorScatterAdd|TensorScatterSub|TensorScatterUpdate[T=complex128, "
                "Tindices=int32]",
                "complex128[2,1] 1 2-1i; int32[1,1] 1; complex128[1,1] 1+1i"})
