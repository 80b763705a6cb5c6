/* Conv2D and the two products that are its gradients; all three are gradients of one another. */
#include <inttypes.h>
#include <string.h>

#include "blas/conv.h"
#include "blas/winograd.h"
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/nn/depthwise_product.h"
#include "ops/nn/plane_product.h"
#include "ops/support/element_types.h"
#include "ops/support/constant_form.h"
#include "ops/support/float_product.h"
#include "ops/support/packed_matrix.h"
#include "ops/support/product_epilogue.h"
#include "ops/support/typed_loops.h"
#include "ops/support/window_attrs.h"

typedef struct ConvState {
  WindowAttrs attrs;
  bool is_constant;      /* the filter, of type float or double */
  ConstantForm packed;   /* the packed filter */
  ConstantForm winograd; /* the same for blas/winograd.h */
  ConstantForm row;      /* the same for a single window that is the whole image */
} ConvState;

/* Up to this number of windows a product is faster with the filter unpacked. */
enum { CONV_FEW_WINDOWS = 2 };

static bool conv_construct(const KernelConstruction *construction, void *memory, Status *status) {
  return window_read_attrs(construction->node, &((ConvState *)memory)->attrs, status);
}

/* Of the two products that read the filter. */
static bool filter_construct(const KernelConstruction *construction, void *memory, Status *status) {
  const Tensor *filter = construction->constant_inputs ? construction->constant_inputs[1] : NULL;
  ((ConvState *)memory)->is_constant = filter && (filter->dtype == DT_FLOAT || filter->dtype == DT_DOUBLE);
  return conv_construct(construction, memory, status);
}

static void filter_destroy(void *memory) {
  constant_form_free(&((ConvState *)memory)->packed);
  constant_form_free(&((ConvState *)memory)->winograd);
  constant_form_free(&((ConvState *)memory)->row);
}

/* Checks the shapes of input, filter and output, with errors in TensorFlow's words; `grad` has the output's
 * shape, or is NULL. */
static bool place_windows(const ConvState *state, const char *name, const int64_t *input,
                          const int64_t *filter, const int64_t *grad, Conv *conv, Status *status) {
  ImageSizes sizes = image_sizes(input, state->attrs.channels_first);
  if (filter[2] == 0) return status_invalid(status, "filter depth must be stricly positive, got 0");
  if (sizes.channels % filter[2] != 0) {
    return status_invalid(status,
                          "input depth must be evenly divisible by filter depth: %" PRId64 " vs %" PRId64,
                          sizes.channels, filter[2]);
  }
  *conv = (Conv){.batch = sizes.batch,
                 .in_channels = sizes.channels,
                 .out_channels = filter[3],
                 .groups = sizes.channels / filter[2]};
  if (conv->groups > 0 && filter[3] % conv->groups != 0) {
    return status_invalid(status,
                          "output depth must be evenly divisible by number of groups: %" PRId64
                          " vs %" PRId64,
                          filter[3], conv->groups);
  }
  for (int i = 0; i < 4; i++) {
    if (filter[i] == 0) {
      return status_invalid(status,
                            "filter must not have zero elements (i.e. all dimensions must be non-zero)");
    }
  }
  TRY(window_place(&state->attrs, &sizes, filter, conv->axis, status));
  if (!grad) return true;
  ImageSizes out = image_sizes(grad, state->attrs.channels_first);
  if (sizes.batch != out.batch) {
    return status_invalid(status,
                          "%s: input and out_backprop must have the same batch size. Input batch: %" PRId64
                          ", outbackprop batch: %" PRId64 ", batch_dim: 0",
                          name, sizes.batch, out.batch);
  }
  if (filter[3] != out.channels)
    return status_invalid(status, "%s: filter and out_backprop must have the same out_depth", name);
  for (int k = 0; k < WINDOW_AXES; k++) {
    const WindowAxis *a = &conv->axis[k];
    if (a->out == out.space[k]) continue;
    return status_invalid(status,
                          "%s: Size of out_backprop doesn't match computed: actual = %" PRId64
                          ", computed = %" PRId64 " spatial_dim: %d input: %" PRId64 " filter: %" PRId64
                          " output: %" PRId64 " stride: %" PRId64 " dilation: %" PRId64,
                          name, out.space[k], a->out, k + (state->attrs.channels_first ? 2 : 1), a->in,
                          a->filter, out.space[k], a->stride, a->dilation);
  }
  return true;
}

