#include "ops/random/random_fill.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "op/node_def.h"
#include "ops/support/half_precision.h"

/* The number of groups computed at once, and its work. A truncated number may use as many words as 256
 * numbers. */
enum {
  BLOCK_GROUPS = 64,
  BLOCK_WORDS = 4 * BLOCK_GROUPS,
  BLOCK_WORK = 1024,
  RESERVED = 256,
  TRUNCATE_AT = 2
};

typedef struct Fill {
  const Philox *start;
  RandomDistribution distribution;
  DataType type;
  void *out;
  int64_t count;
  int64_t low;    /* of integers */
  uint64_t range; /* 0: all integers of the type */
} Fill;

/* The number of groups for `count` numbers. */
static int groups_of(int64_t count, int group_size) { return (int)((count + group_size - 1) / group_size); }

/* --- float, half and bfloat16: four numbers per group --- */

static void uniform_f32(const Fill *fill, const uint32_t *words, int64_t count, float *out) {
  if (fill->type == DT_HALF) {
    for (int64_t i = 0; i < count; i++) out[i] = philox_uniform_f16(words[i]);
  } else if (fill->type == DT_BFLOAT16) {
    for (int64_t i = 0; i < count; i++) out[i] = philox_uniform_bf16(words[i]);
  } else {
    philox_uniforms_f32(words, count, out);
  }
}

/* Continues from the group's first words until there are four numbers. */
static void truncated_group_f32(Philox generator, const uint32_t first[4], float *out) {
  uint32_t words[4];
  memcpy(words, first, sizeof words);
  for (int filled = 0;;) {
    float normals[4];
    philox_normal_f32(words[0], words[1], normals);
    philox_normal_f32(words[2], words[3], normals + 2);
    for (int i = 0; i < 4; i++) {
      if (fabsf(normals[i]) >= TRUNCATE_AT) continue;
      out[filled++] = normals[i];
      if (filled == 4) return;
    }
    philox_next(&generator, words);
  }
}

/* `out` has space for whole groups. */
static void block_f32(const Fill *fill, int64_t group, int64_t count, float *out) {
  uint32_t words[BLOCK_WORDS];
  int groups = groups_of(count, 4);
  bool truncated = fill->distribution == RANDOM_TRUNCATED;
  uint64_t skip = truncated ? RESERVED : 1;
  philox_groups(fill->start, (uint64_t)group * skip, skip, groups, words);
  if (fill->distribution == RANDOM_UNIFORM) {
    uniform_f32(fill, words, 4 * groups, out);
  } else if (!truncated) {
    for (int i = 0; i < 4 * groups; i += 2) philox_normal_f32(words[i], words[i + 1], out + i);
  } else {
    for (int g = 0; g < groups; g++) {
      Philox rest = *fill->start;
      philox_skip(&rest, (uint64_t)(group + g) * skip + 1);
      truncated_group_f32(rest, words + 4 * g, out + 4 * g);
    }
  }
}

static void fill_f32(void *argument, int64_t begin, int64_t end) {
  const Fill *fill = argument;
  for (int64_t block = begin; block < end; block++) {
    int64_t at = block * BLOCK_WORDS, left = fill->count - at;
    if (fill->type == DT_FLOAT && left >= BLOCK_WORDS) {
      block_f32(fill, block * BLOCK_GROUPS, BLOCK_WORDS, (float *)fill->out + at);
      continue;
    }
    float numbers[BLOCK_WORDS];
    if (left > BLOCK_WORDS) left = BLOCK_WORDS;
    block_f32(fill, block * BLOCK_GROUPS, left, numbers);
    if (fill->type == DT_FLOAT) {
      memcpy((float *)fill->out + at, numbers, (size_t)left * sizeof *numbers);
    } else {
      half_precision_narrow(fill->type, numbers, (uint16_t *)fill->out + at, left);
    }
  }
}

/* --- double: two numbers per group --- */

static void truncated_group_f64(Philox generator, const uint32_t first[4], double *out) {
  uint32_t words[4];
  memcpy(words, first, sizeof words);
  for (int filled = 0;;) {
    double normals[2];
    philox_normal_f64(words, normals);
    for (int i = 0; i < 2; i++) {
      if (fabs(normals[i]) >= TRUNCATE_AT) continue;
      out[filled++] = normals[i];
      if (filled == 2) return;
    }
    philox_next(&generator, words);
  }
}

