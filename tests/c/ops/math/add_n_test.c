/* Sums of many tensors. */
#include "gradient_cases.h"
#include "harness.h"
#include "op_runner.h"

TEST(add_n_of_every_type) {
  op_gives("AddN[N=3, T=float]", "float[2] 1 2; float[2] 10 20; float[2] 0.5 -2", "float[2] 11.5 20");
  op_gives("AddN[N=2, T=uint8]", "uint8[2] 200 1; uint8[2] 100 2", "uint8[2] 44 3");
  op_gives("AddN[N=2, T=int32]", "int32[] 2147483647; int32[] 1", "int32[] -2147483648");
  op_gives("AddN[N=2, T=uint64]", "uint64[] 18446744073709551615; uint64[] 3", "uint64[] 2");
  op_gives("AddN[N=4, T=half]", "half[1] 1; half[1] 2; half[1] 3; half[1] 4", "half[1] 10");
  op_gives("AddN[N=3, T=complex64]", "complex64[2] 1+2i 3; complex64[2] -1+0i 4; complex64[2] 0.5 1-8i",
           "complex64[2] 0.5+2i 8-8i");
  op_gives("AddN[N=5, T=complex128]",
           "complex128[] 1+1i; complex128[] 2+2i; complex128[] 3+3i; complex128[] 4+4i; complex128[] 5-5i",
           "complex128[] 15+5i");
}

TEST(add_n_of_unequal_shapes) {
  op_fails("AddN[N=2, T=float]", "float[2] 1 2; float[1] 1", CODE_INVALID_ARGUMENT,
           "of type AddN must have the same size and shape.  Input 0: [2] != input 1: [1]");
}

GRADIENT_CASES(add_n, {"AddN[N=3, T=double]", "double[2] 1 2; double[2] 3 4; double[2] 5 6"},
               {"AddN[N=1, T=double]", "double[2,1] 1 2"}, {"AddN[N=2, T=double]", "double[] 1; double[] -2"},
               {"AddN[N=2, T=double]", "double[0,3]; double[0,3]"},
               {"AddN[N=2, T=complex128]", "complex128[2] 1-2i 0.5; complex128[2] 3+1i 0+4i"})
