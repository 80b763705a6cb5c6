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

/* Multiplies in a workspace of exactly the size that is asked for. Returns the product; NULL: out of memory.
 */
static float *product_of(GemmArgs args, const Parallel *parallel) {
  int64_t size = gemm_f32.workspace(&args);
  void *workspace = size > 0 ? mem_alloc(size) : NULL;
  float *product = mem_alloc(args.m * args.n * (int64_t)sizeof(float));
  args.c = product;
  if (product && (size == 0 || workspace)) gemm_f32.run(&args, parallel, workspace);
  mem_free(workspace);
  return product;
}

/* Whether the product on threads has the bits of the serial one, in the workspace for any number of threads
 * and in that for these. `a` has all elements of A, in the order of its rows or of its columns. */
static bool has_same_bits(const Sizes *s, const float *a, bool transpose_a, const float *b,
                          const void *packed, const Parallel *parallel) {
  GemmArgs args = {.m = s->m,
                   .n = s->n,
                   .k = s->k,
                   .transpose_a = transpose_a,
                   .a = a,
                   .lda = transpose_a ? s->m : s->k,
                   .b = b,
                   .ldb = s->n,
                   .ldc = s->n,
                   .packed_b = packed};
  float *serial = product_of(args, NULL), *shared = product_of(args, parallel);
  args.threads = parallel_threads(parallel);
  float *for_these = product_of(args, parallel);
  size_t bytes = (size_t)(s->m * s->n) * sizeof(float);
  bool same = serial && shared && for_these && memcmp(serial, shared, bytes) == 0 &&
              memcmp(serial, for_these, bytes) == 0;
  mem_free(serial), mem_free(shared), mem_free(for_these);
  return same;
}

static void check_sizes(const Sizes *s, const Parallel *parallel) {
  float *a = numbers(s->m * s->k), *b = numbers(s->k * s->n);
  void *packed = mem_alloc(gemm_f32.packed_b_size(s->k, s->n));
  GemmArgs args = {.n = s->n, .k = s->k, .b = b, .ldb = s->n};
  if (CHECK(a && b && packed)) {
    gemm_f32.pack_b(&args, parallel, packed);
    CHECK_CONTEXT("%d x %d x %d on %d threads", (int)s->m, (int)s->n, (int)s->k, parallel_threads(parallel));
    for (int transpose_a = 0; transpose_a < 2; transpose_a++) {
      CHECK(has_same_bits(s, a, transpose_a, b, NULL, parallel));
      CHECK(has_same_bits(s, a, transpose_a, b, packed, parallel));
    }
  }
  mem_free(a);
  mem_free(b);
  mem_free(packed);
}

TEST(products_on_threads_have_the_bits_of_serial_ones) {
  static const Sizes kSizes[] = {{8, 512, 128},  {13, 40, 700},   {49, 160, 960},   {97, 24, 300},
                                 {128, 96, 520}, {196, 96, 576},  {385, 1100, 31},  {1000, 64, 257},
                                 {1300, 8, 64},  {2500, 33, 129}, {100, 2100, 300}, {7, 3000, 1025},
                                 {784, 256, 64}, {30, 30, 3000},  {2000, 260, 260}};
  static const int kThreads[] = {1, 2, 3, 8, 40};
  for (size_t i = 0; i < sizeof kThreads / sizeof *kThreads; i++) {
    ThreadPool *pool = thread_pool_new(kThreads[i]);
    REQUIRE(pool);
    for (size_t k = 0; k < sizeof kSizes / sizeof *kSizes; k++)
      check_sizes(&kSizes[k], thread_pool_parallel(pool));
    thread_pool_free(pool);
  }
  CHECK_CONTEXT("%s", "");
}
