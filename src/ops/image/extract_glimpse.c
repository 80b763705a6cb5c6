/* ExtractGlimpse and ExtractGlimpseV2: a window of each image; what lies outside of the image is noise.
 * TensorFlow has no seeds for it, so that the noise is new in each run. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "op/node_def.h"
#include "ops/image/resize_image.h"
#include "ops/support/philox.h"

typedef enum GlimpseNoise { NOISE_ZERO, NOISE_UNIFORM, NOISE_GAUSSIAN } GlimpseNoise;

typedef struct GlimpseState {
  bool centered, normalized;
  GlimpseNoise noise;
} GlimpseState;

static bool read_noise(const NodeDef *node, const char *message, Str *noise, bool *uniform, Status *status) {
  TRY(node_attr_bool(node, "uniform_noise", uniform, status));
  TRY(node_attr_string(node, "noise", noise, status));
  return !*uniform || noise->length == 0 || str_equal_text(*noise, "uniform") ||
         status_invalid(status, "%s", message);
}

static bool construct(const KernelConstruction *construction, void *memory, Status *status) {
  GlimpseState *s = memory;
  Str noise;
  bool uniform;
  TRY(node_attr_bool(construction->node, "normalized", &s->normalized, status));
  TRY(node_attr_bool(construction->node, "centered", &s->centered, status));
  TRY(read_noise(construction->node, "The uniform_noise and noise could not be specified at the same time",
                 &noise, &uniform, status));
  s->noise = uniform || str_equal_text(noise, "uniform") ? NOISE_UNIFORM : NOISE_GAUSSIAN;
  if (str_equal_text(noise, "zero")) s->noise = NOISE_ZERO;
  if (noise.length == 0 || s->noise != NOISE_GAUSSIAN || str_equal_text(noise, "gaussian")) return true;
  return status_invalid(status, "The noise could only be uniform, gaussian, or zero, got%.*s",
                        (int)(noise.length < 64 ? noise.length : 64), noise.data);
}

/* --- noise --- */

/* `count` floats [pixels, channels] at `image`, and as many for the glimpse at `to`. */
typedef struct NoiseJob {
  const float *image;
  int64_t pixels, channels;
  float *to;
  int64_t to_pixels;
  PhiloxStream *random;
} NoiseJob;

static void fill_uniform(const NoiseJob *job) {
  float least = INFINITY, most = -INFINITY;
  for (int64_t i = 0; i < job->pixels * job->channels; i++) {
    least = fminf(least, job->image[i]);
    most = fmaxf(most, job->image[i]);
  }
  for (int64_t i = 0; i < job->to_pixels * job->channels; i++)
    job->to[i] = least + philox_uniform_f32(philox_stream_next(job->random)) * (most - least);
}

/* Normal numbers with the mean and the deviation of a channel, and within its range. */
static void fill_gaussian(const NoiseJob *job, int64_t channel) {
  float least = INFINITY, most = -INFINITY, pair[2] = {0};
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < job->pixels; i++) {
    float value = job->image[i * job->channels + channel];
    least = fminf(least, value);
    most = fmaxf(most, value);
    sum += (double)value;
  }
  double mean = sum / (double)job->pixels;
  for (int64_t i = 0; i < job->pixels; i++)
    squares += pow((double)job->image[i * job->channels + channel] - mean, 2);
  float deviation = (float)sqrt(squares / (double)job->pixels);
  for (int64_t i = 0; i < job->to_pixels; i++) {
    if (i % 2 == 0) {
      uint32_t first = philox_stream_next(job->random);
      philox_normal_f32(first, philox_stream_next(job->random), pair);
    }
    job->to[i * job->channels + channel] = fmaxf(least, fminf(most, (float)mean + pair[i % 2] * deviation));
  }
}

/* --- windows --- */

/* The first position of the window along an axis. */
static float window_begin(const GlimpseState *s, bool first_version, float offset, float size, float window) {
  float at = s->normalized ? offset * size : offset;
  if (s->centered && (s->normalized || first_version)) at /= 2;
  if (s->centered) at += size / 2;
  return first_version || (s->centered && s->normalized) ? at - window / 2 : at;
}

/* The part of a window that is in the image: `count` positions from `from` in the image, and `to` in the
 * window. */
typedef struct Overlap {
  int64_t from, to, count;
} Overlap;

static Overlap overlap_of(float begin, int64_t size, int64_t window) {
  Overlap o = {0};
  /* Also for NaN; beyond these bounds nothing of the image can be seen. */
  if (!(begin > -0x1p40f && begin < 0x1p40f)) return o;
  int64_t first = (int64_t)begin, end = first + window;
  o.from = first > 0 ? first : 0;
  o.to = o.from - first;
  o.count = (end < size ? end : size) - o.from;
  if (o.count < 0) o.count = 0;
  return o;
}

static bool whole(const Overlap *rows, const Overlap *columns, const int64_t window[RESIZE_AXES]) {
  return rows->count == window[RESIZE_ROWS] && columns->count == window[RESIZE_COLUMNS];
}

static void extract(const GlimpseState *s, const int64_t *in, const int64_t window[RESIZE_AXES],
                    const Overlap *rows, const Overlap *columns, NoiseJob *job) {
  int64_t channels = in[3];
  if (!whole(rows, columns, window)) {
    if (s->noise == NOISE_UNIFORM) fill_uniform(job);
    for (int64_t c = 0; s->noise == NOISE_GAUSSIAN && c < channels; c++) fill_gaussian(job, c);
    if (s->noise == NOISE_ZERO) memset(job->to, 0, sizeof(float) * (size_t)(job->to_pixels * channels));
  }
  for (int64_t y = 0; columns->count > 0 && y < rows->count; y++) {
    int64_t to = (rows->to + y) * window[RESIZE_COLUMNS] + columns->to;
    int64_t from = (rows->from + y) * in[2] + columns->from;
    memcpy(job->to + to * channels, job->image + from * channels,
           sizeof(float) * (size_t)(columns->count * channels));
  }
}

