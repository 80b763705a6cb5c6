#include "optimizer/lower_control_flow.h"

#include <string.h>

#include "base/alloc.h"
#include "graph/node_builder.h"
#include "op/node_def.h"
#include "optimizer/optimizer_internal.h"

/* The state while one node is lowered. */
typedef struct Lowering {
  Graph *graph;
  Node *node;
  const FunctionBodySource *source;
  Status *status;
  Arena *arena; /* temporary */
  int64_t first_id;
  Node *begin;         /* a NoOp that waits for all inputs and control inputs */
  Node **inputs;       /* per input: its Identity */
  NodeOutput *outputs; /* per output: what replaces it */
  Node *end;           /* a NoOp that waits for all outputs */
} Lowering;

/* A function of the node. */
typedef struct Callee {
  const NameAttrList *function;
  const FunctionBody *body;
} Callee;

static bool oom(const Lowering *l) { return status_oom(l->status, "lowering control flow"); }

/* --- adding nodes --- */

static void begin_node(const Lowering *l, NodeBuilder *b, const char *op, const char *part) {
  const char *name = arena_printf(l->arena, "%s/%s", l->node->name, part);
  node_builder(b, l->graph, op, !name ? NULL : graph_new_free_name(l->graph, name));
  node_builder_device(b, l->node->def->device);
}

static bool finish_node(const Lowering *l, NodeBuilder *b, Node **node) {
  return node_builder_finish_bare(b, node, l->status);
}

/* A node with attr T and one or two inputs; `second` may have a NULL node. */
static bool add_node(const Lowering *l, const char *op, NodeOutput first, NodeOutput second, Node *control,
                     Node **node) {
  NodeBuilder b;
  begin_node(l, &b, op, op);
  if (strcmp(op, "LoopCond") != 0) node_builder_type(&b, "T", node_output_type(first));
  if (strcmp(op, "Merge") == 0) node_builder_int(&b, "N", 2);
  node_builder_input(&b, first);
  if (second.node) node_builder_input(&b, second);
  if (control) node_builder_control(&b, control);
  return finish_node(l, &b, node);
}

static bool add_control(const Lowering *l, Node *from, Node *to) {
  return optimizer_control(l->graph, from, to, l->status);
}

/* A call waits for `pivot`, so that what it calls runs in the frame and under the condition of the pivot. */
static bool add_call(const Lowering *l, const char *part, const Callee *callee, const NodeOutput *inputs,
                     Node *pivot, Node **call) {
  NodeBuilder b;
  const FunctionBody *body = callee->body;
  const NameAttrList *function = callee->function;
  begin_node(l, &b, "PartitionedCall", part);
  node_builder_types(&b, "Tin", body->arg_types, body->num_args);
  node_builder_types(&b, "Tout", body->ret_types, body->num_rets);
  node_builder_attr(&b, "f", attr_value_func(node_builder_arena(&b), function->name, function));
  node_builder_attr(&b, "config", attr_value_string(node_builder_arena(&b), "", 0));
  node_builder_attr(&b, "config_proto", attr_value_string(node_builder_arena(&b), "", 0));
  node_builder_attr(&b, "executor_type", attr_value_string(node_builder_arena(&b), "", 0));
  node_builder_inputs(&b, inputs, body->num_args);
  node_builder_control(&b, pivot);
  return finish_node(l, &b, call);
}

static bool is_known_scalar(NodeOutput value) {
  ShapeHandle shape = graph_output_shape(value);
  return shape && shape_rank_known(shape) && shape_rank(shape) == 0;
}

/* The value as a condition. `known`: the same value where its shape was inferred. */
static bool add_condition(const Lowering *l, NodeOutput value, NodeOutput known, NodeOutput *condition) {
  *condition = value;
  if (node_output_type(known) == DT_BOOL && is_known_scalar(known)) return true;
  condition->index = 0;
  return add_node(l, "ToBool", value, (NodeOutput){NULL, 0}, NULL, &condition->node);
}

/* --- before and after --- */

