/* Splits loops over threads. Numeric code sees an interface with one function, so that kernels do not depend
 * on the thread pool.
 *
 *   static void scale(void *arg, int64_t begin, int64_t end) { for (int64_t i = begin; i < end; i++) ... }
 *   parallel_work(context->parallel, count, 1, scale, &args);
 *
 * How a range is split depends on the number of threads and on timing. Results must not: a body computes
 * every index in the same way wherever its range begins, and a sum that is split uses blocks of a fixed size,
 * added in a fixed order.
 */
#ifndef TFCORE_BASE_PARALLEL_H_
#define TFCORE_BASE_PARALLEL_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Processes the indices [begin, end). Called on any thread, concurrently for different ranges. */
typedef void ParallelBody(void *arg, int64_t begin, int64_t end);

/* How long a loop is: long enough for a thread on a core nearby that is awake, for any thread that is awake,
 * or for one that sleeps. */
typedef enum ParallelLength { PARALLEL_BRIEF, PARALLEL_SHORT, PARALLEL_LONG } ParallelLength;

typedef struct Parallel {
  /* Calls `body` for disjoint non-empty ranges that together cover [0, count), and returns when all calls
   * have returned. The calling thread takes part. Ranges hold at least `grain` indices, except the last one.
   * `body` may call it recursively. */
  void (*run)(void *pool, int64_t count, int64_t grain, ParallelLength length, ParallelBody *body, void *arg);
  void *pool;
  int threads; /* the number of threads, including the caller; at least 1 */
  /* Whether threads that meet within a few microseconds, `meetings` times, are faster than one: whether they
   * have cores near each other, as last measured. NULL means that they are. */
  bool (*can_meet)(void *pool, int64_t meetings);
  /* Says that a thread came to such a meeting much too late: another program has its core. can_meet then says
   * no for so many `meetings` or more, up to a bound of the pool. May be NULL. */
  void (*lost)(void *pool, int64_t meetings);
} Parallel;

/* NULL means serial. */
static inline int parallel_threads(const Parallel *parallel) {
  return parallel && parallel->threads > 1 ? parallel->threads : 1;
}

/* The work that justifies handing it to a thread that is awake: about 6 microseconds. PARALLEL_WAKE of them
 * justify waking one; a PARALLEL_NEAR-th is enough for a thread on a core nearby, to which a unit of work
 * moves PARALLEL_MOVED bytes. The unit of work is one element of cheap arithmetic in WebAssembly, such as an
 * addition of two numbers from memory. */
enum { PARALLEL_WORK = 8192, PARALLEL_WAKE = 8, PARALLEL_NEAR = 8, PARALLEL_MOVED = 2 };

/* The number of indices that are at least `total` units of work when each is `work` units; values below one
 * count as one. */
static inline int64_t parallel_indices(double work, int64_t total) {
  if (work >= (double)total) return 1;
  if (work <= 1) return total;
  int64_t indices = (int64_t)((double)total / work);
  return (double)indices * work < (double)total ? indices + 1 : indices;
}

/* The number of indices that justifies handing them to a thread that is awake, and to one that sleeps. */
static inline int64_t parallel_grain(double work) { return parallel_indices(work, PARALLEL_WORK); }
static inline int64_t parallel_wake_grain(double work) {
  return parallel_indices(work, PARALLEL_WAKE * PARALLEL_WORK);
}

/* Runs `body` over [0, count), in the calling thread alone when `parallel` is NULL or there are at most
 * `grain` (at least 1) indices. */
static inline void parallel_split(const Parallel *parallel, int64_t count, int64_t grain,
                                  ParallelLength length, ParallelBody *body, void *arg) {
  if (count <= 0) return;
#ifdef TFCORE_SPLIT_ALL_LOOPS /* for data race tests: splits small loops too */
  grain = 1;
  length = PARALLEL_LONG;
#endif
  if (parallel_threads(parallel) == 1 || count <= grain) {
    body(arg, 0, count);
  } else {
    parallel->run(parallel->pool, count, grain, length, body, arg);
  }
}

/* The same for long loops, whose `grain` is worth waking a thread. For loops that need a specific grain;
 * others use parallel_work. */
static inline void parallel_for(const Parallel *parallel, int64_t count, int64_t grain, ParallelBody *body,
                                void *arg) {
  parallel_split(parallel, count, grain, PARALLEL_LONG, body, arg);
}

/* Runs `body` over [0, count), where each index is `work` units of work: see PARALLEL_WORK. Inside a kernel
 * it ends early when the step does: see base/work_stop.h. */
void parallel_work(const Parallel *parallel, int64_t count, double work, ParallelBody *body, void *arg);
/* The same for loops whose work is known well: they are split for threads on cores nearby even if they are
 * brief, unless moving their data takes too much of the time that is saved. `moved` is the number of bytes of
 * an index that cores exchange: operands that the caller has just computed, and results that it needs next.
 */
void parallel_arithmetic(const Parallel *parallel, int64_t count, double work, double moved,
                         ParallelBody *body, void *arg);
/* Whether that may split a loop of `work` units in all, for which cores exchange `moved` bytes, if there are
 * so many threads. Code that prepares a loop for several threads need not do so otherwise. */
bool parallel_shares(int threads, double work, double moved);

#endif
