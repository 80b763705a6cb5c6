#include "wasm/wasm_exports.h"

#include <string.h>

#include "base/alloc.h"
#include "c_api/c_api_internal.h"
#include "device/device_scope.h"
#include "function/text/function_text.h"
#include "op/engine_parts.h"
#include "op/node_def.h"
#include "proto/saved_model_protos.h"
#include "runtime/thread_pool.h"

double TF_WasmLiveBytes(void) { return (double)mem_live_bytes(); }

double TF_WasmPeakBytes(void) { return (double)mem_peak_bytes(); }

void TF_WasmResetPeakBytes(void) { mem_reset_peak(); }

int TF_WasmLiveTensors(void) { return buffer_live_count(); }

double TF_WasmAllocationCount(void) { return (double)mem_allocation_count(); }

void TF_WasmSetThreads(int threads) { thread_pool_set_size(threads); }

int TF_WasmThreads(void) { return parallel_threads(thread_pool_default()); }

void TF_WasmFindOpDef(const char *name, TF_Buffer *op_def, TF_Status *status) {
  start_status(status);
  if (!register_ops(&status->status)) return;
  const Op *op;
  if (op_registry_look_up(op_registry_global(), name, &op, &status->status)) {
    reported(fill_buffer_with_message(op->def, op_def, &status->status));
  } else if (status->status.code == CODE_NOT_FOUND) {
    status_init(&status->status);
  }
}

void TF_WasmOpNames(TF_Buffer *names, TF_Status *status) {
  start_status(status);
  OpRegistry *registry = op_registry_global();
  if (!register_ops(&status->status)) return;
  StrBuf text = {0};
  for (int i = 0, count = op_registry_count(registry); i < count; i++) {
    if (i > 0) strbuf_append_char(&text, ' ');
    strbuf_append(&text, op_registry_name(registry, i));
  }
  reported(fill_buffer(&text, names, &status->status));
}

int TF_WasmOpGradient(const char *name) {
  Status ignored;
  status_init(&ignored);
  if (!register_ops(&ignored)) return -1;
  const Op *op = op_registry_find(op_registry_global(), name);
  if (!op) return -1;
  if (op->registration->gradient == NO_GRADIENT) return 0;
  return op->registration->gradient || op->registration->gradient_fn ? 1 : -1;
}

TF_WasmDeviceManager *TF_WasmNewDeviceManager(const char *task, int num_cpus, TF_Status *status) {
  start_status(status);
  return (TF_WasmDeviceManager *)device_manager_new(task, num_cpus, &status->status);
}

TF_WasmDeviceManager *TF_WasmIsolatedDevices(const TF_WasmDeviceManager *manager, TF_Status *status) {
  start_status(status);
  return (TF_WasmDeviceManager *)device_manager_isolated((const DeviceManager *)manager, &status->status);
}

TF_DeviceList *TF_WasmManagedDevices(const TF_WasmDeviceManager *manager) {
  return (TF_DeviceList *)device_set_ref(device_manager_devices((const DeviceManager *)manager));
}

void TF_WasmDeleteDeviceManager(TF_WasmDeviceManager *manager) {
  device_manager_unref((DeviceManager *)manager);
}

void TF_WasmClearContainer(TF_WasmDeviceManager *manager, const char *container) {
  device_manager_clear((DeviceManager *)manager, container);
}

TF_Session *TF_WasmNewSession(TF_Graph *graph, const TF_SessionOptions *options,
                              TF_WasmDeviceManager *manager, TF_Status *status) {
  TF_Session *session = new_session(graph, options, (DeviceManager *)manager, status);
  if (session) session_require_shapes(session->session, true);
  return session;
}

const char *TF_WasmUniqueName(TF_Graph *graph, const char *base) {
  return graph_unique_name(graph->graph, base);
}

TF_Operation *TF_WasmExtendedOperation(TF_Graph *graph, int index) {
  return node_operation(graph_extended_node(graph->graph, index));
}

void TF_WasmExtendOperation(TF_Graph *graph, TF_Operation *operation, const void *node_def, size_t length,
                            TF_Status *status) {
  start_status(status);
  Arena *arena = arena_new();
  void *def;
  if (arena ? proto_parse(kNodeDef, node_def, length, arena, &def, &status->status)
            : status_oom(&status->status, "an operation"))
    reported(graph_follow_extension(graph->graph, operation_node(operation), def, &status->status));
  arena_free(arena);
}

static bool set_attrs(TF_OperationDescription *desc, const TF_WasmAttr *attrs, int count, TF_Status *status) {
  for (int i = 0; i < count; i++) {
    TF_SetAttrValueProto(desc, attrs[i].name, attrs[i].proto, attrs[i].length, status);
    if (TF_GetCode(status) != TF_OK) return false;
  }
  return true;
}

TF_Operation *TF_WasmAddOperation(TF_Graph *graph, const TF_WasmOperation *operation, TF_Status *status) {
  const Op *op;
  start_status(status);
  const char *name = operation->make_unique ? TF_WasmUniqueName(graph, operation->name) : operation->name;
  if (!graph_look_up_op(graph->graph, operation->type, &op, &status->status)) return NULL;
  if (name && !node_name_is_valid_internal(name)) {
    status_invalid(&status->status, "Node '%s': Node name contains invalid characters", name);
    return NULL;
  }
  TF_OperationDescription *desc = name ? TF_NewOperation(graph, operation->type, name) : NULL;
  if (!desc) {
    status_oom(&status->status, "an operation");
    return NULL;
  }
  const TF_Output *inputs = operation->inputs;
  for (int i = 0; i < operation->num_args; i++) {
    int length = operation->arg_lengths[i];
    if (length < 0) {
      TF_AddInput(desc, *inputs++);
    } else {
      TF_AddInputList(desc, inputs, length);
      inputs += length;
    }
  }
  for (int i = 0; i < operation->num_controls; i++) TF_AddControlInput(desc, operation->controls[i]);
  if (operation->device) TF_SetDevice(desc, operation->device);
  if (!set_attrs(desc, operation->attrs, operation->num_attrs, status)) {
    free_description(desc);
    return NULL;
  }
  return TF_FinishOperation(desc, status);
}

