/* The gradient of While and For: a loop like the one that is differentiated, which counts its rounds and
 * keeps, in a tensor list each, the values of every round that the gradient of the body looks at; and behind
 * it a For of as many rounds that takes the values out again, last ones first, and computes the gradient of
 * the body.
 *
 * What is the same in every round, and what follows from that alone, is not kept but computed again. */
#include <string.h>

#include "gradient/body_work.h"

/* A value of every round that is kept, by the body's graph. */
typedef struct Kept {
  NodeOutput value, list; /* the placeholder of its list */
} Kept;

typedef struct Loop {
  GradientLibrary *library;
  const NodeDef *node;
  Status *status;
  Arena *arena; /* until the gradient is made */
  bool is_for;
  int first_var; /* inputs in front of the loop variables: start, limit, delta */
  int first_arg; /* arguments of the body in front of them: the index */
  int num_vars;
  const DataType *types; /* of the variables */
  const NameAttrList *body_function;
  BodyWork work;
  InlinedFunction body;
  bool *active;     /* per variable: gradients of it arrive, or come to it from round to round */
  DataType *sums;   /* per variable that is a resource: the type of its gradient; DT_INVALID: there is none */
  bool *constant;   /* per variable: the same in every round */
  bool *passed;     /* per variable that is constant: the gradient of the body looks at it */
  NodeOutput count; /* placeholder */
  Kept *kept;
  int num_kept;
  const char *forward_cond, *forward_body, *backward_body; /* in the library */
} Loop;

/* What a node of the body's graph is to the search for values to keep. */
typedef enum NodeKind { KIND_FORWARD, KIND_CONSTANT, KIND_GRADIENT } NodeKind;

typedef struct Search {
  Loop *loop;
  int64_t num_ids;
  uint8_t *kind; /* per id */
  uint8_t *seen; /* per id */
  int *variable; /* per id of an argument: 1 + the variable, or -1 for the index */
  int **kept;    /* per id, per output: 1 + the index among what is kept */
  Node **stack;
  int64_t top, kept_capacity;
} Search;

static bool oom(Loop *loop) { return status_oom(loop->status, "the gradient of a loop"); }

bool gradient_is_loop(const NodeDef *node) {
  return strcmp(node->op, "While") == 0 || strcmp(node->op, "StatelessWhile") == 0 ||
         strcmp(node->op, "For") == 0;
}

/* --- which variables have gradients --- */

