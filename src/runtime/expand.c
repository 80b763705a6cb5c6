#include "runtime/expand.h"

#include <string.h>

#include "base/alloc.h"
#include "function/instantiate.h"

/* A growing array of nodes. */
typedef struct NodeList {
  Node **nodes;
  int64_t count, capacity;
} NodeList;

/* What a node of the original, or of a body, has become: a node, or the nodes of a call. */
typedef struct Became {
  NodeOutput *outputs; /* per output; NULL nodes where a control edge alone leads to it */
  Node *node;          /* NULL for a call, until somebody has to wait for its end */
  NodeList *ends;      /* of a call: the nodes that must have run when it is over */
  const char *name;
} Became;

typedef struct Expander {
  const Graph *graph;
  const PlanSpec *spec;
  Arena *arena;
  Status *status;
  Graph *into;
  Became *became;     /* per node id of the original */
  const Node *origin; /* of the nodes that are being added */
  bool inside;        /* a body is being added */
  NodeList origins;   /* per node id of `into` */
  bool *inlined;
  int64_t inlined_capacity;
  NodeList targets;                /* nodes that run in any case */
  int64_t num_inlined, num_bodies; /* nodes and calls in bodies */
} Expander;

static bool oom(Expander *e) { return status_oom(e->status, "the functions of a plan"); }

static bool append(Expander *e, NodeList *list, Node *node) {
  if (!mem_grow((void **)&list->nodes, &list->capacity, list->count + 1, sizeof(Node *))) return oom(e);
  list->nodes[list->count++] = node;
  return true;
}

/* Notes where the nodes come from that were added since. */
static bool note_origin(Expander *e) {
  int64_t ids = graph_num_node_ids(e->into);
  if (e->inside && ++e->num_inlined > EXPAND_MAX_NODES) {
    return status_set(e->status, CODE_RESOURCE_EXHAUSTED,
                      "The functions that are called have more than %d operations together",
                      EXPAND_MAX_NODES);
  }
  if (!mem_grow((void **)&e->inlined, &e->inlined_capacity, ids, sizeof(bool))) return oom(e);
  while (e->origins.count < ids) {
    e->inlined[e->origins.count] = e->inside;
    TRY(append(e, &e->origins, (Node *)e->origin));
  }
  return true;
}

/* --- adding nodes --- */

/* A name that no node has here, and none of the original: so that a body's nodes are called the same in every
 * plan, whichever nodes of the original are in it. */
static const char *free_name(Expander *e, const char *name) {
  const char *candidate = name;
  for (int64_t i = 1;
       candidate && (graph_find_node(e->graph, candidate) || graph_find_node(e->into, candidate)); i++) {
    candidate = arena_printf(e->arena, "%s_%lld", name, (long long)i);
  }
  if (!candidate) oom(e);
  return candidate;
}

/* `name` is taken as it is. */
static bool add_node(Expander *e, const char *name, const NodeDef *def, const NodeOutput *inputs,
                     int num_inputs, const NodeList *controls, Node **node) {
  NodeDef named = *def;
  named.name = (char *)name;
  TRY(graph_add_operation(e->into, &named, inputs, num_inputs, controls->nodes, (int)controls->count, node,
                          e->status));
  return note_origin(e);
}

static const NodeList kNoControls = {NULL, 0, 0};

/* A NoOp, an Identity, a Placeholder: one attr at most. */
static bool add_helper(Expander *e, const char *op, const char *name, const char *attr, AttrValue *value,
                       const NodeOutput *input, const NodeList *controls, Node **node) {
  name = free_name(e, name);
  NodeDef *def = name ? node_def_new(e->arena, name, op) : NULL;
  if (!def) return oom(e);
  if (attr && !value) return oom(e);
  if (attr) TRY(node_def_set_attr(def, e->arena, attr, value, e->status));
  return add_node(e, name, def, input, input ? 1 : 0, controls, node);
}

/* The node that a control edge begins at. For a call that is one that waits for all of its ends. */
static bool control_source(Expander *e, Became *became, Node **node) {
  if (!became->node) TRY(add_helper(e, "NoOp", became->name, NULL, NULL, NULL, became->ends, &became->node));
  *node = became->node;
  return true;
}

static bool add_control(Expander *e, Became *became, NodeList *controls) {
  Node *node = NULL;
  return control_source(e, became, &node) && append(e, controls, node);
}

/* --- bodies --- */

/* One call while its body is added. */
typedef struct Call {
  const InstantiationResult *body;
  const NodeOutput *args;
  const NodeList *controls; /* what the call waits for */
  const char *scope;
  int depth;
  Became *became; /* per node of the body */
  int *order;
  int count;
} Call;

