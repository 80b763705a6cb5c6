/* AudioSpectrogram: the magnitudes of the spectra of windows of audio, and Mfcc: their mel-frequency cepstral
 * coefficients. */
#include <math.h>

#include "base/alloc.h"
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/signal/fft_plan.h"

/* --- AudioSpectrogram --- */

typedef struct WindowState {
  int32_t window, stride;
  bool squared;
  FftPlan *plan;   /* of the next power of two */
  double *weights; /* of the window */
} WindowState;

static int64_t power_of_two(int64_t n) {
  int64_t power = 1;
  while (power < n) power *= 2;
  return power;
}

static bool spectrogram_construct(const KernelConstruction *construction, void *memory, Status *status) {
  WindowState *state = memory;
  TRY(node_attr_int32(construction->node, "window_size", &state->window, status));
  TRY(node_attr_int32(construction->node, "stride", &state->stride, status));
  TRY(node_attr_bool(construction->node, "magnitude_squared", &state->squared, status));
  if (state->window <= 1) return status_invalid(status, "window_size must be > 1, got %d", state->window);
  if (state->stride <= 0) return status_invalid(status, "stride must be > 0, got %d", state->stride);
  state->plan = fft_plan_new(power_of_two(state->window), true, false, status);
  if (!state->plan) return false;
  state->weights = mem_alloc((int64_t)state->window * (int64_t)sizeof(double));
  if (!state->weights) return status_oom(status, "window of a spectrogram");
  for (int i = 0; i < state->window; i++)
    state->weights[i] = 0.5 - 0.5 * cos(2 * 3.14159265358979323846 * i / state->window);
  return true;
}

static void spectrogram_destroy(void *memory) {
  WindowState *state = memory;
  fft_plan_free(state->plan);
  mem_free(state->weights);
}

/* The spectrum of the window that begins at `x`, whose samples are `step` apart. */
static void window_spectrum(const WindowState *state, const float *x, int64_t step, double *re, double *im,
                            double *work, float *to) {
  int64_t n = fft_plan_length(state->plan);
  for (int64_t i = 0; i < n; i++) {
    re[i] = i < state->window ? (double)x[i * step] * state->weights[i] : 0;
    im[i] = 0;
  }
  fft_run_f64(state->plan, 1, re, im, work);
  for (int64_t k = 0; k <= n / 2; k++) {
    float square = (float)(re[k] * re[k] + im[k] * im[k]);
    to[k] = state->squared ? square : sqrtf(square);
  }
}

static bool spectrogram(KernelContext *context, Status *status) {
  const WindowState *state = context->state;
  const Tensor *input = context->inputs[0];
  char text[SHAPE_TEXT_CAPACITY];
  Tensor *out;
  if (input->shape.rank != 2)
    return status_invalid(status, "input must be 2-dimensional%s", shape_text(&input->shape, text));
  int64_t samples = shape_dim(&input->shape, 0), channels = shape_dim(&input->shape, 1);
  int64_t n = fft_plan_length(state->plan), bins = 1 + n / 2;
  int64_t rows = samples < state->window ? 0 : 1 + (samples - state->window) / state->stride;
  TRY(kernel_allocate_output_dims(context, 0, 3, (int64_t[]){channels, rows, bins}, &out, status));
  Buffer *buffer =
      kernel_scratch(context, (2 * n + fft_plan_work(state->plan, 1)) * (int64_t)sizeof(double), status);
  if (!buffer) return false;
  double *re = buffer->data;
  float *to = tensor_f32(out);
  for (int64_t channel = 0; channel < channels; channel++) {
    for (int64_t row = 0; row < rows; row++, to += bins) {
      const float *x = tensor_f32(input) + row * state->stride * channels + channel;
      window_spectrum(state, x, channels, re, re + n, re + 2 * n, to);
    }
  }
  buffer_unref(buffer);
  return true;
}

static bool spectrogram_shape(InferenceContext *c, Status *status) {
  int32_t window, stride;
  ShapeHandle input, out;
  DimHandle dims[3];
  TRY(shape_with_rank(c, shape_input(c, 0), 2, &input, status));
  TRY(node_attr_int32(c->node, "window_size", &window, status));
  TRY(node_attr_int32(c->node, "stride", &stride, status));
  if (window <= 1) return status_invalid(status, "window size must be > 1, got %d", window);
  if (stride <= 0) return status_invalid(status, "stride must be strictly positive, got %d", stride);
  DimHandle length = shape_dim_of(c, input, 0);
  int64_t rows = dim_value(length) < window ? 0 : 1 + (dim_value(length) - window) / stride;
  dims[0] = shape_dim_of(c, input, 1);
  TRY(dim_ok(dim_known(length) ? dim_make(c, rows) : dim_unknown(c), &dims[1], status));
  TRY(dim_ok(dim_make(c, 1 + power_of_two(window) / 2), &dims[2], status));
  TRY(shape_ok(shape_of_dims(c, dims, 3), &out, status));
  shape_set_output(c, 0, out);
  return true;
}

