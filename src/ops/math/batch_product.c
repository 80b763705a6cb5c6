#include "ops/math/batch_product.h"

#include "base/bits.h"
#include "base/odometer.h"
#include "blas/gemm_small.h"

typedef struct BatchJob {
  const BatchProduct *batch;
  bool small;               /* products of gemm_small.h */
  const Parallel *parallel; /* of a single product */
  char *workspaces;         /* one for each thread */
  int64_t workspace;        /* bytes of one */
  atomic_uint_fast64_t workspaces_in_use;
} BatchJob;

/* Walks over the places of the matrices, from those of a product on. */
ODOMETER_INLINE Odometer places_from(const BatchProduct *batch, int64_t index[SHAPE_MAX_RANK],
                                     int64_t begin) {
  Odometer o = {.rank = batch->rank,
                .dims = batch->dims,
                .strides = {batch->strides[0], batch->strides[1], batch->strides[2]},
                .index = index};
  odometer_seek(&o, 3, begin);
  return o;
}

/* Products [begin, end). */
static void multiply_range(void *arg, int64_t begin, int64_t end) {
  BatchJob *job = arg;
  const BatchProduct *batch = job->batch;
  const GemmArgs *first = &batch->product.args;
  int64_t size = (int64_t)dtype_size(batch->product.type), index[SHAPE_MAX_RANK];
  int mine = bits_take(&job->workspaces_in_use);
  MatrixProduct product = batch->product;
  Odometer o = places_from(batch, index, begin);
  for (int64_t i = begin; i < end; i++, odometer_advance(&o, 3, 1)) {
    product.args.a = (const char *)first->a + o.at[0] * size;
    product.args.b = (const char *)first->b + o.at[1] * size;
    product.args.c = (char *)first->c + o.at[2] * size;
    char *workspace = job->workspaces ? job->workspaces + mine * job->workspace : NULL;
    matrix_product_run(&product, job->parallel, workspace);
  }
  bits_give_back(&job->workspaces_in_use, mine);
}

/* The same for small matrices of floats. */
static void multiply_small(void *arg, int64_t begin, int64_t end) {
  enum { LANES = GEMM_SMALL_LANES };
  const BatchJob *job = arg;
  const BatchProduct *batch = job->batch;
  int64_t index[SHAPE_MAX_RANK], at[3][LANES];
  Odometer o = places_from(batch, index, begin);
  for (int64_t i = begin; i < end; i += LANES) {
    for (int lane = 0; lane < LANES; lane++) {
      for (int k = 0; k < 3; k++) at[k][lane] = o.at[k];
      if (i + lane + 1 < end) odometer_advance(&o, 3, 1);
    }
    gemm_small_f32(&batch->product.args, at[0], at[1], at[2]);
  }
}

/* Where one B serves for the places of the last axis, whose matrices A are rows of one matrix, and so those
 * of C, there is one product instead of many. */
static void merge_rows(BatchProduct *batch) {
  GemmArgs *args = &batch->product.args;
  for (; batch->rank > 0 && !args->transpose_a; batch->rank--) {
    int last = batch->rank - 1;
    if (batch->strides[1][last] != 0 || batch->strides[0][last] != args->m * args->lda ||
        batch->strides[2][last] != args->m * args->ldc)
      return;
    args->m *= batch->dims[last];
  }
}

/* The bytes of a workspace for `threads` threads, a multiple of a cache line; -1 when they exceed int64. */
static int64_t workspace_for(BatchProduct *batch, int threads) {
  enum { LINE = 64 };
  batch->product.args.threads = threads;
  int64_t size = matrix_product_workspace(&batch->product);
  if (size < 0 || __builtin_add_overflow(size, LINE - 1, &size)) return -1;
  return size / LINE * LINE;
}

/* Products [0, end): the threads take whole ones. A unit of work (base/parallel.h) is PER_WORK
 * multiply-adds, or PER_SMALL in small matrices; a product has CALL units beside them. */
static void share_products(BatchJob *job, int64_t end, const Parallel *parallel) {
  enum { PER_WORK = 20, PER_SMALL = 2, CALL = 64 };
  const GemmArgs *args = &job->batch->product.args;
  double m = (double)args->m, n = (double)args->n, k = (double)args->k;
  double moved = (double)dtype_size(job->batch->product.type) * (m * k + k * n + m * n);
  double work = job->small ? m * n * k / PER_SMALL : m * n * k / PER_WORK + CALL;
  job->parallel = NULL;
  parallel_arithmetic(parallel, end, work, moved, job->small ? multiply_small : multiply_range, job);
}

/* Each thread has as many products as the others. Those that are left are divided if they have LARGE
 * multiply-adds; all are if they have MOST, because a step can be stopped only inside a product that its
 * thread runs for all. */
bool batch_product_run(KernelContext *context, BatchProduct *batch, Status *status) {
  enum { LARGE = 1000000, MOST = 100000000 };
  const GemmArgs *args = &batch->product.args;
  int threads = parallel_threads(context->parallel);
  int64_t count = 1;
  for (int i = 0; i < batch->rank; i++) {
    if (batch->dims[i] == 0) return true;
  }
  if (args->m == 0 || args->n == 0) return true;
  merge_rows(batch);
  for (int i = 0; i < batch->rank; i++) count *= batch->dims[i];
  if (batch->product.type == DT_FLOAT && gemm_is_small(args)) {
    share_products(&(BatchJob){.batch = batch, .small = true}, count, context->parallel);
    return true;
  }
  double products = (double)args->m * (double)args->n * (double)args->k;
  int64_t divided = products > MOST ? count : products > LARGE || count < threads ? count % threads : 0;
  int64_t of_all = divided > 0 ? workspace_for(batch, threads) : 0;
  int64_t own = divided < count ? workspace_for(batch, 1) : 0, size;
  if (of_all < 0 || own < 0 || __builtin_mul_overflow(own, threads, &size))
    return status_oom(status, "a product of matrices");
  if (of_all > size) size = of_all;
  Buffer *workspaces = NULL;
  if (size > 0) TRY((workspaces = kernel_scratch(context, size, status)));
  BatchJob job = {.batch = batch, .workspaces = workspaces ? workspaces->data : NULL, .workspace = own};
  if (divided < count) share_products(&job, count - divided, context->parallel);
  if (divided > 0) {
    batch->product.args.threads = threads;
    job.parallel = context->parallel;
    multiply_range(&job, count - divided, count);
  }
  buffer_unref(workspaces);
  return true;
}
