#include "optimizer/inline_functions.h"

#include <string.h>

#include "base/alloc.h"
#include "graph/node_builder.h"
#include "optimizer/optimizer_internal.h"

static const char kPrefix[] = "Func/";

/* The state while one call is inlined. */
typedef struct Inliner {
  Graph *graph;
  Node *caller;
  const FunctionBody *body;
  const InlineOptions *options;
  Status *status;
  Arena *arena;        /* temporary, for this call */
  const char *prefix;  /* "caller/" */
  int64_t first_id;    /* of the added nodes */
  Node **copies;       /* per node id of the body; for arguments and results: their Identity nodes */
  Node **outputs;      /* per result of the body */
  Node *input_control; /* NULL: the call has nothing to wait for */
  Node *anchor;        /* what nodes of the body without inputs wait for; may be NULL */
  Node *output_control;
} Inliner;

static bool oom(Inliner *in) { return status_oom(in->status, "inlining a function"); }

/* --- the function of a call --- */

bool node_function_call(const Node *node, const char **name, const AttrEntry *const **attrs, int *num_attrs) {
  const NodeDef *def = node->def;
  if (node_is_partitioned_call(node)) {
    const AttrValue *f = node_def_attr(def, "f");
    if (!f || (AttrKind)f->value_case != ATTR_FUNC || !f->func) return false;
    *name = f->func->name;
    *attrs = (const AttrEntry *const *)(const void *)f->func->attr;
    *num_attrs = (int)f->func->n_attr;
    return true;
  }
  if (!node_is_function(node) && !node_is_symbolic_gradient(node)) return false;
  *name = def->op;
  *attrs = (const AttrEntry *const *)def->attr;
  *num_attrs = (int)def->n_attr;
  return true;
}

/* --- validation --- */

static bool has_true_attr(const FunctionDef *function, const char *name) {
  for (size_t i = 0; i < function->n_attr; i++) {
    if (strcmp(function->attr[i]->key, name) == 0) return function->attr[i]->value->b;
  }
  return false;
}

/* TensorFlow marks every function that its compiler XLA compiles as a whole, only to keep it whole for XLA.
 * Here such a function is one like others. */
static bool marked_noinline(const Node *caller, const FunctionBody *body) {
  const FunctionDef *function = graph_find_function(caller->graph, body->name);
  return function && has_true_attr(function, "_noinline") && !has_true_attr(function, "_XlaMustCompile");
}

bool inline_validate(const Node *caller, const FunctionBody *body, const InlineOptions *options,
                     Status *status) {
  if (caller->num_inputs != body->num_args) {
    return status_invalid(status,
                          "Node inputs do not match function arguments: inputs=%d arg_types=%d arg_nodes=%d",
                          caller->num_inputs, body->num_args, body->num_args);
  }
  if (caller->num_outputs != body->num_rets) {
    return status_invalid(status,
                          "Node outputs do not match function returns: outputs=%d ret_types=%d ret_nodes=%d",
                          caller->num_outputs, body->num_rets, body->num_rets);
  }
  for (int i = 0; i < caller->num_inputs; i++) {
    if (caller->input_types[i] == body->arg_types[i]) continue;
    return status_invalid(status, "Node input type doesn't match function argument type: %d != %d @ index=%d",
                          (int)caller->input_types[i], (int)body->arg_types[i], i);
  }
  for (int i = 0; i < caller->num_outputs; i++) {
    if (caller->output_types[i] == body->ret_types[i]) continue;
    return status_invalid(status, "Node output type doesn't match function return type: %d != %d @ index=%d",
                          (int)caller->output_types[i], (int)body->ret_types[i], i);
  }
  if (options->disable_inlining)
    return status_invalid(status, "Function inlining explicitly disabled by 'options.disable_inlining'");
  if (!options->ignore_noinline && marked_noinline(caller, body))
    return status_invalid(status, "Can't inline function marked with '_noinline'");
  for (int i = 0; i < caller->num_inputs; i++) {
    if (!caller->inputs[i]) return status_invalid(status, "Node input %d is not connected", i);
  }
  for (int i = 0; i < body->num_rets; i++) {
    if (!body->ret_nodes[i]->inputs[0])
      return status_invalid(status, "Function return %d is not connected", i);
  }
  return true;
}

/* --- adding nodes --- */

static const char *new_name(Inliner *in, const char *part) {
  const char *prefix = arena_printf(in->arena, "%s%s%s", kPrefix, in->prefix, part);
  return !prefix ? NULL : graph_new_free_name(in->graph, prefix);
}

static const char *device_of(const Node *node) {
  const char *assigned = node_assigned_device(node);
  return assigned[0] != 0 ? assigned : node->def->device;
}

