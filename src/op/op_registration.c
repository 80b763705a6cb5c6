#include "op/op_registration.h"

#include <string.h>

#include "op/op_def_builder.h"

/* Lists in a registration have a fixed size and lists in a spec end with NULL, so a full list must be
 * copied. */
typedef struct SpecLists {
  const char *inputs[OP_MAX_ARGS + 1], *outputs[OP_MAX_ARGS + 1], *attrs[OP_MAX_ATTRS + 1];
} SpecLists;

bool op_registration_parse(const OpRegistration *registration, Arena *arena, OpDef **op_def, Status *status) {
  SpecLists lists = {0};
  memcpy(lists.inputs, registration->inputs, sizeof registration->inputs);
  memcpy(lists.outputs, registration->outputs, sizeof registration->outputs);
  memcpy(lists.attrs, registration->attrs, sizeof registration->attrs);
  OpDefSpec spec = {
      .name = registration->name,
      .inputs = lists.inputs,
      .outputs = lists.outputs,
      .attrs = lists.attrs,
      .is_stateful = registration->is_stateful,
      .is_commutative = registration->is_commutative,
      .is_aggregate = registration->is_aggregate,
      .allows_uninitialized_input = registration->allows_uninitialized_input,
      .is_distributed_communication = registration->is_distributed_communication,
      .deprecated_version = registration->deprecated_version,
      .deprecation_explanation = registration->deprecation_explanation,
  };
  TRY(op_def_build(&spec, arena, op_def, status));
  return op_def_validate(*op_def, status);
}

OpRegistration *op_registration_describe(const OpRegistrationData *data, Arena *arena, Status *status) {
  const OpDef *op_def = data->op_def;
  const char *gradient = data->gradient;
  if (gradient && gradient != NO_GRADIENT) gradient = arena_strdup(arena, gradient);
  OpRegistration *registration = arena_calloc(arena, 1, sizeof *registration);
  if (!registration || (data->gradient && !gradient)) {
    status_oom(status, "the op registry");
    return NULL;
  }
  registration->name = op_def->name;
  registration->is_stateful = op_def->is_stateful;
  registration->is_commutative = op_def->is_commutative;
  registration->is_aggregate = op_def->is_aggregate;
  registration->allows_uninitialized_input = op_def->allows_uninitialized_input;
  registration->is_distributed_communication = op_def->is_distributed_communication;
  if (op_def->deprecation) {
    registration->deprecated_version = op_def->deprecation->version;
    registration->deprecation_explanation = op_def->deprecation->explanation;
  }
  registration->shape = data->shape;
  registration->shape_data = data->shape_data;
  registration->gradient = gradient;
  return registration;
}
