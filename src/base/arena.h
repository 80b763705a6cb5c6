/* Arena: memory that is freed all at once. Graphs, functions and programs own one each; the messages,
 * names and arrays that live as long as their owner come from it. Not thread-safe: one owner, one
 * thread at a time. */
#ifndef TFCORE_BASE_ARENA_H_
#define TFCORE_BASE_ARENA_H_

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef struct Arena Arena;

/* NULL when out of memory. */
Arena *arena_new(void);
/* NULL is fine. */
void arena_free(Arena *arena);
/* Uninitialised memory aligned to 8 bytes; NULL when out of memory or when size is negative or too large. */
void *arena_alloc(Arena *arena, int64_t size);
/* The same, filled with zeros; the product is checked. */
void *arena_calloc(Arena *arena, int64_t count, int64_t size);
/* NUL-terminated copies; not aligned. */
char *arena_strdup(Arena *arena, const char *text);
char *arena_strndup(Arena *arena, const char *text, size_t length);
char *arena_printf(Arena *arena, const char *format, ...) PRINTF_LIKE(2, 3);
/* A copy of bytes that nobody changes. The copy of long bytes is shared (base/shared_bytes.h), also with the
 * original if that is. NULL when out of memory. */
void *arena_copy_bytes(Arena *arena, const void *bytes, size_t size);
/* A larger copy of an array in the arena; the old copy stays until the arena is freed. */
void *arena_grow(Arena *arena, const void *array, int64_t old_bytes, int64_t new_bytes);
/* A point to return to: arena_rollback releases everything allocated after the mark. Marks nest. An operation
 * that fails half-way thus leaves its owner's memory unchanged. */
typedef struct ArenaMark {
  void *block;
  char *cursor;
  int64_t left, next_capacity;
} ArenaMark;
ArenaMark arena_mark(const Arena *arena);
void arena_rollback(Arena *arena, ArenaMark mark);
/* Whether `pointer` points into memory of the arena. Takes time for every block: large arenas have one per
 * megabyte. */
bool arena_owns(const Arena *arena, const void *pointer);
/* Bytes that the arena holds from the heap. */
int64_t arena_bytes(const Arena *arena);

#endif