/* Visits what the node needs before it; the nodes without `_Arg` and `_Retval` go into the order. */
static bool visit(Expander *e, Call *call, uint8_t *state, int *next, int *stack, int root) {
  enum { NEW, OPEN, DONE };
  int top = 0;
  if (state[root] == DONE) return true;
  stack[top++] = root;
  state[root] = OPEN;
  while (top > 0) {
    int index = stack[top - 1];
    const InstantiatedNode *node = &call->body->nodes[index];
    if (next[index] == node->num_inputs + node->num_controls) {
      state[index] = DONE;
      top--;
      if (node->op) call->order[call->count++] = index;
      continue;
    }
    int i = next[index]++;
    int child = i < node->num_inputs ? node->inputs[i].node : node->controls[i - node->num_inputs];
    if (state[child] == DONE) continue;
    if (state[child] == OPEN) {
      return status_invalid(e->status, "{{node %s}} of function %s is in a cycle", node->def->name,
                            call->body->name);
    }
    state[child] = OPEN;
    stack[top++] = child;
  }
  return true;
}

/* Whether a node runs in every call. */
static bool has_effects(const InstantiatedNode *node) { return node->op && node->op->def->is_stateful; }

static bool order_body(Expander *e, Call *call) {
  const InstantiationResult *body = call->body;
  int64_t count = body->num_nodes + 1;
  uint8_t *state = mem_calloc(count, 1);
  int *next = mem_calloc(count, sizeof(int)), *stack = mem_calloc(count, sizeof(int));
  call->order = arena_calloc(e->arena, count, sizeof(int));
  bool ok = (state && next && stack && call->order) || oom(e);
  for (int i = body->num_nodes - body->num_rets; ok && i < body->num_nodes; i++)
    ok = visit(e, call, state, next, stack, i);
  for (int i = 0; ok && i < body->num_control_rets; i++)
    ok = visit(e, call, state, next, stack, body->control_rets[i]);
  for (int i = body->num_args; ok && i < body->num_nodes; i++) {
    if (has_effects(&body->nodes[i])) ok = visit(e, call, state, next, stack, i);
  }
  mem_free(state);
  mem_free(next);
  mem_free(stack);
  return ok;
}

static bool expand_call(Expander *e, const char *function, const AttrEntry *const *attrs, int num_attrs,
                        const char *scope, const NodeOutput *args, int num_args, const NodeList *controls,
                        int num_outputs, int depth, Became *became);

static NodeOutput body_value(const Call *call, InstantiatedInput input) {
  if (input.node < call->body->num_args) return call->args[input.node];
  return call->became[input.node].outputs[input.index];
}

/* Adds a node of a body, or the body of the function that it calls. */
static bool expand_body_node(Expander *e, Call *call, int index) {
  const InstantiatedNode *node = &call->body->nodes[index];
  Became *became = &call->became[index];
  NodeList controls = {NULL, 0, 0};
  bool ok = false, waits = false;
  const char *name = arena_printf(e->arena, "%s/%s", call->scope, node->def->name);
  name = name ? free_name(e, name) : NULL;
  NodeOutput *inputs = arena_calloc(e->arena, node->num_inputs, sizeof *inputs);
  became->outputs = arena_calloc(e->arena, node->num_outputs, sizeof *became->outputs);
  if (!name || !inputs || !became->outputs) {
    oom(e);
    goto done;
  }
  for (int i = 0; i < node->num_inputs; i++) {
    inputs[i] = body_value(call, node->inputs[i]);
    waits |= node->inputs[i].node >= call->body->num_args;
  }
  for (int i = 0; i < node->num_controls; i++) {
    int source = node->controls[i];
    if (source < call->body->num_args) {
      TRY_DONE(append(e, &controls, call->args[source].node));
    } else {
      TRY_DONE(add_control(e, &call->became[source], &controls));
      waits = true;
    }
  }
  /* The call's own controls hold back the nodes that wait for no other node of the body. */
  for (int64_t i = 0; i < call->controls->count && !waits; i++)
    TRY_DONE(append(e, &controls, call->controls->nodes[i]));
  if (graph_op_is_function(node->op)) {
    ok = expand_call(e, node->def->op, (const AttrEntry *const *)node->def->attr, (int)node->def->n_attr,
                     name, inputs, node->num_inputs, &controls, node->num_outputs, call->depth + 1, became);
  } else {
    ok = add_node(e, name, node->def, inputs, node->num_inputs, &controls, &became->node);
    for (int i = 0; ok && i < node->num_outputs; i++) became->outputs[i] = (NodeOutput){became->node, i};
  }
done:
  mem_free(controls.nodes);
  return ok;
}

