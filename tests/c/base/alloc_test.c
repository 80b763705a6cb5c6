#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "harness.h"

TEST(blocks_are_aligned_and_counted) {
  int64_t before = mem_live_bytes();
  void *a = mem_alloc(100), *b = mem_alloc(0);
  REQUIRE(a && b);
  CHECK_INT_EQ((uintptr_t)a % 64, 0);
  CHECK_INT_EQ((uintptr_t)b % 64, 0);
  CHECK_INT_EQ(mem_live_bytes() - before, 100);
  mem_free(a);
  mem_free(b);
  mem_free(NULL);
  CHECK_INT_EQ(mem_live_bytes(), before);
}

TEST(sizes_that_no_memory_has_are_refused) {
  CHECK(!mem_alloc(-1));
  CHECK(!mem_alloc(INT64_MAX));
  CHECK(!mem_calloc(INT64_MAX / 2, 3));
  CHECK(!mem_calloc(-1, 4));
}

TEST(realloc_keeps_the_content) {
  char *text = mem_strdup("twelve bytes", 12);
  REQUIRE(text);
  char *grown = mem_realloc(text, 1000);
  REQUIRE(grown);
  CHECK_STR_EQ(grown, "twelve bytes");
  char *shrunk = mem_realloc(grown, 6);
  REQUIRE(shrunk);
  CHECK_MEM_EQ(shrunk, "twelve", 6);
  mem_free(shrunk);
}

/* Memory for the C library's free(), even when the allocator is replaced. */
TEST(loose_memory_is_counted_and_free_takes_it) {
  int64_t before = mem_live_bytes(), count = mem_allocation_count();
  void *kept = mem_loose_alloc(100), *given = mem_loose_alloc(50), *taken = malloc(50),
       *none = mem_loose_alloc(0);
  REQUIRE(kept && given && taken && none);
  CHECK_INT_EQ(mem_live_bytes() - before, 150);
  CHECK_INT_EQ(mem_allocation_count() - count, 3);
  mem_loose_free(kept, 100);
  mem_loose_free(none, 0);
  mem_loose_free(NULL, 7);
  free(given);               /* a program frees the memory itself, so 50 too many are counted */
  mem_loose_free(taken, 50); /* and it gives as much to the engine to free */
  CHECK_INT_EQ(mem_live_bytes(), before);
  CHECK(!mem_loose_alloc(-1));
  CHECK(!mem_loose_alloc(INT64_MAX));
  mem_fail_after(0);
  void *refused = mem_loose_alloc(1);
  mem_fail_after(-1);
  CHECK(!refused);
}

TEST(the_peak_is_the_most_that_lived_at_once) {
  int64_t before = mem_live_bytes();
  mem_reset_peak();
  CHECK_INT_EQ(mem_peak_bytes(), before);
  mem_free(mem_alloc(1000));
  void *loose = mem_loose_alloc(300), *block = mem_alloc(200);
  CHECK_INT_EQ(mem_peak_bytes() - before, 1000);
  mem_free(block);
  block = mem_alloc(900);
  CHECK_INT_EQ(mem_peak_bytes() - before, 1200);
  mem_free(block);
  mem_loose_free(loose, 300);
  CHECK_INT_EQ(mem_peak_bytes() - before, 1200);
  mem_reset_peak();
  CHECK_INT_EQ(mem_peak_bytes(), before);
}

TEST(failures_can_be_injected) {
  mem_fail_after(1);
  void *first = mem_alloc(1), *second = mem_alloc(1);
  void *grown = mem_realloc(first, 100);
  mem_fail_after(-1);
  CHECK(first);
  CHECK(!second);
  CHECK(!grown);
  mem_free(first);
}

TEST(pieces_of_blocks_fail_while_memory_is_short) {
  int *array = NULL;
  int64_t capacity = 0;
  Arena *arena = arena_new();
  REQUIRE(arena && arena_alloc(arena, 8) && mem_grow((void **)&array, &capacity, 1, sizeof *array));
  int64_t count = mem_allocation_count();
  mem_fail_once(3);
  CHECK(arena_alloc(arena, 8));
  CHECK(arena_strdup(arena, "text"));
  CHECK_INT_EQ(mem_successes_left(), 1);
  CHECK(mem_grow((void **)&array, &capacity, 2, sizeof *array));
  CHECK(!mem_grow((void **)&array, &capacity, 2, sizeof *array));
  CHECK_INT_EQ(mem_successes_left(), -1);
  mem_fail_after(0);
  CHECK(!arena_alloc(arena, 8));
  CHECK(!arena_strdup(arena, "text"));
  mem_fail_after(-1);
  CHECK(arena_alloc(arena, 8));
  CHECK_INT_EQ(mem_allocation_count(), count);
  arena_free(arena);
  mem_free(array);
}

TEST(arrays_grow) {
  int *array = NULL;
  int64_t capacity = 0;
  for (int i = 0; i < 1000; i++) {
    REQUIRE(mem_grow((void **)&array, &capacity, i + 1, sizeof *array));
    array[i] = i;
  }
  for (int i = 0; i < 1000; i++) CHECK_INT_EQ(array[i], i);
  CHECK(!mem_grow((void **)&array, &capacity, INT64_MAX, sizeof *array));
  CHECK_INT_EQ(array[999], 999);
  mem_free(array);
}

static int64_t handed_out;

static void *count_allocate(void *context, size_t size) {
  (void)context;
  handed_out += (int64_t)size;
  return NULL;
}

static void count_deallocate(void *context, void *memory, size_t size) {
  (void)context;
  (void)memory;
  (void)size;
}

TEST(the_table_can_be_replaced_while_nothing_is_live) {
  const Allocator table = {count_allocate, count_deallocate, NULL};
  if (mem_live_bytes() != 0) return;
  CHECK(mem_set_allocator(&table));
  CHECK(!mem_alloc(10));
  CHECK(handed_out >= 10);
  CHECK(mem_set_allocator(NULL));
  void *memory = mem_alloc(10);
  CHECK(memory);
  CHECK(!mem_set_allocator(&table));
  mem_free(memory);
}
