/* SpaceToDepth and DepthToSpace: move blocks of an image's height and width to its depth, and back. */
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/support/array_box.h"

typedef struct DepthState {
  int64_t block_size;
  bool channels_first;
} DepthState;

static bool depth_construct(const KernelConstruction *construction, void *memory, Status *status) {
  DepthState *state = memory;
  Str format;
  TRY(node_attr_int(construction->node, "block_size", &state->block_size, status));
  TRY(node_attr_string(construction->node, "data_format", &format, status));
  state->channels_first = str_equal_text(format, "NCHW");
  if (state->channels_first || str_equal_text(format, "NHWC")) return true;
  return status_invalid(status, "Only NHWC data_format supported on CPU. Got %.*s", (int)format.length,
                        format.data);
}

/* Both tensors as [batch, height, block, width, block, depth] of the shallower image. */
static bool move_blocks(KernelContext *context, bool to_depth, const int64_t *space, Status *status) {
  const DepthState *state = context->state;
  const Tensor *input = context->inputs[0];
  bool first = state->channels_first;
  int h = first ? 2 : 1, w = first ? 3 : 2, c = first ? 1 : 3;
  int64_t block = state->block_size, dims[4], s[4], d[4];
  for (int i = 0; i < 4; i++) dims[i] = space[i];
  if (to_depth) {
    dims[h] /= block;
    dims[w] /= block;
    dims[c] *= block * block;
  }
  Tensor *out;
  TRY(kernel_allocate_output_dims(context, 0, 4, dims, &out, status));
  if (tensor_num_elements(out) == 0) return true;
  array_strides(to_depth ? &input->shape : &out->shape, s);
  array_strides(to_depth ? &out->shape : &input->shape, d);
  int64_t height = space[h] / block, width = space[w] / block, depth = space[c];
  /* Sizes, and the strides in the wider image and in the deeper one. */
  int64_t last[6][3] = {{space[0], s[0], d[0]},
                        {height, block * s[h], d[h]},
                        {block, s[h], block * depth * d[c]},
                        {width, block * s[w], d[w]},
                        {block, s[w], depth * d[c]},
                        {depth, s[c], d[c]}};
  static const int kOrders[2][6] = {{0, 1, 2, 3, 4, 5}, {0, 5, 1, 2, 3, 4}};
  ArrayBox box = {0};
  for (int i = 0; i < 6; i++) {
    const int64_t *axis = last[kOrders[first][i]];
    array_box_add(&box, axis[0], to_depth ? axis[1] : axis[2], to_depth ? axis[2] : axis[1]);
  }
  return array_box_copy(&box, input, out, context->parallel, status);
}

static bool space_to_depth_kernel(KernelContext *context, Status *status) {
  const DepthState *state = context->state;
  const Shape *shape = &context->inputs[0]->shape;
  if (shape->rank != 4) return status_invalid(status, "Input rank should be 4 instead of %d", shape->rank);
  int64_t block = state->block_size, depth, *dims = (int64_t[4]){0};
  for (int i = 0; i < 4; i++) dims[i] = shape_dim(shape, i);
  int64_t height = dims[state->channels_first ? 2 : 1], width = dims[state->channels_first ? 3 : 2];
  if (height % block != 0 || width % block != 0) {
    return status_invalid(status, "Image width %lld and height %lld should be divisible by block_size: %lld",
                          (long long)width, (long long)height, (long long)block);
  }
  if (__builtin_mul_overflow(dims[state->channels_first ? 1 : 3], block, &depth) ||
      __builtin_mul_overflow(depth, block, &depth)) {
    return status_invalid(status, "The depth is more than 2**63 - 1");
  }
  return move_blocks(context, true, dims, status);
}

