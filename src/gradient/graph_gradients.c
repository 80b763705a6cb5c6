/* Adding gradients to a graph: marks what lies between the xs and the ys, then walks it backwards from the
 * ys. */
#include "gradient/graph_gradients.h"

#include <string.h>

#include "base/alloc.h"
#include "function/function_splice.h"
#include "gradient/body_work.h"

/* A gradient that has arrived at an output. */
typedef struct Contribution {
  NodeOutput value;
  struct Contribution *next;
} Contribution;

typedef struct OutputGradients {
  Contribution *first, *last; /* in the order of arrival */
  int count;
} OutputGradients;

/* A node that was made to keep what its gradient looks at. */
typedef struct Extension {
  const NodeBefore *before;
  struct Extension *previous;
} Extension;

typedef struct Backward {
  GradientLibrary *library;
  Graph *graph;
  const NodeOutput *xs;
  int num_xs;
  const GradientOptions *options;
  const char *scope; /* of the options */
  Status *status;
  Arena *arena;                /* of this call */
  int64_t num_ids;             /* of nodes that were there before */
  uint8_t *derived;            /* per id: the node's outputs depend on an x through its inputs */
  uint8_t *stops;              /* per id: they are taken as constants */
  int *first_x;                /* per id: 1 + an x that is an output of this node */
  int *next_x;                 /* per x: 1 + another one of the same node */
  uint8_t *between;            /* per id: on a path from an x to a y */
  int64_t *pending;            /* per id: edges to nodes between, along which a gradient may still come */
  OutputGradients **gradients; /* per id: one for each output, for nodes between */
  Extension *extensions;       /* the last one first */
  Node **queue;
  int64_t head, tail;
} Backward;

static bool oom(Backward *b) { return status_oom(b->status, "gradients"); }

/* --- what lies between --- */

static bool is_x(const Backward *b, const Node *node, int index) {
  for (int i = b->first_x[node->id]; i > 0; i = b->next_x[i - 1]) {
    if (b->xs[i - 1].index == index) return true;
  }
  return false;
}

/* Whether a gradient at this output would help an x. */
static bool is_marked(const Backward *b, const Node *node, int index) {
  if (!gradient_flows_through(node->output_types[index])) return false;
  return b->derived[node->id] || (b->first_x[node->id] > 0 && is_x(b, node, index));
}

static void mark_derived(Backward *b) {
  b->tail = 0;
  for (int i = 0; i < b->options->num_stops; i++) b->stops[b->options->stops[i].node->id] = 1;
  for (int i = 0; i < b->num_xs; i++) {
    Node *node = b->xs[i].node;
    b->next_x[i] = b->first_x[node->id];
    b->first_x[node->id] = i + 1;
  }
  /* The x nodes themselves are walked from without being derived; each node enters the queue at most
   * twice. */
  for (int i = 0; i < b->num_xs; i++) {
    if (b->next_x[i] == 0) b->queue[b->tail++] = b->xs[i].node;
  }
  for (b->head = 0; b->head < b->tail; b->head++) {
    Node *node = b->queue[b->head];
    for (int64_t k = 0; k < node->num_out_edges; k++) {
      const Edge *edge = node->out_edges[k];
      if (edge_is_control(edge) || b->derived[edge->dst->id] || b->stops[edge->dst->id]) continue;
      if (!is_marked(b, node, edge->src_output) ||
          gradient_is_none(b->library, edge->dst->op, edge->dst->def))
        continue;
      b->derived[edge->dst->id] = 1;
      b->queue[b->tail++] = edge->dst;
    }
  }
}

static bool enter(Backward *b, Node *node) {
  b->between[node->id] = 1;
  b->gradients[node->id] = arena_calloc(b->arena, node->num_outputs + 1, sizeof(OutputGradients));
  b->queue[b->tail++] = node;
  return b->gradients[node->id] || oom(b);
}

