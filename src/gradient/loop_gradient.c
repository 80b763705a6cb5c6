/* The gradient of While and For. The loop itself gets additional variables: it counts its rounds and
 * pushes the intermediates of each round onto tensor lists, one list each. The gradient is a For with the
 * same number of rounds, which pops the values in reverse order and computes the gradient of the body.
 *
 * Values that are the same in every round, and values that depend only on these, are computed again
 * instead. A loop that already counts and keeps intermediates for another gradient continues to do so:
 * `_num_original_outputs` is the number of variables before the additional ones. */
#include <string.h>

#include "gradient/loop_backward.h"

typedef struct Loop {
  GradientLibrary *library;
  const NodeDef *node;
  Status *status;
  Arena *arena; /* freed when the gradient is made */
  bool is_for;
  int first_var; /* inputs before the loop variables: start, limit, delta */
  int first_arg; /* arguments of the body before them: the index */
  int num_vars;
  int num_original;      /* later variables were added for gradients */
  const DataType *types; /* of the variables */
  const NameAttrList *body_function;
  BodyWork work;
  SplicedFunction body;
  bool *active;   /* per variable: it has a gradient, from outside or from the round after */
  DataType *sums; /* per variable that is a resource: the type of its gradient; DT_INVALID without one */
  bool *constant; /* per argument of the body: a variable that is the same in every round */
  Intermediates kept;
  int *outputs;      /* per intermediate: the output of the loop that has its list */
  NodeOutput *lists; /* per intermediate with a new list: a placeholder */
  int count_output;
  int num_lists;                                           /* of the new ones */
  bool counts;                                             /* the count is new */
  NodeOutput count;                                        /* placeholder */
  const char *forward_cond, *forward_body, *backward_body; /* in the library */
} Loop;

static bool oom(Loop *loop) { return status_oom(loop->status, "the gradient of a loop"); }

static DataType type_of(NodeOutput value) { return (DataType)dtype_base(node_output_type(value)); }

bool gradient_is_loop(const Op *op) { return op->node_class == NODE_WHILE || op->node_class == NODE_FOR; }

/* --- which variables have gradients --- */

static bool splice_body(Loop *loop) {
  TRY(body_work_new(&loop->work, loop->library, loop->status));
  TRY(body_work_splice(&loop->work, loop->body_function, true, &loop->body));
  const FunctionBody *body = loop->body.body;
  if (body->num_rets != loop->num_vars) {
    return status_invalid(loop->status, "%s loop body returned %d arguments. Expected: %d",
                          loop->is_for ? "For" : "While", body->num_rets, loop->num_vars);
  }
  if (body->num_args != loop->num_vars + loop->first_arg) {
    return status_invalid(loop->status, "%s loop body takes %d arguments. Expected: %d",
                          loop->is_for ? "For" : "While", body->num_args, loop->num_vars + loop->first_arg);
  }
  return true;
}

static NodeOutput argument(const Loop *loop, int variable) {
  return loop->body.args[loop->first_arg + variable];
}

static NodeOutput *gradient(const Loop *loop, int variable) {
  return &loop->body.dxs[loop->first_arg + variable];
}

/* A gradient of one variable may lead to gradients of others, which have one in the round before: repeats
 * until no more are found. */
static bool find_active(Loop *loop) {
  for (;;) {
    bool grew = false;
    TRY(splice_body(loop));
    TRY(body_work_differentiate(&loop->work, &loop->body, loop->active));
    for (int i = 0; i < loop->num_vars; i++) {
      NodeOutput dx = *gradient(loop, i);
      if (!dx.node) continue;
      if (dtype_base(loop->types[i]) == DT_RESOURCE) {
        loop->sums[i] = type_of(dx);
      } else if (!loop->active[i]) {
        loop->active[i] = grew = true;
      }
    }
    if (!grew) return true;
    body_work_free(&loop->work);
  }
}

static bool is_identity(const Node *node) { return node_is_identity(node) && node->num_control_inputs == 0; }

static bool find_constant(Loop *loop) {
  for (int i = 0; i < loop->num_vars; i++) {
    const Node *node = loop->body.rets[i].node;
    while (is_identity(node) && node->inputs[0]) node = node->inputs[0]->src;
    bool constant = node == argument(loop, i).node;
    loop->constant[loop->first_arg + i] = constant;
    if (loop->sums[i] != DT_INVALID && !constant)
      return status_set(loop->status, CODE_UNIMPLEMENTED,
                        "The gradient of a loop that changes which resource its variable %d is is not known",
                        i);
  }
  return true;
}

