/* Shapes after an edge was redirected: TensorFlow's ShapeRefiner::UpdateNode, extended to the consumers of
 * what changed.
 *
 * Nodes are visited in topological order, so that one pass is enough unless there are loops. The further
 * passes that a loop needs only relax shapes: sizes on which two passes disagree become unknown. That can
 * happen once to each size, and after MAX_PASSES to whole shapes, so it ends.
 */
#include <string.h>

#include "base/alloc.h"
#include "graph/graph_internal.h"
#include "graph/graph_walk.h"

enum { MAX_PASSES = 16 };

/* A node that may have to be inferred again. */
typedef struct Follower {
  Node *node;
  bool dirty;
  /* The shapes before the update, for rolling back; in the graph's arena. `shapes` is NULL if nothing was
   * done. */
  ShapeHandle *shapes;
  const HandleData **handles, **handle_array;
} Follower;

typedef struct Update {
  Graph *graph;
  Follower *followers;
  int64_t count, capacity;
  int32_t *places; /* by node id: index in `followers` */
  int pass;
  bool again, out_of_memory;
  Status *status;
} Update;

static bool oom(Status *status) { return status_oom(status, "shape inference"); }

/* --- affected nodes --- */

static bool follow_data(void *argument, const Edge *edge) {
  (void)argument;
  return !edge_is_control(edge);
}

static void collect(void *argument, Node *node) {
  Update *update = argument;
  if (!mem_grow((void **)&update->followers, &update->capacity, update->count + 1, sizeof(Follower))) {
    update->out_of_memory = true;
  } else {
    update->followers[update->count++] = (Follower){.node = node};
  }
}

/* All reachable nodes in topological order but for loops: the first is the node itself. */
static bool find_followers(Update *update, Node *node) {
  const Walk walk = {.leave = collect, .follow = follow_data, .argument = update};
  TRY(graph_dfs_from(update->graph, &node, 1, &walk, update->status));
  update->places = mem_alloc(update->graph->num_node_ids * (int64_t)sizeof *update->places);
  if (update->out_of_memory || !update->places) return oom(update->status);
  for (int64_t i = 0, j = update->count - 1; i < j; i++, j--) {
    Follower swap = update->followers[i];
    update->followers[i] = update->followers[j];
    update->followers[j] = swap;
  }
  for (int64_t i = 0; i < update->count; i++) update->places[update->followers[i].node->id] = (int32_t)i;
  return true;
}

/* --- changes --- */

static bool same_shape(ShapeHandle a, ShapeHandle b) {
  if (a == b) return true;
  if (shape_rank(a) != shape_rank(b)) return false;
  for (int32_t i = 0; i < shape_rank(a); i++) {
    if (a->dims[i] == b->dims[i]) continue;
    if (!dim_known(a->dims[i]) || dim_value(a->dims[i]) != dim_value(b->dims[i])) return false;
  }
  return true;
}

static bool same_handles(const HandleData *a, const HandleData *b) {
  if (a == b) return true;
  if (!a || !b || a->count != b->count) return false;
  for (int i = 0; i < a->count; i++) {
    if (a->entries[i].dtype != b->entries[i].dtype || !same_shape(a->entries[i].shape, b->entries[i].shape))
      return false;
  }
  return true;
}

/* The part on which both agree; `old` itself when that is all of `old`. */
static bool relax(Update *update, const Node *node, ShapeHandle old, ShapeHandle new, ShapeHandle *out) {
  *out = old;
  if (!shape_rank_known(old)) return true;
  if (update->pass > MAX_PASSES || shape_rank(old) != shape_rank(new)) {
    if (!same_shape(old, new)) *out = &kUnknownShape;
    return true;
  }
  InferenceContext context = graph_shape_context(update->graph, node);
  for (int32_t i = 0; i < shape_rank(old); i++) {
    DimHandle dim = old->dims[i], other = new->dims[i], unknown;
    if (!dim_known(dim) || dim_value(dim) == dim_value(other)) continue;
    TRY(dim_ok(dim_unknown(&context), &unknown, update->status));
    TRY(shape_replace_dim(&context, *out, i, unknown, out, update->status));
  }
  return true;
}

