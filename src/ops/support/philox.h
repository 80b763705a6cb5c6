/* Philox4x32-10: the counter-based generator behind TensorFlow's random ops (Salmon et al., "Parallel random
 * numbers: as easy as 1, 2, 3", 2011), and TensorFlow's conversions of its words to numbers. The same seeds
 * give the same numbers, however the work is split. */
#ifndef TFCORE_OPS_SUPPORT_PHILOX_H_
#define TFCORE_OPS_SUPPORT_PHILOX_H_

#include <stdint.h>

/* Each counter value gives a group of four words. */
typedef struct Philox {
  uint32_t counter[4];
  uint32_t key[2];
} Philox;

/* The state for the seeds of a random op. */
Philox philox_seed(uint64_t seed, uint64_t seed2);
/* The next group of four words. */
void philox_next(Philox *generator, uint32_t words[4]);
/* The generator's words one by one. */
typedef struct PhiloxStream {
  Philox generator;
  uint32_t words[4];
  int left; /* of the words; 0 at first */
} PhiloxStream;

uint32_t philox_stream_next(PhiloxStream *stream);
/* Skips `count` groups. */
void philox_skip(Philox *generator, uint64_t count);
/* The first group of each of `count` generators, one per lane: the generator after skipping first, first +
 * stride, ... groups. */
void philox_groups(const Philox *generator, uint64_t first, uint64_t stride, int count, uint32_t *words);

/* A number in [0, 1) from the low bits of words. */
float philox_uniform_f16(uint32_t word);
float philox_uniform_bf16(uint32_t word);
float philox_uniform_f32(uint32_t word);
void philox_uniforms_f32(const uint32_t *words, int64_t count, float *out);
double philox_uniform_f64(uint32_t high, uint32_t low);
/* Two independent standard normal numbers (Box-Muller). */
void philox_normal_f32(uint32_t first, uint32_t second, float normals[2]);
void philox_normal_f64(const uint32_t words[4], double normals[2]);

#endif
