/* ThreadPool: the threads behind parallel_for (base/parallel.h). One pool serves the whole process. In a
 * build without threads, and with one thread, everything runs in the caller. */
#ifndef TFCORE_RUNTIME_THREAD_POOL_H_
#define TFCORE_RUNTIME_THREAD_POOL_H_

#include "base/parallel.h"

typedef struct ThreadPool ThreadPool;

/* A pool in which `threads` threads work, the caller of parallel_for included; so it starts threads - 1. At
 * most 64. Threads that cannot be started are done without. NULL when out of memory. */
ThreadPool *thread_pool_new(int threads);
/* Waits for the threads to end. NULL is fine. */
void thread_pool_free(ThreadPool *pool);
/* What kernels get. Lives as long as the pool. */
const Parallel *thread_pool_parallel(const ThreadPool *pool);

/* The process's pool: as many threads as thread_pool_set_size last said, else one for each processor; made at
 * first use. The result stays valid, whatever is set later; NULL in a build without threads. */
const Parallel *thread_pool_default(void);
/* Sets the number of threads of the process's pool (at least 1). Not while a session runs. */
void thread_pool_set_size(int threads);
/* The same, but only as long as nobody has set the number or asked for the pool. At any time. */
void thread_pool_set_default_size(int threads);
/* Ends the process's pool; it is made again at the next use. For leak checks. */
void thread_pool_shut_down(void);

#endif
