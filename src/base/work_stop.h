/* WorkStop: ends long loops inside a kernel when its step is cancelled or late.
 *
 * The thread that runs a kernel has the WorkStop of the step. Loops whose rounds take about a millisecond ask
 * between two of them, and end early when the answer is yes:
 *
 *   for (block = 0; block < blocks && !work_is_stopped(); block++) multiply(block);
 *
 * The kernel then leaves outputs that are not complete, and whoever runs it drops them and ends the step. So
 * only loops may ask whose results are nothing but the numbers in the outputs of their kernel.
 */
#ifndef TFCORE_BASE_WORK_STOP_H_
#define TFCORE_BASE_WORK_STOP_H_

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/parallel.h"

typedef struct WorkStop {
  const atomic_bool *cancelled; /* set by another thread; NULL: never */
  int64_t deadline;             /* nanoseconds of base/clock.h; INT64_MAX: none */
  bool stopped;                 /* a loop has ended early */
} WorkStop;

/* Sets the WorkStop of the calling thread (NULL: nothing stops) and returns the one before. */
WorkStop *work_stop_set(WorkStop *stop);
bool work_is_stopped(void);
/* parallel_work that asks about every two milliseconds of a thread's time. */
void parallel_work_until_stopped(const Parallel *parallel, int64_t count, double work, ParallelBody *body,
                                 void *arg);

#endif
