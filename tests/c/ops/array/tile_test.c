/* Tile, against a reference that takes coordinates modulo the input's sizes. */
#include "blas/fake_parallel.h"
#include "gradient_cases.h"
#include "harness.h"
#include "op_runner.h"

TEST(tile_repeats_along_every_axis) {
  op_gives("Tile[T=float]", "float[3] 1 2 3; int32[1] 2", "float[6] 1 2 3 1 2 3");
  op_gives("Tile[T=float]", "float[2,2] 1 2 3 4; int32[2] 2 2", "float[4,4] 1 2 1 2 3 4 3 4 1 2 1 2 3 4 3 4");
  op_gives("Tile[T=int64, Tmultiples=int64]", "int64[2,1] 1 2; int64[2] 1 3", "int64[2,3] 1 1 1 2 2 2");
  op_gives("Tile[T=string]", "string[2] a b; int32[1] 2", "string[4] a b a b");
  op_gives("Tile[T=bool]", "bool[2] 1 0; int32[1] 0", "bool[0]");
  op_gives("Tile[T=float]", "float[] 3; int32[0]", "float[] 3");
  op_gives("Tile[T=float]", "float[0,2]; int32[2] 3 2", "float[0,4]");
}

TEST(tile_refuses_wrong_multiples) {
  op_fails("Tile[T=float]", "float[2] 0; int32[1] -1", CODE_INVALID_ARGUMENT,
           "Expected multiples[0] >= 0, but got -1");
  op_fails("Tile[T=float]", "float[2] 0; int32[2] 1", CODE_INVALID_ARGUMENT,
           "Expected multiples argument to be a vector of length 1 but got length 2");
  op_fails("Tile[T=float]", "float[2] 0; int32[1,1] 1", CODE_INVALID_ARGUMENT,
           "Expected multiples to be 1-D, but got shape [1,1]");
  op_fails("Tile[T=float, Tmultiples=int64]", "float[2] 0; int64[1] 9223372036854775807",
           CODE_INVALID_ARGUMENT, "2**63 - 1");
  op_fails("Tile[T=float, Tmultiples=int64]", "float[2,2] 0; int64[2] 4611686018427387903 2",
           CODE_INVALID_ARGUMENT, "2**63 - 1");
  op_fails("Tile[T=float, Tmultiples=int64]", "float[2] 0; int64[1] 288230376151711744",
           CODE_RESOURCE_EXHAUSTED, "OOM");
}

TEST(tile_of_random_shapes) {
  Status status;
  status_init(&status);
  unsigned seed = 3;
  for (int round = 0; round < 60; round++) {
    int64_t dims[4], calls = 0, total = 1;
    int32_t times[4];
    int rank = 1 + round % 4;
    for (int d = 0; d < rank; d++) {
      seed = seed * 1664525u + 1013904223u;
      dims[d] = 1 + (seed >> 20) % (round >= 50 ? 17 : 4);
      times[d] = (int32_t)(1 + (seed >> 12) % (round >= 50 ? 9 : 4));
      total *= dims[d] * times[d];
    }
    CHECK_CONTEXT("round %d", round);
    static const char *const kOps[] = {"Tile[T=int32]", "Tile[T=int64]", "Tile[T=uint8]", "Tile[T=int16]"};
    static const DataType kTypes[] = {DT_INT32, DT_INT64, DT_UINT8, DT_INT16};
    Parallel parallel = {fake_parallel_run, &calls, 3};
    OpRun run;
    if (CHECK_OK(op_run_begin(&run, kOps[round % 4], &status), status)) {
      Tensor *x = op_run_input(&run, kTypes[round % 4], rank, dims);
      for (int64_t i = 0; i < tensor_num_elements(x); i++) tensor_put(x, i, (double)(i % 101));
      Tensor *multiples = op_run_input(&run, DT_INT32, 1, (int64_t[]){rank});
      for (int d = 0; d < rank; d++) tensor_put(multiples, d, times[d]);
      run.parallel = &parallel;
      if (CHECK_OK(op_run_compute(&run, &status), status) &&
          CHECK_INT_EQ(tensor_num_elements(&run.outputs[0]), total)) {
        int64_t wrong = 0;
        for (int64_t i = 0; i < total; i++) {
          int64_t rest = i, from = 0, stride = 1;
          for (int d = rank - 1; d >= 0; d--) {
            from += rest % (dims[d] * times[d]) % dims[d] * stride;
            rest /= dims[d] * times[d];
            stride *= dims[d];
          }
          wrong += tensor_get(&run.outputs[0], i) != (double)(from % 101);
        }
        CHECK_INT_EQ(wrong, 0);
      }
    }
    op_run_end(&run);
  }
}

GRADIENT_CASES(tile, {"Tile[T=double]", "double[2,3] 1 2 3 4 5 6; int32[2] 2 3"},
               {"Tile[T=double, Tmultiples=int64]", "double[2] 1 2; int64[1] 1"},
               {"Tile[T=double]", "double[] 1; int32[0]"},
               {"Tile[T=double]", "double[2,1] 1 2; int32[2] 0 2"},
               {"Tile[T=double]", "double[1,2,1] 1 2; int32[3] 2 1 3"})
