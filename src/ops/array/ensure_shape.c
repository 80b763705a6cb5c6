/* EnsureShape: passes the input on if it has the declared shape. */
#include "op/node_def.h"
#include "op/op_registry.h"
#include "ops/support/shape_pattern.h"

typedef struct EnsureState {
  const TensorShapeProto *shape; /* of the node; unknown sizes are -1 */
  const char *input;             /* the source of the tensor, for messages */
} EnsureState;

static bool ensure_construct(const KernelConstruction *construction, void *memory, Status *status) {
  EnsureState *state = memory;
  state->input = construction->node->n_input > 0 ? construction->node->input[0] : "";
  return node_attr_shape(construction->node, "shape", &state->shape, status);
}

static bool ensure_kernel(KernelContext *context, Status *status) {
  const EnsureState *state = context->state;
  const Tensor *input = context->inputs[0];
  char text[SHAPE_TEXT_CAPACITY], wanted[SHAPE_TEXT_CAPACITY];
  if (partial_shape_allows(state->shape, &input->shape))
    return kernel_set_output(context, 0, input, NULL, status);
  return status_invalid(status, "Shape of tensor %s %s is not compatible with expected shape %s.",
                        state->input, shape_text(&input->shape, text),
                        partial_shape_text(state->shape, wanted));
}

static bool ensure_shape(InferenceContext *c, Status *status) {
  const TensorShapeProto *proto;
  ShapeHandle wanted, merged;
  TRY(node_attr_shape(c->node, "shape", &proto, status));
  TRY(shape_from_shape_proto(c, proto, &wanted, status));
  TRY(shape_merge(c, shape_input(c, 0), wanted, &merged, status));
  shape_set_output(c, 0, merged);
  return true;
}

const OpRegistration kOpEnsureShape = {
    .name = "EnsureShape",
    .inputs = {"input: T"},
    .outputs = {"output: T"},
    .attrs = {"shape: shape", "T: type"},
    .shape = ensure_shape,
    .gradient =
        "EnsureShapeGradient[T:type](input:T, dy:T) -> (dinput:T) {\n"
        "  d = Identity[T=$T](dy)\n"
        "  return dinput = d:output:0\n"
        "}\n",
    .state_size = sizeof(EnsureState),
    .construct = ensure_construct,
    .kernels = {{DT_INVALID, ensure_kernel}},
};
