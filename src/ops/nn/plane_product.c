#include "ops/nn/plane_product.h"

#include "ops/support/element_types.h"
#include "ops/support/typed_loops.h"

/* 16-bit floats are converted, which copies the images anyway. */
static const KernelEntry kTypedProducts[] = {TYPED_FLOAT_KERNELS(NULL, &gemm)};

bool plane_product_suits(const Conv *conv, DataType type) {
  double pixels = (double)conv->axis[0].in * (double)conv->axis[1].in, in = (double)conv->in_channels,
         out = (double)conv->out_channels;
  for (int k = 0; k < WINDOW_AXES; k++) {
    const WindowAxis *axis = &conv->axis[k];
    if (axis->filter != 1 || axis->stride != 1 || axis->pad != 0 || axis->in != axis->out) return false;
  }
  return (type == DT_FLOAT || type == DT_DOUBLE) && conv->groups == 1 && conv->batch > 0 &&
         2 * in * out <= pixels * (in + out);
}

/* The product of one image. */
static GemmArgs image_product(ConvProduct product, const Conv *conv) {
  int64_t pixels = conv->axis[0].in * conv->axis[1].in, in = conv->in_channels, out = conv->out_channels;
  switch (product) {
    case CONV_FORWARD:
      return (GemmArgs){.m = out,
                        .n = pixels,
                        .k = in,
                        .transpose_a = true,
                        .lda = out,
                        .ldb = pixels,
                        .ldc = pixels,
                        .accumulate = conv->bias != NULL,
                        .activation = conv->activation};
    case CONV_INPUT:
      return (GemmArgs){.m = in, .n = pixels, .k = out, .lda = out, .ldb = pixels, .ldc = pixels};
    default:
      return (GemmArgs){.m = in,
                        .n = out,
                        .k = pixels,
                        .lda = pixels,
                        .ldb = pixels,
                        .transpose_b = true,
                        .ldc = out};
  }
}

/* Each plane of an image starts with the channel's bias. */
static void fill_planes(const Conv *conv, DataType type, void *image) {
  int64_t pixels = conv->axis[0].in * conv->axis[1].in, at = 0;
  for (int64_t channel = 0; channel < conv->out_channels; channel++) {
    for (int64_t end = at + pixels; at < end; at++) {
      if (type == DT_FLOAT) ((float *)image)[at] = ((const float *)conv->bias)[channel];
      else ((double *)image)[at] = ((const double *)conv->bias)[channel];
    }
  }
}

bool plane_product(KernelContext *context, ConvProduct product, const Conv *conv, const void *a,
                   const void *b, Tensor *out, Status *status) {
  const GemmType *type = TYPED_LOOPS(kTypedProducts, out->dtype);
  GemmArgs args = image_product(product, conv);
  args.threads = parallel_threads(context->parallel);
  int64_t size = type->workspace(&args), element = (int64_t)dtype_size(out->dtype);
  int64_t in = conv->axis[0].in * conv->axis[1].in * conv->in_channels * element;
  int64_t grad = conv->axis[0].in * conv->axis[1].in * conv->out_channels * element;
  Buffer *workspace = NULL;
  if (size > 0 && !(workspace = kernel_scratch(context, size, status))) return false;
  for (int64_t n = 0; n < conv->batch && !work_is_stopped(); n++) {
    const char *image = (const char *)a + n * (product == CONV_INPUT ? grad : in);
    bool by_filter = product == CONV_FILTER;
    args.a = by_filter ? image : b;
    args.b = by_filter ? (const char *)b + n * grad : image;
    args.c = (char *)out->data + n * (by_filter ? 0 : product == CONV_INPUT ? in : grad);
    if (by_filter) args.accumulate = n > 0;
    if (args.accumulate && !by_filter) fill_planes(conv, out->dtype, args.c);
    type->run(&args, context->parallel, workspace ? workspace->data : NULL);
  }
  buffer_unref(workspace);
  return true;
}