/* The source of a data input, when a gradient of it is wanted; else NULL. */
static const Edge *wanted_edge(const Backward *b, const Node *node, int i) {
  const Edge *edge = node->inputs[i];
  return edge && edge->src->id < b->num_ids && is_marked(b, edge->src, edge->src_output) ? edge : NULL;
}

static bool mark_between(Backward *b, const NodeOutput *ys, int num_ys) {
  b->tail = 0;
  for (int i = 0; i < num_ys; i++) {
    if (is_marked(b, ys[i].node, ys[i].index) && !b->between[ys[i].node->id]) TRY(enter(b, ys[i].node));
  }
  for (b->head = 0; b->head < b->tail; b->head++) {
    Node *node = b->queue[b->head];
    if (!b->derived[node->id]) continue;
    for (int i = 0; i < node->num_inputs; i++) {
      const Edge *edge = wanted_edge(b, node, i);
      if (!edge) continue;
      b->pending[edge->src->id]++;
      if (!b->between[edge->src->id]) TRY(enter(b, edge->src));
    }
  }
  return true;
}

/* --- gradients that arrive --- */

static bool arrive(Backward *b, const Node *node, int index, NodeOutput value) {
  Contribution *contribution = arena_alloc(b->arena, (int64_t)sizeof *contribution);
  if (!contribution) return oom(b);
  *contribution = (Contribution){value, NULL};
  OutputGradients *at = &b->gradients[node->id][index];
  *(!at->last ? &at->first : &at->last->next) = contribution;
  at->last = contribution;
  at->count++;
  return true;
}

/* The sum of what arrived; afterwards it is the only contribution. A NULL node when nothing did. */
static bool sum(Backward *b, const Node *node, int index, NodeOutput *value) {
  OutputGradients *at = &b->gradients[node->id][index];
  *value = (NodeOutput){NULL, 0};
  if (at->count == 0) return true;
  if (at->count > 1) {
    NodeOutput *terms = mem_calloc(at->count, sizeof(NodeOutput));
    if (!terms) return oom(b);
    int n = 0;
    for (const Contribution *c = at->first; c; c = c->next) terms[n++] = c->value;
    bool ok = gradient_add_op(b->graph, "AddN", b->scope, terms, n, &at->first->value, b->status);
    mem_free(terms);
    TRY(ok);
    at->first->next = NULL;
    at->last = at->first;
    at->count = 1;
  }
  *value = at->first->value;
  return true;
}

/* --- one node --- */

static bool bad_gradient(Backward *b, const Node *node, const FunctionBody *body, const char *what) {
  status_invalid(b->status, "The gradient function %s of op %s %s", body->name, node->def->op, what);
  return node_attach(node->name, b->status);
}

/* x and dy in, for a gradient that keeps with all outputs between, one gradient per x out, with fitting
 * types.
 */
static bool check_body(Backward *b, const Node *node, const GradientEntry *gradient) {
  const FunctionBody *body = gradient->body;
  int total = node->num_inputs + node->num_outputs;
  if (gradient->keeps ? body->num_args < total + node->num_outputs
                      : body->num_args != total || body->num_rets != node->num_inputs) {
    return bad_gradient(b, node, body,
                        "must take the op's inputs and one gradient per output, and give one gradient per "
                        "input");
  }
  for (int i = 0; i < node->num_inputs; i++) {
    int type = dtype_base(
        !node->inputs[i] ? body->arg_types[i]
                         : node_output_type((NodeOutput){node->inputs[i]->src, node->inputs[i]->src_output}));
    if (dtype_base(body->arg_types[i]) != type)
      return bad_gradient(b, node, body, "takes inputs of other types than the op");
    if (type != DT_RESOURCE && dtype_base(body->ret_types[i]) != type)
      return bad_gradient(b, node, body, "gives gradients of other types than the op's inputs");
  }
  return true;
}

