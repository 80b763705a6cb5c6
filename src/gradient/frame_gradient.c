/* The gradient of a loop of Enter, Merge, Switch, NextIteration and Exit. It is that of a functional loop
 * (loop_gradient.c): the loop gets variables that count its rounds and keep intermediates in lists, and the
 * gradient is a For that reads them in reverse order.
 *
 * The body is differentiated where it stands, so that control flow inside of it keeps intermediates in the
 * same graph. The nodes of its gradient then move into a function and leave the graph. What is the same in
 * every round is passed to that function, and its gradients are added up over the rounds. */
#include <string.h>

#include "base/alloc.h"
#include "gradient/frame_extend.h"
#include "gradient/gradients.h"
#include "gradient/loop_backward.h"
#include "gradient/stack_gradient.h"
#include "graph/node_class.h"

struct FrameUnit {
  FrameLoop *loop;
  int num_args; /* variables, then constants */
};

typedef struct FrameGradient {
  Gradients *g;
  const FrameLoop *loop;
  int num_vars, num_args;
  BodyWork work; /* where the body stands */
  SplicedFunction body;
  bool *active, *given;
  DataType *sums;
  NodeOutput *dys; /* per variable: what arrives behind the loop; a NULL node: nothing */
  Intermediates kept;
  NodeOutput rounds, *lists;
  Node *pivot;
  const Conditions *outside; /* what the pivot and the arguments bring */
  const char *backward;
} FrameGradient;

static bool oom(const Gradients *g) { return status_oom(g->status, "the gradient of a loop"); }

static Node *input_node(const Node *node, int i) {
  return i < node->num_inputs && node->inputs[i] ? node->inputs[i]->src : NULL;
}

/* --- a loop as one step of the walk --- */

static bool is_inside(const Gradients *g, const Node *node, const char *frame) {
  status_invalid(g->status,
                 "Cannot compute gradients with respect to or of values inside of a while loop: '%s' (op: "
                 "'%s') is computed in the rounds of loop '%s'",
                 node->name, node->def->op, frame);
  return node_attach(node->name, g->status);
}

static Node *enter_of(const FrameUnit *unit, int i) {
  const FrameLoop *loop = unit->loop;
  return i < loop->num_variables ? loop->variables[i].enter : loop->constants[i - loop->num_variables];
}

static bool new_unit(Gradients *g, const Node *exit) {
  FrameUnit *unit = arena_calloc(g->arena, 1, (int64_t)sizeof *unit);
  if (!g->units) g->units = mem_calloc(g->walk.num_ids, sizeof *g->units);
  if (!unit || !g->units) return oom(g);
  TRY(frame_loop_of_exit(exit, g->arena, &unit->loop, g->status));
  unit->num_args = unit->loop->num_variables + unit->loop->num_constants;
  g->units[unit->loop->condition->id] = unit;
  for (int i = 0; i < unit->num_args; i++) g->units[enter_of(unit, i)->id] = unit;
  return true;
}

/* The x that has an effect on the node. */
static const Node *find_x(const Gradients *g, Node *node) {
  uint8_t *seen = arena_calloc(g->arena, g->walk.num_ids, 1);
  Node **queue = arena_calloc(g->arena, g->walk.num_ids, sizeof *queue);
  int64_t head = 0, tail = 0;
  if (!seen || !queue) return NULL;
  seen[node->id] = 1;
  queue[tail++] = node;
  while (head < tail) {
    const Node *at = queue[head++];
    if (g->first_x[at->id] > 0) return at;
    for (int i = 0; i < at->num_inputs; i++) {
      const Edge *edge = gradients_edge(g, at, i);
      if (!edge || seen[edge->src->id]) continue;
      seen[edge->src->id] = 1;
      queue[tail++] = edge->src;
    }
  }
  return NULL;
}

static bool is_initial_value(const Gradients *g, Node *node) {
  const Node *x = find_x(g, node);
  if (!x) return oom(g);
  return status_invalid(
      g->status,
      "Cannot compute gradient inside while loop with respect to op '%s'. We do not support "
      "taking the gradient wrt or through the initial value of a loop variable. Gradients can "
      "be computed through loop invariants or wrt the input parameters to the loop body.",
      x->name);
}

