/* Step: one step of a session, as everything that runs in it sees it: its number, and when it has to end or
 * to pause. Functions that are called within the step share it.
 *
 * Whoever runs kernels one after the other asks between them:
 *
 *   RunState state = step_checkpoint(step, status);
 *   if (state != RUN_DONE) return state;
 *
 * A checkpoint costs a decrement. The clock is read, and the cancellation flag looked at, about every half
 * millisecond: the number of checkpoints in between follows from how long the last ones took.
 */
#ifndef TFCORE_OP_STEP_H_
#define TFCORE_OP_STEP_H_

#include <stdatomic.h>
#include <stdint.h>

#include "base/status.h"

/* How a run, or a piece of one, ended. */
typedef enum RunState {
  RUN_FAILED,  /* the status says why */
  RUN_WAITING, /* paused: to be advanced again, or abandoned */
  RUN_DONE
} RunState;

typedef struct Step {
  int64_t id;                   /* unique in the process, at least 1 */
  const atomic_bool *cancelled; /* set by another thread; NULL: nobody can */
  int64_t deadline;             /* the step fails then; nanoseconds of base/clock.h; INT64_MAX: never */
  int64_t pause_at;             /* the step pauses then; INT64_MAX: never */
  int64_t checked;              /* when the clock was read last; 0: not yet */
  int32_t countdown, interval;  /* checkpoints until the clock is read; and between the last two readings */
} Step;

/* `timeout_ms` from now is the deadline; 0 and less: none. `cancelled` is borrowed, and may be NULL. */
void step_begin(Step *step, int64_t timeout_ms, const atomic_bool *cancelled);
/* The step pauses `slice_ms` from now; 0 and less: it runs to its end. */
void step_set_slice(Step *step, int64_t slice_ms);

/* What a checkpoint does when its turn has come. */
RunState step_check(Step *step, Status *status);

/* RUN_DONE: go on. RUN_WAITING: pause here. RUN_FAILED with CANCELLED or DEADLINE_EXCEEDED: end. */
static inline RunState step_checkpoint(Step *step, Status *status) {
  return --step->countdown > 0 ? RUN_DONE : step_check(step, status);
}

#endif
