#include "gradient/symbolic_gradient.h"

#include <string.h>

#include "base/alloc.h"
#include "gradient/backward.h"
#include "gradient/body_work.h"
#include "gradient/graph_gradients.h"
#include "op/resource.h"

typedef struct Builder {
  GradientLibrary library; /* only for looking up ops */
  FunctionBody *body;      /* the copy that becomes the gradient */
  Graph *graph;
  Status *status;
  Backward walk; /* its members are the results and all nodes that they depend on */
  int *boundary; /* per id: 1 + i for argument i, -1 - i for result i, 0 for other nodes */
  Node **dys, **dxs;
  DataType *dx_types;
} Builder;

static bool oom(Builder *b) { return status_oom(b->status, "the gradient of a function"); }

/* --- nodes --- */

static void new_node(NodeBuilder *node, Builder *b, const char *op) {
  node_builder(node, b->graph, op, graph_new_free_name(b->graph, "Func"));
}

/* Errors in the shapes of the inputs are reported when the node runs. */
static bool add_node(Builder *b, NodeBuilder *builder, Node **node) {
  return node_builder_finish_bare(builder, node, b->status) &&
         graph_infer_leniently(b->graph, *node, b->status);
}

/* `_Arg` or `_Retval` number `index`. */
static bool add_boundary(Builder *b, const char *op, DataType type, int index, const NodeOutput *input,
                         Node **node) {
  NodeBuilder boundary;
  new_node(&boundary, b, op);
  node_builder_type(&boundary, "T", type);
  node_builder_int(&boundary, "index", index);
  if (input) node_builder_input(&boundary, *input);
  return add_node(b, &boundary, node);
}

static bool add_zeros(Builder *b, NodeOutput x, NodeOutput *output) {
  NodeBuilder zeros;
  DataType type = (DataType)dtype_base(node_output_type(x));
  new_node(&zeros, b, type == DT_RESOURCE ? "Const" : "ZerosLike");
  if (type == DT_RESOURCE) {
    node_builder_scalar(&zeros, DT_FLOAT, 0);
  } else {
    node_builder_type(&zeros, "T", type);
    node_builder_input(&zeros, x);
  }
  output->index = 0;
  return add_node(b, &zeros, &output->node);
}

/* --- gradients that arrive --- */

static bool add_values(void *self, const NodeOutput *values, int count, NodeOutput *sum) {
  Builder *b = self;
  NodeBuilder total;
  new_node(&total, b, "AddN");
  node_builder_int(&total, "N", count);
  node_builder_type(&total, "T", node_output_type(values[0]));
  node_builder_inputs(&total, values, count);
  sum->index = 0;
  return add_node(b, &total, &sum->node);
}

/* Zeros where no gradient arrived, and for bools. */
static bool sum(Builder *b, NodeOutput at, NodeOutput *total) {
  *total = (NodeOutput){NULL, 0};
  if (backward_is_member(&b->walk, at.node) && dtype_base(node_output_type(at)) != DT_BOOL)
    TRY(backward_sum(&b->walk, at, total));
  return total->node || add_zeros(b, at, total);
}

static int count_inputs(void *self, const Node *node) {
  (void)self;
  return node->num_inputs;
}

static Node *input_node(void *self, const Node *node, int i) {
  (void)self;
  return !node->inputs[i] ? NULL : node->inputs[i]->src;
}

/* --- one node --- */

/* Gradients do not pass through ops without gradient by definition, nor through ops without a known
 * gradient that give only integers and the like. */
static bool lets_nothing_through(const Builder *b, const Node *node) {
  if (gradient_is_none(&b->library, node->op, node->def)) return true;
  const OpRegistration *registration = node->op->registration;
  bool calls = gradient_is_branch(node->op) || gradient_is_loop(node->op);
  bool written = !registration || registration->gradient || registration->gradient_fn;
  if (node_is_function(node) || (written && !calls)) return false;
  for (int i = 0; i < node->num_outputs; i++) {
    if (gradient_flows_through(node->output_types[i])) return false;
  }
  return !gradient_is_given(&b->library, node->def);
}