bool frame_gradient_enter(Gradients *g, Node *node) {
  const Node *split = node_is_exit(node) ? input_node(node, 0) : NULL;
  const Node *condition = split ? input_node(split, 1) : NULL;
  if (condition && g->units && g->units[condition->id]) return true;
  if (node_is_exit(node)) return new_unit(g, node);
  bool of_loop = node_is_enter(node) || node_is_next_iteration(node) || node_is_loop_merge(node) ||
                 node_is_loop_switch(node);
  if (!of_loop || (g->units && g->units[node->id]) || g->stops[node->id]) return true;
  if (g->frames && frame_scope_has(g->frames, node) && !node_is_next_iteration(node))
    return node_is_constant_enter(node) || is_initial_value(g, node);
  return is_inside(g, node, "");
}

static const FrameUnit *unit_of(const Gradients *g, const Node *node) {
  return g->units && node->id < g->walk.num_ids ? g->units[node->id] : NULL;
}

int frame_gradient_num_sources(const Gradients *g, const Node *node) {
  if (!node_is_loop_cond(node)) return 1;
  const FrameUnit *unit = unit_of(g, node);
  return !unit ? 0 : unit->num_args;
}

Node *frame_gradient_source(const Gradients *g, const Node *node, int i) {
  if (!node_is_loop_cond(node) && !gradients_is_derived(g, node)) return NULL;
  if (node_is_exit(node)) return input_node(input_node(node, 0), 1);
  if (node_is_enter(node)) return !gradients_edge(g, node, 0) ? NULL : node->inputs[0]->src;
  Node *enter = enter_of(unit_of(g, node), i);
  return gradients_is_derived(g, enter) ? enter : NULL;
}

/* --- the variables and what arrives at them --- */

static bool check_outside(const FrameGradient *f) {
  const Gradients *g = f->g;
  const FrameLoop *loop = f->loop;
  for (int64_t i = 0; i < loop->num_inner; i++) {
    const Node *node = loop->inner[i];
    if (node->id >= g->walk.num_ids) continue;
    if (g->derived[node->id] && stack_gradient_is_pop(node))
      return gradient_not_defined(node->def, g->status);
    if (g->first_x[node->id] > 0 || backward_is_member(&g->walk, node))
      return is_inside(g, node, loop->frame_name);
  }
  for (int i = 0; i < f->num_args; i++) {
    const FrameVariable *variable = i < f->num_vars ? &loop->variables[i] : NULL;
    const Node *nodes[] = {variable ? variable->enter : loop->constants[i - f->num_vars],
                           variable ? variable->merge : NULL, variable ? variable->split : NULL,
                           variable ? variable->next : NULL};
    for (int k = 0; k < 4; k++) {
      if (nodes[k] && nodes[k]->id < g->walk.num_ids && g->first_x[nodes[k]->id] > 0)
        return is_inside(g, nodes[k], loop->frame_name);
    }
  }
  return true;
}

static bool add_all(const Gradients *g, NodeOutput *values, int count, NodeOutput *sum) {
  if (count < 2) {
    *sum = count == 0 ? (NodeOutput){NULL, 0} : values[0];
    return true;
  }
  return gradient_add_op(g->graph, "AddN", g->scope, values, count, sum, g->status);
}

/* A variable may leave through several Exits. */
static bool sum_exits(const FrameGradient *f, int i) {
  Gradients *g = f->g;
  const Node *split = f->loop->variables[i].split;
  NodeOutput *arrived = arena_calloc(g->arena, split->num_out_edges + 1, sizeof *arrived);
  int count = 0;
  if (!arrived) return oom(g);
  for (int32_t k = 0; k < split->num_out_edges; k++) {
    Node *exit = split->out_edges[k]->dst;
    if (!node_is_exit(exit) || exit->id >= g->walk.num_ids || !backward_is_member(&g->walk, exit)) continue;
    TRY(backward_sum(&g->walk, (NodeOutput){exit, 0}, &arrived[count]));
    count += arrived[count].node != NULL;
  }
  return add_all(g, arrived, count, &f->dys[i]);
}

