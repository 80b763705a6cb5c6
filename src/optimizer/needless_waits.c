#include "optimizer/needless_waits.h"

#include "base/arena.h"
#include "optimizer/graph_cleanup.h"
#include "optimizer/optimizer_internal.h"

typedef struct Waits {
  Graph *graph;
  const NodeSet *keep;
  Status *status;
  Node **order; /* topological */
  int64_t count;
  int32_t *place; /* by id: in the order; 0 for nodes that are not in it */
  int32_t *found; /* by id: the place of the last node whose search found it */
  Node **stack;
  int64_t left; /* edges that searches may still look at */
  bool changed;
} Waits;

enum {
  EDGES_PER_NODE = 32, /* a search looks at this many edges for each node of the graph, in all */
  MOST_WAITS = 64      /* a node does not take over more control inputs */
};

static bool oom(Status *status) { return status_oom(status, "control edges"); }

static bool is_no_op(const Node *node) { return node->op && optimizer_is_op(node, "NoOp"); }

/* --- NoOps --- */

/* Lets the only reader of a NoOp wait for what the NoOp waits for. */
static bool bypass(Waits *w, Node *node) {
  if (!is_no_op(node) || kept(w->keep, node) || node->num_out_edges != 1) return true;
  Node *reader = node->out_edges[0]->dst;
  if (reader->id <= SINK_ID || node_is_control_flow(reader)) return true;
  if (node->num_control_inputs + reader->num_control_inputs > MOST_WAITS) return true;
  for (int32_t i = 0; i < node->num_control_inputs; i++)
    TRY(optimizer_control(w->graph, node->control_inputs[i]->src, reader, w->status));
  graph_remove_node(w->graph, node);
  w->changed = true;
  return true;
}

/* --- nodes that run at once --- */

static bool runs_at_once(const Node *node) {
  if (!node->op || node->num_inputs > 0 || (!node_is_const(node) && !is_no_op(node))) return false;
  for (int32_t i = 0; i < node->num_control_inputs; i++) {
    if (node->control_inputs[i]->src->id > SINK_ID) return false;
  }
  return true;
}

static void drop_outputs(Waits *w, const Node *node) {
  for (int32_t i = node->num_out_edges - 1; i >= 0; i--) {
    Edge *edge = node->out_edges[i];
    if (!edge_is_control(edge) || edge->dst->id <= SINK_ID) continue;
    graph_remove_edge(w->graph, edge);
    w->changed = true;
  }
}

/* --- nodes that are needed anyway --- */

/* The first of the nodes that the node waits for. */
static int32_t first_place(const Waits *w, const Node *node) {
  int32_t first = INT32_MAX;
  for (int32_t i = 0; i < node->num_control_inputs; i++) {
    int32_t place = w->place[node->control_inputs[i]->src->id];
    if (node->control_inputs[i]->src->id > SINK_ID && place < first) first = place;
  }
  return first;
}

/* Marks what the inputs of the node need, as far back as `first`. What a Merge needs is not known: it does
 * not wait for all of its inputs; and what a ControlTrigger waits for may be dead. */
static void find_needed(Waits *w, const Node *node, int32_t first) {
  int32_t mark = w->place[node->id];
  int64_t depth = 0;
  for (int i = 0; i < node->num_inputs; i++) {
    Node *source = node->inputs[i] ? node->inputs[i]->src : NULL;
    if (!source || w->found[source->id] == mark) continue;
    w->found[source->id] = mark;
    w->stack[depth++] = source;
  }
  while (depth > 0) {
    const Node *needed = w->stack[--depth];
    if (w->place[needed->id] <= first || node_is_control_flow(needed) || node_is_control_trigger(needed))
      continue;
    for (int64_t i = 0; i < node_num_in_edges(needed); i++) {
      const Edge *edge = node_in_edge(needed, i);
      if (--w->left < 0) return;
      if (!edge || w->found[edge->src->id] == mark) continue;
      w->found[edge->src->id] = mark;
      w->stack[depth++] = edge->src;
    }
  }
}

static void drop_inputs(Waits *w, const Node *node) {
  int32_t first = first_place(w, node);
  if (first == INT32_MAX || node_is_control_flow(node)) return;
  find_needed(w, node, first);
  for (int32_t i = node->num_control_inputs - 1; i >= 0; i--) {
    Edge *edge = node->control_inputs[i];
    if (edge->src->id <= SINK_ID || w->found[edge->src->id] != w->place[node->id]) continue;
    graph_remove_edge(w->graph, edge);
    w->changed = true;
  }
}

/* --- all --- */

static bool run(Waits *w, Arena *arena) {
  int64_t ids = graph_num_node_ids(w->graph);
  for (int64_t id = ids - 1; id > SINK_ID;
       id--) { /* readers first, mostly: their inputs are moved once then */
    Node *node = graph_node(w->graph, id);
    if (node) TRY(bypass(w, node));
  }
  TRY(optimizer_order(w->graph, arena, &w->order, &w->count, w->status));
  w->place = arena_calloc(arena, ids, sizeof *w->place);
  w->found = arena_calloc(arena, ids, sizeof *w->found);
  w->stack = arena_calloc(arena, ids, sizeof *w->stack);
  if (!w->place || !w->found || !w->stack) return oom(w->status);
  w->left = EDGES_PER_NODE * w->count;
  for (int64_t i = 0; i < w->count; i++) w->place[w->order[i]->id] = (int32_t)i + 1;
  for (int64_t i = 0; i < w->count; i++) {
    if (w->order[i]->num_control_inputs > 0) drop_inputs(w, w->order[i]);
    if (runs_at_once(w->order[i])) drop_outputs(w, w->order[i]);
  }
  return true;
}

bool graph_drop_needless_waits(Graph *graph, const NodeSet *keep, bool *changed, Status *status) {
  Waits w = {.graph = graph, .keep = keep, .status = status};
  Arena *arena = arena_new();
  bool removed, ok = (arena || oom(status)) && run(&w, arena);
  arena_free(arena);
  *changed = w.changed;
  if (!ok || !w.changed) return ok;
  TRY(graph_remove_dead_nodes(graph, keep, &removed, status));
  return graph_remove_identity_nodes(graph, keep, &removed, status);
}
