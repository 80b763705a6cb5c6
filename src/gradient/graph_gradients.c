/* Adds gradients to a graph: finds the nodes between the xs and the ys, then walks them backwards from the
 * ys. */
#include "gradient/graph_gradients.h"

#include <string.h>

#include "base/alloc.h"
#include "function/function_splice.h"
#include "gradient/array_gradient.h"
#include "gradient/gradients.h"
#include "gradient/stack_gradient.h"
#include "graph/node_class.h"

static bool oom(Gradients *g) { return status_oom(g->status, "gradients"); }

/* --- nodes between the xs and the ys --- */

static bool is_x(const Gradients *g, const Node *node, int index) {
  for (int i = g->first_x[node->id]; i > 0; i = g->next_x[i - 1]) {
    if (g->xs[i - 1].index == index) return true;
  }
  return false;
}

bool gradients_is_marked(const Gradients *g, const Node *node, int index) {
  if (!gradient_flows_through(node->output_types[index])) return false;
  return g->derived[node->id] || (g->first_x[node->id] > 0 && is_x(g, node, index));
}

/* Another round is not part of the gradient of values in a round. */
static bool ends_round(const Gradients *g, const Node *node) {
  return g->frames && node_is_next_iteration(node) && frame_scope_has(g->frames, node);
}

typedef struct Marking {
  Gradients *g;
  uint8_t *on_stacks; /* per id */
  Node **queue;
  int64_t tail;
} Marking;

static void derive(void *argument, Node *node) {
  Marking *m = argument;
  if (m->g->derived[node->id] || m->g->stops[node->id]) return;
  m->g->derived[node->id] = 1;
  m->queue[m->tail++] = node;
}

static void begin_marking(Marking *m) {
  Gradients *g = m->g;
  for (int i = 0; i < g->options->num_stops; i++) g->stops[g->options->stops[i].node->id] = 1;
  for (int i = 0; i < g->num_xs; i++) {
    Node *node = g->xs[i].node;
    g->next_x[i] = g->first_x[node->id];
    g->first_x[node->id] = i + 1;
  }
  for (int i = 0; i < g->num_xs; i++) {
    if (g->next_x[i] == 0) m->queue[m->tail++] = g->xs[i].node;
  }
}

static bool mark_readers(Marking *m, const Node *node) {
  const Gradients *g = m->g;
  if (ends_round(g, node)) return true;
  if (stack_gradient_is_push(node) && g->derived[node->id])
    TRY(stack_gradient_find_pops((Node *)node, m->on_stacks, derive, m, g->status));
  for (int64_t k = 0; k < node->num_out_edges; k++) {
    const Edge *edge = node->out_edges[k];
    if (!edge_is_control(edge) && gradients_is_marked(g, node, edge->src_output) &&
        !array_gradient_is_handle(edge) && !gradient_is_none(g->library, edge->dst->op, edge->dst->def))
      derive(m, edge->dst);
  }
  return true;
}

static bool mark_derived(Gradients *g) {
  /* The walk starts at the x nodes, which need not be derived: each node enters the queue at most twice. */
  Marking m = {.g = g, .on_stacks = mem_calloc(g->walk.num_ids, 1)};
  m.queue = mem_calloc(2 * g->walk.num_ids, sizeof *m.queue);
  bool ok = (m.on_stacks && m.queue) || oom(g);
  if (ok) begin_marking(&m);
  for (int64_t head = 0; ok && head < m.tail; head++) ok = mark_readers(&m, m.queue[head]);
  mem_free(m.on_stacks);
  mem_free(m.queue);
  return ok;
}

/* Inputs that a node gained later come from new nodes. */
const Edge *gradients_edge(const Gradients *g, const Node *node, int i) {
  const Edge *edge = node->inputs[i];
  if (!g->derived[node->id] || !edge || edge->src->id >= g->walk.num_ids || array_gradient_is_handle(edge))
    return NULL;
  return gradients_is_marked(g, edge->src, edge->src_output) ? edge : NULL;
}