/* What a call is over with: its results, what has state, the control outputs. All but the results also run
 * when nobody waits for the call. */
static bool find_ends(Expander *e, const Call *call, Became *became) {
  const InstantiationResult *body = call->body;
  int64_t most = (int64_t)body->num_control_rets + call->count + body->num_rets + call->controls->count;
  NodeList *ends = arena_calloc(e->arena, 1, sizeof *ends);
  Node **nodes = arena_calloc(e->arena, most, sizeof *nodes);
  if (!ends || !nodes) return oom(e);
  *ends = (NodeList){nodes, 0, most};
  for (int i = 0; i < body->num_control_rets; i++)
    TRY(control_source(e, &call->became[body->control_rets[i]], &nodes[ends->count++]));
  for (int i = 0; i < call->count; i++) {
    Node *node = call->became[call->order[i]].node;
    if (node && has_effects(&body->nodes[call->order[i]])) nodes[ends->count++] = node;
  }
  for (int64_t i = 0; i < ends->count; i++) TRY(append(e, &e->targets, nodes[i]));
  for (int i = 0; i < body->num_rets; i++) nodes[ends->count++] = became->outputs[i].node;
  for (int64_t i = 0; i < call->controls->count; i++) nodes[ends->count++] = call->controls->nodes[i];
  became->ends = ends;
  return true;
}

static bool expand_body(Expander *e, Call *call, Became *became) {
  const InstantiationResult *body = call->body;
  call->became = arena_calloc(e->arena, body->num_nodes, sizeof *call->became);
  if (!call->became) return oom(e);
  TRY(order_body(e, call));
  for (int i = 0; i < call->count; i++) TRY(expand_body_node(e, call, call->order[i]));
  for (int i = 0; i < body->num_rets; i++)
    became->outputs[i] = body_value(call, body->nodes[body->num_nodes - body->num_rets + i].inputs[0]);
  return find_ends(e, call, became);
}

/* `became->outputs` has room for the results. */
static bool expand_call(Expander *e, const char *function, const AttrEntry *const *attrs, int num_attrs,
                        const char *scope, const NodeOutput *args, int num_args, const NodeList *controls,
                        int num_outputs, int depth, Became *became) {
  if (depth > EXPAND_MAX_DEPTH) {
    return status_invalid(e->status, "Calls of functions are nested more than %d deep: {{node %s}} calls %s",
                          EXPAND_MAX_DEPTH, scope, function);
  }
  if (depth > 1 && ++e->num_bodies > EXPAND_MAX_NODES) {
    return status_set(e->status, CODE_RESOURCE_EXHAUSTED,
                      "The functions that are called have more than %d calls together", EXPAND_MAX_NODES);
  }
  const FunctionDef *def = graph_find_function(e->graph, function);
  if (!def) {
    return status_set(e->status, CODE_NOT_FOUND, "Function %s is not defined; {{node %s}} calls it", function,
                      scope);
  }
  Arena *arena = arena_new();
  InstantiationResult *body;
  if (!arena) return oom(e);
  bool ok = false;
  TRY_DONE(function_instantiate(e->graph, def, attrs, num_attrs, arena, &body, e->status));
  if (body->num_args != num_args || body->num_rets != num_outputs) {
    status_invalid(e->status,
                   "Function %s has %d arguments and %d results, not %d and %d as {{node %s}} wants",
                   function, body->num_args, body->num_rets, num_args, num_outputs, scope);
    goto done;
  }
  Call call = {.body = body, .args = args, .controls = controls, .scope = scope, .depth = depth};
  became->name = scope;
  ok = expand_body(e, &call, became);
done:
  arena_free(arena);
  return ok;
}

/* --- the graph --- */

/* A node of the original, with its attrs shared. */
static bool copy_node(Expander *e, const Node *node, const NodeOutput *inputs, const NodeList *controls,
                      Node **copy) {
  NodeDef *def = arena_alloc(graph_arena(e->into), sizeof *def);
  if (!def) return oom(e);
  *def = *node->def;
  def->input = NULL;
  def->n_input = 0;
  TRY(graph_add_node(e->into, def, copy, e->status));
  TRY(note_origin(e));
  Edge *edge;
  for (int i = 0; i < node->num_inputs; i++)
    TRY(graph_add_edge(e->into, inputs[i].node, inputs[i].index, *copy, i, &edge, e->status));
  for (int64_t i = 0; i < controls->count; i++)
    TRY(graph_add_control_edge(e->into, controls->nodes[i], *copy, &edge, e->status));
  return graph_infer_shapes(e->into, *copy, e->status);
}

