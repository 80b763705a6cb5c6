/* The monotonic clock, for deadlines and for measuring how long something took. */
#ifndef TFCORE_BASE_CLOCK_H_
#define TFCORE_BASE_CLOCK_H_

#include <stdint.h>
#include <time.h>

/* Nanoseconds since some moment in the past. */
static inline int64_t clock_nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

#endif
