/* WorkStop: ends long loops inside a kernel when its step is cancelled or late.
 *
 * The thread that runs a kernel has the WorkStop of the step. parallel_work (base/parallel.h) asks about
 * every two milliseconds of a thread's time and at its beginning. Other loops whose rounds take about a
 * millisecond ask between two of them:
 *
 *   for (block = 0; block < blocks && !work_is_stopped(); block++) multiply(block);
 *
 * The kernel then leaves outputs that are not complete, and whoever runs it drops them and ends the step.
 * Once stopped, no other loop of the kernel begins. So code behind a loop must not use what the loop computed
 * as an index without a check, and kernels that change variables or other resources run without a WorkStop
 * (OpKernel.changes_state).
 */
#ifndef TFCORE_BASE_WORK_STOP_H_
#define TFCORE_BASE_WORK_STOP_H_

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct WorkStop {
  const atomic_bool *cancelled; /* set by another thread; NULL: never */
  int64_t deadline;             /* nanoseconds of base/clock.h; INT64_MAX: none */
  bool stopped;                 /* a loop has ended early */
} WorkStop;

/* Sets the WorkStop of the calling thread (NULL: nothing stops) and returns the one before. */
WorkStop *work_stop_set(WorkStop *stop);
bool work_is_stopped(void);
/* The same for loops of cheap rounds: asks in every 4096th. Only the thread that runs the kernel gets an
 * answer; in a body of parallel_work on another thread nothing is stopped. */
static inline bool work_is_stopped_in_round(int64_t round) {
  return (round & 4095) == 4095 && work_is_stopped();
}

#endif
