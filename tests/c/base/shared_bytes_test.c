#include "base/shared_bytes.h"

#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/sync.h"
#include "harness.h"

TEST(shared_bytes_live_until_their_last_reference) {
  int64_t before = mem_live_bytes();
  char *bytes = shared_bytes_new(5000);
  REQUIRE(bytes);
  CHECK_INT_EQ((uintptr_t)bytes % 64, 0);
  memset(bytes, 7, 5000);
  CHECK(shared_bytes_ref(bytes));
  shared_bytes_unref(bytes);
  CHECK_INT_EQ(bytes[4999], 7);
  shared_bytes_unref(bytes);
  CHECK_INT_EQ(mem_live_bytes(), before);
  CHECK(!shared_bytes_new(-1) && !shared_bytes_new(INT64_MAX));
}

TEST(only_the_beginning_of_shared_bytes_can_be_shared) {
  char other[128];
  char *bytes = shared_bytes_new(128);
  REQUIRE(bytes);
  CHECK(!shared_bytes_ref(other) && !shared_bytes_ref(bytes + 64) && !shared_bytes_ref(NULL));
  shared_bytes_unref(bytes);
  CHECK(!shared_bytes_ref(bytes));
}

TEST(many_shared_bytes_are_told_apart) {
  enum { COUNT = 5000 };
  static void *all[COUNT];
  for (int i = 0; i < COUNT; i++) REQUIRE((all[i] = shared_bytes_new(i % 100)));
  for (int i = 0; i < COUNT; i += 2) shared_bytes_unref(all[i]);
  for (int i = 1; i < COUNT; i += 2) CHECK(shared_bytes_ref(all[i]));
  for (int i = 1; i < COUNT; i += 2) {
    shared_bytes_unref(all[i]);
    shared_bytes_unref(all[i]);
  }
}

TEST(long_bytes_of_arenas_are_shared) {
  enum { LENGTH = SHARED_BYTES_LEAST };
  static char text[LENGTH];
  int64_t before = mem_live_bytes();
  Arena *first = arena_new(), *second = arena_new();
  REQUIRE(first && second);
  text[LENGTH - 1] = 'z';
  char *copy = arena_copy_bytes(first, text, LENGTH), *small = arena_copy_bytes(first, "abc", 4);
  REQUIRE(copy && small);
  CHECK(copy != text && memcmp(copy, text, LENGTH) == 0);
  CHECK_STR_EQ(small, "abc");
  CHECK(arena_owns(first, copy + LENGTH - 1) && !arena_owns(second, copy));
  ArenaMark mark = arena_mark(second);
  CHECK(arena_copy_bytes(second, copy, LENGTH) == copy && arena_owns(second, copy));
  arena_rollback(second, mark);
  CHECK(!arena_owns(second, copy));
  CHECK(arena_copy_bytes(second, copy, LENGTH) == copy);
  arena_free(first);
  CHECK_INT_EQ(copy[LENGTH - 1], 'z');
  arena_free(second);
  CHECK_INT_EQ(mem_live_bytes(), before);
}

TEST(bytes_of_arenas_say_that_memory_ran_out) {
  static char text[SHARED_BYTES_LEAST];
  Arena *arena = arena_new();
  int64_t bytes = mem_live_bytes();
  for (int after = 0; after < 2; after++) { /* the bytes, and what the arena notes about them */
    mem_fail_after(after);
    CHECK(!arena_copy_bytes(arena, text, sizeof text));
    mem_fail_after(-1);
    CHECK_INT_EQ(mem_live_bytes(), bytes);
  }
  CHECK(!arena_copy_bytes(arena, text, SIZE_MAX));
  arena_free(arena);
}

#if SYNC_HAS_THREADS
static void *take_and_drop(void *bytes) {
  for (int i = 0; i < 1000; i++) {
    if (!shared_bytes_ref(bytes)) return NULL;
    void *own = shared_bytes_new(100);
    shared_bytes_unref(bytes);
    if (own) shared_bytes_unref(own);
  }
  return bytes;
}

TEST(threads_share_bytes) {
  enum { THREADS = 4 };
  Thread threads[THREADS];
  int64_t before = mem_live_bytes();
  void *bytes = shared_bytes_new(100);
  int started = 0;
  REQUIRE(bytes);
  while (started < THREADS && CHECK(thread_start(&threads[started], take_and_drop, bytes))) started++;
  for (int i = 0; i < started; i++) thread_join(threads[i]);
  CHECK(shared_bytes_ref(bytes));
  shared_bytes_unref(bytes);
  shared_bytes_unref(bytes);
  CHECK_INT_EQ(mem_live_bytes(), before);
}
#endif
