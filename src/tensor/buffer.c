#include "tensor/buffer.h"

#include <sched.h>
#include <string.h>

#include "base/alloc.h"
#include "tensor/buffer_heap.h"

/* A buffer's memory follows its header in the same allocation. */
enum { ALIGNMENT = 64, HEADER_BYTES = 128 };
_Static_assert(sizeof(Buffer) <= HEADER_BYTES && HEADER_BYTES % ALIGNMENT == 0,
               "data stays aligned behind the header");

/* Classes of 2^p * {1.25, 1.5, 1.75, 2} bytes; class 0 takes everything up to 64. Larger buffers are in the
 * heap: the sizes of activations differ from layer to layer, so that a list for each would hold several times
 * what is used at once. */
enum {
  SMALLEST_LOG2 = 6,
  LARGEST_LOG2 = 16,
  CLASSES_PER_DOUBLING = 4,
  NUM_CLASSES = 1 + (LARGEST_LOG2 - SMALLEST_LOG2) * CLASSES_PER_DOUBLING
};

/* Held only for a few loads and stores, so it spins, on a browser's main thread too. */
typedef atomic_flag Lock;

struct BufferPool {
  Lock lock;
  bool released;
  int64_t outstanding;  /* buffers that are not returned yet */
  int64_t cached_bytes; /* of the lists */
  Buffer *free[NUM_CLASSES];
  BufferHeap heap;
  BufferPool *next; /* of all pools */
};

static void lock(Lock *lock) {
  for (int spins = 0; atomic_flag_test_and_set_explicit(lock, memory_order_acquire); spins++) {
    if (spins % 64 == 63) sched_yield();
  }
}

static void unlock(Lock *lock) { atomic_flag_clear_explicit(lock, memory_order_release); }

static void lock_pool(BufferPool *pool) { lock(&pool->lock); }
static void unlock_pool(BufferPool *pool) { unlock(&pool->lock); }

/* --- live buffers: those with references --- */

/* Pools count theirs, under the lock that they take anyway. */
static atomic_int without_pool;
static Lock pools_lock = ATOMIC_FLAG_INIT;
static BufferPool *pools;

static void add_pool(BufferPool *pool) {
  lock(&pools_lock);
  pool->next = pools;
  pools = pool;
  unlock(&pools_lock);
}

static void free_pool(BufferPool *pool) {
  lock(&pools_lock);
  BufferPool **at = &pools;
  while (*at != pool) at = &(*at)->next;
  *at = pool->next;
  unlock(&pools_lock);
  mem_free(pool);
}

int buffer_live_count(void) {
  int64_t count = atomic_load_explicit(&without_pool, memory_order_relaxed);
  lock(&pools_lock);
  for (BufferPool *pool = pools; pool; pool = pool->next) {
    lock_pool(pool);
    count += pool->outstanding;
    unlock_pool(pool);
  }
  unlock(&pools_lock);
  return (int)count;
}

static _Thread_local BufferObserver *thread_observer;

BufferObserver *buffer_observe(BufferObserver *observer) {
  BufferObserver *before = thread_observer;
  thread_observer = observer;
  return before;
}

static Buffer *counted(Buffer *buffer) {
  if (!buffer) return NULL;
  if (!buffer->pool) atomic_fetch_add_explicit(&without_pool, 1, memory_order_relaxed);
  if (thread_observer) thread_observer->note(thread_observer, buffer, false);
  return buffer;
}

static int class_of(int64_t size) {
  if (size <= (int64_t)1 << SMALLEST_LOG2) return 0;
  uint64_t last = (uint64_t)size - 1;
  int log2 = 63 - __builtin_clzll(last), quarter = (int)(last >> (log2 - 2) & 3);
  return 1 + (log2 - SMALLEST_LOG2) * CLASSES_PER_DOUBLING + quarter;
}