static bool collect_inputs(Expander *e, const Node *node, NodeOutput *inputs, NodeList *controls) {
  for (int i = 0; i < node->num_inputs; i++) {
    const Edge *edge = node_input_edge(node, i);
    if (!edge) {
      status_invalid(e->status, "Input %d of node %s is not connected", i, node->name);
      return node_attach(node->name, e->status);
    }
    inputs[i] = e->became[edge->src->id].outputs[edge->src_output];
  }
  for (int64_t i = 0; i < node->num_control_inputs; i++)
    TRY(add_control(e, &e->became[node->control_inputs[i]->src->id], controls));
  return true;
}

static bool expand_node(Expander *e, const Node *node) {
  Became *became = &e->became[node->id];
  NodeOutput *inputs = arena_calloc(e->arena, node->num_inputs, sizeof *inputs);
  NodeOutput *outputs = arena_calloc(e->arena, node->num_outputs, sizeof *outputs);
  if (!inputs || !outputs) return oom(e);
  NodeOutput *fed = became->outputs; /* the placeholders of its outputs, if some are fed */
  became->outputs = outputs;
  became->name = node->name;
  e->origin = node;
  NodeList controls = {NULL, 0, 0};
  bool ok = collect_inputs(e, node, inputs, &controls);
  if (ok && graph_op_is_function(node->op)) {
    e->inside = true;
    ok = expand_call(e, node->def->op, (const AttrEntry *const *)node->def->attr, (int)node->def->n_attr,
                     node->name, inputs, node->num_inputs, &controls, node->num_outputs, 1, became) ||
         node_attach(node->name, e->status);
    e->inside = false;
  } else if (ok) {
    ok = copy_node(e, node, inputs, &controls, &became->node);
    for (int i = 0; ok && i < node->num_outputs; i++) outputs[i] = (NodeOutput){became->node, i};
  }
  for (int i = 0; fed && ok && i < node->num_outputs; i++) {
    if (fed[i].node) outputs[i] = fed[i];
  }
  mem_free(controls.nodes);
  return ok;
}

/* --- what was asked for --- */

/* What is known of the shape of a placeholder holds for what is fed. */
static bool keep_shape(Expander *e, NodeOutput from, Node *to) {
  ShapeHandle shape = graph_output_shape(from);
  if (!shape || !shape_rank_known(shape)) return true;
  int rank = shape_rank(shape);
  int64_t *dims = arena_calloc(e->arena, rank, sizeof *dims);
  if (!dims) return oom(e);
  for (int i = 0; i < rank; i++) dims[i] = dim_known(shape->dims[i]) ? dim_value(shape->dims[i]) : -1;
  return graph_set_shape(e->into, (NodeOutput){to, 0}, rank, dims, e->status);
}

static bool add_feeds(Expander *e, NodeOutput *feeds) {
  for (int i = 0; i < e->spec->num_feeds; i++) {
    NodeOutput feed = e->spec->feeds[i];
    Became *became = &e->became[feed.node->id];
    if (!became->outputs)
      became->outputs = arena_calloc(e->arena, feed.node->num_outputs, sizeof *became->outputs);
    const char *name = arena_printf(e->arena, "%s/fed_%d", feed.node->name, feed.index);
    if (!became->outputs || !name) return oom(e);
    e->origin = feed.node;
    AttrValue *type = attr_value_type(e->arena, dtype_base(node_output_type(feed)));
    TRY(add_helper(e, "Placeholder", name, "dtype", type, NULL, &kNoControls, &feeds[i].node));
    if (strcmp(feed.node->def->op, "Placeholder") == 0) TRY(keep_shape(e, feed, feeds[i].node));
    feeds[i].index = 0;
    became->outputs[feed.index] = feeds[i];
  }
  return true;
}

/* A result may be one of the function's arguments, and that a value that is fed, which cannot be fetched. */
static bool add_fetches(Expander *e, const NodeOutput *feeds, NodeOutput *fetches) {
  for (int i = 0; i < e->spec->num_fetches; i++) {
    NodeOutput asked = e->spec->fetches[i];
    fetches[i] = e->became[asked.node->id].outputs[asked.index];
    bool is_fed = false;
    for (int k = 0; k < e->spec->num_feeds; k++) is_fed |= feeds[k].node == fetches[i].node;
    if (!is_fed) continue;
    NodeOutput input = fetches[i];
    const char *name = arena_printf(e->arena, "%s/output_%d", asked.node->name, asked.index);
    if (!name) return oom(e);
    e->origin = asked.node;
    AttrValue *type = attr_value_type(e->arena, dtype_base(node_output_type(input)));
    TRY(add_helper(e, "Identity", name, "T", type, &input, &kNoControls, &fetches[i].node));
    fetches[i].index = 0;
  }
  return true;
}

