#include "runtime/thread_pool.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/sync.h"
#include "runtime/core_distance.h"

#if !SYNC_HAS_THREADS

/* A build without threads: the pool is the caller. */
struct ThreadPool {
  Parallel parallel;
};

static void run_serially(void *pool, int64_t count, int64_t grain, ParallelLength length, ParallelBody *body,
                         void *arg) {
  (void)pool;
  (void)grain;
  (void)length;
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
/* Jobs that are under way at the same time: of several callers, and of bodies. Further callers work alone. */
enum { MAX_JOBS = 8 };
/* Nanoseconds for which a thread waits without sleeping: the loops of a step follow each other within a few
 * microseconds, and waking a thread takes tens. */
enum { SPIN = 50000 };

/* The pieces of a job that one thread begins with: the first of them in the upper 32 bits, their end in the
 * lower ones. On a cache line of its own. */
typedef struct Share {
  _Alignas(64) atomic_uint_fast64_t pieces;
} Share;

/* Bits of a job's state; the number of workers that are inside it is counted from HELPER on. A job that is
 * not TAKEN is free. Workers join one that is OPEN. Its caller sleeps until they have left when it is
 * AWAITED. */
enum { TAKEN = 1, OPEN = 2, AWAITED = 4, HELPER = 8 };

/* One call of parallel_for. Each thread has a share of the range, the same one in every loop, so that it
 * finds in its cache what it wrote in the loop before. A thread that has done its share takes pieces from the
 * ends of others.
 *
 * What a worker needs to begin is on few cache lines: to fetch one that another core wrote takes 40 to 200
 * nanoseconds. So jobs are in the pool, and no lock guards them. */
typedef struct Job {
  _Alignas(64) atomic_uint_fast32_t state;
  ParallelBody *body; /* from here on written before the job is open, and unchanged while it is taken */
  void *arg;
  int64_t count, piece; /* indices; and indices of a piece, the last of which may have fewer */
  Share shares[MAX_THREADS];
} Job;

typedef struct Worker {
  ThreadPool *pool;
  Thread thread;
  int share; /* in every job */
} Worker;

struct ThreadPool {
  Parallel parallel;
  Mutex mutex; /* for sleeping and waking */
  Cond wake, done;
  Worker workers[MAX_THREADS];
  int num_workers, num_shares;
  bool stopping;                  /* changes under the mutex */
  atomic_int sleeping;            /* the number of workers that wait for `wake`; changes under the mutex */
  atomic_int_fast64_t last_alone; /* when a caller last did a job alone because all workers slept */
  atomic_bool far;                /* meetings of threads are not worth it: brief jobs, and phases of teams */
  atomic_int_fast64_t measured;   /* after so many more it is measured again */
  atomic_int_fast64_t pause;      /* for so many meetings, when a worker had lost its core */
  _Alignas(64) atomic_uint_fast32_t begun; /* MAX_JOBS * the number of jobs so far + the place of the last */
  Job jobs[MAX_JOBS];
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

static bool take_piece(const ThreadPool *pool, Job *job, int own, uint32_t *piece) {
  if (take_first(&job->shares[own], piece)) return true;
  for (int i = 1; i < pool->num_shares; i++) {
    if (take_last(&job->shares[(own + i) % pool->num_shares], piece)) return true;
  }
  return false;
}

/* Works on pieces until all are taken, first on those of share `own`. */
static void work(const ThreadPool *pool, Job *job, int own) {
  uint32_t piece;
  while (take_piece(pool, job, own, &piece)) {
    int64_t begin = piece * job->piece, left = job->count - begin;
    job->body(job->arg, begin, begin + (left < job->piece ? left : job->piece));
  }
}

/* Whether a job is open and has pieces left. */
static bool has_work(const ThreadPool *pool, const Job *job, int own) {
  if (!(atomic_load_explicit(&job->state, memory_order_relaxed) & OPEN)) return false;
  for (int i = 0; i < pool->num_shares; i++) {
    const Share *share = &job->shares[(own + i) % pool->num_shares];
    uint64_t pieces = atomic_load_explicit(&share->pieces, memory_order_relaxed);
    if ((uint32_t)(pieces >> 32) < (uint32_t)pieces) return true;
  }
  return false;
}

static bool join(Job *job) {
  uint_fast32_t state = atomic_load_explicit(&job->state, memory_order_relaxed);
  while (state & OPEN) {
    if (atomic_compare_exchange_weak_explicit(&job->state, &state, state + HELPER, memory_order_acquire,
                                              memory_order_relaxed))
      return true;
  }
  return false;
}

/* The job may be another one's as soon as the last worker has left. */
static void leave(ThreadPool *pool, Job *job) {
  uint_fast32_t before = atomic_fetch_sub_explicit(&job->state, HELPER, memory_order_release);
  if (before / HELPER > 1 || !(before & AWAITED)) return;
  mutex_lock(&pool->mutex);
  cond_broadcast(&pool->done);
  mutex_unlock(&pool->mutex);
}

/* Joins a job that has work: the one that was begun last if possible, because its caller is the first that
 * has to wait. NULL if there is none. */
static Job *join_any(ThreadPool *pool, uint_fast32_t begun, int own) {
  for (uint_fast32_t i = 0; i < MAX_JOBS; i++) {
    Job *job = &pool->jobs[(begun - i) % MAX_JOBS];
    if (has_work(pool, job, own) && join(job)) return job;
  }
  return NULL;
}

static bool has_begun(const void *pool, uint_fast32_t begun) {
  return atomic_load_explicit(&((const ThreadPool *)pool)->begun, memory_order_acquire) != begun;
}

static bool has_ended(const void *job, uint_fast32_t unused) {
  (void)unused;
  return atomic_load_explicit(&((const Job *)job)->state, memory_order_acquire) < HELPER;
}

/* Waits for a condition without sleeping, for a short time. Returns the nanoseconds that this took; 0 if it
 * took less than a few thousand. */
static int64_t spin(bool (*is_met)(const void *about, uint_fast32_t number), const void *about,
                    uint_fast32_t number) {
  enum { LOOKS = 1000 }; /* between two readings of the clock, which take longer than many looks */
  int64_t begin = 0, passed = 0;
  while (passed < SPIN) {
    for (int i = 0; i < LOOKS; i++) {
      if (is_met(about, number)) return passed;
    }
    int64_t now = clock_nanoseconds();
    if (begin == 0) begin = now;
    passed = now - begin;
  }
  return passed;
}

/* Waits until another job begins. False when the pool ends. */
static bool await_job(ThreadPool *pool, uint_fast32_t begun) {
  spin(has_begun, pool, begun);
  if (has_begun(pool, begun)) return true;
  mutex_lock(&pool->mutex);
  /* A caller that does not see the worker sleep has begun its job before, so that the worker sees that. */
  atomic_fetch_add(&pool->sleeping, 1);
  while (!pool->stopping && atomic_load(&pool->begun) == begun) cond_wait(&pool->wake, &pool->mutex);
  atomic_fetch_sub(&pool->sleeping, 1);
  bool goes_on = !pool->stopping;
  mutex_unlock(&pool->mutex);
  return goes_on;
}

static void *run_worker(void *argument) {
  const Worker *worker = argument;
  ThreadPool *pool = worker->pool;
  uint_fast32_t begun;
  do {
    begun = atomic_load_explicit(&pool->begun, memory_order_acquire);
    for (Job *job; (job = join_any(pool, begun, worker->share));) {
      work(pool, job, worker->share);
      leave(pool, job);
    }
  } while (await_job(pool, begun));
  return NULL;
}

/* The number of workers that are inside a job. They come and go meanwhile. */
static int count_helpers(const ThreadPool *pool) {
  int helpers = 0;
  for (int i = 0; i < MAX_JOBS; i++)
    helpers += (int)(atomic_load_explicit(&pool->jobs[i].state, memory_order_relaxed) / HELPER);
  return helpers;
}

/* Whether threads are awake and without work. */
static bool is_one_free(const ThreadPool *pool, int helpers) {
  return atomic_load_explicit(&pool->sleeping, memory_order_relaxed) + helpers < pool->num_workers;
}

/* A worker that comes much too late has lost its core to another program. Threads do not meet for a while, at
 * least `meetings` times, and twice as long as before if few meetings have gone well meanwhile. */
static void stop_meetings(void *argument, int64_t meetings) {
  enum { MOST = 8192 }; /* meetings: some tens of milliseconds */
  ThreadPool *pool = argument;
  int64_t pause = 2 * atomic_load_explicit(&pool->pause, memory_order_relaxed);
  if (pause < meetings) pause = meetings;
  if (pause > MOST) pause = MOST;
  atomic_store_explicit(&pool->pause, pause, memory_order_relaxed);
  atomic_store_explicit(&pool->measured, pause, memory_order_relaxed);
  atomic_store_explicit(&pool->far, true, memory_order_relaxed);
}

/* As many of the meetings before have gone well. */
static void trust_again(ThreadPool *pool, int64_t meetings) {
  enum { SHORTER = 4 }; /* a pause, by each of them */
  int64_t pause = atomic_load_explicit(&pool->pause, memory_order_relaxed) - SHORTER * meetings;
  atomic_store_explicit(&pool->pause, pause > 0 ? pause : 0, memory_order_relaxed);
}

/* Meetings between two measurements. */
enum { MEASURED_MEETINGS = 1024 };

static void measure_distance(ThreadPool *pool) {
  enum { NEAR = 250 }; /* nanoseconds */
  atomic_store_explicit(&pool->measured, MEASURED_MEETINGS, memory_order_relaxed);
  int64_t distance = core_distance(&pool->parallel);
  if (distance == INT64_MAX) stop_meetings(pool, MEASURED_MEETINGS);
  else atomic_store_explicit(&pool->far, distance > NEAR, memory_order_relaxed);
}

/* Systems move threads, so it is measured again now and then, when a thread is awake. Until one is, threads
 * may meet. */
static bool can_meet(void *argument, int64_t meetings) {
  ThreadPool *pool = argument;
  if (!atomic_load_explicit(&pool->far, memory_order_relaxed)) trust_again(pool, meetings);
  if (atomic_fetch_sub_explicit(&pool->measured, meetings, memory_order_relaxed) <= 0) {
    if (is_one_free(pool, count_helpers(pool))) measure_distance(pool);
    else atomic_store_explicit(&pool->far, false, memory_order_relaxed);
  }
  return !atomic_load_explicit(&pool->far, memory_order_relaxed);
}

/* A job that is not long is shared with threads that are awake. It wakes one if another such job was done
 * alone just before: then more will follow, while the thread still waits for them without sleeping. */
static bool is_shared(ThreadPool *pool, ParallelLength length) {
  int helpers = count_helpers(pool);
  if (helpers >= pool->num_workers) return false; /* nobody could help */
  if (length == PARALLEL_LONG) return true;
  if (is_one_free(pool, helpers)) return length == PARALLEL_SHORT || can_meet(pool, 1);
  if (length == PARALLEL_BRIEF && atomic_load_explicit(&pool->far, memory_order_relaxed)) return false;
  int64_t now = clock_nanoseconds(), last = atomic_exchange(&pool->last_alone, now);
  return now - last < SPIN;
}

/* The place of a free job, which is taken; -1 if there is none. */
static int take_job(ThreadPool *pool) {
  for (int place = 0; place < MAX_JOBS; place++) {
    uint_fast32_t state = 0;
    if (atomic_compare_exchange_strong_explicit(&pool->jobs[place].state, &state, TAKEN, memory_order_acquire,
                                                memory_order_relaxed))
      return place;
  }
  return -1;
}

/* Divides the range into pieces, and these into the shares, of about the same size; some are empty if there
 * are few pieces. */
static void divide(const ThreadPool *pool, Job *job, int64_t count, int64_t grain) {
  int64_t most = (int64_t)pool->num_shares * PIECES_PER_THREAD, piece = count / most + (count % most != 0);
  job->count = count;
  job->piece = piece > grain ? piece : grain;
  int64_t pieces = count / job->piece + (count % job->piece != 0), begin = 0;
  for (int i = 0; i < pool->num_shares; i++) {
    int64_t end = (pieces * (i + 1) + pool->num_shares - 1) / pool->num_shares;
    atomic_store_explicit(&job->shares[i].pieces, (uint64_t)begin << 32 | (uint64_t)end,
                          memory_order_relaxed);
    begin = end;
  }
}

static void begin_job(ThreadPool *pool, int place, ParallelLength length) {
  atomic_store_explicit(&pool->jobs[place].state, TAKEN | OPEN, memory_order_release);
  uint_fast32_t begun = atomic_load_explicit(&pool->begun, memory_order_relaxed);
  while (!atomic_compare_exchange_weak(&pool->begun, &begun,
                                       (begun / MAX_JOBS + 1) * MAX_JOBS + (uint_fast32_t)place)) {
  }
  if (atomic_load(&pool->sleeping) == 0) return;
  mutex_lock(&pool->mutex);
  if (length == PARALLEL_LONG) cond_broadcast(&pool->wake);
  else if (!is_one_free(pool, count_helpers(pool))) cond_signal(&pool->wake);
  mutex_unlock(&pool->mutex);
}

static void end_job(ThreadPool *pool, Job *job, ParallelLength length) {
  enum { LOST = 20000 }; /* nanoseconds */
  atomic_fetch_and_explicit(&job->state, ~(uint_fast32_t)OPEN, memory_order_relaxed);
  if (spin(has_ended, job, 0) > LOST && length == PARALLEL_BRIEF) stop_meetings(pool, MEASURED_MEETINGS);
  if (!has_ended(job, 0)) {
    mutex_lock(&pool->mutex);
    atomic_fetch_or_explicit(&job->state, AWAITED, memory_order_relaxed);
    while (!has_ended(job, 0)) cond_wait(&pool->done, &pool->mutex);
    mutex_unlock(&pool->mutex);
  }
  atomic_store_explicit(&job->state, 0, memory_order_release);
}

static void run_parallel(void *argument, int64_t count, int64_t grain, ParallelLength length,
                         ParallelBody *body, void *arg) {
  ThreadPool *pool = argument;
  int place = is_shared(pool, length) ? take_job(pool) : -1;
  if (place < 0) {
    body(arg, 0, count);
    return;
  }
  Job *job = &pool->jobs[place];
  job->body = body;
  job->arg = arg;
  divide(pool, job, count, grain);
  begin_job(pool, place, length);
  work(pool, job, 0);
  end_job(pool, job, length);
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
  pool->num_shares = threads;
  while (pool->num_workers < threads - 1) {
    Worker *worker = &pool->workers[pool->num_workers];
    worker->pool = pool;
    worker->share = pool->num_workers + 1;
    if (!thread_start(&worker->thread, run_worker, worker)) break;
    pool->num_workers++;
  }
  pool->parallel = (Parallel){run_parallel, pool, pool->num_workers + 1, can_meet, stop_meetings};
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

static ThreadPool *start_default(void) {
  mutex_lock(&default_mutex);
  if (!default_pool) default_pool = thread_pool_new(default_parallel.threads);
  ThreadPool *pool = default_pool;
  mutex_unlock(&default_mutex);
  return pool;
}

static void run_default(void *unused, int64_t count, int64_t grain, ParallelLength length, ParallelBody *body,
                        void *arg) {
  (void)unused;
  ThreadPool *pool = start_default();
  if (pool) {
    run_parallel(pool, count, grain, length, body, arg);
  } else {
    body(arg, 0, count);
  }
}

static bool can_meet_in_default(void *unused, int64_t meetings) {
  (void)unused;
  ThreadPool *pool = start_default();
  return pool && can_meet(pool, meetings);
}

static void stop_meetings_in_default(void *unused, int64_t meetings) {
  (void)unused;
  ThreadPool *pool = start_default();
  if (pool) stop_meetings(pool, meetings);
}

static void set_default_size(int threads) {
  default_parallel = (Parallel){run_default, NULL,
                                threads < 1             ? 1
                                : threads > MAX_THREADS ? MAX_THREADS
                                                        : threads,
                                can_meet_in_default, stop_meetings_in_default};
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
