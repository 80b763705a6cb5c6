/* TF_LoadSessionFromSavedModel. */
#include <string.h>

#include "c_api/c_api_internal.h"
#include "saved_model/saved_model.h"

typedef struct Loading {
  Arena *arena;
  const char *dir;
  MetaGraphDef *meta;
  SavedModelPart part;
  SessionRunOptions run_options;
  int64_t functions_before;
  VersionDef *versions_before;
  TF_Session *session;
} Loading;

static bool has_nodes(const TF_Graph *graph) {
  return graph_num_nodes(graph->graph) > 2; /* source and sink */
}

static bool import_part(TF_Graph *graph, Loading *loading, Status *status) {
  ImportOptions options = {.skip_colocation_check = true};
  GraphDef none = TENSORFLOW__GRAPH_DEF__INIT;
  const GraphDef *whole = loading->meta->graph_def ? loading->meta->graph_def : &none;
  TRY(saved_model_known_part(whole, graph_ops(graph->graph), loading->arena, &loading->part, status));
  loading->functions_before = graph_num_functions(graph->graph);
  loading->versions_before = proto_copy(graph_versions(graph->graph), loading->arena);
  if (!loading->versions_before) return status_oom(status, "versions");
  return graph_import(graph->graph, loading->part.graph, false, &options, loading->arena, NULL, status);
}

/* Makes the graph as it was before the import. */
static void undo_import(TF_Graph *graph, const Loading *loading) {
  FunctionLibraryDefinition *library = graph_function_library(graph->graph);
  Status ignored;
  status_init(&ignored);
  graph_clear(graph->graph);
  while (function_library_num_functions(library) > loading->functions_before) {
    int64_t last = function_library_num_functions(library) - 1;
    const char *name = function_library_function(library, last)->signature->name;
    if (!function_library_remove_function(library, name, &ignored)) return;
  }
  reported(graph_set_versions(graph->graph, loading->versions_before, &ignored));
}

static bool read_model(const TF_Buffer *run_options, const char *const *tags, int num_tags, Loading *loading,
                       Status *status) {
  bool is_traced;
  if (!loading->arena) return status_oom(status, "a SavedModel");
  if (run_options)
    TRY(parse_run_options(run_options, loading->arena, &loading->run_options, &is_traced, status));
  return saved_model_read(loading->dir, tags, num_tags, loading->arena, &loading->meta, status);
}

static bool start_session(const TF_SessionOptions *options, TF_Graph *graph, Loading *loading,
                          TF_Buffer *meta_graph_def, TF_Status *status) {
  loading->session = TF_NewSession(graph, options, status);
  return loading->session &&
         saved_model_start(loading->session->session, graph->graph, loading->meta, &loading->part,
                           loading->dir, &loading->run_options, &status->status) &&
         (!meta_graph_def || fill_buffer_with_message(loading->meta, meta_graph_def, &status->status));
}

static bool load(const TF_SessionOptions *options, TF_Graph *graph, Loading *loading,
                 TF_Buffer *meta_graph_def, TF_Status *status) {
  lock_graph(graph);
  bool ok = has_nodes(graph) ? status_invalid(&status->status, "Graph is non-empty.")
                             : import_part(graph, loading, &status->status);
  unlock_graph(graph);
  if (!ok || start_session(options, graph, loading, meta_graph_def, status)) return ok;
  Status failure = status->status;
  TF_DeleteSession(loading->session, status);
  loading->session = NULL;
  status->status = failure;
  lock_graph(graph);
  undo_import(graph, loading);
  unlock_graph(graph);
  return false;
}

TF_Session *TF_LoadSessionFromSavedModel(const TF_SessionOptions *session_options,
                                         const TF_Buffer *run_options, const char *export_dir,
                                         const char *const *tags, int tags_len, TF_Graph *graph,
                                         TF_Buffer *meta_graph_def, TF_Status *status) {
  start_status(status);
  Loading loading = {.arena = arena_new(), .dir = export_dir};
  reported(read_model(run_options, tags, tags_len, &loading, &status->status) &&
           load(session_options, graph, &loading, meta_graph_def, status));
  string_map_free(&loading.part.omitted);
  arena_free(loading.arena);
  return loading.session;
}