static bool mark_between(Gradients *g, const NodeOutput *ys, int num_ys) {
  for (int i = 0; i < num_ys; i++) {
    if (gradients_is_marked(g, ys[i].node, ys[i].index)) TRY(backward_enter(&g->walk, ys[i].node));
  }
  return backward_find_members(&g->walk);
}

/* --- one node --- */

static bool bad_gradient(Gradients *g, const Node *node, const FunctionBody *body, const char *what) {
  status_invalid(g->status, "The gradient function %s of op %s %s", body->name, node->def->op, what);
  return node_attach(node->name, g->status);
}

/* The function must take x and dy (and all outputs between them if it reads intermediates), and give one
 * gradient per x, with matching types. */
static bool check_body(Gradients *g, const Node *node, const GradientEntry *gradient) {
  const FunctionBody *body = gradient->body;
  int total = node->num_inputs + node->num_outputs;
  if (gradient->keeps ? body->num_args < total + node->num_outputs
                      : body->num_args != total || body->num_rets != node->num_inputs) {
    return bad_gradient(g, node, body,
                        "must take the op's inputs and one gradient per output, and give one gradient per "
                        "input");
  }
  for (int i = 0; i < node->num_inputs; i++) {
    int type = dtype_base(
        !node->inputs[i] ? body->arg_types[i]
                         : node_output_type((NodeOutput){node->inputs[i]->src, node->inputs[i]->src_output}));
    if (dtype_base(body->arg_types[i]) != type)
      return bad_gradient(g, node, body, "takes inputs of other types than the op");
    if (type != DT_RESOURCE && dtype_base(body->ret_types[i]) != type)
      return bad_gradient(g, node, body, "gives gradients of other types than the op's inputs");
  }
  return true;
}

static NodeOutput input_of(const Node *node, int i) { return edge_value(node->inputs[i]); }

/* The gradient of a node, with its body if it has a function. */
static bool look_up_gradient(Gradients *g, const Node *node, const bool *flows, GradientEntry **gradient) {
  NodeOutput first;
  GradientQuery query = {node->op, node->def, flows, node->num_outputs, g->library->functions, NULL};
  if (node->num_inputs > 0 && node->inputs[0])
    TRY(array_gradient_origin(input_of(node, 0), &first, &query.array, g->arena, g->status));
  TRY(gradient_look_up(g->library, &query, gradient, g->status));
  GradientEntry *entry = *gradient;
  if (!entry->function || entry->body) return true;
  if (!function_body_new_to_splice(g->library->functions, entry->function, entry->attrs, entry->num_attrs,
                                   &entry->body, g->status))
    return status_append(g->status, "\n\tin the gradient of op %s", node->def->op);
  return check_body(g, node, entry);
}

/* Outputs without a gradient get zeros, if the gradient function reads them. */
static bool add_zeros(Gradients *g, const Node *node, const FunctionBody *body, const SpliceOptions *options,
                      NodeOutput *inputs, int first_dy, bool *needed) {
  bool missing = false;
  for (int i = first_dy; i < body->num_args; i++) missing = missing || !inputs[i].node;
  if (!missing) return true;
  TRY(function_splice_needed_args(body, inputs, options, needed, g->status));
  for (int i = first_dy; i < body->num_args; i++) {
    if (inputs[i].node || !needed[i]) continue;
    NodeOutput output = {(Node *)node, i - first_dy};
    TRY(gradient_add_op(g->graph, "ZerosLike", g->scope, &output, 1, &inputs[i], g->status));
  }
  return true;
}

/* --- nodes that keep intermediates --- */