static bool add_begin(Lowering *l) {
  NodeBuilder b;
  Node *node = l->node;
  l->inputs = arena_calloc(l->arena, node->num_inputs, sizeof *l->inputs);
  l->outputs = arena_calloc(l->arena, node->num_outputs, sizeof *l->outputs);
  if (!l->inputs || !l->outputs) return oom(l);
  begin_node(l, &b, "NoOp", "begin");
  TRY(finish_node(l, &b, &l->begin));
  for (int32_t i = 0; i < node->num_control_inputs; i++)
    TRY(add_control(l, node->control_inputs[i]->src, l->begin));
  for (int i = 0; i < node->num_inputs; i++) {
    NodeOutput input = {node->inputs[i]->src, node->inputs[i]->src_output};
    TRY(add_node(l, "Identity", input, (NodeOutput){NULL, 0}, NULL, &l->inputs[i]));
    TRY(add_control(l, l->inputs[i], l->begin));
  }
  return true;
}

static bool add_end(Lowering *l) {
  NodeBuilder b;
  begin_node(l, &b, "NoOp", "end");
  TRY(finish_node(l, &b, &l->end));
  for (int i = 0; i < l->node->num_outputs; i++) {
    if (l->outputs[i].node) TRY(add_control(l, l->outputs[i].node, l->end));
  }
  return true;
}

/* The new outputs have the shapes that are known of the old ones. */
static bool set_shapes(const Lowering *l) {
  for (int i = 0; i < l->node->num_outputs; i++) {
    ShapeHandle shape = graph_output_shape((NodeOutput){l->node, i});
    if (!shape || !shape_rank_known(shape)) continue;
    int rank = shape_rank(shape);
    int64_t *dims = arena_alloc(l->arena, (int64_t)(rank + 1) * (int64_t)sizeof *dims);
    if (!dims) return oom(l);
    for (int k = 0; k < rank; k++) {
      DimHandle dim = shape->dims[k];
      dims[k] = dim_known(dim) ? dim_value(dim) : -1;
    }
    TRY(graph_set_shape(l->graph, l->outputs[i], rank, dims, l->status));
  }
  return true;
}

/* --- While --- */

typedef struct WhileParts {
  Callee cond, body;
  int count;
  bool *invariant; /* per variable: the body returns its argument. Never all: a frame needs a Merge. */
  Node **enters, **merges, **switches;
  NodeOutput *values; /* the arguments of a call */
} WhileParts;

/* Whether the body returns its argument `i` as its result `i`. */
static bool returns_argument(const FunctionBody *body, int i) {
  const Node *node = body->ret_nodes[i];
  while ((node_is_identity(node) || node == body->ret_nodes[i]) && node->num_control_inputs == 0)
    node = node->inputs[0]->src;
  return node == body->arg_nodes[i];
}

static bool make_room(const Lowering *l, WhileParts *w) {
  int64_t count = w->count = l->node->num_inputs;
  w->invariant = arena_calloc(l->arena, count, sizeof *w->invariant);
  w->enters = arena_calloc(l->arena, count, sizeof *w->enters);
  w->merges = arena_calloc(l->arena, count, sizeof *w->merges);
  w->switches = arena_calloc(l->arena, count, sizeof *w->switches);
  w->values = arena_calloc(l->arena, count, sizeof *w->values);
  if (!w->invariant || !w->enters || !w->merges || !w->switches || !w->values) return oom(l);
  bool all = true;
  for (int i = 0; i < w->count; i++) all &= w->invariant[i] = returns_argument(w->body.body, i);
  if (all) w->invariant[0] = false;
  return true;
}

static bool add_enter(const Lowering *l, const WhileParts *w, int i, const char *frame) {
  NodeBuilder b;
  begin_node(l, &b, "Enter", "Enter");
  Arena *arena = node_builder_arena(&b);
  const AttrValue *parallel = node_def_attr(l->node->def, "parallel_iterations");
  node_builder_type(&b, "T", l->node->input_types[i]);
  node_builder_attr(&b, "frame_name", attr_value_string(arena, frame, strlen(frame)));
  node_builder_attr(&b, "is_constant", attr_value_bool(arena, w->invariant[i]));
  node_builder_int(&b, "parallel_iterations", parallel ? parallel->i : 10);
  node_builder_input(&b, (NodeOutput){l->inputs[i], 0});
  node_builder_control(&b, l->begin);
  return finish_node(l, &b, &w->enters[i]);
}

