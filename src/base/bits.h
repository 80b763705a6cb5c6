/* A set of up to 64 small numbers that threads take and give back, as bits of one word: numbers of buffers,
 * one for each thread inside a loop. */
#ifndef TFCORE_BASE_BITS_H_
#define TFCORE_BASE_BITS_H_

#include <stdatomic.h>
#include <stdint.h>

/* The lowest number that nobody has. At most 64 may be taken at a time. */
static inline int bits_take(atomic_uint_fast64_t *taken) {
  uint_fast64_t before = atomic_load_explicit(taken, memory_order_relaxed);
  int number;
  do number = __builtin_ctzll(~before);
  while (!atomic_compare_exchange_weak_explicit(taken, &before, before | (uint_fast64_t)1 << number,
                                                memory_order_acquire, memory_order_relaxed));
  return number;
}

static inline void bits_give_back(atomic_uint_fast64_t *taken, int number) {
  atomic_fetch_and_explicit(taken, ~((uint_fast64_t)1 << number), memory_order_release);
}

#endif