static bool extend(Gradients *g, Node *node, const ForwardChange *change) {
  int count = 0;
  int64_t first = graph_num_node_ids(g->graph);
  NodeOutput *starts = arena_calloc(g->arena, change->num_lists + 2, sizeof *starts);
  BodyWork work;
  if (!starts) return oom(g);
  gradients_work(g, node->name, &work);
  work.pivot = g->site->pivot;
  if (change->counts) TRY(body_work_int32(&work, "no_rounds", 0, &starts[count++]));
  for (int i = 0; i < change->num_lists; i++)
    TRY(body_work_empty_list(&work, change->lists[i], &starts[count++]));
  return gradient_site_add_forward(g->site, first) &&
         gradient_site_extend(g->site, node, change->def, starts, count);
}

/* --- arrivals --- */

/* A gradient has the shape of its value. Inference does not find the shape of results of loops and
 * branches. */
static bool give_shape(Gradients *g, const Edge *edge, NodeOutput gradient) {
  ShapeHandle shape = graph_output_shape(edge_value(edge));
  bool resource = dtype_base(edge->src->output_types[edge->src_output]) == DT_RESOURCE;
  if (resource || !shape_rank_known(shape) || shape_rank_known(graph_output_shape(gradient))) return true;
  int64_t *dims = mem_calloc(shape_rank(shape) + 1, sizeof *dims);
  if (!dims) return oom(g);
  for (int32_t i = 0; i < shape_rank(shape); i++) dims[i] = dim_value(shape->dims[i]);
  bool ok = graph_set_shape(g->graph, gradient, shape_rank(shape), dims, g->status);
  mem_free(dims);
  return ok;
}

bool gradients_arrive(Gradients *g, NodeOutput value, NodeOutput gradient) {
  if (g->conditional) {
    const Conditions *own, *extra;
    TRY(conditions_of(&g->site->conditions, value, &own));
    TRY(gradient_site_conditions(g->site, gradient, own, &extra));
    if (extra->count > 0) {
      BodyWork work;
      NodeOutput zeros;
      gradients_work(g, g->scope, &work);
      TRY(body_work_zeros(&work, value, node_output_type(gradient), &zeros));
      TRY(switch_gradient_complete(&work, gradient, extra, zeros, &gradient));
    }
  }
  return backward_arrive(&g->walk, value, gradient);
}

bool gradients_arrive_at(Gradients *g, const Edge *edge, NodeOutput gradient) {
  return give_shape(g, edge, gradient) && gradients_arrive(g, edge_value(edge), gradient);
}

void gradients_work(Gradients *g, const char *scope, BodyWork *work) {
  *work = (BodyWork){.library = g->library,
                     .graph = g->graph,
                     .arena = g->arena,
                     .status = g->status,
                     .scope = scope[0] == 0 ? NULL : scope,
                     .site = g->site};
}

/* --- one op --- */

/* Splices in the gradient of a node. Its arguments are x, the outputs of a node that keeps intermediates,
 * and `dys`. */