/* Enters the loop, up to the arguments of its condition. The second input of a Merge becomes that of a
 * NextIteration. */
static bool open_loop(const Lowering *l, const WhileParts *w, Node **first) {
  const char *frame = arena_strdup(graph_arena(l->graph), l->begin->name); /* a name of one loop */
  if (!frame) return oom(l);
  for (int i = 0; i < w->count; i++) {
    TRY(add_enter(l, w, i, frame));
    w->values[i] = (NodeOutput){w->enters[i], 0};
    if (w->invariant[i]) continue;
    TRY(add_node(l, "Merge", w->values[i], w->values[i], NULL, &w->merges[i]));
    w->values[i].node = w->merges[i];
    if (!*first) *first = w->merges[i];
  }
  return true;
}

static bool split_loop(const Lowering *l, const WhileParts *w, NodeOutput go_on, Node **first) {
  for (int i = 0; i < w->count; i++) {
    if (w->invariant[i]) continue;
    TRY(add_node(l, "Switch", w->values[i], go_on, NULL, &w->switches[i]));
    w->values[i] = (NodeOutput){w->switches[i], 1};
    if (!*first) TRY(add_node(l, "Identity", w->values[i], (NodeOutput){NULL, 0}, NULL, first));
  }
  return true;
}

static bool close_loop(const Lowering *l, const WhileParts *w, Node *body) {
  const NodeOutput none = {NULL, 0};
  Node *next;
  for (int i = 0; i < w->count; i++) {
    if (w->invariant[i]) continue;
    TRY(add_node(l, "NextIteration", (NodeOutput){body, i}, none, NULL, &next));
    TRY(graph_update_edge(l->graph, next, 0, w->merges[i], 1, l->status));
    TRY(add_node(l, "Exit", (NodeOutput){w->switches[i], 0}, none, NULL, &l->outputs[i].node));
  }
  return true;
}

static bool lower_while(Lowering *l, WhileParts *w) {
  const NodeOutput none = {NULL, 0};
  Node *first = NULL, *taken = NULL, *cond, *body;
  NodeOutput go_on = {NULL, 0};
  const Edge *result = w->cond.body->ret_nodes[0]->inputs[0];
  TRY(add_begin(l));
  TRY(open_loop(l, w, &first));
  TRY(add_call(l, "cond", &w->cond, w->values, first, &cond));
  TRY(add_condition(l, (NodeOutput){cond, 0}, edge_value(result), &go_on));
  TRY(add_node(l, "LoopCond", go_on, none, NULL, &go_on.node));
  go_on.index = 0;
  TRY(split_loop(l, w, go_on, &taken));
  TRY(add_call(l, "body", &w->body, w->values, taken, &body));
  TRY(close_loop(l, w, body));
  TRY(add_end(l));
  for (int i = 0; i < w->count; i++) {
    if (w->invariant[i])
      TRY(add_node(l, "Identity", (NodeOutput){l->inputs[i], 0}, none, l->end, &l->outputs[i].node));
  }
  return true;
}

/* --- If and Case --- */

typedef struct Branches {
  int count;
  const char *const *parts; /* names; NULL: "branches" */
  Callee *callees;
  NodeOutput which; /* the condition or index */
  Node **taken;     /* per branch: alive if the branch is taken */
  Node **calls;
} Branches;

/* Gives `data` to the branch that is taken. */
static bool add_switch(const Lowering *l, const Branches *b, NodeOutput data, Node **node) {
  if (node_is_if(l->node)) return add_node(l, "Switch", data, b->which, NULL, node);
  NodeBuilder builder;
  begin_node(l, &builder, "_SwitchN", "_SwitchN");
  node_builder_type(&builder, "T", node_output_type(data));
  node_builder_int(&builder, "num_outs", b->count);
  node_builder_input(&builder, data);
  node_builder_input(&builder, b->which);
  return finish_node(l, &builder, node);
}