/* The type of the gradient of an input. For a resource: the type of the variable, from shape inference or
 * from the op that reads it. */
static DataType gradient_type(const Node *node, int i) {
  const Edge *edge = node->inputs[i];
  DataType type = (DataType)dtype_base(node->input_types[i]);
  if (type != DT_RESOURCE) return type;
  const HandleData *handle = edge->src->output_handles[edge->src_output];
  if (handle && handle->count == 1 && handle->entries[0].dtype != DT_INVALID) return handle->entries[0].dtype;
  const AttrValue *dtype = node_def_attr(node->def, "dtype");
  return dtype && dtype->value_case == (int)ATTR_TYPE ? (DataType)dtype->type : DT_FLOAT;
}

/* The op with its attrs, as a reference to a function. */
static AttrValue *op_reference(Builder *b, const NodeDef *node) {
  Arena *arena = graph_arena(b->graph);
  /* All map entries have the same layout: a key and a value. */
  NameAttrList attrs = TENSORFLOW__NAME_ATTR_LIST__INIT;
  attrs.attr = (FuncAttrEntry **)node->attr;
  attrs.n_attr = node->n_attr;
  return attr_value_func(arena, node->op, &attrs);
}

static bool add_gradient(Builder *b, const Node *node, const NodeOutput *inputs, DataType *types,
                         Node **gradient) {
  NodeBuilder made;
  int num_x = node->num_inputs, num_y = node->num_outputs;
  new_node(&made, b, "SymbolicGradient");
  for (int i = 0; i < num_x + num_y; i++) types[i] = (DataType)dtype_base(node_output_type(inputs[i]));
  node_builder_types(&made, "Tin", types, num_x + num_y);
  for (int i = 0; i < num_x; i++) types[i] = gradient_type(node, i);
  node_builder_types(&made, "Tout", types, num_x);
  node_builder_attr(&made, "f", op_reference(b, node->def));
  node_builder_inputs(&made, inputs, num_x + num_y);
  return add_node(b, &made, gradient);
}

/* Sums the gradients of the outputs and passes the sums through the node. `inputs` and `types` have room
 * for its inputs and outputs. */
static bool pass_through(Builder *b, Node *node, NodeOutput *inputs, DataType *types) {
  Node *gradient = NULL;
  int num_x = node->num_inputs;
  for (int i = 0; i < num_x; i++) {
    if (!node->inputs[i]) return true;
    inputs[i] = (NodeOutput){node->inputs[i]->src, node->inputs[i]->src_output};
  }
  if (lets_nothing_through(b, node)) return true;
  for (int i = 0; i < node->num_outputs; i++) TRY(sum(b, (NodeOutput){node, i}, &inputs[num_x + i]));
  TRY(add_gradient(b, node, inputs, types, &gradient));
  for (int i = 0; i < num_x; i++) {
    const Edge *edge = node->inputs[i];
    TRY(backward_arrive(&b->walk, edge_value(edge), (NodeOutput){gradient, i}));
  }
  return true;
}

/* The gradient of a result is an argument of the new body; gradients of arguments are its results. */
static bool pass(void *self, Node *node) {
  Builder *b = self;
  int boundary = b->boundary[node->id], count = node->num_inputs + node->num_outputs;
  if (boundary > 0) return true;
  if (boundary < 0) {
    const Edge *edge = node->inputs[0];
    NodeOutput dy = {b->dys[-1 - boundary], 0};
    return !edge || backward_arrive(&b->walk, edge_value(edge), dy);
  }
  NodeOutput *inputs = mem_calloc(count, sizeof *inputs);
  DataType *types = mem_calloc(count, sizeof *types);
  bool ok = ((inputs && types) || oom(b)) && pass_through(b, node, inputs, types);
  mem_free(inputs);
  mem_free(types);
  return ok;
}

/* --- the body --- */

