/* Gradients of ops on sparse and ragged tensors. */
#include "gradient_cases.h"

#define RAGGED "RaggedTensorToTensor[T=double, Tindex=int64, Tshape=int64, "
#define SPLITS RAGGED "num_row_partition_tensors=1, row_partition_types=[ROW_SPLITS]]"
#define TWO_SPLITS RAGGED "num_row_partition_tensors=2, row_partition_types=[ROW_SPLITS, ROW_SPLITS]]"
#define ROW_IDS RAGGED "num_row_partition_tensors=2, row_partition_types=[FIRST_DIM_SIZE, VALUE_ROWIDS]]"

GRADIENT_CASES(ragged_to_tensor, {SPLITS, "int64[2] -1 -1; double[4] 1 2 3 4; double[] 5; int64[4] 0 2 2 4"},
               {SPLITS, "int64[2] 2 1; double[4] 1 2 3 4; double[] 5; int64[4] 0 2 2 4"},
               {SPLITS, "int64[3] -1 -1 2; double[3,2] 1 2 3 4 5 6; double[2] 7 8; int64[3] 0 1 3"},
               {SPLITS, "int64[3] -1 3 2; double[3,2] 1 2 3 4 5 6; double[1] 7; int64[3] 0 1 3"},
               {TWO_SPLITS,
                "int64[3] -1 -1 -1; double[4] 1 2 3 4; double[] 5; int64[3] 0 2 3; int64[4] 0 1 2 4"},
               {ROW_IDS, "int64[2] -1 -1; double[4] 1 2 3 4; double[] 5; int64[] 4; int64[4] 0 0 2 3"})

#define TO_DENSE "SparseToDense[T=double, Tindices=int64, validate_indices=true]"

GRADIENT_CASES(sparse_to_dense, {TO_DENSE, "int64[2,2] 0 1 1 0; int64[2] 2 3; double[2] 1 2; double[] 3"},
               {TO_DENSE, "int64[2,2] 0 1 1 0; int64[2] 2 3; double[] 1; double[] 3"},
               {TO_DENSE, "int64[3] 0 1 3; int64[1] 5; double[3] 1 2 3; double[] 3"},
               {TO_DENSE, "int64[] 1; int64[1] 3; double[] 1; double[] 3"})

GRADIENT_CASES(sparse_fill_empty_rows,
               {"SparseFillEmptyRows[T=double]",
                "int64[2,2] 0 1 2 0; double[2] 1 2; int64[2] 4 3; double[] 3"},
               {"SparseFillEmptyRows[T=double]",
                "int64[3,2] 2 1 0 0 2 0; double[3] 1 2 3; int64[2] 3 3; double[] 3"},
               {"SparseFillEmptyRows[T=double]", "int64[1,1] 0; double[1] 1; int64[1] 1; double[] 3"},
               {"SparseFillEmptyRowsGrad[T=double]", "int64[2] 2 1; double[4] 1 2 3 4"},
               {"SparseFillEmptyRowsGrad[T=complex128]", "int64[2] 2 1; complex128[4] 1+2i 2 3-1i 4"},
               {"SparseFillEmptyRowsGrad[T=double]", "int64[1] 0; double[1] 1"},
               {"SparseFillEmptyRowsGrad[T=double]", "int64[3] 0 1 2; double[5] 1 2 3 4 5"})
