/* The memory of threads that have ended, in wasm: where a thread's handle is the address of what describes
 * it. */
#include "base/sync.h"

#if SYNC_HAS_THREADS && defined(__wasm__)

#include <stdatomic.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "harness.h"

enum { BEFORE = 1 << 16 }; /* bytes before the memory of the thread */

static void *end_at_once(void *argument) { return argument; }

static bool is_over(int64_t begin) {
  const int64_t most = 10000000000; /* nanoseconds */
  return clock_nanoseconds() - begin > most;
}

/* Allocates memory that contains an address, in which bytes before and after are free; NULL when that fails.
 * The memory of a thread is free soon after it was joined. */
static void *allocate_around(char *address, int64_t bytes) {
  enum { SIZE = 2 * BEFORE, MOST = 16 };
  char *blocks[MOST], *found = NULL;
  for (int64_t begin = clock_nanoseconds(); !found && !is_over(begin); thread_nap()) {
    int count = 0;
    while (count < MOST && !found && (blocks[count] = mem_alloc(SIZE))) {
      char *block = blocks[count];
      if (block <= address - bytes && address + bytes < block + SIZE) found = block;
      else count++;
    }
    while (count > 0) mem_free(blocks[--count]);
  }
  return found;
}

typedef struct Waiter {
  Mutex *mutex;
  atomic_bool begun, done;
} Waiter;

static void *lock(void *argument) {
  Waiter *waiter = argument;
  atomic_store(&waiter->begun, true);
  mutex_lock(waiter->mutex);
  mutex_unlock(waiter->mutex);
  atomic_store(&waiter->done, true);
  return NULL;
}

/* Whether a thread that sleeps at a mutex goes on when the mutex is unlocked. */
static bool wakes_a_thread(Mutex *mutex) {
  enum { NAPS = 50 };
  Waiter waiter = {.mutex = mutex};
  Thread thread;
  mutex_lock(mutex);
  bool started = CHECK(thread_start(&thread, lock, &waiter));
  for (int i = 0; started && (i < NAPS || !atomic_load(&waiter.begun)); i++) thread_nap();
  mutex_unlock(mutex);
  if (!started) return false;
  int64_t begin = clock_nanoseconds();
  while (!atomic_load(&waiter.done) && !is_over(begin)) thread_nap();
  bool woke = atomic_load(&waiter.done);
  mutex_lock(mutex);
  mutex_unlock(mutex); /* wakes it again, so that the test ends */
  thread_join(thread);
  return woke;
}

TEST(locks_work_where_threads_were) {
  Thread ended;
  void *before = mem_alloc(BEFORE);
  REQUIRE(before && thread_start(&ended, end_at_once, NULL));
  thread_join(ended);
  mem_free(before);
  /* Each word of a mutex is once at the address of the thread. */
  char *address = (char *)ended, *block = allocate_around(address, sizeof(Mutex));
  REQUIRE(block);
  for (size_t word = 0; word < sizeof(Mutex) / sizeof(int); word++) {
    Mutex *mutex = (Mutex *)(void *)(address - word * sizeof(int));
    if (!CHECK(mutex_init(mutex))) break;
    CHECK_CONTEXT("word %zu", word);
    CHECK(wakes_a_thread(mutex));
    mutex_destroy(mutex);
  }
  CHECK_CONTEXT("%s", "");
  mem_free(block);
}

#endif