static bool begin(FrameGradient *f) {
  Gradients *g = f->g;
  const FrameLoop *loop = f->loop;
  Arena *arena = g->arena;
  SplicedFunction *body = &f->body;
  gradients_work(g, "", &f->work);
  *body = (SplicedFunction){.num_args = f->num_args, .num_rets = f->num_vars};
  body->args = arena_calloc(arena, f->num_args + 1, sizeof(NodeOutput));
  body->dxs = arena_calloc(arena, f->num_args + 1, sizeof(NodeOutput));
  body->rets = arena_calloc(arena, f->num_vars + 1, sizeof(NodeOutput));
  body->dys = arena_calloc(arena, f->num_vars + 1, sizeof(NodeOutput));
  f->dys = arena_calloc(arena, f->num_vars + 1, sizeof(NodeOutput));
  f->active = arena_calloc(arena, f->num_args + 1, sizeof(bool));
  f->given = arena_calloc(arena, f->num_args + 1, sizeof(bool));
  f->sums = arena_calloc(arena, f->num_args + 1, sizeof(DataType));
  if (!body->args || !body->dxs || !body->rets || !body->dys || !f->dys || !f->active || !f->given ||
      !f->sums)
    return oom(g);
  for (int i = 0; i < f->num_vars; i++) {
    const Edge *value = loop->variables[i].next->inputs[0];
    body->args[i] = (NodeOutput){loop->variables[i].split, 1};
    body->rets[i] = edge_value(value);
    TRY(sum_exits(f, i));
  }
  for (int i = f->num_vars; i < f->num_args; i++) {
    body->args[i] = (NodeOutput){loop->constants[i - f->num_vars], 0};
    f->given[i] = true;
  }
  return true;
}

/* --- which variables have gradients --- */

typedef struct ActiveSearch {
  FrameGradient *f;
  int *variable; /* per id: 1 + the variable whose Merge or Switch it is */
  uint8_t *seen; /* per id */
  Node **stack;
  int64_t top;
} ActiveSearch;

static void reach(ActiveSearch *s, const Edge *edge) {
  const Gradients *g = s->f->g;
  Node *node = edge->src;
  if (node->id >= g->walk.num_ids || !gradient_flows_through(node->output_types[edge->src_output]) ||
      !g->derived[node->id] || s->seen[node->id])
    return;
  s->seen[node->id] = 1;
  s->stack[s->top++] = node;
}

static void activate(ActiveSearch *s, int i) {
  FrameGradient *f = s->f;
  DataType type = node_output_type(f->body.args[i]);
  if (f->active[i] || dtype_base(type) == DT_RESOURCE) return;
  f->active[i] = true;
  reach(s, f->loop->variables[i].next->inputs[0]);
}

/* A gradient of one variable leads to gradients of those that its next value depends on. */
static bool find_active(FrameGradient *f) {
  const Gradients *g = f->g;
  ActiveSearch s = {.f = f};
  int64_t ids = g->walk.num_ids;
  s.variable = mem_calloc(ids, sizeof *s.variable);
  s.seen = mem_calloc(ids, 1);
  s.stack = mem_calloc(ids, sizeof *s.stack);
  bool ok = (s.variable && s.seen && s.stack) || oom(g);
  for (int i = 0; ok && i < f->num_vars; i++) {
    s.variable[f->loop->variables[i].split->id] = i + 1;
    s.variable[f->loop->variables[i].merge->id] = i + 1;
  }
  for (int i = 0; ok && i < f->num_vars; i++) {
    if (f->dys[i].node) activate(&s, i);
  }
  while (ok && s.top > 0) {
    const Node *node = s.stack[--s.top];
    if (s.variable[node->id] > 0) {
      activate(&s, s.variable[node->id] - 1);
    } else if (!(node_is_enter(node) && g->units[node->id]) &&
               !gradient_is_none(g->library, node->op, node->def)) {
      for (int i = 0; i < node->num_inputs; i++) {
        if (node->inputs[i]) reach(&s, node->inputs[i]);
      }
    }
  }
  mem_free(s.variable);
  mem_free(s.seen);
  mem_free(s.stack);
  return ok;
}

/* --- the body --- */

typedef struct BodyGradient {
  NodeOutput *ys, *dys, *xs, *dxs, *stops;
  int *arg; /* per x: the argument */
  int num_ys, num_xs, num_stops;
} BodyGradient;

