#include "ops/support/row_reduction.h"

#include "ops/support/element_types.h"
#include "ops/support/typed_loops.h"

#define ROW_REDUCTION(T, type)                                                                   \
  static void rows_##type(ReduceKind kind, int64_t rows, int64_t length, const void *x, void *y, \
                          const Parallel *parallel) {                                            \
    reduce_rows_##type(kind, rows, length, x, y, parallel);                                      \
  }                                                                                              \
  static void row_##type(ReduceKind kind, int64_t length, const void *x, void *y) {              \
    *(T *)y = reduce_row_##type(kind, length, x);                                                \
  }                                                                                              \
  static void divide_##type(void *sum, int64_t count) { *(T *)sum /= (T)count; }                 \
  static const RowReduction kRowReduction_##type = {rows_##type, row_##type, divide_##type};
ROW_REDUCTION(float, f32)
ROW_REDUCTION(double, f64)
static const KernelEntry kTypedRowReductions[] = {TYPED_FLOAT_KERNELS(NULL, &kRowReduction)};

const RowReduction *row_reduction(DataType type) { return TYPED_LOOPS(kTypedRowReductions, type); }
