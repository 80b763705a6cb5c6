/* Import and export of GraphDefs. */
#include <string.h>

#include "base/alloc.h"
#include "c_api/c_api_internal.h"
#include "tensorflow/c/c_api_experimental.h"

struct TF_ImportGraphDefOptions {
  Arena *arena; /* names */
  bool failed;  /* out of memory while options were set; the import reports it */
  const char *prefix, *default_device;
  bool uniquify_names, uniquify_prefix, any_colocation;
  const char **map_keys;
  int64_t map_key_capacity;
  NodeOutput *map_values;
  int64_t map_value_capacity;
  int num_map;
  Node **control_dependencies;
  int64_t control_dependency_capacity;
  int num_control_dependencies;
  const char **return_outputs;
  int64_t return_output_capacity;
  int num_return_outputs;
  const char **return_nodes;
  int64_t return_node_capacity;
  int num_return_nodes;
};

struct TF_ImportGraphDefResults {
  Arena *arena;
  TF_Output *outputs;
  int num_outputs;
  TF_Operation **operations;
  int num_operations;
  const char **missing_names;
  int *missing_indexes;
  int num_missing;
};

TF_ImportGraphDefOptions *TF_NewImportGraphDefOptions(void) {
  TF_ImportGraphDefOptions *opts = mem_calloc(1, sizeof *opts);
  if (!opts) return NULL;
  opts->arena = arena_new();
  if (opts->arena) return opts;
  mem_free(opts);
  return NULL;
}

void TF_DeleteImportGraphDefOptions(TF_ImportGraphDefOptions *opts) {
  if (!opts) return;
  mem_free(opts->map_keys);
  mem_free(opts->map_values);
  mem_free(opts->control_dependencies);
  mem_free(opts->return_outputs);
  mem_free(opts->return_nodes);
  arena_free(opts->arena);
  mem_free(opts);
}

/* Records whether an allocation for an option succeeded. */
static bool keep(TF_ImportGraphDefOptions *opts, bool ok) {
  opts->failed |= !ok;
  return ok;
}

static const char *keep_text(TF_ImportGraphDefOptions *opts, const char *text) {
  const char *copy = arena_strdup(opts->arena, text);
  keep(opts, copy);
  return copy;
}

/* "name" or "name:index"; index -1 gives "^name". */
static const char *keep_output_name(TF_ImportGraphDefOptions *opts, const char *name, int index) {
  const char *text =
      index < 0 ? arena_printf(opts->arena, "^%s", name) : arena_printf(opts->arena, "%s:%d", name, index);
  keep(opts, text);
  return text;
}

void TF_ImportGraphDefOptionsSetPrefix(TF_ImportGraphDefOptions *opts, const char *prefix) {
  opts->prefix = keep_text(opts, prefix);
}

void TF_ImportGraphDefOptionsSetDefaultDevice(TF_ImportGraphDefOptions *opts, const char *device) {
  opts->default_device = keep_text(opts, device);
}

void TF_ImportGraphDefOptionsSetUniquifyNames(TF_ImportGraphDefOptions *opts, unsigned char uniquify_names) {
  opts->uniquify_names = uniquify_names != 0;
}

void TF_ImportGraphDefOptionsSetUniquifyPrefix(TF_ImportGraphDefOptions *opts,
                                               unsigned char uniquify_prefix) {
  opts->uniquify_prefix = uniquify_prefix != 0;
}

void TF_ImportGraphDefOptionsSetValidateColocationConstraints(TF_ImportGraphDefOptions *opts,
                                                              unsigned char enable) {
  opts->any_colocation = !enable;
}

static void add_mapping(TF_ImportGraphDefOptions *opts, const char *src_name, int src_index,
                        NodeOutput value) {
  const char *key = keep_output_name(opts, src_name, src_index);
  if (!key) return;
  int count = opts->num_map + 1;
  if (!keep(opts,
            mem_grow((void **)&opts->map_keys, &opts->map_key_capacity, count, sizeof(char *)) &&
                mem_grow((void **)&opts->map_values, &opts->map_value_capacity, count, sizeof(NodeOutput)))) {
    return;
  }
  opts->map_keys[opts->num_map] = key;
  opts->map_values[opts->num_map++] = value;
}

void TF_ImportGraphDefOptionsAddInputMapping(TF_ImportGraphDefOptions *opts, const char *src_name,
                                             int src_index, TF_Output dst) {
  add_mapping(opts, src_name, src_index, to_node_output(dst));
}

void TF_ImportGraphDefOptionsRemapControlDependency(TF_ImportGraphDefOptions *opts, const char *src_name,
                                                    TF_Operation *dst) {
  add_mapping(opts, src_name, CONTROL_SLOT, (NodeOutput){operation_node(dst), CONTROL_SLOT});
}

