#include "ops/image/resample.h"

#include <string.h>

#include "simd/simd.h"
#include "simd/templates.h"

static bool too_large(Status *status) { return status_oom(status, "the weights of a resized image"); }

bool resample_begin(KernelContext *context, int64_t in, int64_t out, int64_t width, Resampling *axis,
                    Status *status) {
  int64_t weights, size;
  *axis = (Resampling){.in = in, .out = out, .width = width};
  if (__builtin_mul_overflow(out, width, &weights) ||
      __builtin_mul_overflow(weights, (int64_t)sizeof(float), &size) ||
      __builtin_add_overflow(size, out * (int64_t)sizeof(int64_t), &size)) {
    return too_large(status);
  }
  axis->buffer = kernel_scratch(context, size, status);
  if (!axis->buffer) return false;
  memset(axis->buffer->data, 0, (size_t)size);
  axis->first = axis->buffer->data;
  axis->weights = (float *)(axis->first + out);
  return true;
}

void resample_drop(Resampling *axis) {
  buffer_unref(axis->buffer);
  *axis = (Resampling){0};
}

/* Calls `use` for each weight that is not 0: row, column, weight. */
typedef void UseWeight(Resampling *transposed, int64_t row, int64_t column, float weight, int64_t *last);
static void each_weight(const Resampling *axis, UseWeight *use, Resampling *transposed, int64_t *last) {
  for (int64_t i = 0; i < axis->out; i++) {
    for (int64_t k = 0; k < axis->width; k++) {
      float weight = axis->weights[i * axis->width + k];
      if (weight != 0) use(transposed, i, axis->first[i] + k, weight, last);
    }
  }
}

static void find_range(Resampling *transposed, int64_t row, int64_t column, float weight, int64_t *last) {
  (void)weight;
  if (last[column] == 0) transposed->first[column] = row;
  last[column] = row + 1;
}
static void set_weight(Resampling *transposed, int64_t row, int64_t column, float weight, int64_t *last) {
  (void)last;
  transposed->weights[column * transposed->width + row - transposed->first[column]] = weight;
}

bool resample_transpose(KernelContext *context, const Resampling *axis, Resampling *transposed,
                        Status *status) {
  /* The ranges of rows first: for each column the first row, and the one after the last. */
  Resampling ranges;
  Buffer *ends = NULL;
  int64_t width = 1;
  bool ok = false;
  *transposed = (Resampling){0};
  TRY_DONE(resample_begin(context, axis->out, axis->in, 1, &ranges, status));
  TRY_DONE((ends = kernel_scratch(context, axis->in * (int64_t)sizeof(int64_t), status)));
  int64_t *last = ends->data;
  memset(last, 0, (size_t)axis->in * sizeof *last);
  each_weight(axis, find_range, &ranges, last);
  for (int64_t i = 0; i < axis->in; i++) {
    if (last[i] - ranges.first[i] > width) width = last[i] - ranges.first[i];
  }
  TRY_DONE(resample_begin(context, axis->out, axis->in, width, transposed, status));
  memcpy(transposed->first, ranges.first, (size_t)axis->in * sizeof(int64_t));
  each_weight(axis, set_weight, transposed, last);
  ok = true;
done:
  resample_drop(&ranges);
  buffer_unref(ends);
  return ok;
}

enum { LINES_AT_ONCE = 16, TAPS_AT_ONCE = 4 };

typedef struct ResampleJob {
  const Resampling *y, *x;
  int64_t channels, lines; /* lines: of all results */
  const float *from;
  void *rows, *to; /* rows: one for each block of LINES_AT_ONCE, and a vector */
} ResampleJob;

#define TEMPLATE "ops/image/resample.inc"
#define TYPES TYPES_FLOAT
#include "simd/each_type.inc"

bool resample_images(KernelContext *context, const float *images, int64_t batch, int64_t channels,
                     const Resampling *y, const Resampling *x, Tensor *out, Status *status) {
  bool wide = out->dtype == DT_DOUBLE;
  int64_t lines = batch * y->out, blocks = (lines + LINES_AT_ONCE - 1) / LINES_AT_ONCE, size;
  if (tensor_num_elements(out) == 0) return true;
  if (__builtin_mul_overflow(x->in * channels * (int64_t)(wide ? sizeof(double) : sizeof(float)) +
                                 (int64_t)sizeof(f32x4),
                             blocks, &size)) {
    return too_large(status);
  }
  Buffer *rows = kernel_scratch(context, size, status);
  if (!rows) return false;
  ResampleJob job = {y, x, channels, lines, images, rows->data, out->data};
  double work = (double)channels * ((double)x->in * (double)y->width + (double)x->out * (double)x->width);
  parallel_work(context->parallel, blocks, work * LINES_AT_ONCE,
                wide ? resample_block_f64 : resample_block_f32, &job);
  buffer_unref(rows);
  return true;
}
