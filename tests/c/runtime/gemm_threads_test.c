/* Products on threads that run at the same time, in exactly the workspace that these need. */
#include <stdint.h>

#include "base/alloc.h"
#include "blas/gemm.h"
#include "harness.h"
#include "runtime/thread_pool.h"

static void run(const GemmArgs *args, const Parallel *parallel) {
  int64_t size = gemm_f32.workspace(args);
  void *workspace = size > 0 ? mem_alloc(size) : NULL;
  gemm_f32.run(args, parallel, workspace);
  mem_free(workspace);
}

static float *make(int64_t count) {
  float *values = mem_alloc(count * (int64_t)sizeof(float));
  for (int64_t i = 0; i < count; i++) values[i] = (float)(i * 7919 % 1009 - 504) / 504;
  return values;
}

TEST(gemm_threads_share_a_workspace) {
  static const int64_t kSizes[][3] = {{784, 256, 64}, {64, 784, 256},   {1000, 300, 700}, {97, 1100, 90},
                                      {30, 30, 3000}, {2000, 260, 260}, {13, 517, 1025}};
  for (int threads = 1; threads <= 6; threads++) {
    ThreadPool *pool = thread_pool_new(threads);
    const Parallel *parallel = thread_pool_parallel(pool);
    for (size_t i = 0; i < sizeof kSizes / sizeof *kSizes; i++) {
      int64_t m = kSizes[i][0], n = kSizes[i][1], k = kSizes[i][2];
      float *a = make(m * k), *b = make(k * n), *c = make(m * n), *wanted = make(m * n);
      for (int transposed = 0; transposed < 2; transposed++) {
        GemmArgs args = {.m = m,
                         .n = n,
                         .k = k,
                         .transpose_a = transposed,
                         .a = a,
                         .lda = transposed ? m : k,
                         .b = b,
                         .ldb = n,
                         .c = wanted,
                         .ldc = n};
        run(&args, NULL);
        args.c = c, args.threads = parallel_threads(parallel);
        for (int round = 0; round < 5; round++) run(&args, parallel);
        CHECK_MEM_EQ(c, wanted, (size_t)(m * n) * sizeof(float));
      }
      mem_free(a), mem_free(b), mem_free(c), mem_free(wanted);
    }
    thread_pool_free(pool);
  }
}