/* --- lists --- */

/* The node that computes the new value of a variable from the old one, its first input. */
static const Node *step_of(const Loop *loop, int variable, const char *op) {
  const Node *node = loop->body.rets[variable].node;
  if (strcmp(node->def->op, op) != 0 || node->num_inputs != 2) return NULL;
  const Edge *old = node->inputs[0];
  return old && node->inputs[1] && old->src == argument(loop, variable).node ? node : NULL;
}

/* The variable whose list has the value of every round; -1 without one. */
static int find_list(const Loop *loop, NodeOutput value) {
  for (int i = loop->num_original; i < loop->num_vars; i++) {
    const Node *push = step_of(loop, i, "TensorListPushBack");
    if (!push) continue;
    const Edge *item = push->inputs[1];
    if (item->src == value.node && item->src_output == value.index) return i;
  }
  return -1;
}

static bool find_kept(Loop *loop) {
  for (int i = 0; i < loop->num_vars; i++) {
    /* A variable whose gradient ends in this round has a zero gradient in the round before. */
    NodeOutput *dx = gradient(loop, i);
    if (loop->active[i] && !dx->node) TRY(body_work_zeros(&loop->work, argument(loop, i), DT_INVALID, dx));
  }
  return intermediates_find(&loop->work, &loop->body, loop->constant, RECOMPUTE_ALL, &loop->kept);
}

static bool assign_lists(Loop *loop) {
  BodyWork *work = &loop->work;
  int k = loop->num_original;
  loop->outputs = arena_calloc(work->arena, loop->kept.count + 1, sizeof *loop->outputs);
  loop->lists = arena_calloc(work->arena, loop->kept.count + 1, sizeof *loop->lists);
  if (!loop->outputs || !loop->lists) return oom(loop);
  loop->counts = k >= loop->num_vars || loop->types[k] != DT_INT32 || !step_of(loop, k, "AddV2");
  loop->count_output = loop->counts ? loop->num_vars : k;
  TRY(body_work_placeholder(work, "count", DT_INT32, &loop->count));
  for (int i = 0; i < loop->kept.count; i++) {
    int variable = find_list(loop, loop->kept.values[i]);
    if (variable >= 0) {
      loop->outputs[i] = variable;
    } else {
      loop->outputs[i] = loop->num_vars + loop->counts + loop->num_lists++;
      TRY(body_work_placeholder(work, "list", DT_VARIANT, &loop->lists[i]));
    }
  }
  return true;
}

static bool is_new(const Loop *loop, int i) { return loop->outputs[i] >= loop->num_vars; }

/* --- the helper functions --- */

/* (variables, count, lists) -> (variables, count + 1, lists); a For has the index first. */
static bool define_forward_body(Loop *loop) {
  BodyWork *work = &loop->work;
  int num_in = 0, num_out = 0, capacity = 2 + loop->num_vars + loop->kept.count;
  NodeOutput *in = arena_calloc(work->arena, capacity, sizeof *in),
             *out = arena_calloc(work->arena, capacity, sizeof *out);
  const char *name = body_work_name(work, loop->body_function->name, "_forward");
  if (!in || !out || !name) return oom(loop);
  if (loop->is_for) in[num_in++] = loop->body.args[0];
  for (int i = 0; i < loop->num_vars; i++) {
    in[num_in++] = argument(loop, i);
    out[num_out++] = loop->body.rets[i];
  }
  if (loop->counts) {
    NodeOutput terms[2] = {loop->count};
    TRY(body_work_int32(work, "one", 1, &terms[1]));
    TRY(body_work_op(work, "AddV2", terms, 2, &out[num_out++]));
    in[num_in++] = loop->count;
  }
  for (int i = 0; i < loop->kept.count; i++) {
    if (!is_new(loop, i)) continue;
    in[num_in++] = loop->lists[i];
    TRY(body_work_push(work, loop->lists[i], loop->kept.values[i], &out[num_out++]));
  }
  return body_work_define(work, name, in, num_in, out, num_out, &loop->body, &loop->forward_body);
}