static bool splice_gradient(Gradients *g, Node *node, const GradientEntry *gradient, const NodeOutput *dys) {
  const FunctionBody *body = gradient->body;
  int num_x = node->num_inputs, num_dys = node->num_outputs, first_dy = body->num_args - num_dys;
  NodeOutput *inputs = arena_calloc(g->arena, body->num_args + 1, sizeof *inputs);
  NodeOutput *outputs = arena_calloc(g->arena, num_x + 1, sizeof *outputs);
  bool *wanted = arena_calloc(g->arena, num_x + 1, 1),
       *needed = arena_calloc(g->arena, body->num_args + 1, 1);
  const char *array;
  bool any = false;
  if (!inputs || !outputs || !wanted || !needed) return oom(g);
  for (int i = 0; i < num_x; i++) {
    inputs[i] = input_of(node, i);
    wanted[i] = gradients_edge(g, node, i) && (!gradient->no_flow || !gradient->no_flow[i]);
    any = any || wanted[i];
  }
  if (!any) return true;
  if (inputs[0].node) TRY(array_gradient_origin(inputs[0], &inputs[0], &array, g->arena, g->status));
  if (gradient->forward) TRY(extend(g, node, gradient->forward));
  for (int i = num_x; i < first_dy; i++) inputs[i] = (NodeOutput){node, i - num_x};
  for (int i = 0; i < num_dys; i++) inputs[first_dy + i] = dys[i];
  SpliceOptions options = {.wanted_outputs = wanted, .reuse = node};
  TRY(add_zeros(g, node, body, &options, inputs, first_dy, needed));
  StrBuf scope = {0};
  strbuf_printf(&scope, "%s%s%s_grad", g->scope, g->scope[0] == 0 ? "" : "/", node->name);
  options.scope = strbuf_text(&scope);
  bool ok = strbuf_ok(&scope, g->status) &&
            function_splice_body(g->graph, body, inputs, &options, outputs, g->status);
  strbuf_free(&scope);
  TRY(ok);
  for (int i = 0; i < num_x; i++) {
    if (wanted[i]) TRY(gradients_arrive_at(g, node->inputs[i], outputs[i]));
  }
  return true;
}

/* Sums the gradients of the outputs and passes the sums through the node's gradient. */
static bool pass_through(Gradients *g, Node *node) {
  bool arrived = false;
  for (int i = 0; i < node->num_outputs; i++) arrived = arrived || backward_has_arrived(&g->walk, node, i);
  if (!arrived) return true;
  NodeOutput *dys = arena_calloc(g->arena, node->num_outputs + 1, sizeof *dys);
  bool *flows = arena_calloc(g->arena, node->num_outputs + 1, sizeof *flows);
  GradientEntry *gradient = NULL;
  if (!dys || !flows) return oom(g);
  for (int i = 0; i < node->num_outputs; i++) flows[i] = backward_has_arrived(&g->walk, node, i);
  if (g->derived[node->id]) TRY(look_up_gradient(g, node, flows, &gradient));
  for (int i = 0; i < node->num_outputs; i++) TRY(backward_sum(&g->walk, (NodeOutput){node, i}, &dys[i]));
  return !gradient || !gradient->body || splice_gradient(g, node, gradient, dys);
}

static bool check_growth(Gradients *g, int64_t before) {
  if (g->library->depth == 0) return true;
  g->library->nodes_left -= graph_num_node_ids(g->graph) - before;
  return g->library->nodes_left >= 0 ||
         status_set(g->status, CODE_RESOURCE_EXHAUSTED,
                    "The gradients of nested functions have more than %d nodes", GRADIENT_MAX_FUNCTION_NODES);
}

/* --- the walk --- */

/* LoopCond stands for its loop. */
static bool is_of_frame(const Node *node) {
  return node_is_enter(node) || node_is_exit(node) || node_is_loop_cond(node);
}

static bool enter(void *self, Node *node) {
  Gradients *g = self;
  if (!g->derived[node->id]) return true;
  g->conditional = g->conditional || node_is_switch(node) || node_is_merge(node);
  return !(is_of_frame(node) || node_is_control_flow(node)) || frame_gradient_enter(g, node);
}

static int num_sources(void *self, const Node *node) {
  return is_of_frame(node) ? frame_gradient_num_sources(self, node) : node->num_inputs;
}

static Node *source(void *self, const Node *node, int i) {
  if (is_of_frame(node)) return frame_gradient_source(self, node, i);
  const Edge *edge = gradients_edge(self, node, i);
  return !edge ? NULL : edge->src;
}

static bool pass(void *self, Node *node) {
  Gradients *g = self;
  int64_t before = graph_num_node_ids(g->graph);
  bool derived = g->derived[node->id], ok;
  if (g->frames) frame_scope_stand(g->frames, node);
  if (is_of_frame(node)) ok = frame_gradient_pass(g, node);
  else if (derived && node_is_switch(node)) ok = switch_gradient_of_switch(g, node);
  else if (derived && node_is_merge(node)) ok = switch_gradient_of_merge(g, node);
  else ok = pass_through(g, node);
  return ok && check_growth(g, before);
}

