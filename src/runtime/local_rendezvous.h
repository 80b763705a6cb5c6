/* The rendezvous (op/rendezvous.h) of one step whose parts run in this process. All calls are thread-safe.
 *
 *   LocalRendezvous *local = local_rendezvous_new(&status);
 *   DeviceTransfer transfer = {.rendezvous = local_rendezvous_interface(local)};   for the kernels of a part
 *   ...
 *   local_rendezvous_free(local);
 *
 * The parts of a step that wait are advanced again when local_rendezvous_num_events has changed; if all wait
 * and it has not, no value will come (runtime/step_program.c).
 */
#ifndef TFCORE_RUNTIME_LOCAL_RENDEZVOUS_H_
#define TFCORE_RUNTIME_LOCAL_RENDEZVOUS_H_

#include "op/rendezvous.h"

typedef struct LocalRendezvous LocalRendezvous;

LocalRendezvous *local_rendezvous_new(Status *status);
/* Frees the values that were not received. Receives that still wait are called with CANCELLED
 * "LocalRendezvous deleted". NULL is fine. */
void local_rendezvous_free(LocalRendezvous *local);
/* Lives as long as the rendezvous. */
const Rendezvous *local_rendezvous_interface(LocalRendezvous *local);

/* Gets the value that a receive waited for, to keep; `value` is empty when `dead`, and when `status` is not
 * OK. Called once: in the call that asked, by the thread that sends or aborts, or at the end of the
 * rendezvous. It may call the rendezvous. */
typedef void (*ReceivedFn)(void *argument, const Status *status, Tensor *value, bool dead);

/* Waits without a thread: receives under one key are served in the order in which they came, and a
 * Rendezvous.receive does not overtake them. RESOURCE_EXHAUSTED when it cannot wait; then there is no call.
 */
MUST_CHECK bool local_rendezvous_receive_async(LocalRendezvous *local, Str key, ReceivedFn received,
                                               void *argument, Status *status);

/* All that waits fails with this status, and so does every later call; values that were sent are dropped. Of
 * several aborts the first counts. `reason` is not OK. */
void local_rendezvous_abort(LocalRendezvous *local, const Status *reason);

/* Sets `status` to that of the abort, if there was one. */
bool local_rendezvous_aborted(LocalRendezvous *local, Status *status);
/* Makes it as new, for another step. Receives that still wait are called with CANCELLED "LocalRendezvous
 * deleted". No other thread uses the rendezvous. */
void local_rendezvous_restart(LocalRendezvous *local);

/* The number of values sent since it began, and one more after an abort. */
int64_t local_rendezvous_num_events(LocalRendezvous *local);

#endif