/* `where`: the device, unless all nodes go to the call's device. */
static const char *helper_device(const Inliner *in, const char *where) {
  return in->options->placer == INLINE_PLACER_SINGLE_DEVICE ? in->caller->def->device : where;
}

static bool add_control(Inliner *in, Node *from, Node *to) {
  return optimizer_control(in->graph, from, to, in->status);
}

static bool add_no_op(Inliner *in, const char *part, Node **node) {
  return optimizer_add_no_op(in->graph, new_name(in, part), helper_device(in, ""), node, in->status);
}

static bool add_identity(Inliner *in, const char *part, const char *where, Node *from, int output,
                         Node **node) {
  return optimizer_add_identity(in->graph, new_name(in, part), helper_device(in, where), from, output, node,
                                in->status);
}

/* --- before the body --- */

static bool add_input_control(Inliner *in) {
  const Node *caller = in->caller;
  bool whole = in->options->as_one_step && in->options->has_effects;
  if (caller->num_control_inputs == 0 && (!whole || caller->num_inputs == 0)) return true;
  TRY(add_no_op(in, "input_control_node", &in->input_control));
  for (int32_t i = 0; i < caller->num_control_inputs; i++)
    TRY(add_control(in, caller->control_inputs[i]->src, in->input_control));
  for (int i = 0; whole && i < caller->num_inputs; i++)
    TRY(add_control(in, caller->inputs[i]->src, in->input_control));
  return true;
}

static bool add_inputs(Inliner *in) {
  const Node *caller = in->caller;
  TRY(add_input_control(in));
  for (int i = 0; i < caller->num_inputs; i++) {
    const Edge *edge = caller->inputs[i];
    Node *input;
    TRY(add_identity(in, "input", device_of(edge->src), edge->src, edge->src_output, &input));
    if (in->input_control) TRY(add_control(in, in->input_control, input));
    in->copies[in->body->arg_nodes[i]->id] = input;
    if (in->options->in_loop) in->anchor = input;
  }
  if (in->input_control) in->anchor = in->input_control;
  return true;
}

/* --- the body --- */

/* A NodeDef without inputs; it shares only attr values with the body. */
static NodeDef *copy_def(Inliner *in, const NodeDef *from) {
  Arena *arena = graph_arena(in->graph);
  if (in->options->share_attrs) return node_def_share(arena, from);
  NodeDef bare = *from;
  bare.n_input = 0;
  bare.input = NULL;
  return proto_copy(&bare, arena);
}

static bool has_inputs(const Node *node) {
  for (int i = 0; i < node->num_inputs; i++) {
    if (node->inputs[i]) return true;
  }
  return node->num_control_inputs > 0;
}

/* A node without inputs must wait for the inputs of the call; so must such a node in the body of the call, if
 * this node is a call itself. */
static bool waits_for_call(const Node *node) {
  const char *name;
  const AttrEntry *const *attrs;
  int num_attrs;
  if (!has_inputs(node)) return true;
  return node->num_control_inputs == 0 && node_function_call(node, &name, &attrs, &num_attrs);
}

static bool copy_node(Inliner *in, const Node *node, Node **copy) {
  Arena *arena = graph_arena(in->graph);
  NodeDef *def = copy_def(in, node->def);
  if (!def) return oom(in);
  if (in->options->placer == INLINE_PLACER_SINGLE_DEVICE) {
    def->device = in->caller->def->device;
  } else if (in->options->share_attrs) {
    def->device = arena_strdup(arena, def->device);
  }
  if (in->options->share_attrs) def->op = arena_strdup(arena, def->op);
  if (!def->device || !def->op) return oom(in);
  TRY(node_def_add_prefix_and_suffix(def, arena, in->prefix, "", in->status));
  while (graph_find_node(in->graph, def->name)) {
    def->name = (char *)graph_new_name(in->graph, def->name);
    if (!def->name) return oom(in);
  }
  TRY(graph_add_node(in->graph, def, copy, in->status));
  if (in->options->placer == INLINE_PLACER_DEFAULT && node->assigned_device != 0)
    TRY(graph_set_assigned_device(in->graph, *copy, node_assigned_device(node), in->status));
  if (in->anchor && waits_for_call(node)) TRY(add_control(in, in->anchor, *copy));
  return true;
}

static bool copy_nodes(Inliner *in) {
  const Graph *from = in->body->graph;
  for (int64_t id = SINK_ID + 1; id < graph_num_node_ids(from); id++) {
    const Node *node = graph_node(from, id);
    if (node && !node_is_boundary(node)) TRY(copy_node(in, node, &in->copies[id]));
  }
  return true;
}

