/* How loops use the caches.
 *
 * A loop that reads short pieces of many rows in turn waits for each of them when they come from memory: the
 * processor's prefetchers follow only a few streams. Read once from front to back beforehand, they come at
 * full speed. WebAssembly has no instruction to prefetch, so the loads are real ones.
 */
#ifndef TFCORE_BASE_CACHE_H_
#define TFCORE_BASE_CACHE_H_

#include <stdbool.h>
#include <stdint.h>

/* Whether `bytes` of memory, all of which a loop reads, do not stay near the core. Where they do, fetching
 * costs more than it saves. */
static inline bool cache_is_far(int64_t bytes) { return bytes > 2560 << 10; }

/* Whether addresses that are multiples of `stride` bytes apart compete for few places of a first-level cache:
 * the bits that choose the place are above the low six and within the low twelve. */
static inline bool cache_competes(int64_t stride) { return stride % 2048 == 0; }

/* Reads each cache line of [from, from + bytes). */
static inline void cache_fetch(const void *from, int64_t bytes) {
  enum { LINE = 64 };
  for (int64_t i = 0; i < bytes; i += LINE) (void)((const volatile char *)from)[i];
}

#endif
