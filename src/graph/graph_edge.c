/* The bookkeeping of all edges: ids, the table of edges by id, and the edges of source and sink. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "graph/graph_internal.h"

/* --- ids --- */

/* Calls `visit` for every edge once. Each is found at one end that is not source or sink, except the edge
 * between these two. */
static void for_each_edge(const Graph *graph, void (*visit)(Edge *edge, Edge **table), Edge **table) {
  for (int64_t id = 0; id < graph->num_node_ids; id++) {
    const Node *node = graph->nodes[id];
    if (!node) continue;
    for (int i = 0; i < node->num_inputs; i++) {
      if (node->inputs[i]) visit(node->inputs[i], table);
    }
    for (int32_t i = 0; i < node->num_control_inputs; i++) visit(node->control_inputs[i], table);
    if (node->source_edge) visit(node->source_edge, table);
    if (node->sink_edge && id != SOURCE_ID) visit(node->sink_edge, table);
  }
}

static void put_edge(Edge *edge, Edge **table) { table[edge->id] = edge; }

Edge **graph_collect_edges(const Graph *graph) {
  Edge **table = mem_calloc(graph->next_edge_id, sizeof *table);
  if (table) for_each_edge(graph, put_edge, table);
  return table;
}

bool graph_reserve_edge_ids(Graph *graph, int64_t more, Status *status) {
  int64_t count = graph->next_edge_id + more;
  if (count <= INT32_MAX && (!graph->edges || mem_grow((void **)&graph->edges, &graph->edge_capacity, count,
                                                       sizeof *graph->edges))) {
    return true;
  }
  return status_oom(status, "the edges of a graph");
}

void graph_drop_edge_ids(Graph *graph) {
  mem_free(graph->edges);
  graph->edges = NULL;
  graph->edge_capacity = 0;
}

void graph_number_edge(Graph *graph, Edge *edge) {
  edge->id = (int32_t)graph->next_edge_id++;
  graph->num_edges++;
  if (graph->edges) graph->edges[edge->id] = edge;
}

void graph_retire_edge(Graph *graph, Edge *edge) {
  if (graph->edges) graph->edges[edge->id] = NULL;
  graph->num_edges--;
  edge->src = edge->dst = NULL;
}

bool graph_edges(Graph *graph, Edge *const **edges, int64_t *count, Status *status) {
  *edges = NULL;
  *count = 0;
  if (!graph->edges) {
    graph->edges = graph_collect_edges(graph);
    if (!graph->edges) return status_oom(status, "the edges of a graph");
    graph->edge_capacity = graph->next_edge_id;
  }
  *edges = graph->edges;
  *count = graph->next_edge_id;
  return true;
}

bool graph_find_edge(Graph *graph, int64_t id, Edge **edge, Status *status) {
  Edge *const *edges;
  int64_t count;
  *edge = NULL;
  TRY(graph_edges(graph, &edges, &count, status));
  if (id >= 0 && id < count) *edge = edges[id];
  return true;
}

int64_t graph_num_edge_ids(const Graph *graph) { return graph->next_edge_id; }

bool graph_check_edge(const Graph *graph, const Edge *edge, Status *status) {
  if (!edge) return status_invalid(status, "Edge is null");
  if (!edge->src) return status_invalid(status, "Edge with id %d was removed from its graph", edge->id);
  if (edge->src->graph == graph) return true;
  return status_invalid(status, "Edge with id %d belongs to a different graph", edge->id);
}

static void print_end(const Node *node, int slot, StrBuf *out) {
  strbuf_printf(out, "%s:%d", node ? node->name : "<NULL>", slot);
}

void edge_print(const Edge *edge, StrBuf *out) {
  strbuf_printf(out, "[id=%d ", edge->id);
  print_end(edge->src, edge->src_output, out);
  strbuf_append(out, " -> ");
  print_end(edge->dst, edge->dst_input, out);
  strbuf_append(out, "]");
}

