/* The shapes of values in loops. Inference in the order of the edges does not know what comes back from a
 * round, so it takes the shapes of variables for unknown. Here they are those that enter the loop, as long as
 * every round hands them on. */
#include "base/arena.h"
#include "graph/graph_internal.h"
#include "graph/node_class.h"

typedef struct LoopShapes {
  Graph *graph;
  Status *status;
  Node **order;
  int64_t count;
  bool *follows; /* by id: the shapes depend on what enters a loop */
  /* By id of a Merge that begins a round; NULL: not visited yet. */
  ShapeHandle *shapes;
  const HandleData **handles;
  uint32_t *open; /* the dimensions whose sizes differ */
} LoopShapes;

enum { MOST_ROUNDS = 4, MOST_DIMS = 32 };

static bool oom(Status *status) { return status_oom(status, "the shapes of loops"); }

/* The input of the Merge that enters, or that comes back; NULL if it does not begin a round. */
static const Edge *input_of(const Node *merge, bool enters) {
  if (!node_is_merge(merge) || merge->num_inputs != 2 || !merge->inputs[0] || !merge->inputs[1]) return NULL;
  int at = node_is_enter(merge->inputs[0]->src) ? 0 : 1;
  const Node *enter = merge->inputs[at]->src, *next = merge->inputs[1 - at]->src;
  if (!node_is_enter(enter) || !node_is_next_iteration(next)) return NULL;
  return enters ? enter->inputs[0] : next->inputs[0];
}

static bool same_dim(DimHandle a, DimHandle b) {
  return a == b || (dim_known(a) && dim_known(b) && dim_value(a) == dim_value(b));
}

/* Sizes that differ become one that is not known to equal any other: it covers all. */
static bool cover_shape(LoopShapes *s, const Node *merge, ShapeHandle now, bool *changed) {
  InferenceContext context = graph_shape_context(s->graph, merge);
  ShapeHandle *shape = &s->shapes[merge->id];
  if (!shape_rank_known(*shape)) return true;
  int32_t rank = shape_rank(*shape);
  if (!shape_rank_known(now) || shape_rank(now) != rank || rank > MOST_DIMS) {
    *changed = true;
    return shape_ok(shape_unknown(&context), shape, s->status);
  }
  for (int32_t d = 0; d < rank; d++) {
    DimHandle any;
    if (same_dim((*shape)->dims[d], now->dims[d]) || s->open[merge->id] >> d & 1) continue;
    TRY(dim_ok(dim_unknown(&context), &any, s->status));
    TRY(shape_replace_dim(&context, *shape, d, any, shape, s->status));
    s->open[merge->id] |= (uint32_t)1 << d;
    *changed = true;
  }
  return true;
}

/* Makes the assumption about the Merge cover another value, too. */
static bool cover(LoopShapes *s, const Node *merge, const Edge *value, bool *changed) {
  InferenceContext context = graph_shape_context(s->graph, merge);
  ShapeHandle now = value->src->output_shapes[value->src_output];
  const HandleData **handles = &s->handles[merge->id], *known = *handles, *relaxed = NULL,
                   *other = value->src->output_handles[value->src_output];
  if (!s->shapes[merge->id]) {
    s->shapes[merge->id] = now;
    *handles = other;
    return true;
  }
  if (known && other) TRY(handle_data_relax(&context, known, other, &relaxed, s->status));
  if (relaxed != known) {
    *handles = NULL;
    *changed = true;
  }
  return cover_shape(s, merge, now, changed);
}

static bool begin_round(LoopShapes *s, Node *merge) {
  bool changed = false;
  TRY(cover(s, merge, input_of(merge, true), &changed));
  graph_forget_shapes(s->graph, merge);
  merge->output_shapes[0] = s->shapes[merge->id];
  if (!s->handles[merge->id]) return true;
  const HandleData **own = arena_calloc(s->graph->arena, merge->num_outputs, sizeof *own);
  if (!own) return oom(s->status);
  own[0] = s->handles[merge->id];
  merge->output_handles = own;
  return true;
}

/* Whether it reads a value of the round before in another way: nothing is known of that. */
static bool reads_round(const Node *node) {
  for (int i = 0; i < node->num_inputs; i++) {
    if (node->inputs[i] && node_is_next_iteration(node->inputs[i]->src)) return true;
  }
  return false;
}

/* What enters a loop may have been added without shapes. */
static bool follows(const LoopShapes *s, const Node *node) {
  if (node_is_enter(node)) return true;
  for (int i = 0; i < node->num_inputs; i++) {
    if (node->inputs[i] && s->follows[node->inputs[i]->src->id]) return true;
  }
  return false;
}

static bool infer(LoopShapes *s) {
  for (int64_t i = 0; i < s->count; i++) {
    Node *node = s->order[i];
    bool begins = input_of(node, true) != NULL;
    bool unknown = !begins && reads_round(node);
    s->follows[node->id] = begins || unknown || follows(s, node);
    if (begins) {
      TRY(begin_round(s, node));
    } else if (s->follows[node->id]) {
      graph_forget_shapes(s->graph, node);
      if (!unknown) TRY(graph_infer_leniently(s->graph, node, s->status));
    }
  }
  return true;
}

/* Whether some round hands on another shape than was assumed, which is then not assumed any longer. */
static bool compare(LoopShapes *s, bool *changed) {
  *changed = false;
  for (int64_t i = 0; i < s->count; i++) {
    const Edge *next = input_of(s->order[i], false);
    if (next) TRY(cover(s, s->order[i], next, changed));
  }
  return true;
}

static bool assume_nothing(LoopShapes *s) {
  InferenceContext context = graph_shape_context(s->graph, s->order[0]);
  ShapeHandle unknown;
  TRY(shape_ok(shape_unknown(&context), &unknown, s->status));
  for (int64_t i = 0; i < s->count; i++) {
    s->shapes[s->order[i]->id] = unknown;
    s->handles[s->order[i]->id] = NULL;
  }
  return infer(s);
}

static bool run(LoopShapes *s, Arena *arena) {
  int64_t ids = graph_num_node_ids(s->graph);
  bool changed = true;
  s->follows = arena_calloc(arena, ids, sizeof *s->follows);
  s->shapes = arena_calloc(arena, ids, sizeof *s->shapes);
  s->handles = arena_calloc(arena, ids, sizeof *s->handles);
  s->open = arena_calloc(arena, ids, sizeof *s->open);
  if (!s->follows || !s->shapes || !s->handles || !s->open) return oom(s->status);
  for (int round = 0; changed && round < MOST_ROUNDS; round++) TRY(infer(s) && compare(s, &changed));
  return !changed || assume_nothing(s);
}

static bool has_loops(const Graph *graph) {
  for (int64_t id = SINK_ID + 1; id < graph_num_node_ids(graph); id++) {
    const Node *node = graph_node(graph, id);
    if (node && node_is_enter(node)) return true;
  }
  return false;
}

bool graph_infer_loops(Graph *graph, Status *status) {
  if (!has_loops(graph)) return true;
  LoopShapes s = {.graph = graph, .status = status};
  Arena *arena = arena_new();
  Status cycle;
  status_init(&cycle);
  bool ok = arena || oom(status);
  if (ok && graph_topological_order(graph, NULL, NULL, 0, arena, &s.order, &s.count, &cycle))
    ok = run(&s, arena);
  else if (ok && cycle.code == CODE_RESOURCE_EXHAUSTED) ok = oom(status);
  arena_free(arena);
  return ok;
}
