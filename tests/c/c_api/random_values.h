/* Reproducible random numbers, shapes and tensors for the tests that throw anything at the engine. Values come from pools that
 * are rich in what breaks kernels: limits, zeros, NaN, infinities, negative and out-of-range indices. */
#ifndef TFCORE_TESTS_C_API_RANDOM_VALUES_H_
#define TFCORE_TESTS_C_API_RANDOM_VALUES_H_

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "harness.h"
#include "tensor/tensor.h"

typedef struct Random {
  uint64_t state;
} Random;

/* SplitMix64. */
static inline uint64_t random_bits(Random *random) {
  uint64_t z = random->state += 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

/* In [0, count). */
static inline int random_below(Random *random, int count) { return (int)(random_bits(random) % (uint64_t)count); }
static inline bool one_in(Random *random, int count) { return random_below(random, count) == 0; }

static inline int64_t random_int(Random *random) {
  static const int64_t rare[] = {INT64_MIN, INT64_MAX, INT32_MIN, INT32_MAX, -1, -2, -7, 64, 255, 65536, 1 << 20, (int64_t)1 << 40};
  return one_in(random, 8) ? rare[random_below(random, sizeof rare / sizeof *rare)] : random_below(random, 6) - 1;
}

static inline double random_double(Random *random) {
  static const double rare[] = {NAN, INFINITY, -INFINITY, -0.0, 1e38, -1e38, 1e-42, 1e308, 2147483648.0, -9.3e18, 0.5};
  if (one_in(random, 10)) return rare[random_below(random, sizeof rare / sizeof *rare)];
  return (double)(int64_t)(random_bits(random) >> 40) / (1 << 22) - 2;
}

static inline int random_rank(Random *random) {
  static const int ranks[] = {0, 1, 1, 1, 2, 2, 2, 2, 3, 3, 4, 5};
  return one_in(random, 100) ? 9 : ranks[random_below(random, sizeof ranks / sizeof *ranks)];
}

enum { RANDOM_MAX_RANK = 9 };

static inline void random_dims(Random *random, int rank, int64_t *dims) {
  static const int64_t sizes[] = {1, 1, 2, 2, 3, 3, 4, 5, 0};
  for (int i = 0; i < rank; i++) dims[i] = rank > 5 ? 1 + one_in(random, 4) : sizes[random_below(random, sizeof sizes / sizeof *sizes)];
  if (rank == 1 && one_in(random, 20)) dims[0] = 70;
}

static inline void fill_element(Random *random, Tensor *tensor, int64_t i, Status *status) {
  char *at = (char *)tensor->data + (size_t)i * dtype_size(tensor->dtype);
  switch ((int)tensor->dtype) {
    case DT_FLOAT: {
      double value = random_double(random);
      *(float *)at = isfinite(value) && fabs(value) > 1e38 ? 3e38f : (float)value;
      break;
    }
    case DT_DOUBLE: *(double *)at = random_double(random); break;
    case DT_BOOL: *(bool *)at = one_in(random, 2); break;
    case DT_INT32: {
      int64_t value = random_int(random);
      *(int32_t *)at = (int32_t)(value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : value);
      break;
    }
    case DT_INT64: *(int64_t *)at = random_int(random); break;
    case DT_STRING: {
      bool ok = tstring_set((TString *)at, "abc", (size_t)random_below(random, 4), status);
      CHECK_OK(ok, status);
      break;
    }
    default: {
      if (!dtype_is_pod(tensor->dtype)) break; /* an element that holds no object */
      int64_t value = one_in(random, 4) ? (int64_t)random_bits(random) : random_int(random);
      memcpy(at, &value, dtype_size(tensor->dtype) < sizeof value ? dtype_size(tensor->dtype) : sizeof value);
      if (dtype_size(tensor->dtype) > sizeof value) memcpy(at + sizeof value, &value, dtype_size(tensor->dtype) - sizeof value);
    }
  }
}

static inline bool random_tensor(Random *random, DataType dtype, int rank, const int64_t *dims, Tensor *tensor) {
  Status status;
  status_init(&status);
  if (!CHECK_OK(tensor_allocate_dims(tensor, dtype, rank, dims, NULL, &status), status)) return false;
  for (int64_t i = 0; i < tensor_num_elements(tensor); i++) fill_element(random, tensor, i, &status);
  return true;
}

/* --- budgets --- */

/* A number from the environment, for runs that are longer than a test's. */
static inline uint64_t setting(const char *name, uint64_t otherwise) {
  const char *text = getenv(name);
  return text && text[0] ? strtoull(text, NULL, 0) : otherwise;
}

/* An allocator that refuses what no case needs: a shape gone wild must end as RESOURCE_EXHAUSTED, not in a swapping machine. */
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
