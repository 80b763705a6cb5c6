#include "runtime/update_order.h"

#include <string.h>

/* A walk over the old order, which places nodes in the new one. */
typedef struct Walk {
  const Graph *graph;
  Node **placed;
  int64_t num_placed;
  int64_t num_counted; /* placed nodes whose inputs count as used */
  uint8_t *in_order;   /* per id: whether the node is in the order */
  uint8_t *delayed;    /* per id: whether it is an update that waits */
  int64_t *uses;       /* per id of a variable: how often nodes will use values read from it */
  int64_t
      *first_update; /* per id of a variable: an update that waits for these, chained by `next`; 0: none */
  int64_t *next;
} Walk;

static bool is_read(const Node *node) { return strcmp(node->def->op, "ReadVariableOp") == 0; }

/* A variable whose output is a reference: nodes read its value when they run. */
static bool is_reference(const Node *node) {
  return node->num_inputs == 0 && node->num_outputs == 1 && dtype_is_ref((int)node->output_types[0]);
}

/* The variable whose handle or reference the edge brings; NULL: none. */
static const Node *variable_of(const Edge *edge) {
  bool is_handle = strcmp(edge->src->def->op, "VarHandleOp") == 0;
  return is_handle || is_reference(edge->src) ? edge->src : NULL;
}

static bool takes_value(const Edge *edge) {
  return is_reference(edge->src) && !dtype_is_ref((int)edge->dst->input_types[edge->dst_input]);
}

/* The variable whose value the edge brings; NULL: none. */
static const Node *origin_of(const Edge *edge) {
  if (is_read(edge->src)) return variable_of(node_input_edge(edge->src, 0));
  return takes_value(edge) ? edge->src : NULL;
}

/* Makes an update wait if values that were read from its variable will be used. */
static bool delay(Walk *walk, const Node *node) {
  if (is_read(node)) return false;
  for (int i = 0; i < node->num_inputs; i++) {
    const Edge *edge = node_input_edge(node, i);
    const Node *variable = variable_of(edge);
    if (!variable || takes_value(edge) || walk->uses[variable->id] == 0) continue;
    walk->delayed[node->id] = true;
    walk->next[node->id] = walk->first_update[variable->id];
    walk->first_update[variable->id] = node->id;
    return true;
  }
  return false;
}

static void place(Walk *walk, Node *node) {
  walk->delayed[node->id] = false;
  walk->placed[walk->num_placed++] = node;
}

/* No value of the variable will be used. */
static void place_updates(Walk *walk, const Node *variable) {
  int64_t id = walk->first_update[variable->id];
  walk->first_update[variable->id] = 0;
  for (int64_t next; id != 0; id = next) {
    next = walk->next[id];
    Node *update = graph_node(walk->graph, id);
    if (walk->delayed[id] && !delay(walk, update)) place(walk, update);
  }
}

/* Of the node that reads a variable, or of a variable with a reference. */
static void count_readers(Walk *walk, const Node *node) {
  const Node *variable = is_reference(node) ? node : variable_of(node_input_edge(node, 0));
  if (!variable) return;
  for (int32_t i = 0; i < node->num_out_edges; i++) {
    const Edge *edge = node->out_edges[i];
    if (edge_is_control(edge) || !walk->in_order[edge->dst->id]) continue;
    walk->uses[variable->id] += is_read(node) || takes_value(edge);
  }
}

/* Counts what the placed nodes use, and places the updates that waited for it. */
static void count_placed(Walk *walk) {
  while (walk->num_counted < walk->num_placed) {
    const Node *node = walk->placed[walk->num_counted++];
    if (is_read(node) || is_reference(node)) count_readers(walk, node);
    for (int i = 0; i < node->num_inputs; i++) {
      const Node *variable = origin_of(node_input_edge(node, i));
      if (variable && --walk->uses[variable->id] == 0) place_updates(walk, variable);
    }
  }
}

/* Updates for which the node waits cannot come later. */
static void place_inputs(Walk *walk, const Node *node) {
  for (int64_t i = 0; i < node_num_in_edges(node); i++) {
    Node *input = node_in_edge(node, i)->src;
    if (walk->delayed[input->id]) place(walk, input);
  }
  count_placed(walk);
}

static bool start(Walk *walk, int64_t count, Arena *arena, Status *status) {
  int64_t ids = graph_num_node_ids(walk->graph);
  walk->placed = arena_alloc(arena, (count + 1) * (int64_t)sizeof *walk->placed);
  walk->in_order = arena_calloc(arena, ids, sizeof *walk->in_order);
  walk->delayed = arena_calloc(arena, ids, sizeof *walk->delayed);
  walk->uses = arena_calloc(arena, ids, sizeof *walk->uses);
  walk->first_update = arena_calloc(arena, ids, sizeof *walk->first_update);
  walk->next = arena_calloc(arena, ids, sizeof *walk->next);
  return (walk->placed && walk->in_order && walk->delayed && walk->uses && walk->first_update &&
          walk->next) ||
         status_oom(status, "the order of a program");
}

bool delay_updates(const Graph *graph, Node **order, int64_t count, Arena *arena, Status *status) {
  Walk walk = {.graph = graph};
  TRY(start(&walk, count, arena, status));
  for (int64_t i = 0; i < count; i++) walk.in_order[order[i]->id] = true;
  for (int64_t i = 0; i < count; i++) {
    place_inputs(&walk, order[i]);
    if (!delay(&walk, order[i])) place(&walk, order[i]);
    count_placed(&walk);
  }
  for (int64_t i = 0; i < count; i++) { /* updates that use each other's old values */
    if (walk.delayed[order[i]->id]) place(&walk, order[i]);
  }
  memcpy(order, walk.placed, (size_t)count * sizeof *order);
  return true;
}
