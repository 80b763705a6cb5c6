/* Random numbers: TensorFlow's own for given seeds. A node's generator is state of the session: each run goes on where the
 * last one ended. With both seeds 0 the generator starts anywhere. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/philox.h"

typedef struct RandomState {
  Philox generator;
} RandomState;

static bool random_construct(const KernelConstruction *construction, void *memory, Status *status) {
  int64_t seed, seed2;
  TRY(node_attr_int(construction->node, "seed", &seed, status));
  TRY(node_attr_int(construction->node, "seed2", &seed2, status));
  uint64_t seeds[2] = {(uint64_t)seed, (uint64_t)seed2};
  if (seed == 0 && seed2 == 0 && getentropy(seeds, sizeof seeds) != 0) {
    return status_set(status, CODE_UNAVAILABLE, "No entropy for a random seed");
  }
  ((RandomState *)memory)->generator = philox_seed(seeds[0], seeds[1]);
  return true;
}

/* The shape in input 0. */
static bool read_shape(const KernelContext *context, Shape *shape, Status *status) {
  const Tensor *sizes = context->inputs[0];
  int64_t dims[SHAPE_MAX_RANK];
  char text[SHAPE_TEXT_CAPACITY];
  if (!tensor_is_vector(sizes)) {
    return status_invalid(status, "shape must be a vector of {int32,int64}, got shape %s", shape_text(&sizes->shape, text));
  }
  int64_t rank = tensor_num_elements(sizes);
  if (rank > SHAPE_MAX_RANK) return status_invalid(status, "shape has %lld dimensions, more than 254", (long long)rank);
  for (int64_t i = 0; i < rank; i++) {
    dims[i] = tensor_int_at(sizes, i);
    if (dims[i] < 0) return status_invalid(status, "Dimension %lld must be >= 0", (long long)dims[i]);
  }
  return shape_set(shape, (int)rank, dims, status);
}

/* How one call of a distribution uses words and what it gives: a group of numbers. */
typedef struct Fill Fill;
typedef void GroupFn(const Fill *fill, Philox *generator, void *group);

struct Fill {
  Philox base;      /* of the first group */
  uint64_t skip;    /* words * 4 that each group may use */
  GroupFn *group;
  void *out;
  int64_t count, group_size;
  size_t element_size;
  int64_t low;      /* of integers */
  uint64_t range;
};

/* Groups are independent, so any number of threads gives the same numbers. */
static void fill_groups(void *argument, int64_t begin, int64_t end) {
  const Fill *fill = argument;
  for (int64_t g = begin; g < end; g++) {
    Philox generator = fill->base;
    philox_skip(&generator, (uint64_t)g * fill->skip);
    char *out = (char *)fill->out + (size_t)(g * fill->group_size) * fill->element_size;
    int64_t left = fill->count - g * fill->group_size;
    if (left >= fill->group_size) {
      fill->group(fill, &generator, out);
    } else {
      union { float f32[4]; double f64[2]; int32_t i32[4]; int64_t i64[2]; } last;
      fill->group(fill, &generator, &last);
      memcpy(out, &last, (size_t)left * fill->element_size);
    }
  }
}

/* TensorFlow reserves 256 times four words for every number, whatever is used. */
enum { RESERVED = 256, GROUPS_GRAIN = 4096 };

/* Fills output 0 with the groups of a distribution; `reserved` groups may use more words than one call gives. */
static bool fill_output(KernelContext *context, Fill *fill, bool reserved, Status *status) {
  RandomState *state = context->state;
  Shape shape = {0};
  Tensor *out;
  TRY(read_shape(context, &shape, status));
  bool ok = kernel_allocate_output(context, 0, &shape, &out, status);
  shape_clear(&shape);
  if (!ok) return false;
  fill->base = state->generator;
  fill->out = out->data;
  fill->count = tensor_num_elements(out);
  fill->element_size = dtype_size(out->dtype);
  fill->skip = reserved ? (uint64_t)fill->group_size * RESERVED / 4 : 1;
  philox_skip(&state->generator, (uint64_t)fill->count * RESERVED);
  int64_t groups = fill->count / fill->group_size + (fill->count % fill->group_size != 0);
  parallel_for(context->parallel, groups, GROUPS_GRAIN, fill_groups, fill);
  return true;
}

/* What the ops that give floats have in common. */
#define RANDOM_FLOATS                                                                                                         \
  .inputs = {"shape: T"}, .outputs = {"output: dtype"},                                                                       \
  .attrs = {"seed: int = 0", "seed2: int = 0", "dtype: {half, bfloat16, float, double}", "T: {int32, int64}"},                \
  .is_stateful = true, .shape = shape_random, .gradient = NO_GRADIENT, .state_size = sizeof(RandomState),                     \
  .construct = random_construct

/* --- uniform in [0, 1) --- */

static void uniform_group_f32(const Fill *fill, Philox *generator, void *group) {
  (void)fill;
  uint32_t words[4];
  philox_next(generator, words);
  for (int i = 0; i < 4; i++) ((float *)group)[i] = philox_uniform_f32(words[i]);
}

static void uniform_group_f64(const Fill *fill, Philox *generator, void *group) {
  (void)fill;
  uint32_t words[4];
  philox_next(generator, words);
  for (int i = 0; i < 2; i++) ((double *)group)[i] = philox_uniform_f64(words[2 * i], words[2 * i + 1]);
}

static bool uniform_f32(KernelContext *context, Status *status) {
  return fill_output(context, &(Fill){.group = uniform_group_f32, .group_size = 4}, false, status);
}

