#include "gradient/conditions.h"

#include <string.h>

#include "base/alloc.h"
#include "graph/frame_loop.h"
#include "graph/node_class.h"

static const Conditions kNone = {NULL, 0};

static bool oom(const ConditionFinder *f) { return status_oom(f->status, "gradients"); }

bool condition_finder_init(ConditionFinder *finder, const Graph *graph, Status *status) {
  *finder = (ConditionFinder){.graph = graph, .arena = arena_new(), .status = status};
  return finder->arena || oom(finder);
}

void condition_finder_clear(ConditionFinder *finder) {
  mem_free(finder->known);
  mem_free(finder->opened);
  mem_free(finder->stack);
  arena_free(finder->arena);
  *finder = (ConditionFinder){0};
}

/* --- sets --- */

static int compare(const Condition *a, const Condition *b) {
  if (a->predicate.node->id != b->predicate.node->id)
    return a->predicate.node->id < b->predicate.node->id ? -1 : 1;
  if (a->predicate.index != b->predicate.index) return a->predicate.index < b->predicate.index ? -1 : 1;
  return (a->side > b->side) - (a->side < b->side);
}

typedef enum SetPart { ONLY_IN_A = 1, IN_BOTH = 2, ONLY_IN_B = 4 } SetPart;

/* What is in the given parts of two sets. A result that equals one of them is that one. */
static bool combine(ConditionFinder *f, const Conditions *a, const Conditions *b, int parts,
                    const Conditions **result) {
  int i = 0, k = 0, count = 0;
  Condition *all = arena_alloc(f->arena, (a->count + b->count + 1) * (int64_t)sizeof *all);
  Conditions *made = arena_alloc(f->arena, (int64_t)sizeof *made);
  if (!all || !made) return oom(f);
  while (i < a->count || k < b->count) {
    int order = i == a->count ? 1 : k == b->count ? -1 : compare(&a->all[i], &b->all[k]);
    SetPart part = order < 0 ? ONLY_IN_A : order > 0 ? ONLY_IN_B : IN_BOTH;
    if (parts & part) all[count++] = order > 0 ? b->all[k] : a->all[i];
    i += order <= 0;
    k += order >= 0;
  }
  *made = (Conditions){all, count};
  *result = made;
  return true;
}

/* Whether b has all of a. */
static bool is_part(const Conditions *a, const Conditions *b) {
  int k = 0;
  for (int i = 0; i < a->count; i++, k++) {
    while (k < b->count && compare(&b->all[k], &a->all[i]) < 0) k++;
    if (k == b->count || compare(&b->all[k], &a->all[i]) != 0) return false;
  }
  return true;
}

bool conditions_united(ConditionFinder *f, const Conditions *a, const Conditions *b, const Conditions **all) {
  *all = is_part(b, a) ? a : b;
  return is_part(b, a) || is_part(a, b) || combine(f, a, b, ONLY_IN_A | IN_BOTH | ONLY_IN_B, all);
}

bool conditions_common(ConditionFinder *f, const Conditions *a, const Conditions *b,
                       const Conditions **common) {
  *common = is_part(a, b) ? a : b;
  return is_part(a, b) || is_part(b, a) || combine(f, a, b, IN_BOTH, common);
}

bool conditions_without(ConditionFinder *f, const Conditions *a, const Conditions *b,
                        const Conditions **rest) {
  return combine(f, a, b, ONLY_IN_A, rest);
}

bool conditions_exclude(const Conditions *a, const Conditions *b) {
  for (int i = 0; i < a->count; i++) {
    for (int k = 0; k < b->count; k++) {
      const Condition *x = &a->all[i], *y = &b->all[k];
      if (x->predicate.node == y->predicate.node && x->predicate.index == y->predicate.index &&
          x->side != y->side)
        return true;
    }
  }
  return false;
}

/* --- one node, whose inputs are known --- */

