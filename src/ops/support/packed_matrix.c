#include "ops/support/packed_matrix.h"

#include "ops/support/element_types.h"
#include "ops/support/typed_loops.h"

static const KernelEntry kTypedProducts[] = {TYPED_FLOAT_KERNELS(NULL, &gemm)};

typedef struct Packing {
  const GemmType *gemm;
  const GemmArgs *args;
} Packing;

static void pack(const void *arg, const Parallel *parallel, void *form) {
  const Packing *packing = arg;
  packing->gemm->pack_b(packing->args, parallel, form);
}

static void pack_row(const void *arg, const Parallel *parallel, void *form) {
  gemm_f32.pack_row_b(arg, parallel, form);
}

bool packed_matrix_get(ConstantForm *form, DataType type, const GemmArgs *args, const Parallel *parallel,
                       const void **packed, Status *status) {
  Packing packing = {TYPED_LOOPS(kTypedProducts, type), args};
  int64_t size = packing.gemm->packed_b_size(args->k, args->n);
  return constant_form_get(form, size, pack, &packing, parallel, packed, status);
}

bool packed_row_get(ConstantForm *form, const GemmArgs *args, const Parallel *parallel, const void **packed,
                    Status *status) {
  return constant_form_get(form, gemm_f32.row_b_size(args->k, args->n), pack_row, args, parallel, packed,
                           status);
}
