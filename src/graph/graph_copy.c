/* Copies of a single node without its edges, and of whole graphs. */
#include <string.h>

#include "base/alloc.h"
#include "graph/graph_internal.h"

/* --- one node --- */

/* Copies the NodeDef into a new node of `graph`, which has no edges, id and name yet. */
static bool copy_bare(Graph *graph, const Node *node, Node **out, Status *status) {
  const Op *op = NULL;
  TRY(graph_look_up_op(graph, node->def->op, &op, status));
  NodeDef *def = proto_copy(node->def, graph->arena);
  if (!def) return status_oom(status, "the copy of a node");
  TRY(graph_make_node(graph, def, op, out, status));
  node_entry(*out)->loose_controls = def->n_input > 0 && def->input[def->n_input - 1][0] == '^';
  return graph_intern_device(graph, node_assigned_device(node), &(*out)->assigned_device, status);
}

bool graph_copy_node(Graph *graph, const Node *node, Node **copy, Status *status) {
  *copy = NULL;
  if (!node) return status_invalid(status, "Node is null");
  if (!node->graph) return status_invalid(status, "Node '%s' was removed from its graph", node->name);
  if (node->id <= SINK_ID) return status_invalid(status, "Node '%s' cannot be copied", node->name);
  TRY(graph_reserve_nodes(graph, 1, status));
  int device; /* stays interned when a later step fails */
  TRY(graph_intern_device(graph, node_assigned_device(node), &device, status));
  GraphMark mark = graph_mark(graph);
  Node *made = NULL;
  if (!copy_bare(graph, node, &made, status) || !graph_register_name(graph, made, status))
    return graph_rollback(graph, mark);
  graph_insert_node(graph, made);
  *copy = made;
  return true;
}

/* --- shapes --- */

/* Maps handles of one graph to handles of the other, so that equal dimensions stay equal. Open addressing. */
typedef struct HandleMap {
  struct HandlePair {
    const void *from;
    const void *to;
  } * pairs;
  int64_t count, size; /* a power of two, or 0 */
} HandleMap;

static struct HandlePair *find_pair(const HandleMap *map, const void *from) {
  uint64_t hash = (uint64_t)(uintptr_t)from * 0x9e3779b97f4a7c15u;
  int64_t mask = map->size - 1, i = (int64_t)(hash >> 32) & mask;
  while (map->pairs[i].from && map->pairs[i].from != from) i = (i + 1) & mask;
  return &map->pairs[i];
}

static const void *find_copy(const HandleMap *map, const void *from) {
  return map->size > 0 ? find_pair(map, from)->to : NULL;
}

static bool remember_copy(HandleMap *map, const void *from, const void *to) {
  if (map->count * 2 >= map->size) {
    HandleMap larger = {NULL, map->count, map->size > 0 ? map->size * 2 : 64};
    larger.pairs = mem_calloc(larger.size, sizeof *larger.pairs);
    if (!larger.pairs) return false;
    for (int64_t i = 0; i < map->size; i++) {
      if (map->pairs[i].from) *find_pair(&larger, map->pairs[i].from) = map->pairs[i];
    }
    mem_free(map->pairs);
    *map = larger;
  }
  *find_pair(map, from) = (struct HandlePair){from, to};
  map->count++;
  return true;
}

static DimHandle copy_dim(HandleMap *map, Arena *arena, DimHandle dim) {
  DimHandle known = find_copy(map, dim);
  if (known) return known;
  DimValue *copy = arena_alloc(arena, sizeof *copy);
  if (!copy || !remember_copy(map, dim, copy)) return NULL;
  *copy = *dim;
  return copy;
}

static ShapeHandle copy_shape(HandleMap *map, Arena *arena, ShapeHandle shape) {
  if (shape == &kUnknownShape) return shape;
  ShapeHandle known = find_copy(map, shape);
  if (known) return known;
  int64_t rank = shape->rank > 0 ? shape->rank : 0;
  ShapeValue *copy = arena_alloc(arena, sizeof *copy);
  DimHandle *dims = rank > 0 ? arena_alloc(arena, rank * (int64_t)sizeof *dims) : NULL;
  if (!copy || (rank > 0 && !dims) || !remember_copy(map, shape, copy)) return NULL;
  for (int64_t i = 0; i < rank; i++) {
    dims[i] = copy_dim(map, arena, shape->dims[i]);
    if (!dims[i]) return NULL;
  }
  *copy = (ShapeValue){.rank = shape->rank, .dims = dims};
  return copy;
}

static const HandleData *copy_handle(HandleMap *map, Arena *arena, const HandleData *data) {
  const HandleData *known = find_copy(map, data);
  if (known) return known;
  HandleData *copy = arena_alloc(arena, sizeof *copy);
  ShapeAndType *entries = arena_alloc(arena, data->count * (int64_t)sizeof *entries);
  if (!copy || !entries || !remember_copy(map, data, copy)) return NULL;
  for (int i = 0; i < data->count; i++) {
    entries[i] = (ShapeAndType){copy_shape(map, arena, data->entries[i].shape), data->entries[i].dtype};
    if (!entries[i].shape) return NULL;
  }
  *copy = (HandleData){.count = data->count, .entries = entries};
  return copy;
}

static bool copy_shapes(HandleMap *map, Graph *graph, const Node *from, Node *to) {
  int count = from->num_outputs < to->num_outputs ? from->num_outputs : to->num_outputs;
  bool any_handle = false;
  for (int i = 0; i < count; i++) {
    to->output_shapes[i] = copy_shape(map, graph->arena, from->output_shapes[i]);
    if (!to->output_shapes[i]) return false;
    any_handle |= from->output_handles[i] != NULL;
  }
  if (!any_handle) return true;
  to->output_handles = arena_calloc(graph->arena, to->num_outputs, sizeof *to->output_handles);
  if (!to->output_handles) return false;
  for (int i = 0; i < count; i++) {
    if (!from->output_handles[i]) continue;
    to->output_handles[i] = copy_handle(map, graph->arena, from->output_handles[i]);
    if (!to->output_handles[i]) return false;
  }
  return true;
}

