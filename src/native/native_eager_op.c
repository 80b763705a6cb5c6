/* Eager ops: inputs, queries, execution. */
#include <string.h>

#include "base/alloc.h"
#include "native/native_eager.h"
#include "op/node_def.h"
#include "tensorflow/c/eager/c_api_experimental.h"

TFE_Op *TFE_NewOp(TFE_Context *ctx, const char *op_or_function_name, TF_Status *status) {
  const Op *found;
  start_status(status);
  if (!eager_look_up(ctx->eager, op_or_function_name, &found, &status->status)) return NULL;
  TFE_Op *op = mem_calloc(1, sizeof *op);
  if (op) op->arena = arena_new();
  if (op && op->arena) op->def = node_def_new(op->arena, op_or_function_name, op_or_function_name);
  if (op && op->def) {
    op->context = ctx;
    op->op = found;
    return op;
  }
  TFE_DeleteOp(op);
  status_oom(&status->status, "an op");
  return NULL;
}

static void drop_inputs(TFE_Op *op) {
  for (int i = 0; i < op->num_inputs; i++) TFE_DeleteTensorHandle(op->inputs[i]);
  op->num_inputs = 0;
}

void TFE_DeleteOp(TFE_Op *op) {
  if (!op) return;
  drop_inputs(op);
  mem_free(op->inputs);
  mem_free(op->list_lengths);
  arena_free(op->arena);
  mem_free(op);
}

const char *TFE_OpGetName(const TFE_Op *op, TF_Status *status) {
  start_status(status);
  return op->def->op;
}

TFE_Context *TFE_OpGetContext(const TFE_Op *op, TF_Status *status) {
  start_status(status);
  return op->context;
}

void TFE_OpSetDevice(TFE_Op *op, const char *device_name, TF_Status *status) {
  DeviceName name;
  start_status(status);
  if (!device_name_parse_any(str_of(device_name), &name)) {
    status_invalid(&status->status, "Malformed device specification '%s' in eager op: Name: %s", device_name,
                   op->def->op);
    return;
  }
  char *device = arena_strdup(op->arena, device_name);
  if (device) op->def->device = device;
  else status_oom(&status->status, "a device");
}

const char *TFE_OpGetDevice(const TFE_Op *op, TF_Status *status) {
  start_status(status);
  return op->def->device;
}

void TFE_OpReset(TFE_Op *op_to_reset, const char *op_or_function_name, const char *raw_device_name,
                 TF_Status *status) {
  const Op *found;
  start_status(status);
  if (!eager_look_up(op_to_reset->context->eager, op_or_function_name, &found, &status->status)) return;
  Arena *arena = arena_new();
  NodeDef *def = arena ? node_def_new(arena, op_or_function_name, op_or_function_name) : NULL;
  if (!def) {
    arena_free(arena);
    status_oom(&status->status, "an op");
    return;
  }
  drop_inputs(op_to_reset);
  arena_free(op_to_reset->arena);
  op_to_reset->arena = arena;
  op_to_reset->def = def;
  op_to_reset->op = found;
  op_to_reset->failed = false;
  if (raw_device_name && raw_device_name[0]) TFE_OpSetDevice(op_to_reset, raw_device_name, status);
}

/* ---- inputs ---- */

static bool add_input(TFE_Op *op, TFE_TensorHandle *input, int list_length, TF_Status *status) {
  int count = op->num_inputs + 1;
  if (!mem_grow((void **)&op->inputs, &op->input_capacity, count, sizeof *op->inputs) ||
      !mem_grow((void **)&op->list_lengths, &op->length_capacity, count, sizeof *op->list_lengths))
    return status_oom(&status->status, "inputs");
  op->inputs[op->num_inputs] = TFE_TensorHandleCopySharingTensor(input, status);
  if (!op->inputs[op->num_inputs]) return false;
  op->list_lengths[op->num_inputs++] = list_length;
  return true;
}

void TFE_OpAddInput(TFE_Op *op, TFE_TensorHandle *input, TF_Status *status) {
  start_status(status);
  reported(add_input(op, input, 0, status));
}

void TFE_OpAddInputList(TFE_Op *op, TFE_TensorHandle **inputs, int num_inputs, TF_Status *status) {
  start_status(status);
  for (int i = 0; i < num_inputs; i++) {
    if (!add_input(op, inputs[i], i == 0 ? num_inputs : 0, status)) return;
  }
}

int TFE_OpGetFlatInputCount(const TFE_Op *op, TF_Status *status) {
  start_status(status);
  return op->num_inputs;
}

TFE_TensorHandle *TFE_OpGetFlatInput(const TFE_Op *op, int index, TF_Status *status) {
  start_status(status);
  if (index >= 0 && index < op->num_inputs) return op->inputs[index];
  status_invalid(&status->status, "%s has no input %d", op->def->op, index);
  return NULL;
}

/* ---- queries ---- */

static TF_AttrType attr_type(const OpDef *op_def, const char *attr_name, unsigned char *is_list,
                             Status *status) {
  static const struct {
    const char *name;
    TF_AttrType type;
  } types[] = {{"string", TF_ATTR_STRING}, {"int", TF_ATTR_INT},   {"float", TF_ATTR_FLOAT},
               {"bool", TF_ATTR_BOOL},     {"type", TF_ATTR_TYPE}, {"shape", TF_ATTR_SHAPE},
               {"tensor", TF_ATTR_TENSOR}, {"func", TF_ATTR_FUNC}};
  *is_list = 0;
  for (size_t i = 0; i < op_def->n_attr; i++) {
    if (strcmp(op_def->attr[i]->name, attr_name) != 0) continue;
    const char *type = op_def->attr[i]->type;
    *is_list = text_starts_with(type, "list(");
    if (*is_list) type += strlen("list(");
    for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
      if (text_starts_with(type, types[k].name)) return types[k].type;
    }
  }
  status_invalid(status, "Attribute '%s' does not exist for this operation", attr_name);
  return TF_ATTR_INT;
}

