#include "runtime/core_distance.h"

#include <stdatomic.h>

#include "base/clock.h"

enum { ROUNDS = 128, LOOKS = 200000, OVER = -1 };

/* Two threads take turns: the one that asks makes the number odd, the other even. */
typedef struct Exchange {
  _Alignas(64) atomic_int turn;
  int64_t distance;
} Exchange;

/* Waits until it is the turn of `turn`; false when the exchange is over, or after too many looks. */
static bool await_turn(Exchange *exchange, int turn, int *looks) {
  while (*looks > 0) {
    int now = atomic_load_explicit(&exchange->turn, memory_order_relaxed);
    if (now == turn || now == OVER) return now == turn;
    --*looks;
  }
  return false;
}

static void ask(Exchange *exchange) {
  int looks = LOOKS, round = 0;
  int64_t begin = 0;
  for (; round <= ROUNDS; round++) {
    if (round == 1) begin = clock_nanoseconds(); /* the other thread has begun */
    atomic_store_explicit(&exchange->turn, 2 * round + 1, memory_order_relaxed);
    if (!await_turn(exchange, 2 * round + 2, &looks)) break;
  }
  if (round > ROUNDS) exchange->distance = (clock_nanoseconds() - begin) / ROUNDS;
  atomic_store_explicit(&exchange->turn, OVER, memory_order_relaxed);
}

static void answer(Exchange *exchange) {
  int looks = LOOKS;
  for (int round = 0; await_turn(exchange, 2 * round + 1, &looks); round++)
    atomic_store_explicit(&exchange->turn, 2 * round + 2, memory_order_relaxed);
}

static void take_turns(void *arg, int64_t begin, int64_t end) {
  if (end - begin > 1) return; /* no other thread takes part */
  if (begin == 0) ask(arg);
  else answer(arg);
}

int64_t core_distance(const Parallel *parallel) {
  Exchange exchange = {.distance = INT64_MAX};
  parallel->run(parallel->pool, 2, 1, PARALLEL_SHORT, take_turns, &exchange);
  return exchange.distance;
}