static void block_f64(const Fill *fill, int64_t group, int64_t count, double *out) {
  uint32_t words[BLOCK_WORDS];
  int groups = groups_of(count, 2);
  uint64_t skip = fill->distribution == RANDOM_TRUNCATED ? RESERVED / 2 : 1;
  philox_groups(fill->start, (uint64_t)group * skip, skip, groups, words);
  for (int g = 0; g < groups; g++) {
    const uint32_t *w = words + 4 * g;
    if (fill->distribution == RANDOM_UNIFORM) {
      out[2 * g] = philox_uniform_f64(w[0], w[1]);
      out[2 * g + 1] = philox_uniform_f64(w[2], w[3]);
    } else if (fill->distribution == RANDOM_NORMAL) {
      philox_normal_f64(w, out + 2 * g);
    } else {
      Philox rest = *fill->start;
      philox_skip(&rest, (uint64_t)(group + g) * skip + 1);
      truncated_group_f64(rest, w, out + 2 * g);
    }
  }
}

static void fill_f64(void *argument, int64_t begin, int64_t end) {
  const Fill *fill = argument;
  double numbers[2 * BLOCK_GROUPS];
  for (int64_t block = begin; block < end; block++) {
    int64_t at = block * 2 * BLOCK_GROUPS, count = fill->count - at;
    if (count > 2 * BLOCK_GROUPS) count = 2 * BLOCK_GROUPS;
    block_f64(fill, block * BLOCK_GROUPS, count, numbers);
    memcpy((double *)fill->out + at, numbers, (size_t)count * sizeof *numbers);
  }
}

/* --- integers --- */

static void fill_i32(void *argument, int64_t begin, int64_t end) {
  const Fill *fill = argument;
  uint32_t words[BLOCK_WORDS], range = (uint32_t)fill->range, low = (uint32_t)(uint64_t)fill->low;
  for (int64_t block = begin; block < end; block++) {
    int64_t at = block * BLOCK_WORDS, count = fill->count - at;
    if (count > BLOCK_WORDS) count = BLOCK_WORDS;
    philox_groups(fill->start, (uint64_t)block * BLOCK_GROUPS, 1, groups_of(count, 4), words);
    for (int64_t i = 0; i < count; i++)
      ((int32_t *)fill->out)[at + i] = (int32_t)(low + (range ? words[i] % range : words[i]));
  }
}

static void fill_i64(void *argument, int64_t begin, int64_t end) {
  const Fill *fill = argument;
  uint32_t words[BLOCK_WORDS];
  for (int64_t block = begin; block < end; block++) {
    int64_t at = block * 2 * BLOCK_GROUPS, count = fill->count - at;
    if (count > 2 * BLOCK_GROUPS) count = 2 * BLOCK_GROUPS;
    philox_groups(fill->start, (uint64_t)block * BLOCK_GROUPS, 1, groups_of(count, 2), words);
    for (int64_t i = 0; i < count; i++) {
      uint64_t word = words[2 * i] | (uint64_t)words[2 * i + 1] << 32;
      if (fill->range) word %= fill->range;
      ((int64_t *)fill->out)[at + i] = (int64_t)((uint64_t)fill->low + word);
    }
  }
}

static void run(Fill *fill, int group_size, ParallelBody *body, const Parallel *parallel) {
  int64_t per_block = (int64_t)BLOCK_GROUPS * group_size;
  parallel_work(parallel, fill->count / per_block + (fill->count % per_block != 0), BLOCK_WORK, body, fill);
}

void random_fill_floats(const Philox *start, RandomDistribution distribution, DataType type, void *out,
                        int64_t count, const Parallel *parallel) {
  Fill fill = {.start = start, .distribution = distribution, .type = type, .out = out, .count = count};
  if (type == DT_DOUBLE) {
    run(&fill, 2, fill_f64, parallel);
  } else {
    run(&fill, 4, fill_f32, parallel);
  }
}

static void run_ints(Fill *fill, DataType type, const Parallel *parallel) {
  if (type == DT_INT64 || type == DT_UINT64) {
    run(fill, 2, fill_i64, parallel);
  } else {
    run(fill, 4, fill_i32, parallel);
  }
}

void random_fill_ints(const Philox *start, int64_t low, int64_t high, DataType type, void *out, int64_t count,
                      const Parallel *parallel) {
  Fill fill = {.start = start,
               .out = out,
               .count = count,
               .low = low,
               .range = (uint64_t)high - (uint64_t)low};
  run_ints(&fill, type, parallel);
}

void random_fill_all_ints(const Philox *start, DataType type, void *out, int64_t count,
                          const Parallel *parallel) {
  Fill fill = {.start = start, .out = out, .count = count};
  run_ints(&fill, type, parallel);
}

/* --- generators --- */

