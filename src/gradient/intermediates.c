#include "gradient/intermediates.h"

#include <string.h>

#include "gradient/gradients.h"
#include "graph/frame_loop.h"

typedef enum NodeKind { KIND_FORWARD, KIND_AGAIN, KIND_GRADIENT } NodeKind;

typedef struct Search {
  BodyWork *work;
  SplicedFunction *function;
  const bool *given;
  RecomputePolicy policy;
  Intermediates *kept;
  int64_t capacity;
  int *argument; /* per id: 1 + the argument */
  uint8_t *seen; /* per id */
  Node **clones; /* per id: the node again, for the gradient */
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

/* --- what is computed again although it has its place in a loop or a branch --- */

static bool is_branch_switch(const Node *node) { return node_is_switch(node) && !node_is_loop_switch(node); }

static NodeOutput before_switches(NodeOutput value) {
  while (is_branch_switch(value.node) && value.node->inputs[0])
    value = (NodeOutput){value.node->inputs[0]->src, value.node->inputs[0]->src_output};
  return value;
}

static bool is_forward(const Search *s, const Node *node) {
  int argument = s->argument[node->id];
  return s->kept->kind[node->id] == KIND_FORWARD && !(argument > 0 && s->given[argument - 1]);
}

static bool is_cloned(const Search *s, const Node *node) {
  return is_forward(s, node) && s->argument[node->id] == 0 && (node_is_const(node) || is_branch_switch(node));
}

/* Without control inputs. */
static bool clone(Search *s, NodeOutput *value) {
  BodyWork *work = s->work;
  const Node *node = value->node;
  Node **again = &s->clones[node->id];
  if (!*again) {
    NodeOutput inputs[2];
    NodeDef def = *node->def;
    def.n_input = 0;
    def.name = (char *)graph_unique_name(work->graph, def.name);
    if (!def.name) return oom(s);
    for (int i = 0; i < node->num_inputs && i < 2; i++) {
      if (!node->inputs[i])
        return status_invalid(work->status, "Input %d of node '%s' is not connected", i, node->name);
      inputs[i] = (NodeOutput){node->inputs[i]->src, node->inputs[i]->src_output};
    }
    TRY(graph_add_operation(work->graph, &def, inputs, node->num_inputs, NULL, 0, again, work->status));
    s->kept->kind[(*again)->id] = KIND_GRADIENT;
  }
  value->node = *again;
  return true;
}

/* --- what the gradient reads --- */

/* Notes that the gradient reads a value, which becomes the one that it should read instead. */
static bool look_at(Search *s, NodeOutput *value) {
  if (is_cloned(s, value->node)) TRY(clone(s, value));
  int64_t id = value->node->id;
  int argument = s->argument[id];
  if (argument > 0 && s->given[argument - 1]) {
    s->kept->used[argument - 1] = true;
  } else if (s->kept->kind[id] == KIND_FORWARD) {
    return keep(s, *value);
  } else if (!s->seen[id]) {
    s->seen[id] = 1;
    s->stack[s->top++] = value->node;
  }
  return true;
}

/* Placeholders of gradients belong to the gradient; all other nodes before it belong to the function, in
 * topological order. */
static void classify(Search *s) {
  const Graph *graph = s->work->graph;
  uint8_t *kind = s->kept->kind;
  for (int64_t id = SINK_ID + 1; id < graph_num_node_ids(graph); id++) {
    const Node *node = graph_node(graph, id);
    if (!node) continue;
    if (id >= s->function->first_gradient && !gradient_site_is_forward(s->work->site, id)) {
      kind[id] = KIND_GRADIENT;
      continue;
    }
    bool again;
    if (s->argument[id] > 0) {
      again = s->given[s->argument[id] - 1];
    } else {
      again = !node->op->def->is_stateful && node->num_control_inputs == 0 && !node_is_never_constant(node) &&
              (s->policy == RECOMPUTE_ALL || is_cheap(node));
    }
    for (int i = 0; again && i < node->num_inputs; i++)
      again = node->inputs[i] && kind[node->inputs[i]->src->id] == KIND_AGAIN;
    kind[id] = again ? KIND_AGAIN : KIND_FORWARD;
  }
  for (int i = 0; i < s->function->num_rets; i++) {
    const Node *dy = s->function->dys[i].node;
    if (dy) kind[dy->id] = KIND_GRADIENT;
  }
}

/* A node of the gradient that reads only the shape of a value that would have to be kept. */
static bool reads_shape(const Search *s, const Node *node) {
  const Edge *first = node->num_inputs == 1 ? node->inputs[0] : NULL;
  if (!first || !node_is_shape_query(node) || s->kept->kind[node->id] != KIND_GRADIENT) return false;
  const Node *from = before_switches(edge_value(first)).node;
  return is_forward(s, first->src) && is_forward(s, from) && !node_is_const(from);
}

static bool look_at_inputs(Search *s, Node *node) {
  for (int i = 0; i < node->num_inputs; i++) {
    const Edge *edge = node->inputs[i];
    if (!edge) continue;
    NodeOutput value = {edge->src, edge->src_output};
    TRY(look_at(s, &value));
    if (value.node != edge->src)
      TRY(graph_update_edge(s->work->graph, value.node, value.index, node, i, s->work->status));
  }
  return true;
}

static bool walk(Search *s) {
  while (s->top > 0) {
    Node *node = s->stack[--s->top];
    if (reads_shape(s, node)) s->shapes[s->num_shapes++] = node;
    else TRY(look_at_inputs(s, node));
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
    if (edge->src_output == input->src_output && s->kept->kind[edge->dst->id] == KIND_FORWARD &&
        same_node(edge->dst, node))
      return edge->dst;
  }
  return node;
}

/* The shapes of values that are not kept become intermediates. */
static bool keep_shapes(Search *s) {
  Intermediates *kept = s->kept;
  for (int64_t i = 0; i < s->num_shapes; i++) {
    Node *node = s->shapes[i];
    NodeOutput value = {node->inputs[0]->src, node->inputs[0]->src_output};
    if (is_kept(kept, before_switches(value))) {
      TRY(look_at_inputs(s, node) && walk(s));
      continue;
    }
    Node *same = find_same(s, node);
    kept->kind[node->id] = KIND_FORWARD;
    if (same == node) TRY(gradient_site_keep(s->work->site, node));
    TRY(keep(s, (NodeOutput){same, 0}));
    kept->positions[node->id] = kept->positions[same->id];
  }
  return true;
}

/* The gradient reads what the conditions depend on, too. */
static bool read_predicates(Search *s, const Conditions *conditions, Conditions *read) {
  Condition *all = arena_calloc(s->work->arena, conditions->count, sizeof *all);
  if (!all) return oom(s);
  *read = (Conditions){all, conditions->count};
  for (int i = 0; i < conditions->count; i++) {
    all[i] = conditions->all[i];
    TRY(look_at(s, &all[i].predicate));
  }
  return walk(s);
}

static bool find_conditions(Search *s) {
  Intermediates *kept = s->kept;
  int64_t capacity = 0;
  for (int i = 0; i < kept->count; i++) {
    const Conditions *extra;
    if (i >= capacity) {
      Conditions *larger = arena_calloc(s->work->arena, 2 * kept->count, sizeof *larger);
      if (!larger) return oom(s);
      if (i > 0) memcpy(larger, kept->conditions, (size_t)i * sizeof *larger);
      kept->conditions = larger;
      capacity = 2 * kept->count;
    }
    TRY(gradient_site_conditions(s->work->site, kept->values[i], NULL, &extra));
    kept->conditions[i] = (Conditions){0};
    if (extra->count > 0) TRY(read_predicates(s, extra, &kept->conditions[i]));
  }
  return true;
}

/* What is kept is alive wherever the function runs. */
static bool complete_values(Search *s) {
  BodyWork work = *s->work;
  int64_t first = graph_num_node_ids(work.graph);
  work.pivot = work.site->pivot;
  for (int i = 0; i < s->kept->count; i++) {
    NodeOutput empty, *value = &s->kept->values[i];
    const Conditions *extra;
    if (s->kept->conditions[i].count == 0) continue;
    TRY(gradient_site_conditions(work.site, *value, NULL, &extra));
    TRY(body_work_empty(&work, node_output_type(*value), &empty));
    TRY(switch_gradient_complete(&work, *value, extra, empty, value));
  }
  return graph_num_node_ids(work.graph) == first || gradient_site_add_forward(work.site, first);
}

bool intermediates_find(BodyWork *work, SplicedFunction *function, const bool *given, RecomputePolicy policy,
                        Intermediates *kept) {
  Search s = {.work = work, .function = function, .given = given, .policy = policy, .kept = kept};
  Arena *arena = work->arena;
  int64_t ids = 2 * graph_num_node_ids(work->graph); /* each node may be cloned once */
  int num_args = function->num_args;
  *kept = (Intermediates){.num_ids = ids};
  kept->used = arena_calloc(arena, num_args + 1, sizeof *kept->used);
  kept->kind = arena_calloc(arena, ids, 1);
  kept->positions = arena_calloc(arena, ids, sizeof *kept->positions);
  s.argument = arena_calloc(arena, ids, sizeof *s.argument);
  s.seen = arena_calloc(arena, ids, 1);
  s.clones = arena_calloc(arena, ids, sizeof *s.clones);
  s.stack = arena_calloc(arena, ids, sizeof *s.stack);
  s.shapes = arena_calloc(arena, ids, sizeof *s.shapes);
  if (!kept->used || !kept->kind || !kept->positions || !s.argument || !s.seen || !s.clones || !s.stack ||
      !s.shapes)
    return oom(&s);
  for (int i = 0; i < num_args; i++) s.argument[function->args[i].node->id] = i + 1;
  classify(&s);
  for (int i = 0; i < num_args; i++) {
    if (function->dxs[i].node) TRY(look_at(&s, &function->dxs[i]));
  }
  return walk(&s) && keep_shapes(&s) && find_conditions(&s) && complete_values(&s);
}

static NodeOutput item_of(const Intermediates *kept, NodeOutput value, const NodeOutput *items) {
  return !is_kept(kept, value) ? value : items[kept->positions[value.node->id][value.index] - 1];
}

/* Sends items through Switches. A predicate has fewer conditions than what it is a condition of. */
static bool gate_items(const Intermediates *kept, BodyWork *work, NodeOutput *items) {
  int most = 0;
  for (int i = 0; i < kept->count; i++)
    most = kept->conditions[i].count > most ? kept->conditions[i].count : most;
  for (int count = 1; count <= most; count++) {
    for (int i = 0; i < kept->count; i++) {
      for (int k = 0; kept->conditions[i].count == count && k < count; k++) {
        Condition condition = kept->conditions[i].all[k];
        condition.predicate = item_of(kept, condition.predicate, items);
        TRY(switch_gradient_gate(work, items[i], &condition, &items[i]));
      }
    }
  }
  return true;
}

bool intermediates_replace(const Intermediates *kept, BodyWork *work, SplicedFunction *function,
                           const NodeOutput *given_items) {
  NodeOutput *items = arena_calloc(work->arena, kept->count + 1, sizeof *items);
  if (!items) return status_oom(work->status, "the gradient of a function");
  if (kept->count > 0) memcpy(items, given_items, (size_t)kept->count * sizeof *items);
  TRY(gate_items(kept, work, items));
  for (int64_t id = function->first_gradient; id < kept->num_ids; id++) {
    Node *node = graph_node(work->graph, id);
    if (!node || kept->kind[id] != KIND_GRADIENT) continue;
    for (int i = node->num_control_inputs; i > 0; i--) {
      Edge *control = node->control_inputs[i - 1];
      if (kept->kind[control->src->id] == KIND_FORWARD) graph_remove_edge(work->graph, control);
    }
    for (int i = 0; i < node->num_inputs; i++) {
      const Edge *edge = node->inputs[i];
      if (!edge || !is_kept(kept, edge_value(edge))) continue;
      NodeOutput item = item_of(kept, edge_value(edge), items);
      TRY(graph_update_edge(work->graph, item.node, item.index, node, i, work->status));
    }
  }
  for (int i = 0; i < function->num_args; i++) {
    NodeOutput *dx = &function->dxs[i];
    if (dx->node) *dx = item_of(kept, *dx, items);
  }
  return true;
}
