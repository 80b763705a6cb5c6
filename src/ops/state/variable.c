/* Resource variables: handles, values, and assignments. */
#include "op/node_def.h"
#include "ops/support/variable_access.h"

/* --- the handle, made once per session --- */

typedef struct VarHandleState {
  Str container, name;
  DataType dtype;
  Tensor handle; /* empty until first run */
} VarHandleState;

static bool var_handle_construct(const KernelConstruction *construction, void *memory, Status *status) {
  VarHandleState *state = memory;
  TRY(node_attr_string(construction->node, "container", &state->container, status));
  TRY(node_attr_string(construction->node, "shared_name", &state->name, status));
  if (state->name.length == 0) state->name = str_of(construction->node->name);
  return node_attr_type(construction->node, "dtype", &state->dtype, status);
}

static void var_handle_destroy(void *memory) { tensor_clear(&((VarHandleState *)memory)->handle); }

static bool make_handle(KernelContext *context, VarHandleState *state, Status *status) {
  Variable *variable;
  if (!context->resources) return status_set(status, CODE_INTERNAL, "No resource manager.");
  Str container = resource_manager_container(context->resources, state->container);
  TRY(resource_manager_variable(context->resources, container, state->name, state->dtype, &variable, status));
  return resource_handle_tensor(container, state->name, &variable->resource, &state->handle, status);
}

static bool var_handle(KernelContext *context, Status *status) {
  VarHandleState *state = context->state;
  if (tensor_is_empty(&state->handle)) TRY(make_handle(context, state, status));
  return kernel_set_output(context, 0, &state->handle, NULL, status);
}

static bool var_handle_shape(InferenceContext *c, Status *status) {
  const TensorShapeProto *proto;
  ShapeHandle scalar;
  TRY(shape_ok(shape_scalar(c), &scalar, status));
  shape_set_output(c, 0, scalar);
  ShapeAndType *entry = arena_calloc(c->arena, 1, sizeof *entry);
  HandleData *data = arena_calloc(c->arena, 1, sizeof *data);
  if (!entry || !data) return status_oom(status, "handle data");
  TRY(node_attr_type(c->node, "dtype", &entry->dtype, status));
  TRY(node_attr_shape(c->node, "shape", &proto, status));
  TRY(shape_from_shape_proto(c, proto, &entry->shape, status));
  *data = (HandleData){1, entry};
  c->output_handles[0] = data;
  return true;
}

const OpRegistration kOpVarHandleOp = {
    .name = "VarHandleOp",
    .outputs = {"resource: resource"},
    .attrs = {"container: string = ''", "shared_name: string = ''", "debug_name: string = ''", "dtype: type",
              "shape: shape", "allowed_devices: list(string) = []"},
    .is_stateful = true,
    .shape = var_handle_shape,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(VarHandleState),
    .construct = var_handle_construct,
    .destroy = var_handle_destroy,
    .kernels = {{DT_INVALID, var_handle}},
};

/* --- reading --- */

/* Of a read, TensorFlow says more than that there is no such variable. */
static bool refuse_read(const KernelContext *context, Status *status) {
  const Status missing = *status;
  if (missing.code != CODE_NOT_FOUND) return false;
  return status_set(status, CODE_FAILED_PRECONDITION,
                    "Could not find variable %s. This could mean that the variable has been deleted. In TF1, "
                    "it "
                    "can also mean the variable is uninitialized. Debug info: container=%s, status error "
                    "message=%s",
                    variable_name(context, 0), variable_container(context, 0), missing.message);
}

static bool read_variable(KernelContext *context, Status *status) {
  Variable *variable;
  if (!initialized_variable(context, 0, context->output_types[0], &variable, status))
    return refuse_read(context, status);
  return kernel_set_output(context, 0, &variable->value, NULL, status);
}

static bool read_variable_shape(InferenceContext *c, Status *status) {
  ShapeHandle shape;
  TRY(variable_shape_of_dtype(c, &shape, status));
  shape_set_output(c, 0, shape);
  return true;
}

const OpRegistration kOpReadVariableOp = {
    .name = "ReadVariableOp",
    .inputs = {"resource: resource"},
    .outputs = {"value: dtype"},
    .attrs = {"dtype: type"},
    .is_stateful = true,
    .shape = read_variable_shape,
    .gradient =
        "ReadVariableOpGradient[dtype:type](resource:resource, dy:dtype) -> (dresource:dtype) {\n"
        "  d = Identity[T=$dtype](dy)\n"
        "  return dresource = d:output:0\n"
        "}\n",
    .kernels = {{DT_INVALID, read_variable}},
};

const OpRegistration kOpVarIsInitializedOp = {
    .name = "VarIsInitializedOp",
    .inputs = {"resource: resource"},
    .outputs = {"is_initialized: bool"},
    .is_stateful = true,
    .shape = shape_scalar_output,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, variable_is_initialized}},
};

/* --- assignment --- */

typedef struct AssignState {
  bool validate_shape;
} AssignState;

static bool assign_construct(const KernelConstruction *construction, void *memory, Status *status) {
  return node_attr_bool(construction->node, "validate_shape", &((AssignState *)memory)->validate_shape,
                        status);
}

/* The shape of an existing value stays. */
static bool check_assigned_shape(const Variable *variable, const Tensor *value, Status *status) {
  char want[SHAPE_TEXT_CAPACITY], got[SHAPE_TEXT_CAPACITY];
  return tensor_is_empty(&variable->value) || shape_equal(&variable->value.shape, &value->shape) ||
         status_invalid(status,
                        "Trying to assign to variable with tensor with wrong shape. Expected %s got %s",
                        shape_text(&variable->value.shape, want), shape_text(&value->shape, got));
}

static bool assign_variable(KernelContext *context, Status *status) {
  Variable *variable;
  const Tensor *value = context->inputs[1];
  TRY(tensor_variable(context->inputs[0], &variable, status));
  TRY(variable_check_dtype("assign", variable->dtype, value->dtype, status));
  if (((const AssignState *)context->state)->validate_shape)
    TRY(check_assigned_shape(variable, value, status));
  return tensor_assign(&variable->value, value, status);
}

const OpRegistration kOpAssignVariableOp = {
    .name = "AssignVariableOp",
    .inputs = {"resource: resource", "value: dtype"},
    .attrs = {"dtype: type", "validate_shape: bool = false"},
    .is_stateful = true,
    .shape = shape_assign_variable,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(AssignState),
    .construct = assign_construct,
    .kernels = {{DT_INVALID, assign_variable}},
};

/* --- DisableCopyOnRead --- */

/* Readers share the value of a variable, and an assignment copies it if there are any: nothing to disable. */
static bool disable_copy_on_read(KernelContext *context, Status *status) {
  (void)context, (void)status;
  return true;
}

const OpRegistration kOpDisableCopyOnRead = {
    .name = "DisableCopyOnRead",
    .inputs = {"resource: resource"},
    .is_stateful = true,
    .shape = shape_no_outputs,
    .gradient = NO_GRADIENT,
    .kernels = {{DT_INVALID, disable_copy_on_read}},
};