static bool uniform_f64(KernelContext *context, Status *status) {
  return fill_output(context, &(Fill){.group = uniform_group_f64, .group_size = 2}, false, status);
}

REGISTER_OP(RandomUniform,
  RANDOM_FLOATS,
  .kernels = {{DT_FLOAT, uniform_f32}, {DT_DOUBLE, uniform_f64}})

/* --- standard normal --- */

static void normal_group_f32(const Fill *fill, Philox *generator, void *group) {
  (void)fill;
  uint32_t words[4];
  philox_next(generator, words);
  philox_normal_f32(words[0], words[1], (float *)group);
  philox_normal_f32(words[2], words[3], (float *)group + 2);
}

static void normal_group_f64(const Fill *fill, Philox *generator, void *group) {
  (void)fill;
  uint32_t words[4];
  philox_next(generator, words);
  philox_normal_f64(words, group);
}

static bool normal_f32(KernelContext *context, Status *status) {
  return fill_output(context, &(Fill){.group = normal_group_f32, .group_size = 4}, false, status);
}

static bool normal_f64(KernelContext *context, Status *status) {
  return fill_output(context, &(Fill){.group = normal_group_f64, .group_size = 2}, false, status);
}

REGISTER_OP(RandomStandardNormal,
  RANDOM_FLOATS,
  .kernels = {{DT_FLOAT, normal_f32}, {DT_DOUBLE, normal_f64}})

/* --- normal within two standard deviations: what falls outside is drawn again --- */

enum { TRUNCATE_AT = 2 };

static void truncated_group_f32(const Fill *fill, Philox *generator, void *group) {
  (void)fill;
  for (int filled = 0; filled < 4;) {
    uint32_t words[4];
    philox_next(generator, words);
    for (int half = 0; half < 2 && filled < 4; half++) {
      float pair[2];
      philox_normal_f32(words[2 * half], words[2 * half + 1], pair);
      for (int i = 0; i < 2 && filled < 4; i++) {
        if (fabsf(pair[i]) < TRUNCATE_AT) ((float *)group)[filled++] = pair[i];
      }
    }
  }
}

static void truncated_group_f64(const Fill *fill, Philox *generator, void *group) {
  (void)fill;
  for (int filled = 0; filled < 2;) {
    uint32_t words[4];
    double pair[2];
    philox_next(generator, words);
    philox_normal_f64(words, pair);
    for (int i = 0; i < 2 && filled < 2; i++) {
      if (fabs(pair[i]) < TRUNCATE_AT) ((double *)group)[filled++] = pair[i];
    }
  }
}

static bool truncated_f32(KernelContext *context, Status *status) {
  return fill_output(context, &(Fill){.group = truncated_group_f32, .group_size = 4}, true, status);
}

static bool truncated_f64(KernelContext *context, Status *status) {
  return fill_output(context, &(Fill){.group = truncated_group_f64, .group_size = 2}, true, status);
}

REGISTER_OP(TruncatedNormal,
  RANDOM_FLOATS,
  .kernels = {{DT_FLOAT, truncated_f32}, {DT_DOUBLE, truncated_f64}})

/* --- integers in [minval, maxval) --- */

static void uniform_group_i32(const Fill *fill, Philox *generator, void *group) {
  uint32_t words[4];
  philox_next(generator, words);
  for (int i = 0; i < 4; i++) ((int32_t *)group)[i] = (int32_t)(uint32_t)((uint64_t)fill->low + words[i] % (uint32_t)fill->range);
}

static void uniform_group_i64(const Fill *fill, Philox *generator, void *group) {
  uint32_t words[4];
  philox_next(generator, words);
  for (int i = 0; i < 2; i++) {
    uint64_t word = words[2 * i] | (uint64_t)words[2 * i + 1] << 32;
    ((int64_t *)group)[i] = (int64_t)((uint64_t)fill->low + word % fill->range);
  }
}

static bool uniform_int(KernelContext *context, GroupFn *group, int group_size, Status *status) {
  char text[SHAPE_TEXT_CAPACITY];
  for (int i = 1; i < 3; i++) {
    if (!tensor_is_scalar(context->inputs[i])) {
      return status_invalid(status, "%s must be 0-D, got shape %s", i == 1 ? "minval" : "maxval",
                            shape_text(&context->inputs[i]->shape, text));
    }
  }
  int64_t low = tensor_int_at(context->inputs[1], 0), high = tensor_int_at(context->inputs[2], 0);
  if (low >= high) return status_invalid(status, "Need minval < maxval, got %lld >= %lld", (long long)low, (long long)high);
  Fill fill = {.group = group, .group_size = group_size, .low = low, .range = (uint64_t)high - (uint64_t)low};
  return fill_output(context, &fill, false, status);
}

static bool uniform_i32(KernelContext *context, Status *status) { return uniform_int(context, uniform_group_i32, 4, status); }
static bool uniform_i64(KernelContext *context, Status *status) { return uniform_int(context, uniform_group_i64, 2, status); }

REGISTER_OP(RandomUniformInt,
  .inputs = {"shape: T", "minval: Tout", "maxval: Tout"},
  .outputs = {"output: Tout"},
  .attrs = {"seed: int = 0", "seed2: int = 0", "Tout: {int32, int64}", "T: {int32, int64}"},
  .is_stateful = true,
  .shape = shape_random,
  .gradient = NO_GRADIENT,
  .state_size = sizeof(RandomState),
  .construct = random_construct,
  .kernels = {{DT_INT32, uniform_i32}, {DT_INT64, uniform_i64}})
