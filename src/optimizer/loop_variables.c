#include "optimizer/loop_variables.h"

#include "base/arena.h"
#include "graph/frame_loop.h"
#include "optimizer/graph_cleanup.h"
#include "optimizer/loop_values.h"
#include "optimizer/optimizer_internal.h"

typedef struct Variables {
  Graph *graph;
  const NodeSet *keep;
  Status *status;
  Node **order; /* topological */
  int64_t count;
  bool *steady;   /* by id, see is_steady */
  bool *changing; /* by the id of a Merge: what comes back may be dead in a round that goes on */
  Node **entered; /* by the id of an Enter: the constant Enter of its value, once there is one */
  bool changed;
} Variables;

static bool oom(Status *status) { return status_oom(status, "the variables of loops"); }

/* --- which nodes certainly run --- */

static const Edge *input_from(const Node *merge, bool (*is_class)(const Node *)) {
  for (int i = 0; i < merge->num_inputs; i++) {
    if (merge->inputs[i] && is_class(merge->inputs[i]->src)) return merge->inputs[i];
  }
  return NULL;
}

static bool is_enter(const Node *node) { return node_is_enter(node); }
static bool is_next(const Node *node) { return node_is_next_iteration(node); }

/* A Switch gives the round its value, and an Exit what it has after the last one. */
static bool carries_on(const Variables *v, const Edge *edge) {
  const Node *from = edge->src;
  if (from->id <= SINK_ID) return true;
  if (!v->steady[from->id]) return false;
  return edge_is_control(edge) || !node_is_switch(from) || (edge->src_output == 0) == node_is_exit(edge->dst);
}

/* Whether the node runs in every step; or, in a loop, in every round that goes on, and in the last one until
 * the condition is known. */
static bool is_steady(const Variables *v, const Node *node) {
  if (node_is_recv(node)) return false;
  if (node_is_merge(node)) {
    const Edge *enter = input_from(node, is_enter);
    return enter && node_is_loop_merge(node) && node->num_inputs == 2 && !v->changing[node->id] &&
           v->steady[enter->src->id];
  }
  if (node_is_switch(node) && !node_is_loop_switch(node)) return false;
  for (int64_t i = 0; i < node_num_in_edges(node); i++) {
    const Edge *edge = node_in_edge(node, i);
    if (!edge || !carries_on(v, edge)) return false;
  }
  return true;
}

/* Assumes that variables come back, and revokes that where they may not. If that takes many rounds, nothing
 * is known. */
static void find_steady(Variables *v) {
  enum { MOST_ROUNDS = 4 };
  bool again = true;
  for (int round = 0; again && round < MOST_ROUNDS; round++) {
    again = false;
    for (int64_t i = 0; i < v->count; i++) v->steady[v->order[i]->id] = is_steady(v, v->order[i]);
    for (int64_t i = 0; i < v->count; i++) {
      const Node *merge = v->order[i];
      if (!v->steady[merge->id] || !node_is_merge(merge)) continue;
      const Edge *next = input_from(merge, is_next);
      if (next && v->steady[next->src->id]) continue;
      v->changing[merge->id] = again = true;
    }
  }
  for (int64_t i = 0; again && i < v->count; i++) v->steady[v->order[i]->id] = false;
}

/* --- Exits that are waited for --- */

/* The predicate that ends the loop. */
static const Node *condition_of(const Node *exit) {
  const Edge *value = exit->inputs[0];
  const Edge *condition = value && node_is_loop_switch(value->src) ? value->src->inputs[1] : NULL;
  return condition ? condition->src : NULL;
}

static bool waits_for_another(const Node *node, const Node *exit) {
  for (int64_t i = 0; i < node_num_in_edges(node); i++) {
    const Edge *edge = node_in_edge(node, i);
    if (edge && edge->src != exit && node_is_exit(edge->src) && condition_of(edge->src) &&
        condition_of(edge->src) == condition_of(exit))
      return true;
  }
  return false;
}