bool random_state_construct(const KernelConstruction *construction, void *memory, Status *status) {
  int64_t seed, seed2;
  TRY(node_attr_int(construction->node, "seed", &seed, status));
  TRY(node_attr_int(construction->node, "seed2", &seed2, status));
  uint64_t seeds[2] = {(uint64_t)seed, (uint64_t)seed2};
  if (seed == 0 && seed2 == 0 && getentropy(seeds, sizeof seeds) != 0) {
    return status_set(status, CODE_UNAVAILABLE, "No entropy for a random seed");
  }
  RandomState *state = memory;
  state->start = philox_seed(seeds[0], seeds[1]);
  atomic_init(&state->used, 0);
  return true;
}

Philox random_state_reserve(RandomState *state, uint64_t groups) {
  Philox generator = state->start;
  philox_skip(&generator, atomic_fetch_add(&state->used, groups));
  return generator;
}

/* Mixes the two numbers with one round of the generator under a fixed key, so that similar seeds have distant
 * streams. */
bool random_stateless(const Tensor *seed, Philox *generator, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  if (!tensor_is_vector(seed) || tensor_num_elements(seed) != 2) {
    return status_invalid(status, "seed must have shape [2], not %s", shape_text(&seed->shape, text));
  }
  uint64_t low = (uint64_t)tensor_int_at(seed, 0), high = (uint64_t)tensor_int_at(seed, 1);
  Philox mixer = {{(uint32_t)low, (uint32_t)(low >> 32), (uint32_t)high, (uint32_t)(high >> 32)},
                  {0x3ec8f720, 0x02461e29}};
  uint32_t words[4];
  philox_next(&mixer, words);
  *generator = (Philox){{0, 0, words[2], words[3]}, {words[0], words[1]}};
  return true;
}

bool random_shape_seed(InferenceContext *c, int i, Status *status) {
  ShapeHandle seed;
  DimHandle two;
  return shape_with_rank(c, shape_input(c, i), 1, &seed, status) &&
         dim_with_value(c, shape_dim_of(c, seed, 0), 2, &two, status);
}

/* --- inputs --- */

bool random_read_shape(const Tensor *sizes, int *rank, int64_t dims[SHAPE_MAX_RANK], Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  if (!tensor_is_vector(sizes) || (sizes->dtype != DT_INT32 && sizes->dtype != DT_INT64)) {
    return status_invalid(status, "shape must be a vector of {int32,int64}, got shape %s",
                          shape_text(&sizes->shape, text));
  }
  int64_t count = tensor_num_elements(sizes);
  if (count > SHAPE_MAX_RANK)
    return status_invalid(status, "shape has %lld dimensions, more than 254", (long long)count);
  for (int64_t i = 0; i < count; i++) {
    dims[i] = tensor_int_at(sizes, i);
    if (dims[i] < 0) return status_invalid(status, "Dimension %lld must be >= 0", (long long)dims[i]);
  }
  *rank = (int)count;
  return true;
}

bool random_allocate_output(KernelContext *context, int shape, Tensor **out, Status *status) {
  int64_t dims[SHAPE_MAX_RANK];
  int rank;
  TRY(random_read_shape(context->inputs[shape], &rank, dims, status));
  return kernel_allocate_output_dims(context, 0, rank, dims, out, status);
}

bool random_read_bounds(const KernelContext *context, int first, int64_t *low, int64_t *high,
                        Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  for (int i = 0; i < 2; i++) {
    const Tensor *bound = context->inputs[first + i];
    if (!tensor_is_scalar(bound)) {
      return status_invalid(status, "%s must be 0-D, got shape %s", i == 0 ? "minval" : "maxval",
                            shape_text(&bound->shape, text));
    }
    *(i == 0 ? low : high) = tensor_int_at(bound, 0);
  }
  return true;
}

bool random_check_bounds(int64_t low, int64_t high, Status *status) {
  if (low < high) return true;
  return status_invalid(status, "Need minval < maxval, got %lld >= %lld", (long long)low, (long long)high);
}

bool random_shape_bounds(InferenceContext *c, int first, Status *status) {
  for (int i = 0; i < 2; i++) {
    ShapeHandle bound = shape_input(c, first + i);
    if (!shape_rank_known(bound) || shape_rank(bound) == 0) continue;
    StrBuf text = {0};
    shape_handle_print(bound, &text);
    if (strbuf_ok(&text, status)) {
      status_invalid(status, "%s must be a scalar; got a tensor of shape %s", i == 0 ? "minval" : "maxval",
                     strbuf_text(&text));
    }
    strbuf_free(&text);
    return false;
  }
  return true;
}
