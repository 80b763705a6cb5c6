/* Parallel tables for tests: serial execution in an unusual order and with unusual splits, like a pool. */
#ifndef TFCORE_TESTS_BLAS_FAKE_PARALLEL_H_
#define TFCORE_TESTS_BLAS_FAKE_PARALLEL_H_

#include "base/parallel.h"

/* Pieces of 1, 2, 3, ... grains, the last first. */
static inline void fake_parallel_run(void *pool, int64_t count, int64_t grain, ParallelLength length,
                                     ParallelBody *body, void *arg) {
  (void)length;
  int64_t ends[64], pieces = 0, *calls = pool;
  for (int64_t end = 0; end < count && pieces < 63; pieces++) {
    end += grain * (pieces % 5 + 1);
    ends[pieces] = end < count ? end : count;
  }
  if (ends[pieces - 1] < count) ends[pieces - 1] = count;
  for (int64_t i = pieces; i-- > 0;) body(arg, i == 0 ? 0 : ends[i - 1], ends[i]);
  *calls += pieces;
}

#endif