/* The value of the branch that was taken. */
static bool add_merge(const Lowering *l, const Branches *b, Node *const *nodes, int output, Node **node) {
  NodeBuilder builder;
  begin_node(l, &builder, "Merge", "Merge");
  node_builder_type(&builder, "T", nodes[0]->output_types[output]);
  node_builder_int(&builder, "N", b->count);
  for (int i = 0; i < b->count; i++) node_builder_input(&builder, (NodeOutput){nodes[i], output});
  return finish_node(l, &builder, node);
}

static bool add_branch(const Lowering *l, const Branches *b, int branch, Node *const *switches,
                       NodeOutput *values, Node *chosen) {
  const NodeOutput none = {NULL, 0};
  for (int i = 0; i < l->node->num_inputs - 1; i++) values[i] = (NodeOutput){switches[i], branch};
  TRY(add_node(l, "Identity", (NodeOutput){chosen, branch}, none, NULL, &b->taken[branch]));
  return add_call(l, b->parts ? b->parts[branch] : "branches", &b->callees[branch], values, b->taken[branch],
                  &b->calls[branch]);
}

/* Control outputs wait for the branch that was taken, also if it has no results. */
static bool add_results(Lowering *l, const Branches *b) {
  const NodeOutput none = {NULL, 0};
  Node *executed;
  for (int i = 0; i < l->node->num_outputs; i++) TRY(add_merge(l, b, b->calls, i, &l->outputs[i].node));
  TRY(add_end(l));
  if (l->node->num_outputs > 0) return true;
  for (int i = 0; i < b->count; i++)
    TRY(add_node(l, "Identity", (NodeOutput){b->taken[i], 0}, none, b->calls[i], &b->taken[i]));
  return add_merge(l, b, b->taken, 0, &executed) && add_control(l, executed, l->end);
}

static bool add_which(Lowering *l, Branches *b) {
  const NodeOutput none = {NULL, 0};
  const Edge *given = l->node->inputs[0];
  b->which = (NodeOutput){l->inputs[0], 0};
  if (node_is_if(l->node)) TRY(add_condition(l, b->which, edge_value(given), &b->which));
  TRY(add_node(l, "Identity", b->which, none, l->begin, &b->which.node));
  b->which.index = 0;
  return true;
}

static bool lower_branches(Lowering *l, Branches *b) {
  int count = l->node->num_inputs - 1;
  NodeOutput *values = arena_calloc(l->arena, count, sizeof *values);
  Node **switches = arena_calloc(l->arena, count, sizeof *switches), *chosen;
  if (!values || !switches) return oom(l);
  TRY(add_begin(l));
  TRY(add_which(l, b));
  for (int i = 0; i < count; i++) TRY(add_switch(l, b, (NodeOutput){l->inputs[i + 1], 0}, &switches[i]));
  TRY(add_switch(l, b, b->which, &chosen));
  for (int i = 0; i < b->count; i++) TRY(add_branch(l, b, i, switches, values, chosen));
  return add_results(l, b);
}

/* --- which nodes --- */

static bool has_types(const Node *node, int first_input, const FunctionBody *body, bool gives_outputs) {
  if (body->num_args != node->num_inputs - first_input) return false;
  for (int i = 0; i < body->num_args; i++) {
    if (body->arg_types[i] != node->input_types[first_input + i]) return false;
  }
  if (gives_outputs && body->num_rets != node->num_outputs) return false;
  for (int i = 0; gives_outputs && i < body->num_rets; i++) {
    if (body->ret_types[i] != node->output_types[i]) return false;
  }
  for (int i = 0; i < body->num_rets; i++) {
    if (!body->ret_nodes[i]->inputs[0]) return false;
  }
  return true;
}

