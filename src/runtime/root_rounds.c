#include "runtime/root_rounds.h"

#include "graph/node_class.h"

typedef struct Follow {
  uint8_t *runs; /* per id: in a later round */
  const Node **queue;
  int64_t tail;
} Follow;

/* A Merge needs one of its data inputs, and all control inputs. */
static bool runs_again(const Follow *f, const Node *node) {
  bool any = false, all = true;
  for (int i = 0; i < node->num_inputs; i++) {
    bool runs = node->inputs[i] && f->runs[node->inputs[i]->src->id];
    any = any || runs;
    all = all && runs;
  }
  if (node_is_merge(node)) all = any;
  for (int i = 0; i < node->num_control_inputs; i++) all = all && f->runs[node->control_inputs[i]->src->id];
  return all;
}

/* What a Switch chooses may differ from round to round. */
static void add(Follow *f, const Node *node) {
  if (f->runs[node->id] || node_is_switch(node) || node_is_enter(node)) return;
  f->runs[node->id] = 1;
  f->queue[f->tail++] = node;
}

bool root_round_result(const FunctionBody *body, const Node *next_iteration, Arena *arena, int *result,
                       Status *status) {
  int64_t ids = graph_num_node_ids(body->graph);
  Follow f = {.runs = arena_calloc(arena, ids, 1), .queue = arena_calloc(arena, ids, sizeof *f.queue)};
  if (!f.runs || !f.queue) return status_oom(status, "a program");
  for (int32_t i = 0; i < next_iteration->num_out_edges; i++) {
    const Edge *edge = next_iteration->out_edges[i];
    if (!edge_is_control(edge) && node_is_merge(edge->dst)) add(&f, edge->dst);
  }
  for (int64_t head = 0; head < f.tail; head++) {
    const Node *node = f.queue[head];
    for (int32_t i = 0; i < node->num_out_edges; i++) {
      const Node *reader = node->out_edges[i]->dst;
      if (reader->id > SINK_ID && runs_again(&f, reader)) add(&f, reader);
    }
  }
  *result = 0;
  while (*result < body->num_rets && !f.runs[body->ret_nodes[*result]->id]) ++*result;
  if (*result == body->num_rets) *result = -1;
  return true;
}
