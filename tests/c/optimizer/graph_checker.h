/* Checks the consistency of a graph after a pass. */
#ifndef TFCORE_TESTS_OPTIMIZER_GRAPH_CHECKER_H_
#define TFCORE_TESTS_OPTIMIZER_GRAPH_CHECKER_H_

#include <string.h>

#include "graph/graph_walk.h"
#include "harness.h"
#include "op/node_def.h"

static inline bool edge_is_whole(const Graph *graph, const Edge *edge) {
  const Node *src = edge->src, *dst = edge->dst;
  if (!src || !dst || graph_node(graph, src->id) != src || graph_node(graph, dst->id) != dst) return false;
  if (edge->place < 0 || edge->place >= src->num_out_edges || src->out_edges[edge->place] != edge)
    return false;
  if (edge_is_control(edge)) return edge->dst_input == CONTROL_SLOT;
  if (edge->src_output < 0 || edge->src_output >= src->num_outputs) return false;
  int from = src->output_types[edge->src_output], to = dst->input_types[edge->dst_input];
  return from == to || (int)dtype_base(from) == to;
}

/* The NodeDef must name the edge's source. */
static inline bool input_is_named(const Node *node, int i) {
  Str name;
  int index;
  return (size_t)i < node->def->n_input && node_parse_input(node->def->input[i], &name, &index) &&
         index == node->inputs[i]->src_output && str_equal_text(name, node->inputs[i]->src->name);
}

static inline bool node_is_whole(const Graph *graph, const Node *node) {
  for (int i = 0; i < node->num_inputs; i++) {
    const Edge *edge = node->inputs[i];
    if (!edge || edge->dst != node || edge->dst_input != i || !edge_is_whole(graph, edge)) return false;
    if (!input_is_named(node, i)) return false;
  }
  for (int32_t i = 0; i < node->num_control_inputs; i++) {
    const Edge *edge = node->control_inputs[i];
    if (edge->dst != node || !edge_is_control(edge) || !edge_is_whole(graph, edge)) return false;
  }
  for (int32_t i = 0; i < node->num_out_edges; i++) {
    const Edge *edge = node->out_edges[i];
    if (edge->src != node || edge->place != i || !edge_is_whole(graph, edge)) return false;
  }
  return node->def->n_input == (size_t)(node->num_inputs + node->num_control_inputs);
}

static inline bool graph_is_whole(Graph *graph) {
  Status status;
  status_init(&status);
  int64_t nodes = 0;
  for (int64_t id = 0; id < graph_num_node_ids(graph); id++) {
    const Node *node = graph_node(graph, id);
    if (!node) continue;
    nodes++;
    if (id > SINK_ID && !node_is_whole(graph, node)) {
      CHECK_STR_EQ(node->name, "a node whose edges fit");
      return false;
    }
    if (id > SINK_ID && graph_find_node(graph, node->name) != node) {
      CHECK_STR_EQ(node->name, "a name of one node");
      return false;
    }
  }
  Node **order; /* there is none when a cycle is no loop */
  Arena *arena = arena_new();
  bool ok = CHECK_INT_EQ(graph_num_nodes(graph), nodes) &&
            CHECK_OK(graph_topological_order(graph, NULL, NULL, 0, arena, &order, &nodes, &status), &status);
  arena_free(arena);
  return ok;
}

#endif
