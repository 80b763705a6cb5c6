/* Reference variables. The value along their edges is a handle of the variable; for ops that need the value,
 * the step reads it (runtime/program.h). */
#include <string.h>

#include "op/node_def.h"
#include "ops/support/variable_access.h"

/* --- creation --- */

typedef struct VariableState {
  Str container, name;
  DataType dtype;
  const TensorShapeProto *shape;
  Tensor handle; /* empty until first run */
} VariableState;

static bool variable_construct(const KernelConstruction *construction, void *memory, Status *status) {
  VariableState *state = memory;
  TRY(node_attr_string(construction->node, "container", &state->container, status));
  TRY(node_attr_string(construction->node, "shared_name", &state->name, status));
  if (state->name.length == 0) state->name = str_of(construction->node->name);
  TRY(node_attr_shape(construction->node, "shape", &state->shape, status));
  return node_attr_type(construction->node, "dtype", &state->dtype, status);
}

static void variable_destroy(void *memory) { tensor_clear(&((VariableState *)memory)->handle); }

static bool shape_is_known(const TensorShapeProto *proto) {
  if (proto->unknown_rank) return false;
  for (size_t i = 0; i < proto->n_dim; i++) {
    if (proto->dim[i]->size < 0) return false;
  }
  return true;
}

static bool make_handle(ResourceManager *resources, VariableState *state, Status *status) {
  Variable *found;
  Shape declared = {0};
  bool known = shape_is_known(state->shape);
  if (known) TRY(shape_from_proto(state->shape, &declared, status));
  bool ok = resource_manager_reference(resources, state->container, state->name, state->dtype,
                                       known ? &declared : NULL, &found, status) &&
            resource_handle_tensor(resource_manager_container(resources, state->container), state->name,
                                   &found->resource, &state->handle, status);
  shape_clear(&declared);
  return ok;
}

static bool variable(KernelContext *context, Status *status) {
  VariableState *state = context->state;
  if (tensor_is_empty(&state->handle)) {
    if (!context->resources) return status_set(status, CODE_INTERNAL, "No resource manager.");
    TRY(make_handle(context->resources, state, status));
  }
  return kernel_set_output(context, 0, &state->handle, NULL, status);
}

static bool variable_shape(InferenceContext *c, Status *status) {
  const TensorShapeProto *proto;
  ShapeHandle shape;
  TRY(node_attr_shape(c->node, "shape", &proto, status));
  TRY(shape_from_shape_proto(c, proto, &shape, status));
  shape_set_output(c, 0, shape);
  return true;
}

/* Older graphs have [] for unknown shapes. */
static bool variable_v1_shape(InferenceContext *c, Status *status) {
  const TensorShapeProto *proto;
  TRY(node_attr_shape(c->node, "shape", &proto, status));
  if (proto->n_dim > 0 || proto->unknown_rank) return variable_shape(c, status);
  ShapeHandle unknown;
  TRY(shape_ok(shape_unknown(c), &unknown, status));
  shape_set_output(c, 0, unknown);
  return true;
}

#define VARIABLE_ATTRS \
  { "shape: shape", "dtype: type", "container: string = ''", "shared_name: string = ''" }

const OpRegistration kOpVariableV2 = {
    .name = "VariableV2",
    .outputs = {"ref: Ref(dtype)"},
    .attrs = VARIABLE_ATTRS,
    .is_stateful = true,
    .shape = variable_shape,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(VariableState),
    .construct = variable_construct,
    .destroy = variable_destroy,
    .kernels = {{DT_INVALID, variable}},
};

const OpRegistration kOpVariable = {
    .name = "Variable",
    .outputs = {"ref: Ref(dtype)"},
    .attrs = VARIABLE_ATTRS,
    .is_stateful = true,
    .shape = variable_v1_shape,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(VariableState),
    .construct = variable_construct,
    .destroy = variable_destroy,
    .kernels = {{DT_INVALID, variable}},
};

/* --- queries --- */

static bool ref_identity(KernelContext *context, Status *status) {
  return kernel_set_output(context, 0, context->inputs[0], NULL, status);
}

const OpRegistration kOpRefIdentity = {
    .name = "RefIdentity",
    .inputs = {"input: Ref(T)"},
    .outputs = {"output: Ref(T)"},
    .attrs = {"T: type"},
    .allows_uninitialized_input = true,
    .shape = shape_unchanged,
    .gradient =
        "RefIdentityGradient[T:type](input:T, dy:T) -> (dinput:T) {\n"
        "  d = Identity[T=$T](dy)\n"
        "  return dinput = d:output:0\n"
        "}\n",
    .kernels = {{DT_INVALID, ref_identity}},
};

