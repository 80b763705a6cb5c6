/* Sums and differences of variables and values: += and -=, by reference and by resource. */
#include "ops/support/element_types.h"
#include "ops/support/elementwise.h"
#include "ops/support/variable_access.h"

/* The data of the kernels is a PairLoop. */
static bool change(KernelContext *context, Variable *variable, Status *status) {
  const Tensor *value = context->inputs[1];
  TRY(variable_prepare_update(variable, variable_name(context, 0), kernel_step_id(context), context->pool,
                              status));
  void *elements = variable->value.data;
  ((PairLoop *)context->data)(tensor_num_elements(value), elements, value->data, elements);
  return variable_changed(context, status);
}

static bool change_reference(KernelContext *context, Status *status) {
  Variable *variable;
  TRY(reference_variable(context->inputs[0], variable_name(context, 0), &variable, status));
  if (!shape_equal(&variable->value.shape, &context->inputs[1]->shape))
    return status_invalid(status, "Parameters and update must be the same size");
  return change(context, variable, status);
}

static bool change_resource(KernelContext *context, Status *status) {
  const Tensor *value = context->inputs[1];
  Variable *variable;
  TRY(initialized_variable(context, 0, value->dtype, &variable, status));
  if (!shape_equal(&variable->value.shape, &value->shape)) {
    char have[SHAPE_TEXT_CAPACITY], got[SHAPE_TEXT_CAPACITY];
    return status_invalid(status,
                          "Cannot update variable with shape %s using a Tensor with shape %s, shapes must be "
                          "equal.",
                          shape_text(&variable->value.shape, have), shape_text(&value->shape, got));
  }
  return change(context, variable, status);
}

#define TEMPLATE "ops/state/assign_add.inc"
#define TYPES (TYPES_FLOAT | TYPES_HALF | TYPES_INT | TYPES_SMALL | TYPES_UNSIGNED | TYPES_COMPLEX)
#include "simd/each_type.inc"

const OpRegistration kOpAssignAdd = {
    .name = "AssignAdd",
    .inputs = {"ref: Ref(T)", "value: T"},
    .outputs = {"output_ref: Ref(T)"},
    .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false"},
    .shape = shape_merged_inputs,
    .gradient = NO_GRADIENT,
    .kernels = {TYPED_NUMBER_KERNELS(change_reference, assign_add)},
};

const OpRegistration kOpAssignSub = {
    .name = "AssignSub",
    .inputs = {"ref: Ref(T)", "value: T"},
    .outputs = {"output_ref: Ref(T)"},
    .attrs = {"T: {" NUMBER_TYPES "}", "use_locking: bool = false"},
    .shape = shape_merged_inputs,
    .gradient = NO_GRADIENT,
    .kernels = {TYPED_NUMBER_KERNELS(change_reference, assign_sub)},
};

const OpRegistration kOpAssignAddVariableOp = {
    .name = "AssignAddVariableOp",
    .inputs = {"resource: resource", "value: dtype"},
    .attrs = {"dtype: type"},
    .is_stateful = true,
    .shape = shape_assign_variable,
    .gradient = NO_GRADIENT,
    .kernels = {TYPED_NUMBER_KERNELS(change_resource, assign_add)},
};

const OpRegistration kOpAssignSubVariableOp = {
    .name = "AssignSubVariableOp",
    .inputs = {"resource: resource", "value: dtype"},
    .attrs = {"dtype: type"},
    .is_stateful = true,
    .shape = shape_assign_variable,
    .gradient = NO_GRADIENT,
    .kernels = {TYPED_NUMBER_KERNELS(change_resource, assign_sub)},
};
