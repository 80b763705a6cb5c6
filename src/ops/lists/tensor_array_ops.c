/* Ops that make TensorArrays and their arrays of gradients, and ops on whole arrays (Size, Close). */
#include <stdint.h>

#include "op/node_def.h"
#include "ops/lists/step_resource.h"
#include "ops/lists/tensor_array.h"
#include "ops/lists/tensor_array_shapes.h"

/* --- making them --- */

typedef struct ArrayState {
  Str name;
  DataType dtype;
  int rank;
  int64_t dims[SHAPE_MAX_RANK];
  bool dynamic_size, clear_after_read, identical_shapes;
} ArrayState;

static bool array_construct(const KernelConstruction *construction, void *memory, Status *status) {
  ArrayState *state = memory;
  const NodeDef *node = construction->node;
  TRY(node_attr_type(node, "dtype", &state->dtype, status));
  TRY(array_shape_attr(node, "element_shape", &state->rank, state->dims, status));
  TRY(node_attr_bool(node, "dynamic_size", &state->dynamic_size, status));
  TRY(node_attr_bool(node, "clear_after_read", &state->clear_after_read, status));
  TRY(node_attr_bool(node, "identical_element_shapes", &state->identical_shapes, status));
  return node_attr_string(node, "tensor_array_name", &state->name, status);
}

/* The value of a flow has no meaning. A flow orders nodes: its reader runs after the node that made it. */
static bool set_flow(KernelContext *context, int output, Status *status) {
  Tensor *flow;
  TRY(kernel_allocate_output_dims(context, output, 0, NULL, &flow, status));
  *tensor_f32(flow) = 0;
  return true;
}

static bool make_array(KernelContext *context, Status *status) {
  const ArrayState *state = context->state;
  const Tensor *size = context->inputs[0];
  char text[SHAPE_TEXT_CAPACITY];
  if (size->shape.rank != 0)
    return status_invalid(status, "TensorArray size must be scalar, but had shape: %s",
                          shape_text(&size->shape, text));
  if (*tensor_i32(size) < 0) return status_invalid(status, "Size should be >= 0.");
  char *name = step_resource_name(context, state->name, status);
  TensorArray *array = name ? tensor_array_new(name, state->dtype, *tensor_i32(size), status) : NULL;
  if (!array) return false;
  array->rank = state->rank;
  for (int i = 0; i < state->rank; i++) array->dims[i] = state->dims[i];
  array->dynamic_size = state->dynamic_size;
  array->clear_after_read = state->clear_after_read;
  array->identical_shapes = state->identical_shapes;
  return step_resource_set_output(context, 0, array->name, &array->resource, status) &&
         set_flow(context, 1, status);
}

static bool make_array_shape(InferenceContext *c, Status *status) {
  ShapeHandle scalar;
  ShapeAndType element;
  const TensorShapeProto *proto;
  bool identical;
  TRY(shape_with_rank(c, shape_input(c, 0), 0, &scalar, status));
  TRY(step_resource_set_handle(c, 0, status));
  TRY(array_set_flow(c, 1, status));
  TRY(node_attr_shape(c->node, "element_shape", &proto, status));
  TRY(shape_from_shape_proto(c, proto, &element.shape, status));
  TRY(node_attr_bool(c->node, "identical_element_shapes", &identical, status));
  TRY(node_attr_type(c->node, "dtype", &element.dtype, status));
  if (!shape_fully_defined(element.shape) && !identical) return true;
  return shape_set_output_handle(c, 0, &element, 1, status);
}

const OpRegistration kOpTensorArrayV3 = {
    .name = "TensorArrayV3",
    .inputs = {"size: int32"},
    .outputs = {"handle: resource", "flow: float"},
    .attrs = {"dtype: type", "element_shape: shape = { unknown_rank: true }", "dynamic_size: bool = false",
              "clear_after_read: bool = true", "identical_element_shapes: bool = false",
              "tensor_array_name: string = ''"},
    .is_stateful = true,
    .shape = make_array_shape,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(ArrayState),
    .construct = array_construct,
    .kernels = {{DT_INVALID, make_array}},
};

/* --- arrays of gradients --- */

typedef struct SourceState {
  Str source;
  bool keeps; /* elements can be read several times */
} SourceState;

/* TensorFlow has no attr that says whether an array of gradients keeps its elements; it never does. */
static bool source_construct(const KernelConstruction *construction, void *memory, Status *status) {
  SourceState *state = memory;
  const AttrValue *keeps = node_def_attr(construction->node, "_keeps_elements");
  state->keeps = keeps && keeps->value_case == (int)ATTR_BOOL && keeps->b;
  return node_attr_string(construction->node, "source", &state->source, status);
}

static bool give_gradient(KernelContext *context, int rank, const int64_t *dims, Status *status) {
  const SourceState *state = context->state;
  TensorArray *array, *gradient;
  bool is_new;
  TRY(tensor_array_of(context->inputs[0], &array, status));
  TRY(tensor_array_gradient(array, state->source, rank, dims, &gradient, &is_new, status));
  tensor_object_ref(&gradient->resource.object);
  if (is_new) {
    gradient->clear_after_read = !state->keeps;
    TRY(step_resource_set_output(context, 0, gradient->name, &gradient->resource, status));
  } else {
    bool ok = resource_handle_tensor(str_of(""), str_of(gradient->name), &gradient->resource,
                                     &context->outputs[0], status);
    tensor_object_unref(&gradient->resource.object);
    TRY(ok);
  }
  return kernel_set_output(context, 1, context->inputs[1], NULL, status);
}

