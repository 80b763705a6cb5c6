#include "gradient/body_work.h"

#include <string.h>

#include "function/function_splice.h"
#include "function/graph_to_function.h"
#include "gradient/graph_gradients.h"

static bool oom(BodyWork *work) { return status_oom(work->status, "the gradient of a function"); }

bool body_work_new(BodyWork *work, GradientLibrary *library, Status *status) {
  *work = (BodyWork){.library = library, .arena = arena_new(), .status = status};
  if (!library->functions)
    return status_invalid(status, "A function cannot be called without a function library");
  work->graph = graph_new_body(library->functions);
  if (!work->graph || !work->arena) return oom(work);
  work->site = arena_calloc(work->arena, 1, (int64_t)sizeof *work->site);
  return work->site ? gradient_site_init(work->site, work->graph, status) : oom(work);
}

void body_work_free(BodyWork *work) {
  function_body_free(work->body);
  if (work->site) gradient_site_clear(work->site);
  graph_free(work->graph);
  arena_free(work->arena);
  *work = (BodyWork){0};
}

/* --- nodes --- */

void body_work_node(NodeBuilder *b, BodyWork *work, const char *op, const char *name) {
  if (work->scope) name = arena_printf(work->arena, "%s/%s", work->scope, name);
  node_builder(b, work->graph, op, !name ? NULL : graph_unique_name(work->graph, name));
}

bool body_work_finish(BodyWork *work, NodeBuilder *b, NodeOutput *output) {
  output->index = 0;
  return node_builder_finish(b, &output->node, work->status);
}

bool body_work_placeholder(BodyWork *work, const char *name, DataType type, NodeOutput *output) {
  NodeBuilder b;
  body_work_node(&b, work, "Placeholder", name);
  node_builder_type(&b, "dtype", type);
  return body_work_finish(work, &b, output);
}

bool body_work_int32(BodyWork *work, const char *name, int value, NodeOutput *output) {
  NodeBuilder b;
  body_work_node(&b, work, "Const", name);
  node_builder_scalar(&b, DT_INT32, value);
  if (work->pivot) node_builder_control(&b, work->pivot);
  return body_work_finish(work, &b, output);
}

bool body_work_empty(BodyWork *work, DataType type, NodeOutput *output) {
  NodeBuilder b;
  Tensor zero = {0};
  if (dtype_base(type) == DT_VARIANT) return body_work_empty_list(work, DT_FLOAT, output);
  TRY(tensor_allocate_dims(&zero, (DataType)dtype_base(type), 0, NULL, NULL, work->status));
  if (zero.dtype != DT_STRING) memset(zero.data, 0, (size_t)tensor_bytes(&zero));
  body_work_node(&b, work, "Const", "empty");
  node_builder_tensor(&b, &zero);
  tensor_clear(&zero);
  if (work->pivot) node_builder_control(&b, work->pivot);
  return body_work_finish(work, &b, output);
}

bool body_work_float_zero(BodyWork *work, NodeOutput *output) {
  NodeBuilder b;
  body_work_node(&b, work, "Const", "zero");
  node_builder_scalar(&b, DT_FLOAT, 0);
  return body_work_finish(work, &b, output);
}

bool body_work_op(BodyWork *work, const char *op, const NodeOutput *inputs, int num_inputs,
                  NodeOutput *output) {
  NodeBuilder b;
  body_work_node(&b, work, op, op);
  node_builder_type(&b, "T", node_output_type(inputs[0]));
  node_builder_inputs(&b, inputs, num_inputs);
  return body_work_finish(work, &b, output);
}

bool body_work_zeros(BodyWork *work, NodeOutput value, DataType type, NodeOutput *output) {
  if (dtype_base(node_output_type(value)) == DT_RESOURCE) {
    NodeBuilder b;
    body_work_node(&b, work, "ReadVariableOp", "Read");
    node_builder_type(&b, "dtype", type);
    node_builder_input(&b, value);
    TRY(body_work_finish(work, &b, &value));
  }
  return body_work_op(work, "ZerosLike", &value, 1, output);
}

bool body_work_no_gradient(BodyWork *work, NodeOutput arg, NodeOutput *output) {
  if (dtype_base(node_output_type(arg)) == DT_RESOURCE) return body_work_float_zero(work, output);
  return body_work_zeros(work, arg, DT_INVALID, output);
}

bool body_work_empty_list(BodyWork *work, DataType type, NodeOutput *list) {
  NodeBuilder b;
  NodeOutput any;
  TRY(body_work_int32(work, "any", -1, &any));
  body_work_node(&b, work, "EmptyTensorList", "list");
  node_builder_type(&b, "element_dtype", type);
  node_builder_type(&b, "shape_type", DT_INT32);
  node_builder_input(&b, any);
  node_builder_input(&b, any);
  return body_work_finish(work, &b, list);
}