static bool prepare(Builder *b) {
  const BackwardVisitor visitor = {b, NULL, count_inputs, input_node, pass, add_values};
  const FunctionBody *body = b->body;
  Arena *arena = graph_arena(b->graph);
  TRY(backward_new(&b->walk, b->graph, &visitor, b->status));
  b->boundary = arena_calloc(b->walk.arena, b->walk.num_ids, sizeof *b->boundary);
  b->dys = arena_calloc(b->walk.arena, body->num_rets + 1, sizeof *b->dys);
  b->dxs = arena_calloc(arena, body->num_args + 1, sizeof *b->dxs);
  b->dx_types = arena_calloc(arena, body->num_args + 1, sizeof *b->dx_types);
  if (!b->boundary || !b->dys || !b->dxs || !b->dx_types) return oom(b);
  for (int i = 0; i < body->num_args; i++) b->boundary[body->arg_nodes[i]->id] = 1 + i;
  for (int i = 0; i < body->num_rets; i++) b->boundary[body->ret_nodes[i]->id] = -1 - i;
  return true;
}

/* Nodes in a cycle are not passed, and no gradient arrives at what they depend on. */
static bool walk(Builder *b) {
  FunctionBody *body = b->body;
  bool all;
  for (int i = 0; i < body->num_rets; i++) {
    TRY(add_boundary(b, "_Arg", body->ret_types[i], body->num_args + i, NULL, &b->dys[i]));
    TRY(backward_enter(&b->walk, body->ret_nodes[i]));
  }
  return backward_find_members(&b->walk) && backward_run(&b->walk, &all);
}

/* From now on the results are the gradients of the arguments. */
static bool finish(Builder *b) {
  FunctionBody *body = b->body;
  Arena *arena = graph_arena(b->graph);
  int num_x = body->num_args, num_y = body->num_rets;
  NodeOutput *sums = arena_calloc(b->walk.arena, num_x + 1, sizeof *sums);
  Node **args = arena_calloc(arena, num_x + num_y + 1, sizeof *args);
  DataType *types = arena_calloc(arena, num_x + num_y + 1, sizeof *types);
  if (!sums || !args || !types) return oom(b);
  for (int i = 0; i < num_x; i++) {
    TRY(sum(b, (NodeOutput){body->arg_nodes[i], 0}, &sums[i]));
    b->dx_types[i] = (DataType)dtype_base(node_output_type(sums[i]));
    args[i] = body->arg_nodes[i];
    types[i] = body->arg_types[i];
  }
  for (int i = 0; i < num_y; i++) {
    args[num_x + i] = b->dys[i];
    types[num_x + i] = body->ret_types[i];
    graph_remove_node(b->graph, body->ret_nodes[i]);
  }
  for (int i = 0; i < num_x; i++) TRY(add_boundary(b, "_Retval", b->dx_types[i], i, &sums[i], &b->dxs[i]));
  body->name = arena_printf(arena, "%sGrad", body->name);
  if (!body->name) return oom(b);
  body->arg_nodes = args;
  body->arg_types = types;
  body->num_args = num_x + num_y;
  body->ret_nodes = b->dxs;
  body->ret_types = b->dx_types;
  body->num_rets = num_x;
  body->num_control_rets = 0;
  return true;
}

bool symbolic_gradient(const FunctionBody *body, FunctionBody **gradient, Status *status) {
  FunctionBody *copy;
  TRY(function_body_copy(body, &copy, status));
  Builder b = {.library = {.functions = graph_library(copy->graph)},
               .body = copy,
               .graph = copy->graph,
               .status = status};
  bool ok = prepare(&b) && walk(&b) && finish(&b);
  backward_free(&b.walk);
  if (ok) {
    *gradient = copy;
  } else {
    function_body_free(copy);
  }
  return ok;
}

/* --- what a SymbolicGradient node runs --- */

static const NameAttrList *differentiated(const AttrEntry *const *attrs, int num_attrs) {
  for (int i = 0; i < num_attrs; i++) {
    const AttrValue *value = attrs[i]->value;
    if (strcmp(attrs[i]->key, "f") == 0 && value && value->value_case == (int)ATTR_FUNC) return value->func;
  }
  return NULL;
}

