/* Ops that call functions once: If, Case, calls, gradients of functions. For loops see
 * ops/control_flow/loop_ops.c. */
#include "ops/control_flow/functional_ops.h"

#include <string.h>

#include "device/device.h"
#include "op/node_def.h"

bool tensor_to_bool(const Tensor *value, bool *truth, Status *status) {
  if (!tensor_is_scalar(value)) {
    *truth = tensor_num_elements(value) > 0;
    return true;
  }
  switch ((int)value->dtype) {
    case DT_BOOL: *truth = *tensor_bool(value); return true;
    case DT_STRING: *truth = tstring_view(tensor_strings(value)).length > 0; return true;
    case DT_FLOAT:
    case DT_DOUBLE:
    case DT_INT32:
    case DT_UINT8:
    case DT_INT16:
    case DT_INT8:
    case DT_INT64: *truth = tensor_double_at(value, 0) != 0; return true;
    default:
      return status_invalid(status, "%s cannot be converted to a boolean", dtype_name((int)value->dtype));
  }
}

/* --- shapes --- */

bool output_shapes_attr(InferenceContext *c, Status *status) {
  const AttrValue *shapes = node_def_attr(c->node, "output_shapes");
  size_t count = !shapes || !shapes->list ? 0 : shapes->list->n_shape;
  if (count == 0) return shape_unknown_outputs(c, status);
  if (count != (size_t)c->num_outputs) {
    return status_invalid(status, "`output_shapes` must be the same length as num outputs (%lld vs. %d)",
                          (long long)count, c->num_outputs);
  }
  for (int i = 0; i < c->num_outputs; i++) {
    ShapeHandle shape;
    TRY(shape_from_shape_proto(c, shapes->list->shape[i], &shape, status));
    shape_set_output(c, i, shape);
  }
  return true;
}

/* --- ToBool --- */

static bool to_bool_kernel(KernelContext *context, Status *status) {
  const Tensor *value = context->inputs[0];
  Tensor *out;
  bool truth = false;
  if (value->dtype == DT_BOOL && tensor_is_scalar(value))
    return kernel_set_output(context, 0, value, NULL, status);
  TRY(tensor_to_bool(value, &truth, status));
  TRY(kernel_allocate_output_dims(context, 0, 0, NULL, &out, status));
  *tensor_bool(out) = truth;
  return true;
}

const OpRegistration kOpToBool = {
    .name = "ToBool",
    .inputs = {"input: T"},
    .outputs = {"output: bool"},
    .attrs = {"T: type"},
    .shape = shape_scalar_output,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, to_bool_kernel}},
};

/* --- If --- */

typedef struct IfState {
  CalledFunction then_branch, else_branch;
} IfState;

static bool if_construct(const KernelConstruction *construction, void *memory, Status *status) {
  IfState *state = memory;
  TRY(function_from_attr(construction->functions, construction->node, "then_branch", &state->then_branch,
                         status));
  return function_from_attr(construction->functions, construction->node, "else_branch", &state->else_branch,
                            status);
}

static bool if_kernel(KernelContext *context, Status *status) {
  const IfState *state = context->state;
  bool truth = false;
  TRY(tensor_to_bool(context->inputs[0], &truth, status));
  return function_call_inputs(context, truth ? &state->then_branch : &state->else_branch, 1, status);
}

const OpRegistration kOpIf = {
    .name = "If",
    .inputs = {"cond: Tcond", "input: Tin"},
    .outputs = {"output: Tout"},
    .attrs = {"Tcond: type", "Tin: list(type) >= 0", "Tout: list(type) >= 0", "then_branch: func",
              "else_branch: func", "output_shapes: list(shape) = []"},
    .is_stateful = true,
    .shape = output_shapes_attr,
    .gradient = FUNCTIONAL_GRADIENT,
    .state_size = sizeof(IfState),
    .construct = if_construct,
    .kernels = {{DT_INVALID, if_kernel}},
};

const OpRegistration kOpStatelessIf = {
    .name = "StatelessIf",
    .inputs = {"cond: Tcond", "input: Tin"},
    .outputs = {"output: Tout"},
    .attrs = {"Tcond: type", "Tin: list(type) >= 0", "Tout: list(type) >= 0", "then_branch: func",
              "else_branch: func", "output_shapes: list(shape) = []"},
    .shape = output_shapes_attr,
    .gradient = FUNCTIONAL_GRADIENT,
    .state_size = sizeof(IfState),
    .construct = if_construct,
    .kernels = {{DT_INVALID, if_kernel}},
};

