#include "ops/lists/queue.h"

#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "ops/support/elements.h"

struct QueueAttempt {
  PausedKernel paused; /* first: the kernel's pause is the attempt */
  QueueAttempt *next;  /* behind it in the line */
  Queue *queue;        /* one reference */
  QueueAction action;
  int64_t left;           /* elements that are still to be added or taken */
  QueueElements elements; /* to be added, or taken so far */
  bool done;
  Status status; /* of one that is done */
};

enum { ADDING, TAKING };

static int line_of(QueueAction action) { return action <= QUEUE_CLOSE ? ADDING : TAKING; }

/* --- the queue --- */

/* An element may hold a handle of the queue. */
static void drop_elements(Resource *resource) {
  Queue *queue = (Queue *)resource;
  QueueStore dropped = queue->store;
  queue_store_init(&queue->store, dropped.order, 0, 0);
  queue_store_free(&dropped, queue->spec.num_components);
}

static void free_queue(Queue *queue) {
  arena_free(queue->arena);
  mem_free(queue);
}

static void destroy_queue(TensorObject *object) {
  Queue *queue = (Queue *)object;
  drop_elements(&queue->source.resource);
  mutex_destroy(&queue->mutex);
  free_queue(queue);
}

static bool copy_shapes(Queue *queue, const QueueSpec *spec, Status *status) {
  QueueShape *shapes = arena_calloc(queue->arena, spec->num_components, sizeof *shapes);
  queue->spec.shapes = shapes;
  for (int i = 0; shapes && i < spec->num_components; i++) {
    int rank = spec->shapes[i].rank;
    int64_t *dims = arena_calloc(queue->arena, rank, sizeof *dims);
    if (!dims) return status_oom(status, "a queue");
    for (int d = 0; d < rank; d++) dims[d] = spec->shapes[i].dims[d];
    shapes[i] = (QueueShape){rank, dims};
  }
  return shapes || status_oom(status, "a queue");
}

static bool copy_spec(Queue *queue, Str name, const QueueSpec *spec, Status *status) {
  DataType *types = arena_calloc(queue->arena, spec->num_components, sizeof *types);
  queue->name = arena_strndup(queue->arena, name.data, name.length);
  if (!types || !queue->name) return status_oom(status, "a queue");
  memcpy(types, spec->types, (size_t)spec->num_components * sizeof *types);
  queue->spec = *spec;
  queue->spec.types = types;
  return !spec->shapes || copy_shapes(queue, spec, status);
}

static bool init_store(Queue *queue, Status *status) {
  uint64_t seeds[2] = {(uint64_t)queue->spec.seeds[0], (uint64_t)queue->spec.seeds[1]};
  QueueOrder order = queue->spec.kind->order;
  if (order == QUEUE_RANDOM && seeds[0] == 0 && seeds[1] == 0 && getentropy(seeds, sizeof seeds) != 0)
    return status_set(status, CODE_UNAVAILABLE, "No entropy for a random seed");
  queue_store_init(&queue->store, order, seeds[0], seeds[1]);
  return true;
}

static bool take_one(QueueSource *source, KernelContext *context, Status *status) {
  return queue_attempt((Queue *)source, context, QUEUE_TAKE, 1, status);
}

Queue *queue_new(Str name, const QueueSpec *spec, Status *status) {
  Queue *queue = mem_calloc(1, sizeof *queue);
  if (queue) queue->arena = arena_new();
  if (!queue || !queue->arena) {
    mem_free(queue);
    status_oom(status, "a queue");
    return NULL;
  }
  if (!copy_spec(queue, name, spec, status) || !init_store(queue, status) ||
      !(mutex_init(&queue->mutex) || status_oom(status, "a queue"))) {
    free_queue(queue);
    return NULL;
  }
  atomic_init(&queue->source.resource.object.references, 1);
  queue->source.resource.object.destroy = destroy_queue;
  queue->source.resource.type_name = kQueue;
  queue->source.resource.close = drop_elements;
  queue->source.types = queue->spec.types;
  queue->source.num_components = queue->spec.num_components;
  queue->source.take = take_one;
  return queue;
}

int64_t queue_size(Queue *queue) {
  mutex_lock(&queue->mutex);
  int64_t size = queue->store.count;
  mutex_unlock(&queue->mutex);
  return size;
}

bool queue_is_closed(Queue *queue) {
  mutex_lock(&queue->mutex);
  bool closed = queue->closed;
  mutex_unlock(&queue->mutex);
  return closed;
}

/* --- attempts; the mutex is held --- */

static void finish(QueueAttempt *attempt) { attempt->done = true; }

