#include "runtime/thread_pool.h"

#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sync.h"
#include "harness.h"

enum { COUNT = 100003 };
static unsigned char touched[COUNT];

static void touch(void *arg, int64_t begin, int64_t end) {
  (void)arg;
  for (int64_t i = begin; i < end; i++) touched[i]++;
}

TEST(every_index_is_worked_on_once) {
  for (int threads = 1; threads <= 5; threads++) {
    ThreadPool *pool = thread_pool_new(threads);
    REQUIRE(pool);
    CHECK(parallel_threads(thread_pool_parallel(pool)) <= threads);
    for (int round = 0; round < 50; round++) {
      memset(touched, 0, sizeof touched);
      parallel_for(thread_pool_parallel(pool), COUNT - round, 10, touch, NULL);
      int wrong = 0;
      for (int i = 0; i < COUNT; i++) wrong += touched[i] != (i < COUNT - round);
      CHECK_INT_EQ(wrong, 0);
    }
    thread_pool_free(pool);
  }
}

static void count_visits(void *arg, int64_t begin, int64_t end) {
  atomic_int *visits = arg;
  for (int64_t i = begin; i < end; i++) atomic_fetch_add(&visits[i], 1);
}

/* Leaves numbers on the stack that the pool must not read. */
static uint64_t dirty_stack(void) {
  volatile uint64_t room[2048];
  uint64_t sum = 0;
  for (int i = 0; i < 2048; i++) room[i] = 7;
  for (int i = 0; i < 2048; i++) sum += room[i];
  return sum;
}

TEST(fewer_indices_than_threads_are_worked_on_once) {
  enum { MOST = 12 };
  for (int threads = 2; threads <= 9; threads++) {
    ThreadPool *pool = thread_pool_new(threads);
    REQUIRE(pool);
    for (int round = 0; round < 300; round++) {
      int count = 2 + round % (MOST - 1), wrong = 0;
      atomic_int visits[MOST + 1] = {0};
      CHECK_INT_EQ(dirty_stack(), 7 * 2048);
      parallel_for(thread_pool_parallel(pool), count, 1 + round % 3, count_visits, visits);
      for (int i = 0; i <= MOST; i++) wrong += atomic_load(&visits[i]) != (i < count);
      CHECK_INT_EQ(wrong, 0);
    }
    thread_pool_free(pool);
  }
}

typedef struct Nested {
  const Parallel *parallel;
  atomic_int_fast64_t sum;
} Nested;

static void add_range(void *arg, int64_t begin, int64_t end) {
  Nested *nested = arg;
  for (int64_t i = begin; i < end; i++) atomic_fetch_add(&nested->sum, i);
}

static void nest(void *arg, int64_t begin, int64_t end) {
  Nested *nested = arg;
  for (int64_t i = begin; i < end; i++) parallel_for(nested->parallel, 100, 1, add_range, nested);
}

TEST(a_body_may_call_parallel_for) {
  ThreadPool *pool = thread_pool_new(3);
  REQUIRE(pool);
  Nested nested = {.parallel = thread_pool_parallel(pool)};
  parallel_for(nested.parallel, 200, 1, nest, &nested);
  CHECK_INT_EQ(atomic_load(&nested.sum), 200 * 4950);
  thread_pool_free(pool);
}

/* Between two loops the workers wait without sleeping for a while, and then sleep. */
TEST(loops_are_shared_whether_the_workers_sleep_or_not) {
  ThreadPool *pool = thread_pool_new(4);
  REQUIRE(pool);
  for (int round = 0; round < 200; round++) {
    memset(touched, 0, sizeof touched);
    parallel_for(thread_pool_parallel(pool), COUNT, 1000, touch, NULL);
    int wrong = 0;
    for (int i = 0; i < COUNT; i++) wrong += touched[i] != 1;
    CHECK_INT_EQ(wrong, 0);
#if SYNC_HAS_THREADS
    if (round % 4 == 0) thread_nap();
#endif
  }
  thread_pool_free(pool);
}

#if SYNC_HAS_THREADS && !defined(__wasm__)
TEST(threads_without_work_use_no_time) {
  enum { NAPS = 500 }; /* 100 ms at least */
  ThreadPool *pool = thread_pool_new(4);
  REQUIRE(pool);
  parallel_for(thread_pool_parallel(pool), COUNT, 1000, touch, NULL);
  struct timespec begin, end;
  CHECK_INT_EQ(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin), 0);
  for (int i = 0; i < NAPS; i++) thread_nap();
  CHECK_INT_EQ(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end), 0);
  double used = (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
  CHECK(used < 0.05); /* three threads that spin would use 0.3 s, if they had processors of their own */
  thread_pool_free(pool);
}
#endif

TEST(without_a_pool_the_caller_works) {
  memset(touched, 0, sizeof touched);
  parallel_for(NULL, 10, 1, touch, NULL);
  CHECK_INT_EQ(touched[9], 1);
  CHECK_INT_EQ(touched[10], 0);
  parallel_for(NULL, 0, 1, touch, NULL);
  CHECK_INT_EQ(touched[0], 1);
}

TEST(the_default_pool_has_the_size_asked_for) {
  thread_pool_set_size(2);
  CHECK(parallel_threads(thread_pool_default()) <= 2);
  thread_pool_set_size(1);
  CHECK_INT_EQ(parallel_threads(thread_pool_default()), 1);
  thread_pool_shut_down();
}
