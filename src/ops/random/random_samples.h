/* Samples by rejection, which take an unknown number of random numbers: each has a part of the generator for
 * itself, so that it does not depend on the others. Shared by gamma, Poisson and binomial distributions.
 */
#ifndef TFCORE_OPS_RANDOM_RANDOM_SAMPLES_H_
#define TFCORE_OPS_RANDOM_RANDOM_SAMPLES_H_

#include "ops/random/random_fill.h"

/* The groups of four words that a sample may take. */
enum { SAMPLE_GROUPS = 256 };

/* Numbers of one distribution come in pairs, of which TensorFlow takes the second one first. */
typedef struct RandomPairs {
  double numbers[2];
  int left; /* 0 at first */
} RandomPairs;

double random_next_uniform(Philox *generator, RandomPairs *pairs);
double random_next_normal(Philox *generator, RandomPairs *pairs);

/* The largest finite number of a type: half, float, double, int32 or int64. */
double random_highest(DataType type);
/* Sets an element of one of these types; what an integer cannot be is 0. */
void random_put(Tensor *out, int64_t i, double value);

/* A sample for a parameter, of which the output can hold numbers up to `highest`. */
typedef double RandomSample(double parameter, double highest, Philox generator);

/* For each parameter, the last dimensions of `out`, samples along the first ones. */
void random_sample(const Philox *start, RandomSample *sample, const Tensor *parameters, Tensor *out,
                   const Parallel *parallel);

/* A kernel: state RandomState, inputs shape and parameters, whose shapes are joined. */
MUST_CHECK bool random_sample_stateful(KernelContext *context, RandomSample *sample, Status *status);
/* Allocates output 0 with the shape in input `shape`, whose end is the shape of the parameters. */
MUST_CHECK bool random_sample_output(KernelContext *context, int shape, const Shape *parameters, Tensor **out,
                                     Status *status);

/* The shape function of random_sample_stateful. */
bool random_sample_shape(InferenceContext *c, Status *status);

#endif
