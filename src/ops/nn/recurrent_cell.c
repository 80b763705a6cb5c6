#include "ops/nn/recurrent_cell.h"

#include "blas/reduce.h"

bool recurrent_column_sums(KernelContext *context, const float *matrix, int64_t rows, int64_t columns,
                           float *to, Status *status) {
  const int64_t dims[2] = {rows, columns};
  const bool reduced[2] = {true, false};
  int64_t size = reduce_workspace(2, dims, reduced, sizeof(float));
  Buffer *workspace = NULL;
  if (size > 0 && !(workspace = kernel_scratch(context, size, status))) return false;
  reduce_f32(REDUCE_SUM, 2, dims, reduced, matrix, to, context->parallel, workspace ? workspace->data : NULL);
  buffer_unref(workspace);
  return true;
}

Buffer *recurrent_scratch(KernelContext *context, int64_t rows, int64_t columns, Status *status) {
  int64_t size;
  if (__builtin_mul_overflow(rows, columns, &size) ||
      __builtin_mul_overflow(size, (int64_t)sizeof(float), &size)) {
    status_oom(status, "gates of a recurrent cell");
    return NULL;
  }
  return kernel_scratch(context, size, status);
}

bool recurrent_check(const char *found_name, int64_t found, const char *wanted_name, int64_t wanted,
                     Status *status) {
  return found == wanted || status_invalid(status, "%s != %s: %lld vs. %lld", found_name, wanted_name,
                                           (long long)found, (long long)wanted);
}
