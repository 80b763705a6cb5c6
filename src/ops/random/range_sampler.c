#include "ops/random/range_sampler.h"

#include <math.h>

#include "base/alloc.h"

/* --- numbers of the generator --- */

static uint64_t next_64(PhiloxStream *random) {
  uint64_t low = philox_stream_next(random);
  return low | (uint64_t)philox_stream_next(random) << 32;
}

/* A number in [0, range), range > 0: without bias, because numbers of an incomplete period are redrawn. */
static uint64_t uniform_64(PhiloxStream *random, uint64_t range) {
  if ((range & (range - 1)) == 0) return next_64(random) & (range - 1);
  uint64_t incomplete = UINT64_MAX % range + 1, drawn;
  do drawn = next_64(random);
  while (drawn < incomplete);
  return drawn % range;
}

static uint32_t uniform_32(PhiloxStream *random, uint32_t range) {
  if ((range & (range - 1)) == 0) return philox_stream_next(random) & (range - 1);
  uint32_t incomplete = UINT32_MAX % range + 1, drawn;
  do drawn = philox_stream_next(random);
  while (drawn < incomplete);
  return drawn % range;
}

/* --- learned: a binary tree of sums; node 1 is the root, and node n has the children 2 n and 2 n + 1 --- */

bool range_sampler_learn(RangeSampler *sampler, Status *status) {
  if (sampler->range >= INT32_MAX) {
    return status_invalid(status, "range_max must be less than %d for unigram samplers, got %lld", INT32_MAX,
                          (long long)sampler->range);
  }
  for (sampler->leaves = 1; sampler->leaves < sampler->range;) sampler->leaves *= 2;
  sampler->counts = mem_calloc(2 * sampler->leaves, sizeof *sampler->counts);
  if (!sampler->counts) return status_oom(status, "the counts of classes");
  for (int64_t i = 0; i < sampler->range; i++) sampler->counts[sampler->leaves + i] = 1;
  for (int64_t i = sampler->leaves - 1; i > 0; i--)
    sampler->counts[i] = sampler->counts[2 * i] + sampler->counts[2 * i + 1];
  return true;
}

void range_sampler_update(RangeSampler *sampler, const int64_t *values, int64_t count) {
  for (int64_t i = 0; i < count && sampler->counts[1] < INT32_MAX; i++) {
    for (int64_t node = sampler->leaves + values[i]; node > 0; node /= 2) sampler->counts[node]++;
  }
}

static int64_t draw_learned(const RangeSampler *sampler, PhiloxStream *random) {
  const int32_t *counts = sampler->counts;
  int32_t position = (int32_t)uniform_32(random, (uint32_t)counts[1]);
  int64_t node = 1;
  while (node < sampler->leaves) {
    node *= 2;
    if (position < counts[node]) continue;
    position -= counts[node];
    node++;
  }
  return node - sampler->leaves;
}

/* --- fixed: Walker's alias method --- */

/* Pairs each class that has less than the average with one that has more, which takes the rest. */
static void pair(RangeSampler *sampler, double *shares, int32_t *low, int32_t *high) {
  int64_t range = sampler->range, num_low = 0, num_high = 0;
  double sum = 0;
  for (int64_t i = 0; i < range; i++) sum += (double)sampler->weights[i];
  for (int64_t i = 0; i < range; i++) {
    shares[i] = (double)(sampler->weights[i] * (float)range) / sum;
    if (shares[i] < 1) low[num_low++] = (int32_t)i;
    else high[num_high++] = (int32_t)i;
  }
  while (num_high > 0 && num_low > 0) {
    int32_t less = low[--num_low], more = high[--num_high];
    sampler->alias[less] = more;
    shares[more] -= 1 - shares[less];
    if (shares[more] < 1) low[num_low++] = more;
    else high[num_high++] = more;
  }
  for (int64_t i = 0; i < range; i++) sampler->keep[i] = (float)shares[i];
  while (num_high > 0) sampler->keep[high[--num_high]] = 1;
  while (num_low > 0) sampler->keep[low[--num_low]] = 1;
}

bool range_sampler_weigh(RangeSampler *sampler, float *weights, float total, Status *status) {
  int64_t range = sampler->range;
  sampler->weights = weights;
  sampler->total = total;
  if (range >= INT32_MAX) return status_invalid(status, "%lld classes are too many", (long long)range);
  sampler->keep = mem_calloc(range, sizeof *sampler->keep);
  sampler->alias = mem_calloc(range, sizeof *sampler->alias);
  double *shares = mem_calloc(range, sizeof *shares);
  int32_t *low = mem_calloc(range, sizeof *low), *high = mem_calloc(range, sizeof *high);
  bool ok = sampler->keep && sampler->alias && shares && low && high;
  if (ok) pair(sampler, shares, low, high);
  mem_free(shares);
  mem_free(low);
  mem_free(high);
  return ok || status_oom(status, "the weights of classes");
}

static int64_t draw_fixed(const RangeSampler *sampler, PhiloxStream *random) {
  float kept = philox_uniform_f32(philox_stream_next(random));
  uint32_t drawn = uniform_32(random, (uint32_t)sampler->range);
  return kept < sampler->keep[drawn] ? (int64_t)drawn : sampler->alias[drawn];
}

/* --- all --- */

void range_sampler_clear(RangeSampler *sampler) {
  mem_free(sampler->counts);
  mem_free(sampler->weights);
  mem_free(sampler->keep);
  mem_free(sampler->alias);
}

static int64_t draw_log_uniform(const RangeSampler *sampler, PhiloxStream *random) {
  uint32_t high = philox_stream_next(random), low = philox_stream_next(random);
  double power = philox_uniform_f64(high, low) * log1p((double)sampler->range);
  return ((int64_t)exp(power) - 1) % sampler->range;
}

int64_t range_sampler_draw(const RangeSampler *sampler, PhiloxStream *random) {
  switch (sampler->kind) {
    case RANGE_UNIFORM: return (int64_t)uniform_64(random, (uint64_t)sampler->range);
    case RANGE_LOG_UNIFORM: return draw_log_uniform(sampler, random);
    case RANGE_LEARNED: return draw_learned(sampler, random);
    default: return draw_fixed(sampler, random);
  }
}

float range_sampler_probability(const RangeSampler *sampler, int64_t value) {
  switch (sampler->kind) {
    case RANGE_UNIFORM: return (float)(1.0 / (double)sampler->range);
    case RANGE_LOG_UNIFORM: {
      double v = (double)value;
      return (float)(log((v + 2) / (v + 1)) / log1p((double)sampler->range));
    }
    case RANGE_LEARNED: return (float)sampler->counts[sampler->leaves + value] / (float)sampler->counts[1];
    default: return sampler->weights[value] / sampler->total;
  }
}
