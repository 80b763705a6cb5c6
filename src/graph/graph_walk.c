#include "graph/graph_walk.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "graph/graph_internal.h"
#include "graph/node_class.h"

bool walk_follow_forward(void *argument, const Edge *edge) {
  (void)argument;
  return !node_is_next_iteration(edge->src);
}

int node_compare_ids(const Node *a, const Node *b) { return (a->id > b->id) - (a->id < b->id); }

int node_compare_names(const Node *a, const Node *b) { return strcmp(a->name, b->name); }

/* --- depth first --- */

typedef struct Visit {
  Node *node;
  bool leave;
} Visit;

typedef struct Search {
  const Graph *graph;
  const Walk *walk;
  bool backwards;
  uint8_t *visited; /* by id */
  Visit *stack;
  int64_t depth, capacity;
} Search;

static bool push(Search *search, Node *node, bool leave) {
  if (!mem_grow((void **)&search->stack, &search->capacity, search->depth + 1, sizeof *search->stack))
    return false;
  search->stack[search->depth++] = (Visit){node, leave};
  return true;
}

static bool push_neighbour(Search *search, const Edge *edge) {
  const Walk *walk = search->walk;
  Node *other = search->backwards ? edge->src : edge->dst;
  if (search->visited[other->id] || (walk->follow && !walk->follow(walk->argument, edge))) return true;
  return push(search, other, false);
}

/* Only the other nodes know their edges from source and to sink. */
static bool push_all_of_special(Search *search) {
  const Graph *graph = search->graph;
  for (int64_t id = 0; id < graph->num_node_ids; id++) {
    const Node *node = graph->nodes[id];
    const Edge *edge = !node ? NULL : search->backwards ? node->sink_edge : node->source_edge;
    if (edge) TRY(push_neighbour(search, edge));
  }
  return true;
}

static bool push_neighbours(Search *search, const Node *node) {
  if (node->id == (search->backwards ? SINK_ID : SOURCE_ID)) return push_all_of_special(search);
  if (!search->backwards) {
    for (int32_t i = 0; i < node->num_out_edges; i++) TRY(push_neighbour(search, node->out_edges[i]));
    return !node->sink_edge || push_neighbour(search, node->sink_edge);
  }
  for (int i = 0; i < node->num_inputs; i++) {
    if (node->inputs[i]) TRY(push_neighbour(search, node->inputs[i]));
  }
  for (int32_t i = 0; i < node->num_control_inputs; i++) TRY(push_neighbour(search, node->control_inputs[i]));
  return !node->source_edge || push_neighbour(search, node->source_edge);
}

/* A stable merge sort of steps from `first` on: qsort has no argument for the comparator. */
static bool sort_visits(Search *search, int64_t first) {
  int64_t count = search->depth - first;
  if (count < 2) return true;
  Visit *a = search->stack + first, *b = mem_alloc(count * (int64_t)sizeof *b), *scratch = b;
  if (!b) return false;
  for (int64_t width = 1; width < count; width *= 2) {
    for (int64_t low = 0; low < count; low += 2 * width) {
      int64_t middle = low + width < count ? low + width : count;
      int64_t high = low + 2 * width < count ? low + 2 * width : count;
      for (int64_t i = low, j = middle, k = low; k < high; k++) {
        bool left = i < middle && (j == high || search->walk->compare(a[i].node, a[j].node) <= 0);
        b[k] = left ? a[i++] : a[j++];
      }
    }
    Visit *swap = a;
    a = b;
    b = swap;
  }
  if (a == scratch) memcpy(search->stack + first, a, (size_t)count * sizeof *a);
  mem_free(scratch);
  return true;
}

static bool run(Search *search, Node *const *start, int64_t count) {
  const Walk *walk = search->walk;
  for (int64_t i = 0; i < count; i++) TRY(push(search, start[i], false));
  while (search->depth > 0) {
    Visit visit = search->stack[--search->depth];
    if (visit.leave) {
      walk->leave(walk->argument, visit.node);
      continue;
    }
    if (search->visited[visit.node->id]) continue;
    search->visited[visit.node->id] = 1;
    if (walk->enter) walk->enter(walk->argument, visit.node);
    if (walk->leave) TRY(push(search, visit.node, true));
    int64_t first = search->depth;
    TRY(push_neighbours(search, visit.node));
    if (walk->compare) TRY(sort_visits(search, first));
  }
  return true;
}

static bool search_from(const Graph *graph, Node *const *start, int64_t count, const Walk *walk,
                        bool backwards, Status *status) {
  for (int64_t i = 0; i < count; i++) TRY(graph_check_node(graph, start[i], status));
  Search search = {.graph = graph, .walk = walk, .backwards = backwards};
  search.visited = mem_calloc(graph->num_node_ids, 1);
  bool ok = (search.visited && run(&search, start, count)) || status_oom(status, "a walk over a graph");
  mem_free(search.visited);
  mem_free(search.stack);
  return ok;
}

bool graph_dfs(const Graph *graph, const Walk *walk, Status *status) {
  return search_from(graph, &graph->nodes[SOURCE_ID], 1, walk, false, status);
}

bool graph_dfs_from(const Graph *graph, Node *const *start, int64_t count, const Walk *walk, Status *status) {
  return search_from(graph, start, count, walk, false, status);
}

bool graph_reverse_dfs(const Graph *graph, const Walk *walk, Status *status) {
  return search_from(graph, &graph->nodes[SINK_ID], 1, walk, true, status);
}

bool graph_reverse_dfs_from(const Graph *graph, Node *const *start, int64_t count, const Walk *walk,
                            Status *status) {
  return search_from(graph, start, count, walk, true, status);
}

/* --- orders --- */

typedef struct Order {
  Node **nodes;
  int64_t count;
  const Walk *options;
} Order;

static void append(void *argument, Node *node) {
  Order *order = argument;
  order->nodes[order->count++] = node;
}

static bool follow_option(void *argument, const Edge *edge) {
  const Walk *options = ((const Order *)argument)->options;
  return options->follow(options->argument, edge);
}

bool graph_post_order(const Graph *graph, const Walk *options, Arena *arena, Node ***nodes, int64_t *count,
                      Status *status) {
  Order order = {.options = options};
  order.nodes = arena_alloc(arena, graph->num_nodes * (int64_t)sizeof *order.nodes);
  if (!order.nodes) return status_oom(status, "an order of nodes");
  Walk walk = {.leave = append, .argument = &order};
  if (options) {
    walk.compare = options->compare;
    walk.follow = options->follow ? follow_option : NULL;
  }
  TRY(graph_dfs(graph, &walk, status));
  *nodes = order.nodes;
  *count = order.count;
  return true;
}

bool graph_reverse_post_order(const Graph *graph, const Walk *options, Arena *arena, Node ***nodes,
                              int64_t *count, Status *status) {
  TRY(graph_post_order(graph, options, arena, nodes, count, status));
  for (int64_t i = 0, j = *count - 1; i < j; i++, j--) {
    Node *swap = (*nodes)[i];
    (*nodes)[i] = (*nodes)[j];
    (*nodes)[j] = swap;
  }
  return true;
}
