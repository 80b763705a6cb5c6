/* Buffer: refcounted memory of tensors, and BufferPool: a cache of buffers, so that a step which was run
 * before allocates nothing. Only buffers are refcounted in the whole engine (and resources); counts are
 * atomic. */
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
  void *data;       /* aligned to 64 bytes unless it is somebody else's memory */
  BufferPool *pool; /* where it returns to, or NULL */
  void (*release)(void *data, size_t size, void *argument); /* for somebody else's memory, else NULL */
  void *release_argument;
  void (*destroy_elements)(void *data,
                           int64_t count); /* for elements that own something (strings, objects), else NULL */
  int64_t num_elements;
  struct Buffer *next_free; /* the pool's list */
} Buffer;

/* A buffer of at least `size` uninitialised bytes with one reference; from `pool` when it is not NULL. NULL
 * when out of memory (a pool gives up its cache before that). */
Buffer *buffer_new(BufferPool *pool, int64_t size);
/* Wraps memory that `release`, unless NULL, gives back when the last reference goes (TF_NewTensor). NULL when
 * out of memory; release is then not called. */
Buffer *buffer_wrap(void *data, int64_t size, void (*release)(void *data, size_t size, void *argument),
                    void *argument);
void buffer_ref(Buffer *buffer);
/* NULL is fine. */
void buffer_unref(Buffer *buffer);
/* From now on `size` bytes at data are `count` elements that `destroy` drops when the last reference of the
 * buffer goes, before its memory is reused. The elements must be valid (zeros) already. */
void buffer_own_elements(Buffer *buffer, int64_t count, void (*destroy)(void *data, int64_t count));
/* Buffers that have a reference, in the whole process. */
int buffer_live_count(void);
/* True when the caller holds the only reference and the memory may be written: what in-place kernels ask.
 * Wrapped memory is never written. */
bool buffer_is_unshared(const Buffer *buffer);

/* A pool hands out buffers by size class (4 classes per power of two) and takes them back when their last
 * reference goes. Thread-safe. Buffers may outlive the pool's owner: the pool's memory goes with the last of
 * them. */
BufferPool *buffer_pool_new(void);
/* Frees the cached buffers; those still referenced are freed when they come back. NULL is fine. */
void buffer_pool_release(BufferPool *pool);
/* Frees the cached buffers now and keeps the pool. */
void buffer_pool_trim(BufferPool *pool);
/* Bytes lying in the cache. */
int64_t buffer_pool_cached_bytes(const BufferPool *pool);

#endif
