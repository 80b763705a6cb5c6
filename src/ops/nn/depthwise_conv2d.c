/* DepthwiseConv2dNative and its two gradients. */
#include <inttypes.h>
#include <string.h>

#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/nn/depthwise_product.h"
#include "ops/support/element_types.h"
#include "ops/support/product_epilogue.h"
#include "ops/support/window_attrs.h"

typedef struct DepthwiseState {
  WindowAttrs attrs;
} DepthwiseState;

static bool depthwise_construct(const KernelConstruction *construction, void *memory, Status *status) {
  return window_read_attrs(construction->node, &((DepthwiseState *)memory)->attrs, status);
}

static bool compute(KernelContext *context, ConvProduct product, const Conv *conv, Tensor *out,
                    Status *status) {
  bool first = ((const DepthwiseState *)context->state)->attrs.channels_first;
  return window_compute(context, product, conv, first, depthwise_multiply, out, status);
}

static bool place_windows(const DepthwiseState *state, const int64_t *input, const int64_t *filter,
                          Conv *conv, Status *status) {
  ImageSizes sizes = image_sizes(input, state->attrs.channels_first);
  if (sizes.channels != filter[2]) {
    return status_invalid(status, "input and filter must have the same depth: %" PRId64 " vs %" PRId64,
                          sizes.channels, filter[2]);
  }
  *conv = (Conv){.batch = sizes.batch, .in_channels = sizes.channels, .groups = 1};
  if (__builtin_mul_overflow(filter[2], filter[3], &conv->out_channels)) {
    return status_invalid(status, "The filter has too many outputs: %" PRId64 " of %" PRId64 " channels",
                          filter[3], filter[2]);
  }
  return window_place(&state->attrs, &sizes, filter, conv->axis, status);
}

/* The incoming gradient must have the output's shape. */
static bool check_gradient(const DepthwiseState *state, const char *name, const Conv *conv,
                           const Tensor *grad, Status *status) {
  static const char *const kAxes[] = {"rows", "cols"};
  ImageSizes sizes = image_sizes(shape_dims(&grad->shape), state->attrs.channels_first);
  if (sizes.batch != conv->batch)
    return status_invalid(status, "%s: input and out_backprop must have the same batch size", name);
  for (int k = 0; k < WINDOW_AXES; k++) {
    if (sizes.space[k] == conv->axis[k].out) continue;
    return status_invalid(status,
                          "%s: Number of %s of out_backprop doesn't match computed: actual = %" PRId64
                          ", computed = %" PRId64,
                          name, kAxes[k], sizes.space[k], conv->axis[k].out);
  }
  return sizes.channels == conv->out_channels ||
         status_invalid(status, "%s: depth_multiplier * in_depth not equal to out_depth", name);
}

static bool depthwise(KernelContext *context, Status *status) {
  const DepthwiseState *state = context->state;
  const Tensor *input = context->inputs[0], *filter = context->inputs[1];
  char text[SHAPE_TEXT_CAPACITY];
  Conv conv;
  Tensor *out;
  int64_t dims[4];
  if (input->shape.rank != 4)
    return status_invalid(status, "input must be 4-dimensional%s", shape_text(&input->shape, text));
  if (filter->shape.rank != 4)
    return status_invalid(status, "filter must be 4-dimensional: %s", shape_text(&filter->shape, text));
  TRY(place_windows(state, shape_dims(&input->shape), shape_dims(&filter->shape), &conv, status));
  ImageSizes sizes = {conv.batch, {conv.axis[0].out, conv.axis[1].out}, conv.out_channels};
  image_dims(&sizes, state->attrs.channels_first, dims);
  TRY(kernel_allocate_output_dims(context, 0, 4, dims, &out, status));
  ProductEnd end;
  TRY(product_end_begin(&end, context, out, conv.out_channels, status));
  conv.bias = end.bias, conv.activation = end.activation, conv.epilogue = end.epilogue;
  return product_end_finish(&end, compute(context, CONV_FORWARD, &conv, out, status));
}

