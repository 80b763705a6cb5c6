#include "gradient/backward.h"

#include "base/alloc.h"

struct Arrival {
  NodeOutput value;
  Arrival *next;
};

static bool oom(const Backward *walk) { return status_oom(walk->status, "gradients"); }

bool backward_new(Backward *walk, Graph *graph, const BackwardVisitor *visitor, Status *status) {
  int64_t ids = graph_num_node_ids(graph);
  *walk = (Backward){.graph = graph, .visitor = *visitor, .status = status, .num_ids = ids};
  walk->arena = arena_new();
  walk->arrivals = mem_calloc(ids, sizeof *walk->arrivals);
  walk->pending = mem_calloc(ids, sizeof *walk->pending);
  walk->queue = mem_calloc(ids, sizeof *walk->queue);
  return (walk->arena && walk->arrivals && walk->pending && walk->queue) || oom(walk);
}

void backward_free(Backward *walk) {
  arena_free(walk->arena);
  mem_free(walk->arrivals);
  mem_free(walk->pending);
  mem_free(walk->queue);
}

/* --- members --- */

static int num_sources(const Backward *walk, const Node *node) {
  return walk->visitor.num_sources(walk->visitor.self, node);
}

static Node *source_of(const Backward *walk, const Node *node, int i) {
  return walk->visitor.source(walk->visitor.self, node, i);
}

bool backward_enter(Backward *walk, Node *node) {
  if (walk->arrivals[node->id]) return true;
  walk->arrivals[node->id] = arena_calloc(walk->arena, node->num_outputs + 1, sizeof(Arrivals));
  walk->queue[walk->tail++] = node;
  if (!walk->arrivals[node->id]) return oom(walk);
  return !walk->visitor.enter || walk->visitor.enter(walk->visitor.self, node);
}

bool backward_find_members(Backward *walk) {
  for (; walk->head < walk->tail; walk->head++) {
    const Node *node = walk->queue[walk->head];
    int count = num_sources(walk, node);
    for (int i = 0; i < count; i++) {
      Node *source = source_of(walk, node, i);
      if (!source) continue;
      walk->pending[source->id]++;
      TRY(backward_enter(walk, source));
    }
  }
  return true;
}

/* --- gradients that arrive --- */

bool backward_arrive(Backward *walk, NodeOutput output, NodeOutput gradient) {
  Arrival *arrival = arena_alloc(walk->arena, (int64_t)sizeof *arrival);
  if (!arrival) return oom(walk);
  *arrival = (Arrival){gradient, NULL};
  Arrivals *at = &walk->arrivals[output.node->id][output.index];
  *(!at->last ? &at->first : &at->last->next) = arrival;
  at->last = arrival;
  at->count++;
  return true;
}

bool backward_has_arrived(const Backward *walk, const Node *node, int index) {
  return walk->arrivals[node->id][index].count > 0;
}

/* The sum is the only arrival from now on. */
static bool add_up(Backward *walk, Arrivals *at) {
  NodeOutput *values = mem_calloc(at->count, sizeof *values);
  if (!values) return oom(walk);
  int count = 0;
  for (const Arrival *a = at->first; a; a = a->next) values[count++] = a->value;
  bool ok = walk->visitor.add(walk->visitor.self, values, count, &at->first->value);
  mem_free(values);
  TRY(ok);
  at->first->next = NULL;
  at->last = at->first;
  at->count = 1;
  return true;
}

bool backward_sum(Backward *walk, NodeOutput output, NodeOutput *sum) {
  Arrivals *at = &walk->arrivals[output.node->id][output.index];
  *sum = (NodeOutput){NULL, 0};
  if (at->count > 1) TRY(add_up(walk, at));
  if (at->count > 0) *sum = at->first->value;
  return true;
}

/* --- the walk --- */

bool backward_run(Backward *walk, bool *all) {
  int64_t members = walk->tail, ready = 0;
  /* Members that wait for nothing move to the front of the queue. The others enter it again when they are
   * ready. */
  for (int64_t i = 0; i < members; i++) {
    Node *node = walk->queue[i];
    if (walk->pending[node->id] == 0) walk->queue[ready++] = node;
  }
  walk->head = 0;
  walk->tail = ready;
  while (walk->head < walk->tail) {
    Node *node = walk->queue[walk->head++];
    TRY(walk->visitor.pass(walk->visitor.self, node));
    int count = num_sources(walk, node);
    for (int i = 0; i < count; i++) {
      Node *source = source_of(walk, node, i);
      if (source && --walk->pending[source->id] == 0) walk->queue[walk->tail++] = source;
    }
  }
  *all = walk->tail == members;
  return true;
}