void TF_ImportGraphDefOptionsAddControlDependency(TF_ImportGraphDefOptions *opts, TF_Operation *oper) {
  if (!keep(opts, mem_grow((void **)&opts->control_dependencies, &opts->control_dependency_capacity,
                           opts->num_control_dependencies + 1, sizeof(Node *)))) {
    return;
  }
  opts->control_dependencies[opts->num_control_dependencies++] = operation_node(oper);
}

void TF_ImportGraphDefOptionsAddReturnOutput(TF_ImportGraphDefOptions *opts, const char *oper_name,
                                             int index) {
  const char *name = keep_output_name(opts, oper_name, index < 0 ? 0 : index);
  if (!name || !keep(opts, mem_grow((void **)&opts->return_outputs, &opts->return_output_capacity,
                                    opts->num_return_outputs + 1, sizeof(char *)))) {
    return;
  }
  opts->return_outputs[opts->num_return_outputs++] = name;
}

int TF_ImportGraphDefOptionsNumReturnOutputs(const TF_ImportGraphDefOptions *opts) {
  return opts->num_return_outputs;
}

void TF_ImportGraphDefOptionsAddReturnOperation(TF_ImportGraphDefOptions *opts, const char *oper_name) {
  const char *name = keep_text(opts, oper_name);
  if (!name || !keep(opts, mem_grow((void **)&opts->return_nodes, &opts->return_node_capacity,
                                    opts->num_return_nodes + 1, sizeof(char *)))) {
    return;
  }
  opts->return_nodes[opts->num_return_nodes++] = name;
}

int TF_ImportGraphDefOptionsNumReturnOperations(const TF_ImportGraphDefOptions *opts) {
  return opts->num_return_nodes;
}

/* ---- results ---- */

void TF_DeleteImportGraphDefResults(TF_ImportGraphDefResults *results) {
  if (!results) return;
  arena_free(results->arena);
  mem_free(results);
}

void TF_ImportGraphDefResultsReturnOutputs(TF_ImportGraphDefResults *results, int *num_outputs,
                                           TF_Output **outputs) {
  *num_outputs = results->num_outputs;
  *outputs = results->outputs;
}

void TF_ImportGraphDefResultsReturnOperations(TF_ImportGraphDefResults *results, int *num_opers,
                                              TF_Operation ***opers) {
  *num_opers = results->num_operations;
  *opers = results->operations;
}

void TF_ImportGraphDefResultsMissingUnusedInputMappings(TF_ImportGraphDefResults *results,
                                                        int *num_missing_unused_input_mappings,
                                                        const char ***src_names, int **src_indexes) {
  *num_missing_unused_input_mappings = results->num_missing;
  *src_names = results->missing_names;
  *src_indexes = results->missing_indexes;
}

/* Allocates everything that the results need: after the graph has the nodes, nothing may fail. Returns the
 * array for the names of missing inputs; NULL when out of memory. */
static char *reserve_results(TF_ImportGraphDefResults *results, const TF_ImportGraphDefOptions *opts) {
  int64_t num_map = opts ? opts->num_map : 0, bytes = 0;
  for (int64_t i = 0; i < num_map; i++) bytes += (int64_t)strlen(opts->map_keys[i]) + 1;
  results->num_outputs = opts ? opts->num_return_outputs : 0;
  results->num_operations = opts ? opts->num_return_nodes : 0;
  results->outputs = arena_calloc(results->arena, results->num_outputs, sizeof(TF_Output));
  results->operations = arena_calloc(results->arena, results->num_operations, sizeof(TF_Operation *));
  results->missing_names = arena_calloc(results->arena, num_map, sizeof(char *));
  results->missing_indexes = arena_calloc(results->arena, num_map, sizeof(int));
  char *names = arena_alloc(results->arena, bytes);
  bool ok = results->outputs && results->operations && results->missing_names && results->missing_indexes;
  return ok ? names : NULL;
}

static void fill_results(TF_ImportGraphDefResults *results, char *names, const ImportResults *from) {
  results->num_missing = from->num_missing_unused_input_map_keys;
  for (int i = 0; i < results->num_outputs; i++)
    results->outputs[i] = from_node_output(from->return_outputs[i]);
  for (int i = 0; i < results->num_operations; i++)
    results->operations[i] = node_operation(from->return_nodes[i]);
  for (int i = 0; i < results->num_missing; i++) {
    Str name;
    if (!node_parse_input(from->missing_unused_input_map_keys[i], &name, &results->missing_indexes[i]))
      continue;
    memcpy(names, name.data, name.length);
    names[name.length] = '\0';
    results->missing_names[i] = names;
    names += name.length + 1;
  }
}