/* The gradient of a node, with its body if it has a function. */
static bool look_up_gradient(Backward *b, const Node *node, const bool *flows, GradientEntry **gradient) {
  GradientQuery query = {node->op, node->def, flows, node->num_outputs, b->library->functions};
  TRY(gradient_look_up(b->library, &query, gradient, b->status));
  GradientEntry *entry = *gradient;
  if (!entry->function || entry->body) return true;
  if (!function_body_new_to_splice(b->library->functions, entry->function, entry->attrs, entry->num_attrs,
                                   &entry->body, b->status))
    return status_append(b->status, "\n\tin the gradient of op %s", node->def->op);
  return check_body(b, node, entry);
}

/* Outputs at which no gradient arrived get zeros, if the gradient looks at them. */
static bool add_zeros(Backward *b, const Node *node, const FunctionBody *body, const SpliceOptions *options,
                      NodeOutput *inputs, int first_dy, bool *needed) {
  bool missing = false;
  for (int i = first_dy; i < body->num_args; i++) missing = missing || !inputs[i].node;
  if (!missing) return true;
  TRY(function_splice_needed_args(body, inputs, options, needed, b->status));
  for (int i = first_dy; i < body->num_args; i++) {
    if (inputs[i].node || !needed[i]) continue;
    NodeOutput output = {(Node *)node, i - first_dy};
    TRY(gradient_add_op(b->graph, "ZerosLike", b->scope, &output, 1, &inputs[i], b->status));
  }
  return true;
}

/* --- nodes that keep --- */

/* What a loop that keeps starts with: 0, or an empty list of elements of a type. */
static bool add_start(Backward *b, const Node *node, DataType type, NodeOutput *start) {
  BodyWork work = {.library = b->library,
                   .graph = b->graph,
                   .arena = b->arena,
                   .status = b->status,
                   .scope = node->name};
  return type == DT_INVALID ? body_work_int32(&work, "no_rounds", 0, start)
                            : body_work_empty_list(&work, type, start);
}

static bool extend(Backward *b, Node *node, const ForwardChange *change) {
  int count = 0;
  NodeOutput *starts = arena_calloc(b->arena, change->num_lists + 2, sizeof *starts);
  Extension *extension = arena_calloc(b->arena, 1, (int64_t)sizeof *extension);
  if (!starts || !extension) return oom(b);
  if (change->counts) TRY(add_start(b, node, DT_INVALID, &starts[count++]));
  for (int i = 0; i < change->num_lists; i++) TRY(add_start(b, node, change->lists[i], &starts[count++]));
  TRY(graph_extend_node(b->graph, node, change->def, starts, count, &extension->before, b->status));
  extension->previous = b->extensions;
  b->extensions = extension;
  return true;
}

/* A gradient has the shape of its value: inference does not know that of what comes out of a loop or a
 * branch. */
static bool give_shape(Backward *b, const Edge *edge, NodeOutput gradient) {
  ShapeHandle shape = graph_output_shape((NodeOutput){edge->src, edge->src_output});
  bool resource = dtype_base(edge->src->output_types[edge->src_output]) == DT_RESOURCE;
  if (resource || !shape_rank_known(shape) || shape_rank_known(graph_output_shape(gradient))) return true;
  int64_t *dims = mem_calloc(shape_rank(shape) + 1, sizeof *dims);
  if (!dims) return oom(b);
  for (int32_t i = 0; i < shape_rank(shape); i++) dims[i] = dim_value(shape->dims[i]);
  bool ok = graph_set_shape(b->graph, gradient, shape_rank(shape), dims, b->status);
  mem_free(dims);
  return ok;
}