static bool array_gradient(KernelContext *context, Status *status) {
  return give_gradient(context, 0, NULL, status);
}

static bool array_gradient_with_shape(KernelContext *context, Status *status) {
  const Tensor *shape = context->inputs[2];
  char text[SHAPE_TEXT_CAPACITY];
  int64_t dims[SHAPE_MAX_RANK];
  if (shape->shape.rank != 1)
    return status_invalid(status, "shape must be a vector of {int32,int64}, got shape %s",
                          shape_text(&shape->shape, text));
  int64_t rank = tensor_num_elements(shape);
  if (rank > SHAPE_MAX_RANK) return status_invalid(status, "Too many dimensions in tensor");
  for (int64_t i = 0; i < rank; i++) {
    dims[i] = tensor_i32(shape)[i];
    if (dims[i] < 0) return status_invalid(status, "Dimension %lld must be >= 0", (long long)dims[i]);
  }
  return give_gradient(context, (int)rank, dims, status);
}

static bool gradient_shape(InferenceContext *c, Status *status) {
  TRY(step_resource_check_handle(c, 0, status));
  TRY(step_resource_set_handle(c, 0, status));
  if (c->input_handles && c->output_handles) c->output_handles[0] = c->input_handles[0];
  return array_set_flow(c, 1, status);
}

static bool gradient_with_shape_shape(InferenceContext *c, Status *status) {
  TRY(gradient_shape(c, status));
  ShapeHandle front, element = array_element_shape(c);
  TRY(shape_from_input_tensor(c, 2, &front, status));
  if (!element) return true;
  ShapeAndType known = {NULL, c->input_handles[0]->entries[0].dtype};
  TRY(shape_concatenate(c, front, element, &known.shape, status));
  return shape_set_output_handle(c, 0, &known, 1, status);
}

const OpRegistration kOpTensorArrayGradV3 = {
    .name = "TensorArrayGradV3",
    .inputs = {"handle: resource", "flow_in: float"},
    .outputs = {"grad_handle: resource", "flow_out: float"},
    .attrs = {"source: string"},
    .is_stateful = true,
    .shape = gradient_shape,
    .gradient =
        "TensorArrayGradV3Gradient(handle:resource, flow_in:float, dgrad_handle:resource, dflow_out:float) "
        "-> "
        "(dhandle:float, dflow_in:float) {\n"
        "  none = ZerosLike[T=float](dflow_out)\n"
        "  return dhandle = none:y, dflow_in = dflow_out\n"
        "}\n",
    .state_size = sizeof(SourceState),
    .construct = source_construct,
    .kernels = {{DT_INVALID, array_gradient}},
};

const OpRegistration kOpTensorArrayGradWithShape = {
    .name = "TensorArrayGradWithShape",
    .inputs = {"handle: resource", "flow_in: float", "shape_to_prepend: int32"},
    .outputs = {"grad_handle: resource", "flow_out: float"},
    .attrs = {"source: string"},
    .is_stateful = true,
    .shape = gradient_with_shape_shape,
    .gradient =
        "TensorArrayGradWithShapeGradient(handle:resource, flow_in:float, shape_to_prepend:int32, "
        "dgrad_handle:resource, dflow_out:float) -> "
        "(dhandle:float, dflow_in:float, dshape:int32) {\n"
        "  none = ZerosLike[T=float](dflow_out)\n"
        "  zero = ZerosLike[T=int32](shape_to_prepend)\n"
        "  return dhandle = none:y, dflow_in = dflow_out, dshape = zero:y\n"
        "}\n",
    .state_size = sizeof(SourceState),
    .construct = source_construct,
    .kernels = {{DT_INVALID, array_gradient_with_shape}},
};

/* --- whole arrays --- */

static bool array_size(KernelContext *context, Status *status) {
  TensorArray *array;
  Tensor *size;
  TRY(tensor_array_of(context->inputs[0], &array, status));
  TRY(kernel_allocate_output_dims(context, 0, 0, NULL, &size, status));
  *tensor_i32(size) = (int32_t)array->count;
  return true;
}

/* An array may be closed twice. */
static bool array_close(KernelContext *context, Status *status) {
  TensorArray *array;
  TRY(tensor_array_find(context->inputs[0], &array, status));
  tensor_array_close(&array->resource);
  return true;
}

static bool size_shape(InferenceContext *c, Status *status) {
  TRY(step_resource_check_handle(c, 0, status));
  return array_set_flow(c, 0, status);
}

static bool close_shape(InferenceContext *c, Status *status) {
  return step_resource_check_handle(c, 0, status);
}

const OpRegistration kOpTensorArraySizeV3 = {
    .name = "TensorArraySizeV3",
    .inputs = {"handle: resource", "flow_in: float"},
    .outputs = {"size: int32"},
    .is_stateful = true,
    .shape = size_shape,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, array_size}},
};

const OpRegistration kOpTensorArrayCloseV3 = {
    .name = "TensorArrayCloseV3",
    .inputs = {"handle: resource"},
    .is_stateful = true,
    .shape = close_shape,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, array_close}},
};