const OpRegistration kOpIsVariableInitialized = {
    .name = "IsVariableInitialized",
    .inputs = {"ref: Ref(dtype)"},
    .outputs = {"is_initialized: bool"},
    .attrs = {"dtype: type"},
    .allows_uninitialized_input = true,
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

static bool assign(KernelContext *context, Status *status) {
  const AssignState *state = context->state;
  const Tensor *value = context->inputs[1];
  Variable *to;
  TRY(tensor_variable(context->inputs[0], &to, status));
  const Shape *shape = tensor_is_empty(&to->value) ? &to->declared : &to->value.shape;
  if (state->validate_shape && !shape_equal(shape, &value->shape)) {
    char a[SHAPE_TEXT_CAPACITY], b[SHAPE_TEXT_CAPACITY];
    return status_invalid(status,
                          "Assign requires shapes of both tensors to match. lhs shape= %s rhs shape= %s",
                          shape_text(shape, a), shape_text(&value->shape, b));
  }
  TRY(reference_assign(to, value, kernel_owns_input(context, 1), kernel_step_id(context), context->pool,
                       status));
  return kernel_set_output(context, 0, context->inputs[0], NULL, status);
}

static bool assign_shape(InferenceContext *c, Status *status) {
  bool validate;
  ShapeHandle shape = shape_input(c, 1);
  TRY(node_attr_bool(c->node, "validate_shape", &validate, status));
  if (validate) TRY(shape_merge(c, shape_input(c, 0), shape_input(c, 1), &shape, status));
  shape_set_output(c, 0, shape);
  return true;
}

const OpRegistration kOpAssign = {
    .name = "Assign",
    .inputs = {"ref: Ref(T)", "value: T"},
    .outputs = {"output_ref: Ref(T)"},
    .attrs = {"T: type", "validate_shape: bool = true", "use_locking: bool = true"},
    .allows_uninitialized_input = true,
    .shape = assign_shape,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(AssignState),
    .construct = assign_construct,
    .kernels = {{DT_INVALID, assign}},
};

/* --- variables of one step --- */

typedef struct TemporaryState {
  Str name;
  DataType dtype;
  const TensorShapeProto *shape;
} TemporaryState;

static bool temporary_construct(const KernelConstruction *construction, void *memory, Status *status) {
  TemporaryState *state = memory;
  TRY(node_attr_string(construction->node, "var_name", &state->name, status));
  if (state->name.length == 0) state->name = str_of(construction->node->name);
  TRY(node_attr_shape(construction->node, "shape", &state->shape, status));
  return node_attr_type(construction->node, "dtype", &state->dtype, status);
}

/* As in TensorFlow its memory is allocated at once; here the elements are zeros. */
static bool temporary_variable(KernelContext *context, Status *status) {
  const TemporaryState *state = context->state;
  if (!context->resources) return status_set(status, CODE_INTERNAL, "No resource manager.");
  Variable *made = variable_new(state->dtype);
  if (!made) return status_oom(status, "a variable");
  bool ok = shape_from_proto(state->shape, &made->declared, status) &&
            tensor_allocate(&made->value, state->dtype, &made->declared, context->pool, status);
  if (ok && dtype_is_pod((int)state->dtype) && tensor_bytes(&made->value) > 0)
    memset(made->value.data, 0, (size_t)tensor_bytes(&made->value));
  ok = ok &&
       resource_manager_add_temporary(context->resources, kernel_step_id(context), state->name, made,
                                      status) &&
       resource_handle_tensor(str_of(""), state->name, &made->resource, &context->outputs[0], status);
  tensor_object_unref(&made->resource.object);
  return ok;
}

const OpRegistration kOpTemporaryVariable = {
    .name = "TemporaryVariable",
    .outputs = {"ref: Ref(dtype)"},
    .attrs = {"shape: shape", "dtype: type", "var_name: string = ''"},
    .is_stateful = true,
    .shape = variable_shape,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(TemporaryState),
    .construct = temporary_construct,
    .kernels = {{DT_INVALID, temporary_variable}},
};

typedef struct DestroyState {
  Str name;
} DestroyState;

static bool destroy_construct(const KernelConstruction *construction, void *memory, Status *status) {
  Str *name = &((DestroyState *)memory)->name;
  TRY(node_attr_string(construction->node, "var_name", name, status));
  return name->length > 0 || status_invalid(status, "Missing var_name attribute");
}

/* Returns the final value and removes the step's variable; its memory is freed with the last reference. */
static bool destroy_temporary_variable(KernelContext *context, Status *status) {
  const DestroyState *state = context->state;
  if (!context->resources) return status_set(status, CODE_INTERNAL, "No resource manager.");
  TRY(reference_read(context->inputs[0], variable_name(context, 0), kernel_step_id(context),
                     &context->outputs[0], status));
  return resource_manager_remove_temporary(context->resources, kernel_step_id(context), state->name, status);
}

const OpRegistration kOpDestroyTemporaryVariable = {
    .name = "DestroyTemporaryVariable",
    .inputs = {"ref: Ref(T)"},
    .outputs = {"value: T"},
    .attrs = {"T: type", "var_name: string"},
    .shape = shape_unchanged,
    .gradient = NO_GRADIENT,
    .state_size = sizeof(DestroyState),
    .construct = destroy_construct,
    .kernels = {{DT_INVALID, destroy_temporary_variable}},
};
