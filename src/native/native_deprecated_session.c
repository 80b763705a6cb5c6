/* Sessions without a graph: names in place of operations. */
#include <string.h>

#include "base/alloc.h"
#include "c_api/c_api_internal.h"
#include "op/node_def.h"

struct TF_DeprecatedSession {
  TF_Graph *graph;
  TF_Session *session;
};

TF_DeprecatedSession *TF_NewDeprecatedSession(const TF_SessionOptions *options, TF_Status *status) {
  start_status(status);
  TF_DeprecatedSession *session = mem_calloc(1, sizeof *session);
  if (session) session->graph = TF_NewGraph();
  if (session && session->graph) {
    session->session = TF_NewSession(session->graph, options, status);
    if (session->session) return session;
    TF_DeleteGraph(session->graph);
  } else {
    status_oom(&status->status, "a session");
  }
  mem_free(session);
  return NULL;
}

void TF_CloseDeprecatedSession(TF_DeprecatedSession *session, TF_Status *status) {
  TF_CloseSession(session->session, status);
}

void TF_DeleteDeprecatedSession(TF_DeprecatedSession *session, TF_Status *status) {
  start_status(status);
  if (!session) return;
  TF_DeleteSession(session->session, status);
  TF_DeleteGraph(session->graph);
  mem_free(session);
}

TF_DeviceList *TF_DeprecatedSessionListDevices(TF_DeprecatedSession *session, TF_Status *status) {
  return TF_SessionListDevices(session->session, status);
}

/* ---- adding nodes ---- */

/* Edges from nodes of earlier calls: every such input is mapped to itself. */
static bool map_inputs(const Graph *graph, const GraphDef *def, Arena *arena, ImportOptions *options,
                       Status *status) {
  int64_t count = 0;
  for (size_t i = 0; i < def->n_node; i++) count += (int64_t)def->node[i]->n_input;
  const char **keys = arena_calloc(arena, count, sizeof *keys);
  NodeOutput *values = arena_calloc(arena, count, sizeof *values);
  StringMap seen = {0};
  bool ok = keys && values;
  for (size_t i = 0; ok && i < def->n_node; i++) {
    for (size_t k = 0; ok && k < def->node[i]->n_input; k++) {
      Str name;
      int index;
      if (!node_parse_input(def->node[i]->input[k], &name, &index)) continue;
      const char *text = arena_strndup(arena, name.data, name.length);
      const char *key =
          index == CONTROL_SLOT ? def->node[i]->input[k] : arena_printf(arena, "%s:%d", text, index);
      Node *node = text ? graph_find_node(graph, text) : NULL;
      ok = text && key;
      if (!ok || !node || string_map_contains(&seen, key)) continue;
      ok = string_map_set(&seen, key, node, status);
      keys[options->num_input_map] = key;
      values[options->num_input_map++] = (NodeOutput){node, index};
    }
  }
  string_map_free(&seen);
  options->input_map_keys = keys;
  options->input_map_values = values;
  return ok || status_oom(status, "a graph");
}

static bool extend(Graph *graph, const void *proto, size_t length, Arena *arena, Status *status) {
  void *def;
  ImportOptions options = {0};
  if (!arena) return status_oom(status, "a graph");
  TRY(parse_given(kGraphDef, proto, length, "Invalid GraphDef", arena, &def, status));
  TRY(map_inputs(graph, def, arena, &options, status));
  return graph_import(graph, def, false, &options, arena, NULL, status);
}

void TF_ExtendGraph(TF_DeprecatedSession *session, const void *proto, size_t proto_len, TF_Status *status) {
  start_status(status);
  Arena *arena = arena_new();
  lock_graph(session->graph);
  reported(extend(session->graph->graph, proto, proto_len, arena, &status->status));
  unlock_graph(session->graph);
  arena_free(arena);
}

/* ---- steps ---- */

/* What a step names, as operations. */
typedef struct Named {
  Arena *arena;
  TF_Output *inputs, *outputs;
  const TF_Operation **targets;
} Named;

