/* Conv3D and the two products that are its gradients; all three are gradients of one another. */
#include <inttypes.h>
#include <string.h>

#include "blas/volume_conv.h"
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/nn/channel_groups.h"
#include "ops/nn/volume_window.h"
#include "ops/support/element_types.h"

typedef struct VolumeConvState {
  VolumeAttrs attrs;
  int64_t dilations[VOLUME_RANK];
} VolumeConvState;

static bool only_spatial(const int64_t values[VOLUME_RANK], bool channels_first, const char *noun,
                         Status *status) {
  return (values[0] == 1 && values[channels_first ? 1 : 4] == 1) ||
         status_invalid(status,
                        "Current implementation does not yet support %s in the batch and depth dimensions.",
                        noun);
}

static bool construct(const KernelConstruction *construction, void *memory, Status *status) {
  VolumeConvState *state = memory;
  bool first;
  TRY(volume_read_attrs(construction->node, &state->attrs, status));
  first = state->attrs.channels_first;
  TRY(only_spatial(state->attrs.strides, first, "strides", status));
  for (int i = 0; i < VOLUME_RANK; i++) state->dilations[i] = 1;
  if (!node_def_attr(construction->node, "dilations")) return true;
  TRY(volume_read_list(construction->node, "dilations", "dilations", state->dilations, status));
  TRY(only_spatial(state->dilations, first, "dilation rates", status));
  for (int k = 0; k < VOLUME_AXES; k++) {
    int64_t dilation = state->dilations[(first ? 2 : 1) + k];
    if (dilation < 1) return status_invalid(status, "Dilation rate must be >= 1, but got %" PRId64, dilation);
  }
  return true;
}

/* The number of groups of channels, each of which is convolved with its own part of the filter; 0 if there is
 * no such number. TensorFlow has groups only where XLA compiles the op, as it does for Keras. */
static int64_t count_groups(int64_t channels, const int64_t *filter) {
  int64_t groups = filter[3] > 0 && channels % filter[3] == 0 ? channels / filter[3] : 0;
  return groups > 0 && filter[4] % groups == 0 ? groups : 0;
}

/* Computes the geometry of a convolution of `input` with `filter`. */
static bool place(const VolumeConvState *state, const int64_t *input, const int64_t *filter, Conv3d *conv,
                  Status *status) {
  static const int64_t kNoPads[2];
  WindowAxis *axes[VOLUME_AXES] = {&conv->planes, &conv->plane.axis[0], &conv->plane.axis[1]};
  conv->plane = (Conv){.batch = input[0],
                       .in_channels = input[4],
                       .out_channels = filter[4],
                       .groups = count_groups(input[4], filter)};
  for (int k = 0; k < VOLUME_AXES; k++) {
    *axes[k] = (WindowAxis){.in = input[1 + k],
                            .filter = filter[k],
                            .stride = state->attrs.strides[1 + k],
                            .dilation = state->dilations[1 + k]};
    TRY(window_place_axis(state->attrs.padding, kNoPads, axes[k], status));
  }
  return true;
}

/* Computes a product of images or of parts of them; the convolution has one group. */
static bool run_product(KernelContext *context, ConvProduct product, const Conv3d *conv, DataType dtype,
                        const void *a, const void *b, void *c, Status *status) {
  const Conv3dType *type = dtype == DT_DOUBLE ? &conv3d_f64 : &conv3d_f32;
  Buffer *workspace = NULL;
  int64_t size = type->workspace(product, conv);
  if (size < 0) return status_oom(status, "the planes of a convolution");
  if (size > 0) TRY((workspace = kernel_scratch(context, size, status)));
  type->run(product, conv, a, b, c, context->parallel, workspace ? workspace->data : NULL);
  buffer_unref(workspace);
  return true;
}

/* Computes the product of each group from copies of its channels. All three images have the channels of a
 * group side by side in their last dimension. */