/* Reads a shape of four sizes from a tensor. */
static bool read_sizes(const Tensor *sizes, const char *name, const char *of, int64_t dims[4],
                       Status *status) {
  if (sizes->shape.rank != 1 || tensor_num_elements(sizes) != 4)
    return status_invalid(status, "%s: %s must be 4-dimensional", name, of);
  for (int i = 0; i < 4; i++) {
    dims[i] = tensor_i32(sizes)[i];
    if (dims[i] < 0) return status_invalid(status, "Dimension %" PRId64 " must be >= 0", dims[i]);
  }
  return true;
}

static bool depthwise_backprop_input(KernelContext *context, Status *status) {
  static const char kName[] = "DepthwiseConv2DBackpropInput";
  const Tensor *filter = context->inputs[1], *grad = context->inputs[2];
  int64_t dims[4];
  Conv conv;
  Tensor *out;
  TRY(read_sizes(context->inputs[0], kName, "input", dims, status));
  if (filter->shape.rank != 4) return status_invalid(status, "%s: filter must be 4-dimensional", kName);
  if (grad->shape.rank != 4) return status_invalid(status, "%s: out_backprop must be 4-dimensional", kName);
  TRY(place_windows(context->state, dims, shape_dims(&filter->shape), &conv, status));
  TRY(check_gradient(context->state, kName, &conv, grad, status));
  TRY(kernel_allocate_output_dims(context, 0, 4, dims, &out, status));
  return compute(context, CONV_INPUT, &conv, out, status);
}

static bool depthwise_backprop_filter(KernelContext *context, Status *status) {
  static const char kName[] = "DepthwiseConv2DBackpropFilter";
  const Tensor *input = context->inputs[0], *grad = context->inputs[2];
  int64_t dims[4];
  Conv conv;
  Tensor *out;
  if (input->shape.rank != 4) return status_invalid(status, "%s: input must be 4-dimensional", kName);
  TRY(read_sizes(context->inputs[1], kName, "filter", dims, status));
  if (grad->shape.rank != 4) return status_invalid(status, "%s: out_backprop must be 4-dimensional", kName);
  TRY(place_windows(context->state, shape_dims(&input->shape), dims, &conv, status));
  TRY(check_gradient(context->state, kName, &conv, grad, status));
  TRY(kernel_allocate_output_dims(context, 0, 4, dims, &out, status));
  return compute(context, CONV_FILTER, &conv, out, status);
}

static bool shape_given_by(InferenceContext *c, int i, Status *status) {
  ShapeHandle shape;
  TRY(shape_from_input_tensor(c, i, &shape, status));
  return shape_unchanged_with_rank(c, shape, 4, status);
}
static bool shape_backprop_input(InferenceContext *c, Status *status) { return shape_given_by(c, 0, status); }
static bool shape_backprop_filter(InferenceContext *c, Status *status) {
  return shape_given_by(c, 1, status);
}

#define DECLARED                                                                                         \
  "[T:{half, bfloat16, float, double}, strides:list(int), padding:string, explicit_paddings:list(int), " \
  "data_format:string,"                                                                                  \
  " dilations:list(int)]"
#define PASSED                                                                        \
  "[T=$T, strides=$strides, padding=$padding, explicit_paddings=$explicit_paddings, " \
  "data_format=$data_format,"                                                         \
  " dilations=$dilations]"

