/* What a queue holds: the attrs of the op that makes it, and texts for errors. */
#ifndef TFCORE_OPS_LISTS_QUEUE_SPEC_H_
#define TFCORE_OPS_LISTS_QUEUE_SPEC_H_

#include "ops/lists/queue.h"

/* Reads component_types, shapes, capacity and, for QUEUE_RANDOM, min_after_dequeue, seed and seed2 into
 * memory of the kernel's arena. INVALID_ARGUMENT in TensorFlow's words. */
MUST_CHECK bool queue_spec_read(const KernelConstruction *construction, const QueueKind *kind,
                                QueueSpec *spec, Status *status);
/* INVALID_ARGUMENT unless a node `op` with this spec may share the queue. */
MUST_CHECK bool queue_spec_check_shared(const Queue *queue, const char *op, const QueueSpec *asked,
                                        Status *status);
bool queue_has_types(const QueueSpec *spec, const DataType *types, int count);

/* "int32, float" */
void queue_print_types(const DataType *types, int count, StrBuf *text);
/* "2,3": `unknown` stands for unknown sizes. */
void queue_print_dims(const QueueShape *shape, const char *unknown, StrBuf *text);
/* INVALID_ARGUMENT with the text, which is freed. Returns false. */
bool queue_refuse(StrBuf *text, Status *status);

#endif
