#include "tensor/buffer.h"

#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "harness.h"

TEST(buffers_are_aligned_and_large_enough) {
  BufferPool *pool = buffer_pool_new();
  for (int64_t size = 0; size < 100000; size = size * 5 / 4 + 1) {
    CHECK_CONTEXT("%d bytes", (int)size);
    for (int pooled = 0; pooled < 2; pooled++) {
      Buffer *buffer = buffer_new(pooled ? pool : NULL, size);
      REQUIRE(buffer);
      CHECK(buffer->size >= size && (uintptr_t)buffer->data % 64 == 0);
      CHECK(buffer->size <= (size <= 64 ? 64 : size + size / 4 + 1));
      memset(buffer->data, 0xab, (size_t)buffer->size);
      CHECK(buffer_is_unshared(buffer));
      buffer_ref(buffer);
      CHECK(!buffer_is_unshared(buffer));
      buffer_unref(buffer);
      CHECK(buffer_is_unshared(buffer));
      buffer_unref(buffer);
    }
  }
  buffer_pool_release(pool);
  buffer_unref(NULL);
  buffer_pool_release(NULL);
}

TEST(buffers_are_counted_while_somebody_refers_to_them) {
  int before = buffer_live_count();
  char outside[4] = {0};
  BufferPool *pool = buffer_pool_new();
  Buffer *all[] = {buffer_new(NULL, 10), buffer_new(pool, 10),
                   buffer_wrap(outside, sizeof outside, NULL, NULL)};
  CHECK_INT_EQ(buffer_live_count(), before + 3);
  CHECK(!buffer_new(pool, -1));
  CHECK_INT_EQ(buffer_live_count(), before + 3);
  buffer_ref(all[0]);
  for (int i = 0; i < 3; i++) buffer_unref(all[i]);
  CHECK_INT_EQ(buffer_live_count(), before + 1); /* buffers in the pool do not count */
  buffer_unref(all[0]);
  Buffer *again = buffer_new(pool, 10);
  CHECK_INT_EQ(buffer_live_count(), before + 1);
  buffer_unref(again);
  CHECK_INT_EQ(buffer_live_count(), before);
  buffer_pool_release(pool);
}

TEST(impossible_sizes_are_refused) {
  BufferPool *pool = buffer_pool_new();
  CHECK(!buffer_new(NULL, -1));
  CHECK(!buffer_new(NULL, INT64_MAX));
  CHECK(!buffer_new(pool, INT64_MAX));
  CHECK(!buffer_new(pool, INT64_MAX / 2));
  buffer_pool_release(pool);
}

TEST(a_pool_gives_back_what_it_got_without_allocating) {
  BufferPool *pool = buffer_pool_new();
  static const int64_t sizes[] = {0, 1, 64, 65, 80, 81, 1000, 4096, 100000, 1 << 20};
  enum { COUNT = sizeof sizes / sizeof *sizes };
  Buffer *first[COUNT], *second[COUNT];
  for (int i = 0; i < COUNT; i++) first[i] = buffer_new(pool, sizes[i]);
  CHECK_INT_EQ(buffer_pool_cached_bytes(pool), 0);
  int64_t total = 0;
  for (int i = 0; i < COUNT; i++) {
    total += first[i]->size;
    buffer_unref(first[i]);
  }
  int64_t cached = buffer_pool_cached_bytes(pool);
  CHECK(cached >= total && cached <= total + 256 * COUNT); /* with headers */
  int64_t allocations = mem_allocation_count();
  for (int round = 0; round < 100; round++) {
    for (int i = COUNT - 1; i >= 0; i--) second[i] = buffer_new(pool, sizes[i]);
    CHECK_INT_EQ(buffer_pool_cached_bytes(pool), 0);
    for (int i = 0; i < COUNT; i++) {
      CHECK(second[i]->size >= sizes[i]);
      CHECK_INT_EQ(atomic_load(&second[i]->references), 1);
      buffer_unref(second[i]);
    }
  }
  CHECK_INT_EQ(mem_allocation_count(), allocations);
  buffer_pool_trim(pool);
  CHECK_INT_EQ(buffer_pool_cached_bytes(pool), 0);
  Buffer *after = buffer_new(pool, 10);
  CHECK(mem_allocation_count() > allocations);
  buffer_unref(after);
  buffer_pool_release(pool);
}

