/* Reproducible random sizes for tests. */
#ifndef TFCORE_TESTS_BLAS_SMALL_NUMBERS_H_
#define TFCORE_TESTS_BLAS_SMALL_NUMBERS_H_

#include <stdint.h>

typedef struct SmallNumbers {
  uint32_t state;
} SmallNumbers;

/* In [0, count), for a count below 2^16. */
static inline int small_number(SmallNumbers *numbers, int count) {
  numbers->state = numbers->state * 1664525u + 1013904223u;
  return (int)((numbers->state >> 16) * (uint32_t)count >> 16);
}

#endif