static bool function_gradient_body(Graph *library, const FunctionDef *function, const NameAttrList *f,
                                   FunctionBody **body, Status *status) {
  FunctionBody *forward;
  TRY(function_body_new(library, function, (const AttrEntry *const *)f->attr, (int)f->n_attr, &forward,
                        status));
  bool ok = symbolic_gradient(forward, body, status);
  function_body_free(forward);
  return ok;
}

static bool op_gradient_body(Graph *library, const NameAttrList *f, FunctionBody **body, Status *status) {
  bool ok = false;
  const Op *op = op_registry_find(graph_ops(library), f->name);
  GradientEntry *entry;
  GradientLibrary gradients;
  if (!op) return status_set(status, CODE_NOT_FOUND, "No gradient defined for op: %s", f->name);
  TRY(gradient_library_init(&gradients, library, status));
  NodeDef *node;
  TRY_DONE(gradient_node_of(op, f, gradients.arena, &node, status));
  GradientQuery query = {.op = op, .node = node};
  TRY_DONE(gradient_look_up(&gradients, &query, &entry, status));
  if (!entry->function) {
    status_invalid(status, "No gradient is defined for %s", f->name);
    goto done;
  }
  ok = function_body_new(library, entry->function, entry->attrs, entry->num_attrs, body, status);
done:
  gradient_library_clear(&gradients, ok);
  return ok;
}

/* A gradient gives as many values as its function takes: with each nesting the signature grows like
 * Fibonacci numbers and the body by a factor. */
enum { SYMBOLIC_GRADIENT_MAX_NESTING = 4 };

/* SymbolicGradient[f=SymbolicGradient[f=...]]: the gradient of what the inner one runs. */
static bool second_gradient_body(Graph *library, const NameAttrList *f, int depth, FunctionBody **body,
                                 Status *status);

static bool instantiate(Graph *library, const AttrEntry *const *attrs, int num_attrs, int depth,
                        FunctionBody **body, Status *status) {
  const NameAttrList *f = differentiated(attrs, num_attrs);
  if (!f) return status_invalid(status, "SymbolicGradient is missing attr: f");
  const char *custom = graph_find_gradient_def(library, f->name);
  const FunctionDef *function = graph_find_function(library, custom ? custom : f->name);
  if (custom) {
    if (!function) return status_set(status, CODE_NOT_FOUND, "Function %s is not defined.", custom);
    return function_body_new(library, function, (const AttrEntry *const *)f->attr, (int)f->n_attr, body,
                             status);
  }
  if (function) return function_gradient_body(library, function, f, body, status);
  if (node_class_of_op(f->name) == NODE_SYMBOLIC_GRADIENT)
    return second_gradient_body(library, f, depth + 1, body, status);
  return op_gradient_body(library, f, body, status);
}

static bool second_gradient_body(Graph *library, const NameAttrList *f, int depth, FunctionBody **body,
                                 Status *status) {
  FunctionBody *first;
  if (depth == SYMBOLIC_GRADIENT_MAX_NESTING) {
    return status_invalid(status, "SymbolicGradient is nested more than %d deep in its attr f",
                          SYMBOLIC_GRADIENT_MAX_NESTING);
  }
  TRY(instantiate(library, (const AttrEntry *const *)f->attr, (int)f->n_attr, depth, &first, status));
  bool ok =
      graph_num_nodes(first->graph) <= GRADIENT_MAX_FUNCTION_NODES ||
      status_set(status, CODE_RESOURCE_EXHAUSTED, "The gradients of nested functions have more than %d nodes",
                 GRADIENT_MAX_FUNCTION_NODES);
  ok = ok && symbolic_gradient(first, body, status);
  function_body_free(first);
  return ok;
}

bool gradient_instantiate(Graph *library, const AttrEntry *const *attrs, int num_attrs, FunctionBody **body,
                          Status *status) {
  return instantiate(library, attrs, num_attrs, 0, body, status);
}
