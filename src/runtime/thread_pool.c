#include "runtime/thread_pool.h"

#include "base/alloc.h"
#include "base/sync.h"

#if !SYNC_HAS_THREADS

/* A build without threads: the pool is the caller. */
struct ThreadPool {
  Parallel parallel;
};

static void run_serially(void *pool, int64_t count, int64_t grain, ParallelBody *body, void *arg) {
  (void)pool;
  (void)grain;
  body(arg, 0, count);
}

ThreadPool *thread_pool_new(int threads) {
  (void)threads;
  ThreadPool *pool = mem_calloc(1, sizeof *pool);
  if (pool) pool->parallel = (Parallel){run_serially, pool, 1};
  return pool;
}

void thread_pool_free(ThreadPool *pool) { mem_free(pool); }

const Parallel *thread_pool_default(void) { return NULL; }

void thread_pool_set_size(int threads) { (void)threads; }

void thread_pool_set_default_size(int threads) { (void)threads; }

void thread_pool_shut_down(void) {}

#else

#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

enum { MAX_THREADS = 64, CHUNKS_PER_THREAD = 4 };

struct ThreadPool {
  Parallel parallel;
  Mutex mutex;
  Cond wake, done;
  Thread workers[MAX_THREADS];
  int num_workers;
  bool stopping;
  /* The current job. Workers join it under the mutex while it is open. */
  uint64_t generation;
  bool open;
  int active; /* workers inside the job */
  ParallelBody *body;
  void *arg;
  int64_t count, chunk;
  atomic_int_fast64_t next;
  atomic_flag busy;
};

/* Takes chunks until all are taken. */
static void work(ThreadPool *pool) {
  for (;;) {
    int64_t begin = atomic_fetch_add_explicit(&pool->next, pool->chunk, memory_order_relaxed);
    if (begin >= pool->count) return;
    int64_t left = pool->count - begin;
    pool->body(pool->arg, begin, begin + (left < pool->chunk ? left : pool->chunk));
  }
}

static void *run_worker(void *argument) {
  ThreadPool *pool = argument;
  uint64_t seen = 0;
  mutex_lock(&pool->mutex);
  for (;;) {
    while (!pool->stopping && (pool->generation == seen || !pool->open)) cond_wait(&pool->wake, &pool->mutex);
    if (pool->stopping) break;
    seen = pool->generation;
    pool->active++;
    mutex_unlock(&pool->mutex);
    work(pool);
    mutex_lock(&pool->mutex);
    if (--pool->active == 0) cond_signal(&pool->done);
  }
  mutex_unlock(&pool->mutex);
  return NULL;
}

static void run_parallel(void *argument, int64_t count, int64_t grain, ParallelBody *body, void *arg) {
  ThreadPool *pool = argument;
  /* A nested parallel_for, or a second caller at the same time, runs alone on its own thread. */
  if (atomic_flag_test_and_set(&pool->busy)) {
    body(arg, 0, count);
    return;
  }
  int64_t pieces = (int64_t)pool->parallel.threads * CHUNKS_PER_THREAD;
  int64_t chunk = count / pieces + (count % pieces != 0);
  mutex_lock(&pool->mutex);
  pool->body = body;
  pool->arg = arg;
  pool->count = count;
  pool->chunk = chunk > grain ? chunk : grain;
  atomic_store(&pool->next, 0);
  pool->generation++;
  pool->open = true;
  cond_broadcast(&pool->wake);
  mutex_unlock(&pool->mutex);
  work(pool);
  mutex_lock(&pool->mutex);
  pool->open = false;
  while (pool->active > 0) cond_wait(&pool->done, &pool->mutex);
  mutex_unlock(&pool->mutex);
  atomic_flag_clear(&pool->busy);
}

static bool init_waiting(ThreadPool *pool) {
  if (!mutex_init(&pool->mutex)) return false;
  if (cond_init(&pool->wake)) {
    if (cond_init(&pool->done)) return true;
    cond_destroy(&pool->wake);
  }
  mutex_destroy(&pool->mutex);
  return false;
}

ThreadPool *thread_pool_new(int threads) {
  ThreadPool *pool = mem_calloc(1, sizeof *pool);
  if (!pool) return NULL;
  if (!init_waiting(pool)) {
    mem_free(pool);
    return NULL;
  }
  atomic_flag_clear(&pool->busy);
  if (threads > MAX_THREADS) threads = MAX_THREADS;
  while (pool->num_workers < threads - 1 &&
         thread_start(&pool->workers[pool->num_workers], run_worker, pool)) {
    pool->num_workers++;
  }
  pool->parallel = (Parallel){run_parallel, pool, pool->num_workers + 1};
  return pool;
}

void thread_pool_free(ThreadPool *pool) {
  if (!pool) return;
  mutex_lock(&pool->mutex);
  pool->stopping = true;
  cond_broadcast(&pool->wake);
  mutex_unlock(&pool->mutex);
  for (int i = 0; i < pool->num_workers; i++) thread_join(pool->workers[i]);
  cond_destroy(&pool->done);
  cond_destroy(&pool->wake);
  mutex_destroy(&pool->mutex);
  mem_free(pool);
}

/* The process's pool. Kernels keep a pointer to it, which stays valid when the threads are replaced. */
static Mutex default_mutex = MUTEX_INIT;
static ThreadPool *default_pool;
static Parallel default_parallel; /* threads 0: not decided yet */

static void run_default(void *unused, int64_t count, int64_t grain, ParallelBody *body, void *arg) {
  (void)unused;
  mutex_lock(&default_mutex);
  if (!default_pool) default_pool = thread_pool_new(default_parallel.threads);
  ThreadPool *pool = default_pool;
  mutex_unlock(&default_mutex);
  if (pool) {
    run_parallel(pool, count, grain, body, arg);
  } else {
    body(arg, 0, count);
  }
}

static void set_default_size(int threads) {
  default_parallel = (Parallel){run_default, NULL,
                                threads < 1             ? 1
                                : threads > MAX_THREADS ? MAX_THREADS
                                                        : threads};
}

const Parallel *thread_pool_default(void) {
  mutex_lock(&default_mutex);
  if (default_parallel.threads == 0) set_default_size((int)sysconf(_SC_NPROCESSORS_ONLN));
  mutex_unlock(&default_mutex);
  return &default_parallel;
}

void thread_pool_shut_down(void) {
  mutex_lock(&default_mutex);
  thread_pool_free(default_pool);
  default_pool = NULL;
  mutex_unlock(&default_mutex);
}

void thread_pool_set_size(int threads) {
  thread_pool_shut_down();
  mutex_lock(&default_mutex);
  set_default_size(threads);
  mutex_unlock(&default_mutex);
}

void thread_pool_set_default_size(int threads) {
  mutex_lock(&default_mutex);
  if (default_parallel.threads == 0) set_default_size(threads);
  mutex_unlock(&default_mutex);
}

#endif

const Parallel *thread_pool_parallel(const ThreadPool *pool) { return &pool->parallel; }