/* --- the constant filter --- */

typedef struct Packing {
  ConvProduct product;
  const ConvType *type;
  const Conv *conv;
  const void *filter;
} Packing;

static void pack(const void *arg, const Parallel *parallel, void *form) {
  const Packing *p = arg;
  p->type->pack_filter(p->product, p->conv, p->filter, parallel, form);
}

/* *packed: NULL where the product is faster with the filter as it is. */
static bool pack_filter(KernelContext *context, const Packing *packing, const void **packed, Status *status) {
  const Conv *conv = packing->conv;
  *packed = NULL;
  if (packing->product == CONV_FORWARD &&
      conv->batch * conv->axis[0].out * conv->axis[1].out <= CONV_FEW_WINDOWS)
    return true;
  int64_t size = packing->type->filter_size(packing->product, conv);
  return size == 0 || constant_form_get(&((ConvState *)context->state)->packed, size, pack, packing,
                                        context->parallel, packed, status);
}

typedef struct Transform {
  const Conv *conv;
  const float *filter;
} Transform;

static void transform(const void *arg, const Parallel *parallel, void *form) {
  const Transform *t = arg;
  winograd_packed_filter(t->conv, t->filter, form, parallel);
}

static bool transform_filter(KernelContext *context, const Conv *conv, const float *filter,
                             const void **transformed, Status *status) {
  Transform t = {conv, filter};
  return constant_form_get(&((ConvState *)context->state)->winograd, winograd_filter_size(conv), transform,
                           &t, context->parallel, transformed, status);
}

/* --- products --- */

/* By blas/winograd.h. *done: whether `result` is valid. */
static bool multiply_tiles(KernelContext *context, ConvProduct product, const Conv *conv, const void *a,
                           const void *b, void *result, bool *done, Status *status) {
  bool constant = product == CONV_FORWARD && ((const ConvState *)context->state)->is_constant;
  if (!winograd_suits(product, conv, constant)) return true;
  const void *transformed = NULL;
  if (constant) TRY(transform_filter(context, conv, b, &transformed, status));
  int64_t filter_size = constant ? 0 : winograd_filter_size(conv);
  Buffer *workspace =
      kernel_scratch(context, filter_size + winograd_workspace(product, conv, constant), status);
  if (!workspace) return false;
  float *filter = workspace->data;
  if (!constant) winograd_filter(product, conv, b, filter, context->parallel);
  *done = winograd_run(product, conv, a, constant ? transformed : filter, constant, result, context->parallel,
                       (char *)workspace->data + filter_size);
  buffer_unref(workspace);
  return true;
}

/* Whether there is a single window, which is the whole image: a row. */
static bool is_row(const Conv *conv) {
  for (int k = 0; k < WINDOW_AXES; k++) {
    const WindowAxis *axis = &conv->axis[k];
    if (axis->out != 1 || axis->pad != 0 || axis->filter != axis->in) return false;
    if (axis->dilation != 1 && axis->filter != 1) return false;
  }
  return conv->batch == 1 && conv->groups == 1;
}

