/* What other wings know of a queue: its components, and how one element is taken. */
#ifndef TFCORE_OPS_SUPPORT_QUEUE_SOURCE_H_
#define TFCORE_OPS_SUPPORT_QUEUE_SOURCE_H_

#include "op/kernel.h"

extern const char kQueue[]; /* the type name of the resource */

typedef struct QueueSource {
  Resource resource;
  const DataType *types; /* of the components */
  int num_components;
  /* Sets context->outputs to the components of one element. If the queue is empty, the kernel pauses as
   * described in op/kernel.h: the call is repeated with the context->paused that it has set. */
  bool (*take)(struct QueueSource *queue, KernelContext *context, Status *status);
} QueueSource;

#endif
