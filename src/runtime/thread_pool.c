#include "runtime/thread_pool.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/sync.h"

#if !SYNC_HAS_THREADS

/* A build without threads: the pool is the caller. */
struct ThreadPool {
  Parallel parallel;
};

static void run_serially(void *pool, int64_t count, int64_t grain, bool wakes, ParallelBody *body,
                         void *arg) {
  (void)pool;
  (void)grain;
  (void)wakes;
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

enum { MAX_THREADS = 64, PIECES_PER_THREAD = 8 };
/* Nanoseconds for which a thread waits without sleeping: the loops of a step follow each other within a few
 * microseconds, and waking a thread takes tens. */
enum { SPIN = 50000 };

/* The pieces of a job that one thread begins with: the first of them in the upper 32 bits, their end in the
 * lower ones. On a cache line of its own. */
typedef struct Share {
  _Alignas(64) atomic_uint_fast64_t pieces;
} Share;

/* One call of parallel_for. It lives on the caller's stack. Each thread has a share of the range, the same
 * one in every loop, so that it finds in its cache what it wrote in the loop before. A thread that has done
 * its share takes pieces from the ends of others. */
typedef struct Job {
  struct Job *next; /* the jobs that were begun earlier */
  ParallelBody *body;
  void *arg;
  int64_t count, piece; /* indices; and indices of a piece, the last of which may have fewer */
  int num_shares;
  atomic_int active; /* workers inside the job; changes under the mutex */
  Share shares[MAX_THREADS];
} Job;

typedef struct Worker {
  ThreadPool *pool;
  Thread thread;
  int share; /* in every job */
} Worker;

struct ThreadPool {
  Parallel parallel;
  Mutex mutex;
  Cond wake, done;
  Worker workers[MAX_THREADS];
  int num_workers;
  bool stopping;
  int waiting;                    /* the callers that wait for `done` */
  Job *jobs;                      /* those that workers may join: of several callers, and of bodies */
  atomic_uint_fast32_t num_begun; /* the number of jobs so far; changes under the mutex */
  atomic_int in_a_job;            /* the number of workers that are inside a job */
  atomic_int sleeping;            /* the number of those that wait for `wake`; changes under the mutex */
  atomic_int_fast64_t last_alone; /* when a caller last did a short job alone because all workers slept */
};

static bool take_first(Share *share, uint32_t *piece) {
  uint64_t pieces = atomic_load_explicit(&share->pieces, memory_order_relaxed);
  do {
    *piece = (uint32_t)(pieces >> 32);
    if (*piece >= (uint32_t)pieces) return false;
  } while (!atomic_compare_exchange_weak_explicit(&share->pieces, &pieces, pieces + ((uint64_t)1 << 32),
                                                  memory_order_relaxed, memory_order_relaxed));
  return true;
}

static bool take_last(Share *share, uint32_t *piece) {
  uint64_t pieces = atomic_load_explicit(&share->pieces, memory_order_relaxed);
  do {
    *piece = (uint32_t)pieces - 1;
    if ((uint32_t)(pieces >> 32) >= (uint32_t)pieces) return false;
  } while (!atomic_compare_exchange_weak_explicit(&share->pieces, &pieces, pieces - 1, memory_order_relaxed,
                                                  memory_order_relaxed));
  return true;
}

static bool take_piece(Job *job, int own, uint32_t *piece) {
  if (take_first(&job->shares[own], piece)) return true;
  for (int i = 1; i < job->num_shares; i++) {
    if (take_last(&job->shares[(own + i) % job->num_shares], piece)) return true;
  }
  return false;
}

/* Works on pieces until all are taken, first on those of share `own`. */
static void work(Job *job, int own) {
  uint32_t piece;
  while (take_piece(job, own, &piece)) {
    int64_t begin = piece * job->piece, left = job->count - begin;
    job->body(job->arg, begin, begin + (left < job->piece ? left : job->piece));
  }
}

static bool has_work(Job *job) {
  for (int i = 0; i < job->num_shares; i++) {
    uint64_t pieces = atomic_load_explicit(&job->shares[i].pieces, memory_order_relaxed);
    if ((uint32_t)(pieces >> 32) < (uint32_t)pieces) return true;
  }
  return false;
}

/* The job that was begun last and has pieces left: its caller is the first that has to wait. */
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
  atomic_fetch_add(&pool->sleeping, 1);
  cond_wait(&pool->wake, &pool->mutex);
  atomic_fetch_sub(&pool->sleeping, 1);
}

