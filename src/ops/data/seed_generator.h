/* SeedGenerator: gives seeds to the iterators of shuffling datasets. */
#ifndef TFCORE_OPS_DATA_SEED_GENERATOR_H_
#define TFCORE_OPS_DATA_SEED_GENERATOR_H_

#include "base/sync.h"
#include "op/kernel.h"
#include "ops/support/philox.h"

typedef struct SeedGenerator {
  Resource resource;
  Mutex mutex;
  uint64_t seeds[2];
  bool fixed; /* always gives `seeds`; else random numbers that begin with them */
  PhiloxStream random;
} SeedGenerator;

/* A new generator with one reference; if both seeds are 0, they are random. NULL with status on failure. */
SeedGenerator *seed_generator_new(int64_t seed, int64_t seed2, bool reshuffle, Status *status);
void seed_generator_next(SeedGenerator *generator, uint64_t seeds[2]);
/* The generator of a handle; NULL for a dummy. */
MUST_CHECK bool seed_generator_of_input(const KernelContext *context, int input, SeedGenerator **generator,
                                        Status *status);

#endif
