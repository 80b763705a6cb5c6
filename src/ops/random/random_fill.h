/* Fills memory with random numbers as TensorFlow does: from a generator's current position, in groups of as
 * many numbers as four words give. Shared by the stateful and stateless random ops. */
#ifndef TFCORE_OPS_RANDOM_RANDOM_FILL_H_
#define TFCORE_OPS_RANDOM_RANDOM_FILL_H_

#include <stdatomic.h>

#include "op/kernel.h"
#include "op/shape_inference.h"
#include "ops/support/philox.h"

typedef enum RandomDistribution {
  RANDOM_UNIFORM,  /* in [0, 1) */
  RANDOM_NORMAL,   /* mean 0, standard deviation 1 */
  RANDOM_TRUNCATED /* the same, with values outside of two standard deviations redrawn */
} RandomDistribution;

/* Half, bfloat16, float or double numbers, independent of the number of threads. */
void random_fill_floats(const Philox *start, RandomDistribution distribution, DataType type, void *out,
                        int64_t count, const Parallel *parallel);
/* int32 or int64 numbers in [low, high), low < high. */
void random_fill_ints(const Philox *start, int64_t low, int64_t high, DataType type, void *out, int64_t count,
                      const Parallel *parallel);

/* All numbers of int32, int64, uint32 or uint64. */
void random_fill_all_ints(const Philox *start, DataType type, void *out, int64_t count,
                          const Parallel *parallel);

/* --- the generator of a node with attrs seed and seed2 --- */

/* State of the session: each run continues after the previous one. With both seeds 0 the initial state is
 * random. */
typedef struct RandomState {
  Philox start;
  _Atomic uint64_t used; /* groups of four words; steps may run concurrently */
} RandomState;

bool random_state_construct(const KernelConstruction *construction, void *state, Status *status);
/* The generator's current position; reserves that many groups of four words. */
Philox random_state_reserve(RandomState *state, uint64_t groups);

/* --- the generator for an input `seed` --- */

/* INVALID_ARGUMENT unless the tensor is a vector of two integers. */
MUST_CHECK bool random_stateless(const Tensor *seed, Philox *generator, Status *status);
/* For shape functions: checks that input `i` can be such a seed. */
MUST_CHECK bool random_shape_seed(InferenceContext *c, int i, Status *status);

/* --- inputs --- */

/* The sizes in a vector of integers. */
MUST_CHECK bool random_read_shape(const Tensor *sizes, int *rank, int64_t dims[SHAPE_MAX_RANK],
                                  Status *status);
/* Allocates output 0 with the shape given by input `shape`. */
MUST_CHECK bool random_allocate_output(KernelContext *context, int shape, Tensor **out, Status *status);
/* The bounds of integers in inputs `first` and `first` + 1. */
MUST_CHECK bool random_read_bounds(const KernelContext *context, int first, int64_t *low, int64_t *high,
                                   Status *status);
/* For shape functions: checks that these are scalars. */
MUST_CHECK bool random_shape_bounds(InferenceContext *c, int first, Status *status);
/* Checks that the bounds allow a number; TensorFlow reports this error only if numbers are requested. */
MUST_CHECK bool random_check_bounds(int64_t low, int64_t high, Status *status);

#endif
