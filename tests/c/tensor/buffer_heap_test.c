#include "tensor/buffer_heap.h"

#include <string.h>

#include "base/alloc.h"
#include "harness.h"
#include "tensor/buffer.h"

enum { LARGE = 1 << 20 };

static int64_t held(const BufferPool *pool) { return buffer_pool_cached_bytes(pool); }

/* What a training step does: it keeps one activation of each layer, then frees them from the last to the
 * first while it makes a gradient of each and of some weights of other sizes. Returns the bytes that were in
 * use at once. */
static int64_t run_step(BufferPool *pool) {
  enum { LAYERS = 12 };
  Buffer *kept[LAYERS], *gradient = NULL;
  int64_t used = 0, peak = 0;
  for (int i = 0; i < LAYERS; i++) {
    kept[i] = buffer_new(pool, LARGE + (int64_t)i % 5 * 300001);
    used += kept[i]->size;
  }
  for (int i = LAYERS - 1; i >= 0; i--) {
    Buffer *next = buffer_new(pool, LARGE + (int64_t)i % 3 * 200003);
    Buffer *weights = buffer_new(pool, 100000 + (int64_t)i * 70001);
    used += next->size + weights->size;
    if (used > peak) peak = used;
    used -= kept[i]->size + weights->size + (gradient ? gradient->size : 0);
    buffer_unref(weights);
    buffer_unref(kept[i]);
    buffer_unref(gradient);
    gradient = next;
  }
  buffer_unref(gradient);
  return peak;
}

TEST(steps_that_repeat_hold_little_more_than_they_use_at_once) {
  BufferPool *pool = buffer_pool_new();
  int64_t peak = 0, allocations = 0, before = mem_live_bytes();
  for (int step = 0; step < 10; step++) {
    buffer_pool_settle(pool);
    if (step == 4) allocations = mem_allocation_count();
    mem_reset_peak();
    peak = run_step(pool);
  }
  CHECK_INT_EQ(mem_allocation_count(), allocations);
  CHECK_CONTEXT("%d bytes for %d", (int)(mem_peak_bytes() - before), (int)peak);
  CHECK(mem_peak_bytes() - before < peak + peak / 8);
  buffer_pool_release(pool);
}

TEST(memory_of_a_freed_buffer_serves_smaller_and_larger_ones) {
  BufferPool *pool = buffer_pool_new();
  Buffer *whole = buffer_new(pool, 4 * (int64_t)LARGE);
  buffer_unref(whole);
  int64_t allocations = mem_allocation_count();
  Buffer *parts[3];
  for (int i = 0; i < 3; i++) {
    parts[i] = buffer_new(pool, LARGE);
    REQUIRE(parts[i]);
    memset(parts[i]->data, i, LARGE);
  }
  for (int i = 0; i < 3; i++) CHECK_INT_EQ(((unsigned char *)parts[i]->data)[LARGE - 1], i);
  buffer_unref(parts[0]);
  buffer_unref(parts[2]);
  buffer_unref(parts[1]); /* between two free blocks: all become one again */
  Buffer *again = buffer_new(pool, 4 * (int64_t)LARGE);
  CHECK(again == whole);
  CHECK_INT_EQ(mem_allocation_count(), allocations);
  buffer_unref(again);
  buffer_pool_release(pool);
}

TEST(a_request_takes_the_smallest_block_that_fits) {
  BufferPool *pool = buffer_pool_new();
  static const int64_t sizes[] = {3 * LARGE, LARGE, 2 * LARGE};
  Buffer *blocks[3];
  for (int i = 0; i < 3; i++) blocks[i] = buffer_new(pool, sizes[i]);
  for (int i = 0; i < 3; i++) buffer_unref(blocks[i]);
  Buffer *fitting = buffer_new(pool, LARGE + 1);
  CHECK(fitting == blocks[2]);
  buffer_unref(fitting);
  buffer_pool_release(pool);
}

TEST(buffers_of_random_sizes_keep_apart) {
  enum { SLOTS = 40, ROUNDS = 20000 };
  BufferPool *pool = buffer_pool_new();
  Buffer *slots[SLOTS] = {0};
  uint64_t state = 7;
  int64_t used = 0, most = 0;
  for (int round = 0; round < ROUNDS; round++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    int slot = (int)(state >> 40) % SLOTS;
    if (slots[slot]) {
      const unsigned char *data = slots[slot]->data;
      REQUIRE(data[0] == slot && data[slots[slot]->size - 1] == slot);
      used -= slots[slot]->size;
      buffer_unref(slots[slot]);
      slots[slot] = NULL;
    } else {
      slots[slot] = buffer_new(pool, 65537 + (int64_t)(state >> 45) % LARGE);
      REQUIRE(slots[slot]);
      unsigned char *data = slots[slot]->data;
      data[0] = data[slots[slot]->size - 1] = (unsigned char)slot;
      used += slots[slot]->size;
      if (used > most) most = used;
    }
    if ((state >> 33) % 100 == 0) buffer_pool_settle(pool);
    CHECK(held(pool) + used < 2 * most);
  }
  for (int slot = 0; slot < SLOTS; slot++) buffer_unref(slots[slot]);
  buffer_pool_release(pool);
}

/* A variable of the first step is in a region that the later steps leave alone. */
TEST(what_stays_keeps_its_region_and_no_more) {
  BufferPool *pool = buffer_pool_new();
  int64_t before = mem_live_bytes(), peak = 0;
  Buffer *variable = buffer_new(pool, LARGE);
  memset(variable->data, 7, LARGE);
  for (int step = 0; step < 5; step++) {
    buffer_pool_settle(pool);
    mem_reset_peak();
    peak = run_step(pool) + variable->size;
  }
  CHECK(mem_peak_bytes() - before < peak + peak / 8);
  for (int i = 0; i < LARGE; i += 4096) CHECK_INT_EQ(((unsigned char *)variable->data)[i], 7);
  buffer_pool_trim(pool);
  CHECK(mem_live_bytes() - before < LARGE + LARGE / 8);
  buffer_unref(variable);
  buffer_pool_trim(pool);
  CHECK(mem_live_bytes() - before < 1000);
  buffer_pool_release(pool);
}

TEST(large_buffers_may_outlive_their_pool) {
  int64_t before = mem_live_bytes();
  BufferPool *pool = buffer_pool_new();
  Buffer *a = buffer_new(pool, LARGE), *b = buffer_new(pool, 2 * LARGE), *c = buffer_new(pool, LARGE);
  buffer_unref(b);
  Buffer *small = buffer_new(pool, LARGE / 2);
  buffer_pool_release(pool);
  buffer_unref(a);
  buffer_unref(small);
  memset(c->data, 1, LARGE);
  CHECK(mem_live_bytes() > before);
  buffer_unref(c);
  CHECK_INT_EQ(mem_live_bytes(), before);
}

/* The region of a whole step needs more memory than one of its buffers. */
TEST(a_region_is_smaller_when_memory_is_short) {
  BufferPool *pool = buffer_pool_new();
  run_step(pool);
  buffer_pool_settle(pool);
  CHECK_INT_EQ(held(pool), 0);
  mem_fail_once(0);
  Buffer *buffer = buffer_new(pool, LARGE);
  mem_fail_once(-1);
  REQUIRE(buffer);
  CHECK(held(pool) < LARGE / 8);
  mem_fail_after(0);
  Buffer *none = buffer_new(pool, LARGE);
  mem_fail_after(-1);
  CHECK(!none);
  buffer_unref(buffer);
  buffer_pool_release(pool);
}
