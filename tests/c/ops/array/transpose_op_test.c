/* Transpose and InvertPermutation. */
#include "gradient_cases.h"
#include "harness.h"
#include "op_runner.h"

TEST(transpose_moves_axes) {
  op_gives("Transpose[T=float]", "float[2,3] 1 2 3 4 5 6; int32[2] 1 0", "float[3,2] 1 4 2 5 3 6");
  op_gives("Transpose[T=float, Tperm=int64]", "float[1,3] 1 2 3; int64[2] 1 0", "float[3,1] 1 2 3");
  op_gives("Transpose[T=int8]", "int8[2,1,2] 1 2 3 4; int32[3] 2 1 0", "int8[2,1,2] 1 3 2 4");
  op_gives("Transpose[T=double]", "double[2,2,2] 1 2 3 4 5 6 7 8; int32[3] 0 2 1",
           "double[2,2,2] 1 3 2 4 5 7 6 8");
  op_gives("Transpose[T=string]", "string[2,2] a b c d; int32[2] 1 0", "string[2,2] a c b d");
  op_gives("Transpose[T=float]", "float[2,3] 1 2 3 4 5 6; int32[2] -1 0", "float[3,2] 1 4 2 5 3 6");
  op_gives("Transpose[T=float]", "float[] 1; int32[0]", "float[] 1");
  op_gives("Transpose[T=float]", "float[0,3]; int32[2] 1 0", "float[3,0]");
}

TEST(transpose_refuses_what_is_no_permutation) {
  op_fails("Transpose[T=float]", "float[2,3] 0; int32[3] 0 1 2", CODE_INVALID_ARGUMENT,
           "transpose expects a vector of size 2. But input(1) is a vector of size 3");
  op_fails("Transpose[T=float]", "float[2,3] 0; int32[2] 0 5", CODE_INVALID_ARGUMENT,
           "5 is out of range [0 .. 2)");
  op_fails("Transpose[T=float, Tperm=int64]", "float[2,3] 0; int64[2] 0 -9223372036854775808",
           CODE_INVALID_ARGUMENT, "is out of range [0 .. 2)");
  op_fails("Transpose[T=float]", "float[2,3] 0; int32[2] 0 0", CODE_INVALID_ARGUMENT,
           "1 is missing from {0,0}.");
  op_fails("Transpose[T=float]", "float[2,3] 0; int32[] 0", CODE_INVALID_ARGUMENT,
           "perm must be a vector, not []");
}

/* More axes than blas/transpose.h supports. */
TEST(transpose_of_many_axes) {
  Status status;
  status_init(&status);
  OpRun run;
  int64_t dims[18], rank = 18;
  for (int d = 0; d < 18; d++) dims[d] = d < 17 ? 2 : 1;
  if (CHECK_OK(op_run_begin(&run, "Transpose[T=int32]", &status), status)) {
    Tensor *x = op_run_input(&run, DT_INT32, 18, dims);
    for (int32_t i = 0; i < 1 << 17; i++) tensor_i32(x)[i] = i;
    Tensor *perm = op_run_input(&run, DT_INT32, 1, &rank);
    for (int d = 0; d < 18; d++) tensor_i32(perm)[d] = 17 - d;
    if (CHECK_OK(op_run_compute(&run, &status), status)) {
      int64_t wrong = 0;
      for (int32_t i = 0; i < 1 << 17; i++) {
        int32_t reversed = 0;
        for (int b = 0; b < 17; b++) reversed |= (i >> b & 1) << (16 - b);
        wrong += tensor_i32(&run.outputs[0])[i] != reversed;
      }
      CHECK_INT_EQ(wrong, 0);
    }
  }
  op_run_end(&run);
}

TEST(invert_permutation) {
  op_gives("InvertPermutation", "int32[5] 3 4 0 2 1", "int32[5] 2 4 3 0 1");
  op_gives("InvertPermutation[T=int64]", "int64[2] 1 0", "int64[2] 1 0");
  op_gives("InvertPermutation", "int32[0]", "int32[0]");
  op_fails("InvertPermutation", "int32[2] 0 5", CODE_INVALID_ARGUMENT, "5 is not between 0 and 2");
  op_fails("InvertPermutation", "int32[2] 0 -1", CODE_INVALID_ARGUMENT, "-1 is not between 0 and 2");
  op_fails("InvertPermutation[T=int64]", "int64[3] 1 2 2", CODE_INVALID_ARGUMENT,
           "2 is duplicated in the input.");
  op_fails("InvertPermutation[T=int64]", "int64[1] 4294967296", CODE_INVALID_ARGUMENT,
           "4294967296 is not between 0 and 1");
  op_fails("InvertPermutation", "int32[2] 0 0", CODE_INVALID_ARGUMENT, "0 is duplicated in the input.");
  op_fails("InvertPermutation", "int32[1,1] 0", CODE_INVALID_ARGUMENT,
           "invert_permutation expects a 1D vector.");
}

TEST(conjugate_transpose_conjugates) {
  op_gives("ConjugateTranspose[T=complex64]", "complex64[2,2] 1+1i 2 3-2i 4; int32[2] 1 0",
           "complex64[2,2] 1-1i 3+2i 2 4");
  op_gives("ConjugateTranspose[T=complex128]", "complex128[1,2] 1+1i 2-3i; int32[2] 0 1",
           "complex128[1,2] 1-1i 2+3i");
  op_gives("ConjugateTranspose[T=complex128, Tperm=int64]", "complex128[] 1+1i; int64[0]",
           "complex128[] 1-1i");
  op_gives("ConjugateTranspose[T=float]", "float[1,3] 1 2 3; int32[2] -1 -2", "float[3,1] 1 2 3");
  op_gives("ConjugateTranspose[T=string]", "string[1,2] a b; int32[2] 1 0", "string[2,1] a b");
  op_fails("ConjugateTranspose[T=complex64]", "complex64[3,2] 0; int32[2] 0", CODE_INVALID_ARGUMENT,
           "1 is missing from {0,0}.");
}

GRADIENT_CASES(transpose,
               {"Transpose|ConjugateTranspose[T=double]", "double[2,1,2] 1 2 3 4; int32[3] -1 0 -2"},
               {"Transpose|ConjugateTranspose[T=complex128]", "complex128[2,2] 1+1i 2 3-2i 4; int32[2] 1 -2"},
               {"Transpose|ConjugateTranspose[T=complex128, Tperm=int64]", "complex128[1] 1+1i; int64[1] 0"},
               {"Transpose|ConjugateTranspose[T=double]", "double[] 1; int32[0]"},
               {"Transpose[T=double]", "double[2,3] 1 2 3 4 5 6; int32[2] 1 0"},
               {"Transpose[T=double, Tperm=int64]", "double[2,1,3] 1 2 3 4 5 6; int64[3] 2 0 1"},
               {"Transpose[T=double]", "double[2] 1 2; int32[1] 0"})
