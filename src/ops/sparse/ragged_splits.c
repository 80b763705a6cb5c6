#include "ops/sparse/ragged_splits.h"

bool check_row_splits(const Tensor *splits, int64_t num_values, Status *status) {
  int64_t count = tensor_num_elements(splits);
  if (splits->shape.rank != 1)
    return status_invalid(status, "Invalid ragged splits: ragged splits must be rank 1 but is rank %d",
                          splits->shape.rank);
  if (count < 1)
    return status_invalid(status,
                          "Invalid ragged splits: ragged splits must have at least one splits, but is empty");
  if (tensor_int_at(splits, 0) != 0)
    return status_invalid(status,
                          "Invalid ragged splits: first element of ragged splits  must be 0 but is %lld",
                          (long long)tensor_int_at(splits, 0));
  for (int64_t i = 1; i < count; i++) {
    if (tensor_int_at(splits, i) < tensor_int_at(splits, i - 1))
      return status_invalid(status,
                            "Invalid ragged splits: ragged splits must be monotonically increasing, but "
                            "ragged_splits[%lld]=%lld is smaller than row_splits[%lld]=%lld",
                            (long long)i, (long long)tensor_int_at(splits, i), (long long)i - 1,
                            (long long)tensor_int_at(splits, i - 1));
  }
  return tensor_int_at(splits, count - 1) == num_values ||
         status_invalid(status,
                        "Invalid ragged splits: last element of ragged splits must be the number of ragged "
                        "values(%lld) but is %lld",
                        (long long)num_values, (long long)tensor_int_at(splits, count - 1));
}
