/* Arenas with little room and no memory behind them. */
#ifndef TFCORE_TESTS_OP_SCARCE_ARENA_H_
#define TFCORE_TESTS_OP_SCARCE_ARENA_H_

#include "base/alloc.h"
#include "base/arena.h"

enum { SCARCE_ARENA_MOST = 4096 };

/* From now on the arena has room for `left` bytes (a multiple of 8, below SCARCE_ARENA_MOST), and no memory is given, until mem_fail_after(-1). */
static inline void scarce_arena(Arena *arena, int64_t left) {
  enum { MARKS = SCARCE_ARENA_MOST / 8 };
  ArenaMark marks[MARKS];
  int64_t taken = 0;
  mem_fail_after(0);
  do marks[taken++ % MARKS] = arena_mark(arena);
  while (arena_alloc(arena, 8) != NULL);
  int64_t wanted = taken - 1 - left / 8;
  arena_rollback(arena, marks[(wanted > 0 ? wanted : 0) % MARKS]);
}

#endif
