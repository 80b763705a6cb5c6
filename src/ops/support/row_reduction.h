/* The reductions of rows of blas/reduce.h, for float and double. */
#ifndef TFCORE_OPS_SUPPORT_ROW_REDUCTION_H_
#define TFCORE_OPS_SUPPORT_ROW_REDUCTION_H_

#include "blas/reduce.h"
#include "tensor/dtype.h"

typedef struct RowReduction {
  /* reduce_rows_* and reduce_row_*. */
  void (*rows)(ReduceKind kind, int64_t rows, int64_t length, const void *x, void *y,
               const Parallel *parallel);
  void (*row)(ReduceKind kind, int64_t length, const void *x, void *y);
  /* Divides a sum by the number of its terms. */
  void (*divide)(void *sum, int64_t count);
} RowReduction;

/* NULL for other types. */
const RowReduction *row_reduction(DataType type);

#endif