/* What 1.x calls If. */
const OpRegistration kOp_If = {
    .name = "_If",
    .inputs = {"cond: Tcond", "input: Tin"},
    .outputs = {"output: Tout"},
    .attrs = {"Tcond: type", "Tin: list(type)", "Tout: list(type)", "then_branch: func", "else_branch: func"},
    .is_stateful = true,
    .shape = shape_unknown_outputs,
    .gradient = FUNCTIONAL_GRADIENT,
    .state_size = sizeof(IfState),
    .construct = if_construct,
    .kernels = {{DT_INVALID, if_kernel}},
};

/* --- Case --- */

typedef struct CaseState {
  CalledFunction *branches;
  int count;
} CaseState;

static bool case_construct(const KernelConstruction *construction, void *memory, Status *status) {
  CaseState *state = memory;
  const AttrValue *branches = node_def_attr(construction->node, "branches");
  if (!branches || !branches->list || branches->list->n_func == 0) {
    return status_invalid(status, "{{node %s}} has no branches", construction->node->name);
  }
  state->count = (int)branches->list->n_func;
  state->branches = arena_calloc(construction->arena, state->count, sizeof *state->branches);
  if (!state->branches) return status_oom(status, "a kernel");
  for (int i = 0; i < state->count; i++) {
    TRY(function_from_ref(construction->functions, branches->list->func[i], &state->branches[i], status));
  }
  return true;
}

/* An invalid index selects the last branch. */
static bool case_kernel(KernelContext *context, Status *status) {
  const CaseState *state = context->state;
  if (!tensor_is_scalar(context->inputs[0])) return status_invalid(status, "branch_index must be scalar");
  int32_t index = *tensor_i32(context->inputs[0]);
  if (index < 0 || index >= state->count) index = state->count - 1;
  return function_call_inputs(context, &state->branches[index], 1, status);
}

const OpRegistration kOpCase = {
    .name = "Case",
    .inputs = {"branch_index: int32", "input: Tin"},
    .outputs = {"output: Tout"},
    .attrs = {"Tin: list(type) >= 0", "Tout: list(type) >= 0", "branches: list(func) >= 1",
              "output_shapes: list(shape) = []"},
    .is_stateful = true,
    .shape = output_shapes_attr,
    .gradient = FUNCTIONAL_GRADIENT,
    .state_size = sizeof(CaseState),
    .construct = case_construct,
    .kernels = {{DT_INVALID, case_kernel}},
};

const OpRegistration kOpStatelessCase = {
    .name = "StatelessCase",
    .inputs = {"branch_index: int32", "input: Tin"},
    .outputs = {"output: Tout"},
    .attrs = {"Tin: list(type) >= 0", "Tout: list(type) >= 0", "branches: list(func) >= 1",
              "output_shapes: list(shape) = []"},
    .shape = output_shapes_attr,
    .gradient = FUNCTIONAL_GRADIENT,
    .state_size = sizeof(CaseState),
    .construct = case_construct,
    .kernels = {{DT_INVALID, case_kernel}},
};

/* --- calls --- */

const OpRegistration kOpPartitionedCall = {
    .name = "PartitionedCall",
    .inputs = {"args: Tin"},
    .outputs = {"output: Tout"},
    .attrs = {"Tin: list(type) >= 0", "Tout: list(type) >= 0", "f: func", "config: string = ''",
              "config_proto: string = ''", "executor_type: string = ''"},
    .shape = shape_unknown_outputs,
    .gradient = FUNCTIONAL_GRADIENT,
    .state_size = sizeof(CalledFunction),
    .construct = function_call_construct_f,
    .kernels = {{DT_INVALID, function_call_compute}},
};

const OpRegistration kOpStatefulPartitionedCall = {
    .name = "StatefulPartitionedCall",
    .inputs = {"args: Tin"},
    .outputs = {"output: Tout"},
    .attrs = {"Tin: list(type) >= 0", "Tout: list(type) >= 0", "f: func", "config: string = ''",
              "config_proto: string = ''", "executor_type: string = ''"},
    .is_stateful = true,
    .is_distributed_communication = true,
    .shape = shape_unknown_outputs,
    .gradient = FUNCTIONAL_GRADIENT,
    .state_size = sizeof(CalledFunction),
    .construct = function_call_construct_f,
    .kernels = {{DT_INVALID, function_call_compute}},
};