static int64_t class_size(int index) {
  if (index == 0) return (int64_t)1 << SMALLEST_LOG2;
  int log2 = SMALLEST_LOG2 + (index - 1) / CLASSES_PER_DOUBLING, quarter = (index - 1) % CLASSES_PER_DOUBLING;
  return (int64_t)(5 + quarter) << (log2 - 2);
}

/* Makes the header of a buffer with `size` bytes behind it; `memory` may be NULL. */
static Buffer *begin_buffer(void *memory, int64_t size) {
  Buffer *buffer = memory;
  if (!buffer) return NULL;
  *buffer = (Buffer){.size = size, .data = (char *)buffer + HEADER_BYTES};
  atomic_init(&buffer->references, 1);
  return buffer;
}

static Buffer *allocate(int64_t size) { return begin_buffer(mem_alloc(HEADER_BYTES + size), size); }

static bool is_large(int64_t size) { return size > (int64_t)1 << LARGEST_LOG2; }

/* A small buffer that is cached; NULL: none. */
static Buffer *take_cached(BufferPool *pool, int index) {
  lock_pool(pool);
  Buffer *buffer = pool->free[index];
  if (buffer) {
    pool->free[index] = buffer->next_free;
    pool->cached_bytes -= buffer->size;
    pool->outstanding++;
  }
  unlock_pool(pool);
  if (buffer) buffer->next_free = NULL;
  return buffer;
}

static Buffer *take_small(BufferPool *pool, int64_t size) {
  int index = class_of(size);
  Buffer *buffer = take_cached(pool, index);
  if (buffer) return buffer;
  buffer = allocate(class_size(index));
  if (!buffer) {
    buffer_pool_trim(pool);
    buffer = allocate(class_size(index));
  }
  if (!buffer) return NULL;
  buffer->pool = pool;
  lock_pool(pool);
  pool->outstanding++;
  unlock_pool(pool);
  return buffer;
}

/* Memory of the pool's heap, which gets `added` first if that is not NULL. `*region_size`: of a region that
 * would suffice. */
static void *take_from_heap(BufferPool *pool, int64_t size, HeapRegion *added, int64_t *region_size) {
  lock_pool(pool);
  if (added) buffer_heap_add(&pool->heap, added);
  void *memory = buffer_heap_take(&pool->heap, size);
  if (memory) pool->outstanding++;
  *region_size = buffer_heap_region_size(&pool->heap, size);
  unlock_pool(pool);
  return memory;
}

static Buffer *take_large(BufferPool *pool, int64_t size) {
  int64_t bytes = HEADER_BYTES + size, region_size;
  void *memory = take_from_heap(pool, bytes, NULL, &region_size);
  while (!memory) { /* another thread may take the region's memory first */
    HeapRegion *region = heap_region_new(region_size, bytes);
    if (!region) {
      buffer_pool_trim(pool);
      region = heap_region_new(region_size, bytes);
    }
    if (!region) return NULL;
    memory = take_from_heap(pool, bytes, region, &region_size);
  }
  Buffer *buffer = begin_buffer(memory, buffer_heap_block_size(memory) - HEADER_BYTES);
  buffer->pool = pool;
  return buffer;
}

static Buffer *take_or_allocate(BufferPool *pool, int64_t size) {
  if (!pool) return allocate(size);
  return is_large(size) ? take_large(pool, size) : take_small(pool, size);
}

Buffer *buffer_new(BufferPool *pool, int64_t size) {
  return size < 0 || size > INT64_MAX / 4 ? NULL : counted(take_or_allocate(pool, size));
}

Buffer *buffer_wrap(void *data, int64_t size, void (*release)(void *data, size_t size, void *argument),
                    void *argument) {
  Buffer *buffer = mem_alloc(sizeof *buffer);
  if (!buffer) return NULL;
  *buffer = (Buffer){.size = size, .data = data, .release = release, .release_argument = argument};
  atomic_init(&buffer->references, 1);
  return counted(buffer);
}

void buffer_own_elements(Buffer *buffer, int64_t count, void (*destroy)(void *data, int64_t count)) {
  buffer->num_elements = count;
  buffer->destroy_elements = destroy;
}

