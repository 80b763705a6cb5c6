/* Sources of values: constants, and placeholders for feeds. */
#include "op/node_def.h"
#include "op/op_registry.h"

typedef struct ConstState {
  Tensor value;
} ConstState;

static bool const_construct(const KernelConstruction *construction, void *memory, Status *status) {
  ConstState *state = memory;
  const TensorProto *proto;
  TRY(node_attr_tensor(construction->node, "value", &proto, status));
  TRY(tensor_from_proto(proto, &state->value, status));
  if (state->value.dtype == construction->output_types[0]) return true;
  return status_invalid(status, "Type mismatch between value (%s) and dtype (%s)",
                        dtype_name(state->value.dtype), dtype_name(construction->output_types[0]));
}

static void const_destroy(void *memory) { tensor_clear(&((ConstState *)memory)->value); }

static bool const_kernel(KernelContext *context, Status *status) {
  return kernel_set_output(context, 0, &((const ConstState *)context->state)->value, NULL, status);
}

static bool const_shape(InferenceContext *c, Status *status) {
  const TensorProto *proto;
  ShapeHandle shape;
  TRY(node_attr_tensor(c->node, "value", &proto, status));
  if (!proto->tensor_shape) {
    TRY(shape_ok(shape_scalar(c), &shape, status));
  } else {
    TRY(shape_from_shape_proto(c, proto->tensor_shape, &shape, status));
  }
  shape_set_output(c, 0, shape);
  return true;
}

const OpRegistration kOpConst = {
    .name = "Const",
    .outputs = {"output: dtype"},
    .attrs = {"value: tensor", "dtype: type"},
    .shape = const_shape,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(ConstState),
    .construct = const_construct,
    .destroy = const_destroy,
    .kernels = {{DT_INVALID, const_kernel}},
};

/* A placeholder runs only if it was not fed. */

typedef struct PlaceholderState {
  const TensorShapeProto *shape;
} PlaceholderState;

static bool placeholder_construct(const KernelConstruction *construction, void *memory, Status *status) {
  return node_attr_shape(construction->node, "shape", &((PlaceholderState *)memory)->shape, status);
}

static bool placeholder_kernel(KernelContext *context, Status *status) {
  const TensorShapeProto *shape = ((const PlaceholderState *)context->state)->shape;
  StrBuf text = {0};
  if (!shape->unknown_rank && shape->n_dim > 0) { /* TensorFlow takes [] for unknown here, as old graphs do */
    strbuf_append(&text, " and shape [");
    for (size_t i = 0; i < shape->n_dim; i++) {
      if (i > 0) strbuf_append(&text, ",");
      if (shape->dim[i]->size < 0) {
        strbuf_append(&text, "?");
      } else {
        strbuf_printf(&text, "%lld", (long long)shape->dim[i]->size);
      }
    }
    strbuf_append(&text, "]");
  }
  if (strbuf_ok(&text, status)) {
    status_invalid(status, "You must feed a value for placeholder tensor '%s' with dtype %s%s",
                   context->node_name, dtype_name(context->output_types[0]), strbuf_text(&text));
  }
  strbuf_free(&text);
  return false;
}

/* Graphs before version 24 have [] for unknown shapes. */
static bool placeholder_shape(InferenceContext *c, Status *status) {
  const TensorShapeProto *proto;
  ShapeHandle shape;
  TRY(node_attr_shape(c->node, "shape", &proto, status));
  bool unknown = !proto->unknown_rank && proto->n_dim == 0 && c->graph_def_version < 24;
  if (unknown) {
    TRY(shape_ok(shape_unknown(c), &shape, status));
  } else {
    TRY(shape_from_shape_proto(c, proto, &shape, status));
  }
  shape_set_output(c, 0, shape);
  return true;
}

const OpRegistration kOpPlaceholder = {
    .name = "Placeholder",
    .outputs = {"output: dtype"},
    .attrs = {"dtype: type", "shape: shape = { unknown_rank: true }"},
    .shape = placeholder_shape,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(PlaceholderState),
    .construct = placeholder_construct,
    .kernels = {{DT_INVALID, placeholder_kernel}},
};

/* The default is used unless a value is fed; its shape must match the declared one. */

static bool forward_input(KernelContext *context, Status *status) {
  return kernel_set_output(context, 0, context->inputs[0], NULL, status);
}

static bool placeholder_with_default_shape(InferenceContext *c, Status *status) {
  const TensorShapeProto *proto;
  ShapeHandle shape, merged;
  TRY(node_attr_shape(c->node, "shape", &proto, status));
  TRY(shape_from_shape_proto(c, proto, &shape, status));
  TRY(shape_merge(c, shape_input(c, 0), shape, &merged, status));
  shape_set_output(c, 0, shape);
  return true;
}

const OpRegistration kOpPlaceholderWithDefault = {
    .name = "PlaceholderWithDefault",
    .inputs = {"input: dtype"},
    .outputs = {"output: dtype"},
    .attrs = {"dtype: type", "shape: shape"},
    .shape = placeholder_with_default_shape,
    .gradient =
        "PlaceholderWithDefaultGradient[dtype:type](input:dtype, dy:dtype) -> (dinput:dtype) {\n"
        "  d = Identity[T=$dtype](dy)\n"
        "  return dinput = d:output:0\n"
        "}\n",
    .kernels = {{DT_INVALID, forward_input}},
};
