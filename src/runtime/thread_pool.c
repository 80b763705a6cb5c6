#include "runtime/thread_pool.h"

#include "base/alloc.h"
#include "base/clock.h"
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
/* Nanoseconds for which a thread waits without sleeping: the loops of a step follow each other within a few
 * microseconds, and waking a thread takes tens. */
enum { SPIN = 50000 };

/* One call of parallel_for. It lives on the caller's stack. */
typedef struct Job {
  struct Job *next; /* the jobs that were begun earlier */
  ParallelBody *body;
  void *arg;
  int64_t count, chunk;
  atomic_int_fast64_t taken; /* indices that have been given to a thread; may exceed `count` */
  atomic_int active;         /* workers inside the job; changes under the mutex */
} Job;

struct ThreadPool {
  Parallel parallel;
  Mutex mutex;
  Cond wake, done;
  Thread workers[MAX_THREADS];
  int num_workers;
  bool stopping;
  int sleeping, waiting;          /* the workers that wait for `wake`, and the callers that wait for `done` */
  Job *jobs;                      /* those that workers may join: of several callers, and of bodies */
  atomic_uint_fast32_t num_begun; /* the number of jobs so far; changes under the mutex */
  atomic_int in_a_job;            /* the number of workers that are inside a job */
};

/* Takes chunks until all are taken. */
static void work(Job *job) {
  for (;;) {
    int64_t begin = atomic_fetch_add_explicit(&job->taken, job->chunk, memory_order_relaxed);
    if (begin >= job->count) return;
    int64_t left = job->count - begin;
    job->body(job->arg, begin, begin + (left < job->chunk ? left : job->chunk));
  }
}

static bool has_work(Job *job) {
  return atomic_load_explicit(&job->taken, memory_order_relaxed) < job->count;
}

/* The job that was begun last and has chunks left: its caller is the first that has to wait. */
static Job *find_job(const ThreadPool *pool) {
  Job *job = pool->jobs;
  while (job && !has_work(job)) job = job->next;
  return job;
}

static bool has_begun(const void *pool, uint_fast32_t jobs) {
  return atomic_load_explicit(&((const ThreadPool *)pool)->num_begun, memory_order_acquire) != jobs;
}

static bool has_ended(const void *job, uint_fast32_t unused) {
  (void)unused;
  return atomic_load_explicit(&((const Job *)job)->active, memory_order_acquire) == 0;
}

/* Waits for a condition without sleeping, for a short time. */
static void spin(bool (*is_met)(const void *about, uint_fast32_t number), const void *about,
                 uint_fast32_t number) {
  enum { LOOKS = 64 }; /* between two readings of the clock */
  int64_t end = clock_nanoseconds() + SPIN;
  do {
    for (int i = 0; i < LOOKS; i++) {
      if (is_met(about, number)) return;
    }
  } while (clock_nanoseconds() < end);
}

/* Waits until another job begins. The mutex is held, except meanwhile. */
static void await_job(ThreadPool *pool) {
  uint_fast32_t jobs = atomic_load(&pool->num_begun);
  mutex_unlock(&pool->mutex);
  spin(has_begun, pool, jobs);
  mutex_lock(&pool->mutex);
  if (pool->stopping || has_begun(pool, jobs)) return;
  pool->sleeping++;
  cond_wait(&pool->wake, &pool->mutex);
  pool->sleeping--;
}

static void *run_worker(void *argument) {
  ThreadPool *pool = argument;
  mutex_lock(&pool->mutex);
  while (!pool->stopping) {
    Job *job = find_job(pool);
    if (!job) {
      await_job(pool);
      continue;
    }
    atomic_fetch_add(&job->active, 1);
    atomic_fetch_add(&pool->in_a_job, 1);
    mutex_unlock(&pool->mutex);
    work(job);
    mutex_lock(&pool->mutex);
    atomic_fetch_sub(&pool->in_a_job, 1);
    /* The job is on the stack of its caller, who may return from here on. */
    if (atomic_fetch_sub(&job->active, 1) == 1 && pool->waiting > 0) cond_broadcast(&pool->done);
  }
  mutex_unlock(&pool->mutex);
  return NULL;
}

static void begin_job(ThreadPool *pool, Job *job) {
  mutex_lock(&pool->mutex);
  job->next = pool->jobs;
  pool->jobs = job;
  atomic_fetch_add(&pool->num_begun, 1);
  if (pool->sleeping > 0) cond_broadcast(&pool->wake);
  mutex_unlock(&pool->mutex);
}

static void end_job(ThreadPool *pool, Job *job) {
  mutex_lock(&pool->mutex);
  Job **at = &pool->jobs;
  while (*at != job) at = &(*at)->next;
  *at = job->next;
  mutex_unlock(&pool->mutex);
  spin(has_ended, job, 0);
  if (has_ended(job, 0)) return; /* nobody joins a job that is not in the list */
  mutex_lock(&pool->mutex);
  pool->waiting++;
  while (!has_ended(job, 0)) cond_wait(&pool->done, &pool->mutex);
  pool->waiting--;
  mutex_unlock(&pool->mutex);
}

static void run_parallel(void *argument, int64_t count, int64_t grain, ParallelBody *body, void *arg) {
  ThreadPool *pool = argument;
  if (atomic_load(&pool->in_a_job) >= pool->num_workers) { /* nobody could help */
    body(arg, 0, count);
    return;
  }
  int64_t pieces = (int64_t)pool->parallel.threads * CHUNKS_PER_THREAD;
  int64_t chunk = count / pieces + (count % pieces != 0);
  Job job = {.body = body, .arg = arg, .count = count, .chunk = chunk > grain ? chunk : grain};
  atomic_init(&job.taken, 0);
  atomic_init(&job.active, 0);
  begin_job(pool, &job);
  work(&job);
  end_job(pool, &job);
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