const OpRegistration kOpAudioSpectrogram = {
    .name = "AudioSpectrogram",
    .inputs = {"input: float"},
    .outputs = {"spectrogram: float"},
    .attrs = {"window_size: int", "stride: int", "magnitude_squared: bool = false"},
    .shape = spectrogram_shape,
    .state_size = sizeof(WindowState),
    .construct = spectrogram_construct,
    .destroy = spectrogram_destroy,
    .kernels = {{DT_INVALID, spectrogram}},
};

/* --- Mfcc --- */

typedef struct MfccState {
  float upper, lower;
  int32_t channels, coefficients;
} MfccState;

static bool mfcc_construct(const KernelConstruction *construction, void *memory, Status *status) {
  MfccState *state = memory;
  const NodeDef *node = construction->node;
  TRY(node_attr_float(node, "upper_frequency_limit", &state->upper, status));
  TRY(node_attr_float(node, "lower_frequency_limit", &state->lower, status));
  TRY(node_attr_int32(node, "filterbank_channel_count", &state->channels, status));
  return node_attr_int32(node, "dct_coefficient_count", &state->coefficients, status);
}

/* Triangular filters, whose centres are equally far from each other on the mel scale. Bin i counts with
 * weights[i] for channel bands[i], and with the rest of 1 for the channel after it. */
typedef struct MelFilters {
  int64_t bins, first, last; /* the bins in use */
  int channels;
  double *weights, *centres, *sums; /* sums: the results for one spectrum */
  int32_t *bands;
  Buffer *buffer;
} MelFilters;

static double mel_of(double frequency) { return 1127.0 * log1p(frequency / 700.0); }

static int64_t whole(double x) { return x < 0x1p31 ? (int64_t)x : INT32_MAX; }

static bool mel_filters_begin(KernelContext *context, const MfccState *state, int64_t bins, int32_t rate,
                              MelFilters *f, Status *status) {
  int64_t size = (bins + 2 * (int64_t)state->channels + 1) * (int64_t)sizeof(double);
  *f = (MelFilters){.bins = bins, .channels = state->channels};
  if (!(f->buffer = kernel_scratch(context, size + bins * (int64_t)sizeof(int32_t), status))) return false;
  f->weights = f->buffer->data;
  f->centres = f->weights + bins;
  f->sums = f->centres + f->channels + 1;
  f->bands = (int32_t *)(f->sums + f->channels);
  double low = mel_of(state->lower), width = (mel_of(state->upper) - low) / (double)(f->channels + 1);
  for (int k = 0; k <= f->channels; k++) f->centres[k] = low + width * (k + 1);
  double hertz = 0.5 * rate / (double)(bins - 1); /* of one bin */
  f->first = whole(1.5 + state->lower / hertz);   /* never the constant part */
  f->last = whole(state->upper / hertz);
  int channel = 0;
  for (int64_t i = 0; i < bins; i++) {
    double mel = mel_of((double)i * hertz);
    if (i < f->first || i > f->last) continue;
    while (channel < f->channels && f->centres[channel] < mel) channel++;
    double before = channel > 0 ? f->centres[channel - 1] : low;
    f->bands[i] = channel - 1;
    f->weights[i] = (f->centres[channel] - mel) / (f->centres[channel] - before);
  }
  return true;
}

/* The logarithms of the channels' sums of magnitudes, in f->sums. */
static void mel_filters_apply(const MelFilters *f, const float *spectrum) {
  for (int k = 0; k < f->channels; k++) f->sums[k] = 0;
  for (int64_t i = f->first; i <= f->last; i++) {
    double magnitude = sqrt((double)spectrum[i]), part = magnitude * f->weights[i];
    int band = f->bands[i];
    if (band >= 0) f->sums[band] += part;
    if (band + 1 < f->channels) f->sums[band + 1] += magnitude - part;
  }
  for (int k = 0; k < f->channels; k++) f->sums[k] = log(f->sums[k] < 1e-12 ? 1e-12 : f->sums[k]);
}