bool body_work_push(BodyWork *work, NodeOutput list, NodeOutput item, NodeOutput *pushed) {
  NodeBuilder b;
  body_work_node(&b, work, "TensorListPushBack", "push");
  node_builder_type(&b, "element_dtype", node_output_type(item));
  node_builder_input(&b, list);
  node_builder_input(&b, item);
  return body_work_finish(work, &b, pushed);
}

bool body_work_pop(BodyWork *work, NodeOutput list, NodeOutput element_shape, DataType type, NodeOutput *rest,
                   NodeOutput *item) {
  NodeBuilder b;
  body_work_node(&b, work, "TensorListPopBack", "pop");
  node_builder_type(&b, "element_dtype", type);
  node_builder_input(&b, list);
  node_builder_input(&b, element_shape);
  TRY(body_work_finish(work, &b, rest));
  *item = (NodeOutput){rest->node, 1};
  return true;
}

bool body_work_for(BodyWork *work, const char *name, const NodeOutput *inputs, int num_inputs,
                   const char *body, Node **loop) {
  enum { RANGE = 3 };
  NodeBuilder b;
  DataType *types = arena_calloc(work->arena, num_inputs, sizeof *types);
  if (!types) return oom(work);
  for (int i = RANGE; i < num_inputs; i++)
    types[i - RANGE] = (DataType)dtype_base(node_output_type(inputs[i]));
  body_work_node(&b, work, "For", name);
  node_builder_types(&b, "T", types, num_inputs - RANGE);
  node_builder_func(&b, "body", body);
  node_builder_inputs(&b, inputs, num_inputs);
  return node_builder_finish(&b, loop, work->status);
}

/* --- functions --- */

bool gradient_flows_through(DataType type) {
  int base = dtype_base(type);
  return dtype_is_floating(base) || dtype_is_complex(base) || base == DT_RESOURCE || base == DT_VARIANT;
}

bool gradient_called(const NodeDef *node, const char *attr, const NameAttrList **function, Status *status) {
  const AttrValue *value = node_def_attr(node, attr);
  if (!value || value->value_case != (int)ATTR_FUNC)
    return status_invalid(status, "No attr named '%s' of type func in op %s", attr, node->op);
  *function = value->func;
  return true;
}

/* Finds nodes with state, and control results. */
static bool find_effects(BodyWork *work, SplicedFunction *function) {
  const FunctionBody *body = function->body;
  int64_t ids = graph_num_node_ids(work->graph);
  uint8_t *found = arena_calloc(work->arena, ids, 1);
  function->effects = arena_calloc(work->arena, ids, sizeof *function->effects);
  if (!found || !function->effects) return oom(work);
  for (int i = 0; i < body->num_control_rets; i++) {
    const NodeDef *def = body->control_ret_nodes[i]->def;
    const Node *node = graph_find_node(work->graph, def->name);
    if (node && strcmp(node->def->op, def->op) == 0) found[node->id] = 1;
  }
  for (int64_t id = SINK_ID + 1; id < ids; id++) {
    Node *node = graph_node(work->graph, id);
    if (!node || node_is_placeholder(node)) continue;
    if (found[id] || node->op->def->is_stateful) function->effects[function->num_effects++] = node;
  }
  return true;
}

bool body_work_splice(BodyWork *work, const NameAttrList *f, bool keep_stateful, SplicedFunction *function) {
  const FunctionDef *def = graph_find_function(work->library->functions, f->name);
  if (!def) return status_set(work->status, CODE_NOT_FOUND, "Function %s is not defined.", f->name);
  /* All map entries have the same layout: a key and a value. */
  TRY(function_body_new_to_splice(work->library->functions, def, (const AttrEntry *const *)f->attr,
                                  (int)f->n_attr, &work->body, work->status));
  const FunctionBody *body = work->body;
  *function = (SplicedFunction){.body = body, .num_args = body->num_args, .num_rets = body->num_rets};
  function->args = arena_calloc(work->arena, body->num_args + 1, sizeof(NodeOutput));
  function->rets = arena_calloc(work->arena, body->num_rets + 1, sizeof(NodeOutput));
  function->dys = arena_calloc(work->arena, body->num_rets + 1, sizeof(NodeOutput));
  function->dxs = arena_calloc(work->arena, body->num_args + 1, sizeof(NodeOutput));
  if (!function->args || !function->rets || !function->dys || !function->dxs) return oom(work);
  for (int i = 0; i < body->num_args; i++)
    TRY(body_work_placeholder(work, body->arg_nodes[i]->name, body->arg_types[i], &function->args[i]));
  const SpliceOptions options = {.keep_stateful = keep_stateful};
  TRY(function_splice_body(work->graph, body, function->args, &options, function->rets, work->status));
  return !keep_stateful || find_effects(work, function);
}