/* A control input from an argument becomes one from its Identity. */
static bool copy_controls(Inliner *in, const Node *node, Node *copy) {
  for (int32_t i = 0; i < node->num_control_inputs; i++) {
    Node *source = in->copies[node->control_inputs[i]->src->id];
    if (source) TRY(add_control(in, source, copy));
  }
  return true;
}

static bool copy_edges(Inliner *in) {
  Edge *edge;
  const Graph *from = in->body->graph;
  for (int64_t id = SINK_ID + 1; id < graph_num_node_ids(from); id++) {
    const Node *node = graph_node(from, id);
    if (!node || node_is_boundary(node)) continue;
    for (int i = 0; i < node->num_inputs; i++) {
      const Edge *old = node->inputs[i];
      if (!old) continue;
      TRY(graph_add_edge(in->graph, in->copies[old->src->id], old->src_output, in->copies[id], i, &edge,
                         in->status));
    }
    TRY(copy_controls(in, node, in->copies[id]));
  }
  return true;
}

/* The new name of a node in a colocation attr. */
static const char *rename_colocated(void *arg, Str name) {
  Inliner *in = arg;
  const char *text = arena_strndup(in->arena, name.data, name.length);
  const Node *node = !text ? NULL : graph_find_node(in->body->graph, text);
  return !node || !in->copies[node->id] ? NULL : in->copies[node->id]->name;
}

static bool rename_colocations(Inliner *in) {
  const Graph *from = in->body->graph;
  for (int64_t id = SINK_ID + 1; id < graph_num_node_ids(from); id++) {
    const Node *node = graph_node(from, id);
    if (!node || node_is_boundary(node)) continue;
    TRY(node_def_rename_colocation(in->copies[id]->def, graph_arena(in->graph), rename_colocated, in,
                                   in->status));
  }
  return true;
}

/* --- after the body --- */

/* Nothing needs to wait for nodes that are available when a step begins. */
static bool is_there_at_once(const Node *node) {
  if (node->num_inputs > 0 || node->num_control_inputs > 0) return false;
  return node_is_const(node) || node_is_placeholder(node) || node_is_arg(node);
}

/* Makes `waiting` wait for the call's inputs and control results, except for those in `cone`, the nodes that
 * a result is computed from. */
static bool wait_for_whole_call(Inliner *in, const NodeSet *cone, Node *waiting) {
  const FunctionBody *body = in->body;
  for (int i = 0; i < body->num_args; i++) {
    const Node *arg = body->arg_nodes[i];
    if (is_there_at_once(in->caller->inputs[i]->src) || (cone && node_set_has(cone, arg))) continue;
    TRY(add_control(in, in->copies[arg->id], waiting));
  }
  for (int i = 0; i < body->num_control_rets; i++) {
    const Node *end = body->control_ret_nodes[i];
    if (node_is_boundary(end) || (cone && node_set_has(cone, end))) continue;
    TRY(add_control(in, in->copies[end->id], waiting));
  }
  return true;
}

static bool wait_with_results(Inliner *in) {
  for (int i = 0; i < in->body->num_rets; i++) {
    ArenaMark mark = arena_mark(in->arena);
    NodeSet cone;
    Node *root = in->body->ret_nodes[i];
    TRY(graph_reverse_reachable(in->body->graph, &root, 1, NULL, 0, in->arena, &cone, in->status));
    TRY(wait_for_whole_call(in, &cone, in->outputs[i]));
    arena_rollback(in->arena, mark);
  }
  return true;
}

static bool add_outputs(Inliner *in) {
  for (int i = 0; i < in->body->num_rets; i++) {
    const Node *ret = in->body->ret_nodes[i];
    const Edge *edge = ret->inputs[0];
    TRY(add_identity(in, "output", "", in->copies[edge->src->id], edge->src_output, &in->outputs[i]));
    TRY(copy_controls(in, ret, in->outputs[i]));
    in->copies[ret->id] = in->outputs[i];
  }
  return !in->options->as_one_step || wait_with_results(in);
}

/* If it would wait for nothing, the output control node waits for the call's inputs. */
static bool add_output_control(Inliner *in) {
  const FunctionBody *body = in->body;
  if (!optimizer_is_waited_for(in->caller) && in->options->keep_caller_node == KEEP_CALLER_NOTHING)
    return true;
  TRY(add_no_op(in, "output_control_node", &in->output_control));
  bool whole = in->options->as_one_step;
  bool controls = !whole && in->options->output_control_src == OUTPUT_CONTROL_CONTROL_OUTPUTS;
  if (whole && body->num_rets == 0) TRY(wait_for_whole_call(in, NULL, in->output_control));
  for (int i = 0; !controls && i < body->num_rets; i++)
    TRY(add_control(in, in->outputs[i], in->output_control));
  for (int i = 0; controls && i < body->num_control_rets; i++) {
    Node *source = in->copies[body->control_ret_nodes[i]->id];
    if (source) TRY(add_control(in, source, in->output_control));
  }
  if (in->output_control->num_control_inputs == 0 && in->input_control)
    TRY(add_control(in, in->input_control, in->output_control));
  return true;
}

