/* graph_import: the order of the phases, the results, and the commit, after which nothing can fail. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "graph/graph.h"
#include "graph/import_internal.h"

/* GraphDefs up to this many versions ahead are covered by TensorFlow's forward compatibility. */
enum { FORWARD_COMPATIBILITY = 21 };

/* --- versions and functions --- */

static int compare_ints(const void *a, const void *b) {
  int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

/* The graph gets the stricter of both versions. */
static bool merge_versions(Graph *graph, const VersionDef *other, Status *status) {
  const VersionDef none = TENSORFLOW__VERSION_DEF__INIT;
  if (!other) other = &none;
  VersionDef *versions = &graph->versions;
  if (other->producer < versions->producer) versions->producer = other->producer;
  if (other->min_consumer > versions->min_consumer) versions->min_consumer = other->min_consumer;
  if (other->n_bad_consumers == 0) return true;
  size_t count = versions->n_bad_consumers + other->n_bad_consumers, kept = 0;
  int32_t *bad = arena_alloc(graph->arena, (int64_t)(count * sizeof *bad));
  if (!bad) return status_oom(status, "versions");
  for (size_t i = 0; i < versions->n_bad_consumers; i++) bad[i] = versions->bad_consumers[i];
  for (size_t i = 0; i < other->n_bad_consumers; i++)
    bad[versions->n_bad_consumers + i] = other->bad_consumers[i];
  qsort(bad, count, sizeof *bad, compare_ints);
  for (size_t i = 0; i < count; i++) {
    if (kept == 0 || bad[kept - 1] != bad[i]) bad[kept++] = bad[i];
  }
  versions->bad_consumers = bad;
  versions->n_bad_consumers = kept;
  return true;
}

static bool add_library(Import *import) {
  const FunctionDefLibrary *library = import->def->library;
  for (size_t i = 0; library && i < library->n_function; i++) {
    if (import->take) {
      TRY(graph_take_function(import->graph, library->function[i], import->status));
    } else {
      TRY(graph_add_function(import->graph, library->function[i], import->status));
    }
  }
  for (size_t i = 0; library && i < library->n_gradient; i++) {
    const GradientDef *gradient = library->gradient[i];
    TRY(graph_add_gradient_def(import->graph, gradient->function_name, gradient->gradient_func,
                               import->status));
  }
  return true;
}

/* --- results --- */

static bool return_output(Import *import, const char *name, NodeOutput *output) {
  Str node_name;
  int index;
  if (!node_parse_input(name, &node_name, &index)) {
    return status_invalid(import->status, "Requested return tensor '%s' not found in graph def", name);
  }
  const MapEntry *mapped = import_find_mapped(import, node_name.data, node_name.length, index);
  if (mapped) {
    *output = mapped->value;
    return true;
  }
  intptr_t found = (intptr_t)string_map_find_bytes(&import->names, node_name.data, node_name.length);
  Node *node = found > 0 ? import->nodes[found - 1] : NULL;
  if (!node) {
    if (index == CONTROL_SLOT)
      return status_invalid(import->status, "Requested return tensor '%s' not found in graph def", name);
    return status_invalid(import->status, "Requested return tensor '%.*s:%d' not found in graph def",
                          (int)node_name.length, node_name.data, index);
  }
  if (index >= node->num_outputs) {
    return status_invalid(import->status, "Invalid return output %d of node '%.*s', which has %d output(s)",
                          index, (int)node_name.length, node_name.data, node->num_outputs);
  }
  *output = (NodeOutput){node, index};
  return true;
}

static bool return_node(Import *import, const char *name, Node **node) {
  intptr_t found = (intptr_t)string_map_find(&import->names, name);
  *node = found > 0 ? import->nodes[found - 1] : NULL;
  return *node || status_invalid(import->status, "Requested return node '%s' not found in graph def", name);
}

/* Reports a key of the input map that was not used although the GraphDef should have that output. */
static bool is_missing_key(const Import *import, const MapEntry *entry) {
  if (entry->used) return false;
  intptr_t found = (intptr_t)string_map_find_bytes(&import->names, entry->name.data, entry->name.length);
  if (found == 0) return true;
  const Node *node = import->nodes[found - 1];
  return node && entry->index >= node->num_outputs;
}

static bool missing_keys(Import *import, Arena *arena, ImportResults *results) {
  const ImportOptions *options = import->options;
  results->missing_unused_input_map_keys =
      arena_calloc(arena, (int64_t)options->num_input_map + 1, sizeof(char *));
  if (!results->missing_unused_input_map_keys) return status_oom(import->status, "the results of an import");
  for (int i = 0; i < options->num_input_map; i++) {
    const MapEntry *entry = &import->map[i];
    if (!is_missing_key(import, entry)) continue;
    int length = (int)entry->name.length;
    char *text = entry->index == CONTROL_SLOT
                     ? arena_printf(arena, "^%.*s", length, entry->name.data)
                     : arena_printf(arena, "%.*s:%d", length, entry->name.data, entry->index);
    if (!text) return status_oom(import->status, "the results of an import");
    results->missing_unused_input_map_keys[results->num_missing_unused_input_map_keys++] = text;
  }
  return true;
}

static bool fill_results(Import *import, Arena *arena, ImportResults *results) {
  const ImportOptions *options = import->options;
  /* One more element than needed, so that an empty array is not NULL. */
  results->return_outputs = arena_calloc(arena, (int64_t)options->num_return_outputs + 1, sizeof(NodeOutput));
  results->return_nodes = arena_calloc(arena, (int64_t)options->num_return_nodes + 1, sizeof(Node *));
  if (!results->return_outputs || !results->return_nodes)
    return status_oom(import->status, "the results of an import");
  for (int i = 0; i < options->num_return_outputs; i++) {
    TRY(return_output(import, options->return_outputs[i], &results->return_outputs[i]));
  }
  for (int i = 0; i < options->num_return_nodes; i++) {
    TRY(return_node(import, options->return_nodes[i], &results->return_nodes[i]));
  }
  return missing_keys(import, arena, results);
}

/* --- commit --- */

/* Calls `visit` for every edge into a new node. */
typedef bool (*EdgeVisitor)(Import *import, Edge *edge, void *argument);

static bool for_new_edges(Import *import, EdgeVisitor visit, void *argument) {
  for (int64_t i = 0; i < import->created; i++) {
    const Node *node = import->graph->nodes[import->first_id + i];
    for (int k = 0; k < node->num_inputs; k++) {
      if (node->inputs[k]) TRY(visit(import, node->inputs[k], argument));
    }
    for (int64_t k = 0; k < node->num_control_inputs; k++)
      TRY(visit(import, node->control_inputs[k], argument));
  }
  return true;
}

typedef struct Commit {
  Edge **out_edges; /* of all new nodes, one list after the other */
  int64_t num_out_edges;
  Edge **old_edges; /* those of sources that existed before */
  OutEdges *before;
  int64_t num_old_edges, appended, named;
} Commit;

static bool count_edge(Import *import, Edge *edge, void *argument) {
  Commit *commit = argument;
  if (edge->src->id < import->first_id) {
    commit->num_old_edges++;
  } else {
    edge->src->out_edge_capacity++;
    commit->num_out_edges++;
  }
  return true;
}

static bool append_old_edge(Import *import, Edge *edge, void *argument) {
  Commit *commit = argument;
  if (edge->src->id >= import->first_id) return true;
  TRY(node_append_out_edge(import->graph, edge, &commit->before[commit->appended], import->status));
  commit->old_edges[commit->appended++] = edge;
  return true;
}

static bool append_new_edge(Import *import, Edge *edge, void *argument) {
  (void)argument;
  if (edge->src->id >= import->first_id) node_put_out_edge(edge);
  return true;
}

/* Makes all allocations. */
static bool prepare_commit(Import *import, Commit *commit) {
  Graph *graph = import->graph;
  TRY(graph_reserve_edge_ids(graph, import->num_edges, import->status));
  TRY(for_new_edges(import, count_edge, commit));
  string_map_free(&import->names); /* names of the GraphDef are not looked up any more */
  TRY(string_map_reserve(&graph->names, import->created, import->status));
  commit->out_edges = arena_alloc(graph->arena, commit->num_out_edges * (int64_t)sizeof(Edge *));
  commit->old_edges = mem_alloc(commit->num_old_edges * (int64_t)sizeof(Edge *));
  commit->before = mem_alloc(commit->num_old_edges * (int64_t)sizeof *commit->before);
  if (!commit->out_edges || !commit->old_edges || !commit->before)
    return status_oom(import->status, "an import");
  TRY(for_new_edges(import, append_old_edge, commit));
  for (; commit->named < import->created; commit->named++) {
    Node *node = graph->nodes[import->first_id + commit->named];
    if (graph_find_node(graph, node->name)) {
      return status_invalid(import->status, "Node name '%s' already exists in the Graph", node->name);
    }
    TRY(string_map_set(&graph->names, node->name, node, import->status));
  }
  return true;
}

static void undo_commit(Import *import, Commit *commit) {
  while (commit->named-- > 0)
    string_map_remove(&import->graph->names, import->graph->nodes[import->first_id + commit->named]->name);
  while (commit->appended-- > 0) {
    node_restore_out_edges(commit->old_edges[commit->appended]->src, &commit->before[commit->appended]);
  }
}

static bool commit_import(Import *import) {
  Graph *graph = import->graph;
  Commit commit = {0};
  bool ok = prepare_commit(import, &commit);
  if (ok) {
    Edge **list = commit.out_edges;
    for (int64_t i = 0; i < import->created; i++) {
      Node *node = graph->nodes[import->first_id + i];
      node->out_edges = list;
      list += node->out_edge_capacity;
    }
    ok = for_new_edges(import, append_new_edge, NULL);
    graph->num_node_ids += import->created;
    graph->num_nodes += import->created;
    graph->num_edges += import->num_edges;
    graph->next_edge_id += import->num_edges;
    graph_drop_edge_ids(graph);
    ok = graph_fixup_source_and_sink_edges(graph, NULL, import->status);
    if (!ok) {
      graph->num_node_ids -= import->created;
      graph->num_nodes -= import->created;
      graph->num_edges -= import->num_edges;
      graph->next_edge_id -= import->num_edges;
    }
  }
  if (!ok) undo_commit(import, &commit);
  mem_free(commit.old_edges);
  mem_free(commit.before);
  return ok;
}

/* --- the phases --- */

static bool run(Import *import, Arena *arena, ImportResults *results) {
  const ImportOptions *options = import->options;
  Status *status = import->status;
  TRY(import_check_versions(import->def, status));
  if (options->skip_mapped_nodes && options->num_return_nodes > 0) {
    return status_invalid(status,
                          "Requesting return_nodes with skip_mapped_nodes set is not currently supported");
  }
  if (import->count > INT32_MAX) return status_invalid(status, "GraphDef has too many nodes");
  TRY(import_index_nodes(import));
  TRY(import_check_names(import));
  TRY(import_index_map(import));
  TRY(import_index_inputs(import));
  TRY(graph_reserve_nodes(import->graph, import->count, status));
  TRY(add_library(import));
  TRY(merge_versions(import->graph, import->def->versions, status));
  TRY(import_convert(import));
  TRY(import_back_edges(import));
  TRY(import_rename_colocation(import));
  if (results) TRY(fill_results(import, arena, results));
  return commit_import(import);
}

static void explain_version(const Import *import) {
  Status cause = *import->status;
  if (cause.code == CODE_RESOURCE_EXHAUSTED || import->producer <= GRAPH_DEF_PRODUCER + FORWARD_COMPATIBILITY)
    return;
  status_set(import->status, cause.code,
             "Converting GraphDef to Graph has failed with an error: '%s' The binary trying to import the "
             "GraphDef was built "
             "when GraphDef version was %d. The GraphDef was produced by a binary built when GraphDef "
             "version was %d. The "
             "difference between these versions is larger than TensorFlow's forward compatibility guarantee, "
             "and might be the "
             "root cause for failing to import the GraphDef.",
             cause.message, GRAPH_DEF_PRODUCER, import->producer);
}

bool graph_import(Graph *graph, GraphDef *def, bool take, const ImportOptions *options, Arena *arena,
                  ImportResults *results, Status *status) {
  static const ImportOptions kNoOptions = {0};
  Import import = {.graph = graph,
                   .def = def,
                   .options = options ? options : &kNoOptions,
                   .take = take,
                   .status = status,
                   .count = (int64_t)def->n_node,
                   .first_id = graph->num_node_ids,
                   .producer = def->versions ? def->versions->producer : 0};
  GraphMark mark = graph_mark(graph);
  FunctionMark functions = graph_function_mark(graph);
  VersionDef versions = graph->versions;
  if (results) *results = (ImportResults){0};
  bool ok = run(&import, arena ? arena : graph->arena, results);
  if (!ok) {
    if (results) *results = (ImportResults){0};
    explain_version(&import);
    graph->versions = versions;
    graph_drop_functions(graph, functions);
    graph_rollback(graph, mark);
  }
  import_free_index(&import);
  return ok;
}

bool graph_import_bytes(Graph *graph, const void *bytes, size_t length, const ImportOptions *options,
                        Arena *arena, ImportResults *results, Status *status) {
  GraphMark mark = graph_mark(graph);
  void *def;
  bool ok = proto_parse(kGraphDef, bytes, length, graph->arena, &def, status) &&
            graph_import(graph, def, true, options, arena, results, status);
  return ok || graph_rollback(graph, mark);
}