/* The product of a row with a constant filter, which is packed for it. */
static bool multiply_row(KernelContext *context, const Conv *conv, const float *x, const float *filter,
                         float *result, Status *status) {
  GemmArgs args = {.m = 1,
                   .n = conv->out_channels,
                   .k = conv_depth(conv),
                   .a = x,
                   .lda = conv_depth(conv),
                   .b = filter,
                   .ldb = conv->out_channels,
                   .c = result,
                   .ldc = conv->out_channels,
                   .bias = conv->bias,
                   .activation = conv->activation,
                   .epilogue = conv->epilogue,
                   .threads = parallel_threads(context->parallel)};
  TRY(packed_row_get(&((ConvState *)context->state)->row, &args, context->parallel, &args.row_b, status));
  return float_product(context, &args, status);
}

/* 16-bit floats are converted. */
static const KernelEntry kTypedProducts[] = {TYPED_FLOAT_KERNELS(NULL, &conv),
                                             HALF_KERNELS(NULL, &conv_f32),
                                             {DT_INT32, NULL, &conv_i32}};

/* By blas/conv.h; `packed`: the filter's packed form, or NULL. */
static bool multiply_windows(KernelContext *context, ConvProduct product, const Conv *conv,
                             const ConvType *type, const void *a, const void *b, const void *packed,
                             void *result, Status *status) {
  Buffer *workspace = NULL;
  int64_t size = type->workspace(product, conv, packed);
  if (size > 0 && !(workspace = kernel_scratch(context, size, status))) return false;
  type->run(product, conv, a, b, packed, result, context->parallel, workspace ? workspace->data : NULL);
  buffer_unref(workspace);
  return true;
}

/* The products that read the filter. */
static bool multiply(KernelContext *context, ConvProduct product, const Conv *conv, const void *a,
                     const void *b, void *result, Status *status) {
  const ConvState *state = context->state;
  DataType dtype = context->output_types[0];
  bool depthwise = conv->groups == conv->in_channels && conv->groups > 1;
  if (depthwise && dtype != DT_INT32) return depthwise_multiply(context, product, conv, a, b, result, status);
  const ConvType *type = TYPED_LOOPS(kTypedProducts, dtype);
  const void *packed = NULL;
  bool done = false;
  if (product == CONV_FORWARD && type == &conv_f32 && state->is_constant && is_row(conv))
    return multiply_row(context, conv, a, b, result, status);
  if (type == &conv_f32) TRY(multiply_tiles(context, product, conv, a, b, result, &done, status));
  if (done) return true;
  if (state->is_constant) TRY(pack_filter(context, &(Packing){product, type, conv, b}, &packed, status));
  return multiply_windows(context, product, conv, type, a, b, packed, result, status);
}

/* The gradient by the filter, by blas/winograd.h. *done: whether `dw` is valid. */
static bool sum_tiles(KernelContext *context, const Conv *conv, const void *x, const void *dy, void *dw,
                      bool *done, Status *status) {
  if (!winograd_suits(CONV_FILTER, conv, false)) return true;
  Buffer *workspace = kernel_scratch(context, winograd_gradient_workspace(conv), status);
  if (!workspace) return false;
  *done = winograd_gradient(conv, x, dy, dw, context->parallel, workspace->data);
  buffer_unref(workspace);
  return true;
}

/* The same for images with few channels. */
static bool sum_short_rows(KernelContext *context, const ShortRows *rows, const Conv *conv, const void *x,
                           const void *dy, void *dw, Status *status) {
  Buffer *workspace = kernel_scratch(context, rows->workspace(conv), status);
  if (!workspace) return false;
  rows->gradient(conv, x, dy, dw, context->parallel, workspace->data);
  buffer_unref(workspace);
  return true;
}

/* Whether a product would use few of its lanes. */
static bool is_narrow(const Conv *conv) {
  enum { OUTPUTS = 4, CHANNELS = 8 };
  return conv->groups == 1 && conv->out_channels <= OUTPUTS && conv->in_channels >= CHANNELS;
}

