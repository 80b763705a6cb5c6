#include "runtime/thread_pool.h"

#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sync.h"
#include "harness.h"
#include "runtime/core_distance.h"

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

/* Loops of every length, with and without pauses in which the workers fall asleep. */
TEST(loops_of_every_length_are_shared) {
  ThreadPool *pool = thread_pool_new(3);
  REQUIRE(pool);
  for (int round = 0; round < 6000; round++) {
    atomic_int visits[24] = {0};
    int wrong = 0;
    parallel_split(thread_pool_parallel(pool), 24, 2, (ParallelLength)(round / 50 % 3), count_visits, visits);
    for (int i = 0; i < 24; i++) wrong += atomic_load(&visits[i]) != 1;
    CHECK_INT_EQ(wrong, 0);
#if SYNC_HAS_THREADS
    if (round % 50 == 7) thread_nap();
#endif
  }
  thread_pool_free(pool);
}

#if SYNC_HAS_THREADS
enum { CALLERS = 12 };
typedef struct Caller {
  const Parallel *parallel;
  int wrong;
} Caller;

static void *call_often(void *argument) {
  Caller *caller = argument;
  for (int round = 0; round < 400; round++) {
    atomic_int visits[30] = {0};
    Nested nested = {.parallel = caller->parallel};
    parallel_split(caller->parallel, 30, 1, (ParallelLength)(round % 3), count_visits, visits);
    for (int i = 0; i < 30; i++) caller->wrong += atomic_load(&visits[i]) != 1;
    parallel_split(caller->parallel, 4, 1, (ParallelLength)(round % 3), nest, &nested);
    caller->wrong += atomic_load(&nested.sum) != 4 * 4950;
    if (round % 100 == 99) thread_nap();
  }
  return NULL;
}

/* More callers than jobs have room for, whose bodies are callers, too. */
#if SYNC_HAS_THREADS
typedef struct Stalling {
  pthread_t caller;
  atomic_int stalls, done; /* calls in other threads, which take long, and in the caller */
} Stalling;

static void stall(void *arg, int64_t begin, int64_t end) {
  Stalling *stalling = arg;
  (void)begin;
  (void)end;
  int done = atomic_load(&stalling->done);
  if (pthread_equal(pthread_self(), stalling->caller)) {
    for (volatile int i = 0; i < 5000; i++) { /* so that the worker gets its part */
    }
    atomic_fetch_add(&stalling->done, 1);
    return;
  }
  atomic_fetch_add(&stalling->stalls, 1);
  /* Longer than the caller, which may have no part. */
  for (int i = 0; i < 50 && atomic_load(&stalling->done) == done; i++) thread_nap();
  thread_nap();
}

TEST(brief_loops_are_not_shared_with_threads_that_stall) {
  enum { LOOPS = 5000, MOST_STALLS = 12 }; /* one in 1024 loops, then in 2048, ...; and pieces of one loop */
  ThreadPool *pool = thread_pool_new(2);
  REQUIRE(pool);
  const Parallel *parallel = thread_pool_parallel(pool);
  Stalling stalling = {.caller = pthread_self()};
  for (int round = 0; round < LOOPS && atomic_load(&stalling.stalls) == 0; round++)
    parallel->run(parallel->pool, 8, 1, PARALLEL_SHORT, stall, &stalling); /* wakes it */
  atomic_store(&stalling.stalls, 0);
  for (int round = 0; round < LOOPS; round++)
    parallel->run(parallel->pool, 2, 1, PARALLEL_BRIEF, stall, &stalling);
  CHECK(atomic_load(&stalling.stalls) <= MOST_STALLS);
  thread_pool_free(pool);
}
#endif

TEST(many_threads_call_parallel_for_at_the_same_time) {
  ThreadPool *pool = thread_pool_new(4);
  REQUIRE(pool);
  Thread threads[CALLERS];
  Caller callers[CALLERS];
  int started = 0;
  for (; started < CALLERS; started++) {
    callers[started] = (Caller){thread_pool_parallel(pool), 0};
    if (!thread_start(&threads[started], call_often, &callers[started])) break;
  }
  CHECK(started > 0);
  for (int i = 0; i < started; i++) {
    thread_join(threads[i]);
    CHECK_INT_EQ(callers[i].wrong, 0);
  }
  thread_pool_free(pool);
}

TEST(the_distance_of_cores_is_measured) {
  ThreadPool *pool = thread_pool_new(2);
  REQUIRE(pool);
  int64_t distance = core_distance(thread_pool_parallel(pool));
  CHECK(distance > 0);
  thread_pool_free(pool);
}

/* The meetings, by `step`, until threads may meet again. */
static int64_t pause_of(const Parallel *parallel, int64_t step) {
  int64_t meetings = 0;
  while (meetings < 1 << 20 && !parallel->can_meet(parallel->pool, step)) meetings += step;
  return meetings;
}

TEST(threads_do_not_meet_for_a_while_after_one_was_lost) {
  enum { STEP = 100, LEAST = 1000, MOST = 1 << 14 };
  ThreadPool *pool = thread_pool_new(2);
  REQUIRE(pool);
  const Parallel *parallel = thread_pool_parallel(pool);
  for (int i = 0; i < 500; i++) thread_nap(); /* the other thread sleeps, so that no distance is measured */
  CHECK(parallel->can_meet(parallel->pool, STEP));
  int64_t expected = LEAST, pause;
  for (int i = 0; i < 3; i++, expected *= 2) {
    parallel->lost(parallel->pool, LEAST);
    CHECK_INT_EQ(pause_of(parallel, STEP), expected);
  }
  for (int i = 0; i < 10; i++) {
    parallel->lost(parallel->pool, LEAST);
    pause = pause_of(parallel, STEP);
    CHECK(pause > LEAST && pause <= MOST);
  }
  for (int i = 0; i < MOST / STEP; i++) CHECK(parallel->can_meet(parallel->pool, STEP)); /* go well */
  parallel->lost(parallel->pool, LEAST);
  CHECK_INT_EQ(pause_of(parallel, STEP), LEAST);
  thread_pool_free(pool);
}
#endif

static void run_alone(void *pool, int64_t count, int64_t grain, ParallelLength length, ParallelBody *body,
                      void *arg) {
  (void)pool, (void)grain, (void)length;
  body(arg, 0, count);
}

static void run_in_turn(void *pool, int64_t count, int64_t grain, ParallelLength length, ParallelBody *body,
                        void *arg) {
  (void)length;
  const bool *backwards = pool;
  for (int64_t i = 0; i < count; i += grain) {
    int64_t begin = *backwards ? count - i - grain : i;
    body(arg, begin, begin + grain);
  }
}

TEST(without_another_thread_the_distance_of_cores_is_unknown) {
  bool backwards[] = {false, true};
  CHECK_INT_EQ(core_distance(&(Parallel){run_alone, NULL, 2}), INT64_MAX);
  CHECK_INT_EQ(core_distance(&(Parallel){run_in_turn, &backwards[0], 2}), INT64_MAX);
  CHECK_INT_EQ(core_distance(&(Parallel){run_in_turn, &backwards[1], 2}), INT64_MAX);
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
