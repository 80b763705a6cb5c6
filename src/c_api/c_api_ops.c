/* Ops described at run time: their builder and registration. */
#include <string.h>

#include "base/alloc.h"
#include "c_api/shape_handles.h"
#include "function/text/function_text.h"
#include "op/engine_parts.h"
#include "op/op_def_builder.h"

struct TF_OpDefinitionBuilder {
  Arena *arena; /* holds the builder itself */
  OpDefBuilder *op;
  ForeignShapeFn shape; /* may be NULL */
  const char *gradient; /* NULL, NO_GRADIENT or a text */
  bool out_of_memory;
};

TF_OpDefinitionBuilder *TF_NewOpDefinitionBuilder(const char *op_name) {
  Arena *arena = arena_new();
  TF_OpDefinitionBuilder *builder = arena ? arena_calloc(arena, 1, sizeof *builder) : NULL;
  OpDefBuilder *op = builder ? op_def_builder_new(arena, op_name ? op_name : "") : NULL;
  if (!op) {
    arena_free(arena);
    return NULL;
  }
  builder->arena = arena;
  builder->op = op;
  return builder;
}

void TF_DeleteOpDefinitionBuilder(TF_OpDefinitionBuilder *builder) {
  if (builder) arena_free(builder->arena);
}

void TF_OpDefinitionBuilderAddAttr(TF_OpDefinitionBuilder *builder, const char *attr_spec) {
  op_def_builder_attr(builder->op, attr_spec);
}

void TF_OpDefinitionBuilderAddInput(TF_OpDefinitionBuilder *builder, const char *input_spec) {
  op_def_builder_input(builder->op, input_spec);
}

void TF_OpDefinitionBuilderAddOutput(TF_OpDefinitionBuilder *builder, const char *output_spec) {
  op_def_builder_output(builder->op, output_spec);
}

void TF_OpDefinitionBuilderAddControlOutput(TF_OpDefinitionBuilder *builder, const char *name) {
  op_def_builder_control_output(builder->op, name);
}

void TF_OpDefinitionBuilderSetIsCommutative(TF_OpDefinitionBuilder *builder, bool is_commutative) {
  if (is_commutative) op_def_builder_is_commutative(builder->op);
}

void TF_OpDefinitionBuilderSetIsAggregate(TF_OpDefinitionBuilder *builder, bool is_aggregate) {
  if (is_aggregate) op_def_builder_is_aggregate(builder->op);
}

void TF_OpDefinitionBuilderSetIsStateful(TF_OpDefinitionBuilder *builder, bool is_stateful) {
  if (is_stateful) op_def_builder_is_stateful(builder->op);
}

void TF_OpDefinitionBuilderSetAllowsUninitializedInput(TF_OpDefinitionBuilder *builder,
                                                       bool allows_uninitialized_input) {
  if (allows_uninitialized_input) op_def_builder_allows_uninitialized_input(builder->op);
}

void TF_OpDefinitionBuilderDeprecated(TF_OpDefinitionBuilder *builder, int version, const char *explanation) {
  op_def_builder_deprecated(builder->op, version, explanation ? explanation : "");
}

static bool infer_shapes(InferenceContext *context, Status *status) {
  const ForeignShapeFn *function = context->shape_data;
  TF_Status outcome = {.payloads = NULL};
  status_init(&outcome.status);
  (*function)((TF_ShapeInferenceContext *)context, &outcome);
  bool ok = outcome.status.code == CODE_OK;
  if (!ok) *status = outcome.status;
  start_status(&outcome);
  return ok;
}

void TF_OpDefinitionBuilderSetShapeInferenceFunction(
    TF_OpDefinitionBuilder *builder,
    void (*shape_inference_func)(TF_ShapeInferenceContext *ctx, TF_Status *status)) {
  op_def_builder_shape(builder->op, infer_shapes);
  builder->shape = shape_inference_func;
}

void TF_OpDefinitionBuilderDoc(TF_OpDefinitionBuilder *builder, const char *text) {
  op_def_builder_doc(builder->op, text);
}

void TF_OpDefinitionBuilderSetGradient(TF_OpDefinitionBuilder *builder, const char *gradient) {
  if (!gradient) {
    builder->gradient = NULL;
  } else if (strcmp(gradient, "none") == 0) {
    builder->gradient = NO_GRADIENT;
  } else {
    builder->gradient = arena_strdup(builder->arena, gradient);
    builder->out_of_memory |= !builder->gradient;
  }
}

/* ---- registration ---- */

static bool make_registration(void *arg, Arena *arena, OpRegistrationData *data, Status *status) {
  TF_OpDefinitionBuilder *builder = arg;
  OpDef *op_def;
  TRY(op_def_builder_finalize(builder->op, &op_def, NULL, status));
  data->op_def = proto_copy(op_def, arena);
  ForeignShapeFn *function = arena_alloc(arena, sizeof *function);
  if (!data->op_def || !function) return status_oom(status, "an op");
  *function = builder->shape;
  data->shape = builder->shape ? infer_shapes : NULL;
  data->shape_data = function;
  data->gradient = builder->gradient;
  return true;
}

static void free_builder(void *builder) { TF_DeleteOpDefinitionBuilder(builder); }

/* Parses it now, rather than when a gradient is first requested. */
static bool check_gradient(const TF_OpDefinitionBuilder *builder, Status *status) {
  if (!builder->gradient || builder->gradient == NO_GRADIENT) return true;
  FunctionDef *function;
  TRY(engine_part_need(PART_TRAINING, status));
  return function_parse(str_of(builder->gradient), builder->arena, &function, status) ||
         status_append(status, "\n\tin the gradient of an op that is being registered");
}

void TF_RegisterOpDefinition(TF_OpDefinitionBuilder *builder, TF_Status *status) {
  start_status(status);
  bool ok = !builder->out_of_memory || status_oom(&status->status, "an op");
  /* Registers the library's own ops first, so that their names are in use. */
  if (!ok || !register_ops(&status->status) || !check_gradient(builder, &status->status)) {
    TF_DeleteOpDefinitionBuilder(builder);
    return;
  }
  op_registry_end_deferral(op_registry_global());
  reported(
      op_registry_register(op_registry_global(), make_registration, builder, free_builder, &status->status));
}
