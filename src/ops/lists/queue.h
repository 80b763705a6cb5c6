/* Queue: elements that steps hand to each other, in the order in which they came. An element is a tuple of
 * tensors. It is the resource of FIFOQueue and FIFOQueueV2.
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

extern const char kQueue[]; /* the type name of the resource */

typedef struct QueueElement QueueElement;
typedef struct QueueAttempt QueueAttempt;

typedef struct QueueElements {
  QueueElement *first, *last;
  int64_t count;
} QueueElements;

typedef struct QueueSpec {
  const DataType *types; /* of the components */
  int num_components;
  const Shape *shapes; /* of the components, or NULL: any */
  int64_t capacity;    /* elements */
} QueueSpec;

typedef struct Queue {
  Resource resource;
  Mutex mutex;
  Arena *arena; /* name and spec */
  char *name;
  QueueSpec spec; /* immutable */
  QueueElements elements;
  QueueAttempt *lines[2]; /* of those who add (or close), and of those who take */
  bool closed;
} Queue;

/* A queue with one reference; the name and the spec are copied. NULL with status when out of memory. */
Queue *queue_new(Str name, const QueueSpec *spec, Status *status);
int64_t queue_size(Queue *queue);
bool queue_is_closed(Queue *queue);

typedef enum QueueAction {
  QUEUE_ADD,       /* one element: the inputs from `first_input` on */
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

#endif
