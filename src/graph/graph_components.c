/* Strongly connected components: Tarjan's algorithm with an explicit stack. */
#include "base/alloc.h"
#include "graph/graph_internal.h"
#include "graph/graph_walk.h"

typedef struct Tarjan {
  const Graph *graph;
  int32_t *component; /* by id; -1 until it is known */
  int32_t *number;    /* by id; 0: not visited, else the order of the visit, from 1 */
  int32_t *low;       /* by id; the smallest number known to be reachable */
  int64_t *next_edge; /* by id: the next outgoing edge to follow */
  int32_t *path;      /* ids of the nodes being followed */
  int32_t *open;      /* ids of visited nodes that have no component yet */
  int64_t depth, num_open, seen, count;
} Tarjan;

/* Edge `i` out of the node. Edges of source are left out, because no edge leads back to it. */
static const Edge *edge_out(const Node *node, int64_t i) {
  if (i < node->num_out_edges) return node->out_edges[i];
  return i == node->num_out_edges ? node->sink_edge : NULL;
}

static void see(Tarjan *t, int32_t id) {
  t->number[id] = t->low[id] = (int32_t)++t->seen;
  t->path[t->depth++] = id;
  t->open[t->num_open++] = id;
}

static void close_component(Tarjan *t, int32_t root) {
  int32_t id;
  do {
    id = t->open[--t->num_open];
    t->component[id] = (int32_t)t->count;
  } while (id != root);
  t->count++;
}

static void lower(Tarjan *t, int32_t id, int32_t value) {
  if (value < t->low[id]) t->low[id] = value;
}

static void visit(Tarjan *t, int32_t start) {
  see(t, start);
  while (t->depth > 0) {
    int32_t id = t->path[t->depth - 1];
    const Edge *edge = edge_out(t->graph->nodes[id], t->next_edge[id]++);
    if (edge) {
      int32_t other = edge->dst->id;
      if (t->number[other] == 0) {
        see(t, other);
      } else if (t->component[other] < 0) {
        lower(t, id, t->number[other]);
      }
      continue;
    }
    t->depth--;
    if (t->low[id] == t->number[id]) close_component(t, id);
    if (t->depth > 0) lower(t, t->path[t->depth - 1], t->low[id]);
  }
}

bool graph_components(const Graph *graph, Arena *arena, int32_t **component, int64_t *count, Status *status) {
  int64_t size = graph->num_node_ids;
  Tarjan t = {.graph = graph};
  int32_t *arrays = mem_calloc(size, 4 * sizeof *arrays);
  t.next_edge = mem_calloc(size, sizeof *t.next_edge);
  t.component = arena_alloc(arena, size * (int64_t)sizeof *t.component);
  bool ok = (arrays && t.next_edge && t.component) || status_oom(status, "the components of a graph");
  if (ok) {
    t.number = arrays;
    t.low = arrays + size;
    t.path = arrays + 2 * size;
    t.open = arrays + 3 * size;
    for (int64_t id = 0; id < size; id++) t.component[id] = -1;
    /* Source is last: its edges lead to everything, so it has the greatest number. */
    for (int64_t id = size - 1; id >= 0; id--) {
      if (graph->nodes[id] && t.number[id] == 0) visit(&t, (int32_t)id);
    }
    *component = t.component;
    *count = t.count;
  }
  mem_free(arrays);
  mem_free(t.next_edge);
  return ok;
}

static bool feeds_itself(const Node *node) {
  for (int32_t i = 0; i < node->num_out_edges; i++) {
    if (node->out_edges[i]->dst == node) return true;
  }
  return false;
}

bool graph_find_cycle(const Graph *graph, Node **node, Status *status) {
  Arena *arena = arena_new();
  int32_t *component = NULL;
  int64_t count = 0;
  *node = NULL;
  bool ok = (arena || status_oom(status, "the components of a graph")) &&
            graph_components(graph, arena, &component, &count, status);
  uint8_t *seen = ok ? mem_calloc(count, 1) : NULL;
  if (ok && !seen) ok = status_oom(status, "the components of a graph");
  for (int64_t id = 0; ok && id < graph->num_node_ids && !*node; id++) {
    Node *candidate = graph->nodes[id];
    if (!candidate) continue;
    if (seen[component[id]] || feeds_itself(candidate)) *node = candidate;
    seen[component[id]] = 1;
  }
  mem_free(seen);
  arena_free(arena);
  return ok;
}