static bool add_targets(Expander *e) {
  for (int i = 0; i < e->spec->num_targets; i++) {
    const Became *became = &e->became[e->spec->targets[i]->id];
    if (became->node) TRY(append(e, &e->targets, became->node));
    for (int64_t k = 0; became->ends && k < became->ends->count; k++)
      TRY(append(e, &e->targets, became->ends->nodes[k]));
  }
  return true;
}

/* The nodes that the spec needs, inputs first. */
static bool order_needed(const Graph *graph, const PlanSpec *spec, Arena *arena, Node ***order,
                         int64_t *count, Status *status) {
  int64_t num_roots = (int64_t)spec->num_fetches + spec->num_targets;
  Node **roots = arena_calloc(arena, num_roots, sizeof *roots);
  if (!roots) return status_oom(status, "the functions of a plan");
  for (int i = 0; i < spec->num_fetches; i++) roots[i] = spec->fetches[i].node;
  for (int i = 0; i < spec->num_targets; i++) roots[spec->num_fetches + i] = spec->targets[i];
  NodeSet needed;
  TRY(graph_reverse_reachable(graph, roots, num_roots, spec->feeds, spec->num_feeds, arena, &needed, status));
  return graph_topological_order(graph, &needed, spec->feeds, spec->num_feeds, arena, order, count, status);
}

bool graph_calls_functions(const Graph *graph, const PlanSpec *spec, Arena *arena, bool *calls,
                           Status *status) {
  *calls = false;
  if (graph_num_functions(graph) == 0) return true;
  Node **order;
  int64_t count;
  TRY(order_needed(graph, spec, arena, &order, &count, status));
  for (int64_t i = 0; i < count && !*calls; i++) *calls = graph_op_is_function(order[i]->op);
  return true;
}

static bool expand(Expander *e, Expansion *expansion) {
  const PlanSpec *spec = e->spec;
  NodeOutput *feeds = arena_calloc(e->arena, spec->num_feeds, sizeof *feeds);
  NodeOutput *fetches = arena_calloc(e->arena, spec->num_fetches, sizeof *fetches);
  e->into = graph_new_with_ops(graph_ops(e->graph));
  e->became = arena_calloc(e->arena, graph_num_node_ids(e->graph), sizeof *e->became);
  if (!feeds || !fetches || !e->into || !e->became) return oom(e);
  TRY(graph_set_versions(e->into, graph_versions(e->graph), e->status));
  TRY(note_origin(e));
  TRY(add_feeds(e, feeds));
  Node **order;
  int64_t count;
  TRY(order_needed(e->graph, spec, e->arena, &order, &count, e->status));
  for (int64_t i = 0; i < count; i++) TRY(expand_node(e, order[i]));
  TRY(add_fetches(e, feeds, fetches));
  TRY(add_targets(e));
  int64_t ids = e->origins.count, num_targets = e->targets.count;
  Node **targets = arena_calloc(e->arena, num_targets, sizeof *targets);
  const Node **origins = arena_calloc(e->arena, ids, sizeof *origins);
  bool *inlined = arena_calloc(e->arena, ids, sizeof *inlined);
  if (!targets || !origins || !inlined) return oom(e);
  if (num_targets > 0) memcpy(targets, e->targets.nodes, (size_t)num_targets * sizeof *targets);
  memcpy(origins, e->origins.nodes, (size_t)ids * sizeof *origins);
  memcpy(inlined, e->inlined, (size_t)ids * sizeof *inlined);
  *expansion = (Expansion){.graph = e->into,
                           .spec = {feeds, spec->num_feeds, fetches, spec->num_fetches, targets,
                                    (int)num_targets, spec->is_function},
                           .origins = origins,
                           .inlined = inlined};
  return true;
}

bool graph_expand_calls(const Graph *graph, const PlanSpec *spec, Arena *arena, Expansion *expansion,
                        Status *status) {
  Expander e = {.graph = graph, .spec = spec, .arena = arena, .status = status};
  bool ok = expand(&e, expansion);
  if (!ok) graph_free(e.into);
  mem_free(e.origins.nodes);
  mem_free(e.inlined);
  mem_free(e.targets.nodes);
  return ok;
}
