/* How far apart the cores of two threads are. A loop that is handed to another thread moves some ten cache
 * lines between them. Cores with a common cache exchange a line and get it back in less than 100 nanoseconds;
 * others need several times as long. */
#ifndef TFCORE_RUNTIME_CORE_DISTANCE_H_
#define TFCORE_RUNTIME_CORE_DISTANCE_H_

#include "base/parallel.h"

/* The nanoseconds in which a cache line goes from the calling thread to another one of the pool, and back;
 * INT64_MAX when no thread of the pool takes part. Takes some microseconds. */
int64_t core_distance(const Parallel *parallel);

#endif
