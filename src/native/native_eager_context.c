/* Contexts of eager execution. */
#include <string.h>

#include "base/alloc.h"
#include "native/native_eager.h"
#include "tensorflow/c/eager/c_api_experimental.h"

struct TFE_ContextOptions {
  TF_SessionOptions *session;
  TFE_ContextDevicePlacementPolicy policy;
  bool is_async;
};

TFE_ContextOptions *TFE_NewContextOptions(void) {
  TFE_ContextOptions *options = mem_calloc(1, sizeof *options);
  if (!options) return NULL;
  options->policy = TFE_DEVICE_PLACEMENT_SILENT;
  options->session = TF_NewSessionOptions();
  if (options->session) return options;
  mem_free(options);
  return NULL;
}

void TFE_ContextOptionsSetConfig(TFE_ContextOptions *options, const void *proto, size_t proto_len,
                                 TF_Status *status) {
  TF_SetConfig(options->session, proto, proto_len, status);
}

void TFE_ContextOptionsSetAsync(TFE_ContextOptions *options, unsigned char enable) {
  options->is_async = enable != 0;
}

void TFE_ContextOptionsSetTfrt(TFE_ContextOptions *options, bool use_tfrt) {
  (void)options;
  (void)use_tfrt;
}

void TFE_ContextOptionsSetDevicePlacementPolicy(TFE_ContextOptions *options,
                                                TFE_ContextDevicePlacementPolicy policy) {
  options->policy = policy;
}

void TFE_DeleteContextOptions(TFE_ContextOptions *options) {
  if (!options) return;
  TF_DeleteSessionOptions(options->session);
  mem_free(options);
}

TFE_Context *TFE_NewContext(const TFE_ContextOptions *opts, TF_Status *status) {
  start_status(status);
  TFE_Context *context = mem_calloc(1, sizeof *context);
  if (context) context->graph = TF_NewGraph();
  if (!context || !context->graph) {
    mem_free(context);
    status_oom(&status->status, "a context");
    return NULL;
  }
  context->policy = opts ? opts->policy : TFE_DEVICE_PLACEMENT_SILENT;
  atomic_init(&context->is_soft, false);
  atomic_init(&context->is_async, opts && opts->is_async);
  context->session = TF_NewSession(context->graph, opts ? opts->session : NULL, status);
  if (context->session) {
    context->eager = eager_context_new(context->graph->graph, context->session->session,
                                       context->session->devices, &status->status);
  }
  if (context->eager) return context;
  TFE_DeleteContext(context);
  return NULL;
}

void TFE_DeleteContext(TFE_Context *ctx) {
  if (!ctx) return;
  eager_context_free(ctx->eager);
  TF_Status *status = ctx->session ? TF_NewStatus() : NULL;
  if (status) TF_DeleteSession(ctx->session, status);
  TF_DeleteStatus(status);
  TF_DeleteGraph(ctx->graph);
  mem_free(ctx);
}

TF_DeviceList *TFE_ContextListDevices(TFE_Context *ctx, TF_Status *status) {
  return TF_SessionListDevices(ctx->session, status);
}

void TFE_ContextClearCaches(TFE_Context *ctx) { eager_context_clear(ctx->eager); }

void TFE_ContextSetThreadLocalDevicePlacementPolicy(TFE_Context *ctx,
                                                    TFE_ContextDevicePlacementPolicy policy) {
  ctx->policy = policy;
}

TFE_ContextDevicePlacementPolicy TFE_ContextGetDevicePlacementPolicy(TFE_Context *ctx) { return ctx->policy; }

void TFE_ContextSetSoftDevicePlacement(TFE_Context *ctx, unsigned char enable, TF_Status *status) {
  start_status(status);
  atomic_store(&ctx->is_soft, enable != 0);
}

static void accept(TFE_Context *ctx, unsigned char enable, TF_Status *status) {
  (void)ctx;
  (void)enable;
  start_status(status);
}

void TFE_ContextSetLogDevicePlacement(TFE_Context *ctx, unsigned char enable, TF_Status *status) {
  accept(ctx, enable, status);
}

void TFE_ContextSetRunEagerOpAsFunction(TFE_Context *ctx, unsigned char enable, TF_Status *status) {
  accept(ctx, enable, status);
}

