/* ThreadPool: the threads behind parallel_for (base/parallel.h). One pool serves the whole process. In a
 * build without threads, and with one thread, everything runs in the caller. Several threads may call
 * parallel_for at the same time, also from inside a body: an idle thread of the pool helps any of them. */
#ifndef TFCORE_RUNTIME_THREAD_POOL_H_
#define TFCORE_RUNTIME_THREAD_POOL_H_

#include "base/parallel.h"

typedef struct ThreadPool ThreadPool;

/* A pool of `threads` threads (at most 64), including the caller of parallel_for, so it starts threads - 1.
 * Uses fewer if some cannot be started. NULL when out of memory. */
ThreadPool *thread_pool_new(int threads);
/* Waits for the threads to end, and frees the pool. NULL is fine. */
void thread_pool_free(ThreadPool *pool);
/* The interface that kernels use. Lives as long as the pool. */
const Parallel *thread_pool_parallel(const ThreadPool *pool);

/* The process's pool, created at first use: with the number of threads last given to thread_pool_set_size, or
 * one per processor. The pointer stays valid when the size changes later; NULL in a build without threads. */
const Parallel *thread_pool_default(void);
/* Sets the number of threads of the process's pool (at least 1). Not while a session runs. */
void thread_pool_set_size(int threads);
/* The same, but only if the number was not set and the pool was not used before. May be called at any
 * time. */
void thread_pool_set_default_size(int threads);
/* Ends the process's pool; the next use creates it again. For leak checks. */
void thread_pool_shut_down(void);

#endif