/* --- kernels --- */

static bool check_inputs(const KernelContext *context, int64_t window[RESIZE_AXES], Status *status) {
  const Tensor *image = context->inputs[0], *size = context->inputs[1], *offsets = context->inputs[2];
  char text[SHAPE_TEXT_CAPACITY];
  if (image->shape.rank != 4) {
    return status_invalid(status, "input must be 4-dimensional (batch_size, height, width, depth)%s",
                          shape_text(&image->shape, text));
  }
  if (size->shape.rank != 1 || tensor_num_elements(size) != 2) {
    return status_invalid(status, "input must be a vector of size 2 (height, width)%s",
                          shape_text(&size->shape, text));
  }
  for (int k = 0; k < RESIZE_AXES; k++) {
    window[k] = tensor_i32(size)[k];
    if (window[k] < 0)
      return status_invalid(status, "Expected a non-negative size, got %lld", (long long)window[k]);
  }
  if (offsets->shape.rank != 2)
    return status_invalid(status, "input must be a matrix%s", shape_text(&offsets->shape, text));
  if (shape_dim(&offsets->shape, 0) != shape_dim(&image->shape, 0))
    return status_invalid(status, "first dimension should be batch%s", shape_text(&offsets->shape, text));
  return shape_dim(&offsets->shape, 1) == 2 ||
         status_invalid(status, "second dimension should be of size 2 (y,x)%s",
                        shape_text(&offsets->shape, text));
}

static bool extract_glimpse(KernelContext *context, bool first_version, Status *status) {
  const GlimpseState *s = context->state;
  const Tensor *image = context->inputs[0];
  const int64_t *in = shape_dims(&image->shape);
  int64_t window[RESIZE_AXES] = {0};
  uint64_t seeds[2] = {0};
  Tensor *out;
  TRY(check_inputs(context, window, status));
  int64_t dims[4] = {in[0], window[RESIZE_ROWS], window[RESIZE_COLUMNS], in[3]};
  TRY(kernel_allocate_output_dims(context, 0, 4, dims, &out, status));
  if (tensor_num_elements(out) == 0) return true;
  if (s->noise != NOISE_ZERO && getentropy(seeds, sizeof seeds) != 0)
    return status_set(status, CODE_UNAVAILABLE, "No entropy for a random seed");
  PhiloxStream random = {.generator = philox_seed(seeds[0], seeds[1])};
  for (int64_t i = 0; i < in[0]; i++) {
    Overlap overlaps[RESIZE_AXES];
    for (int k = 0; k < RESIZE_AXES; k++) {
      float offset = tensor_f32(context->inputs[2])[2 * i + k];
      float begin = window_begin(s, first_version, offset, (float)in[1 + k], (float)window[k]);
      overlaps[k] = overlap_of(begin, in[1 + k], window[k]);
    }
    NoiseJob job = {.image = tensor_f32(image) + i * in[1] * in[2] * in[3],
                    .pixels = in[1] * in[2],
                    .channels = in[3],
                    .to_pixels = window[RESIZE_ROWS] * window[RESIZE_COLUMNS],
                    .random = &random};
    job.to = tensor_f32(out) + i * job.to_pixels * in[3];
    extract(s, in, window, &overlaps[RESIZE_ROWS], &overlaps[RESIZE_COLUMNS], &job);
  }
  return true;
}
static bool extract_glimpse_v1(KernelContext *context, Status *status) {
  return extract_glimpse(context, true, status);
}
static bool extract_glimpse_v2(KernelContext *context, Status *status) {
  return extract_glimpse(context, false, status);
}

static bool shape_glimpse(InferenceContext *c, Status *status) {
  ShapeHandle image, offsets, output;
  DimHandle batch, two;
  Str noise;
  bool uniform;
  TRY(shape_with_rank(c, shape_input(c, 0), 4, &image, status));
  TRY(shape_with_rank(c, shape_input(c, 2), 2, &offsets, status));
  TRY(dim_merge(c, shape_dim_of(c, image, 0), shape_dim_of(c, offsets, 0), &batch, status));
  TRY(dim_with_value(c, shape_dim_of(c, offsets, 1), 2, &two, status));
  TRY(read_noise(c->node, "The uniform_noise should not be True when noise is not uniform", &noise, &uniform,
                 status));
  TRY(shape_resize(c, status));
  TRY(shape_replace_dim(c, c->outputs[0], 0, batch, &output, status));
  shape_set_output(c, 0, output);
  return true;
}

#define GLIMPSE                                                                               \
  .inputs = {"input: float", "size: int32", "offsets: float"}, .outputs = {"glimpse: float"}, \
  .attrs = {"centered: bool = true", "normalized: bool = true", "uniform_noise: bool = true", \
            "noise: string = 'uniform'"},                                                     \
  .shape = shape_glimpse, .gradient = NO_GRADIENT, .state_size = sizeof(GlimpseState),        \
  .construct = construct

const OpRegistration kOpExtractGlimpse = {
    .name = "ExtractGlimpse",
    GLIMPSE,
    .kernels = {{DT_INVALID, extract_glimpse_v1}},
};

const OpRegistration kOpExtractGlimpseV2 = {
    .name = "ExtractGlimpseV2",
    GLIMPSE,
    .kernels = {{DT_INVALID, extract_glimpse_v2}},
};
