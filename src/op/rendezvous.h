/* The exchange of values between the devices of a step: _Send leaves a value under a key, and _Recv takes it.
 * The step has it (Step.rendezvous), and the run of each part and function gives its kernels a DeviceTransfer
 * (KernelContext.transfer). Keys are those of device/rendezvous_key.h.
 *
 * A _Recv whose value was not sent yet does not wait inside its kernel. It leaves a PausedKernel in its
 * context, like a call whose step pauses (op/kernel.h): the run of its part is RUN_WAITING, and _Recv is
 * called again when the run is advanced (runtime/step_program.c).
 */
#ifndef TFCORE_OP_RENDEZVOUS_H_
#define TFCORE_OP_RENDEZVOUS_H_

#include "base/str.h"
#include "op/step.h"
#include "tensor/tensor.h"

typedef struct Rendezvous {
  void *owner;
  /* Leaves a value (shared) under a key, behind those that are there. A dead value is a flag: `value` may be
   * NULL. False with the status of the abort. */
  bool (*send)(void *owner, Str key, const Tensor *value, bool dead, Status *status);
  /* RUN_DONE: takes the value that was left first; `*value` is empty at entry, and stays so when `*dead`.
   * RUN_WAITING: there is none yet. RUN_FAILED with the status of the abort. */
  RunState (*receive)(void *owner, Str key, Tensor *value, bool *dead, Status *status);
} Rendezvous;

/* What _Send and _Recv have to know besides their attrs. */
typedef struct DeviceTransfer {
  const Rendezvous *rendezvous;
  uint64_t frame;    /* of the loop that the node runs in: the same number in all parts; 0 outside of loops */
  int64_t iteration; /* of that loop */
  bool dead;         /* for _Send: its input has no value. From _Recv: its output has no value */
} DeviceTransfer;

#endif
