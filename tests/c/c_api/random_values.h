/* random_numbers.h for tests of the harness, with budgets from the environment. */
#ifndef TFCORE_TESTS_C_API_RANDOM_VALUES_H_
#define TFCORE_TESTS_C_API_RANDOM_VALUES_H_

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "harness.h"
#include "random_numbers.h"

static inline bool random_tensor(Random *random, DataType dtype, int rank, const int64_t *dims,
                                 Tensor *tensor) {
  Status status;
  status_init(&status);
  return CHECK_OK(fill_random_tensor(random, dtype, rank, dims, tensor, &status), status);
}

/* --- budgets --- */

/* A number from the environment, to make runs longer than a test's. */
static inline uint64_t setting(const char *name, uint64_t otherwise) {
  const char *text = getenv(name);
  return text && text[0] ? strtoull(text, NULL, 0) : otherwise;
}

/* An allocator that refuses unusually large requests: a shape out of control must end as RESOURCE_EXHAUSTED,
 * not in a swapping machine. */
enum { LARGEST_BLOCK = 4 << 20 };

static inline void *allocate_small(void *context, size_t size) {
  (void)context;
  return size > LARGEST_BLOCK ? NULL : aligned_alloc(64, (size + 63) & ~(size_t)63);
}

static inline void deallocate_small(void *context, void *memory, size_t size) {
  (void)context;
  (void)size;
  free(memory);
}

static const Allocator kSmallBlocks = {allocate_small, deallocate_small, NULL};

#endif
