/* Serialised options, and graphs and functions as text. */
#include <stdlib.h>
#include <string.h>

#include "c_api/c_api_internal.h"
#include "function/text/function_text.h"
#include "tensorflow/c/c_api_experimental.h"

static TF_Buffer *buffer_of(const void *message) {
  TF_Buffer *buffer = TF_NewBuffer();
  Status ignored;
  status_init(&ignored);
  if (!buffer || fill_buffer_with_message(message, buffer, &ignored)) return buffer;
  TF_DeleteBuffer(buffer);
  return NULL;
}

TF_Buffer *TF_CreateConfig(unsigned char enable_xla_compilation, unsigned char gpu_memory_allow_growth,
                           unsigned int num_cpu_devices) {
  ConfigProto config = TENSORFLOW__CONFIG_PROTO__INIT;
  Tensorflow__GPUOptions gpu = TENSORFLOW__GPUOPTIONS__INIT;
  Tensorflow__GraphOptions graph = TENSORFLOW__GRAPH_OPTIONS__INIT;
  Tensorflow__OptimizerOptions optimizer = TENSORFLOW__OPTIMIZER_OPTIONS__INIT;
  Tensorflow__ConfigProto__DeviceCountEntry entry = TENSORFLOW__CONFIG_PROTO__DEVICE_COUNT_ENTRY__INIT;
  Tensorflow__ConfigProto__DeviceCountEntry *entries[] = {&entry};
  optimizer.global_jit_level = enable_xla_compilation ? TENSORFLOW__OPTIMIZER_OPTIONS__GLOBAL_JIT_LEVEL__ON_1
                                                      : TENSORFLOW__OPTIMIZER_OPTIONS__GLOBAL_JIT_LEVEL__OFF;
  graph.optimizer_options = &optimizer;
  gpu.allow_growth = gpu_memory_allow_growth != 0;
  entry.key = "CPU";
  entry.value = (int32_t)num_cpu_devices;
  config.device_count = entries;
  config.n_device_count = 1;
  config.graph_options = &graph;
  config.gpu_options = &gpu;
  config.inter_op_parallelism_threads = 1;
  return buffer_of(&config);
}

TF_Buffer *TF_CreateRunOptions(unsigned char enable_full_trace) {
  Tensorflow__RunOptions options = TENSORFLOW__RUN_OPTIONS__INIT;
  options.trace_level = enable_full_trace ? TENSORFLOW__RUN_OPTIONS__TRACE_LEVEL__FULL_TRACE
                                          : TENSORFLOW__RUN_OPTIONS__TRACE_LEVEL__NO_TRACE;
  return buffer_of(&options);
}

void TF_EnableXLACompilation(TF_SessionOptions *options, unsigned char enable) {
  (void)options;
  (void)enable;
}

/* ---- debug strings ---- */

/* Frees `text`. The copy is from malloc(), because the caller frees it with free(). */
static char *give_text(StrBuf *text, size_t *len) {
  Status ignored;
  status_init(&ignored);
  char *copy = strbuf_ok(text, &ignored) ? malloc((size_t)text->length + 1) : NULL;
  if (copy) {
    memcpy(copy, strbuf_text(text), (size_t)text->length + 1);
    *len = (size_t)text->length;
  }
  strbuf_free(text);
  return copy;
}

const char *TF_GraphDebugString(TF_Graph *graph, size_t *len) {
  Arena *arena = arena_new();
  GraphDef *def;
  StrBuf text = {0};
  Status ignored;
  status_init(&ignored);
  lock_graph(graph);
  bool ok = arena && graph_to_def(graph->graph, arena, &def, &ignored);
  if (ok) proto_print_text(def, PROTO_TEXT_MULTI_LINE, &text);
  unlock_graph(graph);
  arena_free(arena);
  return ok ? give_text(&text, len) : NULL;
}

char *TF_FunctionDebugString(TF_Function *func, size_t *len) {
  StrBuf text = {0};
  function_print(func->def, &text);
  return give_text(&text, len);
}