/* The gradient by the filter: a function of its own, because only training needs its code. */
static bool sum_windows(KernelContext *context, ConvProduct product, const Conv *conv, const void *x,
                        const void *dy, void *dw, Status *status) {
  const ConvType *type = TYPED_LOOPS(kTypedProducts, context->output_types[0]);
  const ShortRows *short_rows = type == &conv_f32 ? &short_rows_f32 : &short_rows_f64;
  bool done = false;
  if (is_narrow(conv)) {
    if (type == &conv_f32) narrow_filter_gradient_f32(conv, x, dy, dw, context->parallel);
    else narrow_filter_gradient_f64(conv, x, dy, dw, context->parallel);
    return true;
  }
  if (short_rows->suit(conv)) return sum_short_rows(context, short_rows, conv, x, dy, dw, status);
  /* also with a single channel, where only this product is faster so */
  if (conv->groups == conv->in_channels) return depthwise_multiply(context, product, conv, x, dy, dw, status);
  if (type == &conv_f32) TRY(sum_tiles(context, conv, x, dy, dw, &done, status));
  return done || multiply_windows(context, product, conv, type, x, dy, NULL, dw, status);
}

static bool compute(KernelContext *context, ConvProduct product, const Conv *conv, WindowProduct *by_windows,
                    Tensor *out, Status *status) {
  bool first = ((const ConvState *)context->state)->attrs.channels_first;
  if (first && tensor_num_elements(out) > 0 && plane_product_suits(conv, out->dtype)) {
    const Tensor *a = context->inputs[product == CONV_INPUT ? 2 : 0],
                 *b = context->inputs[product == CONV_FILTER ? 2 : 1];
    return plane_product(context, product, conv, a->data, b->data, out, status);
  }
  return window_compute(context, product, conv, first, by_windows, out, status);
}

static bool conv2d(KernelContext *context, Status *status) {
  const ConvState *state = context->state;
  const Tensor *input = context->inputs[0], *filter = context->inputs[1];
  char text[SHAPE_TEXT_CAPACITY];
  Conv conv;
  Tensor *out;
  int64_t dims[4];
  if (input->shape.rank != 4)
    return status_invalid(status, "convolution input must be 4-dimensional: %s",
                          shape_text(&input->shape, text));
  if (filter->shape.rank != 4)
    return status_invalid(status, "convolution filter must be 4-dimensional: %s",
                          shape_text(&filter->shape, text));
  TRY(place_windows(state, "Conv2D", shape_dims(&input->shape), shape_dims(&filter->shape), NULL, &conv,
                    status));
  ImageSizes sizes = {conv.batch, {conv.axis[0].out, conv.axis[1].out}, conv.out_channels};
  image_dims(&sizes, state->attrs.channels_first, dims);
  TRY(kernel_allocate_output_dims(context, 0, 4, dims, &out, status));
  ProductEnd end;
  TRY(product_end_begin(&end, context, out, conv.out_channels, status));
  conv.bias = end.bias, conv.activation = end.activation, conv.epilogue = end.epilogue;
  return product_end_finish(&end, compute(context, CONV_FORWARD, &conv, multiply, out, status));
}

static bool check_sizes(const int32_t *sizes, int count, Status *status) {
  for (int i = 0; i < count; i++) {
    if (sizes[i] < 0) return status_invalid(status, "Dimension %d must be >= 0", (int)sizes[i]);
  }
  return true;
}