static bool depth_to_space_kernel(KernelContext *context, Status *status) {
  const DepthState *state = context->state;
  const Shape *shape = &context->inputs[0]->shape;
  if (shape->rank != 4) return status_invalid(status, "Input rank should be: 4 instead of: %d", shape->rank);
  bool first = state->channels_first;
  int64_t block = state->block_size, area, dims[4];
  for (int i = 0; i < 4; i++) dims[i] = shape_dim(shape, i);
  int64_t *height = &dims[first ? 2 : 1], *width = &dims[first ? 3 : 2], *depth = &dims[first ? 1 : 3];
  if (__builtin_mul_overflow(block, block, &area) || *depth % area != 0) {
    return status_invalid(status, "Input depth dimension %lld should be divisible by: %llu",
                          (long long)*depth, (unsigned long long)block * (unsigned long long)block);
  }
  *depth /= area;
  if (__builtin_mul_overflow(*height, block, height) || __builtin_mul_overflow(*width, block, width)) {
    return status_invalid(status, "The image is larger than 2**63 - 1");
  }
  return move_blocks(context, false, dims, status);
}

/* --- shapes --- */

/* The positions of an image's axes; the last axis of NCHW_VECT_C has 4 channels. */
typedef struct ImageAxes {
  int rank, height, width, depth;
} ImageAxes;

static bool read_format(InferenceContext *c, int64_t *block, ImageAxes *axes, Status *status) {
  Str format;
  TRY(node_attr_int(c->node, "block_size", block, status));
  TRY(node_attr_string(c->node, "data_format", &format, status));
  if (str_equal_text(format, "NHWC")) {
    *axes = (ImageAxes){4, 1, 2, 3};
  } else {
    *axes = (ImageAxes){str_equal_text(format, "NCHW") ? 4 : 5, 2, 3, 1};
  }
  return true;
}

static bool depth_shape(InferenceContext *c, bool to_depth, Status *status) {
  int64_t block, area;
  ImageAxes axes;
  ShapeHandle input, output;
  TRY(read_format(c, &block, &axes, status));
  TRY(shape_with_rank(c, shape_input(c, 0), axes.rank, &input, status));
  if (__builtin_mul_overflow(block, block, &area)) return status_invalid(status, "block_size is too large");
  DimHandle height = shape_dim_of(c, input, axes.height), width = shape_dim_of(c, input, axes.width),
            depth = shape_dim_of(c, input, axes.depth);
  if (to_depth) {
    TRY(dim_divide(c, height, block, true, &height, status));
    TRY(dim_divide(c, width, block, true, &width, status));
    TRY(dim_multiply(c, depth, dim_make(c, area), &depth, status));
  } else {
    TRY(dim_multiply(c, height, dim_make(c, block), &height, status));
    TRY(dim_multiply(c, width, dim_make(c, block), &width, status));
    TRY(dim_divide(c, depth, area, true, &depth, status));
  }
  TRY(shape_replace_dim(c, input, axes.height, height, &output, status));
  TRY(shape_replace_dim(c, output, axes.width, width, &output, status));
  TRY(shape_replace_dim(c, output, axes.depth, depth, &output, status));
  shape_set_output(c, 0, output);
  return true;
}
static bool space_to_depth_shape(InferenceContext *c, Status *status) { return depth_shape(c, true, status); }
static bool depth_to_space_shape(InferenceContext *c, Status *status) {
  return depth_shape(c, false, status);
}

#define BACK(op, back)                                                                       \
  op "Gradient[T:type, block_size:int, data_format:string](input:T, dy:T) -> (dinput:T) {\n" \
     "  d = " back                                                                           \
     "[T=$T, block_size=$block_size, data_format=$data_format](dy)\n"                        \
     "  return dinput = d:output:0\n"                                                        \
     "}\n"

const OpRegistration kOpSpaceToDepth = {
    .name = "SpaceToDepth",
    .inputs = {"input: T"},
    .outputs = {"output: T"},
    .attrs = {"T: type", "block_size: int >= 2", "data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'"},
    .shape = space_to_depth_shape,
    .gradient = BACK("SpaceToDepth", "DepthToSpace"),
    .state_size = sizeof(DepthState),
    .construct = depth_construct,
    .kernels = {{DT_INVALID, space_to_depth_kernel}},
};

const OpRegistration kOpDepthToSpace = {
    .name = "DepthToSpace",
    .inputs = {"input: T"},
    .outputs = {"output: T"},
    .attrs = {"T: type", "block_size: int >= 2", "data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'"},
    .shape = depth_to_space_shape,
    .gradient = BACK("DepthToSpace", "SpaceToDepth"),
    .state_size = sizeof(DepthState),
    .construct = depth_construct,
    .kernels = {{DT_INVALID, depth_to_space_kernel}},
};