const OpRegistration kOpDepthwiseConv2dNative = {
    .name = "DepthwiseConv2dNative",
    .inputs = {"input: T", "filter: T"},
    .outputs = {"output: T"},
    .attrs = {"T: {half, bfloat16, float, double}", "strides: list(int)",
              "padding: {'SAME', 'VALID', 'EXPLICIT'}", "explicit_paddings: list(int) = []",
              "data_format: {'NHWC', 'NCHW'} = 'NHWC'", "dilations: list(int) = [1, 1, 1, 1]"},
    .shape = shape_depthwise_conv2d,
    .gradient = "DepthwiseConv2dNativeGradient" DECLARED
                "(input:T, filter:T, dy:T) -> (dinput:T, dfilter:T) {\n"
                "  input_shape = Shape[T=$T, out_type=int32](input)\n"
                "  filter_shape = Shape[T=$T, out_type=int32](filter)\n"
                "  dinput = DepthwiseConv2dNativeBackpropInput" PASSED
                "(input_shape:output:0, filter, dy)\n"
                "  dfilter = DepthwiseConv2dNativeBackpropFilter" PASSED
                "(input, filter_shape:output:0, dy)\n"
                "  return dinput = dinput:output:0, dfilter = dfilter:output:0\n"
                "}\n",
    .state_size = sizeof(DepthwiseState),
    .construct = depthwise_construct,
    .kernels = {FLOAT_AND_HALF_KERNELS(depthwise)},
};

const OpRegistration kOpDepthwiseConv2dNativeBackpropInput = {
    .name = "DepthwiseConv2dNativeBackpropInput",
    .inputs = {"input_sizes: int32", "filter: T", "out_backprop: T"},
    .outputs = {"output: T"},
    .attrs = {"T: {half, bfloat16, float, double}", "strides: list(int)",
              "padding: {'SAME', 'VALID', 'EXPLICIT'}", "explicit_paddings: list(int) = []",
              "data_format: {'NHWC', 'NCHW'} = 'NHWC'", "dilations: list(int) = [1, 1, 1, 1]"},
    .shape = shape_backprop_input,
    .gradient = "DepthwiseConv2dNativeBackpropInputGradient" DECLARED
                "(input_sizes:int32, filter:T, out_backprop:T, dx:T) -> (dsizes:int32, dfilter:T, dout:T) {\n"
                "  dsizes = ZerosLike[T=int32](input_sizes)\n"
                "  filter_shape = Shape[T=$T, out_type=int32](filter)\n"
                "  dfilter = DepthwiseConv2dNativeBackpropFilter" PASSED
                "(dx, filter_shape:output:0, out_backprop)\n"
                "  dout = DepthwiseConv2dNative" PASSED
                "(dx, filter)\n"
                "  return dsizes = dsizes:y:0, dfilter = dfilter:output:0, dout = dout:output:0\n"
                "}\n",
    .state_size = sizeof(DepthwiseState),
    .construct = depthwise_construct,
    .kernels = {FLOAT_AND_HALF_KERNELS(depthwise_backprop_input)},
};

const OpRegistration kOpDepthwiseConv2dNativeBackpropFilter = {
    .name = "DepthwiseConv2dNativeBackpropFilter",
    .inputs = {"input: T", "filter_sizes: int32", "out_backprop: T"},
    .outputs = {"output: T"},
    .attrs = {"T: {half, bfloat16, float, double}", "strides: list(int)",
              "padding: {'SAME', 'VALID', 'EXPLICIT'}", "explicit_paddings: list(int) = []",
              "data_format: {'NHWC', 'NCHW'} = 'NHWC'", "dilations: list(int) = [1, 1, 1, 1]"},
    .shape = shape_backprop_filter,
    .gradient = "DepthwiseConv2dNativeBackpropFilterGradient" DECLARED
                "(input:T, filter_sizes:int32, out_backprop:T, dw:T) -> (dinput:T, dsizes:int32, dout:T) {\n"
                "  dsizes = ZerosLike[T=int32](filter_sizes)\n"
                "  input_shape = Shape[T=$T, out_type=int32](input)\n"
                "  dinput = DepthwiseConv2dNativeBackpropInput" PASSED
                "(input_shape:output:0, dw, out_backprop)\n"
                "  dout = DepthwiseConv2dNative" PASSED
                "(input, dw)\n"
                "  return dinput = dinput:output:0, dsizes = dsizes:y:0, dout = dout:output:0\n"
                "}\n",
    .state_size = sizeof(DepthwiseState),
    .construct = depthwise_construct,
    .kernels = {FLOAT_AND_HALF_KERNELS(depthwise_backprop_filter)},
};
