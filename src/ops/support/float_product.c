#include "ops/support/float_product.h"

bool float_product(KernelContext *context, const GemmArgs *args, Status *status) {
  int64_t size = gemm_f32.workspace(args);
  Buffer *workspace = NULL;
  if (size > 0 && !(workspace = kernel_scratch(context, size, status))) return false;
  gemm_f32.run(args, context->parallel, workspace ? workspace->data : NULL);
  buffer_unref(workspace);
  return true;
}
