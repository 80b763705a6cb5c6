/* Mutexes of three kinds, condition variables, work that is done once. */
#include "base/sync.h"

#include "harness.h"

static Mutex plain = MUTEX_INIT;
static Once once = ONCE_INIT;
static int times;

static void count_up(void) { times++; }

TEST(work_is_done_once) {
  for (int i = 0; i < 3; i++) once_run(&once, count_up);
  CHECK_INT_EQ(times, 1);
}

TEST(a_checked_mutex_tells_its_holder) {
  Mutex mutex;
  REQUIRE(mutex_init_checked(&mutex));
  for (int i = 0; i < 2; i++) {
    REQUIRE(mutex_lock_unless_held(&mutex));
    CHECK(!mutex_lock_unless_held(&mutex));
    CHECK(!mutex_lock_unless_held(&mutex));
    mutex_unlock(&mutex);
  }
  mutex_destroy(&mutex);
}

#if SYNC_HAS_THREADS

enum { ROUNDS = 2000, THREADS = 3 };

typedef struct Shared {
  Mutex mutex, *lock;
  Cond turn;
  int count, next;
  bool recursive;
} Shared;

static void *add(void *argument) {
  Shared *shared = argument;
  for (int i = 0; i < ROUNDS; i++) {
    mutex_lock(shared->lock);
    if (shared->recursive) mutex_lock(shared->lock);
    int before = shared->count;
    shared->count = before + 1;
    if (shared->recursive) mutex_unlock(shared->lock);
    mutex_unlock(shared->lock);
  }
  return NULL;
}

static void check_counting(Shared *shared) {
  Thread threads[THREADS];
  int started = 0;
  while (started < THREADS && thread_start(&threads[started], add, shared)) started++;
  add(shared);
  for (int i = 0; i < started; i++) thread_join(threads[i]);
  CHECK_INT_EQ(shared->count, ROUNDS * (started + 1));
}

TEST(one_thread_at_a_time_holds_a_mutex) {
  Shared shared = {.lock = &plain}, own = {.lock = &own.mutex}, recursive = {.lock = &recursive.mutex};
  recursive.recursive = true;
  REQUIRE(mutex_init(&own.mutex) && mutex_init_recursive(&recursive.mutex));
  check_counting(&shared);
  check_counting(&own);
  check_counting(&recursive);
  mutex_destroy(&own.mutex);
  mutex_destroy(&recursive.mutex);
}

/* Waits for odd turns, and passes them on. */
static void *answer(void *argument) {
  Shared *shared = argument;
  mutex_lock(&shared->mutex);
  while (shared->next < 2 * ROUNDS) {
    if (shared->next % 2 == 1) {
      shared->next++;
      cond_broadcast(&shared->turn);
    } else {
      cond_wait(&shared->turn, &shared->mutex);
    }
  }
  mutex_unlock(&shared->mutex);
  return NULL;
}

TEST(a_signal_wakes_who_waits) {
  Shared shared = {0};
  Thread thread;
  REQUIRE(mutex_init(&shared.mutex) && cond_init(&shared.turn));
  REQUIRE(thread_start(&thread, answer, &shared));
  mutex_lock(&shared.mutex);
  while (shared.next < 2 * ROUNDS) {
    if (shared.next % 2 == 0) {
      shared.next++;
      cond_signal(&shared.turn);
    } else {
      cond_wait(&shared.turn, &shared.mutex);
    }
  }
  mutex_unlock(&shared.mutex);
  thread_join(thread);
  CHECK_INT_EQ(shared.next, 2 * ROUNDS);
  cond_destroy(&shared.turn);
  mutex_destroy(&shared.mutex);
}

#else

TEST(a_thread_alone_waits_for_nobody) {
  Mutex mutex;
  REQUIRE(mutex_init_recursive(&mutex));
  mutex_lock(&mutex);
  mutex_lock(&mutex);
  mutex_unlock(&mutex);
  mutex_unlock(&mutex);
  mutex_lock(&plain);
  mutex_unlock(&plain);
}

#endif