static bool run_groups(KernelContext *context, ConvProduct product, const Conv3d *conv,
                       ChannelGroups images[3], DataType dtype, Status *status) {
  Conv3d one = *conv;
  one.plane.in_channels /= conv->plane.groups;
  one.plane.out_channels /= conv->plane.groups;
  one.plane.groups = 1;
  bool ok = false;
  Buffer *parts[3] = {NULL};
  for (int i = 0; i < 3; i++)
    TRY_DONE((parts[i] = kernel_scratch(context, images[i].rows * images[i].width, status)));
  for (int64_t group = 0; group < conv->plane.groups; group++) {
    for (int i = 0; i < 2; i++) channel_group_take(&images[i], group, parts[i]->data);
    TRY_DONE(
        run_product(context, product, &one, dtype, parts[0]->data, parts[1]->data, parts[2]->data, status));
    channel_group_put(&images[2], group, parts[2]->data);
  }
  ok = true;
done:
  for (int i = 0; i < 3; i++) buffer_unref(parts[i]);
  return ok;
}

/* Computes a product from two inputs of the kernel, which may be of 16-bit floats. */
static bool multiply(KernelContext *context, ConvProduct product, const Conv3d *conv, const Tensor *left,
                     const Tensor *right, Tensor *out, Status *status) {
  const Tensor *tensors[3] = {left, right, out};
  Image images[3] = {{0}};
  ChannelGroups groups[3];
  bool ok = false;
  if (tensor_num_elements(out) == 0) return true;
  if (tensor_num_elements(left) == 0 || tensor_num_elements(right) == 0) {
    memset(out->data, 0, (size_t)(tensor_num_elements(out) * (int64_t)dtype_size(out->dtype)));
    return true;
  }
  for (int i = 0; i < 2; i++) TRY_DONE(image_read(context, tensors[i], NULL, false, &images[i], status));
  TRY_DONE(image_begin(context, out, false, &images[2], status));
  for (int i = 0; i < 3; i++) groups[i] = channel_groups(tensors[i], images[i].data, conv->plane.groups);
  TRY_DONE(conv->plane.groups == 1 ? run_product(context, product, conv, out->dtype, images[0].data,
                                                 images[1].data, images[2].data, status)
                                   : run_groups(context, product, conv, groups, out->dtype, status));
  ok = image_finish(context, &images[2], NULL, false, out, status);
done:
  for (int i = 0; i < 3; i++) image_drop(&images[i]);
  return ok;
}

static bool conv3d(KernelContext *context, Status *status) {
  const VolumeConvState *state = context->state;
  const Tensor *input = context->inputs[0], *filter = context->inputs[1];
  Conv3d conv;
  Tensor *out;
  if (input->shape.rank != VOLUME_RANK) return status_invalid(status, "input must be 5-dimensional");
  if (filter->shape.rank != VOLUME_RANK) return status_invalid(status, "filter must be 5-dimensional");
  const int64_t *in = shape_dims(&input->shape), *f = shape_dims(&filter->shape);
  int64_t channels = in[state->attrs.channels_first ? 1 : 4];
  if (f[3] == 0) return status_invalid(status, "filter_depth must be non-zero");
  if (channels % f[3] != 0) {
    return status_invalid(status,
                          "Input depth must be evenly divisible by filter depth: %" PRId64 " vs %" PRId64,
                          channels, f[3]);
  }
  if (tensor_num_elements(filter) == 0) {
    return status_invalid(status,
                          "filter must not have zero elements (i.e. all dimensions must be non-zero)");
  }
  if (state->attrs.channels_first) {
    return status_invalid(status,
                          "CPU implementation of Conv3D currently only supports the NHWC tensor format.");
  }
  if (count_groups(channels, f) == 0) {
    return status_invalid(status,
                          "Number of channels in filter (%" PRId64
                          ") must match last dimension of input (%" PRId64 ")",
                          f[3], channels);
  }
  TRY(place(state, in, f, &conv, status));
  int64_t dims[VOLUME_RANK] = {in[0], conv.planes.out, conv.plane.axis[0].out, conv.plane.axis[1].out, f[4]};
  TRY(kernel_allocate_output_dims(context, 0, VOLUME_RANK, dims, &out, status));
  return multiply(context, CONV_FORWARD, &conv, input, filter, out, status);
}

/* --- gradients --- */