static bool plan(FrameGradient *f, BodyGradient *b) {
  Arena *arena = f->g->arena;
  b->ys = arena_calloc(arena, f->num_vars + 1, sizeof(NodeOutput));
  b->dys = arena_calloc(arena, f->num_vars + 1, sizeof(NodeOutput));
  b->xs = arena_calloc(arena, f->num_vars + f->num_args + 1, sizeof(NodeOutput));
  b->dxs = arena_calloc(arena, f->num_vars + f->num_args + 1, sizeof(NodeOutput));
  b->arg = arena_calloc(arena, f->num_vars + f->num_args + 1, sizeof(int));
  b->stops = arena_calloc(arena, 2 * f->num_vars + 1, sizeof(NodeOutput));
  if (!b->ys || !b->dys || !b->xs || !b->dxs || !b->arg || !b->stops) return oom(f->g);
  for (int i = 0; i < f->num_args; i++) {
    if (!gradients_is_derived(f->g, f->body.args[i].node)) continue;
    b->arg[b->num_xs] = i;
    b->xs[b->num_xs++] = f->body.args[i];
    if (i >= f->num_vars) continue;
    b->arg[b->num_xs] = i; /* the round may also read the Merge */
    b->xs[b->num_xs++] = (NodeOutput){f->loop->variables[i].merge, 0};
  }
  for (int i = 0; i < f->num_vars; i++) {
    b->stops[b->num_stops++] = (NodeOutput){f->loop->variables[i].split, 0};
    b->stops[b->num_stops++] = (NodeOutput){f->loop->variables[i].next, 0};
    if (!f->active[i]) continue;
    DataType type = (DataType)dtype_base(node_output_type(f->body.rets[i]));
    TRY(body_work_placeholder(&f->work, "dy", type, &f->body.dys[i]));
    b->ys[b->num_ys] = f->body.rets[i];
    b->dys[b->num_ys++] = f->body.dys[i];
  }
  return true;
}

static bool too_deep(const FrameGradient *f) {
  return status_invalid(f->g->status, "The gradient of loop '%s' needs gradients nested more than %d deep",
                        f->loop->frame_name, GRADIENT_MAX_FUNCTION_DEPTH);
}

/* What enters the loop may be alive in a branch alone, and then the round is; in the body that is no
 * condition. */
static bool find_outside(FrameGradient *f) {
  ConditionFinder *finder = &f->g->site->conditions;
  const Conditions *own;
  TRY(conditions_of(finder, (NodeOutput){f->pivot, 0}, &f->outside));
  for (int i = 0; i < f->num_args; i++) {
    TRY(conditions_of(finder, f->body.args[i], &own));
    TRY(conditions_united(finder, f->outside, own, &f->outside));
  }
  return true;
}

/* What is added from now on stands in the rounds. */
static void enter_body(const FrameGradient *f, GradientSite *outer) {
  *outer = *f->g->site;
  f->g->site->pivot = f->pivot;
  f->g->site->outside = f->outside;
}

static void leave_body(const FrameGradient *f, const GradientSite *outer) {
  f->g->site->pivot = outer->pivot;
  f->g->site->outside = outer->outside;
}

static bool differentiate_body(FrameGradient *f) {
  Gradients *g = f->g;
  GradientLibrary *library = g->library;
  BodyGradient b = {0};
  TRY(plan(f, &b));
  f->body.first_gradient = graph_num_node_ids(g->graph);
  if (library->depth == GRADIENT_MAX_FUNCTION_DEPTH) return too_deep(f);
  GradientSite outer;
  enter_body(f, &outer);
  library->depth++;
  bool ok = gradients_add(library, g->site, b.ys, b.num_ys, b.xs, b.num_xs, b.dys,
                          &(GradientOptions){.scope = "", .stops = b.stops, .num_stops = b.num_stops}, b.dxs,
                          g->status);
  library->depth--;
  leave_body(f, &outer);
  TRY(ok);
  for (int i = 0; i < b.num_xs; i++) {
    NodeOutput *dx = &f->body.dxs[b.arg[i]], both[2] = {*dx, b.dxs[i]};
    if (!b.dxs[i].node) continue;
    TRY(add_all(g, dx->node ? both : &both[1], dx->node ? 2 : 1, dx));
  }
  return true;
}

/* Every active variable has a gradient in each round; what is the same in all rounds has a sum. */
static bool find_sums(FrameGradient *f) {
  for (int i = 0; i < f->num_args; i++) {
    NodeOutput *dx = &f->body.dxs[i];
    if (i >= f->num_vars && dx->node) f->sums[i] = (DataType)dtype_base(node_output_type(*dx));
    if (i < f->num_vars && f->active[i] && !dx->node)
      TRY(body_work_zeros(&f->work, f->body.args[i], DT_INVALID, dx));
    if (i < f->num_vars && !f->active[i]) *dx = (NodeOutput){NULL, 0};
  }
  return true;
}

/* --- lists, and the loop backwards --- */