/* The condition with the additional variables. */
static bool define_forward_cond(Loop *loop, BodyWork *work) {
  const NameAttrList *function;
  SplicedFunction cond;
  TRY(gradient_called(loop->node, "cond", &function, loop->status));
  TRY(body_work_new(work, loop->library, loop->status));
  TRY(body_work_splice(work, function, true, &cond));
  if (cond.body->num_rets != 1) {
    return status_invalid(loop->status,
                          "Expected a single scalar return value from WhileOp cond, got %d tensors.",
                          cond.body->num_rets);
  }
  int num_args = cond.body->num_args, num_in = 0;
  NodeOutput *in = arena_calloc(work->arena, 1 + num_args + loop->num_lists, sizeof *in);
  const char *name = body_work_name(work, function->name, "_forward");
  if (!in || !name) return oom(loop);
  for (int i = 0; i < num_args; i++) in[num_in++] = cond.args[i];
  if (loop->counts) TRY(body_work_placeholder(work, "count", DT_INT32, &in[num_in++]));
  for (int i = 0; i < loop->num_lists; i++)
    TRY(body_work_placeholder(work, "list", DT_VARIANT, &in[num_in++]));
  return body_work_define(work, name, in, num_in, cond.rets, 1, &cond, &loop->forward_cond);
}

/* --- the loop after the change --- */

static bool set_function(Loop *loop, NodeDef *def, const char *attr, const char *name) {
  AttrValue *value = attr_value_func(loop->library->arena, name, NULL);
  return !value ? oom(loop) : node_def_set_attr(def, loop->library->arena, attr, value, loop->status);
}

static bool change_forward(Loop *loop, BodyWork *work, GradientEntry *entry) {
  Arena *arena = loop->library->arena;
  int count = loop->num_vars + loop->counts + loop->num_lists, n = 0;
  ForwardChange *change = arena_calloc(arena, 1, (int64_t)sizeof *change);
  DataType *lists = arena_calloc(arena, loop->num_lists + 1, sizeof *lists);
  int *types = arena_calloc(arena, count + 1, sizeof *types);
  NodeDef *def;
  if (!change || !lists || !types) return oom(loop);
  for (int i = 0; i < loop->num_vars; i++) types[n++] = (int)loop->types[i];
  if (loop->counts) types[n++] = DT_INT32;
  while (n < count) types[n++] = DT_VARIANT;
  for (int i = 0; i < loop->kept.count; i++) {
    if (is_new(loop, i))
      lists[loop->outputs[i] - loop->num_vars - loop->counts] = type_of(loop->kept.values[i]);
  }
  TRY(body_work_copy_def(work, loop->node, &def));
  AttrValue *all = attr_value_type_list(arena, types, (size_t)count);
  AttrValue *original = attr_value_int(arena, loop->num_original);
  if (!all || !original) return oom(loop);
  TRY(node_def_set_attr(def, arena, "T", all, loop->status));
  TRY(node_def_set_attr(def, arena, "_num_original_outputs", original, loop->status));
  TRY(body_work_widen_shapes(work, def, (size_t)count));
  TRY(set_function(loop, def, "body", loop->forward_body));
  if (!loop->is_for) TRY(set_function(loop, def, "cond", loop->forward_cond));
  *change = (ForwardChange){def, loop->counts, lists, loop->num_lists};
  entry->forward = change;
  return true;
}

/* --- the gradient --- */

static LoopBackward backward_of(Loop *loop) {
  return (LoopBackward){&loop->work,    &loop->body,  &loop->kept, loop->first_arg,
                        loop->num_vars, loop->active, loop->sums};
}

/* (range, variables, variables after the loop, gradients) -> (gradients); rets[i] has a NULL node without
 * one. */
static bool add_backward(Loop *loop, BodyWork *work, const NodeOutput *args, const NodeOutput *ys,
                         const NodeOutput *dys, NodeOutput *rets) {
  NodeOutput *lists = arena_calloc(work->arena, loop->kept.count + 1, sizeof *lists);
  if (!lists) return oom(loop);
  for (int i = 0; i < loop->kept.count; i++) lists[i] = ys[loop->outputs[i]];
  LoopBackwardInputs inputs = {ys[loop->count_output], lists, args + loop->first_var, dys};
  LoopBackward backward = backward_of(loop);
  return loop_backward_add(&backward, work, loop->backward_body, &inputs, rets + loop->first_var);
}

