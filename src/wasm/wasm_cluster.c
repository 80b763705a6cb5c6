#include "wasm/wasm_cluster.h"

#include "c_api/c_api_internal.h"
#include "graph/unary_compositions.h"
#include "runtime/task_rendezvous.h"
#include "wasm/wasm_step_internal.h"

/* --- values --- */

static TaskRendezvous *task_rendezvous(TF_WasmRendezvous *rendezvous) { return (TaskRendezvous *)rendezvous; }

static const Rendezvous *values_of(TF_WasmRendezvous *rendezvous) {
  return local_rendezvous_interface(task_rendezvous_local(task_rendezvous(rendezvous)));
}

TF_WasmRendezvous *TF_WasmNewRendezvous(const char *task, TF_Status *status) {
  start_status(status);
  return (TF_WasmRendezvous *)task_rendezvous_new(task, &status->status);
}

void TF_WasmDeleteRendezvous(TF_WasmRendezvous *rendezvous) {
  task_rendezvous_free(task_rendezvous(rendezvous));
}

void TF_WasmLeaveValue(TF_WasmRendezvous *rendezvous, const char *key, const TF_Tensor *value,
                       TF_Status *status) {
  const Rendezvous *values = values_of(rendezvous);
  start_status(status);
  reported(values->send(values->owner, str_of(key), value ? &value->tensor : NULL, !value, &status->status));
}

int TF_WasmTakeValue(TF_WasmRendezvous *rendezvous, const char *key, TF_Tensor **value, TF_Status *status) {
  const Rendezvous *values = values_of(rendezvous);
  Tensor taken = {0};
  bool dead = false;
  start_status(status);
  *value = NULL;
  RunState state = values->receive(values->owner, str_of(key), &taken, &dead, &status->status);
  if (state == RUN_DONE && !dead) *value = take_tensor(&taken, &status->status);
  tensor_clear(&taken);
  return state == RUN_DONE && (dead || *value);
}

void TF_WasmWantedKey(TF_WasmRendezvous *rendezvous, TF_Buffer *key, TF_Status *status) {
  StrBuf text = {0};
  start_status(status);
  reported(task_rendezvous_next_wanted(task_rendezvous(rendezvous), &text, &status->status) &&
           fill_buffer(&text, key, &status->status));
  strbuf_free(&text);
}

void TF_WasmAbortRendezvous(TF_WasmRendezvous *rendezvous, TF_Code code, const char *message) {
  Status reason;
  status_init(&reason);
  status_set(&reason, (Code)code, "%s", message);
  local_rendezvous_abort(task_rendezvous_local(task_rendezvous(rendezvous)), &reason);
}

/* --- devices and graphs --- */

static bool import_part(TF_Graph *graph, const void *graph_def, size_t length, Status *status) {
  const ImportOptions options = {.internal_names = true, .skip_colocation_check = true};
  Arena *arena = arena_new();
  void *def;
  if (!arena) return status_oom(status, "a GraphDef");
  lock_graph(graph);
  bool ok = proto_parse(kGraphDef, graph_def, length, arena, &def, status) &&
            expand_unary_compositions(def, arena, status) &&
            graph_import(graph->graph, def, false, &options, arena, NULL, status);
  unlock_graph(graph);
  arena_free(arena);
  return ok;
}

void TF_WasmImportPart(TF_Graph *graph, const void *graph_def, size_t length, TF_Status *status) {
  start_status(status);
  reported(import_part(graph, graph_def, length, &status->status));
}

static bool join(TF_Session *session, const char *const *names, const int64_t *incarnations, int count,
                 Status *status) {
  DeviceSet *all;
  TRY(device_set_join(session->devices, names, (const uint64_t *)incarnations, count, &all, status));
  session_join(session->session, all);
  device_set_unref(session->devices);
  session->devices = all;
  return true;
}

void TF_WasmJoinDevices(TF_Session *session, const char *const *names, const int64_t *incarnations, int count,
                        TF_Status *status) {
  start_status(status);
  reported(join(session, names, incarnations, count, &status->status));
}

struct TF_WasmRemoteGraphs {
  Arena *arena; /* holds this object, too */
  GraphDef **graphs;
  const char **devices;
  int count;
};

TF_WasmRemoteGraphs *TF_WasmNewRemoteGraphs(TF_WasmCallable *callable, TF_Status *status) {
  start_status(status);
  Arena *arena = arena_new();
  TF_WasmRemoteGraphs *made = arena ? arena_calloc(arena, 1, sizeof *made) : NULL;
  bool ok = made || status_oom(&status->status, "a GraphDef");
  if (ok) {
    made->arena = arena;
    ok = session_remote_graphs(wasm_session_callable(callable), arena, &made->graphs, &made->devices,
                               &made->count, &status->status);
  }
  if (ok) return made;
  arena_free(arena);
  return NULL;
}

void TF_WasmDeleteRemoteGraphs(TF_WasmRemoteGraphs *graphs) {
  if (graphs) arena_free(graphs->arena);
}

int TF_WasmRemoteGraphCount(const TF_WasmRemoteGraphs *graphs) { return graphs->count; }

const char *TF_WasmRemoteGraphDevice(const TF_WasmRemoteGraphs *graphs, int index) {
  return graphs->devices[index];
}

void TF_WasmRemoteGraphDef(const TF_WasmRemoteGraphs *graphs, int index, TF_Buffer *graph_def,
                           TF_Status *status) {
  start_status(status);
  reported(fill_buffer_with_message(graphs->graphs[index], graph_def, &status->status));
}