static bool conv2d_backprop_input(KernelContext *context, Status *status) {
  static const char kName[] = "Conv2DCustomBackpropInput";
  const ConvState *state = context->state;
  const Tensor *sizes = context->inputs[0], *filter = context->inputs[1], *grad = context->inputs[2];
  bool first = state->attrs.channels_first;
  int64_t dims[4];
  Conv conv;
  Tensor *out;
  if (sizes->shape.rank != 1) {
    return status_invalid(status, "Conv2DBackpropInput: input_sizes input must be 1-dim, not %d",
                          sizes->shape.rank);
  }
  int64_t count = tensor_num_elements(sizes);
  if (count != 4 && count != 2) {
    return status_invalid(status,
                          "Conv2DBackpropInput requires input_sizes to contain 4 values or 2 values, but "
                          "got: %" PRId64,
                          count);
  }
  if (filter->shape.rank != 4) return status_invalid(status, "%s: filter must be 4-dimensional", kName);
  if (grad->shape.rank != 4) return status_invalid(status, "%s: out_backprop must be 4-dimensional", kName);
  const int32_t *values = tensor_i32(sizes);
  TRY(check_sizes(values, (int)count, status));
  if (count == 4) {
    for (int i = 0; i < 4; i++) dims[i] = values[i];
  } else {
    ImageSizes image = {shape_dim(&grad->shape, 0), {values[0], values[1]}, shape_dim(&filter->shape, 2)};
    image_dims(&image, first, dims);
  }
  TRY(place_windows(state, kName, dims, shape_dims(&filter->shape), shape_dims(&grad->shape), &conv, status));
  TRY(kernel_allocate_output_dims(context, 0, 4, dims, &out, status));
  return compute(context, CONV_INPUT, &conv, multiply, out, status);
}

static bool conv2d_backprop_filter(KernelContext *context, Status *status) {
  static const char kName[] = "Conv2DCustomBackpropFilter";
  const Tensor *input = context->inputs[0], *sizes = context->inputs[1], *grad = context->inputs[2];
  int64_t dims[4];
  Conv conv;
  Tensor *out;
  if (sizes->shape.rank != 1) {
    return status_invalid(status, "Conv2DBackpropFilter: filter_sizes input must be 1-dim, not %d",
                          sizes->shape.rank);
  }
  if (input->shape.rank != 4) return status_invalid(status, "%s: input must be 4-dimensional", kName);
  if (tensor_num_elements(sizes) != 4)
    return status_invalid(status, "%s: filter must be 4-dimensional", kName);
  if (grad->shape.rank != 4) return status_invalid(status, "%s: out_backprop must be 4-dimensional", kName);
  TRY(check_sizes(tensor_i32(sizes), 4, status));
  for (int i = 0; i < 4; i++) dims[i] = tensor_i32(sizes)[i];
  TRY(place_windows(context->state, kName, shape_dims(&input->shape), dims, shape_dims(&grad->shape), &conv,
                    status));
  TRY(kernel_allocate_output_dims(context, 0, 4, dims, &out, status));
  return compute(context, CONV_FILTER, &conv, sum_windows, out, status);
}

static bool shape_backprop_filter(InferenceContext *c, Status *status) {
  ShapeHandle shape;
  TRY(shape_from_input_tensor(c, 1, &shape, status));
  return shape_unchanged_with_rank(c, shape, 4, status);
}

/* The attrs of all three: dilations, paddings and format apply to the gradients too. */
#define DECLARED                                                                                   \
  "[T:{half, bfloat16, float, double}, strides:list(int), use_cudnn_on_gpu:bool, padding:string, " \
  "explicit_paddings:list(int),"                                                                   \
  " data_format:string, dilations:list(int)]"
#define PASSED                                                                      \
  "[T=$T, strides=$strides, use_cudnn_on_gpu=$use_cudnn_on_gpu, padding=$padding, " \
  "explicit_paddings=$explicit_paddings,"                                           \
  " data_format=$data_format, dilations=$dilations]"