/* The arguments of a gradient: x, the outputs of a node that keeps, and dy, which stands in `dys`. */
static bool splice_gradient(Backward *b, Node *node, const GradientEntry *gradient, const NodeOutput *dys) {
  const FunctionBody *body = gradient->body;
  int num_x = node->num_inputs, num_dys = node->num_outputs, first_dy = body->num_args - num_dys;
  NodeOutput *inputs = arena_calloc(b->arena, body->num_args + 1, sizeof *inputs);
  NodeOutput *outputs = arena_calloc(b->arena, num_x + 1, sizeof *outputs);
  bool *wanted = arena_calloc(b->arena, num_x + 1, 1),
       *needed = arena_calloc(b->arena, body->num_args + 1, 1);
  bool any = false;
  if (!inputs || !outputs || !wanted || !needed) return oom(b);
  for (int i = 0; i < num_x; i++) {
    const Edge *edge = node->inputs[i];
    inputs[i] = !edge ? (NodeOutput){NULL, 0} : (NodeOutput){edge->src, edge->src_output};
    wanted[i] = wanted_edge(b, node, i) && (!gradient->no_flow || !gradient->no_flow[i]);
    any = any || wanted[i];
  }
  if (!any) return true;
  if (gradient->forward) TRY(extend(b, node, gradient->forward));
  for (int i = num_x; i < first_dy; i++) inputs[i] = (NodeOutput){node, i - num_x};
  for (int i = 0; i < num_dys; i++) inputs[first_dy + i] = dys[i];
  SpliceOptions options = {.wanted_outputs = wanted, .reuse = node};
  TRY(add_zeros(b, node, body, &options, inputs, first_dy, needed));
  StrBuf scope = {0};
  strbuf_printf(&scope, "%s%s%s_grad", b->scope, b->scope[0] == 0 ? "" : "/", node->name);
  options.scope = strbuf_text(&scope);
  bool ok = strbuf_ok(&scope, b->status) &&
            function_splice_body(b->graph, body, inputs, &options, outputs, b->status);
  strbuf_free(&scope);
  TRY(ok);
  for (int i = 0; i < num_x; i++) {
    if (!wanted[i]) continue;
    TRY(give_shape(b, node->inputs[i], outputs[i]));
    TRY(arrive(b, node->inputs[i]->src, node->inputs[i]->src_output, outputs[i]));
  }
  return true;
}

/* Sums what arrived at the outputs and passes it through the node's gradient. */
static bool pass_through(Backward *b, Node *node) {
  bool arrived = false;
  for (int i = 0; i < node->num_outputs; i++) arrived = arrived || b->gradients[node->id][i].count > 0;
  if (!arrived) return true;
  NodeOutput *dys = arena_calloc(b->arena, node->num_outputs + 1, sizeof *dys);
  bool *flows = arena_calloc(b->arena, node->num_outputs + 1, sizeof *flows);
  GradientEntry *gradient = NULL;
  if (!dys || !flows) return oom(b);
  for (int i = 0; i < node->num_outputs; i++) flows[i] = b->gradients[node->id][i].count > 0;
  if (b->derived[node->id]) TRY(look_up_gradient(b, node, flows, &gradient));
  for (int i = 0; i < node->num_outputs; i++) TRY(sum(b, node, i, &dys[i]));
  return !gradient || !gradient->body || splice_gradient(b, node, gradient, dys);
}

static bool check_growth(Backward *b, int64_t before) {
  if (b->library->depth == 0) return true;
  b->library->nodes_left -= graph_num_node_ids(b->graph) - before;
  return b->library->nodes_left >= 0 ||
         status_set(b->status, CODE_RESOURCE_EXHAUSTED,
                    "The gradients of nested functions have more than %d nodes", GRADIENT_MAX_FUNCTION_NODES);
}

/* --- the walk --- */

