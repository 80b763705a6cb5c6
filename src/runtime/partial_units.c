#include "runtime/partial_units.h"

#include <string.h>

#include "graph/graph_walk.h"
#include "graph/node_class.h"

typedef struct Units {
  const Graph *graph;
  const ControlFlowInfo *info; /* per id */
  int64_t size;
  int64_t *joined;   /* per id: another node of the same unit, or itself */
  uint8_t *optional; /* per id: whether its outputs may be dead */
  int64_t *queue;    /* nodes whose readers have not been visited yet */
  int64_t num_queued;
} Units;

static int64_t unit_of(const Units *u, int64_t id) {
  while (u->joined[id] != id) {
    u->joined[id] = u->joined[u->joined[id]];
    id = u->joined[id];
  }
  return id;
}

static void join(const Units *u, const Node *a, const Node *b) {
  int64_t unit_a = unit_of(u, a->id), unit_b = unit_of(u, b->id);
  u->joined[unit_a < unit_b ? unit_b : unit_a] = unit_a < unit_b ? unit_a : unit_b;
}

static bool is_in_loop(const Units *u, const Node *node) { return u->info[node->id].frame_name[0] != '\0'; }

static void mark(Units *u, const Node *node) {
  if (u->optional[node->id]) return;
  u->optional[node->id] = 1;
  u->queue[u->num_queued++] = node->id;
}

/* A dead Enter makes the whole loop dead. If no Enter is dead, the loop's Exits are alive. */
static void mark_exits(Units *u, const Node *enter) {
  for (int64_t id = SINK_ID + 1; id < u->size; id++) {
    const Node *node = graph_node(u->graph, id);
    if (node && node_is_exit(node) && strcmp(u->info[id].frame_name, u->info[enter->id].frame_name) == 0)
      mark(u, node);
  }
}

static void mark_readers(Units *u, const Node *node) {
  for (int32_t i = 0; i < node->num_out_edges; i++) {
    const Node *reader = node->out_edges[i]->dst;
    if (reader->id == SINK_ID) continue;
    join(u, node, reader);
    if (node_is_merge(reader) || node_is_exit(reader)) continue;
    mark(u, reader);
    if (node_is_enter(reader)) mark_exits(u, reader);
  }
}

static bool hands_on_reference(const Edge *edge) {
  return !edge_is_control(edge) && edge->src->node_class != NODE_VARIABLE &&
         dtype_is_ref(edge->src->output_types[edge->src_output]) &&
         dtype_is_ref(edge->dst->input_types[edge->dst_input]);
}

static void join_edges(Units *u, const Node *node) {
  for (int32_t i = 0; i < node->num_out_edges; i++) {
    const Edge *edge = node->out_edges[i];
    if (edge->dst->id == SINK_ID || node->id == SOURCE_ID) continue;
    if ((is_in_loop(u, node) && is_in_loop(u, edge->dst)) || hands_on_reference(edge))
      join(u, node, edge->dst);
  }
}

/* Rings of the nodes that have the same unit. */
static void link_units(const Units *u, int64_t *last, PartialUnits *units) {
  for (int64_t id = 0; id < u->size; id++) {
    int64_t first = unit_of(u, id);
    units->next[id] = first;
    if (id != first) units->next[last[first]] = id;
    last[first] = id;
  }
}

bool partial_units_of(const Graph *graph, Arena *arena, PartialUnits *units, Status *status) {
  ControlFlowInfo *info;
  Units u = {.graph = graph, .size = graph_num_node_ids(graph)};
  TRY(graph_control_flow(graph, arena, &info, NULL, NULL, status));
  u.info = info;
  u.joined = arena_calloc(arena, u.size, sizeof *u.joined);
  u.optional = arena_calloc(arena, u.size, sizeof *u.optional);
  u.queue = arena_calloc(arena, u.size, sizeof *u.queue);
  int64_t *last = arena_calloc(arena, u.size, sizeof *last);
  units->size = u.size;
  units->next = arena_calloc(arena, u.size, sizeof *units->next);
  if (!u.joined || !u.optional || !u.queue || !last || !units->next)
    return status_oom(status, "a partial run");
  for (int64_t id = 0; id < u.size; id++) u.joined[id] = id;
  for (int64_t id = SINK_ID + 1; id < u.size; id++) {
    const Node *node = graph_node(graph, id);
    if (!node) continue;
    join_edges(&u, node);
    if (node_is_switch(node)) mark(&u, node);
  }
  for (int64_t i = 0; i < u.num_queued; i++) mark_readers(&u, graph_node(graph, u.queue[i]));
  link_units(&u, last, units);
  return true;
}
