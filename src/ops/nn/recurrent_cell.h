/* What the kernels of recurrent cells share: sums, memory and checks of float matrices. */
#ifndef TFCORE_OPS_NN_RECURRENT_CELL_H_
#define TFCORE_OPS_NN_RECURRENT_CELL_H_

#include "op/kernel.h"

/* to[j] = the sum of column j of a float matrix of `rows` rows of `columns` numbers. */
MUST_CHECK bool recurrent_column_sums(KernelContext *context, const float *matrix, int64_t rows,
                                      int64_t columns, float *to, Status *status);
/* Memory for `rows` * `columns` floats, to be freed with buffer_unref; NULL with status. */
Buffer *recurrent_scratch(KernelContext *context, int64_t rows, int64_t columns, Status *status);

/* INVALID_ARGUMENT "w.dims(0) != batch_size: 3 vs. 2" unless found == wanted. */
MUST_CHECK bool recurrent_check(const char *found_name, int64_t found, const char *wanted_name,
                                int64_t wanted, Status *status);

#endif