void TFE_ContextSetJitCompileRewrite(TFE_Context *ctx, unsigned char enable, TF_Status *status) {
  accept(ctx, enable, status);
}

void TFE_HostAddressSpace(TFE_Context *ctx, TF_Buffer *buf) {
  StrBuf text = {0};
  Status ignored;
  (void)ctx;
  status_init(&ignored);
  strbuf_append(&text, "/job:localhost/replica:0/task:0");
  reported(strbuf_ok(&text, &ignored) && fill_buffer(&text, buf, &ignored));
  strbuf_free(&text);
}

bool TFE_IsCustomDevice(TFE_Context *ctx, const char *device_name) {
  (void)ctx;
  (void)device_name;
  return false;
}

/* ---- functions ---- */

void TFE_ContextAddFunctionDef(TFE_Context *ctx, const char *serialized_function_def, size_t size,
                               TF_Status *status) {
  start_status(status);
  Arena *arena = arena_new();
  void *function;
  lock_graph(ctx->graph);
  reported(parse_given(kFunctionDef, serialized_function_def, size, "Invalid FunctionDef proto", arena,
                       &function, &status->status) &&
           graph_add_function(ctx->graph->graph, function, &status->status));
  unlock_graph(ctx->graph);
  arena_free(arena);
}

void TFE_ContextAddFunction(TFE_Context *ctx, TF_Function *function, TF_Status *status) {
  TF_GraphCopyFunction(ctx->graph, function, NULL, status);
}

void TFE_ContextRemoveFunction(TFE_Context *ctx, const char *name, TF_Status *status) {
  start_status(status);
  lock_graph(ctx->graph);
  FunctionLibraryDefinition *library = graph_function_library(ctx->graph->graph);
  if (function_library_contains(library, name))
    reported(function_library_remove_function(library, name, &status->status));
  else status_invalid(&status->status, "Tried to remove non-existent function '%s'.", name);
  unlock_graph(ctx->graph);
}

unsigned char TFE_ContextHasFunction(TFE_Context *ctx, const char *name) {
  lock_graph(ctx->graph);
  bool has = function_library_contains(graph_function_library(ctx->graph->graph), name);
  unlock_graph(ctx->graph);
  return has;
}

static void get_function(TFE_Context *ctx, const char *name, const char *what, TF_Buffer *buf,
                         TF_Status *status) {
  start_status(status);
  lock_graph(ctx->graph);
  const FunctionDef *def = function_library_find(graph_function_library(ctx->graph->graph), name);
  if (def) reported(fill_buffer_with_message(def, buf, &status->status));
  else status_set(&status->status, CODE_NOT_FOUND, "Unable to find %s with name: %s", what, name);
  unlock_graph(ctx->graph);
}

void TFE_ContextGetFunctionDef(TFE_Context *ctx, const char *function_name, TF_Buffer *buf,
                               TF_Status *status) {
  get_function(ctx, function_name, "FunctionDef", buf, status);
}

TF_Function *TFE_ContextGetFunction(TFE_Context *ctx, const char *name, TF_Status *status) {
  TF_Function *function = NULL;
  TF_Buffer def = {0};
  get_function(ctx, name, "Function", &def, status);
  if (def.data) function = TF_FunctionImportFunctionDef(def.data, def.length, status);
  if (def.data_deallocator) def.data_deallocator((void *)def.data, def.length);
  return function;
}

/* ---- steps ---- */

void TFE_ContextEnableRunMetadata(TFE_Context *ctx) { (void)ctx; }

void TFE_ContextDisableRunMetadata(TFE_Context *ctx) { (void)ctx; }

void TFE_ContextExportRunMetadata(TFE_Context *ctx, TF_Buffer *buf, TF_Status *status) {
  (void)ctx;
  start_status(status);
  reported(fill_buffer_with_run_metadata(NULL, NULL, 0, buf, &status->status));
}

void TFE_ContextStartStep(TFE_Context *ctx) { (void)ctx; }

void TFE_ContextEndStep(TFE_Context *ctx) { (void)ctx; }

void TFE_ContextEnableGraphCollection(TFE_Context *ctx) { (void)ctx; }

void TFE_ContextDisableGraphCollection(TFE_Context *ctx) { (void)ctx; }

void TFE_ContextAsyncWait(TFE_Context *ctx, TF_Status *status) {
  (void)ctx;
  start_status(status);
}