static bool add_values(void *self, const NodeOutput *values, int count, NodeOutput *sum) {
  Gradients *g = self;
  return gradient_add_op(g->graph, "AddN", g->scope, values, count, sum, g->status);
}

static bool seed(Gradients *g, const NodeOutput *ys, int num_ys, const NodeOutput *dys) {
  for (int i = 0; i < num_ys; i++) {
    if (!gradients_is_marked(g, ys[i].node, ys[i].index)) continue;
    NodeOutput dy = !dys ? (NodeOutput){NULL, 0} : dys[i];
    if (!dy.node) TRY(gradient_add_op(g->graph, "OnesLike", g->scope, &ys[i], 1, &dy, g->status));
    TRY(gradients_arrive(g, ys[i], dy));
  }
  return true;
}

static bool begin(Gradients *g) {
  const BackwardVisitor visitor = {g, enter, num_sources, source, pass, add_values};
  int64_t ids = graph_num_node_ids(g->graph);
  TRY(backward_new(&g->walk, g->graph, &visitor, g->status));
  g->arena = g->walk.arena;
  g->derived = mem_calloc(ids, sizeof *g->derived);
  g->stops = mem_calloc(ids, sizeof *g->stops);
  g->first_x = mem_calloc(ids, sizeof *g->first_x);
  g->next_x = mem_calloc(g->num_xs, sizeof *g->next_x);
  return (g->derived && g->stops && g->first_x && g->next_x) || oom(g);
}

static void end(Gradients *g) {
  backward_free(&g->walk);
  mem_free(g->derived);
  mem_free(g->stops);
  mem_free(g->first_x);
  mem_free(g->next_x);
  mem_free(g->units);
}

static bool differentiate(Gradients *g, const NodeOutput *ys, int num_ys, const NodeOutput *dys,
                          NodeOutput *dxs) {
  bool all;
  BodyWork work;
  int64_t first = graph_num_node_ids(g->graph);
  TRY(begin(g));
  TRY(mark_derived(g));
  TRY(mark_between(g, ys, num_ys));
  gradients_work(g, g->scope, &work);
  if (g->frames) TRY(frame_scope_begin(g->frames, &work, ys, num_ys));
  TRY(seed(g, ys, num_ys, dys));
  TRY(backward_run(&g->walk, &all));
  if (!all)
    return status_set(g->status, CODE_UNIMPLEMENTED,
                      "The path from the xs to the ys leads through a cycle of nodes that is not a loop");
  for (int i = 0; i < g->num_xs; i++) {
    dxs[i] = (NodeOutput){NULL, 0};
    if (backward_is_member(&g->walk, g->xs[i].node)) TRY(backward_sum(&g->walk, g->xs[i], &dxs[i]));
  }
  return !g->frames || frame_scope_close(g->frames, &work, first);
}

bool gradients_add(GradientLibrary *library, GradientSite *site, const NodeOutput *ys, int num_ys,
                   const NodeOutput *xs, int num_xs, const NodeOutput *dys, const GradientOptions *options,
                   NodeOutput *dxs, Status *status) {
  Gradients g = {.library = library,
                 .site = site,
                 .graph = site->graph,
                 .xs = xs,
                 .num_xs = num_xs,
                 .options = options,
                 .scope = options->scope,
                 .status = status,
                 .frames = library->depth == 0 ? site->scope : NULL};
  int64_t ids = graph_num_node_ids(site->graph);
  const Extension *last = site->extensions;
  bool ok = differentiate(&g, ys, num_ys, dys, dxs);
  if (!ok) {
    gradient_site_remove(site, ids, false);
    gradient_site_shrink(site, last);
  }
  end(&g);
  return ok;
}