/* Handle data on which two passes disagree is dropped. */
static bool relax_outputs(Update *update, Node *node, const ShapeHandle *shapes,
                          const HandleData *const *handles) {
  for (int i = 0; i < node->num_outputs; i++) {
    TRY(relax(update, node, shapes[i], node->output_shapes[i], &node->output_shapes[i]));
    const HandleData *data = node->output_handles[i];
    if (!data) continue;
    node->output_handles[i] = same_handles(handles[i], data) ? handles[i] : NULL;
  }
  return true;
}

/* --- one node --- */

static void *copy_array(Arena *arena, const void *array, int count, size_t size) {
  void *copy = arena_calloc(arena, (int64_t)count + 1, (int64_t)size);
  if (copy && count > 0) memcpy(copy, array, (size_t)count * size);
  return copy;
}

static bool infer_follower(Update *update, Follower *follower, bool *changed) {
  Node *node = follower->node;
  Arena *arena = update->graph->arena;
  ShapeHandle *shapes = copy_array(arena, node->output_shapes, node->num_outputs, sizeof *shapes);
  const HandleData **handles = copy_array(arena, node->output_handles, node->num_outputs, sizeof *handles);
  if (!shapes || !handles) return oom(update->status);
  if (!follower->shapes) {
    follower->handle_array = node->output_handles;
    follower->handles = handles;
    follower->shapes = shapes;
  }
  update->graph->body_steps = 0;
  TRY(graph_run_shape_fn(update->graph, node, update->status));
  if (update->pass > 0) TRY(relax_outputs(update, node, shapes, handles));
  *changed = false;
  for (int i = 0; i < node->num_outputs; i++) {
    *changed |=
        !same_shape(shapes[i], node->output_shapes[i]) || !same_handles(handles[i], node->output_handles[i]);
  }
  return true;
}

static void restore(const Update *update) {
  for (int64_t i = 0; i < update->count; i++) {
    const Follower *follower = &update->followers[i];
    Node *node = follower->node;
    if (!follower->shapes) continue;
    node->output_handles = follower->handle_array;
    for (int j = 0; j < node->num_outputs; j++) {
      node->output_shapes[j] = follower->shapes[j];
      if (follower->handles[j] != node->output_handles[j]) node->output_handles[j] = follower->handles[j];
    }
  }
}

/* --- all nodes --- */

static void mark_consumers(Update *update, int64_t place) {
  const Node *node = update->followers[place].node;
  for (int32_t i = 0; i < node->num_out_edges; i++) {
    const Edge *edge = node->out_edges[i];
    if (edge_is_control(edge)) continue;
    int64_t consumer = update->places[edge->dst->id];
    update->followers[consumer].dirty = true;
    if (consumer <= place) update->again = true;
  }
}

static bool run_passes(Update *update, bool *refined) {
  update->followers[0].dirty = update->again = true;
  for (; update->again; update->pass++) {
    update->again = false;
    for (int64_t i = 0; i < update->count; i++) {
      bool changed = false;
      if (!update->followers[i].dirty) continue;
      update->followers[i].dirty = false;
      TRY(infer_follower(update, &update->followers[i], &changed));
      if (!changed) continue;
      *refined = true;
      mark_consumers(update, i);
    }
  }
  return true;
}

bool graph_update_shapes(Graph *graph, Node *node, bool *refined, Status *status) {
  TRY(graph_check_node(graph, node, status));
  TRY(graph_begin_inference(graph, status));
  graph_forget_values(graph);
  Update update = {.graph = graph, .status = status};
  GraphMark mark = graph_mark(graph);
  bool changed = false;
  bool ok = find_followers(&update, node) && run_passes(&update, &changed);
  graph->is_inferring = false;
  if (ok && changed && refined) *refined = true;
  if (!ok) restore(&update);
  mem_free(update.followers);
  mem_free(update.places);
  graph_forget_values(graph);
  return ok || graph_rollback(graph, mark);
}
