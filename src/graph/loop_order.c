/* A topological order in which loops have no gaps. A loop begins when everything is there that its Enters
 * read, so its nodes can all come before anything else does, and what reads its Exits waits for its end. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "graph/graph_internal.h"
#include "graph/loop_tree.h"
#include "graph/node_class.h"

/* What is put in order: nodes by their ids, then the beginnings and then the ends of loops. Deeper elements
 * come first, because a loop that has begun goes on to its end. */
typedef struct Element {
  int32_t depth;
  int64_t key;
  int64_t element;
} Element;

/* Nodes of a class, those of one loop beside each other. */
typedef struct ByLoop {
  Node **nodes;
  int64_t *first; /* per loop, and one more */
} ByLoop;

typedef struct Order {
  const Graph *graph;
  const NodeSet *set;
  const LoopTree *tree;
  const int64_t *keys;
  int64_t num_ids, num_elements;
  int64_t *pending; /* per element: how many have to come before it */
  int64_t *rank;    /* per element */
  Element *by_rank;
  ByLoop enters, exits;
  IdSet ready;  /* ranks */
  Node **nodes; /* the result */
  int64_t count, total;
} Order;

static int64_t begin_of(const Order *o, int32_t loop) { return o->num_ids + loop; }
static int64_t end_of(const Order *o, int32_t loop) { return o->num_ids + o->tree->num_loops + loop; }

static Node *member(const Order *o, int64_t id) {
  return id > SINK_ID && id < o->set->size && o->set->member[id] ? graph_node(o->graph, id) : NULL;
}

static bool counts(const Order *o, const Edge *edge) {
  return edge && !node_is_next_iteration(edge->src) && member(o, edge->src->id) && member(o, edge->dst->id);
}

/* What has to wait for the source of an edge: for an Enter its loop does. */
static int64_t waiting_for(const Order *o, const Edge *edge) {
  return node_is_enter(edge->dst) ? begin_of(o, o->tree->loop_of[edge->dst->id]) : edge->dst->id;
}

/* --- counting --- */

static void count_node(Order *o, const Node *node) {
  int32_t loop = o->tree->loop_of[node->id];
  o->pending[node->id] += node_is_enter(node); /* the loop's beginning */
  if (loop > 0) o->pending[end_of(o, loop)]++;
  for (int32_t i = 0; i < node->num_out_edges; i++) {
    if (counts(o, node->out_edges[i])) o->pending[waiting_for(o, node->out_edges[i])]++;
  }
  o->total++;
}

static void count_all(Order *o) {
  for (int64_t id = SINK_ID + 1; id < o->num_ids; id++) {
    const Node *node = member(o, id);
    if (node) count_node(o, node);
  }
  for (int32_t l = 1; l < o->tree->num_loops; l++) {
    o->pending[end_of(o, l)]++; /* its beginning */
    if (o->tree->parent[l] > 0) o->pending[end_of(o, o->tree->parent[l])]++;
  }
}

static bool list_by_loop(const Order *o, NodeClass node_class, Arena *arena, ByLoop *list, Status *status) {
  int32_t loops = o->tree->num_loops;
  int64_t *next = arena_calloc(arena, loops + 1, sizeof *next);
  list->first = arena_calloc(arena, loops + 1, sizeof *list->first);
  list->nodes = arena_alloc(arena, (o->total + 1) * (int64_t)sizeof *list->nodes);
  if (!next || !list->first || !list->nodes) return status_oom(status, "an order of nodes");
  for (int64_t id = SINK_ID + 1; id < o->num_ids; id++) {
    const Node *node = member(o, id);
    if (node && node->node_class == node_class) list->first[o->tree->loop_of[id] + 1]++;
  }
  for (int32_t l = 0; l < loops; l++) list->first[l + 1] += list->first[l];
  memcpy(next, list->first, (size_t)loops * sizeof *next);
  for (int64_t id = SINK_ID + 1; id < o->num_ids; id++) {
    Node *node = member(o, id);
    if (node && node->node_class == node_class) list->nodes[next[o->tree->loop_of[id]]++] = node;
  }
  return true;
}

/* --- ranks --- */

static int compare_elements(const void *a, const void *b) {
  const Element *x = a, *y = b;
  if (x->depth != y->depth) return x->depth > y->depth ? -1 : 1;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  return (x->element > y->element) - (x->element < y->element);
}

static void note_least(Order *o, int32_t loop, int64_t key) {
  for (; loop > 0; loop = o->tree->parent[loop]) {
    Element *begin = &o->by_rank[begin_of(o, loop)];
    if (begin->key <= key) return;
    begin->key = key;
  }
}