/* Where a node waits for another Exit, the loop has ended. */
static void forget_waits(Variables *v, Node *exit) {
  if (!v->steady[exit->id] || !condition_of(exit) || kept(v->keep, exit)) return;
  for (int32_t i = 0; i < exit->num_out_edges; i++) {
    if (!edge_is_control(exit->out_edges[i])) return;
  }
  for (int32_t i = exit->num_out_edges - 1; i >= 0; i--) {
    if (!waits_for_another(exit->out_edges[i]->dst, exit)) continue;
    graph_remove_edge(v->graph, exit->out_edges[i]);
    v->changed = true;
  }
}

/* --- variables that do not change --- */

/* Whether a node that waits for this one runs in the same rounds at most. */
static bool is_waited_for_in_loop(const Node *node, bool in_condition) {
  if (in_condition && (node_is_loop_merge(node) || node_is_loop_switch(node))) return true;
  const Edge *value = node_is_identity(node) ? node->inputs[0] : NULL;
  return in_condition ? loop_value_is_of_condition(value) : loop_value_is_of_round(value);
}

/* Whether the node has another input edge that is alive in the same rounds at most. */
static bool ends_with_loop(const Node *node, const Edge *edge, bool in_condition) {
  for (int64_t i = 0; i < node_num_in_edges(node); i++) {
    const Edge *other = node_in_edge(node, i);
    if (!other || other == edge || other->src == edge->src) continue;
    bool is_of_loop = edge_is_control(other) ? is_waited_for_in_loop(other->src, in_condition)
                      : in_condition         ? loop_value_is_of_condition(other)
                                             : loop_value_is_of_round(other);
    if (is_of_loop) return true;
  }
  return false;
}

/* The value of a variable that the node hands on: the edge from its Merge, or into the round. */
static const Edge *variable_of(const Node *node) {
  const Edge *next = node_is_loop_merge(node) ? input_from(node, is_next) : NULL;
  if (next) return loop_value_source(next->src->inputs[0]);
  return node_is_loop_switch(node) || node_is_identity(node) ? loop_value_source(node->inputs[0]) : NULL;
}

/* A control edge from a variable that does not change says nothing where the round is alive anyway. A Merge
 * and a Switch run for the condition as well, the values of a round do not. */
static void forget_rounds(Variables *v, const Node *node) {
  const Edge *value = variable_of(node);
  if (!value || !loop_value_unchanged(value) || !v->steady[node->id]) return;
  bool in_condition = !node_is_identity(node) || node_is_loop_merge(value->src);
  for (int32_t i = node->num_out_edges - 1; i >= 0; i--) {
    Edge *edge = node->out_edges[i];
    if (!edge_is_control(edge) || edge->dst->id <= SINK_ID || !v->steady[edge->dst->id]) continue;
    if (!ends_with_loop(edge->dst, edge, in_condition)) continue;
    graph_remove_edge(v->graph, edge);
    v->changed = true;
  }
}

static bool enter_once(Variables *v, const Node *enter, Node **made) {
  *made = v->entered[enter->id];
  if (*made) return true;
  TRY(loop_value_enter(v->graph, edge_value(enter->inputs[0]), enter, true, made, v->status));
  v->entered[enter->id] = *made;
  return true;
}

static bool read_from_enters(Variables *v, Node *node) {
  if (!node->op || node_is_control_flow(node) || node_is_identity(node) || kept(v->keep, node)) return true;
  for (int i = 0; i < node->num_inputs; i++) {
    const Edge *source = loop_value_source(node->inputs[i]);
    const Node *enter = source ? loop_value_unchanged(source) : NULL;
    Node *made;
    if (!enter || !enter->inputs[0] || dtype_is_ref((int)enter->output_types[0])) continue;
    if (!ends_with_loop(node, node->inputs[i], node_is_merge(source->src))) continue;
    TRY(enter_once(v, enter, &made));
    TRY(graph_update_edge(v->graph, made, 0, node, i, v->status));
    v->changed = true;
  }
  return true;
}

/* --- variables without readers --- */

