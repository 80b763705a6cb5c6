/* Row splits: where the rows of a ragged tensor begin, and the end of the last one. */
#ifndef TFCORE_OPS_STRINGS_ROW_SPLITS_H_
#define TFCORE_OPS_STRINGS_ROW_SPLITS_H_

#include "op/kernel.h"

/* Sets element `i` of an int32 or int64 tensor. */
static inline void row_splits_put(Tensor *splits, int64_t i, int64_t value) {
  if (splits->dtype == DT_INT32) tensor_i32(splits)[i] = (int32_t)value;
  else tensor_i64(splits)[i] = value;
}

#endif
