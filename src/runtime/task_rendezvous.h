/* The rendezvous of a step in one task of a cluster: the values between the parts of the step here, those
 * that this task sends to others, and those that it receives. Someone else carries values from task to task:
 *
 *   TaskRendezvous *rendezvous = task_rendezvous_new("/job:worker/replica:0/task:1", &status);
 *   SessionRunOptions options = {.rendezvous = rendezvous};            of the step
 *   task_rendezvous_next_wanted(rendezvous, &key, &status)             what other tasks have to send
 *   task_rendezvous_local(rendezvous)                                  where values are left and taken
 *
 * It may live before the step begins and after it has ended. Values of one step stay in it until they are
 * taken.
 */
#ifndef TFCORE_RUNTIME_TASK_RENDEZVOUS_H_
#define TFCORE_RUNTIME_TASK_RENDEZVOUS_H_

#include "runtime/local_rendezvous.h"

typedef struct TaskRendezvous TaskRendezvous;

/* NULL when out of memory. */
TaskRendezvous *task_rendezvous_new(const char *task, Status *status);
/* No step uses it. NULL is fine. */
void task_rendezvous_free(TaskRendezvous *rendezvous);

LocalRendezvous *task_rendezvous_local(TaskRendezvous *rendezvous);
/* For the kernels of the step: a receive whose value is not there notes the key, if another task sends it. */
const Rendezvous *task_rendezvous_interface(TaskRendezvous *rendezvous);

/* Appends the oldest key that was noted to `key`, and forgets it; appends nothing when there is none. A key
 * is noted once until its value has come. */
MUST_CHECK bool task_rendezvous_next_wanted(TaskRendezvous *rendezvous, StrBuf *key, Status *status);

#endif
