/* What a second thread can give on this machine, which moves virtual cores about: how much faster two threads
 * multiply matrices than one, and how long a cache line takes from one to the other and back.
 *
 *   bench_cores [samples, one each 0.2 s]
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/sync.h"
#include "blas/gemm.h"
#include "runtime/core_distance.h"
#include "runtime/thread_pool.h"

enum { SIZE = 64, PRODUCTS = 40, TRIES = 20 };

typedef struct Work {
  float a[SIZE * SIZE], b[SIZE * SIZE], c[2][SIZE * SIZE];
  void *workspace[2];
  atomic_int begun, met; /* threads */
} Work;

static GemmArgs product_of(Work *work, int thread) {
  return (GemmArgs){.m = SIZE,
                    .n = SIZE,
                    .k = SIZE,
                    .a = work->a,
                    .lda = SIZE,
                    .b = work->b,
                    .ldb = SIZE,
                    .c = work->c[thread],
                    .ldc = SIZE,
                    .threads = 1};
}

static void multiply(Work *work, int thread) {
  GemmArgs args = product_of(work, thread);
  for (int i = 0; i < PRODUCTS; i++) gemm_f32.run(&args, NULL, work->workspace[thread]);
}

static void multiply_with_other(void *arg, int64_t begin, int64_t end) {
  enum { LOOKS = 1000000 }; /* until the other thread must have begun */
  Work *work = arg;
  if (end - begin > 1) return;
  atomic_fetch_add(&work->begun, 1);
  for (int i = 0; i < LOOKS && atomic_load(&work->begun) < 2; i++) continue;
  if (atomic_load(&work->begun) < 2) return;
  atomic_fetch_add(&work->met, 1);
  multiply(work, (int)begin);
}

static int64_t time_alone(Work *work) {
  int64_t begin = clock_nanoseconds();
  multiply(work, 0);
  return clock_nanoseconds() - begin;
}

/* INT64_MAX when the other thread did not take part. */
static int64_t time_of_both(Work *work, const Parallel *parallel) {
  work->begun = work->met = 0;
  int64_t begin = clock_nanoseconds();
  parallel_for(parallel, 2, 1, multiply_with_other, work);
  return work->met == 2 ? clock_nanoseconds() - begin : INT64_MAX;
}

static void print_sample(Work *work, const Parallel *parallel) {
  int64_t alone = INT64_MAX, both = INT64_MAX, distance = INT64_MAX;
  for (int i = 0; i < TRIES; i++) {
    int64_t one = time_alone(work), two = time_of_both(work, parallel);
    if (one < alone) alone = one;
    if (two < both) both = two;
    int64_t exchange = core_distance(parallel);
    if (exchange < distance) distance = exchange;
  }
  if (both == INT64_MAX || distance == INT64_MAX) printf("the other thread had no core\n");
  else
    printf("two threads: %.2f times as fast as one; a line there and back: %d ns\n",
           2 * (double)alone / (double)both, (int)distance);
}

int main(int argc, char **argv) {
  enum { NAPS = 1000 }; /* of 0.2 ms */
  static Work work;
  int samples = argc > 1 ? atoi(argv[1]) : 20;
  ThreadPool *pool = thread_pool_new(2);
  GemmArgs args = product_of(&work, 0);
  int64_t size = gemm_f32.workspace(&args);
  for (int i = 0; i < 2; i++)
    work.workspace[i] = size > 0 ? aligned_alloc(64, (size_t)(size + 63) / 64 * 64) : NULL;
  if (!pool) return EXIT_FAILURE;
  for (int i = 0; i < samples; i++) {
    print_sample(&work, thread_pool_parallel(pool));
    for (int nap = 0; nap < NAPS; nap++) thread_nap();
  }
  thread_pool_free(pool);
  for (int i = 0; i < 2; i++) free(work.workspace[i]);
  return 0;
}