void TF_WasmMergeDevices(const char *outer, const char *inner, TF_Buffer *merged, TF_Status *status) {
  StrBuf device = {0};
  start_status(status);
  strbuf_append(&device, ""); /* the merged device may be none */
  if (device_scope_merge(str_of(outer), str_of(inner), &device, &status->status)) {
    reported(fill_buffer(&device, merged, &status->status));
  } else {
    strbuf_free(&device);
  }
}

void TF_WasmOperationSummary(TF_Operation *operation, TF_Buffer *text, TF_Status *status) {
  StrBuf summary = {0};
  start_status(status);
  node_def_summarize(operation_node(operation)->def, &summary);
  reported(fill_buffer(&summary, text, &status->status));
}

void TF_WasmSetStrings(TF_Tensor *tensor, const char *bytes, const size_t *ends, TF_Status *status) {
  start_status(status);
  TString *strings = tensor_strings(&tensor->tensor);
  int64_t count = tensor_num_elements(&tensor->tensor);
  size_t begin = 0;
  for (int64_t i = 0; i < count; i++) {
    if (!tstring_set(&strings[i], bytes + begin, ends[i] - begin, &status->status)) return;
    begin = ends[i];
  }
}

static bool graph_to_text(TF_Graph *graph, Arena *arena, TF_Buffer *text, Status *status) {
  GraphDef *def;
  StrBuf printed = {0};
  if (!arena) return status_oom(status, "a GraphDef");
  TRY(graph_to_def(graph->graph, arena, &def, status));
  proto_print_text(def, PROTO_TEXT_MULTI_LINE, &printed);
  return fill_buffer(&printed, text, status);
}

void TF_WasmGraphToText(TF_Graph *graph, TF_Buffer *text, TF_Status *status) {
  start_status(status);
  Arena *arena = arena_new();
  reported(graph_to_text(graph, arena, text, &status->status));
  arena_free(arena);
}

static const ProtoDescriptor *type_of_text(const char *type) {
  if (strcmp(type, "GraphDef") == 0) return kGraphDef;
  if (strcmp(type, "MetaGraphDef") == 0) return kMetaGraphDef;
  return strcmp(type, "SavedModel") == 0 ? kSavedModel : NULL;
}

static bool message_from_text(const char *type, Str text, Arena *arena, TF_Buffer *bytes, Status *status) {
  void *message;
  const ProtoDescriptor *descriptor = type_of_text(type);
  if (!arena) return status_oom(status, "a message");
  if (!descriptor) return status_invalid(status, "there is no message type '%s'", type);
  return proto_parse_text(descriptor, text, arena, &message, status) &&
         fill_buffer_with_message(message, bytes, status);
}

void TF_WasmMessageFromText(const char *type, const char *text, size_t length, TF_Buffer *message,
                            TF_Status *status) {
  start_status(status);
  Arena *arena = arena_new();
  reported(message_from_text(type, (Str){text, length}, arena, message, &status->status));
  arena_free(arena);
}

static bool function_to_text(const void *proto, size_t length, bool full, Arena *arena, TF_Buffer *text,
                             Status *status) {
  void *def;
  StrBuf printed = {0};
  if (!arena) return status_oom(status, "a FunctionDef");
  TRY(engine_part_need(PART_TRAINING, status));
  TRY(proto_parse(kFunctionDef, proto, length, arena, &def, status));
  if (!full) {
    function_print(def, &printed);
  } else if (!function_print_full(def, &printed, status)) {
    strbuf_free(&printed);
    return false;
  }
  return fill_buffer(&printed, text, status);
}

void TF_WasmFunctionToText(const void *proto, size_t length, int full, TF_Buffer *text, TF_Status *status) {
  start_status(status);
  Arena *arena = arena_new();
  reported(function_to_text(proto, length, full != 0, arena, text, &status->status));
  arena_free(arena);
}

static bool function_from_text(Str text, Arena *arena, TF_Buffer *proto, Status *status) {
  FunctionDef *def;
  if (!arena) return status_oom(status, "a FunctionDef");
  return engine_part_need(PART_TRAINING, status) && function_parse(text, arena, &def, status) &&
         fill_buffer_with_message(def, proto, status);
}

void TF_WasmFunctionFromText(const char *text, size_t length, TF_Buffer *proto, TF_Status *status) {
  start_status(status);
  Arena *arena = arena_new();
  reported(function_from_text((Str){text, length}, arena, proto, &status->status));
  arena_free(arena);
}

void TF_WasmAddGradients(TF_Graph *graph, const char *prefix, const TF_Output *y, int ny, const TF_Output *x,
                         int nx, const TF_Output *dx, const TF_Output *stops, int num_stops, TF_Output *dy,
                         TF_Status *status) {
  add_gradients_to(graph, prefix, y, ny, x, nx, dx, &(GradientStops){stops, num_stops}, dy, status);
}