static void close_queue(QueueAttempt *attempt) {
  Queue *queue = attempt->queue;
  if (queue->closed)
    status_set(&attempt->status, CODE_CANCELLED, "Queue '%s' is already closed.", queue->name);
  queue->closed = true;
  finish(attempt);
}

/* Returns whether it added an element or is done, as do the following. */
static bool try_to_add(QueueAttempt *attempt) {
  Queue *queue = attempt->queue;
  bool added = false, ok = true;
  if (queue->closed)
    ok = status_set(&attempt->status, CODE_CANCELLED, "%s '%s' is closed.", queue->spec.kind->alias,
                    queue->name);
  while (ok && attempt->left > 0 && queue->store.count < queue->spec.capacity) {
    ok = queue_store_add(&queue->store, attempt->elements.first, &attempt->status);
    if (!ok) break;
    queue_elements_remove_first(&attempt->elements);
    attempt->left--;
    added = true;
  }
  if (!ok || attempt->left == 0) finish(attempt);
  return added || attempt->done;
}

/* The queue is closed and has fewer elements than `attempt` wants. Returns false when it can go on with what
 * there is. */
static bool has_too_few(QueueAttempt *attempt) {
  Queue *queue = attempt->queue;
  int64_t size = queue->store.count;
  if (queue->spec.kind->has_priority) {
    if (attempt->action == QUEUE_TAKE_UP_TO && size > 0) return false; /* takes all, and then fails */
  } else if (!queue_store_give_back(&queue->store, &attempt->elements, &attempt->status)) {
    finish(attempt);
    return true;
  } else if (attempt->action == QUEUE_TAKE_UP_TO && queue->store.count > 0) {
    attempt->left = queue->store.count;
    return false;
  }
  status_set(&attempt->status, CODE_OUT_OF_RANGE,
             "%s '%s' is closed and has insufficient elements (requested %lld, current size %lld)",
             attempt->action == QUEUE_TAKE ? queue->spec.kind->alias : queue->spec.kind->op, queue->name,
             (long long)attempt->left, (long long)size);
  finish(attempt);
  return true;
}

/* How many elements the attempt may take now. */
static int64_t available(const QueueAttempt *attempt) {
  const Queue *queue = attempt->queue;
  int64_t size = queue->store.count;
  if (queue->closed) return size;
  if (queue->spec.kind->has_priority) return size >= attempt->left ? size : 0;
  return size - queue->spec.min_after_dequeue;
}

static bool try_to_take(QueueAttempt *attempt) {
  Queue *queue = attempt->queue;
  bool taken = false;
  if (queue->closed && queue->store.count < attempt->left && has_too_few(attempt)) return true;
  for (int64_t most = available(attempt); attempt->left > 0 && most > 0;
       attempt->left--, most--, taken = true)
    queue_elements_append(&attempt->elements, queue_store_take(&queue->store));
  if (attempt->left == 0) finish(attempt);
  return taken || attempt->done;
}

static bool try_first(QueueAttempt *attempt) {
  if (line_of(attempt->action) == TAKING) return try_to_take(attempt);
  if (attempt->action != QUEUE_CLOSE) return try_to_add(attempt);
  close_queue(attempt);
  return true;
}

/* Lets both lines go on as far as they can. */
static void advance_lines(Queue *queue) {
  for (bool changed = true; changed;) {
    changed = false;
    for (int line = ADDING; line <= TAKING; line++) {
      QueueAttempt *first = queue->lines[line];
      if (!first || !try_first(first)) continue;
      if (first->done) queue->lines[line] = first->next;
      changed = true;
    }
  }
}

static void join_line(QueueAttempt *attempt) {
  QueueAttempt **at = &attempt->queue->lines[line_of(attempt->action)];
  while (*at) at = &(*at)->next;
  *at = attempt;
}

static void leave_line(QueueAttempt *attempt) {
  QueueAttempt **at = &attempt->queue->lines[line_of(attempt->action)];
  while (*at && *at != attempt) at = &(*at)->next;
  if (*at) *at = attempt->next;
}

/* --- the life of an attempt --- */

static void attempt_free(QueueAttempt *attempt) {
  queue_elements_free(&attempt->elements, attempt->queue->spec.num_components);
  tensor_object_unref(&attempt->queue->source.resource.object);
  mem_free(attempt);
}

/* As in TensorFlow, what was added stays in the queue, and what was taken is lost. */
static void abandon_attempt(PausedKernel *paused) {
  QueueAttempt *attempt = (QueueAttempt *)paused;
  Queue *queue = attempt->queue;
  mutex_lock(&queue->mutex);
  leave_line(attempt);
  advance_lines(queue);
  mutex_unlock(&queue->mutex);
  attempt_free(attempt);
}