static bool inline_body(Loop *loop) {
  TRY(body_work_new(&loop->work, loop->library, loop->status));
  TRY(body_work_inline(&loop->work, loop->body_function, false, &loop->body));
  const InstantiationResult *body = loop->body.body;
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

/* A gradient of one variable may lead to others, which then have one in the round before: until there are no
 * more. */
static bool find_active(Loop *loop) {
  for (;;) {
    bool grew = false;
    TRY(inline_body(loop));
    TRY(body_work_differentiate(&loop->work, &loop->body, loop->active));
    for (int i = 0; i < loop->num_vars; i++) {
      NodeOutput dx = loop->body.dxs[loop->first_arg + i];
      if (dx.node == NULL) continue;
      if (dtype_base(loop->types[i]) == DT_RESOURCE) {
        loop->sums[i] = (DataType)dtype_base(node_output_type(dx));
      } else if (!loop->active[i]) {
        loop->active[i] = grew = true;
      }
    }
    if (!grew) return true;
    body_work_free(&loop->work);
  }
}

static bool is_identity(const Node *node) {
  return strcmp(node->def->op, "Identity") == 0 && node->num_control_inputs == 0;
}

static bool find_constant(Loop *loop) {
  for (int i = 0; i < loop->num_vars; i++) {
    const Node *node = loop->body.rets[i].node;
    while (is_identity(node) && node->inputs[0] != NULL) node = node->inputs[0]->src;
    loop->constant[i] = node == loop->body.args[loop->first_arg + i].node;
    if (loop->sums[i] != DT_INVALID && !loop->constant[i])
      return status_set(loop->status, CODE_UNIMPLEMENTED,
                        "The gradient of a loop that changes which resource its variable %d is is not known",
                        i);
  }
  return true;
}

/* --- which values are kept --- */

static bool keep(Search *s, NodeOutput value) {
  int64_t id = value.node->id;
  Loop *loop = s->loop;
  if (s->kept[id] == NULL) s->kept[id] = arena_calloc(loop->arena, value.node->num_outputs, sizeof(int));
  if (s->kept[id] == NULL) return oom(loop);
  if (s->kept[id][value.index] > 0) return true;
  if (loop->num_kept == s->kept_capacity) {
    int64_t capacity = s->kept_capacity == 0 ? 16 : 2 * s->kept_capacity;
    Kept *larger = arena_calloc(loop->arena, capacity, sizeof *larger);
    if (larger == NULL) return oom(loop);
    if (loop->num_kept > 0) memcpy(larger, loop->kept, (size_t)loop->num_kept * sizeof *larger);
    loop->kept = larger;
    s->kept_capacity = capacity;
  }
  loop->kept[loop->num_kept].value = value;
  s->kept[id][value.index] = ++loop->num_kept;
  return true;
}

/* A value that the gradient looks at. */
static bool look_at(Search *s, NodeOutput value) {
  int64_t id = value.node->id;
  int variable = s->variable[id];
  if (variable > 0 && s->loop->constant[variable - 1]) {
    s->loop->passed[variable - 1] = true;
  } else if (variable != 0 || s->kind[id] == KIND_FORWARD) {
    return keep(s, value);
  } else if (!s->seen[id]) {
    s->seen[id] = 1;
    s->stack[s->top++] = value.node;
  }
  return true;
}

/* Placeholders of gradients are of the gradient; all else in front of it is of the body, in topological
 * order. */
static void classify(Search *s) {
  const Graph *graph = s->loop->work.graph;
  for (int64_t id = SINK_ID + 1; id < s->num_ids; id++) {
    const Node *node = graph_node(graph, id);
    if (node == NULL) continue;
    if (id >= s->loop->body.first_gradient) {
      s->kind[id] = KIND_GRADIENT;
      continue;
    }
    bool constant = s->variable[id] > 0 ? s->loop->constant[s->variable[id] - 1]
                                        : s->variable[id] == 0 && !node->op->def->is_stateful &&
                                              node->num_control_inputs == 0;
    for (int i = 0; constant && i < node->num_inputs; i++)
      constant = node->inputs[i] != NULL && s->kind[node->inputs[i]->src->id] == KIND_CONSTANT;
    s->kind[id] = constant ? KIND_CONSTANT : KIND_FORWARD;
  }
  for (int i = 0; i < s->loop->num_vars; i++) {
    const Node *dy = s->loop->body.dys[i].node;
    if (dy != NULL) s->kind[dy->id] = KIND_GRADIENT;
  }
}

static bool find_kept(Search *s) {
  Loop *loop = s->loop;
  for (int i = 0; i < loop->num_vars; i++) {
    /* A variable whose gradient ends in this round is zero in the one before. */
    NodeOutput *dx = &loop->body.dxs[loop->first_arg + i];
    if (loop->active[i] && dx->node == NULL)
      TRY(body_work_zeros(&loop->work, loop->body.args[loop->first_arg + i], DT_INVALID, dx));
  }
  s->num_ids = graph_num_node_ids(loop->work.graph);
  s->kind = arena_calloc(loop->arena, s->num_ids, 1);
  s->seen = arena_calloc(loop->arena, s->num_ids, 1);
  s->variable = arena_calloc(loop->arena, s->num_ids, sizeof *s->variable);
  s->kept = arena_calloc(loop->arena, s->num_ids, sizeof *s->kept);
  s->stack = arena_calloc(loop->arena, s->num_ids, sizeof *s->stack);
  if (!s->kind || !s->seen || !s->variable || !s->kept || !s->stack) return oom(loop);
  for (int i = 0; i < loop->num_vars + loop->first_arg; i++)
    s->variable[loop->body.args[i].node->id] = i < loop->first_arg ? -1 : 1 + i - loop->first_arg;
  classify(s);
  for (int i = 0; i < loop->num_vars; i++) {
    NodeOutput dx = loop->body.dxs[loop->first_arg + i];
    if (dx.node != NULL) TRY(look_at(s, dx));
  }
  while (s->top > 0) {
    const Node *node = s->stack[--s->top];
    for (int i = 0; i < node->num_inputs; i++) {
      const Edge *edge = node->inputs[i];
      if (edge != NULL) TRY(look_at(s, (NodeOutput){edge->src, edge->src_output}));
    }
  }
  return true;
}

/* --- the helper functions --- */

static DataType type_of(NodeOutput value) { return (DataType)dtype_base(node_output_type(value)); }

static bool add_lists(Loop *loop) {
  TRY(body_work_placeholder(&loop->work, "count", DT_INT32, &loop->count));
  for (int i = 0; i < loop->num_kept; i++)
    TRY(body_work_placeholder(&loop->work, "list", DT_VARIANT, &loop->kept[i].list));
  return true;
}

/* (count, variables, lists) -> (count + 1, variables, lists); a For has the index in front. */
static bool define_forward_body(Loop *loop) {
  BodyWork *work = &loop->work;
  int num_in = 0, num_out = 0, capacity = 2 + loop->num_vars + loop->num_kept;
  NodeOutput *in = arena_calloc(work->arena, capacity, sizeof *in),
             *out = arena_calloc(work->arena, capacity, sizeof *out);
  const char *name = arena_printf(work->arena, "%s_forward", loop->body_function->name);
  if (in == NULL || out == NULL || name == NULL) return oom(loop);
  if (loop->is_for) in[num_in++] = loop->body.args[0];
  in[num_in++] = loop->count;
  NodeOutput terms[2] = {loop->count};
  TRY(body_work_int32(work, "one", 1, &terms[1]));
  TRY(body_work_op(work, "AddV2", terms, 2, &out[num_out++]));
  for (int i = 0; i < loop->num_vars; i++) {
    in[num_in++] = loop->body.args[loop->first_arg + i];
    out[num_out++] = loop->body.rets[i];
  }
  for (int i = 0; i < loop->num_kept; i++) {
    Node *push;
    NodeOutput inputs[2] = {loop->kept[i].list, loop->kept[i].value};
    NodeDef *def = body_work_def(work, "TensorListPushBack", "push");
    if (def == NULL) return false;
    TRY(body_work_type(work, def, "element_dtype", type_of(inputs[1])));
    TRY(body_work_add(work, def, inputs, 2, &push));
    in[num_in++] = inputs[0];
    out[num_out++] = (NodeOutput){push, 0};
  }
  return body_work_define(work, name, in, num_in, out, num_out, &loop->forward_body);
}

/* The condition among more variables. */
static bool define_forward_cond(Loop *loop, BodyWork *work) {
  const NameAttrList *function;
  InlinedFunction cond;
  TRY(gradient_called(loop->node, "cond", &function, loop->status));
  TRY(body_work_new(work, loop->library, loop->status));
  TRY(body_work_inline(work, function, true, &cond));
  if (cond.body->num_rets != 1) {
    return status_invalid(loop->status,
                          "Expected a single scalar return value from WhileOp cond, got %d tensors.",
                          cond.body->num_rets);
  }
  int num_args = cond.body->num_args, num_in = 0;
  NodeOutput *in = arena_calloc(work->arena, 1 + num_args + loop->num_kept, sizeof *in);
  const char *name = arena_printf(work->arena, "%s_forward", function->name);
  if (in == NULL || name == NULL) return oom(loop);
  TRY(body_work_placeholder(work, "count", DT_INT32, &in[num_in++]));
  for (int i = 0; i < num_args; i++) in[num_in++] = cond.args[i];
  for (int i = 0; i < loop->num_kept; i++)
    TRY(body_work_placeholder(work, "list", DT_VARIANT, &in[num_in++]));
  return body_work_define(work, name, in, num_in, cond.rets, 1, &loop->forward_cond);
}

/* What looked at a kept value looks at what is taken from its list. */
static bool take_from_lists(Loop *loop, const Search *s, NodeOutput *lists, NodeOutput *items) {
  BodyWork *work = &loop->work;
  NodeOutput any_shape;
  TRY(body_work_int32(work, "any_shape", -1, &any_shape));
  for (int i = 0; i < loop->num_kept; i++) {
    Node *pop;
    NodeOutput inputs[2] = {loop->kept[i].list, any_shape};
    NodeDef *def = body_work_def(work, "TensorListPopBack", "pop");
    if (def == NULL) return false;
    TRY(body_work_type(work, def, "element_dtype", type_of(loop->kept[i].value)));
    TRY(body_work_add(work, def, inputs, 2, &pop));
    lists[i] = (NodeOutput){pop, 0};
    items[i] = (NodeOutput){pop, 1};
  }
  for (int64_t id = loop->body.first_gradient; id < s->num_ids; id++) {
    Node *node = graph_node(work->graph, id);
    for (int i = node == NULL ? 0 : node->num_control_inputs; i > 0; i--) {
      Edge *control = node->control_inputs[i - 1];
      if (s->kind[control->src->id] == KIND_FORWARD) graph_remove_edge(work->graph, control);
    }
    for (int i = 0; node != NULL && i < node->num_inputs; i++) {
      const Edge *edge = node->inputs[i];
      if (edge == NULL || edge->src->id >= s->num_ids || s->kept[edge->src->id] == NULL) continue;
      int kept = s->kept[edge->src->id][edge->src_output];
      if (kept > 0) TRY(graph_update_edge(work->graph, items[kept - 1].node, 1, node, i, loop->status));
    }
  }
  return true;
}

static NodeOutput taken(const Search *s, const NodeOutput *items, NodeOutput value) {
  int kept = value.node->id < s->num_ids && s->kept[value.node->id] != NULL
                 ? s->kept[value.node->id][value.index]
                 : 0;
  return kept > 0 ? items[kept - 1] : value;
}

/* (index, lists, constant variables, gradients, sums) -> (lists, ...): one round backwards. */
static bool define_backward_body(Loop *loop, const Search *s) {
  BodyWork *work = &loop->work;
  int num_in = 0, num_out = 0, capacity = 1 + loop->num_kept + 3 * loop->num_vars;
  NodeOutput *in = arena_calloc(work->arena, capacity, sizeof *in),
             *out = arena_calloc(work->arena, capacity, sizeof *out);
  NodeOutput *items = arena_calloc(work->arena, loop->num_kept + 1, sizeof *items);
  const char *name = arena_printf(work->arena, "%s_grad", loop->body_function->name);
  if (in == NULL || out == NULL || items == NULL || name == NULL) return oom(loop);
  TRY(take_from_lists(loop, s, out, items));
  in[num_in++] = loop->count;
  for (int i = 0; i < loop->num_kept; i++) in[num_in++] = loop->kept[i].list;
  num_out = loop->num_kept;
  for (int i = 0; i < loop->num_vars; i++) {
    if (loop->passed[i]) in[num_in++] = out[num_out++] = loop->body.args[loop->first_arg + i];
  }
  for (int i = 0; i < loop->num_vars; i++) {
    if (!loop->active[i]) continue;
    in[num_in++] = loop->body.dys[i];
    out[num_out++] = taken(s, items, loop->body.dxs[loop->first_arg + i]);
  }
  for (int i = 0; i < loop->num_vars; i++) {
    if (loop->sums[i] == DT_INVALID) continue;
    NodeOutput terms[2] = {{NULL, 0}, taken(s, items, loop->body.dxs[loop->first_arg + i])};
    TRY(body_work_placeholder(work, "sum", loop->sums[i], &terms[0]));
    in[num_in++] = terms[0];
    TRY(body_work_op(work, "AddV2", terms, 2, &out[num_out++]));
  }
  return body_work_define(work, name, in, num_in, out, num_out, &loop->backward_body);
}

/* --- the op's gradient --- */

static bool add_empty_list(BodyWork *work, NodeOutput minus_one, DataType type, NodeOutput *list) {
  NodeDef *def = body_work_def(work, "EmptyTensorList", "list");
  NodeOutput inputs[2] = {minus_one, minus_one};
  if (def == NULL) return false;
  TRY(body_work_type(work, def, "element_dtype", type));
  TRY(body_work_type(work, def, "shape_type", DT_INT32));
  list->index = 0;
  return body_work_add(work, def, inputs, 2, &list->node);
}

static bool add_loop(BodyWork *work, const char *op, const char *name, const char *cond, const char *body,
                     const NodeOutput *inputs, int first_var, int num_inputs, Node **node) {
  NodeDef *def = body_work_def(work, op, name);
  DataType *types = arena_calloc(work->arena, num_inputs + 1, sizeof *types);
  if (def == NULL || types == NULL) return status_oom(work->status, "the gradient of a loop");
  for (int i = first_var; i < num_inputs; i++) types[i - first_var] = type_of(inputs[i]);
  TRY(body_work_types(work, def, "T", types, num_inputs - first_var));
  if (cond != NULL) TRY(body_work_attr(work, def, "cond", attr_value_func(work->arena, cond, NULL)));
  TRY(body_work_attr(work, def, "body", attr_value_func(work->arena, body, NULL)));
  return body_work_add(work, def, inputs, num_inputs, node);
}

static bool add_forward(Loop *loop, BodyWork *work, const NodeOutput *args, Node **forward) {
  int n = 0, capacity = 4 + loop->num_vars + loop->num_kept;
  NodeOutput *in = arena_calloc(work->arena, capacity, sizeof *in), minus_one;
  if (in == NULL) return oom(loop);
  for (; n < loop->first_var; n++) in[n] = args[n];
  TRY(body_work_int32(work, "no_rounds", 0, &in[n++]));
  for (int i = 0; i < loop->num_vars; i++) in[n++] = args[loop->first_var + i];
  TRY(body_work_int32(work, "any", -1, &minus_one));
  for (int i = 0; i < loop->num_kept; i++)
    TRY(add_empty_list(work, minus_one, type_of(loop->kept[i].value), &in[n++]));
  return add_loop(work, loop->node->op, "forward", loop->forward_cond, loop->forward_body, in,
                  loop->first_var, n, forward);
}

static bool add_backward(Loop *loop, BodyWork *work, const NodeOutput *args, const NodeOutput *dys,
                         Node *forward, Node **backward) {
  int n = 0;
  NodeOutput *in = arena_calloc(work->arena, 3 + loop->num_kept + 3 * loop->num_vars, sizeof *in);
  if (in == NULL) return oom(loop);
  TRY(body_work_int32(work, "start", 0, &in[n++]));
  in[n++] = (NodeOutput){forward, 0};
  TRY(body_work_int32(work, "delta", 1, &in[n++]));
  for (int i = 0; i < loop->num_kept; i++) in[n++] = (NodeOutput){forward, 1 + loop->num_vars + i};
  for (int i = 0; i < loop->num_vars; i++) {
    if (loop->passed[i]) in[n++] = args[loop->first_var + i];
  }
  for (int i = 0; i < loop->num_vars; i++) {
    if (loop->active[i]) in[n++] = dys[i];
  }
  for (int i = 0; i < loop->num_vars; i++) {
    if (loop->sums[i] != DT_INVALID)
      TRY(body_work_zeros(work, args[loop->first_var + i], loop->sums[i], &in[n++]));
  }
  return add_loop(work, "For", "backward", NULL, loop->backward_body, in, 3, n, backward);
}

/* Where the backward loop has its gradients. */
static int first_gradient_output(const Loop *loop) {
  int n = loop->num_kept;
  for (int i = 0; i < loop->num_vars; i++) n += loop->passed[i];
  return n;
}

static bool build(Loop *loop, BodyWork *work, GradientEntry *entry) {
  int num_inputs = loop->first_var + loop->num_vars;
  NodeOutput *args = arena_calloc(work->arena, num_inputs + loop->num_vars + 1, sizeof *args);
  NodeOutput *rets = arena_calloc(work->arena, num_inputs + 1, sizeof *rets);
  bool *no_flow = arena_calloc(loop->library->arena, num_inputs + 1, sizeof *no_flow);
  if (args == NULL || rets == NULL || no_flow == NULL) return oom(loop);
  for (int i = 0; i < loop->first_var; i++) TRY(body_work_placeholder(work, "range", DT_INT32, &args[i]));
  for (int i = 0; i < loop->num_vars; i++)
    TRY(body_work_placeholder(work, "x", loop->types[i], &args[loop->first_var + i]));
  for (int i = 0; i < loop->num_vars; i++)
    TRY(body_work_placeholder(work, "dy", loop->types[i], &args[num_inputs + i]));
  Node *forward, *backward;
  TRY(add_forward(loop, work, args, &forward));
  TRY(add_backward(loop, work, args, args + num_inputs, forward, &backward));
  int next = first_gradient_output(loop);
  for (int i = 0; i < num_inputs; i++) {
    int var = i - loop->first_var;
    if (var >= 0 && loop->active[var]) rets[i] = (NodeOutput){backward, next++};
  }
  for (int i = 0; i < num_inputs; i++) {
    int var = i - loop->first_var;
    if (rets[i].node != NULL) continue;
    if (var >= 0 && loop->sums[var] != DT_INVALID) {
      rets[i] = (NodeOutput){backward, next++};
      continue;
    }
    no_flow[i] = true;
    TRY(type_of(args[i]) == DT_RESOURCE ? body_work_float_zero(work, &rets[i])
                                        : body_work_zeros(work, args[i], DT_INVALID, &rets[i]));
  }
  FunctionDef *function;
  const char *name = arena_printf(work->arena, "%sGradient", loop->node->op);
  if (name == NULL) return oom(loop);
  TRY(body_work_function(work, name, args, num_inputs + loop->num_vars, rets, num_inputs,
                         loop->library->arena, &function));
  *entry = (GradientEntry){.function = function, .no_flow = no_flow};
  return true;
}

static bool differentiate(Loop *loop, const GradientQuery *query, GradientEntry *entry) {
  DataType *input_types, *output_types;
  int num_inputs, num_outputs;
  bool any = false;
  TRY(node_def_types(query->node, query->op->def, loop->arena, &input_types, &num_inputs, &output_types,
                     &num_outputs, loop->status));
  TRY(gradient_called(query->node, "body", &loop->body_function, loop->status));
  loop->num_vars = num_outputs;
  loop->types = output_types;
  loop->active = arena_calloc(loop->arena, num_outputs + 1, sizeof *loop->active);
  loop->sums = arena_calloc(loop->arena, num_outputs + 1, sizeof *loop->sums);
  loop->constant = arena_calloc(loop->arena, num_outputs + 1, sizeof *loop->constant);
  loop->passed = arena_calloc(loop->arena, num_outputs + 1, sizeof *loop->passed);
  if (!loop->active || !loop->sums || !loop->constant || !loop->passed) return oom(loop);
  for (int i = 0; i < num_outputs; i++) {
    loop->active[i] = gradient_flows_through(output_types[i]) && dtype_base(output_types[i]) != DT_RESOURCE &&
                      (query->flows == NULL || query->flows[i]);
    any = any || loop->active[i];
  }
  *entry = (GradientEntry){0};
  if (!any) return true;
  Search search = {.loop = loop};
  BodyWork cond = {0}, gradient = {0};
  TRY(find_active(loop));
  TRY(find_constant(loop));
  TRY(find_kept(&search));
  TRY(add_lists(loop));
  TRY(define_forward_body(loop));
  bool ok = loop->is_for || define_forward_cond(loop, &cond);
  body_work_free(&cond);
  TRY(ok);
  TRY(define_backward_body(loop, &search));
  ok = body_work_new(&gradient, loop->library, loop->status) && build(loop, &gradient, entry);
  body_work_free(&gradient);
  return ok;
}

bool loop_gradient(GradientLibrary *library, const GradientQuery *query, GradientEntry *entry,
                   Status *status) {
  bool is_for = strcmp(query->node->op, "For") == 0;
  Loop loop = {.library = library,
               .node = query->node,
               .status = status,
               .arena = arena_new(),
               .is_for = is_for,
               .first_var = is_for ? 3 : 0,
               .first_arg = is_for ? 1 : 0};
  bool ok = loop.arena != NULL ? differentiate(&loop, query, entry) : oom(&loop);
  body_work_free(&loop.work);
  arena_free(loop.arena);
  return ok;
}
