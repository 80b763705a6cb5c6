#include "ops/support/packed_matrix.h"

#include "base/alloc.h"
#include "ops/support/element_types.h"
#include "ops/support/typed_loops.h"

static const KernelEntry kTypedProducts[] = {TYPED_FLOAT_KERNELS(NULL, &gemm)};

bool packed_matrix_new(DataType type, const GemmArgs *args, void **packed, Status *status) {
  const GemmType *gemm = TYPED_LOOPS(kTypedProducts, type);
  int64_t size = gemm->packed_b_size(args->k, args->n);
  if (size < 0 || !(*packed = mem_alloc(size))) return status_oom(status, "a packed matrix");
  gemm->pack_b(args, NULL, *packed);
  return true;
}
