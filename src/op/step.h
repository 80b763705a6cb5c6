/* Step: the id of one step of a session, and the conditions under which it must end or pause. Functions that
 * are called within the step share it.
 *
 * Code that runs a sequence of kernels calls this between them:
 *
 *   RunState state = step_checkpoint(step, status);
 *   if (state != RUN_DONE) return state;
 *
 * A checkpoint usually costs a decrement. About every half millisecond it reads the clock and the
 * cancellation flag; the number of checkpoints in between depends on how long the last ones took.
 */
#ifndef TFCORE_OP_STEP_H_
#define TFCORE_OP_STEP_H_

#include <stdatomic.h>
#include <stdint.h>

#include "base/status.h"
#include "base/work_stop.h"

/* The outcome of a run, or of one slice of it. */
typedef enum RunState {
  RUN_FAILED,  /* the status says why */
  RUN_WAITING, /* paused: advance it again, or abandon it */
  RUN_DONE
} RunState;

typedef struct StepTrace StepTrace;   /* runtime/step_trace.h */
typedef struct Rendezvous Rendezvous; /* op/rendezvous.h */

typedef struct Step {
  int64_t id;                  /* unique in the process, at least 1 */
  WorkStop stop;               /* when the step fails */
  int64_t pause_at;            /* when the step pauses; INT64_MAX: never */
  int64_t checked;             /* when the clock was last read; 0: not yet */
  int32_t countdown, interval; /* checkpoints until the next reading, and between the last two */
  StepTrace *trace;            /* records the step; NULL: nothing is recorded */
  bool blocked;                /* a paused step waits for another step or thread, and not for its slice */
  bool ended;                  /* cancelled or late: the error is the step's, and no node is added to it */
  const char *device; /* the name of the device that runs this part of the step; NULL outside of sessions: the
                         default one */
  const Rendezvous *rendezvous; /* for _Send and _Recv, in functions too; NULL: they fail */
  const char
      *awaited_by; /* the name of the node at which a paused step waits for a value; NULL: it does not */
} Step;

/* The deadline is `timeout_ms` from now; 0 or less: none. `cancelled` is borrowed, and may be NULL. */
void step_begin(Step *step, int64_t timeout_ms, const atomic_bool *cancelled);
/* The step pauses `slice_ms` from now; 0 or less: never. */
void step_set_slice(Step *step, int64_t slice_ms);

/* For a kernel that waits for another step or thread: RUN_WAITING marks the step as blocked, and the kernel
 * pauses (op/kernel.h); it looks again when the step is advanced. RUN_FAILED: as step_checkpoint. */
RunState step_block(Step *step, Status *status);

/* The part of a checkpoint that reads the clock. */
RunState step_check(Step *step, Status *status);

/* RUN_DONE: continue. RUN_WAITING: pause here. RUN_FAILED with CANCELLED or DEADLINE_EXCEEDED: end. */
static inline RunState step_checkpoint(Step *step, Status *status) {
  return --step->countdown > 0 && !step->stop.stopped ? RUN_DONE : step_check(step, status);
}

#endif
