/* Diag, DiagPart, MatrixDiag, MatrixDiagPart, MatrixSetDiag, MatrixBandPart. */
#include "gradient_cases.h"
#include "harness.h"
#include "op_runner.h"

TEST(diag_and_its_inverse) {
  op_gives("Diag[T=float]", "float[2] 1 2", "float[2,2] 1 0 0 2");
  op_gives("Diag[T=int32]", "int32[1,2] 3 4", "int32[1,2,1,2] 3 0 0 4");
  op_gives("Diag[T=double]", "double[0]", "double[0,0]");
  op_gives("DiagPart[T=float]", "float[2,2] 1 2 3 4", "float[2] 1 4");
  op_gives("DiagPart[T=complex64]", "complex64[1,2,1,2] 3 0 0 4+1i", "complex64[1,2] 3 4+1i");
  op_fails("Diag[T=float]", "float[] 0", CODE_INVALID_ARGUMENT, "Input must be at least rank 1, got 0");
  op_fails("DiagPart[T=float]", "float[3] 0", CODE_INVALID_ARGUMENT, "even and positive, got shape [3]");
  op_fails("DiagPart[T=float]", "float[3,2] 0", CODE_INVALID_ARGUMENT,
           "Invalid shape [3,2]: dimensions 0 and 1 do not match.");
}

TEST(diagonals_of_batches_of_matrices) {
  op_gives("MatrixDiag[T=float]", "float[2,2] 1 2 3 4", "float[2,2,2] 1 0 0 2 3 0 0 4");
  op_gives("MatrixDiag[T=bool]", "bool[2] true", "bool[2,2] true false false true");
  op_gives("MatrixDiagPart[T=int8]", "int8[2,2,3] 1 2 3 4 5 6 7 8 9 10 11 12", "int8[2,2] 1 5 7 11");
  op_gives("MatrixDiagPart[T=string]", "string[2,1] a b", "string[1] a");
  op_gives("MatrixDiagPart[T=float]", "float[0,3]", "float[0]");
  op_gives("MatrixSetDiag[T=float]", "float[3,2] 1 2 3 4 5 6; float[2] 8 9", "float[3,2] 8 2 3 9 5 6");
  op_gives("MatrixSetDiag[T=int64]", "int64[2,1,2] 1 2 3 4; int64[2,1] 8 9", "int64[2,1,2] 8 2 9 4");
}

TEST(diagonals_that_do_not_fit_are_refused) {
  op_fails("MatrixDiag[T=float]", "float[] 0", CODE_INVALID_ARGUMENT,
           "diagonal must be at least 1-dim, received shape: []");
  op_fails("MatrixDiagPart[T=float]", "float[3] 0", CODE_INVALID_ARGUMENT,
           "input must be at least 2-dim, received shape: [3]");
  op_fails("MatrixSetDiag[T=float]", "float[3] 0; float[3] 0", CODE_INVALID_ARGUMENT,
           "input must be at least 2-dim, received shape: [3]");
  op_fails("MatrixSetDiag[T=float]", "float[3,2] 0; float[3] 0", CODE_INVALID_ARGUMENT,
           "received input shape: [3,2] and diagonal shape: [3]");
  op_fails("MatrixSetDiag[T=float]", "float[3,2] 0; float[1,2] 0", CODE_INVALID_ARGUMENT,
           "received input shape: [3,2] and diagonal shape: [1,2]");
}

TEST(matrix_band_part_keeps_a_band) {
  op_gives("MatrixBandPart[T=float]", "float[3,3] 1 2 3 4 5 6 7 8 9; int64[] 0; int64[] -1",
           "float[3,3] 1 2 3 0 5 6 0 0 9");
  op_gives("MatrixBandPart[T=int32]", "int32[3,3] 1 2 3 4 5 6 7 8 9; int64[] 1; int64[] 0",
           "int32[3,3] 1 0 0 4 5 0 0 8 9");
  op_gives("MatrixBandPart[T=bool, Tindex=int32]", "bool[1,2,2] true; int32[] 0; int32[] 0",
           "bool[1,2,2] true false false true");
  op_gives("MatrixBandPart[T=complex128]", "complex128[1,2] 1+1i 2; int64[] 0; int64[] 0",
           "complex128[1,2] 1+1i 0");
  op_gives("MatrixBandPart[T=half]", "half[4,1] 1 2 3 4; int64[] 1; int64[] 1", "half[4,1] 1 2 0 0");
  op_gives("MatrixBandPart[T=float]", "float[2,2] 1 2 3 4; int64[] -9223372036854775808; int64[] -5",
           "float[2,2] 1 2 3 4");
  op_gives("MatrixBandPart[T=float]", "float[0,2]; int64[] 0; int64[] 0", "float[0,2]");
}

TEST(bands_that_do_not_fit_are_refused) {
  const char *op = "MatrixBandPart[T=float]";
  op_fails(op, "float[3,2] 0; int64[] 4; int64[] 0", CODE_INVALID_ARGUMENT,
           "num_lower must be negative or less or equal to number of rows (3) got: 4");
  op_fails(op, "float[3,2] 0; int64[] 0; int64[] 4", CODE_INVALID_ARGUMENT,
           "num_upper must be negative or less or equal to number of columns (2) got: 4");
  op_fails(op, "float[3] 0; int64[] 0; int64[] 0", CODE_INVALID_ARGUMENT,
           "input must be at least 2-dim, received shape: [3]");
  op_fails(op, "float[3,2] 0; int64[2] 0; int64[] 0", CODE_INVALID_ARGUMENT,
           "num_lower must be scalar, got shape [2]");
  op_fails(op, "float[3,2] 0; int64[] 0; int64[1] 0", CODE_INVALID_ARGUMENT,
           "num_upper must be scalar, got shape [1]");
}

GRADIENT_CASES(diag, {"Diag|MatrixDiag[T=double]", "double[2] 1 2"},
               {"Diag|MatrixDiag[T=double]", "double[1,3] 1 2 3"},
               {"Diag|MatrixDiag[T=complex128]", "complex128[2,1] 1+1i 2"},
               {"DiagPart|MatrixDiagPart[T=double]", "double[2,2] 1 2 3 4"},
               {"DiagPart|MatrixDiagPart[T=complex128]", "complex128[1,1] 1+1i"},
               {"DiagPart[T=double]", "double[2,1,2,1] 1 2 3 4"},
               {"MatrixDiagPart[T=double]", "double[2,1,2] 1 2 3 4"},
               {"MatrixSetDiag[T=double]", "double[3,2] 1 2 3 4 5 6; double[2] 8 9"},
               {"MatrixSetDiag[T=double]", "double[2,1,2] 1 2 3 4; double[2,1] 8 9"},
               {"MatrixSetDiag[T=complex128]", "complex128[2,2] 1 2 3 4; complex128[2] 1+1i 2"},
               {"MatrixBandPart[T=double]", "double[3,3] 1 2 3 4 5 6 7 8 9; int64[] 0; int64[] -1"},
               {"MatrixBandPart[T=double, Tindex=int32]", "double[1,2,2] 1 2 3 4; int32[] 0; int32[] 0"},
               {"MatrixBandPart[T=complex128]", "complex128[1,2] 1+1i 2; int64[] 0; int64[] 1"})
