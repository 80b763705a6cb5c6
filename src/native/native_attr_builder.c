/* TF_AttrBuilder: whether an op with given types has a kernel; and lists among the inputs of ops. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "c_api/c_api_internal.h"
#include "op/kernel_registry.h"
#include "op/node_def.h"
#include "tensorflow/c/c_api_experimental.h"

struct TF_AttrBuilder {
  Arena *arena;
  NodeDef *def;
  bool failed; /* out of memory while attrs were set; TF_AttrBuilderCheckCanRunOnDevice reports it */
};

TF_AttrBuilder *TF_NewAttrBuilder(const char *op_name) {
  TF_AttrBuilder *builder = mem_calloc(1, sizeof *builder);
  if (!builder) return NULL;
  builder->arena = arena_new();
  builder->def = builder->arena ? node_def_new(builder->arena, op_name, op_name) : NULL;
  if (builder->def) return builder;
  TF_DeleteAttrBuilder(builder);
  return NULL;
}

void TF_DeleteAttrBuilder(TF_AttrBuilder *builder) {
  if (!builder) return;
  arena_free(builder->arena);
  mem_free(builder);
}

/* `value` is NULL when memory ran out. */
static void set_attr(TF_AttrBuilder *builder, const char *name, AttrValue *value) {
  Status ignored;
  status_init(&ignored);
  if (!value || !node_def_set_attr(builder->def, builder->arena, name, value, &ignored))
    builder->failed = true;
}

void TF_AttrBuilderSetType(TF_AttrBuilder *builder, const char *attr_name, TF_DataType value) {
  set_attr(builder, attr_name, attr_value_type(builder->arena, (int)value));
}

void TF_AttrBuilderSetTypeList(TF_AttrBuilder *builder, const char *attr_name, const TF_DataType *values,
                               int num_values) {
  set_attr(builder, attr_name, attr_of_types(builder->arena, values, num_values));
}

static int compare_keys(const void *a, const void *b) {
  return strcmp((*(AttrEntry *const *)a)->key, (*(AttrEntry *const *)b)->key);
}

static bool check(const TF_AttrBuilder *builder, const char *device_type, Arena *arena, Status *status) {
  const Op *op;
  Status unknown;
  status_init(&unknown);
  NodeDef *def = arena && !builder->failed ? proto_copy(builder->def, arena) : NULL;
  if (!def) return status_oom(status, "an op");
  TRY(register_ops(status));
  OpRegistry *ops = op_registry_global();
  if (op_registry_look_up(ops, def->op, &op, &unknown))
    TRY(node_def_add_defaults(def, op->def, arena, status));
  if (def->n_attr > 0)
    qsort(def->attr, def->n_attr, sizeof *def->attr, compare_keys); /* as messages say them */
  return kernel_registry_check(ops, def, device_type, arena, status);
}

void TF_AttrBuilderCheckCanRunOnDevice(TF_AttrBuilder *builder, const char *device_type, TF_Status *status) {
  start_status(status);
  Arena *arena = arena_new();
  reported(check(builder, device_type, arena, &status->status));
  arena_free(arena);
}

const char *TF_GetNumberAttrForOpListInput(const char *op_name, int input_index, TF_Status *status) {
  const Op *op;
  start_status(status);
  if (!register_ops(&status->status) ||
      !op_registry_look_up(op_registry_global(), op_name, &op, &status->status))
    return NULL;
  if (input_index < 0 || (size_t)input_index >= op->def->n_input_arg) {
    status_invalid(&status->status, "%d out of range for %s", input_index, op_name);
    return NULL;
  }
  const char *attr = op->def->input_arg[input_index]->number_attr;
  if (attr[0]) return attr;
  status_set(&status->status, CODE_NOT_FOUND, "%s does not have number_attr() defined.", op_name);
  return NULL;
}