/* --- edges from source and to sink --- */

/* The fields that hold the edge. The one between source and sink is in both. */
static Edge **special_slot(Node *src, Node *dst) {
  return dst->id == SINK_ID ? &src->sink_edge : &dst->source_edge;
}

void graph_connect(Graph *graph, Edge *edge) {
  Node *src = edge->src, *dst = edge->dst;
  if (edge_is_special(edge)) {
    if (src->id == SOURCE_ID) dst->source_edge = edge;
    if (dst->id == SINK_ID) src->sink_edge = edge;
  } else {
    node_put_out_edge(edge);
    if (edge_is_control(edge)) {
      dst->control_inputs[dst->num_control_inputs++] = edge;
    } else {
      dst->inputs[edge->dst_input] = edge;
    }
  }
  graph_number_edge(graph, edge);
}

Edge *graph_special_edge(Node *src, Node *dst) { return *special_slot(src, dst); }

bool graph_add_special_edge(Graph *graph, Node *src, Node *dst, Edge **out, Status *status) {
  if (src->id == SINK_ID || dst->id == SOURCE_ID)
    return status_invalid(status, "An edge cannot start at '_SINK' or end at '_SOURCE'");
  if (graph_special_edge(src, dst)) return true;
  TRY(graph_reserve_edge_ids(graph, 1, status));
  Edge *edge = arena_alloc(graph->arena, sizeof *edge);
  if (!edge) return status_oom(status, "an edge");
  *edge = (Edge){.src = src, .src_output = CONTROL_SLOT, .dst = dst, .dst_input = CONTROL_SLOT};
  graph_connect(graph, edge);
  *out = edge;
  return true;
}

void graph_remove_special_edge(Graph *graph, Edge *edge) {
  Node *src = edge->src, *dst = edge->dst;
  if (src->id == SOURCE_ID) dst->source_edge = NULL;
  if (dst->id == SINK_ID) src->sink_edge = NULL;
  graph_unfix_node(graph, src);
  graph_unfix_node(graph, dst);
  graph_retire_edge(graph, edge);
}

static bool lacks_source(const Node *node) {
  if (node->source_edge || node->num_control_inputs > 0) return false;
  for (int i = 0; i < node->num_inputs; i++) {
    if (node->inputs[i]) return false;
  }
  return true;
}

static bool lacks_sink(const Node *node) { return !node->sink_edge && node->num_out_edges == 0; }

static Edge *fix(Graph *graph, Edge *edge, Node *src, Node *dst) {
  *edge = (Edge){.src = src, .src_output = CONTROL_SLOT, .dst = dst, .dst_input = CONTROL_SLOT};
  graph_connect(graph, edge);
  return edge + 1;
}

bool graph_fixup_source_and_sink_edges(Graph *graph, bool *changed, Status *status) {
  Node *source = graph->nodes[SOURCE_ID], *sink = graph->nodes[SINK_ID];
  int64_t count = !source->sink_edge;
  if (changed) *changed = false;
  for (int64_t id = graph->fixed_until; id < graph->num_node_ids; id++) {
    const Node *node = graph->nodes[id];
    if (node) count += lacks_source(node) + lacks_sink(node);
  }
  if (count > 0) {
    TRY(graph_reserve_edge_ids(graph, count, status));
    Edge *next = arena_alloc(graph->arena, count * (int64_t)sizeof *next);
    if (!next) return status_oom(status, "edges");
    if (!source->sink_edge) next = fix(graph, next, source, sink);
    for (int64_t id = graph->fixed_until; id < graph->num_node_ids; id++) {
      Node *node = graph->nodes[id];
      if (!node) continue;
      if (lacks_source(node)) next = fix(graph, next, source, node);
      if (lacks_sink(node)) next = fix(graph, next, node, sink);
    }
  }
  graph->fixed_until = graph->num_node_ids;
  if (changed) *changed = count > 0;
  return true;
}