static bool build(Loop *loop, BodyWork *work, GradientEntry *entry) {
  int num_x = loop->first_var + loop->num_vars, num_y = loop->num_vars + loop->counts + loop->num_lists;
  int total = num_x + num_y + loop->num_vars;
  NodeOutput *args = arena_calloc(work->arena, total + 1, sizeof *args);
  NodeOutput *rets = arena_calloc(work->arena, num_x + 1, sizeof *rets);
  bool *no_flow = arena_calloc(loop->library->arena, num_x + 1, sizeof *no_flow);
  if (!args || !rets || !no_flow) return oom(loop);
  NodeOutput *ys = args + num_x, *dys = ys + num_y;
  for (int i = 0; i < loop->first_var; i++) TRY(body_work_placeholder(work, "range", DT_INT32, &args[i]));
  for (int i = 0; i < loop->num_vars; i++) {
    TRY(body_work_placeholder(work, "x", loop->types[i], &args[loop->first_var + i]));
    TRY(body_work_placeholder(work, "y", loop->types[i], &ys[i]));
    TRY(body_work_placeholder(work, "dy", loop->types[i], &dys[i]));
  }
  for (int i = loop->num_vars; i < num_y; i++)
    TRY(body_work_placeholder(work, "y", i == loop->count_output ? DT_INT32 : DT_VARIANT, &ys[i]));
  TRY(add_backward(loop, work, args, ys, dys, rets));
  for (int i = 0; i < num_x; i++) {
    if (rets[i].node) continue;
    no_flow[i] = true;
    TRY(body_work_no_gradient(work, args[i], &rets[i]));
  }
  FunctionDef *function;
  const char *name = arena_printf(work->arena, "%sGradient", loop->node->op);
  if (!name) return oom(loop);
  TRY(body_work_function(work, name, args, total, rets, num_x, loop->library->arena, &function));
  *entry = (GradientEntry){.function = function, .no_flow = no_flow, .keeps = true};
  return num_y == loop->num_vars || change_forward(loop, work, entry);
}

/* --- all of it --- */

/* The number of variables before those added for gradients. */
static int num_original(const NodeDef *node, int num_vars) {
  const AttrValue *value = node_def_attr(node, "_num_original_outputs");
  bool given = value && value->value_case == (int)ATTR_INT && value->i >= 0 && value->i < num_vars;
  return given ? (int)value->i : num_vars;
}

static bool differentiate(Loop *loop, const GradientQuery *query, GradientEntry *entry) {
  DataType *input_types, *output_types;
  int num_inputs, num_outputs;
  bool any = false;
  TRY(node_def_types(query->node, query->op->def, loop->arena, &input_types, &num_inputs, &output_types,
                     &num_outputs, loop->status));
  TRY(gradient_called(query->node, "body", &loop->body_function, loop->status));
  loop->num_vars = num_outputs;
  loop->num_original = num_original(query->node, num_outputs);
  loop->types = output_types;
  loop->active = arena_calloc(loop->arena, num_outputs + 1, sizeof *loop->active);
  loop->sums = arena_calloc(loop->arena, num_outputs + 1, sizeof *loop->sums);
  loop->constant = arena_calloc(loop->arena, num_outputs + 2, sizeof *loop->constant);
  if (!loop->active || !loop->sums || !loop->constant) return oom(loop);
  for (int i = 0; i < num_outputs; i++) {
    loop->active[i] = gradient_flows_through(output_types[i]) && dtype_base(output_types[i]) != DT_RESOURCE &&
                      (!query->flows || query->flows[i]);
    any = any || loop->active[i];
  }
  *entry = (GradientEntry){0};
  if (!any) return true;
  BodyWork cond = {0}, work = {0};
  TRY(find_active(loop));
  TRY(find_constant(loop));
  TRY(find_kept(loop));
  TRY(assign_lists(loop));
  if (loop->counts || loop->num_lists > 0) {
    TRY(define_forward_body(loop));
    bool ok = loop->is_for || define_forward_cond(loop, &cond);
    body_work_free(&cond);
    TRY(ok);
  }
  LoopBackward backward = backward_of(loop);
  const char *name = body_work_name(&loop->work, loop->body_function->name, "_grad");
  TRY(loop_backward_define(&backward, name, &loop->backward_body));
  bool ok = body_work_new(&work, loop->library, loop->status) && build(loop, &work, entry);
  body_work_free(&work);
  return ok;
}

bool loop_gradient(GradientLibrary *library, const GradientQuery *query, GradientEntry *entry,
                   Status *status) {
  bool is_for = query->op->node_class == NODE_FOR;
  Loop loop = {.library = library,
               .node = query->node,
               .status = status,
               .arena = arena_new(),
               .is_for = is_for,
               .first_var = is_for ? 3 : 0,
               .first_arg = is_for ? 1 : 0};
  bool ok = loop.arena ? differentiate(&loop, query, entry) : oom(&loop);
  body_work_free(&loop.work);
  arena_free(loop.arena);
  return ok;
}
