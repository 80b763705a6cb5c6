#include "ops/linalg/matrix_update.h"

#include "base/alloc.h"
#include "blas/gemm.h"
#include "ops/linalg/field.h"
#include "ops/linalg/matrix_batch.h"

/* Below this number of products the copies of a fast product do not pay. */
enum { SMALL_PRODUCT = 4096 };

#define TEMPLATE "ops/linalg/matrix_update.inc"
#include "ops/linalg/each_field.inc"

/* C += (-A) B, with a negated copy of A. */
bool matrix_update_f64(const MatrixUpdate *u, const Parallel *parallel) {
  if (u->m * u->k * u->n < SMALL_PRODUCT) {
    update_f64(u);
    return true;
  }
  GemmArgs args = {.m = u->m,
                   .n = u->n,
                   .k = u->k,
                   .transpose_b = u->adjoint,
                   .lda = u->k,
                   .b = u->b,
                   .ldb = u->ldb,
                   .c = u->c,
                   .ldc = u->ldc,
                   .accumulate = true};
  int64_t workspace = gemm_f64.workspace(&args);
  double *minus = matrix_scratch(u->m * u->k, sizeof *minus);
  void *memory = mem_alloc(workspace);
  if (minus && memory) {
    const double *a = u->a;
    for (int64_t i = 0; i < u->m; i++)
      for (int64_t j = 0; j < u->k; j++) minus[i * u->k + j] = -a[i * u->lda + j];
    args.a = minus;
    gemm_f64.run(&args, parallel, memory);
  }
  bool ok = minus && memory;
  mem_free(minus);
  mem_free(memory);
  return ok;
}

bool matrix_update_c128(const MatrixUpdate *u, const Parallel *parallel) {
  (void)parallel;
  update_c128(u);
  return true;
}