/* The body of a function; NULL when there is none. */
static bool find_body(const Lowering *l, const NameAttrList *function, Callee *callee) {
  Status ignored;
  status_init(&ignored);
  *callee = (Callee){function, NULL};
  if (!function) return true;
  const AttrEntry *const *attrs = (const AttrEntry *const *)(const void *)function->attr;
  if (l->source->body(l->source->owner, function->name, attrs, (int)function->n_attr, &callee->body,
                      &ignored))
    return true;
  callee->body = NULL;
  return ignored.code != CODE_RESOURCE_EXHAUSTED ||
         status_set(l->status, CODE_RESOURCE_EXHAUSTED, "%s", ignored.message);
}

static bool find_body_of_attr(const Lowering *l, const char *attr, Callee *callee) {
  const AttrValue *value = node_def_attr(l->node->def, attr);
  return find_body(l, value && value->value_case == (int)ATTR_FUNC ? value->func : NULL, callee);
}

/* A loop without variables ends at once or never. */
static bool prepare_while(const Lowering *l, WhileParts *w, bool *fits) {
  TRY(find_body_of_attr(l, "cond", &w->cond));
  TRY(find_body_of_attr(l, "body", &w->body));
  *fits = w->cond.body && w->body.body && w->cond.body->num_rets == 1 && l->node->num_inputs > 0 &&
          has_types(l->node, 0, w->cond.body, false) && has_types(l->node, 0, w->body.body, true);
  return !*fits || make_room(l, w);
}

static bool make_branches(const Lowering *l, Branches *b, size_t count) {
  b->count = (int)count;
  b->callees = arena_calloc(l->arena, b->count, sizeof *b->callees);
  b->taken = arena_calloc(l->arena, b->count, sizeof *b->taken);
  b->calls = arena_calloc(l->arena, b->count, sizeof *b->calls);
  return (b->callees && b->taken && b->calls) || oom(l);
}

/* The kernel of a Case refuses an index that is not a scalar in words of its own. */
static bool prepare_branches(const Lowering *l, Branches *b, bool *fits) {
  static const char *const kSides[] = {"else_branch", "then_branch"};
  const AttrValue *branches = node_def_attr(l->node->def, "branches");
  bool listed = branches && branches->value_case == (int)ATTR_LIST;
  b->parts = node_is_if(l->node) ? kSides : NULL;
  TRY(make_branches(l, b, b->parts ? 2 : listed ? branches->list->n_func : 0));
  for (int i = 0; i < b->count; i++) {
    TRY(b->parts ? find_body_of_attr(l, kSides[i], &b->callees[i])
                 : find_body(l, branches->list->func[i], &b->callees[i]));
  }
  const Edge *which = l->node->inputs[0];
  *fits = b->parts || (b->count > 0 && is_known_scalar(edge_value(which)));
  for (int i = 0; i < b->count; i++)
    *fits = *fits && b->callees[i].body && has_types(l->node, 1, b->callees[i].body, true);
  return true;
}

static bool all_connected(const Node *node) {
  for (int i = 0; i < node->num_inputs; i++) {
    if (!node->inputs[i]) return false;
  }
  return true;
}

/* --- the budget --- */

enum { MAX_DEPTH = 64 };
static const int64_t kEndless = (int64_t)1 << 40; /* more than any limit */

static bool size_of_function(const Graph *graph, StringMap *sizes, const char *name, int depth, int64_t *size,
                             Status *status);

static bool add_size_of_value(const Graph *graph, StringMap *sizes, const AttrValue *value, int depth,
                              int64_t *size, Status *status) {
  if (value->value_case == (int)ATTR_FUNC && value->func)
    return size_of_function(graph, sizes, value->func->name, depth, size, status);
  const AttrListValue *list = value->value_case == (int)ATTR_LIST ? value->list : NULL;
  for (size_t i = 0; list && i < list->n_func; i++)
    TRY(size_of_function(graph, sizes, list->func[i]->name, depth, size, status));
  return true;
}