/* The sizes of input or filter: those of a tensor for the ops of version 1, else the elements of a vector. */
static bool read_sizes(const Tensor *tensor, bool by_value, const char *name, int64_t sizes[VOLUME_RANK],
                       Status *status) {
  int64_t count = by_value ? tensor_num_elements(tensor) : tensor->shape.rank;
  for (int64_t i = 0; by_value && i < count; i++) {
    int64_t size = tensor->dtype == DT_INT64 ? tensor_i64(tensor)[i] : tensor_i32(tensor)[i];
    if (size < 0) return status_invalid(status, "Dimension %" PRId64 " must be >= 0", size);
    if (i < VOLUME_RANK) sizes[i] = size;
  }
  if (count != VOLUME_RANK) return status_invalid(status, "%s tensor must have 5 dimensions", name);
  if (!by_value) memcpy(sizes, shape_dims(&tensor->shape), VOLUME_RANK * sizeof *sizes);
  return true;
}

static bool equal_channels(const char *a, int64_t a_channels, const char *b, int64_t b_channels,
                           Status *status) {
  return a_channels == b_channels ||
         status_invalid(status,
                        "%s and %s must have the same number of channels. Got %" PRId64 " for %s and %" PRId64
                        " for %s",
                        a, b, a_channels, a, b_channels, b);
}

static bool place_grad(const VolumeConvState *state, const char *name, const int64_t *input,
                       const int64_t *filter, const Tensor *grad, Conv3d *conv, Status *status) {
  if (grad->shape.rank != VOLUME_RANK)
    return status_invalid(status, "out_backprop tensor must have 5 dimensions");
  const int64_t *out = shape_dims(&grad->shape);
  if (count_groups(input[4], filter) == 0)
    TRY(equal_channels("input", input[4], "filter_sizes", filter[3], status));
  TRY(equal_channels("out_backprop", out[4], "filter_sizes", filter[4], status));
  if (input[0] != out[0]) {
    return status_invalid(status,
                          "%s: input and out_backprop must have the same batch size. Input batch: %" PRId64
                          ", outbackprop batch: %" PRId64 ", batch_dim: 0",
                          name, input[0], out[0]);
  }
  TRY(place(state, input, filter, conv, status));
  const WindowAxis *axes[VOLUME_AXES] = {&conv->planes, &conv->plane.axis[0], &conv->plane.axis[1]};
  for (int k = 0; k < VOLUME_AXES; k++) {
    const WindowAxis *a = axes[k];
    if (a->out == out[1 + k]) continue;
    return status_invalid(status,
                          "%s: Size of out_backprop doesn't match computed: actual = %" PRId64
                          ", computed = %" PRId64 " spatial_dim: %d input: %" PRId64 " filter: %" PRId64
                          " output: %" PRId64 " stride: %" PRId64 " dilation: %" PRId64,
                          name, out[1 + k], a->out, 1 + k, a->in, a->filter, out[1 + k], a->stride,
                          a->dilation);
  }
  return true;
}

static bool channels_last(const KernelContext *context, const char *name, Status *status) {
  const VolumeConvState *state = context->state;
  return !state->attrs.channels_first || status_invalid(status, "%sV2 only supports NDHWC on the CPU.", name);
}

static bool backprop_input(KernelContext *context, bool by_value, Status *status) {
  static const char kName[] = "Conv3DBackpropInputOp";
  const Tensor *sizes = context->inputs[0], *filter = context->inputs[1], *grad = context->inputs[2];
  int64_t dims[VOLUME_RANK];
  char text[SHAPE_TEXT_CAPACITY];
  Conv3d conv;
  Tensor *out;
  TRY(channels_last(context, kName, status));
  if (by_value && sizes->shape.rank != 1) {
    return status_invalid(status, "shape must be a vector of {int32,int64}, got shape %s",
                          shape_text(&sizes->shape, text));
  }
  TRY(read_sizes(sizes, by_value, "input", dims, status));
  if (filter->shape.rank != VOLUME_RANK)
    return status_invalid(status, "filter_sizes tensor must have 5 dimensions");
  TRY(place_grad(context->state, kName, dims, shape_dims(&filter->shape), grad, &conv, status));
  TRY(kernel_allocate_output_dims(context, 0, VOLUME_RANK, dims, &out, status));
  return multiply(context, CONV_INPUT, &conv, grad, filter, out, status);
}

