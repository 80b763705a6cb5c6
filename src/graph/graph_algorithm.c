/* Reachability and topological order. Not recursive, because the depth of a graph is up to the user. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "graph/graph_internal.h"
#include "graph/node_class.h"

bool node_set_new(const Graph *graph, Arena *arena, NodeSet *set, Status *status) {
  set->size = graph->num_node_ids;
  set->member = arena_calloc(arena, set->size, 1);
  return set->member || status_oom(status, "a set of nodes");
}

/* --- fed outputs --- */

/* The set of fed outputs: a flag per node, and, for flagged nodes, the sorted outputs. */
typedef struct FedSet {
  NodeOutput *outputs;
  int64_t count;
  uint8_t *flags;
} FedSet;

static int compare_outputs(const void *a, const void *b) {
  const NodeOutput *x = a, *y = b;
  if (x->node->id != y->node->id) return x->node->id < y->node->id ? -1 : 1;
  return (x->index > y->index) - (x->index < y->index);
}

static bool fed_set_init(FedSet *set, const Graph *graph, const NodeOutput *fed, int64_t count,
                         Status *status) {
  *set = (FedSet){0};
  if (count == 0) return true;
  for (int64_t i = 0; i < count; i++) TRY(graph_check_node(graph, fed[i].node, status));
  set->outputs = mem_alloc(count * (int64_t)sizeof *set->outputs);
  set->flags = mem_calloc(graph->num_node_ids, 1);
  if (!set->outputs || !set->flags) return status_oom(status, "a set of outputs");
  memcpy(set->outputs, fed, (size_t)count * sizeof *fed);
  qsort(set->outputs, (size_t)count, sizeof *fed, compare_outputs);
  for (int64_t i = 0; i < count; i++) set->flags[fed[i].node->id] = 1;
  set->count = count;
  return true;
}

static void fed_set_free(FedSet *set) {
  mem_free(set->outputs);
  mem_free(set->flags);
}

static bool is_fed(const FedSet *set, const Edge *edge) {
  if (!set->flags || !set->flags[edge->src->id]) return false;
  NodeOutput key = {edge->src, edge->src_output};
  return bsearch(&key, set->outputs, (size_t)set->count, sizeof key, compare_outputs) != NULL;
}

/* node_in_edge without edges of fed outputs. */
static const Edge *unfed_edge(const Node *node, int64_t i, const FedSet *fed) {
  const Edge *edge = node_in_edge(node, i);
  return edge && !is_fed(fed, edge) ? edge : NULL;
}

/* --- reachability --- */

static bool reverse_reachable(const Graph *graph, Node *const *roots, int64_t num_roots, const FedSet *fed,
                              NodeSet *set, Status *status) {
  /* Every node is pushed at most once. */
  Node **stack = mem_alloc(graph->num_node_ids * (int64_t)sizeof *stack);
  if (!stack) return status_oom(status, "a set of nodes");
  int64_t depth = 0;
  for (int64_t i = 0; i < num_roots; i++) {
    if (set->member[roots[i]->id]) continue;
    set->member[roots[i]->id] = 1;
    stack[depth++] = roots[i];
  }
  while (depth > 0) {
    const Node *node = stack[--depth];
    for (int64_t i = 0; i < node_num_in_edges(node); i++) {
      const Edge *edge = unfed_edge(node, i, fed);
      if (!edge || set->member[edge->src->id]) continue;
      set->member[edge->src->id] = 1;
      stack[depth++] = edge->src;
    }
  }
  mem_free(stack);
  return true;
}

bool graph_reverse_reachable(const Graph *graph, Node *const *roots, int64_t num_roots, const NodeOutput *fed,
                             int64_t num_fed, Arena *arena, NodeSet *set, Status *status) {
  for (int64_t i = 0; i < num_roots; i++) TRY(graph_check_node(graph, roots[i], status));
  TRY(node_set_new(graph, arena, set, status));
  FedSet fed_set;
  bool ok = fed_set_init(&fed_set, graph, fed, num_fed, status) &&
            reverse_reachable(graph, roots, num_roots, &fed_set, set, status);
  fed_set_free(&fed_set);
  return ok;
}