static bool add_element(QueueAttempt *attempt, KernelContext *context, Status *status) {
  int count = attempt->queue->spec.num_components;
  QueueElement *element = queue_element_new(count, status);
  if (!element) return false;
  queue_elements_append(&attempt->elements, element);
  for (int i = 0; i < count; i++) TRY(tensor_assign(&element->components[i], context->inputs[1 + i], status));
  return true;
}

static bool add_rows(QueueAttempt *attempt, KernelContext *context, Status *status) {
  int count = attempt->queue->spec.num_components;
  for (int64_t row = 0; row < attempt->left; row++) {
    QueueElement *element = queue_element_new(count, status);
    if (!element) return false;
    queue_elements_append(&attempt->elements, element);
    for (int i = 0; i < count; i++)
      TRY(tensor_copy_row(context->inputs[1 + i], row, context->pool, &element->components[i], status));
  }
  return true;
}

static QueueAttempt *attempt_new(Queue *queue, KernelContext *context, QueueAction action, int64_t count,
                                 Status *status) {
  QueueAttempt *attempt = mem_calloc(1, sizeof *attempt);
  if (!attempt) {
    status_oom(status, "an operation on a queue");
    return NULL;
  }
  attempt->paused.abandon = abandon_attempt;
  attempt->queue = queue;
  tensor_object_ref(&queue->source.resource.object);
  attempt->action = action;
  attempt->left = count;
  status_init(&attempt->status);
  bool ok = action == QUEUE_ADD        ? add_element(attempt, context, status)
            : action == QUEUE_ADD_MANY ? add_rows(attempt, context, status)
                                       : true;
  if (ok) return attempt;
  attempt_free(attempt);
  return NULL;
}

/* --- outputs --- */

static bool give_outputs(QueueAttempt *attempt, KernelContext *context, Status *status) {
  if (attempt->status.code != CODE_OK) {
    *status = attempt->status;
    return false;
  }
  if (line_of(attempt->action) == ADDING) return true;
  if (attempt->action != QUEUE_TAKE) return queue_join(attempt->queue, &attempt->elements, context, status);
  for (int i = 0; i < attempt->queue->spec.num_components; i++)
    tensor_move(&context->outputs[i], &attempt->elements.first->components[i]);
  return true;
}

/* --- actions --- */

static bool is_cancelled(const KernelContext *context) {
  const Step *step = context->step;
  return step && step->stop.cancelled && atomic_load(step->stop.cancelled);
}

static bool refuse_cancelled(QueueAction action, Status *status) {
  return status_set(status, CODE_CANCELLED, "%s operation was cancelled",
                    action == QUEUE_CLOSE       ? "Close"
                    : line_of(action) == ADDING ? "Enqueue"
                                                : "Dequeue");
}

/* Marks the step as blocked. False, with status, when it must not wait. */
static bool wait_for_others(const KernelContext *context, QueueAction action, Status *status) {
  if (!context->step)
    return status_set(status, CODE_FAILED_PRECONDITION, "Only a kernel in a step can wait for a queue");
  return !is_cancelled(context) ? step_block(context->step, status) == RUN_WAITING
                                : refuse_cancelled(action, status);
}

bool queue_attempt(Queue *queue, KernelContext *context, QueueAction action, int64_t count, Status *status) {
  QueueAttempt *attempt = (QueueAttempt *)context->paused;
  bool begins = !attempt;
  if (begins) attempt = attempt_new(queue, context, action, count, status);
  if (!attempt) return false;
  mutex_lock(&queue->mutex);
  if (begins) join_line(attempt);
  advance_lines(queue);
  if (!attempt->done && !wait_for_others(context, action, &attempt->status)) {
    leave_line(attempt);
    advance_lines(queue);
    finish(attempt);
  }
  bool done = attempt->done;
  mutex_unlock(&queue->mutex);
  context->paused = done ? NULL : &attempt->paused;
  if (!done) return true;
  bool ok = give_outputs(attempt, context, status);
  attempt_free(attempt);
  return ok;
}

void queue_cancel_adding(Queue *queue) {
  mutex_lock(&queue->mutex);
  for (QueueAttempt *attempt = queue->lines[ADDING]; attempt; attempt = attempt->next) {
    refuse_cancelled(attempt->action, &attempt->status);
    finish(attempt);
  }
  queue->lines[ADDING] = NULL;
  queue->closed = true;
  advance_lines(queue);
  mutex_unlock(&queue->mutex);
}