static Buffer *make_cosines(KernelContext *context, int count, int length, Status *status) {
  Buffer *buffer = kernel_scratch(context, (int64_t)count * length * (int64_t)sizeof(double), status);
  if (!buffer) return NULL;
  double scale = sqrt(2.0 / length), step = 3.14159265358979323846 / length;
  for (int i = 0; i < count; i++) {
    for (int j = 0; j < length; j++)
      ((double *)buffer->data)[(int64_t)i * length + j] = scale * cos(i * step * (j + 0.5));
  }
  return buffer;
}

static bool check_spectrogram(const KernelContext *context, Status *status) {
  const MfccState *s = context->state;
  const Tensor *spectra = context->inputs[0], *rate = context->inputs[1];
  char text[SHAPE_TEXT_CAPACITY];
  if (spectra->shape.rank != 3)
    return status_invalid(status, "spectrogram must be 3-dimensional%s", shape_text(&spectra->shape, text));
  if (!tensor_is_scalar(rate)) {
    return status_invalid(status, "Input sample_rate should be a scalar tensor, got %s instead.",
                          shape_text(&rate->shape, text));
  }
  int64_t bins = shape_dim(&spectra->shape, 2);
  if (s->channels >= 1 && tensor_i32(rate)[0] > 0 && bins >= 2 && s->lower >= 0 && s->upper > s->lower &&
      s->coefficients >= 1 && s->coefficients <= s->channels)
    return true;
  return status_invalid(status,
                        "Mfcc initialization failed for channel count %lld, sample rate %d and "
                        "filterbank_channel_count %d",
                        (long long)bins, tensor_i32(rate)[0], s->channels);
}

static void run_mfcc(const MelFilters *f, const double *cosines, int count, const float *from, int64_t rows,
                     float *to) {
  bool too_short = f->last >= f->bins; /* TensorFlow then sums over nothing */
  for (int64_t row = 0; row < rows; row++, from += f->bins, to += count) {
    if (!too_short) mel_filters_apply(f, from);
    for (int i = 0; i < count; i++) {
      double sum = 0;
      for (int j = 0; j < f->channels && !too_short; j++)
        sum += cosines[(int64_t)i * f->channels + j] * f->sums[j];
      to[i] = (float)sum;
    }
  }
}

static bool mfcc(KernelContext *context, Status *status) {
  const MfccState *state = context->state;
  const Tensor *spectra = context->inputs[0];
  Tensor *out;
  MelFilters filters = {0};
  TRY(check_spectrogram(context, status));
  int64_t channels = shape_dim(&spectra->shape, 0), rows = shape_dim(&spectra->shape, 1);
  TRY(kernel_allocate_output_dims(context, 0, 3, (int64_t[]){channels, rows, state->coefficients}, &out,
                                  status));
  if (tensor_num_elements(out) == 0) return true;
  Buffer *cosines = make_cosines(context, state->coefficients, state->channels, status);
  bool ok = cosines && mel_filters_begin(context, state, shape_dim(&spectra->shape, 2),
                                         tensor_i32(context->inputs[1])[0], &filters, status);
  if (ok)
    run_mfcc(&filters, cosines->data, state->coefficients, tensor_f32(spectra), channels * rows,
             tensor_f32(out));
  buffer_unref(cosines);
  buffer_unref(filters.buffer);
  return ok;
}

static bool mfcc_shape(InferenceContext *c, Status *status) {
  int32_t count;
  ShapeHandle spectra, rate, out;
  DimHandle dims[3];
  TRY(shape_with_rank(c, shape_input(c, 0), 3, &spectra, status));
  TRY(shape_with_rank(c, shape_input(c, 1), 0, &rate, status));
  TRY(node_attr_int32(c->node, "dct_coefficient_count", &count, status));
  dims[0] = shape_dim_of(c, spectra, 0);
  dims[1] = shape_dim_of(c, spectra, 1);
  TRY(dim_ok(count >= 0 ? dim_make(c, count) : dim_unknown(c), &dims[2], status));
  TRY(shape_ok(shape_of_dims(c, dims, 3), &out, status));
  shape_set_output(c, 0, out);
  return true;
}

const OpRegistration kOpMfcc = {
    .name = "Mfcc",
    .inputs = {"spectrogram: float", "sample_rate: int32"},
    .outputs = {"output: float"},
    .attrs = {"upper_frequency_limit: float = 4000", "lower_frequency_limit: float = 20",
              "filterbank_channel_count: int = 40", "dct_coefficient_count: int = 13"},
    .shape = mfcc_shape,
    .state_size = sizeof(MfccState),
    .construct = mfcc_construct,
    .kernels = {{DT_INVALID, mfcc}},
};