/* --- topological order --- */

/* A NextIteration's output belongs to the next iteration of the loop. */
static bool is_in_order(const Edge *edge) { return edge && !node_is_next_iteration(edge->src); }

typedef struct Sort {
  const Graph *graph;
  const NodeSet *set;
  FedSet fed;
  int64_t *pending; /* by id: edges from nodes that are not in the order yet; -1: not in the set */
  IdSet ready;
  int64_t total;
} Sort;

static bool is_member(const Sort *sort, const Node *node) {
  return node && node->id > SINK_ID && (!sort->set || node_set_has(sort->set, node));
}

static bool start_sort(Sort *sort, Status *status) {
  int64_t size = sort->graph->num_node_ids;
  sort->pending = mem_alloc(size * (int64_t)sizeof *sort->pending);
  if (!sort->pending) return status_oom(status, "an order of nodes");
  TRY(id_set_init(&sort->ready, size, status));
  for (int64_t id = 0; id < size; id++) {
    const Node *node = sort->graph->nodes[id];
    sort->pending[id] = -1;
    if (!is_member(sort, node)) continue;
    int64_t pending = 0;
    for (int64_t i = 0; i < node_num_in_edges(node); i++) {
      const Edge *edge = unfed_edge(node, i, &sort->fed);
      pending += is_in_order(edge) && is_member(sort, edge->src);
    }
    sort->pending[id] = pending;
    if (pending == 0) id_set_add(&sort->ready, id);
    sort->total++;
  }
  return true;
}

/* Walking backward from an unsorted node, always to an unsorted input, must end on a cycle. */
static bool report_cycle(const Sort *sort, int64_t left, Status *status) {
  const Node *node = NULL;
  for (int64_t id = 0; !node; id++) {
    if (sort->pending[id] > 0) node = sort->graph->nodes[id];
  }
  for (int64_t step = 0; step < left; step++) {
    const Node *before = NULL;
    for (int64_t i = 0; i < node_num_in_edges(node) && !before; i++) {
      const Edge *edge = unfed_edge(node, i, &sort->fed);
      if (is_in_order(edge) && sort->pending[edge->src->id] > 0) before = edge->src;
    }
    node = before;
  }
  return status_invalid(status, "%lld nodes in a cycle, or behind one: {{node %s}} is on a cycle",
                        (long long)left, node->name);
}

static bool sort_nodes(Sort *sort, Arena *arena, Node ***order, int64_t *count, Status *status) {
  TRY(start_sort(sort, status));
  Node **nodes = arena_alloc(arena, (sort->total + 1) * (int64_t)sizeof *nodes);
  if (!nodes) return status_oom(status, "an order of nodes");
  int64_t done = 0;
  for (int64_t id; (id = id_set_take_first(&sort->ready)) >= 0;) {
    Node *node = sort->graph->nodes[id];
    nodes[done++] = node;
    for (int64_t i = 0; i < node->num_out_edges; i++) {
      const Edge *edge = node->out_edges[i];
      if (is_fed(&sort->fed, edge) || !is_in_order(edge) || !is_member(sort, edge->dst)) continue;
      if (--sort->pending[edge->dst->id] == 0) id_set_add(&sort->ready, edge->dst->id);
    }
  }
  if (done < sort->total) return report_cycle(sort, sort->total - done, status);
  *order = nodes;
  *count = done;
  return true;
}

bool graph_topological_order(const Graph *graph, const NodeSet *set, const NodeOutput *fed, int64_t num_fed,
                             Arena *arena, Node ***order, int64_t *count, Status *status) {
  Sort sort = {.graph = graph, .set = set};
  bool ok =
      fed_set_init(&sort.fed, graph, fed, num_fed, status) && sort_nodes(&sort, arena, order, count, status);
  fed_set_free(&sort.fed);
  mem_free(sort.pending);
  id_set_free(&sort.ready);
  return ok;
}
