/* Queue: elements that steps hand to each other. An element is a tuple of tensors. It is the resource of
 * FIFOQueue, PaddingFIFOQueue, RandomShuffleQueue and PriorityQueue, which differ in the order of the
 * elements (ops/lists/queue_store.h) and in a few rules (QueueKind).
 *
 * Whoever adds to a full queue or takes from an empty one waits. An operation is therefore an attempt, which
 * the queue keeps in one of two lines, for adding and taking. The first of each line goes on as soon as it
 * can, whichever kernel made room for it. The kernel of an attempt that is not done pauses its step
 * (op/kernel.h); it is abandoned when the step ends.
 */
#ifndef TFCORE_OPS_LISTS_QUEUE_H_
#define TFCORE_OPS_LISTS_QUEUE_H_

#include "base/sync.h"
#include "op/kernel.h"
#include "ops/lists/queue_store.h"
#include "ops/support/queue_source.h"

typedef struct QueueKind {
  const char *op;    /* FIFOQueue, for FIFOQueueV2 too */
  const char *alias; /* the name in the errors of operations on one element, and on those that add */
  QueueOrder order;
  /* Shapes may have unknown sizes. Elements that are taken together are padded with 0, false or "". */
  bool pads;
  /* The types begin with int64 and the shapes with a scalar, of the priority. */
  bool has_priority;
} QueueKind;

/* The shape of a component; an unknown size is -1. */
typedef struct QueueShape {
  int rank;
  const int64_t *dims;
} QueueShape;

typedef struct QueueSpec {
  const QueueKind *kind;
  const DataType *types; /* of the components */
  int num_components;
  const QueueShape *shapes;  /* of the components, or NULL: any */
  int64_t capacity;          /* elements */
  int64_t min_after_dequeue; /* elements that stay in the queue until it is closed; 0 unless QUEUE_RANDOM */
  int64_t seeds[2];          /* for QUEUE_RANDOM; both 0: any numbers */
} QueueSpec;

typedef struct QueueAttempt QueueAttempt;

typedef struct Queue {
  QueueSource source; /* first */
  Mutex mutex;
  Arena *arena; /* name and spec */
  char *name;
  QueueSpec spec; /* immutable */
  QueueStore store;
  QueueAttempt *lines[2]; /* of those who add (or close), and of those who take */
  bool closed;
} Queue;

/* A queue with one reference; the name and the spec are copied. NULL with status when out of memory, or when
 * there is no entropy for a seed. */
Queue *queue_new(Str name, const QueueSpec *spec, Status *status);
int64_t queue_size(Queue *queue);
bool queue_is_closed(Queue *queue);

typedef enum QueueAction {
  QUEUE_ADD,       /* one element: the inputs behind the handle */
  QUEUE_ADD_MANY,  /* the rows of these inputs */
  QUEUE_CLOSE,     /* after those who add before */
  QUEUE_TAKE,      /* one element */
  QUEUE_TAKE_MANY, /* `count` elements, joined along a new first dimension */
  QUEUE_TAKE_UP_TO /* the same; fewer, but at least one, when the queue is closed */
} QueueAction;

/* Begins the action, or goes on with the one that paused the kernel: it pauses the kernel again while it must
 * wait, and sets the outputs of one that takes. CANCELLED when the step was cancelled or the queue closed,
 * OUT_OF_RANGE when a closed queue has too few elements. */
MUST_CHECK bool queue_attempt(Queue *queue, KernelContext *context, QueueAction action, int64_t count,
                              Status *status);
/* Closes the queue and ends all that wait to add. */
void queue_cancel_adding(Queue *queue);
/* Sets the outputs to those of QUEUE_TAKE_MANY for these elements; the queue has shapes. */
MUST_CHECK bool queue_join(const Queue *queue, const QueueElements *elements, KernelContext *context,
                           Status *status);

#endif
