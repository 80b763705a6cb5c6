#include "base/arena.h"

#include <stdarg.h>
#include <string.h>

#include "base/alloc.h"
#include "base/shared_bytes.h"
#include "base/text_format.h"

enum { ALIGNMENT = 8, FIRST_BLOCK = 1024, LARGEST_BLOCK = 1 << 20 };

typedef struct Block {
  struct Block *next;
  int64_t capacity; /* of the bytes after this header, or of `shared` */
  void *shared;     /* shared bytes to which the arena has a reference, or NULL */
} Block;

_Static_assert(sizeof(Block) % ALIGNMENT == 0, "what follows the header is aligned");

struct Arena {
  Block *blocks; /* newest first */
  char *cursor;  /* into the current block: aligned pieces are taken from the front, texts from the back */
  int64_t left;  /* bytes between the two */
  int64_t next_capacity;
  int64_t bytes;
};

Arena *arena_new(void) {
  Arena *arena = mem_calloc(1, sizeof *arena);
  if (arena) arena->next_capacity = FIRST_BLOCK;
  return arena;
}

static void free_block(Block *block) {
  if (block->shared) shared_bytes_unref(block->shared);
  mem_free(block);
}

void arena_free(Arena *arena) {
  if (!arena) return;
  for (Block *block = arena->blocks; block;) {
    Block *next = block->next;
    free_block(block);
    block = next;
  }
  mem_free(arena);
}

/* Takes the reference to `shared`, if that is not NULL. */
static Block *add_block(Arena *arena, int64_t capacity, void *shared) {
  Block *block = mem_alloc((shared ? 0 : capacity) + (int64_t)sizeof *block);
  if (!block) return NULL;
  *block = (Block){arena->blocks, capacity, shared};
  arena->blocks = block;
  arena->bytes += capacity + (int64_t)sizeof *block;
  return block;
}

void *arena_alloc(Arena *arena, int64_t size) {
  if (size < 0 || size > INT64_MAX - 2 * ALIGNMENT || !mem_may_take_piece()) return NULL;
  int64_t rounded = size > 0 ? (size + ALIGNMENT - 1) & ~(int64_t)(ALIGNMENT - 1) : ALIGNMENT;
  if (rounded > arena->left) {
    if (rounded >= arena->next_capacity / 2) {
      /* A large piece gets its own block; the rest of the current block stays usable. */
      Block *own = add_block(arena, rounded, NULL);
      if (!own) return NULL;
      return own + 1;
    }
    Block *block = add_block(arena, arena->next_capacity, NULL);
    if (!block) return NULL;
    arena->cursor = (char *)(block + 1);
    arena->left = block->capacity;
    if (arena->next_capacity < LARGEST_BLOCK) arena->next_capacity *= 2;
  }
  void *memory = arena->cursor;
  arena->cursor += rounded;
  arena->left -= rounded;
  return memory;
}

void *arena_calloc(Arena *arena, int64_t count, int64_t size) {
  int64_t bytes;
  if (count < 0 || size < 0 || __builtin_mul_overflow(count, size, &bytes)) return NULL;
  void *memory = arena_alloc(arena, bytes);
  if (memory) memset(memory, 0, (size_t)bytes);
  return memory;
}

/* `size` bytes for a text. */
static char *alloc_text(Arena *arena, int64_t size) {
  if (size > arena->left) return arena_alloc(arena, size);
  if (!mem_may_take_piece()) return NULL;
  arena->left -= size;
  return arena->cursor + arena->left;
}

char *arena_strndup(Arena *arena, const char *text, size_t length) {
  char *copy = length < PTRDIFF_MAX ? alloc_text(arena, (int64_t)length + 1) : NULL;
  if (!copy) return NULL;
  memcpy(copy, text, length);
  copy[length] = '\0';
  return copy;
}

char *arena_strdup(Arena *arena, const char *text) { return arena_strndup(arena, text, strlen(text)); }

char *arena_printf(Arena *arena, const char *format, ...) {
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  int length = text_format_args(NULL, 0, format, args);
  va_end(args);
  char *text = length >= 0 ? alloc_text(arena, (int64_t)length + 1) : NULL;
  if (text) text_format_args(text, (size_t)length + 1, format, again);
  va_end(again);
  return text;
}

void *arena_copy_bytes(Arena *arena, const void *bytes, size_t size) {
  if (size > PTRDIFF_MAX - sizeof(Block)) return NULL;
  if (size < SHARED_BYTES_LEAST) return arena_grow(arena, bytes, (int64_t)size, (int64_t)size);
  bool is_shared = shared_bytes_ref(bytes);
  void *shared = is_shared ? (void *)bytes : shared_bytes_new((int64_t)size);
  if (!shared) return NULL;
  if (!add_block(arena, (int64_t)size, shared)) {
    shared_bytes_unref(shared);
    return NULL;
  }
  if (!is_shared) memcpy(shared, bytes, size);
  return shared;
}

void *arena_grow(Arena *arena, const void *array, int64_t old_bytes, int64_t new_bytes) {
  void *grown = arena_alloc(arena, new_bytes);
  if (grown && old_bytes > 0) memcpy(grown, array, (size_t)old_bytes);
  return grown;
}

ArenaMark arena_mark(const Arena *arena) {
  return (ArenaMark){arena->blocks, arena->cursor, arena->left, arena->next_capacity};
}

void arena_rollback(Arena *arena, ArenaMark mark) {
  while (arena->blocks != mark.block) {
    Block *block = arena->blocks;
    arena->blocks = block->next;
    arena->bytes -= block->capacity + (int64_t)sizeof *block;
    free_block(block);
  }
  arena->cursor = mark.cursor;
  arena->left = mark.left;
  arena->next_capacity = mark.next_capacity;
}

bool arena_owns(const Arena *arena, const void *pointer) {
  uintptr_t at = (uintptr_t)pointer;
  for (const Block *block = arena->blocks; block; block = block->next) {
    uintptr_t begin = (uintptr_t)(block->shared ? block->shared : block + 1);
    if (at >= begin && at - begin < (uint64_t)block->capacity) return true;
  }
  return false;
}

int64_t arena_bytes(const Arena *arena) { return arena->bytes; }
