#include "ops/nn/depthwise_product.h"

#include "ops/support/element_types.h"
#include "ops/support/typed_loops.h"

typedef struct Repeat {
  int64_t channels, times;
  bool wide; /* double or float */
  const void *from;
  void *to;
} Repeat;

static void repeat_pixels(void *arg, int64_t begin, int64_t end) {
  const Repeat *r = arg;
  for (int64_t i = begin * r->channels; i < end * r->channels; i++) {
    for (int64_t k = 0; k < r->times; k++) {
      if (r->wide) ((double *)r->to)[i * r->times + k] = ((const double *)r->from)[i];
      else ((float *)r->to)[i * r->times + k] = ((const float *)r->from)[i];
    }
  }
}

static void sum_pixels(void *arg, int64_t begin, int64_t end) {
  const Repeat *r = arg;
  for (int64_t i = begin * r->channels; i < end * r->channels; i++) {
    double sum = 0;
    for (int64_t k = 0; k < r->times; k++) {
      sum += r->wide ? ((const double *)r->from)[i * r->times + k]
                     : (double)((const float *)r->from)[i * r->times + k];
    }
    if (r->wide) ((double *)r->to)[i] = sum;
    else ((float *)r->to)[i] = (float)sum;
  }
}

/* Allocates `pixels` with the repeated channels of `r`. */
static Buffer *repeated_pixels(KernelContext *context, const Repeat *r, int64_t pixels, Status *status) {
  int64_t size;
  if (__builtin_mul_overflow(pixels, r->channels * r->times, &size) ||
      __builtin_mul_overflow(size, (int64_t)sizeof(double), &size)) {
    status_oom(status, "an image with repeated channels");
    return NULL;
  }
  return kernel_scratch(context, size, status);
}

typedef void Depthwise(ConvProduct product, const Conv *conv, const void *a, const void *b, void *result,
                       const Parallel *parallel);
static void multiply_f32(ConvProduct product, const Conv *conv, const void *a, const void *b, void *result,
                         const Parallel *parallel) {
  depthwise_f32(product, conv, a, b, result, parallel);
}
static void multiply_f64(ConvProduct product, const Conv *conv, const void *a, const void *b, void *result,
                         const Parallel *parallel) {
  depthwise_f64(product, conv, a, b, result, parallel);
}
/* 16-bit floats are converted. */
static const KernelEntry kTypedProducts[] = {TYPED_FLOAT_KERNELS(NULL, multiply),
                                             HALF_KERNELS(NULL, multiply_f32)};

static void multiply(KernelContext *context, ConvProduct product, const Conv *conv, const void *a,
                     const void *b, void *result) {
  Depthwise *depthwise = (Depthwise *)TYPED_LOOPS(kTypedProducts, context->output_types[0]);
  depthwise(product, conv, a, b, result, context->parallel);
}

bool depthwise_multiply(KernelContext *context, ConvProduct product, const Conv *conv, const void *a,
                        const void *b, void *result, Status *status) {
  if (conv->in_channels == conv->out_channels || (product == CONV_FILTER && conv->in_channels == 1)) {
    multiply(context, product, conv, a, b, result);
    return true;
  }
  Conv repeated = *conv;
  repeated.in_channels = conv->out_channels;
  int64_t pixels = conv->batch * conv->axis[0].in * conv->axis[1].in;
  Repeat repeat = {.channels = conv->in_channels,
                   .times = conv->out_channels / conv->in_channels,
                   .wide = context->output_types[0] == DT_DOUBLE};
  Buffer *image = repeated_pixels(context, &repeat, pixels, status);
  if (!image) return false;
  double work = (double)conv->out_channels;
  if (product == CONV_INPUT) {
    multiply(context, product, &repeated, a, b, image->data);
    repeat.from = image->data, repeat.to = result;
    parallel_work(context->parallel, pixels, work, sum_pixels, &repeat);
  } else {
    repeat.from = a, repeat.to = image->data;
    parallel_work(context->parallel, pixels, work, repeat_pixels, &repeat);
    multiply(context, product, &repeated, image->data, b, result);
  }
  buffer_unref(image);
  return true;
}
