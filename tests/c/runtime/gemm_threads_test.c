/* Products of blas/gemm.h on the threads of a pool, which take their own parts of the workspace. */
#include <string.h>

#include "base/alloc.h"
#include "blas/gemm.h"
#include "harness.h"
#include "runtime/thread_pool.h"

typedef struct Sizes {
  int64_t m, n, k;
} Sizes;

static float *numbers(int64_t count) {
  float *made = mem_alloc(count * (int64_t)sizeof(float));
  for (int64_t i = 0; made && i < count; i++) made[i] = (float)((i * 37 + 11) % 101 - 50) / 16;
  return made;
}

/* Whether the product on threads has the bits of the serial one, in a workspace of exactly the size that is
 * asked for. */
static bool has_same_bits(const Sizes *s, const float *a, const float *b, const void *packed,
                          const Parallel *parallel) {
  int64_t bytes = s->m * s->n * (int64_t)sizeof(float);
  float *serial = mem_alloc(bytes), *shared = mem_alloc(bytes);
  GemmArgs args = {.m = s->m,
                   .n = s->n,
                   .k = s->k,
                   .a = a,
                   .lda = s->k,
                   .b = b,
                   .ldb = s->n,
                   .c = serial,
                   .ldc = s->n,
                   .packed_b = packed};
  int64_t size = gemm_f32.workspace(&args);
  void *workspace = size > 0 ? mem_alloc(size) : NULL;
  bool same = serial && shared && (size == 0 || workspace);
  if (same) {
    gemm_f32.run(&args, NULL, workspace);
    args.c = shared;
    gemm_f32.run(&args, parallel, workspace);
    same = memcmp(serial, shared, (size_t)bytes) == 0;
  }
  mem_free(serial);
  mem_free(shared);
  mem_free(workspace);
  return same;
}

static void check_sizes(const Sizes *s, const Parallel *parallel) {
  float *a = numbers(s->m * s->k), *b = numbers(s->k * s->n);
  void *packed = mem_alloc(gemm_f32.packed_b_size(s->k, s->n));
  GemmArgs args = {.n = s->n, .k = s->k, .b = b, .ldb = s->n};
  if (CHECK(a && b && packed)) {
    gemm_f32.pack_b(&args, parallel, packed);
    CHECK_CONTEXT("%d x %d x %d on %d threads", (int)s->m, (int)s->n, (int)s->k, parallel_threads(parallel));
    CHECK(has_same_bits(s, a, b, NULL, parallel));
    CHECK(has_same_bits(s, a, b, packed, parallel));
  }
  mem_free(a);
  mem_free(b);
  mem_free(packed);
}

TEST(products_on_threads_have_the_bits_of_serial_ones) {
  static const Sizes kSizes[] = {{8, 512, 128},  {13, 40, 700},   {49, 160, 960},   {97, 24, 300},
                                 {128, 96, 520}, {196, 96, 576},  {385, 1100, 31},  {1000, 64, 257},
                                 {1300, 8, 64},  {2500, 33, 129}, {100, 2100, 300}, {7, 3000, 1025}};
  static const int kThreads[] = {2, 3, 8, 40};
  for (size_t i = 0; i < sizeof kThreads / sizeof *kThreads; i++) {
    ThreadPool *pool = thread_pool_new(kThreads[i]);
    REQUIRE(pool);
    for (size_t k = 0; k < sizeof kSizes / sizeof *kSizes; k++)
      check_sizes(&kSizes[k], thread_pool_parallel(pool));
    thread_pool_free(pool);
  }
  CHECK_CONTEXT("%s", "");
}