enum { MOST_OF_VARIABLE = 24 };

/* A Merge and all that reads it. */
typedef struct Chain {
  Node *nodes[MOST_OF_VARIABLE];
  int count;
} Chain;

/* Whether the variable needs the reader only to be passed on. */
static bool passes_on(const Variables *v, const Edge *edge) {
  const Node *reader = edge->dst;
  if (edge_is_control(edge) || kept(v->keep, reader)) return false;
  if (node_is_loop_switch(reader)) return edge->dst_input == 0;
  if (node_is_exit(reader)) return reader->num_out_edges == 0;
  return node_is_identity(reader) || node_is_next_iteration(reader) || node_is_loop_merge(reader);
}

static bool add_reader(Chain *chain, Node *node) {
  for (int i = 0; i < chain->count; i++) {
    if (chain->nodes[i] == node) return true;
  }
  if (chain->count == MOST_OF_VARIABLE) return false;
  chain->nodes[chain->count++] = node;
  return true;
}

static void drop_unread(Variables *v, Node *merge) {
  Chain chain = {.nodes = {merge}, .count = 1};
  const Edge *enter = input_from(merge, is_enter);
  if (!node_is_loop_merge(merge) || merge->num_inputs != 2 || !enter || kept(v->keep, merge)) return;
  if (enter->src->num_out_edges != 1 || kept(v->keep, enter->src)) return;
  for (int i = 0; i < chain.count; i++) {
    const Node *node = chain.nodes[i];
    for (int32_t k = 0; k < node->num_out_edges; k++) {
      if (!passes_on(v, node->out_edges[k]) || !add_reader(&chain, node->out_edges[k]->dst)) return;
    }
  }
  /* Another variable that receives the value stays, and with it this one. */
  for (int i = 1; i < chain.count; i++) {
    if (node_is_merge(chain.nodes[i])) return;
  }
  graph_remove_node(v->graph, enter->src);
  for (int i = 0; i < chain.count; i++) graph_remove_node(v->graph, chain.nodes[i]);
  v->changed = true;
}

/* --- all --- */

static bool has_exit(const Variables *v) {
  for (int64_t i = 0; i < v->count; i++) {
    if (node_is_exit(v->order[i])) return true;
  }
  return false;
}

static bool run(Variables *v, Arena *arena) {
  bool removed; /* else the order would have to reach dead nodes by edges to sink, which would keep them */
  TRY(graph_remove_dead_nodes(v->graph, v->keep, &removed, v->status));
  int64_t ids = graph_num_node_ids(v->graph);
  TRY(graph_fixup_source_and_sink_edges(v->graph, NULL, v->status));
  TRY(optimizer_order(v->graph, arena, &v->order, &v->count, v->status));
  if (!has_exit(v)) return true;
  v->steady = arena_calloc(arena, ids, sizeof *v->steady);
  v->changing = arena_calloc(arena, ids, sizeof *v->changing);
  v->entered = arena_calloc(arena, ids, sizeof *v->entered);
  if (!v->steady || !v->changing || !v->entered) return oom(v->status);
  find_steady(v);
  for (int64_t i = 0; i < v->count; i++) {
    if (node_is_exit(v->order[i])) forget_waits(v, v->order[i]);
  }
  for (int64_t i = 0; i < v->count; i++) forget_rounds(v, v->order[i]);
  for (int64_t i = 0; i < v->count; i++) TRY(read_from_enters(v, v->order[i]));
  for (int64_t id = SINK_ID + 1; id < ids; id++) {
    Node *node = graph_node(v->graph, id);
    if (node && node_is_merge(node)) drop_unread(v, node);
  }
  return true;
}

bool graph_drop_loop_variables(Graph *graph, const NodeSet *keep, bool *changed, Status *status) {
  Variables v = {.graph = graph, .keep = keep, .status = status};
  Arena *arena = arena_new();
  bool ok = (arena || oom(status)) && run(&v, arena);
  arena_free(arena);
  *changed = v.changed;
  return ok;
}
