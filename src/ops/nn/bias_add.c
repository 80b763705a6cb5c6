/* BiasAdd: adds one value per channel to a tensor of any rank; its gradient is a sum. */
#include <string.h>

#include "blas/bias.h"
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/support/broadcast.h"
#include "ops/support/element_types.h"
#include "ops/support/reduction.h"

typedef struct BiasState {
  bool channels_first;
} BiasState;

static bool bias_construct(const KernelConstruction *construction, void *memory, Status *status) {
  Str format;
  TRY(node_attr_string(construction->node, "data_format", &format, status));
  ((BiasState *)memory)->channels_first = str_equal_text(format, "NCHW");
  return true;
}

/* A tensor of at least two dimensions as [outer, channels, inner]. */
static bool read_channels(const Tensor *tensor, bool channels_first, int64_t dims[3], Status *status) {
  int rank = tensor->shape.rank, channel = channels_first ? 1 : rank - 1;
  if (rank < 2) {
    char text[SHAPE_TEXT_CAPACITY];
    return status_invalid(status, "Input tensor must be at least 2D: %s", shape_text(&tensor->shape, text));
  }
  dims[0] = dims[2] = 1;
  dims[1] = shape_dim(&tensor->shape, channel);
  if (tensor_num_elements(tensor) == 0) {
    dims[0] = 0;
    return true;
  }
  for (int i = 0; i < rank; i++) {
    if (i != channel) dims[i < channel ? 0 : 2] *= shape_dim(&tensor->shape, i);
  }
  return true;
}

static bool begin_bias(KernelContext *context, int64_t dims[3], Tensor **out, Status *status) {
  const Tensor *value = context->inputs[0], *bias = context->inputs[1];
  const BiasState *state = context->state;
  char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY];
  TRY(read_channels(value, state->channels_first, dims, status));
  if (bias->shape.rank != 1)
    return status_invalid(status, "Biases must be 1D: %s", shape_text(&bias->shape, a));
  if (tensor_num_elements(bias) != dims[1]) {
    return status_invalid(status,
                          "Must provide as many biases as the last dimension of the input tensor: %s vs. %s",
                          shape_text(&bias->shape, a), shape_text(&value->shape, b));
  }
  return kernel_forward_or_allocate(context, 0, 0, &value->shape, out, status);
}

static bool bias_add(KernelContext *context, Status *status) {
  int64_t dims[3];
  Tensor *out;
  TRY(begin_bias(context, dims, &out, status));
  if (tensor_num_elements(out) == 0) return true;
  const void *x = context->inputs[0]->data, *bias = context->inputs[1]->data;
  switch (out->dtype) {
    case DT_FLOAT: bias_add_f32(dims[0], dims[1], dims[2], x, bias, out->data, context->parallel); break;
    case DT_DOUBLE: bias_add_f64(dims[0], dims[1], dims[2], x, bias, out->data, context->parallel); break;
    case DT_INT32: bias_add_i32(dims[0], dims[1], dims[2], x, bias, out->data, context->parallel); break;
    default: bias_add_i64(dims[0], dims[1], dims[2], x, bias, out->data, context->parallel); break;
  }
  return true;
}

/* The same as a broadcast addition. The data is a BinaryLoop. */
static bool bias_add_broadcast(KernelContext *context, Status *status) {
  int64_t dims[3];
  Tensor *out;
  TRY(begin_bias(context, dims, &out, status));
  if (tensor_num_elements(out) == 0) return true;
  Broadcast plan = {.rank = dims[2] > 1 ? 3 : 2,
                    .elements = tensor_num_elements(out),
                    .dims = {dims[0], dims[1], dims[2]},
                    .stride_a = {dims[1] * dims[2], dims[2], 1},
                    .stride_b = {0, 1, 0}};
  int64_t size = (int64_t)dtype_size(out->dtype);
  broadcast_run(context->parallel, &plan, context->inputs[0]->data, context->inputs[1]->data, out->data, size,
                size, (BinaryLoop *)context->data);
  return true;
}

#define TEMPLATE "ops/nn/bias_channels.inc"
#define TYPES (TYPES_HALF | TYPES_SMALL | TYPES_UNSIGNED | TYPES_COMPLEX)
#include "simd/each_type.inc"

static bool bias_add_grad(KernelContext *context, Status *status) {
  static const bool kReduced[3] = {true, false, true};
  const Tensor *gradient = context->inputs[0];
  int64_t dims[3];
  Tensor *out;
  TRY(read_channels(gradient, ((const BiasState *)context->state)->channels_first, dims, status));
  TRY(kernel_allocate_output_dims(context, 0, 1, &dims[1], &out, status));
  return reduction_run(context, REDUCE_SUM, gradient, 3, dims, kReduced, out, status);
}

#define BIAS_KERNELS                                                                                   \
  FLOAT_KERNELS(bias_add), INT_KERNELS(bias_add), TYPED_HALF_KERNELS(bias_add_broadcast, bias),        \
      TYPED_SMALL_KERNELS(bias_add_broadcast, bias), TYPED_UNSIGNED_KERNELS(bias_add_broadcast, bias), \
      TYPED_COMPLEX_KERNELS(bias_add_broadcast, bias)

const OpRegistration kOpBiasAdd = {
    .name = "BiasAdd",
    .inputs = {"value: T", "bias: T"},
    .outputs = {"output: T"},
    .attrs = {"T: {" NUMBER_TYPES "}", "data_format: {'NHWC', 'NCHW'} = 'NHWC'"},
    .shape = shape_bias_add,
    .gradient =
        "BiasAddGradient[T:type, data_format:string](value:T, bias:T, dy:T) -> (dvalue:T, dbias:T) {\n"
        "  dbias = BiasAddGrad[T=$T, data_format=$data_format](dy)\n"
        "  return dvalue = dy, dbias = dbias:output:0\n"
        "}\n",
    .state_size = sizeof(BiasState),
    .construct = bias_construct,
    .kernels = {BIAS_KERNELS},
};

/* Linear: its gradient adds dy to zeros of the input's shape. */
const OpRegistration kOpBiasAddGrad = {
    .name = "BiasAddGrad",
    .inputs = {"out_backprop: T"},
    .outputs = {"output: T"},
    .attrs = {"T: {" NUMBER_TYPES "}", "data_format: {'NHWC', 'NCHW'} = 'NHWC'"},
    .shape = shape_bias_add_grad,
    .gradient =
        "BiasAddGradGradient[T:type, data_format:string](x:T, dy:T) -> (dx:T) {\n"
        "  zeros = ZerosLike[T=$T](x)\n"
        "  dx = BiasAdd[T=$T, data_format=$data_format](zeros:y:0, dy)\n"
        "  return dx = dx:output:0\n"
        "}\n",
    .state_size = sizeof(BiasState),
    .construct = bias_construct,
    .kernels = {NUMBER_KERNELS(bias_add_grad)},
};

const OpRegistration kOpBiasAddV1 = {
    .name = "BiasAddV1",
    .inputs = {"value: T", "bias: T"},
    .outputs = {"output: T"},
    .attrs = {"T: {" NUMBER_TYPES "}"},
    .shape = shape_bias_add,
    .gradient =
        "BiasAddV1Gradient[T:type](value:T, bias:T, dy:T) -> (dvalue:T, dbias:T) {\n"
        "  dbias = BiasAddGrad[T=$T](dy)\n"
        "  return dvalue = dy, dbias = dbias:output:0\n"
        "}\n",
    .state_size = sizeof(BiasState), /* zeros: channels last */
    .kernels = {BIAS_KERNELS},
};
