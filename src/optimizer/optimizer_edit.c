/* Building blocks for passes. */
#include <string.h>

#include "base/alloc.h"
#include "graph/graph_walk.h"
#include "optimizer/optimizer_internal.h"

static bool oom(Status *status) { return status_oom(status, "an optimised graph"); }

/* --- order --- */

bool optimizer_order(const Graph *graph, Arena *arena, Node ***order, int64_t *count, Status *status) {
  const Walk walk = {.follow = walk_follow_forward, .compare = node_compare_ids};
  int64_t all;
  TRY(graph_reverse_post_order(graph, &walk, arena, order, &all, status));
  *count = 0;
  for (int64_t i = 0; i < all; i++) {
    if ((*order)[i]->id > SINK_ID) (*order)[(*count)++] = (*order)[i];
  }
  return true;
}

/* --- adding --- */

/* TensorFlow numbers names and does not look whether they are free: a graph that was exported and read back
 * may have them. */
const char *optimizer_new_name(Graph *graph, const char *prefix) {
  const char *name;
  do {
    name = graph_new_name(graph, prefix);
  } while (name != NULL && graph_find_node(graph, name) != NULL);
  return name;
}

static NodeDef *new_def(Graph *graph, const char *name, const char *op, const char *device) {
  Arena *arena = graph_arena(graph);
  NodeDef *def = name == NULL ? NULL : node_def_new(arena, name, op);
  if (def == NULL) return NULL;
  def->device = arena_strdup(arena, device);
  return def->device != NULL ? def : NULL;
}

bool optimizer_add_no_op(Graph *graph, const char *name, const char *device, Node **node, Status *status) {
  NodeDef *def = new_def(graph, name, "NoOp", device);
  return def != NULL ? graph_add_node(graph, def, node, status) : oom(status);
}

bool optimizer_add_identity(Graph *graph, const char *name, const char *device, Node *from, int output,
                            Node **node, Status *status) {
  Edge *edge;
  NodeDef *def = new_def(graph, name, "Identity", device);
  AttrValue *type = attr_value_type(graph_arena(graph), dtype_base(from->output_types[output]));
  if (def == NULL || type == NULL) return oom(status);
  TRY(node_def_set_attr(def, graph_arena(graph), "T", type, status));
  TRY(graph_add_node(graph, def, node, status));
  return graph_add_edge(graph, from, output, *node, 0, &edge, status);
}

/* --- moving --- */

bool optimizer_is_waited_for(const Node *node) {
  if (node->sink_edge != NULL) return true;
  for (int32_t i = 0; i < node->num_out_edges; i++) {
    if (edge_is_control(node->out_edges[i])) return true;
  }
  return false;
}

bool optimizer_move_consumers(Graph *graph, Node *from, const NodeOutput *outputs, Node *control,
                              Status *status) {
  /* Moved edges leave the list, and the last one takes the place. */
  for (int32_t i = from->num_out_edges - 1; i >= 0; i--) {
    Edge *edge = from->out_edges[i];
    if (edge_is_control(edge)) {
      if (control == NULL) continue;
      TRY(optimizer_control(graph, control, edge->dst, status));
      graph_remove_edge(graph, edge);
    } else if (outputs[edge->src_output].node != NULL) {
      NodeOutput to = outputs[edge->src_output];
      TRY(graph_update_edge(graph, to.node, to.index, edge->dst, edge->dst_input, status));
    }
  }
  if (control == NULL || from->sink_edge == NULL) return true;
  Node *sink = graph_node(graph, SINK_ID);
  TRY(optimizer_control(graph, control, sink, status));
  graph_remove_edge(graph, from->sink_edge);
  return true;
}
