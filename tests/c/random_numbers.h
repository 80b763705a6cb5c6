/* Reproducible random numbers, shapes and tensors for fuzz-like tests. Values are often those that break
 * kernels: limits, zeros, NaN, infinities, negative and out-of-range indices. */
#ifndef TFCORE_TESTS_RANDOM_NUMBERS_H_
#define TFCORE_TESTS_RANDOM_NUMBERS_H_

#include <math.h>
#include <stdint.h>
#include <string.h>

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
static inline int random_below(Random *random, int count) {
  return (int)(random_bits(random) % (uint64_t)count);
}
static inline bool one_in(Random *random, int count) { return random_below(random, count) == 0; }

static inline int64_t random_int(Random *random) {
  static const int64_t rare[] = {INT64_MIN, INT64_MAX, INT32_MIN, INT32_MAX, -1,      -2,
                                 -7,        64,        255,       65536,     1 << 20, (int64_t)1 << 40};
  return one_in(random, 8) ? rare[random_below(random, sizeof rare / sizeof *rare)]
                           : random_below(random, 6) - 1;
}

static inline double random_double(Random *random) {
  static const double rare[] = {NAN,   INFINITY, -INFINITY,    -0.0,    1e38, -1e38,
                                1e-42, 1e308,    2147483648.0, -9.3e18, 0.5};
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
  for (int i = 0; i < rank; i++)
    dims[i] = rank > 5 ? 1 + one_in(random, 4) : sizes[random_below(random, sizeof sizes / sizeof *sizes)];
  if (rank == 1 && one_in(random, 20)) dims[0] = 70;
}

static inline bool fill_element(Random *random, Tensor *tensor, int64_t i, Status *status) {
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
    case DT_STRING: return tstring_set((TString *)at, "abc", (size_t)random_below(random, 4), status);
    default: {
      if (!dtype_is_pod(tensor->dtype)) break; /* an uninitialised object */
      int64_t value = one_in(random, 4) ? (int64_t)random_bits(random) : random_int(random);
      memcpy(at, &value, dtype_size(tensor->dtype) < sizeof value ? dtype_size(tensor->dtype) : sizeof value);
      if (dtype_size(tensor->dtype) > sizeof value)
        memcpy(at + sizeof value, &value, dtype_size(tensor->dtype) - sizeof value);
    }
  }
  return true;
}

/* A new tensor of random elements; fails only when out of memory. */
static inline bool fill_random_tensor(Random *random, DataType dtype, int rank, const int64_t *dims,
                                      Tensor *tensor, Status *status) {
  TRY(tensor_allocate_dims(tensor, dtype, rank, dims, NULL, status));
  for (int64_t i = 0; i < tensor_num_elements(tensor); i++) TRY(fill_element(random, tensor, i, status));
  return true;
}

#endif
