#include "ops/support/packed_matrix.h"

#include "base/alloc.h"

bool packed_matrix_new(DataType type, const GemmArgs *args, void **packed, Status *status) {
  const GemmType *gemm = type == DT_DOUBLE ? &gemm_f64 : &gemm_f32;
  int64_t size = gemm->packed_b_size(args->k, args->n);
  if (size < 0 || !(*packed = mem_alloc(size))) return status_oom(status, "a packed matrix");
  gemm->pack_b(args, NULL, *packed);
  return true;
}
