/* RangeSampler: draws classes from [0, range) with given probabilities, for the candidate samplers. */
#ifndef TFCORE_OPS_RANDOM_RANGE_SAMPLER_H_
#define TFCORE_OPS_RANDOM_RANGE_SAMPLER_H_

#include "op/kernel.h"
#include "ops/support/philox.h"

typedef enum RangeKind {
  RANGE_UNIFORM,
  RANGE_LOG_UNIFORM, /* log(1 + 1 / (class + 1)) / log(1 + range) */
  RANGE_LEARNED,     /* in proportion to the number of updates with a class, plus 1 */
  RANGE_FIXED        /* in proportion to given weights */
} RangeKind;

typedef struct RangeSampler {
  RangeKind kind;
  int64_t range;
  int32_t *counts; /* RANGE_LEARNED: levels of sums; the classes begin at `leaves` */
  int64_t leaves;
  float *weights, total; /* RANGE_FIXED: per class, and their sum */
  float *keep;           /* of the alias method: the probability to keep a drawn class, */
  int32_t *alias;        /* and the class to take otherwise */
} RangeSampler;

/* INVALID_ARGUMENT when a learned range has 2^31 - 1 or more classes. */
MUST_CHECK bool range_sampler_learn(RangeSampler *sampler, Status *status);
/* Sets the weights; `weights` has `range` elements from mem_alloc, and the sampler takes it over. */
MUST_CHECK bool range_sampler_weigh(RangeSampler *sampler, float *weights, float total, Status *status);
void range_sampler_clear(RangeSampler *sampler);
int64_t range_sampler_draw(const RangeSampler *sampler, PhiloxStream *random);
float range_sampler_probability(const RangeSampler *sampler, int64_t value);
/* Counts classes, for RANGE_LEARNED. */
void range_sampler_update(RangeSampler *sampler, const int64_t *values, int64_t count);

#endif
