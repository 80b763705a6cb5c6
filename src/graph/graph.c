#include "graph/graph.h"

#include <string.h>

#include "base/alloc.h"
#include "graph/graph_internal.h"

const ShapeValue kUnknownShape = {.rank = UNKNOWN_RANK};

/* --- creating and freeing --- */

static bool add_special_node(Graph *graph, const char *name, Status *status) {
  NodeDef *def = node_def_new(graph->arena, name, "NoOp");
  Node *node;
  if (!def) return status_oom(status, "a graph");
  TRY(graph_reserve_nodes(graph, 1, status));
  TRY(graph_make_node(graph, def, NULL, &node, status));
  graph_insert_node(graph, node);
  return true;
}

Graph *graph_new(void) { return graph_new_with_ops(op_registry_global()); }

Graph *graph_new_with_ops(OpRegistry *ops) {
  Status status;
  status_init(&status);
  Graph *graph = mem_calloc(1, sizeof *graph);
  if (!graph) return NULL;
  graph->ops = ops;
  graph->arena = arena_new();
  if (graph->arena) graph->functions = function_library_new(ops, graph->arena);
  const VersionDef versions = TENSORFLOW__VERSION_DEF__INIT;
  graph->versions = versions;
  graph->versions.producer = GRAPH_DEF_PRODUCER;
  Edge *edge;
  if (!graph_lock_init(graph) || !graph->functions || !add_special_node(graph, "_SOURCE", &status) ||
      !add_special_node(graph, "_SINK", &status) ||
      !graph_add_edge(graph, graph->nodes[SOURCE_ID], CONTROL_SLOT, graph->nodes[SINK_ID], CONTROL_SLOT,
                      &edge, &status)) {
    graph_free(graph);
    return NULL;
  }
  graph->fixed_until = graph->num_node_ids;
  return graph;
}

void graph_free(Graph *graph) {
  if (!graph) return;
  graph_lock_destroy(graph);
  graph_forget_values(graph);
  graph_drop_bodies(graph, NULL);
  string_map_free(&graph->body_keys);
  string_map_free(&graph->names);
  string_map_free(&graph->duplicates);
  string_map_free(&graph->prefixes);
  string_map_free(&graph->suffixes);
  string_map_free(&graph->device_indices);
  string_map_free(&graph->frame_names);
  mem_free(graph->devices);
  mem_free(graph->while_contexts);
  function_library_free(graph->functions);
  mem_free(graph->nodes);
  mem_free(graph->extended);
  graph_drop_edge_ids(graph);
  mem_free(graph->scratch.memory);
  arena_free(graph->arena);
  mem_free(graph);
}

OpRegistry *graph_ops(const Graph *graph) { return graph->ops; }
Arena *graph_arena(Graph *graph) { return graph->arena; }
const VersionDef *graph_versions(const Graph *graph) { return &graph->versions; }

bool graph_set_versions(Graph *graph, const VersionDef *versions, Status *status) {
  int64_t bytes = (int64_t)(versions->n_bad_consumers * sizeof *versions->bad_consumers);
  int32_t *bad = arena_alloc(graph->arena, bytes);
  if (!bad) return status_oom(status, "versions");
  if (bytes > 0) memcpy(bad, versions->bad_consumers, (size_t)bytes);
  graph->versions.producer = versions->producer;
  graph->versions.min_consumer = versions->min_consumer;
  graph->versions.n_bad_consumers = versions->n_bad_consumers;
  graph->versions.bad_consumers = bad;
  return true;
}

int64_t graph_mutation_count(const Graph *graph) {
  return graph->mutations + function_library_generation(graph->functions);
}

/* --- lookup --- */

int64_t graph_num_node_ids(const Graph *graph) { return graph->num_node_ids; }
int64_t graph_num_nodes(const Graph *graph) { return graph->num_nodes; }
int64_t graph_num_edges(const Graph *graph) { return graph->num_edges; }

Node *graph_node(const Graph *graph, int64_t id) {
  return id >= 0 && id < graph->num_node_ids ? graph->nodes[id] : NULL;
}

Node *graph_find_node(const Graph *graph, const char *name) { return string_map_find(&graph->names, name); }

bool graph_find_output(const Graph *graph, const char *name, NodeOutput *output, Status *status) {
  Str node_name;
  int index;
  *output = (NodeOutput){NULL, 0};
  if (!node_parse_input(name, &node_name, &index))
    return status_invalid(status, "'%s' is not the name of an output", name);
  if (index == CONTROL_SLOT) return status_invalid(status, "'%s' names a control input, not an output", name);
  Node *node = string_map_find_bytes(&graph->names, node_name.data, node_name.length);
  if (!node) {
    return status_set(status, CODE_NOT_FOUND, "Node '%.*s' not found in the graph", (int)node_name.length,
                      node_name.data);
  }
  if (index >= node->num_outputs) {
    return status_invalid(status, "Node '%s' (type: '%s', num of outputs: %d) does not have output %d",
                          node->name, node->def->op, node->num_outputs, index);
  }
  *output = (NodeOutput){node, index};
  return true;
}

bool graph_check_node(const Graph *graph, const Node *node, Status *status) {
  if (!node) return status_invalid(status, "Node is null");
  if (node->graph == graph) return true;
  if (node->id < 0) return status_invalid(status, "node id %d is less than zero", node->id);
  if (node->id >= graph->num_node_ids) {
    return status_invalid(status, "node id %d is >= than number of nodes in graph %lld", node->id,
                          (long long)graph->num_node_ids);
  }
  return status_invalid(status,
                        "Node with id %d is different from the passed in node. Does it belong to a different "
                        "graph?%s",
                        node->id, node->graph ? "" : " It was removed from its graph.");
}

void node_print(const Node *node, StrBuf *out) {
  strbuf_printf(out, "{name:'%s' id:%d", node->name, node->id);
  if (node->id == SOURCE_ID) {
    strbuf_append(out, " source}");
  } else if (node->id == SINK_ID) {
    strbuf_append(out, " sink}");
  } else {
    strbuf_printf(out, " op device:{requested: '%s', assigned: '%s'} def:{", node->def->device,
                  node_assigned_device(node));
    node_def_summarize(node->def, out);
    strbuf_append(out, "}}");
  }
}

/* --- walks --- */

void graph_new_visit(Graph *graph) {
  if (++graph->visit > 0) return;
  for (int64_t id = 0; id < graph->num_node_ids; id++) {
    if (graph->nodes[id]) node_entry(graph->nodes[id])->visit = 0;
  }
  graph->visit = 1;
}

/* --- cached values and rolling back --- */

static void drop_values_until(Graph *graph, const CachedValue *last) {
  while (graph->cached_values != last) {
    CachedValue *entry = graph->cached_values;
    graph->cached_values = entry->previous;
    if (entry->is_partial_shape) {
      node_entry(entry->node)->partial_shape = NULL;
      continue;
    }
    node_entry(entry->node)->value = NULL;
    for (int i = 0; entry->outputs && i < entry->node->num_outputs; i++) tensor_clear(&entry->outputs[i]);
  }
}

void graph_forget_values(Graph *graph) { drop_values_until(graph, NULL); }

bool graph_rollback(Graph *graph, GraphMark mark) {
  drop_values_until(graph, mark.cached_values);
  graph_drop_bodies(graph, mark.bodies);
  arena_rollback(graph->arena, mark.arena);
  return false;
}