/* For all nodes in topological order. A mismatch becomes an error when the step runs, as in a call. */
static bool infer_shapes(Inliner *in) {
  Node **order;
  int64_t count;
  TRY(optimizer_order(in->body->graph, in->arena, &order, &count, in->status));
  for (int64_t i = 0; i < count; i++) {
    Node *copy = in->copies[order[i]->id];
    if (copy) TRY(graph_infer_leniently(in->graph, copy, in->status));
  }
  return true;
}

/* --- replacing the call --- */

/* Edges that could not be moved when memory ran out still lead to the call, which still exists. */
static bool move_consumers(Inliner *in) {
  NodeOutput *outputs = arena_calloc(in->arena, in->body->num_rets, sizeof *outputs);
  if (!outputs) return oom(in);
  for (int i = 0; i < in->body->num_rets; i++) outputs[i].node = in->outputs[i];
  return optimizer_move_consumers(in->graph, in->caller, outputs, in->output_control, in->status);
}

/* Begins the node that gets the name of the call. */
static void begin_keeper(Inliner *in, NodeBuilder *keeper) {
  const Node *caller = in->caller;
  bool values = in->options->keep_caller_node == KEEP_CALLER_FETCHABLE && caller->num_outputs > 0;
  node_builder(keeper, in->graph, values ? "IdentityN" : "NoOp", caller->name);
  node_builder_device(keeper, caller->def->device);
  if (values) node_builder_types(keeper, "T", caller->output_types, caller->num_outputs);
  for (int i = 0; values && i < caller->num_outputs; i++)
    node_builder_input(keeper, (NodeOutput){in->outputs[i], 0});
  node_builder_control(keeper, in->output_control);
}

/* The name is free only when the call was removed. */
static bool finish_keeper(Inliner *in, NodeBuilder *keeper) {
  Node *node;
  return node_builder_finish_bare(keeper, &node, in->status) &&
         graph_infer_leniently(in->graph, node, in->status);
}

/* --- a call --- */

static bool add_all(Inliner *in) {
  const FunctionBody *body = in->body;
  in->prefix = arena_printf(in->arena, "%s/", in->caller->name);
  in->copies = arena_calloc(in->arena, graph_num_node_ids(body->graph), sizeof *in->copies);
  in->outputs = arena_calloc(in->arena, body->num_rets, sizeof *in->outputs);
  if (!in->prefix || !in->copies || !in->outputs) return oom(in);
  return add_inputs(in) && copy_nodes(in) && copy_edges(in) && add_outputs(in) && rename_colocations(in) &&
         add_output_control(in) && infer_shapes(in);
}

static void remove_all(Inliner *in) {
  for (int64_t id = graph_num_node_ids(in->graph) - 1; id >= in->first_id; id--)
    graph_remove_node(in->graph, graph_node(in->graph, id));
}

static void tell(const FunctionBodySource *source, Inliner *in) {
  if (!source || !source->inlined) return;
  for (int64_t id = in->first_id; id < graph_num_node_ids(in->graph); id++) {
    Node *node = graph_node(in->graph, id);
    if (node) source->inlined(source->owner, in->caller, node);
  }
}

static bool inline_body(Inliner *in, const FunctionBodySource *source) {
  NodeBuilder keeper;
  bool keeps = in->options->keep_caller_node != KEEP_CALLER_NOTHING;
  bool ok = add_all(in);
  if (ok && keeps) begin_keeper(in, &keeper);
  if (!ok || (keeps && !node_builder_ok(&keeper, in->status))) {
    remove_all(in);
    return false;
  }
  TRY(move_consumers(in));
  graph_remove_node(in->graph, in->caller);
  ok = !keeps || finish_keeper(in, &keeper);
  tell(source, in);
  return ok;
}

bool graph_inline_function_body(Graph *graph, Node *caller, const FunctionBody *body,
                                const InlineOptions *options, const FunctionBodySource *source,
                                Status *status) {
  TRY(graph_check_node(graph, caller, status));
  Status mismatch;
  status_init(&mismatch);
  if (!inline_validate(caller, body, options, &mismatch))
    return status_set(status, CODE_INTERNAL, "Inlining mismatch: %s", mismatch.message);
  Inliner in = {.graph = graph,
                .caller = caller,
                .body = body,
                .options = options,
                .status = status,
                .arena = arena_new(),
                .first_id = graph_num_node_ids(graph)};
  if (!in.arena) return oom(&in);
  bool ok = inline_body(&in, source);
  arena_free(in.arena);
  return ok;
}
