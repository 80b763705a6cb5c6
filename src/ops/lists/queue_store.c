#include "ops/lists/queue_store.h"

#include "base/alloc.h"

/* --- elements --- */

QueueElement *queue_element_new(int num_components, Status *status) {
  QueueElement *element = mem_calloc(1, (int64_t)sizeof *element + num_components * (int64_t)sizeof(Tensor));
  if (!element) status_oom(status, "an element of a queue");
  return element;
}

void queue_elements_append(QueueElements *list, QueueElement *element) {
  element->next = NULL;
  if (list->last) list->last->next = element;
  if (!list->first) list->first = element;
  list->last = element;
  list->count++;
}

QueueElement *queue_elements_remove_first(QueueElements *list) {
  QueueElement *element = list->first;
  list->first = element->next;
  if (!list->first) list->last = NULL;
  list->count--;
  return element;
}

static void element_free(QueueElement *element, int num_components) {
  for (int i = 0; i < num_components; i++) tensor_clear(&element->components[i]);
  mem_free(element);
}

void queue_elements_free(QueueElements *list, int num_components) {
  while (list->first) element_free(queue_elements_remove_first(list), num_components);
}

/* --- the ring --- */

void queue_store_init(QueueStore *store, QueueOrder order, uint64_t seed, uint64_t seed2) {
  *store = (QueueStore){.order = order, .random.generator = philox_seed(seed, seed2)};
}

static QueueElement **place(const QueueStore *store, int64_t i) {
  int64_t at = store->first + i;
  return &store->elements[at < store->capacity ? at : at - store->capacity];
}

void queue_store_free(QueueStore *store, int num_components) {
  for (int64_t i = 0; i < store->count; i++) element_free(*place(store, i), num_components);
  mem_free(store->elements);
  *store = (QueueStore){.order = store->order};
}

/* Room for `count` more elements. The ring is unrolled when it moves. */
static bool reserve(QueueStore *store, int64_t count, Status *status) {
  if (store->count + count <= store->capacity) return true;
  QueueElement **grown = NULL;
  int64_t capacity = 0;
  if (!mem_grow((void **)&grown, &capacity, store->count + count + store->capacity / 2, sizeof *grown))
    return status_oom(status, "a queue");
  for (int64_t i = 0; i < store->count; i++) grown[i] = *place(store, i);
  mem_free(store->elements);
  store->elements = grown;
  store->capacity = capacity;
  store->first = 0;
  return true;
}

/* --- the heap: no element is smaller than its parent; ties are decided as by the C++ library's --- */

static int64_t priority(const QueueElement *element) { return *tensor_i64(&element->components[0]); }

/* Puts the element at `at` or above. */
static void sift_up(QueueStore *store, int64_t at, QueueElement *element) {
  QueueElement **heap = store->elements;
  for (; at > 0 && priority(heap[(at - 1) / 2]) > priority(element); at = (at - 1) / 2)
    heap[at] = heap[(at - 1) / 2];
  heap[at] = element;
}

/* The hole at the root moves down to a leaf, and the last element takes its place. */
static QueueElement *take_smallest(QueueStore *store) {
  QueueElement **heap = store->elements, *smallest = heap[0], *last = heap[--store->count];
  int64_t hole = 0, left;
  for (; (left = 2 * hole + 1) < store->count; hole = left) {
    if (left + 1 < store->count && priority(heap[left + 1]) <= priority(heap[left])) left++;
    heap[hole] = heap[left];
  }
  if (store->count > 0) sift_up(store, hole, last);
  return smallest;
}

/* --- random --- */

/* The last element takes the place of the one that is taken. */
static QueueElement *take_any(QueueStore *store) {
  uint32_t word = philox_stream_next(&store->random);
  QueueElement **at = &store->elements[word % (uint64_t)store->count], *taken = *at;
  *at = store->elements[--store->count];
  return taken;
}

/* --- all orders --- */

bool queue_store_add(QueueStore *store, QueueElement *element, Status *status) {
  TRY(reserve(store, 1, status));
  *place(store, store->count++) = element;
  if (store->order == QUEUE_PRIORITY) sift_up(store, store->count - 1, element);
  return true;
}

QueueElement *queue_store_take(QueueStore *store) {
  if (store->order == QUEUE_RANDOM) return take_any(store);
  if (store->order == QUEUE_PRIORITY) return take_smallest(store);
  QueueElement *element = *place(store, 0);
  store->first = store->first + 1 == store->capacity ? 0 : store->first + 1;
  store->count--;
  return element;
}

/* To the front of a FIFO queue, and in reverse to the back of a random one, as in TensorFlow. */
bool queue_store_give_back(QueueStore *store, QueueElements *taken, Status *status) {
  int64_t count = taken->count, end = store->count + count;
  TRY(reserve(store, count, status));
  if (store->order == QUEUE_FIFO && count > 0)
    store->first = (store->first + store->capacity - count) % store->capacity;
  for (int64_t i = 0; i < count; i++)
    *place(store, store->order == QUEUE_FIFO ? i : end - 1 - i) = queue_elements_remove_first(taken);
  store->count = end;
  return true;
}
