/* Threads and locks: the only file that uses pthread. In builds for one thread (wasm without threads)
 * SYNC_HAS_THREADS is 0, and locking compiles to nothing.
 *
 *   static Mutex lock = MUTEX_INIT;
 *   mutex_lock(&lock);
 *   ...
 *   mutex_unlock(&lock);
 *
 * A Mutex must not be copied or moved. It is plain (a thread that holds it must not lock it again),
 * recursive, or checked.
 */
#ifndef TFCORE_BASE_SYNC_H_
#define TFCORE_BASE_SYNC_H_

#include "base/status.h"

#if !defined(__wasm__) || defined(TFCORE_THREADS)
#include <pthread.h>
#include <time.h>
#define SYNC_HAS_THREADS 1
#else
#define SYNC_HAS_THREADS 0
#endif

#if SYNC_HAS_THREADS

typedef struct Mutex {
  pthread_mutex_t handle;
} Mutex;
#define MUTEX_INIT \
  { PTHREAD_MUTEX_INITIALIZER } /* plain */

/* False when the system's resources are exhausted; then the mutex must not be used or destroyed. */
MUST_CHECK bool mutex_init(Mutex *mutex);
MUST_CHECK bool mutex_init_recursive(Mutex *mutex); /* the thread that holds it may lock it again */
MUST_CHECK bool mutex_init_checked(Mutex *mutex);   /* for mutex_lock_unless_held */
static inline void mutex_destroy(Mutex *mutex) { pthread_mutex_destroy(&mutex->handle); }
static inline void mutex_lock(Mutex *mutex) { pthread_mutex_lock(&mutex->handle); }
static inline void mutex_unlock(Mutex *mutex) { pthread_mutex_unlock(&mutex->handle); }
/* For a checked mutex: false when this thread already holds it. */
MUST_CHECK static inline bool mutex_lock_unless_held(Mutex *mutex) {
  return pthread_mutex_lock(&mutex->handle) == 0;
}

/* A condition variable. cond_wait releases the mutex, which must be held, until it is signalled. It may also
 * return without a signal. */
typedef struct Cond {
  pthread_cond_t handle;
} Cond;
MUST_CHECK bool cond_init(Cond *cond);
static inline void cond_destroy(Cond *cond) { pthread_cond_destroy(&cond->handle); }
static inline void cond_wait(Cond *cond, Mutex *mutex) { pthread_cond_wait(&cond->handle, &mutex->handle); }
static inline void cond_signal(Cond *cond) { pthread_cond_signal(&cond->handle); }
static inline void cond_broadcast(Cond *cond) { pthread_cond_broadcast(&cond->handle); }

/* Work that is done once per process. The first thread does it, and the others wait until it is done. */
typedef pthread_once_t Once;
#define ONCE_INIT PTHREAD_ONCE_INIT
static inline void once_run(Once *once, void (*work)(void)) { pthread_once(once, work); }

/* A thread that runs work(argument). False when the system cannot create a thread. Each thread must be
 * joined. */
typedef pthread_t Thread;
static inline bool thread_start(Thread *thread, void *(*work)(void *argument), void *argument) {
  return pthread_create(thread, NULL, work, argument) == 0;
}
static inline void thread_join(Thread thread) { pthread_join(thread, NULL); }
/* Lets other threads run for a fifth of a millisecond. */
static inline void thread_nap(void) { nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL); }

#else

/* A checked mutex records its owner. */
typedef struct Mutex {
  bool held;
} Mutex;
#define MUTEX_INIT \
  { false }
MUST_CHECK static inline bool mutex_init(Mutex *mutex) {
  mutex->held = false;
  return true;
}
MUST_CHECK static inline bool mutex_init_recursive(Mutex *mutex) { return mutex_init(mutex); }
MUST_CHECK static inline bool mutex_init_checked(Mutex *mutex) { return mutex_init(mutex); }
static inline void mutex_destroy(Mutex *mutex) { (void)mutex; }
static inline void mutex_lock(Mutex *mutex) { (void)mutex; }
static inline void mutex_unlock(Mutex *mutex) { mutex->held = false; }
MUST_CHECK static inline bool mutex_lock_unless_held(Mutex *mutex) {
  return mutex->held ? false : (mutex->held = true);
}

typedef bool Once;
#define ONCE_INIT false
static inline void once_run(Once *once, void (*work)(void)) {
  if (*once) return;
  *once = true;
  work();
}

#endif

#endif