static bool import_graph(TF_Graph *graph, const TF_Buffer *graph_def, const TF_ImportGraphDefOptions *opts,
                         TF_ImportGraphDefResults *results, Status *status) {
  if (opts && opts->failed) return status_oom(status, "import options");
  ImportOptions options = {0};
  if (opts) {
    options = (ImportOptions){
        .prefix = opts->prefix,
        .input_map_keys = opts->map_keys,
        .input_map_values = opts->map_values,
        .num_input_map = opts->num_map,
        .control_dependencies = opts->control_dependencies,
        .num_control_dependencies = opts->num_control_dependencies,
        .return_outputs = opts->return_outputs,
        .num_return_outputs = opts->num_return_outputs,
        .return_nodes = opts->return_nodes,
        .num_return_nodes = opts->num_return_nodes,
        .uniquify_names = opts->uniquify_names,
        .uniquify_prefix = opts->uniquify_prefix,
        .default_device = opts->default_device,
        .skip_colocation_check = opts->any_colocation,
    };
  }
  ImportResults imported = {0};
  char *names = reserve_results(results, opts);
  if (!names) return status_oom(status, "import results");
  if (!graph_import_bytes(graph->graph, graph_def->data, graph_def->length, &options, results->arena,
                          &imported, status)) {
    if (!text_starts_with(status->message, "Cannot parse ")) return false;
    const char *reason = arena_strdup(results->arena, status->message); /* TensorFlow does not report the
                                                                         * reason */
    return status_invalid(status, "Invalid GraphDef: %s", reason ? reason : "");
  }
  fill_results(results, names, &imported);
  return true;
}

TF_ImportGraphDefResults *TF_GraphImportGraphDefWithResults(TF_Graph *graph, const TF_Buffer *graph_def,
                                                            const TF_ImportGraphDefOptions *options,
                                                            TF_Status *status) {
  start_status(status);
  TF_ImportGraphDefResults *results = mem_calloc(1, sizeof *results);
  if (results) results->arena = arena_new();
  if (!results || !results->arena) {
    mem_free(results);
    status_oom(&status->status, "import results");
    return NULL;
  }
  lock_graph(graph);
  bool ok = import_graph(graph, graph_def, options, results, &status->status);
  unlock_graph(graph);
  if (ok) return results;
  TF_DeleteImportGraphDefResults(results);
  return NULL;
}

void TF_GraphImportGraphDefWithReturnOutputs(TF_Graph *graph, const TF_Buffer *graph_def,
                                             const TF_ImportGraphDefOptions *options,
                                             TF_Output *return_outputs, int num_return_outputs,
                                             TF_Status *status) {
  start_status(status);
  if (num_return_outputs != (options ? options->num_return_outputs : 0)) {
    status_invalid(&status->status, "Expected 'num_return_outputs' to be %d, got %d",
                   options ? options->num_return_outputs : 0, num_return_outputs);
    return;
  }
  TF_ImportGraphDefResults *results = TF_GraphImportGraphDefWithResults(graph, graph_def, options, status);
  if (!results) return;
  for (int i = 0; i < num_return_outputs; i++) return_outputs[i] = results->outputs[i];
  TF_DeleteImportGraphDefResults(results);
}

void TF_GraphImportGraphDef(TF_Graph *graph, const TF_Buffer *graph_def,
                            const TF_ImportGraphDefOptions *options, TF_Status *status) {
  TF_DeleteImportGraphDefResults(TF_GraphImportGraphDefWithResults(graph, graph_def, options, status));
}

/* ---- export ---- */

static bool export_graph(TF_Graph *graph, Arena *arena, TF_Buffer *output, Status *status) {
  GraphDef *def;
  if (!arena) return status_oom(status, "a GraphDef");
  return graph_to_def(graph->graph, arena, &def, status) && fill_buffer_with_message(def, output, status);
}

void TF_GraphToGraphDef(TF_Graph *graph, TF_Buffer *output_graph_def, TF_Status *status) {
  start_status(status);
  Arena *arena = arena_new();
  lock_graph(graph);
  reported(export_graph(graph, arena, output_graph_def, &status->status));
  unlock_graph(graph);
  arena_free(arena);
}

void TF_GraphVersions(TF_Graph *graph, TF_Buffer *output_version_def, TF_Status *status) {
  start_status(status);
  lock_graph(graph);
  reported(fill_buffer_with_message(graph_versions(graph->graph), output_version_def, &status->status));
  unlock_graph(graph);
}
