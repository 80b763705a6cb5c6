/* MatrixDiag, MatrixDiagPart and MatrixSetDiag in versions 2 and 3: derivatives, and calls without axes. */
#include "gradient_cases.h"
#include "harness.h"
#include "op_runner.h"

TEST(bands_and_padding_values_must_have_the_right_rank) {
  op_fails("MatrixDiagPartV3[T=float]", "float[2,2] 1; int32[] 0; float[1] 0", CODE_INVALID_ARGUMENT,
           "padding_value must be a scalar");
  op_fails("MatrixDiagV3[T=float]", "float[] 1; int32[] 0; int32[] -1; int32[] -1; float[] 0",
           CODE_INVALID_ARGUMENT, "diagonal must be at least 1-dim");
  op_fails("MatrixDiagV3[T=float]", "float[2] 1; int32[2] 0 1; int32[] -1; int32[] -1; float[] 0",
           CODE_INVALID_ARGUMENT, "diagonal must be at least 2-dim");
  op_fails("MatrixSetDiagV3[T=float]", "float[3,3] 1; float[] 0; int32[] 0", CODE_INVALID_ARGUMENT,
           "diagonal must be at least 1-dim");
}

#define PART "MatrixDiagPartV2|MatrixDiagPartV3[T=double]"
#define DIAG "MatrixDiagV2|MatrixDiagV3[T=double]"
#define SET "MatrixSetDiagV2|MatrixSetDiagV3[T=double]"
#define SIZES "; int32[] -1; int32[] -1; double[] 0"
GRADIENT_CASES(matrix_diagonals, {PART, "double[2,3] 1 2 3 4 5 6; int32[2] -1 1; double[] 0"},
               {PART, "double[3,2] 1 2 3 4 5 6; int32[] 0; double[] 0"},
               {PART, "double[2,2,2] 1 2 3 4 5 6 7 8; int32[2] 0 1; double[] 0"},
               {DIAG, "double[2] 1 2; int32[] 1" SIZES}, {DIAG, "double[2,2] 1 2 3 4; int32[2] 0 1" SIZES},
               {DIAG, "double[2,1,2] 1 2 3 4; int32[1] -1" SIZES},
               {SET, "double[2,3] 1 2 3 4 5 6; double[2] 7 8; int32[] 0"},
               {SET, "double[3,3] 1 2 3 4 5 6 7 8 9; double[2,3] 1 2 3 4 5 6; int32[2] 0 1"},
               {SET, "double[2,2,2] 1 2 3 4 5 6 7 8; double[2,1] 1 2; int32[1] -1"},
               {"MatrixDiagPartV2|MatrixDiagPartV3[T=complex128]",
                "complex128[2,2] 1-2i 2+1i 3+0i 4-1i; int32[] 0; complex128[] 0"},
               {"MatrixDiagV2|MatrixDiagV3[T=complex128]",
                "complex128[2] 1-2i 2+1i; int32[] 0; int32[] -1; int32[] -1; complex128[] 0"},
               {"MatrixSetDiagV2|MatrixSetDiagV3[T=complex128]",
                "complex128[2,2] 1-2i 2+1i 3+0i 4-1i; complex128[2] 1+1i 2-1i; int32[] 0"},
               {"EuclideanNorm[T=double]", "double[2,2] 1 2 -3 4; int32[1] 1"},
               {"EuclideanNorm[T=double, keep_dims=true]", "double[3] 1 2 -3; int32[1] 0"},
               {"EuclideanNorm[T=double]", "double[2,1,2] 1 2 -3 4; int32[2] 0 2"})
