/* Gradients of ops on ragged tensors. */
#include "gradient_cases.h"

#define GATHER(levels, rank)                                                               \
  "RaggedGather[Tvalues=double, Tindices=int32, Tsplits=int64, PARAMS_RAGGED_RANK=" levels \
  ", OUTPUT_RAGGED_RANK=" rank "]"

GRADIENT_CASES(ragged_gather, {GATHER("1", "1"), "int64[4] 0 2 2 3; double[3] 1 2 3; int32[3] 2 0 2"},
               {GATHER("1", "2"), "int64[4] 0 2 2 3; double[3,2] 1 2 3 4 5 6; int32[2,2] 2 0 1 1"},
               {GATHER("1", "0"), "int64[4] 0 2 2 3; double[3] 1 2 3; int32[] 0"},
               {GATHER("2", "2"), "int64[3] 0 1 2; int64[3] 0 2 3; double[3] 1 2 3; int32[3] 1 0 1"},
               {"RaggedGather[Tvalues=complex128, Tindices=int64, Tsplits=int32, PARAMS_RAGGED_RANK=1, "
                "OUTPUT_RAGGED_RANK=1]",
                "int32[3] 0 2 3; complex128[3] 1+2i 2 3-1i; int64[2] 1 0"})

#define TO_SPARSE(levels) "RaggedTensorToSparse[T=double, Tsplits=int64, RAGGED_RANK=" levels "]"

GRADIENT_CASES(ragged_to_sparse, {TO_SPARSE("1"), "int64[4] 0 2 2 3; double[3] 1 2 3"},
               {TO_SPARSE("1"), "int64[3] 0 2 3; double[3,2] 1 2 3 4 5 6"},
               {TO_SPARSE("2"), "int64[3] 0 1 2; int64[3] 0 2 3; double[3] 1 2 3"},
               {"RaggedTensorToSparse[T=complex128, Tsplits=int32, RAGGED_RANK=1]",
                "int32[3] 0 2 3; complex128[3] 1+2i 2 3-1i"})

GRADIENT_CASES(ragged_fill_empty_rows,
               {"RaggedFillEmptyRows[T=double]", "int64[2] 2 0; double[2] 1 2; int64[] 4; double[] 3"},
               {"RaggedFillEmptyRows[T=double]", "int64[3] 2 0 2; double[3] 1 2 3; int64[] 3; double[] 3"},
               {"RaggedFillEmptyRows[T=double]", "int64[1] 0; double[1] 1; int64[] 1; double[] 3"},
               {"RaggedFillEmptyRowsGrad[T=double]", "int64[2] 2 1; double[4] 1 2 3 4"},
               {"RaggedFillEmptyRowsGrad[T=complex128]", "int64[2] 2 1; complex128[4] 1+2i 2 3-1i 4"},
               {"RaggedFillEmptyRowsGrad[T=double]", "int64[1] 0; double[1] 1"},
               {"RaggedFillEmptyRowsGrad[T=double]", "int64[3] 0 1 2; double[5] 1 2 3 4 5"})
