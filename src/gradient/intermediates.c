#include "gradient/intermediates.h"

#include <string.h>

typedef enum NodeKind { KIND_FORWARD, KIND_AGAIN, KIND_GRADIENT } NodeKind;

typedef struct Search {
  BodyWork *work;
  const SplicedFunction *function;
  const bool *given;
  RecomputePolicy policy;
  Intermediates *kept;
  int64_t capacity;
  int *argument; /* per id: 1 + the argument */
  uint8_t *seen; /* per id */
  Node **stack, **shapes;
  int64_t top, num_shapes;
} Search;

static bool oom(const Search *s) { return status_oom(s->work->status, "the gradient of a function"); }

/* Computing it again costs no more than keeping it. */
static bool is_cheap(const Node *node) {
  static const char *const kOps[] = {"StopGradient", "Reshape", "ExpandDims", "BroadcastGradientArgs",
                                     "Squeeze"};
  bool cheap = node_is_const(node) || node_is_identity(node) || node_is_shape_query(node);
  for (size_t i = 0; !cheap && i < sizeof kOps / sizeof kOps[0]; i++)
    cheap = strcmp(node->def->op, kOps[i]) == 0;
  return cheap;
}

static bool keep(Search *s, NodeOutput value) {
  Intermediates *kept = s->kept;
  Arena *arena = s->work->arena;
  int64_t id = value.node->id;
  if (!kept->positions[id])
    kept->positions[id] = arena_calloc(arena, value.node->num_outputs, sizeof **kept->positions);
  if (!kept->positions[id]) return oom(s);
  if (kept->positions[id][value.index] > 0) return true;
  if (kept->count == s->capacity) {
    int64_t capacity = s->capacity == 0 ? 16 : 2 * s->capacity;
    NodeOutput *larger = arena_calloc(arena, capacity, sizeof *larger);
    if (!larger) return oom(s);
    if (kept->count > 0) memcpy(larger, kept->values, (size_t)kept->count * sizeof *larger);
    kept->values = larger;
    s->capacity = capacity;
  }
  kept->values[kept->count++] = value;
  kept->positions[id][value.index] = kept->count;
  return true;
}

static bool is_kept(const Intermediates *kept, NodeOutput value) {
  return value.node->id < kept->num_ids && kept->positions[value.node->id] &&
         kept->positions[value.node->id][value.index] > 0;
}

/* Notes that the gradient reads a value. */
static bool look_at(Search *s, NodeOutput value) {
  int64_t id = value.node->id;
  int argument = s->argument[id];
  if (argument > 0 && s->given[argument - 1]) {
    s->kept->used[argument - 1] = true;
  } else if (s->kept->kind[id] == KIND_FORWARD) {
    return keep(s, value);
  } else if (!s->seen[id]) {
    s->seen[id] = 1;
    s->stack[s->top++] = value.node;
  }
  return true;
}

/* Placeholders of gradients belong to the gradient; all other nodes before it belong to the function, in
 * topological order. */
static void classify(Search *s) {
  const Graph *graph = s->work->graph;
  uint8_t *kind = s->kept->kind;
  for (int64_t id = SINK_ID + 1; id < s->kept->num_ids; id++) {
    const Node *node = graph_node(graph, id);
    if (!node) continue;
    if (id >= s->function->first_gradient) {
      kind[id] = KIND_GRADIENT;
      continue;
    }
    bool again;
    if (s->argument[id] > 0) {
      again = s->given[s->argument[id] - 1];
    } else {
      again = !node->op->def->is_stateful && node->num_control_inputs == 0 &&
              (s->policy == RECOMPUTE_ALL || is_cheap(node));
    }
    for (int i = 0; again && i < node->num_inputs; i++)
      again = node->inputs[i] && kind[node->inputs[i]->src->id] == KIND_AGAIN;
    kind[id] = again ? KIND_AGAIN : KIND_FORWARD;
  }
  for (int i = 0; i < s->function->body->num_rets; i++) {
    const Node *dy = s->function->dys[i].node;
    if (dy) kind[dy->id] = KIND_GRADIENT;
  }
}

static bool walk(Search *s) {
  while (s->top > 0) {
    Node *node = s->stack[--s->top];
    const Edge *first = node->num_inputs == 1 ? node->inputs[0] : NULL;
    if (first && node_is_shape_query(node) && s->kept->kind[node->id] == KIND_GRADIENT &&
        s->kept->kind[first->src->id] == KIND_FORWARD) {
      s->shapes[s->num_shapes++] = node;
      continue;
    }
    for (int i = 0; i < node->num_inputs; i++) {
      const Edge *edge = node->inputs[i];
      if (edge) TRY(look_at(s, (NodeOutput){edge->src, edge->src_output}));
    }
  }
  return true;
}