TF_AttrType TFE_OpGetAttrType(TFE_Op *op, const char *attr_name, unsigned char *is_list, TF_Status *status) {
  start_status(status);
  return attr_type(op->op->def, attr_name, is_list, &status->status);
}

TF_AttrType TFE_OpNameGetAttrType(TFE_Context *ctx, const char *op_or_function_name, const char *attr_name,
                                  unsigned char *is_list, TF_Status *status) {
  const Op *op;
  start_status(status);
  *is_list = 0;
  if (!eager_look_up(ctx->eager, op_or_function_name, &op, &status->status)) return TF_ATTR_INT;
  return attr_type(op->def, attr_name, is_list, &status->status);
}

/* The call that the op makes, with its own copy of the attrs. */
static bool make_call(const TFE_Op *op, Arena *arena, EagerCall *call, Status *status) {
  if (!arena || op->failed) return status_oom(status, "an op");
  const Tensor **inputs = arena_calloc(arena, op->num_inputs, sizeof *inputs);
  NodeDef *def = proto_copy(op->def, arena);
  if (!inputs || !def) return status_oom(status, "an op");
  for (int i = 0; i < op->num_inputs; i++) inputs[i] = &op->inputs[i]->value;
  *call = (EagerCall){def, inputs, op->num_inputs, op->list_lengths};
  return true;
}

static bool arg_length(const TFE_Op *op, const char *name, bool is_output, Arena *arena, int *length,
                       Status *status) {
  const OpDef *op_def = op->op->def;
  ArgDef **args = is_output ? op_def->output_arg : op_def->input_arg;
  size_t count = is_output ? op_def->n_output_arg : op_def->n_input_arg, i = 0;
  EagerCall call;
  Status ignored;
  int *starts;
  status_init(&ignored);
  while (i < count && strcmp(args[i]->name, name) != 0) i++;
  if (i == count) return status_invalid(status, "%s '%s' not found", is_output ? "Output" : "Input", name);
  TRY(make_call(op, arena, &call, status));
  reported(eager_infer_attrs(&call, op_def, arena, &ignored)); /* inputs may still be missing */
  TRY(node_def_arg_ranges(call.def, op_def, is_output, arena, &starts, status));
  *length = starts[i + 1] - starts[i];
  return true;
}

static int length_or_error(const TFE_Op *op, const char *name, bool is_output, TF_Status *status) {
  Arena *arena = arena_new();
  int length = -1;
  start_status(status);
  reported(arg_length(op, name, is_output, arena, &length, &status->status));
  arena_free(arena);
  return length;
}

int TFE_OpGetInputLength(TFE_Op *op, const char *input_name, TF_Status *status) {
  return length_or_error(op, input_name, false, status);
}

int TFE_OpGetOutputLength(TFE_Op *op, const char *output_name, TF_Status *status) {
  return length_or_error(op, output_name, true, status);
}

/* ---- execution ---- */

static bool find_device(const TFE_Op *op, const Device **device, Status *status) {
  *device = eager_find_device(op->context->eager, op->def->device);
  const DeviceSet *devices = op->context->session->devices;
  if (!*device && atomic_load(&op->context->is_soft)) *device = &devices->devices[0];
  if (*device) return true;
  StrBuf all = {0};
  for (int i = 0; i < devices->count; i++)
    strbuf_printf(&all, "%s%s", i > 0 ? ", " : "", devices->devices[i].name);
  status_invalid(status,
                 "Could not satisfy device specification '%s'. enable_soft_placement=0. Supported device "
                 "types [CPU]. All available devices [%s].",
                 op->def->device, strbuf_text(&all));
  strbuf_free(&all);
  return false;
}

static bool give_handles(Tensor *results, int count, const char *device, TFE_TensorHandle **retvals,
                         Status *status) {
  for (int i = 0; i < count; i++) {
    retvals[i] = new_tensor_handle(&results[i], device, status);
    if (retvals[i]) continue;
    while (i-- > 0) {
      TFE_DeleteTensorHandle(retvals[i]);
      retvals[i] = NULL;
    }
    return false;
  }
  return true;
}

static bool execute(TFE_Op *op, Arena *arena, TFE_TensorHandle **retvals, int *num_retvals, Status *status) {
  EagerCall call;
  const Device *device;
  TRY(make_call(op, arena, &call, status));
  TRY(find_device(op, &device, status));
  call.def->device = (char *)device->name;
  Tensor *results = arena_calloc(arena, *num_retvals, sizeof *results);
  if (!results) return status_oom(status, "results");
  bool ok = eager_execute(op->context->eager, &call, arena, results, num_retvals, status) &&
            give_handles(results, *num_retvals, device->name, retvals, status);
  for (int i = 0; i < *num_retvals; i++) tensor_clear(&results[i]);
  return ok;
}

void TFE_Execute(TFE_Op *op, TFE_TensorHandle **retvals, int *num_retvals, TF_Status *status) {
  start_status(status);
  Arena *arena = arena_new();
  reported(execute(op, arena, retvals, num_retvals, &status->status));
  arena_free(arena);
}