bool body_work_differentiate(BodyWork *work, SplicedFunction *function, const bool *flows) {
  const FunctionBody *body = function->body;
  GradientLibrary *library = work->library;
  NodeOutput *ys = arena_calloc(work->arena, 2 * (int64_t)body->num_rets + 1, sizeof *ys);
  if (!ys) return oom(work);
  NodeOutput *dys = ys + body->num_rets;
  int num_ys = 0;
  for (int i = 0; i < body->num_rets; i++) {
    if (!flows[i]) continue;
    TRY(body_work_placeholder(work, "dy", body->ret_types[i], &function->dys[i]));
    ys[num_ys] = function->rets[i];
    dys[num_ys++] = function->dys[i];
  }
  function->first_gradient = graph_num_node_ids(work->graph);
  if (library->depth == GRADIENT_MAX_FUNCTION_DEPTH) return gradient_too_deep(body->name, work->status);
  library->depth++;
  bool ok = gradients_add(library, work->site, ys, num_ys, function->args, body->num_args, dys,
                          &(GradientOptions){.scope = ""}, function->dxs, work->status);
  library->depth--;
  return ok;
}

static bool make_function(BodyWork *work, const char *name, const NodeOutput *inputs, int num_inputs,
                          const NodeOutput *outputs, int num_outputs, const SplicedFunction *whole,
                          FunctionDef **function) {
  GraphToFunctionOptions options = {.name = name,
                                    .inputs = inputs,
                                    .num_inputs = num_inputs,
                                    .outputs = outputs,
                                    .num_outputs = num_outputs,
                                    .control_outputs = !whole ? NULL : whole->effects,
                                    .num_control_outputs = !whole ? 0 : whole->num_effects};
  return graph_to_function(work->graph, &options, work->arena, function, work->status);
}

bool body_work_function(BodyWork *work, const char *name, const NodeOutput *inputs, int num_inputs,
                        const NodeOutput *outputs, int num_outputs, Arena *arena, FunctionDef **function) {
  FunctionDef *made;
  TRY(make_function(work, name, inputs, num_inputs, outputs, num_outputs, NULL, &made));
  *function = arena == work->arena ? made : proto_copy(made, arena);
  return *function || oom(work);
}

bool body_work_define(BodyWork *work, const char *name, const NodeOutput *inputs, int num_inputs,
                      const NodeOutput *outputs, int num_outputs, const SplicedFunction *whole,
                      const char **defined) {
  FunctionDef *function;
  Graph *library = work->library->functions;
  char *chosen = arena_strdup(work->library->arena, name);
  if (!chosen) return oom(work);
  TRY(make_function(work, name, inputs, num_inputs, outputs, num_outputs, whole, &function));
  for (int i = 1;; i++) {
    function->signature->name = chosen;
    const FunctionDef *other = graph_find_function(library, chosen);
    if (other && proto_equal(other, function)) break;
    if (!other && !op_registry_find(graph_ops(library), chosen)) {
      /* Remembered first: the function must be removed from the library when something fails later. */
      TRY(gradient_library_remember(work->library, chosen, work->status));
      if (graph_add_function(library, function, work->status)) break;
      work->library->num_helpers--;
      return false;
    }
    chosen = arena_printf(work->library->arena, "%s_%d", name, i);
    if (!chosen) return oom(work);
  }
  *defined = chosen;
  return true;
}

const char *body_work_name(BodyWork *work, const char *name, const char *suffix) {
  static const char kForward[] = "_forward";
  const char *last = NULL;
  for (const char *at = name; (at = strstr(at, kForward)); at++) last = at;
  const char *behind = !last ? NULL : last + sizeof kForward - 1;
  if (behind && *behind == '_') behind += 1 + strspn(behind + 1, "0123456789");
  int length = behind && *behind == 0 ? (int)(last - name) : (int)strlen(name);
  return arena_printf(work->arena, "%.*s%s", length, name, suffix);
}

/* --- NodeDefs --- */

bool body_work_copy_def(BodyWork *work, const NodeDef *node, NodeDef **copy) {
  NodeDef bare = *node;
  bare.n_input = 0;
  *copy = proto_copy(&bare, work->library->arena);
  return *copy || oom(work);
}

bool body_work_widen_shapes(BodyWork *work, NodeDef *def, size_t count) {
  Arena *arena = work->library->arena;
  const AttrValue *old = node_def_attr(def, "output_shapes");
  size_t known = !old || !old->list ? 0 : old->list->n_shape;
  if (known == 0 || known >= count) return true;
  const TensorShapeProto **shapes = arena_calloc(arena, (int64_t)count, sizeof *shapes);
  const AttrValue *unknown = attr_value_shape(arena, -1, NULL);
  if (!shapes || !unknown) return oom(work);
  for (size_t i = 0; i < count; i++) shapes[i] = i < known ? old->list->shape[i] : unknown->shape;
  AttrValue *value = attr_value_shape_list(arena, shapes, count);
  return !value ? oom(work) : node_def_set_attr(def, arena, "output_shapes", value, work->status);
}
