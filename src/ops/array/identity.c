/* Ops that pass their input on unchanged, and NoOp. */
#include "op/node_def.h"
#include "op/op_registry.h"

static bool identity(KernelContext *context, Status *status) {
  return kernel_set_output(context, 0, context->inputs[0], NULL, status);
}

/* Handle data is passed on too. */
static bool identity_shape(InferenceContext *c, Status *status) {
  if (c->input_handles && c->output_handles) c->output_handles[0] = c->input_handles[0];
  return shape_unchanged(c, status);
}

const OpRegistration kOpIdentity = {
    .name = "Identity",
    .inputs = {"input: T"},
    .outputs = {"output: T"},
    .attrs = {"T: type"},
    .shape = identity_shape,
    .gradient =
        "IdentityGradient[T:type](input:T, dy:T) -> (dinput:T) {\n"
        "  d = Identity[T=$T](dy)\n"
        "  return dinput = d:output:0\n"
        "}\n",
    .kernels = {{DT_INVALID, identity}},
};

const OpRegistration kOpSnapshot = {
    .name = "Snapshot",
    .inputs = {"input: T"},
    .outputs = {"output: T"},
    .attrs = {"T: type"},
    .shape = shape_unchanged,
    .gradient =
        "SnapshotGradient[T:type](input:T, dy:T) -> (dinput:T) {\n"
        "  d = Identity[T=$T](dy)\n"
        "  return dinput = d:output:0\n"
        "}\n",
    .kernels = {{DT_INVALID, identity}},
};

/* Declares that the value is the same in every step, which this library does not use. TensorFlow has no
 * gradient for it. */
const OpRegistration kOpGuaranteeConst = {
    .name = "GuaranteeConst",
    .inputs = {"input: T"},
    .outputs = {"output: T"},
    .attrs = {"T: type"},
    .is_stateful = true,
    .shape = shape_unchanged,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, identity}},
};

const OpRegistration kOpStopGradient = {
    .name = "StopGradient",
    .inputs = {"input: T"},
    .outputs = {"output: T"},
    .attrs = {"T: type"},
    .shape = shape_unchanged,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, identity}},
};

/* A gradient request fails with this message, rather than giving zero. */
static bool prevent_gradient(const GradientRequest *request, StrBuf *text, Status *status) {
  Str message;
  (void)text;
  TRY(node_attr_string(request->node, "message", &message, status));
  return status_set(status, CODE_NOT_FOUND, "Gradient explicitly disabled. Reason: %.*s",
                    (int)(message.length < 512 ? message.length : 512), message.data);
}

const OpRegistration kOpPreventGradient = {
    .name = "PreventGradient",
    .inputs = {"input: T"},
    .outputs = {"output: T"},
    .attrs = {"T: type", "message: string = ''"},
    .shape = shape_unchanged,
    .gradient_fn = prevent_gradient,
    .kernels = {{DT_INVALID, identity}},
};

static bool identity_n(KernelContext *context, Status *status) {
  for (int i = 0; i < context->num_inputs; i++)
    TRY(kernel_set_output(context, i, context->inputs[i], NULL, status));
  return true;
}

static bool identity_n_shape(InferenceContext *c, Status *status) {
  if (c->num_inputs != c->num_outputs) return status_invalid(status, "Expected %d outputs", c->num_inputs);
  for (int i = 0; i < c->num_inputs; i++) shape_set_output(c, i, shape_input(c, i));
  return true;
}

const OpRegistration kOpIdentityN = {
    .name = "IdentityN",
    .inputs = {"input: T"},
    .outputs = {"output: T"},
    .attrs = {"T: list(type) >= 1"},
    .shape = identity_n_shape,
    .gradient =
        "IdentityNGradient[T:list(type)](input:T, dy:T) -> (dinput:T) {\n"
        "  d = IdentityN[T=$T](dy)\n"
        "  return dinput = d:output\n"
        "}\n",
    .kernels = {{DT_INVALID, identity_n}},
};

static bool no_op(KernelContext *context, Status *status) {
  (void)context;
  (void)status;
  return true;
}

const OpRegistration kOpNoOp = {
    .name = "NoOp",
    .shape = shape_no_outputs,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, no_op}},
};
