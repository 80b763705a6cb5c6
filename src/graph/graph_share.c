/* Copies a part of a graph and shares as much as possible: makes the graph of a step, which passes may
 * change. */
#include <string.h>

#include "base/alloc.h"
#include "graph/graph_internal.h"

typedef struct Share {
  Graph *graph;
  Node *const *nodes; /* `count` of them */
  int64_t count;
  EdgeFilter follow;
  const void *argument;
  Node **copies;
  int64_t num_edges;
  Edge *next_edge;
} Share;

static bool is_followed(const Share *share, const Edge *edge) {
  return edge && share->copies[edge->src->id] && (!share->follow || share->follow(share->argument, edge));
}

/* Shapes are immutable, so two graphs may share them; the arrays belong to the node. */
static bool share_shapes(Graph *graph, const Node *from, Node *to) {
  size_t outputs = (size_t)from->num_outputs;
  if (outputs > 0) memcpy(to->output_shapes, from->output_shapes, outputs * sizeof *to->output_shapes);
  if (from->output_handles == from->graph->no_handles) return true;
  const HandleData **handles = arena_alloc(graph->arena, (int64_t)(outputs * sizeof *handles));
  if (!handles) return false;
  if (outputs > 0) memcpy(handles, from->output_handles, outputs * sizeof *handles);
  to->output_handles = handles;
  return true;
}

static bool share_node(Share *share, const Node *from, Status *status) {
  Graph *graph = share->graph;
  NodeDef *def = node_def_share(graph->arena, from->def);
  Node *node = def ? graph_make_twin(graph, def, from) : NULL;
  if (!node || !share_shapes(graph, from, node)) return status_oom(status, "a part of a graph");
  if (from->assigned_device)
    TRY(graph_intern_device(graph, node_assigned_device(from), &node->assigned_device, status));
  TRY(graph_register_name(graph, node, status));
  graph_insert_node(graph, node);
  share->copies[from->id] = node;
  return true;
}

/* Counts the edges of a node in the fields where they will be stored; this sets capacities before the arrays
 * exist. */
static void count_edges(Share *share, const Node *from) {
  Node *node = share->copies[from->id];
  for (int i = 0; i < from->num_inputs; i++) {
    if (!is_followed(share, from->inputs[i])) continue;
    share->copies[from->inputs[i]->src->id]->out_edge_capacity++;
    share->num_edges++;
  }
  for (int32_t i = 0; i < from->num_control_inputs; i++) {
    if (!is_followed(share, from->control_inputs[i])) continue;
    share->copies[from->control_inputs[i]->src->id]->out_edge_capacity++;
    node->control_input_capacity++;
    share->num_edges++;
  }
}

/* Allocates the node's arrays of edges, and a writable input list. */
static bool make_room(Graph *graph, const Node *from, Node *node) {
  int64_t inputs = from->num_inputs + (int64_t)node->control_input_capacity;
  Edge **edges = arena_alloc(graph->arena, (node->out_edge_capacity + (int64_t)node->control_input_capacity) *
                                               (int64_t)sizeof *edges);
  char **texts = arena_alloc(graph->arena, inputs * (int64_t)sizeof *texts);
  if (!edges || !texts) return false;
  node->out_edges = edges;
  node->control_inputs = edges + node->out_edge_capacity;
  int64_t named =
      (int64_t)from->def->n_input < from->num_inputs ? (int64_t)from->def->n_input : from->num_inputs;
  if (named > 0) memcpy(texts, from->def->input, (size_t)named * sizeof *texts);
  for (int64_t i = named; i < from->num_inputs; i++) texts[i] = (char *)"";
  node->def->input = node_entry(node)->own_inputs = texts;
  node->def->n_input = (size_t)from->num_inputs;
  node_entry(node)->input_capacity = (int32_t)inputs;
  return true;
}

static void connect(Share *share, const Edge *old, Node *node) {
  *share->next_edge = (Edge){.src = share->copies[old->src->id],
                             .src_output = old->src_output,
                             .dst = node,
                             .dst_input = old->dst_input};
  graph_connect(share->graph, share->next_edge++);
}

static bool connect_node(Share *share, const Node *from, Status *status) {
  Node *node = share->copies[from->id];
  for (int i = 0; i < from->num_inputs; i++) {
    if (is_followed(share, from->inputs[i])) connect(share, from->inputs[i], node);
  }
  for (int32_t i = 0; i < from->num_control_inputs; i++) {
    if (!is_followed(share, from->control_inputs[i])) continue;
    connect(share, from->control_inputs[i], node);
    char **text = &node->def->input[node->def->n_input++];
    TRY(graph_input_text(share->graph, node->control_inputs[node->num_control_inputs - 1]->src, CONTROL_SLOT,
                         false, text, status));
  }
  return true;
}

static bool share_all(Share *share, Status *status) {
  Graph *graph = share->graph;
  TRY(graph_reserve_nodes(graph, share->count, status));
  for (int64_t i = 0; i < share->count; i++) TRY(share_node(share, share->nodes[i], status));
  for (int64_t i = 0; i < share->count; i++) count_edges(share, share->nodes[i]);
  TRY(graph_reserve_edge_ids(graph, share->num_edges, status));
  share->next_edge = arena_alloc(graph->arena, share->num_edges * (int64_t)sizeof(Edge));
  if (!share->next_edge) return status_oom(status, "a part of a graph");
  for (int64_t i = 0; i < share->count; i++) {
    if (!make_room(graph, share->nodes[i], share->copies[share->nodes[i]->id]))
      return status_oom(status, "a part of a graph");
  }
  for (int64_t i = 0; i < share->count; i++) TRY(connect_node(share, share->nodes[i], status));
  return true;
}

bool graph_share_in_order(Graph *graph, Node *const *nodes, int64_t count, EdgeFilter follow,
                          const void *argument, Node **copies, Status *status) {
  Share share = {.graph = graph,
                 .nodes = nodes,
                 .count = count,
                 .follow = follow,
                 .argument = argument,
                 .copies = copies};
  return share_all(&share, status);
}

bool graph_share_nodes(Graph *graph, const Graph *from, const NodeSet *set, EdgeFilter follow,
                       const void *argument, Node **copies, Status *status) {
  int64_t count = 0;
  Node **nodes = mem_alloc(set->size * (int64_t)sizeof *nodes);
  if (!nodes) return status_oom(status, "a part of a graph");
  for (int64_t id = SINK_ID + 1; id < set->size; id++) {
    if (set->member[id]) nodes[count++] = from->nodes[id];
  }
  bool ok = graph_share_in_order(graph, nodes, count, follow, argument, copies, status);
  mem_free(nodes);
  return ok;
}
