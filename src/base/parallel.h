/* Splitting a loop over threads, as numeric code sees it: a table with one function, so that kernels know
 * neither the pool nor whether there is one.
 *
 *   static void scale(void *arg, int64_t begin, int64_t end) { for (int64_t i = begin; i < end; i++) ... }
 *   parallel_for(context->parallel, count, 4096, scale, &args);
 *
 * How a range is split depends on the number of threads and on luck. Results must not: a body computes every
 * index the same way wherever its range begins, and a sum that is split uses blocks of a fixed size, added in
 * a fixed order.
 */
#ifndef TFCORE_BASE_PARALLEL_H_
#define TFCORE_BASE_PARALLEL_H_

#include <stddef.h>
#include <stdint.h>

/* Works on the indices [begin, end). Runs on any thread, several ranges at the same time. */
typedef void ParallelBody(void *arg, int64_t begin, int64_t end);

typedef struct Parallel {
  /* Calls `body` for disjoint non-empty ranges that together are [0, count), and returns when all calls have
   * returned. The caller's thread takes part. Ranges hold at least `grain` indices, except the last. A body
   * may call it again. */
  void (*run)(void *pool, int64_t count, int64_t grain, ParallelBody *body, void *arg);
  void *pool;
  int threads; /* that work at the same time, the caller included; at least 1 */
} Parallel;

/* NULL means serial. */
static inline int parallel_threads(const Parallel *parallel) {
  return parallel && parallel->threads > 1 ? parallel->threads : 1;
}

/* Runs `body` over [0, count), in the caller's thread alone when `parallel` is NULL or there are at most
 * `grain` indices. `grain` (at least 1) is how many indices are worth waking a thread: about 50 microseconds
 * of work. */
static inline void parallel_for(const Parallel *parallel, int64_t count, int64_t grain, ParallelBody *body,
                                void *arg) {
  if (count <= 0) return;
#ifdef TFCORE_SPLIT_ALL_LOOPS /* for looking for data races: small tests split, too */
  grain = 1;
#endif
  if (parallel_threads(parallel) == 1 || count <= grain) {
    body(arg, 0, count);
  } else {
    parallel->run(parallel->pool, count, grain, body, arg);
  }
}

#endif