/* --- a whole graph --- */

typedef struct Copy {
  Graph *graph;
  const Graph *from;
  Node **nodes;     /* by id in `from` */
  Edge **old_edges; /* of `from`, by id */
  Edge *edges;      /* space for all new ones */
  HandleMap handles;
  Status *status;
} Copy;

static bool make_room(Graph *graph, Edge ***edges, int32_t count, Status *status) {
  if (count > 0) *edges = arena_alloc(graph->arena, count * (int64_t)sizeof **edges);
  return count == 0 || *edges || status_oom(status, "edges");
}

/* Copies the node with capacity for as many edges as the original has. */
static bool copy_node(Copy *copy, const Node *from) {
  Graph *graph = copy->graph;
  Node *node = NULL;
  TRY(copy_bare(graph, from, &node, copy->status));
  if (node->num_inputs != from->num_inputs || node->num_outputs != from->num_outputs) {
    return status_invalid(copy->status,
                          "Node '%s' has other inputs or outputs where '%s' is another function", from->name,
                          from->def->op);
  }
  node_entry(node)->loose_controls = ((const NodeEntry *)from)->loose_controls;
  TRY(make_room(graph, &node->out_edges, from->num_out_edges, copy->status));
  TRY(make_room(graph, &node->control_inputs, from->num_control_inputs, copy->status));
  if (!copy_shapes(&copy->handles, graph, from, node)) return status_oom(copy->status, "the copy of a graph");
  node->out_edge_capacity = from->num_out_edges;
  node->control_input_capacity = from->num_control_inputs;
  TRY(graph_register_name(graph, node, copy->status));
  graph_insert_node(graph, node);
  copy->nodes[from->id] = node;
  return true;
}

/* Makes all allocations. */
static bool prepare(Copy *copy) {
  Graph *graph = copy->graph;
  const Graph *from = copy->from;
  copy->nodes = mem_calloc(from->num_node_ids, sizeof *copy->nodes);
  copy->old_edges = graph_collect_edges(from);
  copy->edges = arena_alloc(graph->arena, from->num_edges * (int64_t)sizeof *copy->edges);
  if (!copy->nodes || !copy->old_edges || !copy->edges)
    return status_oom(copy->status, "the copy of a graph");
  TRY(graph_reserve_nodes(graph, from->num_nodes, copy->status));
  TRY(graph_reserve_edge_ids(graph, from->num_edges, copy->status));
  TRY(graph_set_versions(graph, &from->versions, copy->status));
  copy->nodes[SOURCE_ID] = graph->nodes[SOURCE_ID];
  copy->nodes[SINK_ID] = graph->nodes[SINK_ID];
  for (int64_t id = SINK_ID + 1; id < from->num_node_ids; id++) {
    if (from->nodes[id]) TRY(copy_node(copy, from->nodes[id]));
  }
  return true;
}

static void connect_all(Copy *copy) {
  Edge *next = copy->edges;
  for (int64_t id = 0; id < copy->from->next_edge_id; id++) {
    const Edge *old = copy->old_edges[id];
    if (!old) continue;
    Node *src = copy->nodes[old->src->id], *dst = copy->nodes[old->dst->id];
    if (edge_is_special(old) && graph_special_edge(src, dst)) continue; /* source to sink */
    *next = (Edge){.src = src, .src_output = old->src_output, .dst = dst, .dst_input = old->dst_input};
    graph_connect(copy->graph, next++);
  }
}

bool graph_copy(Graph *graph, const Graph *from, Status *status) {
  if (graph->num_nodes > SINK_ID + 1)
    return status_invalid(status, "A graph can only be copied into one that has no nodes");
  Copy copy = {.graph = graph, .from = from, .status = status};
  int device; /* names of devices stay interned when a later step fails */
  for (int64_t i = 0; i < from->num_devices; i++)
    TRY(graph_intern_device(graph, from->devices[i], &device, status));
  GraphMark mark = graph_mark(graph);
  const Graph before = *graph;
  bool ok = prepare(&copy);
  if (ok) {
    connect_all(&copy);
  } else {
    graph->versions = before.versions;
    graph->num_nodes = before.num_nodes;
    graph->num_node_ids = before.num_node_ids;
    string_map_free(&graph->names);
    string_map_free(&graph->duplicates);
    graph_rollback(graph, mark);
  }
  mem_free(copy.nodes);
  mem_free(copy.old_edges);
  mem_free(copy.handles.pairs);
  return ok;
}

static bool copy_functions(Graph *graph, const Graph *from, Status *status) {
  TRY(function_library_add_library(graph->functions, from->functions, status));
  graph->versions.min_consumer = from->versions.min_consumer;
  return true;
}

bool graph_clone(const Graph *graph, Graph **clone, Status *status) {
  *clone = graph_new_with_ops(graph->ops);
  if (!*clone) return status_oom(status, "the copy of a graph");
  (*clone)->make_body = graph->make_body;
  (*clone)->require_shape_fns = graph->require_shape_fns;
  (*clone)->assumes_shapes = graph->assumes_shapes;
  (*clone)->has_assumed_shapes = graph->has_assumed_shapes;
  if (copy_functions(*clone, graph, status) && graph_copy(*clone, graph, status)) return true;
  graph_free(*clone);
  *clone = NULL;
  return false;
}
