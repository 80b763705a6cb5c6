#include "ops/support/variable_access.h"

#include "op/node_def.h"

static const ResourceHandle *handle_of(const KernelContext *context, int i) {
  return ((ResourceHandle *const *)context->inputs[i]->data)[0];
}

const char *variable_name(const KernelContext *context, int i) { return handle_of(context, i)->name; }

const char *variable_container(const KernelContext *context, int i) {
  const char *container = handle_of(context, i)->container;
  return container[0] != '\0' ? container : LOCAL_CONTAINER;
}

bool variable_check_dtype(const char *action, DataType expected, DataType got, Status *status) {
  return expected == got ||
         status_invalid(status, "Trying to %s variable with wrong dtype. Expected %s got %s", action,
                        dtype_name(expected), dtype_name(got));
}

/* A variable without a value is none for TensorFlow, which also names the type as its compiler does. */
static bool refuse_missing(const KernelContext *context, int i, Status *status) {
  const char *container = variable_container(context, i), *name = variable_name(context, i);
  if (context->resources && resource_manager_has_container(context->resources, str_of(container))) {
    return status_set(status, CODE_NOT_FOUND, "Resource %s/%s/N10tensorflow3VarE does not exist.", container,
                      name);
  }
  return status_set(status, CODE_NOT_FOUND, "Container %s does not exist. (Could not find resource: %s/%s)",
                    container, container, name);
}

bool initialized_variable(const KernelContext *context, int i, DataType dtype, Variable **variable,
                          Status *status) {
  TRY(tensor_variable(context->inputs[i], variable, status));
  if (tensor_is_empty(&(*variable)->value)) return refuse_missing(context, i, status);
  return variable_check_dtype("read", dtype, (*variable)->dtype, status);
}

bool changed_variable(const KernelContext *context, int i, DataType dtype, Variable **variable,
                      Status *status) {
  if (context->num_outputs == 0) return initialized_variable(context, i, dtype, variable, status);
  return reference_variable(context->inputs[i], variable_name(context, i), variable, status);
}

bool variable_changed(KernelContext *context, Status *status) {
  return context->num_outputs == 0 || kernel_set_output(context, 0, context->inputs[0], NULL, status);
}

bool variable_is_initialized(KernelContext *context, Status *status) {
  Variable *variable;
  Tensor *out;
  TRY(tensor_variable(context->inputs[0], &variable, status));
  TRY(kernel_allocate_output_dims(context, 0, 0, NULL, &out, status));
  *tensor_bool(out) = !tensor_is_empty(&variable->value);
  return true;
}

bool variable_shape_and_type(InferenceContext *c, int i, ShapeAndType *out, Status *status) {
  const HandleData *data = c->input_handles ? c->input_handles[i] : NULL;
  if (data && data->count > 0) {
    *out = data->entries[0];
    return true;
  }
  out->dtype = DT_INVALID;
  return shape_ok(shape_unknown(c), &out->shape, status);
}

bool variable_shape_of_dtype(InferenceContext *c, ShapeHandle *shape, Status *status) {
  ShapeAndType known;
  DataType dtype;
  TRY(variable_shape_and_type(c, 0, &known, status));
  TRY(node_attr_type(c->node, "dtype", &dtype, status));
  *shape = known.shape;
  return known.dtype == DT_INVALID || variable_check_dtype("read", known.dtype, dtype, status);
}

bool shape_assign_variable(InferenceContext *c, Status *status) {
  ShapeHandle shape, merged;
  TRY(variable_shape_of_dtype(c, &shape, status));
  return shape_merge(c, shape, shape_input(c, 1), &merged, status);
}