TEST(buffers_may_outlive_their_pool) {
  int64_t before = mem_live_bytes();
  BufferPool *pool = buffer_pool_new();
  Buffer *a = buffer_new(pool, 100), *b = buffer_new(pool, 100), *c = buffer_new(pool, 100);
  buffer_unref(c);
  buffer_pool_release(pool);
  memset(a->data, 1, 100);
  buffer_unref(a);
  memset(b->data, 1, 100);
  buffer_unref(b);
  CHECK_INT_EQ(mem_live_bytes(), before);
}

TEST(a_pool_gives_up_its_cache_before_it_fails) {
  BufferPool *pool = buffer_pool_new();
  buffer_unref(buffer_new(pool, 100));
  CHECK(buffer_pool_cached_bytes(pool) > 0);
  mem_fail_after(0);
  Buffer *none = buffer_new(pool, 5000);
  mem_fail_after(-1);
  CHECK(!none);
  CHECK_INT_EQ(buffer_pool_cached_bytes(pool), 0);
  Buffer *some = buffer_new(pool, 5000);
  CHECK(some);
  buffer_unref(some);
  buffer_pool_release(pool);
}

static int released;
static void release(void *data, size_t size, void *argument) {
  CHECK(data == argument);
  CHECK_INT_EQ(size, 3);
  released++;
}

TEST(wrapped_memory_is_released_once_and_never_written) {
  char memory[3] = "ab";
  released = 0;
  Buffer *buffer = buffer_wrap(memory, 3, release, memory);
  CHECK(buffer->data == memory);
  CHECK(!buffer_is_unshared(buffer));
  buffer_ref(buffer);
  buffer_unref(buffer);
  CHECK_INT_EQ(released, 0);
  buffer_unref(buffer);
  CHECK_INT_EQ(released, 1);
  mem_fail_after(0);
  buffer = buffer_wrap(memory, 3, release, memory);
  mem_fail_after(-1);
  CHECK(!buffer);
  CHECK_INT_EQ(released, 1);
}

static int64_t destroyed;
static void destroy(void *data, int64_t count) {
  for (int64_t i = 0; i < count; i++) destroyed += ((int32_t *)data)[i];
}

TEST(elements_go_with_the_last_reference_once) {
  BufferPool *pool = buffer_pool_new();
  destroyed = 0;
  Buffer *buffer = buffer_new(pool, 12);
  memcpy(buffer->data, (const int32_t[]){1, 10, 100}, 12);
  buffer_own_elements(buffer, 3, destroy);
  buffer_ref(buffer);
  buffer_unref(buffer);
  CHECK_INT_EQ(destroyed, 0);
  buffer_unref(buffer);
  CHECK_INT_EQ(destroyed, 111);
  buffer_unref(buffer_new(pool, 12)); /* the same memory, now plain bytes */
  CHECK_INT_EQ(destroyed, 111);
  buffer_pool_release(pool);
}

#ifdef TFCORE_THREADS
enum { THREADS = 4, ROUNDS = 20000 };

static void *churn(void *argument) {
  BufferPool *pool = argument;
  Buffer *held[8] = {0};
  uint64_t state = (uint64_t)(uintptr_t)&state | 1;
  for (int i = 0; i < ROUNDS; i++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    int slot = (int)(state >> 40) & 7;
    if (held[slot]) {
      unsigned char *data = held[slot]->data;
      if (data[0] != (unsigned char)slot || data[39] != (unsigned char)slot)
        return argument; /* shared by mistake */
      buffer_unref(held[slot]);
      held[slot] = NULL;
    } else {
      int64_t size = 40 + (int64_t)(state >> 50) % 300;
      held[slot] = buffer_new(pool, state >> 30 & 1 ? size : 1000 * size);
      if (!held[slot]) return argument;
      memset(held[slot]->data, slot, 40);
    }
  }
  for (int i = 0; i < 8; i++) buffer_unref(held[i]);
  return NULL;
}

TEST(threads_share_a_pool) {
  BufferPool *pool = buffer_pool_new();
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) REQUIRE(pthread_create(&threads[i], NULL, churn, pool) == 0);
  for (int i = 0; i < THREADS; i++) {
    void *wrong;
    pthread_join(threads[i], &wrong);
    CHECK(!wrong);
  }
  buffer_pool_release(pool);
}
#endif
