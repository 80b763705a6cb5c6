/* Splitting a loop over threads, as numeric code sees it: a table with one function, so that kernels know
 * neither the pool nor whether there is one.
 *
 *   static void scale(void *arg, int64_t begin, int64_t end) { for (int64_t i = begin; i < end; i++) ... }
 *   parallel_work(context->parallel, count, 1, scale, &args);
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

/* What is worth waking a thread: about 50 microseconds. The unit of work is one element of cheap arithmetic
 * in WebAssembly, such as an addition of two numbers from memory. */
enum { PARALLEL_WORK = 65536 };

/* How many indices are worth waking a thread when each is `work` units of work; less than one unit counts as
 * one. */
static inline int64_t parallel_grain(double work) {
  if (work >= PARALLEL_WORK) return 1;
  return work > 1 ? 1 + (int64_t)((PARALLEL_WORK - 1) / work) : PARALLEL_WORK;
}

/* Runs `body` over [0, count), in the caller's thread alone when `parallel` is NULL or there are at most
 * `grain` (at least 1) indices. For loops that have a reason to choose it; others use parallel_work. */
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

/* Runs `body` over [0, count), each index being `work` units of work: see PARALLEL_WORK. */
static inline void parallel_work(const Parallel *parallel, int64_t count, double work, ParallelBody *body,
                                 void *arg) {
  parallel_for(parallel, count, parallel_grain(work), body, arg);
}

#endif