static bool remote_call_kernel(KernelContext *context, Status *status) {
  const Tensor *target = context->inputs[0];
  if (!tensor_is_scalar(target)) return status_invalid(status, "target must be a scalar");
  Str name = tstring_view(tensor_strings(target));
  if (!device_is_default(name)) {
    return status_invalid(status, "RemoteCall: no device '%.*s' in this process",
                          (int)(name.length < 200 ? name.length : 200), name.data);
  }
  return function_call_inputs(context, context->state, 1, status);
}

const OpRegistration kOpRemoteCall = {
    .name = "RemoteCall",
    .inputs = {"target: string", "args: Tin"},
    .outputs = {"output: Tout"},
    .attrs = {"Tin: list(type) >= 1", "Tout: list(type) >= 1", "f: func"},
    .is_stateful = true,
    .shape = shape_unknown_outputs,
    .gradient = FUNCTIONAL_GRADIENT,
    .state_size = sizeof(CalledFunction),
    .construct = function_call_construct_f,
    .kernels = {{DT_INVALID, remote_call_kernel}},
};

/* --- gradients of functions --- */

static bool symbolic_gradient_kernel(KernelContext *context, Status *status) {
  const CalledFunction *function = context->state;
  if (function->num_rets != context->num_outputs) {
    return status_invalid(status, "SymGrad expects to return %d tensor(s), but get %d tensor(s) instead.",
                          context->num_outputs, function->num_rets);
  }
  return function_call_inputs(context, function, 0, status);
}

/* The gradients of a function's arguments have the arguments' shapes. */
static bool symbolic_gradient_shape(InferenceContext *c, Status *status) {
  if (c->num_inputs < c->num_outputs) return status_invalid(status, "len(inputs) < len(outputs)");
  const AttrValue *types = node_def_attr(c->node, "Tin");
  for (int i = 0; i < c->num_outputs; i++) {
    if (types && types->list && (int)types->list->type[i] == DT_RESOURCE) {
      ShapeHandle unknown;
      TRY(shape_ok(shape_unknown(c), &unknown, status));
      shape_set_output(c, i, unknown);
    } else {
      shape_set_output(c, i, shape_input(c, i));
    }
  }
  return true;
}

const OpRegistration kOpSymbolicGradient = {
    .name = "SymbolicGradient",
    .inputs = {"input: Tin"},
    .outputs = {"output: Tout"},
    .attrs = {"Tin: list(type) >= 1", "Tout: list(type) >= 1", "f: func"},
    .shape = symbolic_gradient_shape,
    .gradient = FUNCTIONAL_GRADIENT,
    .state_size = sizeof(CalledFunction),
    .construct = function_call_construct,
    .kernels = {{DT_INVALID, symbolic_gradient_kernel}},
};

/* --- FakeParam --- */

typedef struct FakeParamState {
  const TensorShapeProto *shape;
} FakeParamState;

static bool fake_param_construct(const KernelConstruction *construction, void *memory, Status *status) {
  return node_attr_shape(construction->node, "shape", &((FakeParamState *)memory)->shape, status);
}

/* The value is never used. It consists of zeros, and unknown dimensions have size 0. */
static bool fake_param_kernel(KernelContext *context, Status *status) {
  const TensorShapeProto *shape = ((const FakeParamState *)context->state)->shape;
  int64_t dims[SHAPE_MAX_RANK];
  int rank = shape->unknown_rank ? 0 : (int)shape->n_dim;
  Tensor *out;
  if (shape->n_dim > SHAPE_MAX_RANK)
    return status_invalid(status, "shape has more than %d dimensions", SHAPE_MAX_RANK);
  for (int i = 0; i < rank; i++) dims[i] = shape->dim[i]->size < 0 ? 0 : shape->dim[i]->size;
  TRY(kernel_allocate_output_dims(context, 0, rank, dims, &out, status));
  if (dtype_is_pod((int)out->dtype)) memset(out->data, 0, (size_t)tensor_bytes(out));
  return true;
}

const OpRegistration kOpFakeParam = {
    .name = "FakeParam",
    .outputs = {"output: dtype"},
    .attrs = {"dtype: type", "shape: shape"},
    .shape = shape_explicit,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(FakeParamState),
    .construct = fake_param_construct,
    .kernels = {{DT_INVALID, fake_param_kernel}},
};