/* A parent may have a larger number than its child. */
static void find_depths(const LoopTree *tree, int32_t *depths) {
  for (int32_t l = 1; l < tree->num_loops; l++) {
    int32_t depth = 0, at = l;
    for (; at != 0 && depths[at] == 0; at = tree->parent[at]) depth++;
    depth += depths[at];
    for (at = l; at != 0 && depths[at] == 0; at = tree->parent[at]) depths[at] = depth--;
  }
}

static void rank_all(Order *o, const int32_t *depths) {
  const LoopTree *tree = o->tree;
  for (int32_t l = 0; l < tree->num_loops; l++) {
    o->by_rank[begin_of(o, l)] = (Element){depths[tree->parent[l]], INT64_MAX, begin_of(o, l)};
    o->by_rank[end_of(o, l)] = (Element){depths[l], INT64_MAX, end_of(o, l)};
  }
  for (int64_t id = 0; id < o->num_ids; id++) {
    const Node *node = member(o, id);
    int64_t key = o->keys ? o->keys[id] : id;
    o->by_rank[id] = (Element){node ? depths[tree->loop_of[id]] : 0, key, id};
    if (node) note_least(o, tree->loop_of[id], key);
  }
  qsort(o->by_rank, (size_t)o->num_elements, sizeof *o->by_rank, compare_elements);
  for (int64_t i = 0; i < o->num_elements; i++) o->rank[o->by_rank[i].element] = i;
}

/* --- putting in order --- */

static void come(Order *o, int64_t element) {
  if (--o->pending[element] == 0) id_set_add(&o->ready, o->rank[element]);
}

static void hand_on(Order *o, const Node *node) {
  for (int32_t i = 0; i < node->num_out_edges; i++) {
    if (counts(o, node->out_edges[i])) come(o, waiting_for(o, node->out_edges[i]));
  }
}

static void put_node(Order *o, Node *node) {
  int32_t loop = o->tree->loop_of[node->id];
  o->nodes[o->count++] = node;
  if (loop == 0 || !node_is_exit(node)) hand_on(o, node);
  if (loop > 0) come(o, end_of(o, loop));
}

static void begin_loop(Order *o, int32_t loop) {
  come(o, end_of(o, loop));
  for (int64_t i = o->enters.first[loop]; i < o->enters.first[loop + 1]; i++) come(o, o->enters.nodes[i]->id);
}

static void end_loop(Order *o, int32_t loop) {
  for (int64_t i = o->exits.first[loop]; i < o->exits.first[loop + 1]; i++) hand_on(o, o->exits.nodes[i]);
  if (o->tree->parent[loop] > 0) come(o, end_of(o, o->tree->parent[loop]));
}

static bool put_all(Order *o, Status *status) {
  int32_t loops = o->tree->num_loops;
  for (int64_t e = 0; e < o->num_elements; e++) {
    bool is_element = e < o->num_ids ? member(o, e) != NULL : (e - o->num_ids) % loops > 0;
    if (is_element && o->pending[e] == 0) id_set_add(&o->ready, o->rank[e]);
  }
  for (int64_t rank; (rank = id_set_take_first(&o->ready)) >= 0;) {
    int64_t element = o->by_rank[rank].element, loop = element - o->num_ids;
    if (loop < 0) {
      put_node(o, graph_node(o->graph, element));
    } else if (loop < loops) {
      begin_loop(o, (int32_t)loop);
    } else {
      end_loop(o, (int32_t)loop - loops);
    }
  }
  return o->count == o->total || status_invalid(status, "The graph couldn't be sorted in topological order.");
}

bool graph_loop_order(const Graph *graph, const NodeSet *set, const LoopTree *tree, const int64_t *keys,
                      Arena *arena, Node ***order, int64_t *count, Status *status) {
  Order o = {.graph = graph, .set = set, .tree = tree, .keys = keys, .num_ids = graph_num_node_ids(graph)};
  o.num_elements = o.num_ids + 2 * (int64_t)tree->num_loops;
  o.pending = arena_calloc(arena, o.num_elements, sizeof *o.pending);
  o.rank = arena_calloc(arena, o.num_elements, sizeof *o.rank);
  o.by_rank = arena_calloc(arena, o.num_elements, sizeof *o.by_rank);
  o.nodes = arena_calloc(arena, o.num_ids, sizeof(Node *));
  int32_t *depths = arena_calloc(arena, tree->num_loops, sizeof *depths);
  if (!o.pending || !o.rank || !o.by_rank || !o.nodes || !depths)
    return status_oom(status, "an order of nodes");
  count_all(&o);
  TRY(list_by_loop(&o, NODE_ENTER, arena, &o.enters, status) &&
      list_by_loop(&o, NODE_EXIT, arena, &o.exits, status));
  find_depths(tree, depths);
  rank_all(&o, depths);
  TRY(id_set_init(&o.ready, o.num_elements, status));
  bool ok = put_all(&o, status);
  id_set_free(&o.ready);
  *order = o.nodes;
  *count = o.count;
  return ok;
}