static bool walk(Backward *b) {
  int64_t members = b->tail, done = 0;
  /* The queue holds the members: those that wait for nothing move to its front and start it. */
  int64_t ready = 0;
  for (int64_t i = 0; i < members; i++) {
    Node *node = b->queue[i];
    if (b->pending[node->id] == 0) b->queue[ready++] = node;
  }
  b->head = 0;
  b->tail = ready;
  while (b->head < b->tail) {
    Node *node = b->queue[b->head++];
    int64_t before = graph_num_node_ids(b->graph);
    TRY(pass_through(b, node));
    TRY(check_growth(b, before));
    done++;
    for (int i = 0; b->derived[node->id] && i < node->num_inputs; i++) {
      const Edge *edge = wanted_edge(b, node, i);
      if (edge && --b->pending[edge->src->id] == 0) b->queue[b->tail++] = edge->src;
    }
  }
  if (done == members) return true;
  return status_set(b->status, CODE_UNIMPLEMENTED,
                    "The path from the xs to the ys leads through a loop, whose gradient is not known");
}

static bool seed(Backward *b, const NodeOutput *ys, int num_ys, const NodeOutput *dys) {
  for (int i = 0; i < num_ys; i++) {
    if (!is_marked(b, ys[i].node, ys[i].index)) continue;
    NodeOutput dy = !dys ? (NodeOutput){NULL, 0} : dys[i];
    if (!dy.node) TRY(gradient_add_op(b->graph, "OnesLike", b->scope, &ys[i], 1, &dy, b->status));
    TRY(arrive(b, ys[i].node, ys[i].index, dy));
  }
  return true;
}

static bool new_backward(Backward *b) {
  int64_t ids = b->num_ids;
  b->arena = arena_new();
  b->derived = mem_calloc(ids, 1);
  b->stops = mem_calloc(ids, 1);
  b->between = mem_calloc(ids, 1);
  b->first_x = mem_calloc(ids, sizeof(int));
  b->next_x = mem_calloc(b->num_xs + 1, sizeof(int));
  b->pending = mem_calloc(ids, sizeof(int64_t));
  b->gradients = mem_calloc(ids, sizeof(OutputGradients *));
  b->queue = mem_calloc(2 * ids, sizeof(Node *));
  bool ok = b->arena && b->derived && b->stops && b->between && b->first_x && b->next_x && b->pending &&
            b->gradients && b->queue;
  return ok || oom(b);
}

static void free_backward(Backward *b) {
  arena_free(b->arena);
  mem_free(b->derived);
  mem_free(b->stops);
  mem_free(b->between);
  mem_free(b->first_x);
  mem_free(b->next_x);
  mem_free(b->pending);
  mem_free(b->gradients);
  mem_free(b->queue);
}

static bool differentiate(Backward *b, const NodeOutput *ys, int num_ys, const NodeOutput *dys,
                          NodeOutput *dxs) {
  TRY(new_backward(b));
  mark_derived(b);
  TRY(mark_between(b, ys, num_ys));
  TRY(seed(b, ys, num_ys, dys));
  TRY(walk(b));
  for (int i = 0; i < b->num_xs; i++) {
    const Node *node = b->xs[i].node;
    dxs[i] = (NodeOutput){NULL, 0};
    if (b->between[node->id]) TRY(sum(b, node, b->xs[i].index, &dxs[i]));
  }
  return true;
}

bool gradients_add(GradientLibrary *library, Graph *graph, const NodeOutput *ys, int num_ys,
                   const NodeOutput *xs, int num_xs, const NodeOutput *dys, const GradientOptions *options,
                   NodeOutput *dxs, Status *status) {
  Backward b = {.library = library,
                .graph = graph,
                .xs = xs,
                .num_xs = num_xs,
                .options = options,
                .scope = options->scope,
                .status = status};
  b.num_ids = graph_num_node_ids(graph);
  bool ok = differentiate(&b, ys, num_ys, dys, dxs);
  for (int64_t id = graph_num_node_ids(graph); !ok && id > b.num_ids; id--) {
    Node *node = graph_node(graph, id - 1);
    if (node) graph_remove_node(graph, node);
  }
  for (const Extension *e = b.extensions; !ok && e; e = e->previous) graph_shrink_node(graph, e->before);
  free_backward(&b);
  return ok;
}
