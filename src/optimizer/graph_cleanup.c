#include "optimizer/graph_cleanup.h"

#include "base/alloc.h"
#include "optimizer/optimizer_internal.h"

static bool oom(Status *status) { return status_oom(status, "cleaning up a graph"); }

/* --- dead nodes --- */

bool graph_remove_dead_nodes(Graph *graph, const NodeSet *keep, bool *changed, Status *status) {
  *changed = false;
  int64_t count = 0, ids = graph_num_node_ids(graph);
  Node **roots = mem_calloc(ids, sizeof *roots);
  if (!roots) return oom(status);
  for (int64_t id = 0; id < ids; id++) {
    Node *node = graph_node(graph, id);
    if (!node) continue;
    bool is_root = !node->op || node->op->def->is_stateful || node_is_control_flow(node);
    if (is_root || kept(keep, node)) roots[count++] = node;
  }
  bool ok = graph_prune_for_reverse_reachability(graph, roots, count, changed, status);
  mem_free(roots);
  return ok;
}

/* --- identities --- */

static bool hands_on_dead_values(const Node *node) { return node_is_switch(node) || node_is_recv(node); }

/* The output to read in place of the node; no node if it must stay. */
static NodeOutput passed_on(const Node *node) {
  const NodeOutput none = {NULL, 0};
  if (!node_is_identity(node) || node->num_inputs != 1 || node->num_outputs != 1 ||
      node->num_control_inputs > 0)
    return none;
  const Edge *edge = node->inputs[0];
  if (!edge || dtype_is_ref(edge->src->output_types[edge->src_output])) return none;
  if (hands_on_dead_values(edge->src)) return none;
  if (node->num_out_edges == 0 && !node->sink_edge) return none;
  return edge_value(edge);
}

bool graph_remove_identity_nodes(Graph *graph, const NodeSet *keep, bool *changed, Status *status) {
  *changed = false;
  int64_t ids = graph_num_node_ids(graph);
  for (int64_t id = SINK_ID + 1; id < ids; id++) {
    Node *node = graph_node(graph, id);
    if (!node || kept(keep, node)) continue;
    NodeOutput from = passed_on(node);
    if (!from.node || from.node == node) continue;
    TRY(optimizer_move_consumers(graph, node, &from, from.node, status));
    graph_remove_node(graph, node);
    *changed = true;
  }
  return true;
}

/* --- lists and arrays --- */

static bool is_converter(const Node *node) {
  if (!node_is_list_array_converter(node) || node->num_inputs != node->num_outputs) return false;
  for (int i = 0; i < node->num_inputs; i++) {
    if (!node->inputs[i]) return false;
  }
  return true;
}

static const char *part_name(Graph *graph, const Node *node, const char *part, Arena *arena) {
  const char *prefix = arena_printf(arena, "Func/%s/%s", node->name, part);
  return !prefix ? NULL : graph_new_free_name(graph, prefix);
}

/* The nodes that replace the converter. */
static bool add_identities(Graph *graph, const Node *node, Arena *arena, NodeOutput *outputs, Node **end,
                           Status *status) {
  Node *begin = NULL;
  for (int i = 0; i < node->num_inputs; i++) {
    const Edge *edge = node->inputs[i];
    const char *name = part_name(graph, node, "input", arena);
    TRY(optimizer_add_identity(graph, name, edge->src->def->device, edge->src, edge->src_output,
                               &outputs[i].node, status));
  }
  if (node->num_control_inputs > 0)
    TRY(optimizer_add_no_op(graph, part_name(graph, node, "input_control_node", arena), "", &begin, status));
  for (int32_t i = 0; i < node->num_control_inputs; i++)
    TRY(optimizer_control(graph, node->control_inputs[i]->src, begin, status));
  for (int i = 0; begin && i < node->num_inputs; i++)
    TRY(optimizer_control(graph, begin, outputs[i].node, status));
  if (!optimizer_is_waited_for(node)) return true;
  TRY(optimizer_add_no_op(graph, part_name(graph, node, "output_control_node", arena), "", end, status));
  for (int i = 0; i < node->num_inputs; i++) TRY(optimizer_control(graph, outputs[i].node, *end, status));
  return node->num_inputs > 0 || !begin || optimizer_control(graph, begin, *end, status);
}

static bool infer(Graph *graph, const NodeOutput *outputs, int count, Status *status) {
  for (int i = 0; i < count; i++) TRY(graph_infer_leniently(graph, outputs[i].node, status));
  return true;
}

static bool replace_converter(Graph *graph, Node *node, Status *status) {
  int64_t first = graph_num_node_ids(graph);
  Arena *arena = arena_new();
  NodeOutput *outputs = !arena ? NULL : arena_calloc(arena, node->num_inputs, sizeof *outputs);
  Node *end = NULL;
  bool ok = (outputs || oom(status)) && add_identities(graph, node, arena, outputs, &end, status) &&
            infer(graph, outputs, node->num_inputs, status);
  if (!ok) {
    for (int64_t id = graph_num_node_ids(graph) - 1; id >= first; id--)
      graph_remove_node(graph, graph_node(graph, id));
  }
  ok = ok && optimizer_move_consumers(graph, node, outputs, end, status);
  if (ok) graph_remove_node(graph, node);
  arena_free(arena);
  return ok;
}

bool graph_remove_list_array_converters(Graph *graph, const NodeSet *keep, bool *changed, Status *status) {
  *changed = false;
  int64_t ids = graph_num_node_ids(graph);
  for (int64_t id = SINK_ID + 1; id < ids; id++) {
    Node *node = graph_node(graph, id);
    if (!node || kept(keep, node) || !is_converter(node)) continue;
    TRY(replace_converter(graph, node, status));
    *changed = true;
  }
  return true;
}