static bool find_outputs(const Graph *graph, const char *const *names, int count, TF_Output *outputs,
                         Status *status) {
  for (int i = 0; i < count; i++) {
    NodeOutput output;
    if (!graph_find_output(graph, names[i], &output, status))
      return status_reword(status, CODE_INVALID_ARGUMENT,
                           "Tensor %s, specified in either feed_devices or fetch_devices was not found in "
                           "the Graph",
                           names[i]);
    outputs[i] = from_node_output(output);
  }
  return true;
}

static bool find_names(const Graph *graph, const char *const *inputs, int ninputs, const char *const *outputs,
                       int noutputs, const char *const *targets, int ntargets, Named *named, Status *status) {
  named->inputs = arena_calloc(named->arena, ninputs, sizeof *named->inputs);
  named->outputs = arena_calloc(named->arena, noutputs, sizeof *named->outputs);
  named->targets = arena_calloc(named->arena, ntargets, sizeof *named->targets);
  if (!named->inputs || !named->outputs || !named->targets) return status_oom(status, "a step");
  TRY(find_outputs(graph, inputs, ninputs, named->inputs, status));
  TRY(find_outputs(graph, outputs, noutputs, named->outputs, status));
  for (int i = 0; i < ntargets; i++) {
    Node *node = graph_find_node(graph, targets[i]);
    if (!node)
      return status_set(status, CODE_NOT_FOUND, "PruneForTargets: Some target nodes not found: %s ",
                        targets[i]);
    named->targets[i] = node_operation(node);
  }
  return true;
}

static bool begin(const TF_DeprecatedSession *session, const char **inputs, int ninputs, const char **outputs,
                  int noutputs, const char **targets, int ntargets, Named *named, TF_Status *status) {
  start_status(status);
  named->arena = arena_new();
  if (!named->arena) return status_oom(&status->status, "a step");
  lock_graph(session->graph);
  bool ok = find_names(session->graph->graph, inputs, ninputs, outputs, noutputs, targets, ntargets, named,
                       &status->status);
  unlock_graph(session->graph);
  return ok;
}

static void delete_inputs(TF_Tensor **inputs, int ninputs) {
  for (int i = 0; i < ninputs; i++) TF_DeleteTensor(inputs[i]);
}

void TF_Run(TF_DeprecatedSession *session, const TF_Buffer *run_options, const char **input_names,
            TF_Tensor **inputs, int ninputs, const char **output_names, TF_Tensor **outputs, int noutputs,
            const char **target_oper_names, int ntargets, TF_Buffer *run_metadata, TF_Status *status) {
  Named named;
  for (int i = 0; i < noutputs; i++) outputs[i] = NULL;
  if (begin(session, input_names, ninputs, output_names, noutputs, target_oper_names, ntargets, &named,
            status))
    TF_SessionRun(session->session, run_options, named.inputs, inputs, ninputs, named.outputs, outputs,
                  noutputs, named.targets, ntargets, run_metadata, status);
  delete_inputs(inputs, ninputs);
  arena_free(named.arena);
}

void TF_PRunSetup(TF_DeprecatedSession *session, const char **input_names, int ninputs,
                  const char **output_names, int noutputs, const char **target_oper_names, int ntargets,
                  const char **handle, TF_Status *status) {
  Named named;
  *handle = NULL;
  if (begin(session, input_names, ninputs, output_names, noutputs, target_oper_names, ntargets, &named,
            status))
    TF_SessionPRunSetup(session->session, named.inputs, ninputs, named.outputs, noutputs, named.targets,
                        ntargets, handle, status);
  arena_free(named.arena);
}

void TF_PRun(TF_DeprecatedSession *session, const char *handle, const char **input_names, TF_Tensor **inputs,
             int ninputs, const char **output_names, TF_Tensor **outputs, int noutputs,
             const char **target_oper_names, int ntargets, TF_Status *status) {
  Named named;
  for (int i = 0; i < noutputs; i++) outputs[i] = NULL;
  if (begin(session, input_names, ninputs, output_names, noutputs, target_oper_names, ntargets, &named,
            status))
    TF_SessionPRun(session->session, handle, named.inputs, inputs, ninputs, named.outputs, outputs, noutputs,
                   named.targets, ntargets, status);
  delete_inputs(inputs, ninputs);
  arena_free(named.arena);
}
