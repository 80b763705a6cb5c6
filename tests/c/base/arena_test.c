#include "base/arena.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "harness.h"

TEST(arena_pieces_do_not_overlap) {
  Arena *arena = arena_new();
  REQUIRE(arena);
  enum { COUNT = 2000 };
  unsigned char *pieces[COUNT];
  for (int i = 0; i < COUNT; i++) {
    int size = (i * 37) % 900;
    pieces[i] = arena_alloc(arena, size);
    REQUIRE(pieces[i]);
    CHECK_INT_EQ((uintptr_t)pieces[i] % 8, 0);
    memset(pieces[i], i % 251, (size_t)size);
  }
  for (int i = 0; i < COUNT; i++) {
    int size = (i * 37) % 900, wrong = 0;
    for (int k = 0; k < size; k++) wrong += pieces[i][k] != i % 251;
    CHECK_INT_EQ(wrong, 0);
  }
  arena_free(arena);
}

TEST(arena_refuses_impossible_sizes) {
  Arena *arena = arena_new();
  REQUIRE(arena);
  CHECK(!arena_alloc(arena, -1));
  CHECK(!arena_alloc(arena, INT64_MAX));
  CHECK(!arena_calloc(arena, INT64_MAX / 4, 8));
  CHECK(arena_alloc(arena, 0));
  arena_free(arena);
  arena_free(NULL);
}

TEST(pieces_of_size_zero_are_pieces_too) {
  Arena *arena = arena_new();
  REQUIRE(arena);
  void *first = arena_alloc(arena, 0), *second = arena_calloc(arena, 0, 8);
  CHECK(first && second && first != second);
  arena_free(arena);
}

TEST(arena_texts) {
  Arena *arena = arena_new();
  REQUIRE(arena);
  CHECK_STR_EQ(arena_printf(arena, "%s:%d", "node", 7), "node:7");
  CHECK_STR_EQ(arena_strndup(arena, "abcdef", 3), "abc");
  CHECK_STR_EQ(arena_strdup(arena, ""), "");
  int *numbers = arena_calloc(arena, 3, sizeof *numbers);
  REQUIRE(numbers);
  numbers[2] = 5;
  int *grown = arena_grow(arena, numbers, 3 * sizeof *numbers, 100 * sizeof *numbers);
  REQUIRE(grown);
  CHECK_INT_EQ(grown[0], 0);
  CHECK_INT_EQ(grown[2], 5);
  arena_free(arena);
}

TEST(rollback_gives_back_what_came_after_the_mark) {
  Arena *arena = arena_new();
  REQUIRE(arena);
  char *kept = arena_strdup(arena, "kept");
  ArenaMark mark = arena_mark(arena);
  int64_t bytes = arena_bytes(arena), live = mem_live_bytes();
  for (int i = 0; i < 100; i++) CHECK(arena_alloc(arena, 100 + i * 50));
  ArenaMark inner = arena_mark(arena);
  CHECK(arena_alloc(arena, 5000000));
  arena_rollback(arena, inner);
  CHECK(arena_bytes(arena) > bytes);
  arena_rollback(arena, mark);
  CHECK_INT_EQ(arena_bytes(arena), bytes);
  CHECK_INT_EQ(mem_live_bytes(), live);
  CHECK_STR_EQ(kept, "kept");
  char *again = arena_strdup(arena, "again");
  CHECK_STR_EQ(again, "again");
  CHECK_STR_EQ(kept, "kept");
  arena_free(arena);
}

TEST(a_full_heap_fails_the_arena_softly) {
  mem_fail_after(0);
  Arena *none = arena_new();
  mem_fail_after(-1);
  CHECK(!none);
  Arena *arena = arena_new();
  REQUIRE(arena);
  mem_fail_after(0);
  void *piece = arena_alloc(arena, 100);
  mem_fail_after(-1);
  CHECK(!piece);
  CHECK(arena_alloc(arena, 100));
  arena_free(arena);
}

TEST(arena_texts_and_pieces_share_blocks) {
  Arena *arena = arena_new();
  REQUIRE(arena);
  enum { COUNT = 500 };
  char *texts[COUNT];
  int64_t *pieces[COUNT];
  for (int i = 0; i < COUNT; i++) {
    char text[64];
    snprintf(text, sizeof text, "%0*d", 1 + i % 40, i);
    texts[i] = i % 2 ? arena_strdup(arena, text) : arena_printf(arena, "%s", text);
    pieces[i] = arena_alloc(arena, 1 + i % 24);
    REQUIRE(texts[i] && pieces[i]);
    CHECK_INT_EQ((uintptr_t)pieces[i] % 8, 0);
    memset(pieces[i], 0xff, (size_t)(1 + i % 24));
  }
  for (int i = 0; i < COUNT; i++) {
    char text[64];
    snprintf(text, sizeof text, "%0*d", 1 + i % 40, i);
    CHECK_STR_EQ(texts[i], text);
  }
  ArenaMark mark = arena_mark(arena);
  CHECK_STR_EQ(arena_strdup(arena, "gone"), "gone");
  arena_rollback(arena, mark);
  char *again = arena_strdup(arena, "here");
  CHECK_STR_EQ(again, "here");
  arena_free(arena);
}

TEST(arena_knows_its_memory) {
  Arena *arena = arena_new(), *other = arena_new();
  REQUIRE(arena && other);
  char *small = arena_alloc(arena, 24), *large = arena_alloc(arena, 3 << 20),
       *foreign = arena_alloc(other, 24), local;
  CHECK(arena_owns(arena, small) && arena_owns(arena, small + 23));
  CHECK(arena_owns(arena, large) && arena_owns(arena, large + (3 << 20) - 1));
  CHECK(!arena_owns(arena, foreign) && !arena_owns(arena, &local) && !arena_owns(arena, NULL));
  arena_free(other);
  arena_free(arena);
}