static bool backprop_filter(KernelContext *context, bool by_value, Status *status) {
  static const char kName[] = "Conv3DBackpropFilterOp";
  const Tensor *input = context->inputs[0], *sizes = context->inputs[1], *grad = context->inputs[2];
  int64_t dims[VOLUME_RANK];
  Conv3d conv;
  Tensor *out;
  TRY(channels_last(context, kName, status));
  if (by_value && sizes->shape.rank != 1) {
    return status_invalid(status, "filter_sizes shape must be rank 1 but is rank %d", sizes->shape.rank);
  }
  if (input->shape.rank != VOLUME_RANK) return status_invalid(status, "input tensor must have 5 dimensions");
  TRY(read_sizes(sizes, by_value, "filter_sizes", dims, status));
  TRY(place_grad(context->state, kName, shape_dims(&input->shape), dims, grad, &conv, status));
  TRY(kernel_allocate_output_dims(context, 0, VOLUME_RANK, dims, &out, status));
  return multiply(context, CONV_FILTER, &conv, input, grad, out, status);
}

static bool conv3d_backprop_input(KernelContext *context, Status *status) {
  return backprop_input(context, false, status);
}
static bool conv3d_backprop_input_v2(KernelContext *context, Status *status) {
  return backprop_input(context, true, status);
}
static bool conv3d_backprop_filter(KernelContext *context, Status *status) {
  return backprop_filter(context, false, status);
}
static bool conv3d_backprop_filter_v2(KernelContext *context, Status *status) {
  return backprop_filter(context, true, status);
}

/* --- shapes --- */

static bool shape_of_tensor(InferenceContext *c, int i, Status *status) {
  return shape_unchanged_with_rank(c, shape_input(c, i), VOLUME_RANK, status);
}
static bool shape_of_input(InferenceContext *c, Status *status) { return shape_of_tensor(c, 0, status); }
static bool shape_of_filter(InferenceContext *c, Status *status) { return shape_of_tensor(c, 1, status); }

static bool shape_of_sizes(InferenceContext *c, int i, Status *status) {
  ShapeHandle shape;
  TRY(shape_from_input_tensor(c, i, &shape, status));
  return shape_unchanged_with_rank(c, shape, VOLUME_RANK, status);
}
static bool shape_of_input_sizes(InferenceContext *c, Status *status) { return shape_of_sizes(c, 0, status); }
static bool shape_of_filter_sizes(InferenceContext *c, Status *status) {
  return shape_of_sizes(c, 1, status);
}

/* --- registrations --- */

#define TYPES_V2 "T: {half, bfloat16, float, double}"
#define FORMAT "data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'"
#define DILATIONS "dilations: list(int) = [1, 1, 1, 1, 1]"
#define DECLARED "[T:type, strides:list(int), padding:string, data_format:string, dilations:list(int)]"
#define PASSED "[T=$T, strides=$strides, padding=$padding, data_format=$data_format, dilations=$dilations]"
/* For ops with the attr Tshape, of which Conv3DBackpropInputV2 is the only one. */
#define PASSED_SIZES(type)                                                                                  \
  "[T=$T, strides=$strides, padding=$padding, data_format=$data_format, dilations=$dilations, Tshape=" type \
  "]"

const OpRegistration kOpConv3D = {
    .name = "Conv3D",
    .inputs = {"input: T", "filter: T"},
    .outputs = {"output: T"},
    .attrs = {TYPES_V2, "strides: list(int) >= 5", "padding: {'SAME', 'VALID'}", FORMAT, DILATIONS},
    .shape = shape_conv3d,
    .gradient = "Conv3DGradient" DECLARED
                "(input:T, filter:T, dy:T) -> (dinput:T, dfilter:T) {\n"
                "  input_shape = Shape[T=$T, out_type=int32](input)\n"
                "  filter_shape = Shape[T=$T, out_type=int32](filter)\n"
                "  dinput = Conv3DBackpropInputV2" PASSED_SIZES("int32")
                "(input_shape:output:0, filter, dy)\n"
                "  dfilter = Conv3DBackpropFilterV2" PASSED
                "(input, filter_shape:output:0, dy)\n"
                "  return dinput = dinput:output:0, dfilter = dfilter:output:0\n"
                "}\n",
    .state_size = sizeof(VolumeConvState),
    .construct = construct,
    .kernels = {FLOAT_AND_HALF_KERNELS(conv3d)},
};