static bool keep_values(FrameGradient *f, const FrameExtend *extend) {
  GradientSite outer;
  enter_body(f, &outer);
  bool ok = intermediates_find(&f->work, &f->body, f->given, RECOMPUTE_ALL, &f->kept);
  leave_body(f, &outer);
  TRY(ok);
  f->lists = arena_calloc(f->g->arena, f->kept.count + 1, sizeof *f->lists);
  if (!f->lists) return oom(f->g);
  for (int i = 0; i < f->kept.count; i++) TRY(frame_extend_list(extend, f->kept.values[i], &f->lists[i]));
  return true;
}

/* A name that a function may have. */
static char *function_name(const FrameGradient *f) {
  char *name = arena_printf(f->g->arena, "Loop_%s_grad", f->loop->frame_name);
  for (char *p = name; p && *p; p++) {
    bool letter = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z');
    if (!letter && !(*p >= '0' && *p <= '9')) *p = '_';
  }
  return name;
}

static bool add_backward(FrameGradient *f, const LoopBackward *b, NodeOutput *outputs) {
  Gradients *g = f->g;
  BodyWork work;
  NodeOutput *args = arena_calloc(g->arena, f->num_args + 1, sizeof *args);
  const char *scope =
      arena_printf(g->arena, "%s%s%s_grad", g->scope, g->scope[0] == 0 ? "" : "/", f->loop->condition->name);
  if (!args || !scope) return oom(g);
  const FrameUnit unit = {(FrameLoop *)f->loop, f->num_args};
  for (int i = 0; i < f->num_args; i++) {
    const Edge *edge = enter_of(&unit, i)->inputs[0];
    if (!edge) return status_invalid(g->status, "Node '%s' has no input", enter_of(&unit, i)->name);
    args[i] = edge_value(edge);
  }
  gradients_work(g, scope, &work);
  FrameExtend extend = {&f->work, f->loop, g->site->pivot};
  for (int i = 0; i < f->num_vars; i++) {
    NodeOutput exit;
    if (!f->active[i] || f->dys[i].node) continue;
    TRY(frame_extend_exit(&extend, f->loop->variables[i].split, &exit));
    TRY(body_work_zeros(&work, exit, DT_INVALID, &f->dys[i]));
  }
  LoopBackwardInputs inputs = {f->rounds, f->lists, args, f->dys};
  return loop_backward_add(b, &work, f->backward, &inputs, outputs);
}

static bool differentiate(FrameGradient *f, NodeOutput *outputs) {
  GradientSite *site = f->g->site;
  int64_t first = graph_num_node_ids(f->g->graph);
  FrameExtend extend = {&f->work, f->loop, site->pivot};
  TRY(frame_extend_count(&extend, &f->rounds, &f->pivot));
  TRY(find_outside(f));
  TRY(differentiate_body(f));
  TRY(find_sums(f));
  TRY(keep_values(f, &extend));
  LoopBackward backward = {&f->work, &f->body, &f->kept, 0, f->num_args, f->active, f->sums};
  TRY(loop_backward_define(&backward, function_name(f), &f->backward));
  gradient_site_remove(site, first, true);
  return add_backward(f, &backward, outputs);
}

static bool pass_loop(Gradients *g, const FrameUnit *unit) {
  FrameGradient f = {.g = g,
                     .loop = unit->loop,
                     .num_vars = unit->loop->num_variables,
                     .num_args = unit->num_args};
  bool any = false;
  TRY(check_outside(&f));
  TRY(begin(&f));
  for (int i = 0; i < f.num_vars; i++) any = any || f.dys[i].node;
  if (!any) return true;
  NodeOutput *outputs = arena_calloc(g->arena, f.num_args + 1, sizeof *outputs);
  if (!outputs) return oom(g);
  TRY(find_active(&f));
  TRY(differentiate(&f, outputs));
  for (int i = 0; i < f.num_args; i++) {
    Node *enter = enter_of(unit, i);
    /* Where the conditions of the gradient are not those of the value, the Enter's pass completes it: it is
     * the value outside of the frame that the gradient belongs to. */
    if (outputs[i].node && gradients_is_derived(g, enter))
      TRY(backward_arrive(&g->walk, (NodeOutput){enter, 0}, outputs[i]));
  }
  return true;
}

bool frame_gradient_pass(Gradients *g, Node *node) {
  NodeOutput dy;
  if (node_is_loop_cond(node)) return !unit_of(g, node) || pass_loop(g, unit_of(g, node));
  if (!node_is_enter(node) || !gradients_edge(g, node, 0)) return true;
  TRY(backward_sum(&g->walk, (NodeOutput){node, 0}, &dy));
  return !dy.node || gradients_arrive_at(g, node->inputs[0], dy);
}
