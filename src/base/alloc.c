#include "base/alloc.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Each block is preceded by one alignment unit that holds its size. */
enum { ALIGNMENT = 64 };

static void *libc_allocate(void *context, size_t size) {
  (void)context;
  void *memory = NULL;
  return posix_memalign(&memory, ALIGNMENT, size) == 0 ? memory : NULL;
}

static void libc_deallocate(void *context, void *memory, size_t size) {
  (void)context;
  (void)size;
  free(memory);
}

static const Allocator kLibc = {libc_allocate, libc_deallocate, NULL};
static Allocator current = {libc_allocate, libc_deallocate, NULL};
static atomic_int_fast64_t live_bytes;  /* of blocks */
static atomic_int_fast64_t loose_bytes; /* allocated minus freed */
static atomic_int_fast64_t peak_bytes;
static atomic_int_fast64_t allocation_count;
static atomic_int_fast64_t successes_left = -1;
static atomic_bool fails_once; /* the shortage ends with the first failure */

int mem_set_allocator(const Allocator *allocator) {
  if (atomic_load(&live_bytes) != 0) return 0;
  current = allocator ? *allocator : kLibc;
  return 1;
}

static size_t *size_of(void *memory) { return (size_t *)(void *)((char *)memory - ALIGNMENT); }

/* Takes one of the allocations that a test allows. */
static int may_succeed(void) {
  int_fast64_t left = atomic_load_explicit(&successes_left, memory_order_relaxed);
  while (left >= 0) {
    if (left == 0 && !atomic_load(&fails_once)) return 0;
    if (atomic_compare_exchange_weak(&successes_left, &left, left - 1)) return left > 0;
  }
  return 1;
}

static void count_allocation(atomic_int_fast64_t *kind, int64_t size) {
  atomic_fetch_add_explicit(kind, size, memory_order_relaxed);
  atomic_fetch_add_explicit(&allocation_count, 1, memory_order_relaxed);
  int_fast64_t live = mem_live_bytes(), peak = atomic_load_explicit(&peak_bytes, memory_order_relaxed);
  while (live > peak && !atomic_compare_exchange_weak(&peak_bytes, &peak, live)) {
  }
}

void *mem_alloc(int64_t size) {
  if (size < 0 || (uint64_t)size > (uint64_t)(PTRDIFF_MAX - 2 * ALIGNMENT) || !may_succeed()) return NULL;
  char *block = current.allocate(current.context, (size_t)size + ALIGNMENT);
  if (!block) return NULL;
  void *memory = block + ALIGNMENT;
  *size_of(memory) = (size_t)size;
  count_allocation(&live_bytes, size);
  return memory;
}

void *mem_calloc(int64_t count, int64_t size) {
  int64_t bytes;
  if (count < 0 || size < 0 || __builtin_mul_overflow(count, size, &bytes)) return NULL;
  void *memory = mem_alloc(bytes);
  if (memory) memset(memory, 0, (size_t)bytes);
  return memory;
}

void *mem_realloc(void *memory, int64_t size) {
  void *moved = mem_alloc(size);
  if (!moved || !memory) return moved;
  size_t old_size = *size_of(memory);
  memcpy(moved, memory, old_size < (size_t)size ? old_size : (size_t)size);
  mem_free(memory);
  return moved;
}

void mem_free(void *memory) {
  if (!memory) return;
  size_t size = *size_of(memory);
  atomic_fetch_sub_explicit(&live_bytes, (int_fast64_t)size, memory_order_relaxed);
  current.deallocate(current.context, (char *)memory - ALIGNMENT, size + ALIGNMENT);
}

void *mem_loose_alloc(int64_t size) {
  if (size < 0 || (uint64_t)size > (uint64_t)PTRDIFF_MAX || !may_succeed()) return NULL;
  void *memory = malloc(size > 0 ? (size_t)size : 1);
  if (!memory) return NULL;
  count_allocation(&loose_bytes, size);
  return memory;
}

void mem_loose_free(void *memory, int64_t size) {
  if (!memory) return;
  atomic_fetch_sub_explicit(&loose_bytes, size, memory_order_relaxed);
  free(memory);
}

char *mem_strdup(const char *text, size_t length) {
  char *copy = length < PTRDIFF_MAX ? mem_alloc((int64_t)length + 1) : NULL;
  if (!copy) return NULL;
  memcpy(copy, text, length);
  copy[length] = '\0';
  return copy;
}

int64_t mem_live_bytes(void) { return atomic_load(&live_bytes) + atomic_load(&loose_bytes); }

int64_t mem_peak_bytes(void) { return atomic_load(&peak_bytes); }

void mem_reset_peak(void) { atomic_store(&peak_bytes, mem_live_bytes()); }

int64_t mem_allocation_count(void) { return atomic_load(&allocation_count); }

static void fail(int64_t successes, bool once) {
  atomic_store(&successes_left, -1);
  atomic_store(&fails_once, once);
  atomic_store(&successes_left, successes);
}

void mem_fail_after(int64_t successes) { fail(successes, false); }

void mem_fail_once(int64_t successes) { fail(successes, true); }

int64_t mem_successes_left(void) { return atomic_load(&successes_left); }

bool mem_may_take_piece(void) { return may_succeed(); }

int mem_grow(void **array, int64_t *capacity, int64_t count, size_t element_size) {
  if (count <= *capacity) return mem_may_take_piece();
  int64_t wanted = *capacity < 8 ? 8 : *capacity;
  while (wanted < count) {
    if (wanted > INT64_MAX / 2) return 0;
    wanted *= 2;
  }
  int64_t bytes;
  if (__builtin_mul_overflow(wanted, (int64_t)element_size, &bytes)) return 0;
  void *grown = mem_realloc(*array, bytes);
  if (!grown) return 0;
  *array = grown;
  *capacity = wanted;
  return 1;
}