const OpRegistration kOpConv3DBackpropInputV2 = {
    .name = "Conv3DBackpropInputV2",
    .inputs = {"input_sizes: Tshape", "filter: T", "out_backprop: T"},
    .outputs = {"output: T"},
    .attrs = {TYPES_V2, "strides: list(int) >= 5", "padding: {'SAME', 'VALID'}", FORMAT, DILATIONS,
              "Tshape: {int32, int64} = DT_INT32"},
    .shape = shape_of_input_sizes,
    .gradient =
        "Conv3DBackpropInputV2Gradient[T:type, strides:list(int), padding:string, "
        "data_format:string, dilations:list(int), Tshape:type]"
        "(sizes:Tshape, filter:T, out_backprop:T, dx:T) -> (dsizes:Tshape, dfilter:T, dout:T) {\n"
        "  dsizes = ZerosLike[T=$Tshape](sizes)\n"
        "  filter_shape = Shape[T=$T, out_type=int32](filter)\n"
        "  dfilter = Conv3DBackpropFilterV2" PASSED
        "(dx, filter_shape:output:0, out_backprop)\n"
        "  dout = Conv3D" PASSED
        "(dx, filter)\n"
        "  return dsizes = dsizes:y:0, dfilter = dfilter:output:0, dout = dout:output:0\n"
        "}\n",
    .state_size = sizeof(VolumeConvState),
    .construct = construct,
    .kernels = {FLOAT_AND_HALF_KERNELS(conv3d_backprop_input_v2)},
};

const OpRegistration kOpConv3DBackpropFilterV2 = {
    .name = "Conv3DBackpropFilterV2",
    .inputs = {"input: T", "filter_sizes: int32", "out_backprop: T"},
    .outputs = {"output: T"},
    .attrs = {TYPES_V2, "strides: list(int) >= 5", "padding: {'SAME', 'VALID'}", FORMAT, DILATIONS},
    .shape = shape_of_filter_sizes,
    .gradient = "Conv3DBackpropFilterV2Gradient" DECLARED
                "(input:T, sizes:int32, out_backprop:T, dw:T) -> (dinput:T, dsizes:int32, dout:T) {\n"
                "  dsizes = ZerosLike[T=int32](sizes)\n"
                "  input_shape = Shape[T=$T, out_type=int32](input)\n"
                "  dinput = Conv3DBackpropInputV2" PASSED_SIZES("int32")
                "(input_shape:output:0, dw, out_backprop)\n"
                "  dout = Conv3D" PASSED
                "(input, dw)\n"
                "  return dinput = dinput:output:0, dsizes = dsizes:y:0, dout = dout:output:0\n"
                "}\n",
    .state_size = sizeof(VolumeConvState),
    .construct = construct,
    .kernels = {FLOAT_AND_HALF_KERNELS(conv3d_backprop_filter_v2)},
};

/* TensorFlow has no gradients for the ops of version 1. Their first or second input gives a shape only. */
const OpRegistration kOpConv3DBackpropInput = {
    .name = "Conv3DBackpropInput",
    .inputs = {"input: T", "filter: T", "out_backprop: T"},
    .outputs = {"output: T"},
    .attrs = {"T: {half, float, double}", "strides: list(int) >= 5", "padding: {'SAME', 'VALID'}", DILATIONS},
    .deprecated_version = 10,
    .deprecation_explanation = "Use Conv3DBackpropInputV2",
    .shape = shape_of_input,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(VolumeConvState),
    .construct = construct,
    .kernels = {FLOAT_KERNELS(conv3d_backprop_input), {DT_HALF, conv3d_backprop_input}},
};

const OpRegistration kOpConv3DBackpropFilter = {
    .name = "Conv3DBackpropFilter",
    .inputs = {"input: T", "filter: T", "out_backprop: T"},
    .outputs = {"output: T"},
    .attrs = {"T: {half, float, double}", "strides: list(int) >= 5", "padding: {'SAME', 'VALID'}", DILATIONS},
    .deprecated_version = 10,
    .deprecation_explanation = "Use Conv3DBackpropFilterV2",
    .shape = shape_of_filter,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(VolumeConvState),
    .construct = construct,
    .kernels = {FLOAT_KERNELS(conv3d_backprop_filter), {DT_HALF, conv3d_backprop_filter}},
};
