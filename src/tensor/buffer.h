/* Buffer: refcounted memory of tensors, and BufferPool: a cache of buffers, so that a repeated step allocates
 * nothing. Buffers and resources are the only refcounted objects of the engine; counts are atomic. */
#ifndef TFCORE_TENSOR_BUFFER_H_
#define TFCORE_TENSOR_BUFFER_H_

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct BufferPool BufferPool;

typedef struct Buffer {
  atomic_int references;
  int64_t size;     /* usable bytes at data */
  void *data;       /* aligned to 64 bytes unless the memory is wrapped */
  BufferPool *pool; /* the pool that it returns to, or NULL */
  void (*release)(void *data, size_t size, void *argument); /* for wrapped memory, else NULL */
  void *release_argument;
  void (*destroy_elements)(void *data,
                           int64_t count); /* for elements that own memory (strings, objects), else NULL */
  int64_t num_elements;
  struct Buffer *next_free; /* link of the pool's list */
} Buffer;

/* A buffer of at least `size` uninitialised bytes with one reference; from `pool` if that is not NULL. NULL
 * when out of memory (a pool frees its cache first). */
Buffer *buffer_new(BufferPool *pool, int64_t size);
/* Wraps memory. `release` (may be NULL) frees it when the last reference is dropped (TF_NewTensor). NULL when
 * out of memory; release is then not called. */
Buffer *buffer_wrap(void *data, int64_t size, void (*release)(void *data, size_t size, void *argument),
                    void *argument);
static inline void buffer_ref(Buffer *buffer) {
  atomic_fetch_add_explicit(&buffer->references, 1, memory_order_relaxed);
}
/* The last reference was dropped; buffer_unref calls it. */
void buffer_free(Buffer *buffer);
/* NULL is fine. Who holds the only reference need not subtract it: atomic writes cost much more than reads.
 */
static inline void buffer_unref(Buffer *buffer) {
  if (!buffer) return;
  if (atomic_load_explicit(&buffer->references, memory_order_acquire) == 1 ||
      atomic_fetch_sub_explicit(&buffer->references, 1, memory_order_acq_rel) == 1)
    buffer_free(buffer);
}
/* Makes `destroy` drop the `count` elements in `size` bytes at data when the buffer's last reference is
 * dropped, before its memory is reused. The elements must be valid (zeros). */
void buffer_own_elements(Buffer *buffer, int64_t count, void (*destroy)(void *data, int64_t count));
/* The number of buffers with references in the process. */
int buffer_live_count(void);
/* Whether an in-place kernel may write to the memory: the caller holds the only reference, and the memory is
 * not wrapped. */
bool buffer_is_unshared(const Buffer *buffer);

/* Sees what a thread allocates and frees: `note` is called with each new buffer, and (`freed`) with each
 * buffer whose last reference is dropped, before its memory is reused. */
typedef struct BufferObserver {
  void (*note)(struct BufferObserver *observer, const Buffer *buffer, bool freed);
} BufferObserver;
/* Sets the observer of the calling thread (NULL: none) and returns the one before. */
BufferObserver *buffer_observe(BufferObserver *observer);

/* A pool provides buffers and takes them back when their last reference is dropped: small ones by size class
 * (4 classes per power of two), large ones from a heap (tensor/buffer_heap.h), in which they share memory
 * with others of any size. Thread-safe. Buffers may outlive the pool's owner: the last of them frees the
 * pool's memory. */
BufferPool *buffer_pool_new(void);
/* Frees the cached buffers; those in use are freed when they are returned. NULL is fine. */
void buffer_pool_release(BufferPool *pool);
/* Frees the cached buffers now and keeps the pool. */
void buffer_pool_trim(BufferPool *pool);
/* Between steps: if the last one allocated memory for large buffers, the next one gets it in one piece. */
void buffer_pool_settle(BufferPool *pool);
/* The memory that the pool holds and no buffer uses. */
int64_t buffer_pool_cached_bytes(const BufferPool *pool);

#endif