static bool add_size_of_node(const Graph *graph, StringMap *sizes, const NodeDef *def, int depth,
                             int64_t *size, Status *status) {
  ++*size;
  if (graph_find_function(graph, def->op)) TRY(size_of_function(graph, sizes, def->op, depth, size, status));
  for (size_t i = 0; i < def->n_attr; i++) {
    if (def->attr[i]->value) TRY(add_size_of_value(graph, sizes, def->attr[i]->value, depth, size, status));
  }
  return true;
}

/* Adds the size of a function. One that calls itself, that calls too deep or that is unknown is endless. The
 * map holds 1 + the size. */
static bool size_of_function(const Graph *graph, StringMap *sizes, const char *name, int depth, int64_t *size,
                             Status *status) {
  int64_t own = 0, known = (int64_t)(intptr_t)string_map_find(sizes, name);
  const FunctionDef *function = graph_find_function(graph, name);
  if (known > 0) {
    own = known - 1;
  } else if (!function || depth > MAX_DEPTH) {
    own = kEndless;
  } else {
    TRY(string_map_set(sizes, name, (void *)(intptr_t)(INT32_MAX), status)); /* while it is computed */
    for (size_t i = 0; i < function->n_node_def && own < INT32_MAX; i++)
      TRY(add_size_of_node(graph, sizes, function->node_def[i], depth + 1, &own, status));
    if (own >= INT32_MAX) own = INT32_MAX - 1;
    TRY(string_map_set(sizes, name, (void *)(intptr_t)(own + 1), status));
  }
  *size += own;
  return true;
}

void lowering_budget_free(LoweringBudget *budget) { string_map_free(&budget->sizes); }

/* Whether the node may be lowered, and counts what it adds. */
static bool admit(Graph *graph, const Node *node, int64_t max_nodes, LoweringBudget *budget, bool *admitted,
                  Status *status) {
  int64_t size = 0;
  bool keeps_state = false;
  TRY(node_keeps_state(node, &keeps_state, status));
  if (!keeps_state && all_connected(node))
    TRY(add_size_of_node(graph, &budget->sizes, node->def, 0, &size, status));
  *admitted = size > 0 && graph_num_nodes(graph) + budget->num_nodes + size <= max_nodes;
  if (*admitted) budget->num_nodes += size;
  return true;
}

/* --- one node --- */

static bool add_all(Lowering *l, bool *fits) {
  WhileParts parts = {0};
  Branches branches = {0};
  if (node_is_while(l->node)) {
    TRY(prepare_while(l, &parts, fits));
    TRY(!*fits || lower_while(l, &parts));
  } else {
    TRY(prepare_branches(l, &branches, fits));
    TRY(!*fits || lower_branches(l, &branches));
  }
  return !*fits || set_shapes(l);
}

static bool replace(Lowering *l) {
  TRY(optimizer_move_consumers(l->graph, l->node, l->outputs, l->end, l->status));
  graph_remove_node(l->graph, l->node);
  for (int64_t id = l->first_id; l->source->lowered && id < graph_num_node_ids(l->graph); id++) {
    Node *added = graph_node(l->graph, id);
    if (added) l->source->lowered(l->source->owner, l->node, added);
  }
  return true;
}

bool graph_lower_control_flow(Graph *graph, Node *node, const FunctionBodySource *source, int64_t max_nodes,
                              LoweringBudget *budget, bool *lowered, Status *status) {
  *lowered = false;
  if (!node_is_while(node) && !node_is_if(node) && !node_is_case(node)) return true;
  TRY(admit(graph, node, max_nodes, budget, lowered, status));
  if (!*lowered) return true;
  Lowering l = {.graph = graph,
                .node = node,
                .source = source,
                .status = status,
                .arena = arena_new(),
                .first_id = graph_num_node_ids(graph)};
  bool ok = (l.arena || oom(&l)) && add_all(&l, lowered);
  for (int64_t id = graph_num_node_ids(graph) - 1; !ok && id >= l.first_id; id--)
    graph_remove_node(graph, graph_node(graph, id));
  ok = ok && (!*lowered || replace(&l));
  arena_free(l.arena);
  return ok;
}
