/* Removes many nodes at once, in time linear in the graph. */
#include <string.h>

#include "base/alloc.h"
#include "graph/graph_internal.h"

static void retire(Graph *graph, Edge **edge) {
  if (*edge) graph_retire_edge(graph, *edge);
  *edge = NULL;
}

/* Removes the node's edges: all incoming ones, and those of source and sink. */
static void disconnect(Graph *graph, Node *node) {
  for (int i = 0; i < node->num_inputs; i++) retire(graph, &node->inputs[i]);
  for (int32_t i = 0; i < node->num_control_inputs; i++) retire(graph, &node->control_inputs[i]);
  node->num_control_inputs = 0;
  retire(graph, &node->source_edge);
  retire(graph, &node->sink_edge);
}

/* Drops outgoing edges whose other end was removed. */
static void close_ranks(Node *node) {
  int32_t kept = 0;
  for (int32_t i = 0; i < node->num_out_edges; i++) {
    Edge *edge = node->out_edges[i];
    if (!edge->src) continue;
    edge->place = kept;
    node->out_edges[kept++] = edge;
  }
  node->num_out_edges = kept;
}

static bool is_kept(const NodeSet *keep, const Node *node) {
  return node->id <= SINK_ID || (keep && node_set_has(keep, node));
}

/* Removes all nodes outside of `keep` (NULL: all nodes). Inputs of kept nodes must be kept too. */
static int64_t remove_others(Graph *graph, const NodeSet *keep) {
  int64_t removed = 0;
  graph_forget_values(graph);
  for (int64_t id = SINK_ID + 1; id < graph->num_node_ids; id++) {
    Node *node = graph->nodes[id];
    if (!node || is_kept(keep, node)) continue;
    disconnect(graph, node);
    removed++;
  }
  for (int64_t id = SINK_ID + 1; id < graph->num_node_ids; id++) {
    Node *node = graph->nodes[id];
    if (!node) continue;
    close_ranks(node);
    if (is_kept(keep, node)) continue;
    if (keep) graph_unregister_name(graph, node);
    graph->nodes[id] = NULL;
    node->graph = NULL;
  }
  if (removed == 0) return 0;
  graph_forget_free_names(graph, "/");
  graph->num_nodes -= removed;
  graph->mutations++;
  graph->fixed_until = SINK_ID + 1;
  return removed;
}

void graph_clear(Graph *graph) {
  remove_others(graph, NULL);
  string_map_free(&graph->names);
  string_map_free(&graph->duplicates);
  graph_forget_while_contexts(graph);
  graph->fixed_until = graph->num_node_ids;
}

/* The roots, plus the nodes with an edge to sink if that is one of them. */
static bool spread_roots(const Graph *graph, Node *const *roots, int64_t num_roots, Arena *arena, Node ***out,
                         int64_t *count, Status *status) {
  bool all_before_sink = false;
  for (int64_t i = 0; i < num_roots; i++) {
    TRY(graph_check_node(graph, roots[i], status));
    all_before_sink |= roots[i]->id == SINK_ID;
  }
  int64_t most = num_roots + (all_before_sink ? graph->num_node_ids : 0);
  *out = arena_alloc(arena, most * (int64_t)sizeof **out);
  if (!*out) return status_oom(status, "a set of nodes");
  if (num_roots > 0) memcpy(*out, roots, (size_t)num_roots * sizeof *roots);
  *count = num_roots;
  for (int64_t id = 0; all_before_sink && id < graph->num_node_ids; id++) {
    Node *node = graph->nodes[id];
    if (node && node->sink_edge) (*out)[(*count)++] = node;
  }
  return true;
}

bool graph_prune_for_reverse_reachability(Graph *graph, Node *const *roots, int64_t num_roots,
                                          bool *any_removed, Status *status) {
  Arena *arena = arena_new();
  NodeSet keep;
  Node **spread = NULL;
  int64_t count = 0;
  if (!arena) return status_oom(status, "a set of nodes");
  bool ok = spread_roots(graph, roots, num_roots, arena, &spread, &count, status) &&
            graph_reverse_reachable(graph, spread, count, NULL, 0, arena, &keep, status);
  int64_t removed = ok ? remove_others(graph, &keep) : 0;
  if (any_removed) *any_removed = removed > 0;
  arena_free(arena);
  return ok;
}
