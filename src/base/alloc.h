/* The allocator: everything in the engine allocates through these functions, so that live bytes are known
 * exactly and failures can be injected. All functions are thread-safe.
 *
 * There are two kinds of memory. Blocks (mem_alloc) come from a replaceable allocator and stay inside the
 * engine. Loose memory (mem_loose_alloc) is exchanged with programs: they may free() memory of the engine,
 * and the engine frees memory that they took from malloc().
 */
#ifndef TFCORE_BASE_ALLOC_H_
#define TFCORE_BASE_ALLOC_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The underlying allocator. `allocate` returns memory aligned to 64 bytes, or NULL. */
typedef struct Allocator {
  void *(*allocate)(void *context, size_t size);
  void (*deallocate)(void *context, void *memory, size_t size);
  void *context;
} Allocator;

/* Replaces the allocator (NULL: restores the C library's). False if blocks are in use. */
int mem_set_allocator(const Allocator *allocator);

/* Uninitialised memory aligned to 64 bytes; size 0 gives a valid pointer. NULL when out of memory. The size
 * is 64-bit so that a product computed in 64 bits can be passed unchanged: a size that exceeds size_t is
 * refused. */
void *mem_alloc(int64_t size);
/* The same, filled with zeros. */
void *mem_calloc(int64_t count, int64_t size);
/* Grows or shrinks, keeping the content; `memory` may be NULL. On failure NULL, and `memory` stays valid. */
void *mem_realloc(void *memory, int64_t size);
void mem_free(void *memory);
/* A NUL-terminated copy of `length` bytes. */
char *mem_strdup(const char *text, size_t length);

/* Loose memory: from the C library's malloc(), with its alignment, even when the allocator is replaced. NULL
 * when out of memory. */
void *mem_loose_alloc(int64_t size);
/* Frees memory from mem_loose_alloc or from malloc(); `size` is the requested size. */
void mem_loose_free(void *memory, int64_t size);

/* The sum of the requested sizes of live blocks and loose memory. Loose memory counts between the engine's
 * allocation and the engine's free: the sum does not see what a program freed itself, or gave to the engine
 * to free. */
int64_t mem_live_bytes(void);
/* The largest mem_live_bytes() since the start, or since mem_reset_peak(). */
int64_t mem_peak_bytes(void);
void mem_reset_peak(void);
/* Number of successful allocations since the start. */
int64_t mem_allocation_count(void);
/* Shortages, for tests. After `successes` more requests every further one fails, until called with -1. During
 * a shortage, requests that need no new block count and can fail too: a piece of an arena, or an element of
 * an array with free capacity (mem_grow). So every place that requests memory is tested, not only those where
 * a block happens to be full. */
void mem_fail_after(int64_t successes);
/* After `successes` more requests one fails, and later ones succeed; mem_fail_after(-1) cancels this. */
void mem_fail_once(int64_t successes);
/* How many more requests of the shortage succeed; -1 without a shortage. A shortage that begins late enough
 * counts requests. */
int64_t mem_successes_left(void);
/* Called before a piece of existing memory is taken: false when the request is to fail. */
bool mem_may_take_piece(void);

/* Gives a growing array space for `count` elements of `element_size` bytes (amortised doubling). `*array` may
 * be NULL with `*capacity` 0. Returns 0 when out of memory or when the size overflows; the array is then
 * unchanged. */
int mem_grow(void **array, int64_t *capacity, int64_t count, size_t element_size);

#endif