static void *run_worker(void *argument) {
  const Worker *worker = argument;
  ThreadPool *pool = worker->pool;
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
    work(job, worker->share);
    mutex_lock(&pool->mutex);
    atomic_fetch_sub(&pool->in_a_job, 1);
    /* The job is on the stack of its caller, who may return from here on. */
    if (atomic_fetch_sub(&job->active, 1) == 1 && pool->waiting > 0) cond_broadcast(&pool->done);
  }
  mutex_unlock(&pool->mutex);
  return NULL;
}

/* Whether threads are awake and without work. */
static bool is_one_free(const ThreadPool *pool) {
  return atomic_load_explicit(&pool->sleeping, memory_order_relaxed) +
             atomic_load_explicit(&pool->in_a_job, memory_order_relaxed) <
         pool->num_workers;
}

static void begin_job(ThreadPool *pool, Job *job, bool wakes) {
  mutex_lock(&pool->mutex);
  job->next = pool->jobs;
  pool->jobs = job;
  atomic_fetch_add(&pool->num_begun, 1);
  if (atomic_load(&pool->sleeping) > 0) {
    if (wakes) cond_broadcast(&pool->wake);
    else if (!is_one_free(pool)) cond_signal(&pool->wake);
  }
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

/* A short job is shared with threads that are awake. It wakes one if another short job was done alone just
 * before: then more will follow, while the thread still waits for them without sleeping. */
static bool is_shared(ThreadPool *pool, bool wakes) {
  if (atomic_load(&pool->in_a_job) >= pool->num_workers) return false; /* nobody could help */
  if (wakes || is_one_free(pool)) return true;
  int64_t now = clock_nanoseconds(), last = atomic_exchange(&pool->last_alone, now);
  return now - last < SPIN;
}

/* Divides the range into pieces, and these into a share for each thread, of about the same size; some are
 * empty if there are few pieces. */
static void init_job(Job *job, int64_t count, int64_t grain, int threads) {
  int64_t most = (int64_t)threads * PIECES_PER_THREAD, piece = count / most + (count % most != 0);
  job->count = count;
  job->piece = piece > grain ? piece : grain;
  int64_t pieces = count / job->piece + (count % job->piece != 0), begin = 0;
  job->num_shares = threads;
  for (int i = 0; i < threads; i++) {
    int64_t end = (pieces * (i + 1) + threads - 1) / threads;
    atomic_init(&job->shares[i].pieces, (uint64_t)begin << 32 | (uint64_t)end);
    begin = end;
  }
  atomic_init(&job->active, 0);
}

static void run_parallel(void *argument, int64_t count, int64_t grain, bool wakes, ParallelBody *body,
                         void *arg) {
  ThreadPool *pool = argument;
  if (!is_shared(pool, wakes)) {
    body(arg, 0, count);
    return;
  }
  Job job;
  job.body = body;
  job.arg = arg;
  init_job(&job, count, grain, pool->parallel.threads);
  begin_job(pool, &job, wakes);
  work(&job, 0);
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
  while (pool->num_workers < threads - 1) {
    Worker *worker = &pool->workers[pool->num_workers];
    worker->pool = pool;
    worker->share = pool->num_workers + 1;
    if (!thread_start(&worker->thread, run_worker, worker)) break;
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
  for (int i = 0; i < pool->num_workers; i++) thread_join(pool->workers[i].thread);
  cond_destroy(&pool->done);
  cond_destroy(&pool->wake);
  mutex_destroy(&pool->mutex);
  mem_free(pool);
}

/* The process's pool. Kernels keep a pointer to it, which stays valid when the threads are replaced. */
static Mutex default_mutex = MUTEX_INIT;
static ThreadPool *default_pool;
static Parallel default_parallel; /* threads 0: not decided yet */

static void run_default(void *unused, int64_t count, int64_t grain, bool wakes, ParallelBody *body,
                        void *arg) {
  (void)unused;
  mutex_lock(&default_mutex);
  if (!default_pool) default_pool = thread_pool_new(default_parallel.threads);
  ThreadPool *pool = default_pool;
  mutex_unlock(&default_mutex);
  if (pool) {
    run_parallel(pool, count, grain, wakes, body, arg);
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