/* Adds a small buffer to the pool's list, with one reference for its next user. */
static void cache(BufferPool *pool, Buffer *buffer) {
  int index = class_of(buffer->size);
  if (atomic_load_explicit(&buffer->references, memory_order_relaxed) != 1)
    atomic_store_explicit(&buffer->references, 1, memory_order_relaxed);
  buffer->next_free = pool->free[index];
  pool->free[index] = buffer;
  pool->cached_bytes += buffer->size;
}

/* Returns the buffer to its pool, and frees its memory if the pool's owner is gone. */
static void give_back(Buffer *buffer) {
  BufferPool *pool = buffer->pool;
  HeapRegion *unused = NULL;
  bool large = is_large(buffer->size);
  lock_pool(pool);
  bool released = pool->released, last = --pool->outstanding == 0;
  if (large) {
    buffer_heap_give(&pool->heap, buffer);
    if (released) unused = buffer_heap_remove_free(&pool->heap);
  } else if (!released) {
    cache(pool, buffer);
  }
  unlock_pool(pool);
  if (!released) return;
  heap_regions_free(unused);
  if (!large) mem_free(buffer);
  if (last) free_pool(pool);
}

void buffer_free(Buffer *buffer) {
  if (!buffer->pool) atomic_fetch_sub_explicit(&without_pool, 1, memory_order_relaxed);
  if (thread_observer) thread_observer->note(thread_observer, buffer, true);
  if (buffer->destroy_elements) {
    buffer->destroy_elements(buffer->data, buffer->num_elements);
    buffer->destroy_elements = NULL;
  }
  if (buffer->release) buffer->release(buffer->data, (size_t)buffer->size, buffer->release_argument);
  if (buffer->pool) {
    give_back(buffer);
  } else {
    mem_free(buffer);
  }
}

bool buffer_is_unshared(const Buffer *buffer) {
  bool wrapped = buffer->data != (const char *)buffer + HEADER_BYTES;
  return !wrapped && atomic_load_explicit(&buffer->references, memory_order_acquire) == 1;
}

BufferPool *buffer_pool_new(void) {
  BufferPool *pool = mem_calloc(1, sizeof *pool);
  if (!pool) return NULL;
  atomic_flag_clear(&pool->lock);
  add_pool(pool);
  return pool;
}

/* Frees the cached buffers; with `release` also marks the pool as abandoned by its owner. True when no buffer
 * will be returned. */
static bool empty_pool(BufferPool *pool, bool release) {
  Buffer *chains[NUM_CLASSES];
  lock_pool(pool);
  memcpy(chains, pool->free, sizeof chains);
  memset(pool->free, 0, sizeof pool->free);
  pool->cached_bytes = 0;
  if (release) pool->released = true;
  bool last = pool->outstanding == 0;
  HeapRegion *unused = buffer_heap_remove_free(&pool->heap);
  unlock_pool(pool);
  heap_regions_free(unused);
  for (int i = 0; i < NUM_CLASSES; i++) {
    for (Buffer *buffer = chains[i]; buffer;) {
      Buffer *next = buffer->next_free;
      mem_free(buffer);
      buffer = next;
    }
  }
  return last;
}

void buffer_pool_trim(BufferPool *pool) { empty_pool(pool, false); }

void buffer_pool_settle(BufferPool *pool) {
  lock_pool(pool);
  HeapRegion *unused = buffer_heap_settle(&pool->heap);
  unlock_pool(pool);
  heap_regions_free(unused);
}

void buffer_pool_release(BufferPool *pool) {
  if (pool && empty_pool(pool, true)) free_pool(pool);
}

int64_t buffer_pool_cached_bytes(const BufferPool *pool) {
  BufferPool *locked = (BufferPool *)pool;
  lock_pool(locked);
  int64_t bytes = locked->cached_bytes + locked->heap.held - locked->heap.used;
  unlock_pool(locked);
  return bytes;
}