static bool same_node(const Node *a, const Node *b) {
  if (a->op != b->op || a->num_control_inputs > 0 || a->def->n_attr != b->def->n_attr) return false;
  for (size_t i = 0; i < a->def->n_attr; i++) {
    const AttrValue *other = node_def_attr(b->def, a->def->attr[i]->key);
    if (!other || !attr_value_equal(a->def->attr[i]->value, other)) return false;
  }
  return true;
}

/* A node of the function that computes the same from the same value, or `node`. */
static Node *find_same(const Search *s, Node *node) {
  const Edge *input = node->inputs[0];
  for (int i = 0; i < input->src->num_out_edges; i++) {
    const Edge *edge = input->src->out_edges[i];
    if (edge->src_output == input->src_output && edge->dst->id < s->kept->num_ids &&
        s->kept->kind[edge->dst->id] == KIND_FORWARD && same_node(edge->dst, node))
      return edge->dst;
  }
  return node;
}

/* The shapes of values that are not kept become intermediates. */
static bool keep_shapes(Search *s) {
  Intermediates *kept = s->kept;
  for (int64_t i = 0; i < s->num_shapes; i++) {
    Node *node = s->shapes[i];
    const Edge *edge = node->inputs[0];
    if (is_kept(kept, (NodeOutput){edge->src, edge->src_output})) continue;
    Node *same = find_same(s, node);
    kept->kind[node->id] = KIND_FORWARD;
    TRY(keep(s, (NodeOutput){same, 0}));
    kept->positions[node->id] = kept->positions[same->id];
  }
  return true;
}

bool intermediates_find(BodyWork *work, const SplicedFunction *function, const bool *given,
                        RecomputePolicy policy, Intermediates *kept) {
  Search s = {.work = work, .function = function, .given = given, .policy = policy, .kept = kept};
  Arena *arena = work->arena;
  int64_t ids = graph_num_node_ids(work->graph);
  int num_args = function->body->num_args;
  *kept = (Intermediates){.num_ids = ids};
  kept->used = arena_calloc(arena, num_args + 1, sizeof *kept->used);
  kept->kind = arena_calloc(arena, ids, 1);
  kept->positions = arena_calloc(arena, ids, sizeof *kept->positions);
  s.argument = arena_calloc(arena, ids, sizeof *s.argument);
  s.seen = arena_calloc(arena, ids, 1);
  s.stack = arena_calloc(arena, ids, sizeof *s.stack);
  s.shapes = arena_calloc(arena, ids, sizeof *s.shapes);
  if (!kept->used || !kept->kind || !kept->positions || !s.argument || !s.seen || !s.stack || !s.shapes)
    return oom(&s);
  for (int i = 0; i < num_args; i++) s.argument[function->args[i].node->id] = i + 1;
  classify(&s);
  for (int i = 0; i < num_args; i++) {
    if (function->dxs[i].node) TRY(look_at(&s, function->dxs[i]));
  }
  return walk(&s) && keep_shapes(&s);
}

bool intermediates_replace(const Intermediates *kept, BodyWork *work, SplicedFunction *function,
                           const NodeOutput *items) {
  for (int64_t id = function->first_gradient; id < kept->num_ids; id++) {
    Node *node = graph_node(work->graph, id);
    if (!node || kept->kind[id] != KIND_GRADIENT) continue;
    for (int i = node->num_control_inputs; i > 0; i--) {
      Edge *control = node->control_inputs[i - 1];
      if (kept->kind[control->src->id] == KIND_FORWARD) graph_remove_edge(work->graph, control);
    }
    for (int i = 0; i < node->num_inputs; i++) {
      const Edge *edge = node->inputs[i];
      if (!edge || !is_kept(kept, (NodeOutput){edge->src, edge->src_output})) continue;
      NodeOutput item = items[kept->positions[edge->src->id][edge->src_output] - 1];
      TRY(graph_update_edge(work->graph, item.node, item.index, node, i, work->status));
    }
  }
  for (int i = 0; i < function->body->num_args; i++) {
    NodeOutput *dx = &function->dxs[i];
    if (dx->node && is_kept(kept, *dx)) *dx = items[kept->positions[dx->node->id][dx->index] - 1];
  }
  return true;
}
