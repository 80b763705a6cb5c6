/* Row splits: the positions at which the rows of a ragged tensor begin, and the end. int32 or int64. */
#ifndef TFCORE_OPS_SPARSE_RAGGED_SPLITS_H_
#define TFCORE_OPS_SPARSE_RAGGED_SPLITS_H_

#include "op/kernel.h"

/* Writes split `i`. */
static inline void set_split(Tensor *splits, int64_t i, int64_t at) {
  if (splits->dtype == DT_INT32) tensor_i32(splits)[i] = (int32_t)at;
  else tensor_i64(splits)[i] = at;
}

/* Checks that the splits are a vector that begins with 0, does not fall, and ends with the number of values.
 * INVALID_ARGUMENT "Invalid ragged splits: ...". */
MUST_CHECK bool check_row_splits(const Tensor *splits, int64_t num_values, Status *status);

#endif
