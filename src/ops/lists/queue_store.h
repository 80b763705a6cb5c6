/* QueueStore: the elements of a queue, which gives them in its order: first in, first out; at random; or the
 * element with the smallest priority first. An element is a tuple of tensors.
 *
 * Lists of elements hold what an operation on a queue adds or has taken (ops/lists/queue.h).
 */
#ifndef TFCORE_OPS_LISTS_QUEUE_STORE_H_
#define TFCORE_OPS_LISTS_QUEUE_STORE_H_

#include "ops/support/philox.h"
#include "tensor/tensor.h"

typedef struct QueueElement {
  struct QueueElement *next; /* in a list */
  Tensor components[];
} QueueElement;

/* NULL with status when out of memory. The components are empty. */
QueueElement *queue_element_new(int num_components, Status *status);

typedef struct QueueElements {
  QueueElement *first, *last;
  int64_t count;
} QueueElements;

void queue_elements_append(QueueElements *list, QueueElement *element);
QueueElement *queue_elements_remove_first(QueueElements *list); /* of a list that is not empty */
void queue_elements_free(QueueElements *list, int num_components);

typedef enum QueueOrder {
  QUEUE_FIFO,
  QUEUE_RANDOM,  /* one word of the generator for each element */
  QUEUE_PRIORITY /* component 0, an int64 scalar; equal priorities in the order of TensorFlow's heap */
} QueueOrder;

typedef struct QueueStore {
  QueueOrder order;
  QueueElement **elements; /* a ring that begins at `first`; 0 unless the order is QUEUE_FIFO */
  int64_t first, count, capacity;
  PhiloxStream random;
} QueueStore;

/* The seeds are those of TensorFlow's random ops; they count when the order is QUEUE_RANDOM. */
void queue_store_init(QueueStore *store, QueueOrder order, uint64_t seed, uint64_t seed2);
/* Frees the elements too. */
void queue_store_free(QueueStore *store, int num_components);
/* Takes over the element, on success only. */
MUST_CHECK bool queue_store_add(QueueStore *store, QueueElement *element, Status *status);
/* The next element of a store that is not empty. */
QueueElement *queue_store_take(QueueStore *store);
/* Puts elements back that were taken in this order; not for QUEUE_PRIORITY. The list is empty on success. */
MUST_CHECK bool queue_store_give_back(QueueStore *store, QueueElements *taken, Status *status);

#endif