const OpRegistration kOpConv2D = {
    .name = "Conv2D",
    .inputs = {"input: T", "filter: T"},
    .outputs = {"output: T"},
    .attrs = {"T: {half, bfloat16, float, double, int32}", "strides: list(int)",
              "use_cudnn_on_gpu: bool = true", "padding: {'SAME', 'VALID', 'EXPLICIT'}",
              "explicit_paddings: list(int) = []", "data_format: {'NHWC', 'NCHW'} = 'NHWC'",
              "dilations: list(int) = [1, 1, 1, 1]"},
    .shape = shape_conv2d,
    .gradient = "Conv2DGradient" DECLARED
                "(input:T, filter:T, dy:T) -> (dinput:T, dfilter:T) {\n"
                "  input_shape = Shape[T=$T, out_type=int32](input)\n"
                "  filter_shape = Shape[T=$T, out_type=int32](filter)\n"
                "  dinput = Conv2DBackpropInput" PASSED
                "(input_shape:output:0, filter, dy)\n"
                "  dfilter = Conv2DBackpropFilter" PASSED
                "(input, filter_shape:output:0, dy)\n"
                "  return dinput = dinput:output:0, dfilter = dfilter:output:0\n"
                "}\n",
    .state_size = sizeof(ConvState),
    .construct = filter_construct,
    .destroy = filter_destroy,
    .kernels = {FLOAT_AND_HALF_KERNELS(conv2d), {DT_INT32, conv2d}},
};

const OpRegistration kOpConv2DBackpropInput = {
    .name = "Conv2DBackpropInput",
    .inputs = {"input_sizes: int32", "filter: T", "out_backprop: T"},
    .outputs = {"output: T"},
    .attrs = {"T: {half, bfloat16, float, double, int32}", "strides: list(int)",
              "use_cudnn_on_gpu: bool = true", "padding: {'SAME', 'VALID', 'EXPLICIT'}",
              "explicit_paddings: list(int) = []", "data_format: {'NHWC', 'NCHW'} = 'NHWC'",
              "dilations: list(int) = [1, 1, 1, 1]"},
    .shape = shape_conv2d_backprop_input,
    .gradient = "Conv2DBackpropInputGradient" DECLARED
                "(input_sizes:int32, filter:T, out_backprop:T, dx:T) -> (dsizes:int32, dfilter:T, dout:T) {\n"
                "  dsizes = ZerosLike[T=int32](input_sizes)\n"
                "  filter_shape = Shape[T=$T, out_type=int32](filter)\n"
                "  dfilter = Conv2DBackpropFilter" PASSED
                "(dx, filter_shape:output:0, out_backprop)\n"
                "  dout = Conv2D" PASSED
                "(dx, filter)\n"
                "  return dsizes = dsizes:y:0, dfilter = dfilter:output:0, dout = dout:output:0\n"
                "}\n",
    .state_size = sizeof(ConvState),
    .construct = filter_construct,
    .destroy = filter_destroy,
    .kernels = {FLOAT_AND_HALF_KERNELS(conv2d_backprop_input), {DT_INT32, conv2d_backprop_input}},
};

const OpRegistration kOpConv2DBackpropFilter = {
    .name = "Conv2DBackpropFilter",
    .inputs = {"input: T", "filter_sizes: int32", "out_backprop: T"},
    .outputs = {"output: T"},
    .attrs = {"T: {half, bfloat16, float, double}", "strides: list(int)", "use_cudnn_on_gpu: bool = true",
              "padding: {'SAME', 'VALID', 'EXPLICIT'}", "explicit_paddings: list(int) = []",
              "data_format: {'NHWC', 'NCHW'} = 'NHWC'", "dilations: list(int) = [1, 1, 1, 1]"},
    .shape = shape_backprop_filter,
    .gradient = "Conv2DBackpropFilterGradient" DECLARED
                "(input:T, filter_sizes:int32, out_backprop:T, dw:T) -> (dinput:T, dsizes:int32, dout:T) {\n"
                "  dsizes = ZerosLike[T=int32](filter_sizes)\n"
                "  input_shape = Shape[T=$T, out_type=int32](input)\n"
                "  dinput = Conv2DBackpropInput" PASSED
                "(input_shape:output:0, dw, out_backprop)\n"
                "  dout = Conv2D" PASSED
                "(input, dw)\n"
                "  return dinput = dinput:output:0, dsizes = dsizes:y:0, dout = dout:output:0\n"
                "}\n",
    .state_size = sizeof(ConvState),
    .construct = conv_construct,
    .kernels = {FLOAT_AND_HALF_KERNELS(conv2d_backprop_filter)},
};