static NodeOutput predicate_of(const Node *split) {
  NodeOutput value = {split->inputs[1]->src, split->inputs[1]->src_output};
  while (node_is_identity(value.node) && value.node->inputs[0])
    value = (NodeOutput){value.node->inputs[0]->src, value.node->inputs[0]->src_output};
  return value;
}

/* What the edge brings: the conditions of its source, and that a Switch chose this output. */
static bool of_edge(ConditionFinder *f, const Edge *edge, bool leaves_loop, const Conditions **conditions) {
  const Node *src = edge->src;
  const Conditions *known = f->known[src->id];
  *conditions = known ? known : &kNone;
  if (!node_is_switch(src) || edge_is_control(edge) || leaves_loop || !src->inputs[1]) return true;
  Condition *one = arena_alloc(f->arena, (int64_t)sizeof *one);
  Conditions *own = arena_alloc(f->arena, (int64_t)sizeof *own);
  if (!one || !own) return oom(f);
  *one = (Condition){predicate_of(src), edge->src_output, src->num_outputs};
  *own = (Conditions){one, 1};
  return conditions_united(f, *conditions, own, conditions);
}

static int num_sources(const Node *node) { return node->num_inputs + node->num_control_inputs; }

static const Edge *source_edge(const Node *node, int i) {
  const Edge *edge = i < node->num_inputs ? node->inputs[i] : node->control_inputs[i - node->num_inputs];
  bool closes_loop = edge && node_is_merge(node) && node_is_next_iteration(edge->src);
  return closes_loop ? NULL : edge;
}

static bool find_own(ConditionFinder *f, const Node *node) {
  const Conditions *all = NULL;
  bool any_of = node_is_merge(node), always = node_is_control_trigger(node);
  for (int i = 0; !always && i < num_sources(node); i++) {
    const Edge *edge = source_edge(node, i);
    const Conditions *next;
    /* A Merge waits for its control inputs, but runs also if they do not. */
    if (!edge || (any_of && edge_is_control(edge))) continue;
    TRY(of_edge(f, edge, node_is_exit(node), &next));
    if (!all) all = next;
    else if (any_of) TRY(conditions_common(f, all, next, &all));
    else TRY(conditions_united(f, all, next, &all));
  }
  if (!all) all = &kNone;
  f->known[node->id] = all;
  return true;
}

/* --- the walk --- */

static bool make_room(ConditionFinder *f) {
  int64_t ids = graph_num_node_ids(f->graph);
  if (ids <= f->num_known) return true;
  if (!mem_grow((void **)&f->known, &f->known_capacity, ids, sizeof *f->known) ||
      !mem_grow((void **)&f->opened, &f->opened_capacity, ids, sizeof *f->opened) ||
      !mem_grow((void **)&f->stack, &f->stack_capacity, ids, sizeof *f->stack))
    return oom(f);
  size_t added = (size_t)(ids - f->num_known);
  memset(f->known + f->num_known, 0, added * sizeof *f->known);
  memset(f->opened + f->num_known, 0, added * sizeof *f->opened);
  f->num_known = ids;
  return true;
}

/* Looks at the sources first; one that is still open is in a cycle without a loop, which cannot run. */
static bool walk(ConditionFinder *f, Node *root) {
  int64_t top = 0;
  f->stack[top++] = root;
  while (top > 0) {
    Node *node = f->stack[top - 1], *source = NULL;
    while (!source && f->opened[node->id] < num_sources(node)) {
      const Edge *edge = source_edge(node, f->opened[node->id]++);
      if (edge && !f->known[edge->src->id] && f->opened[edge->src->id] == 0) source = edge->src;
    }
    if (source) {
      f->stack[top++] = source;
      continue;
    }
    top--;
    if (!f->known[node->id]) TRY(find_own(f, node));
  }
  return true;
}

bool conditions_of(ConditionFinder *f, NodeOutput value, const Conditions **conditions) {
  TRY(make_room(f));
  if (!f->known[value.node->id]) TRY(walk(f, value.node));
  const Edge edge = {.src = value.node, .src_output = value.index};
  return of_edge(f, &edge, false, conditions);
}
