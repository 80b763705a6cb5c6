/* Samples of Poisson distributions: small rates by products of uniform numbers (Knuth, "Seminumerical
 * Algorithms"), large ones by transformed rejection (Hoermann, "The transformed rejection method for
 * generating Poisson random variables", 1993). */
#include <math.h>

#include "op/op_registry.h"
#include "ops/random/random_samples.h"

/* The numbers above the output's highest that are tried. */
enum { MOST_OVERFLOWS = 1000 };

/* Counts the uniform numbers whose product stays above exp(-rate). */
static double count_products(double rate, Philox generator) {
  RandomPairs uniforms = {0};
  double limit = exp(-rate), product = 1, count = 0;
  for (;; count++) {
    product *= random_next_uniform(&generator, &uniforms);
    if (product <= limit) return count;
  }
}

static double reject(double rate, double highest, Philox generator) {
  RandomPairs uniforms = {0};
  double log_rate = log(rate), b = 0.931 + 2.53 * sqrt(rate), a = -0.059 + 0.02483 * b;
  double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
  int sign; /* lgamma stores it in a variable that threads share */
  for (int overflows = 0; overflows < MOST_OVERFLOWS;) {
    double u = random_next_uniform(&generator, &uniforms) - 0.5;
    double v = random_next_uniform(&generator, &uniforms), shifted = 0.5 - fabs(u);
    double k = floor((2 * a / shifted + b) * u + rate + 0.43);
    if (k > highest) {
      overflows++;
      continue;
    }
    if (shifted >= 0.07 && v <= 0.9277 - 3.6224 / (b - 2)) return k;
    if (k < 0 || (shifted < 0.013 && v > shifted)) continue;
    double s = log(v * inverse_alpha / (a / (shifted * shifted) + b));
    if (s <= -rate + k * log_rate - lgamma_r(k + 1, &sign)) return k;
  }
  return highest;
}

static double poisson_sample(double rate, double highest, Philox generator) {
  if (rate < 10) return count_products(rate, generator);
  if (!isfinite(rate)) return rate;
  return reject(rate, highest, generator);
}

static bool random_poisson(KernelContext *context, Status *status) {
  return random_sample_stateful(context, poisson_sample, status);
}

static bool stateless_poisson(KernelContext *context, Status *status) {
  const Tensor *rates = context->inputs[2];
  Philox start;
  Tensor *out;
  TRY(random_stateless(context->inputs[1], &start, status));
  TRY(random_sample_output(context, 0, &rates->shape, &out, status));
  random_sample(&start, poisson_sample, rates, out, context->parallel);
  return true;
}

static bool stateless_shape(InferenceContext *c, Status *status) {
  return random_shape_seed(c, 1, status) && shape_random(c, status);
}

#define STATEFUL                                                              \
  .is_stateful = true, .shape = random_sample_shape, .gradient = NO_GRADIENT, \
  .state_size = sizeof(RandomState), .construct = random_state_construct,     \
  .kernels = {{DT_INVALID, random_poisson}}

const OpRegistration kOpRandomPoisson = {
    .name = "RandomPoisson",
    .inputs = {"shape: S", "rate: dtype"},
    .outputs = {"output: dtype"},
    .attrs = {"seed: int = 0", "seed2: int = 0", "S: {int32, int64}", "dtype: {half, float, double}"},
    .deprecated_version = 25,
    .deprecation_explanation = "Replaced by RandomPoissonV2",
    STATEFUL,
};

const OpRegistration kOpRandomPoissonV2 = {
    .name = "RandomPoissonV2",
    .inputs = {"shape: S", "rate: R"},
    .outputs = {"output: dtype"},
    .attrs = {"seed: int = 0", "seed2: int = 0", "S: {int32, int64}",
              "R: {half, float, double, int32, int64} = DT_DOUBLE",
              "dtype: {half, float, double, int32, int64} = DT_INT64"},
    STATEFUL,
};

const OpRegistration kOpStatelessRandomPoisson = {
    .name = "StatelessRandomPoisson",
    .inputs = {"shape: T", "seed: Tseed", "lam: Rtype"},
    .outputs = {"output: dtype"},
    .attrs = {"Rtype: {half, float, double, int32, int64}", "dtype: {half, float, double, int32, int64}",
              "T: {int32, int64}", "Tseed: {int32, int64} = DT_INT64"},
    .shape = stateless_shape,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, stateless_poisson}},
};
