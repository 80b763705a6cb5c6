/* Binding the attrs of a function: TensorFlow's InstantiateFunction. */
#include "base/alloc.h"
#include "function/instantiate_internal.h"
#include "graph/graph_walk.h"

bool instantiation_oom(Instantiation *in) { return status_oom(in->status, "instantiating a function"); }

/* --- nodes and their names --- */

static InstantiatedNode *add_node(Instantiation *in) { return &in->nodes[in->num_nodes++]; }

/* `_Arg` or `_Retval` number `index`. An int32 is `_DeviceArg` or `_DeviceRetval` when the function keeps
 * integers on the device. */
static bool add_boundary(Instantiation *in, const char *op, char *name, DataType type, int index) {
  InstantiatedNode *node = add_node(in);
  node->def = node_def_new(in->arena, "", op);
  AttrValue *t = attr_value_type(in->arena, type), *i = attr_value_int(in->arena, index);
  if (!node->def || !name || !t || !i) return instantiation_oom(in);
  node->def->name = name;
  TRY(node_def_set_attr(node->def, in->arena, "T", t, in->status));
  return node_def_set_attr(node->def, in->arena, "index", i, in->status);
}

static const char *boundary_op(const Instantiation *in, bool is_arg, DataType type) {
  const FunctionDef *function = in->function;
  bool on_device = false;
  for (size_t i = 0; i < function->n_attr; i++) {
    const AttrValue *value = function->attr[i]->value;
    if (strcmp(function->attr[i]->key, "experimental_ints_on_device") == 0 && value &&
        value->value_case == (int)ATTR_BOOL) {
      on_device = value->b;
    }
  }
  if (on_device && type == DT_INT32) return is_arg ? "_DeviceArg" : "_DeviceRetval";
  return is_arg ? "_Arg" : "_Retval";
}

static bool map_index(Instantiation *in, StringMap *map, const char *key, int index) {
  return string_map_set(map, key, (void *)(intptr_t)(index + 1), in->status);
}

static bool add_args(Instantiation *in, const DataType *const *types, const int *counts, int total) {
  const OpDef *signature = in->function->signature;
  DataType *flat = arena_calloc(in->arena, total + 1, sizeof(DataType));
  if (!flat) return instantiation_oom(in);
  in->body->arg_types = flat;
  in->body->num_args = total;
  for (size_t i = 0; i < signature->n_input_arg; i++) {
    const char *name = signature->input_arg[i]->name;
    if (string_map_contains(&in->arg_map, name))
      return status_invalid(in->status, "Duplicated arg name: %s", name);
    TRY(map_index(in, &in->arg_map, name, (int)i));
    in->arg_starts[i] = in->num_nodes;
    for (int j = 0; j < counts[i]; j++) {
      int index = in->num_nodes;
      flat[index] = types[i][j];
      char *node_name =
          counts[i] == 1 ? arena_strdup(in->arena, name) : arena_printf(in->arena, "%s_%d", name, j);
      TRY(add_boundary(in, boundary_op(in, true, flat[index]), node_name, flat[index], index));
      InstantiatedNode *node = &in->nodes[index];
      node->num_outputs = 1;
      node->output_types = &flat[index];
    }
  }
  in->arg_starts[signature->n_input_arg] = in->num_nodes;
  return true;
}

static bool check_arg_attr(Instantiation *in, const NodeDef *node, const char *kind, const char *attr) {
  if (attr[0] == 0 || node_def_attr(node, attr)) return true;
  return status_set(in->status, CODE_NOT_FOUND, "%s attr not found: %s", kind, attr);
}

/* Checks that the attrs exist that determine number and types of the args. */
static bool check_arg_attrs(Instantiation *in, const NodeDef *node, ArgDef *const *args, size_t count) {
  for (size_t i = 0; i < count; i++) {
    TRY(check_arg_attr(in, node, "type list", args[i]->type_list_attr));
    TRY(check_arg_attr(in, node, "number", args[i]->number_attr));
    TRY(check_arg_attr(in, node, "type", args[i]->type_attr));
  }
  return true;
}

/* Registers the outputs of a node under its name. */
static bool index_body_node(Instantiation *in, const NodeDef *def, int index) {
  InstantiatedNode *node = &in->nodes[index];
  OpDef op = *node->op->def;
  if (string_map_contains(&in->node_map, def->name)) {
    return status_invalid(in->status, "Duplicated ret name: %s%s%s", def->name,
                          op.n_output_arg > 0 ? ":" : "", op.n_output_arg > 0 ? op.output_arg[0]->name : "");
  }
  TRY(map_index(in, &in->node_map, def->name, index));
  DataType *inputs, *outputs;
  int num_inputs;
  op.n_input_arg = 0; /* errors in inputs are reported later */
  if (!check_arg_attrs(in, node->def, op.output_arg, op.n_output_arg) ||
      !node_def_types(node->def, &op, in->scratch, &inputs, &num_inputs, &outputs, &node->num_outputs,
                      in->status) ||
      !node_def_arg_ranges(node->def, &op, true, in->scratch, &in->output_starts[index], in->status)) {
    return node_attach(def->name, in->status);
  }
  node->output_types = outputs;
  return true;
}

static bool connect_body_node(Instantiation *in, const NodeDef *def, InstantiatedNode *node) {
  if (!check_arg_attrs(in, node->def, node->op->def->input_arg, node->op->def->n_input_arg))
    return node_attach(def->name, in->status);
  return instantiation_connect(in, def, node);
}

/* In TensorFlow's order, which decides what is reported when several things are wrong: first the attrs of
 * all nodes, then their outputs, then their inputs. */
static bool add_body_nodes(Instantiation *in) {
  const FunctionDef *function = in->function;
  int first = in->num_nodes, count = (int)function->n_node_def;
  for (int i = 0; i < count; i++) TRY(instantiation_bind_attrs(in, function->node_def[i], add_node(in)));
  for (int i = 0; i < count; i++) TRY(index_body_node(in, function->node_def[i], first + i));
  for (int i = 0; i < count; i++) TRY(connect_body_node(in, function->node_def[i], &in->nodes[first + i]));
  return true;
}

/* --- results --- */

static const char *ret_value(const FunctionDef *function, const char *name) {
  for (size_t i = 0; i < function->n_ret; i++) {
    if (strcmp(function->ret[i]->key, name) == 0) return function->ret[i]->value;
  }
  return NULL;
}

static void append_types(StrBuf *text, const Instantiation *in, const Item *item, const DataType *types,
                         int count) {
  for (int i = 0; i < count; i++) {
    strbuf_printf(text, "%s%s", i == 0 ? "" : ", ", dtype_name(types ? types[i] : item_type(in, item, i)));
  }
}

static bool ret_types_differ(Instantiation *in, const ArgDef *ret, const Item *item, const DataType *types,
                             int count) {
  StrBuf want = {0}, have = {0};
  append_types(&want, in, item, types, count);
  append_types(&have, in, item, NULL, item->count);
  if (strbuf_ok(&want, in->status) && strbuf_ok(&have, in->status)) {
    status_invalid(in->status, "Invalid ret types %s : %s vs. %s", ret->name, strbuf_text(&want),
                   strbuf_text(&have));
  }
  strbuf_free(&want);
  strbuf_free(&have);
  return false;
}

static bool add_ret(Instantiation *in, const ArgDef *ret, const DataType *types, int count, int first) {
  const char *value = ret_value(in->function, ret->name);
  if (!value) return status_invalid(in->status, "Return %s missing.", ret->name);
  Item item;
  if (!instantiation_find(in, value, &item))
    return status_invalid(in->status, "Return %s -> %s is not found.", ret->name, value);
  bool same = item.count == count;
  for (int i = 0; same && i < count; i++) same = item_type_fits(item_type(in, &item, i), types[i]);
  if (!same) return ret_types_differ(in, ret, &item, types, count);
  for (int i = 0; i < count; i++) {
    InstantiatedInput *input = arena_calloc(in->scratch, 1, sizeof(InstantiatedInput));
    if (!input) return instantiation_oom(in);
    *input = item_input(&item, i);
    char *name = count == 1 ? arena_printf(in->arena, "%s_RetVal", ret->name)
                            : arena_printf(in->arena, "%s_RetVal_%d", ret->name, i);
    InstantiatedNode *node = &in->nodes[in->num_nodes];
    TRY(add_boundary(in, boundary_op(in, false, types[i]), name, types[i], first + i));
    node->inputs = input;
    node->num_inputs = 1;
    TRY(instantiation_write_input(in, node->def, *input));
  }
  return true;
}

static bool add_rets(Instantiation *in, const DataType *const *types, const int *counts, int total) {
  const OpDef *signature = in->function->signature;
  DataType *flat = arena_calloc(in->arena, total + 1, sizeof(DataType));
  if (!flat) return instantiation_oom(in);
  in->body->ret_types = flat;
  in->body->num_rets = total;
  int first = 0;
  for (size_t i = 0; i < signature->n_output_arg; i++) {
    const ArgDef *ret = signature->output_arg[i];
    if (!add_ret(in, ret, types[i], counts[i], first)) {
      const char *type = ret->type_list_attr[0] ? ret->type_list_attr
                         : ret->type_attr[0]    ? ret->type_attr
                                                : dtype_name((int)ret->type);
      return status_append(in->status, "\n\tIn function output %s:%s%s%s", ret->name, ret->number_attr,
                           ret->number_attr[0] ? "*" : "", type);
    }
    for (int j = 0; j < counts[i]; j++) flat[first++] = types[i][j];
  }
  return true;
}

static bool add_control_rets(Instantiation *in) {
  const FunctionDef *function = in->function;
  int *controls = arena_calloc(in->scratch, (int64_t)function->n_control_ret + 1, sizeof(int));
  if (!controls) return instantiation_oom(in);
  in->control_rets = controls;
  for (size_t i = 0; i < function->n_control_ret; i++) {
    int node = instantiation_find_control(in, function->control_ret[i]->value);
    if (node < 0) {
      return status_invalid(in->status, "Control return %s -> %s is not found.",
                            function->control_ret[i]->key, function->control_ret[i]->value);
    }
    controls[in->body->num_control_rets++] = node;
  }
  return true;
}

/* --- all nodes --- */

static bool sum_args(Instantiation *in, ArgDef *const *args, size_t n, const DataType ***types, int **counts,
                     int *total) {
  *types = arena_calloc(in->scratch, (int64_t)n + 1, sizeof(DataType *));
  *counts = arena_calloc(in->scratch, (int64_t)n + 1, sizeof(int));
  if (!*types || !*counts) return instantiation_oom(in);
  *total = 0;
  for (size_t i = 0; i < n; i++) {
    TRY(instantiation_arg_types(in, args[i], &(*types)[i], &(*counts)[i]));
    if ((*counts)[i] > FUNCTION_MAX_EXPANDED - *total) {
      return status_invalid(in->status, "Function %s has too many arguments or results",
                            in->function->signature->name);
    }
    *total += (*counts)[i];
  }
  return true;
}

static bool make_nodes(Instantiation *in) {
  const FunctionDef *function = in->function;
  const OpDef *signature = function->signature;
  if (!signature) return status_invalid(in->status, "A function without signature cannot be instantiated");
  in->body->name = arena_strdup(in->arena, signature->name);
  if (!in->body->name) return instantiation_oom(in);
  TRY(instantiation_check_signature(in));
  const DataType **in_types, **ret_types;
  int *in_counts, *ret_counts, num_args, num_rets;
  TRY(sum_args(in, signature->input_arg, signature->n_input_arg, &in_types, &in_counts, &num_args));
  TRY(sum_args(in, signature->output_arg, signature->n_output_arg, &ret_types, &ret_counts, &num_rets));
  if (function->n_node_def > INT32_MAX / 2)
    return status_invalid(in->status, "Function %s has too many nodes", signature->name);
  int64_t nodes = (int64_t)num_args + (int64_t)function->n_node_def + num_rets;
  in->nodes = arena_calloc(in->scratch, nodes + 1, sizeof(InstantiatedNode));
  in->output_starts = arena_calloc(in->scratch, nodes + 1, sizeof(int *));
  in->arg_starts = arena_calloc(in->scratch, (int64_t)signature->n_input_arg + 1, sizeof(int));
  if (!in->nodes || !in->output_starts || !in->arg_starts) return instantiation_oom(in);
  TRY(add_args(in, in_types, in_counts, num_args));
  TRY(add_body_nodes(in));
  TRY(add_rets(in, ret_types, ret_counts, num_rets));
  return add_control_rets(in);
}

/* --- the graph --- */

static bool connect_node(Instantiation *in, const InstantiatedNode *from, Node *const *nodes, Node *node) {
  Graph *graph = in->body->graph;
  Edge *edge;
  for (int i = 0; i < from->num_inputs; i++) {
    InstantiatedInput input = from->inputs[i];
    TRY(graph_add_edge(graph, nodes[input.node], input.index, node, i, &edge, in->status));
  }
  for (int i = 0; i < from->num_controls; i++)
    TRY(graph_add_control_edge(graph, nodes[from->controls[i]], node, &edge, in->status));
  return true;
}

static bool make_graph(Instantiation *in) {
  FunctionBody *body = in->body;
  Node **nodes = arena_calloc(in->arena, in->num_nodes, sizeof *nodes);
  Node **control_rets = arena_calloc(in->arena, body->num_control_rets, sizeof *control_rets);
  if (!nodes || !control_rets) return instantiation_oom(in);
  for (int i = 0; i < in->num_nodes; i++)
    TRY(graph_add_node(body->graph, in->nodes[i].def, &nodes[i], in->status));
  for (int i = 0; i < in->num_nodes; i++) TRY(connect_node(in, &in->nodes[i], nodes, nodes[i]));
  for (int i = 0; i < body->num_control_rets; i++) control_rets[i] = nodes[in->control_rets[i]];
  body->arg_nodes = nodes;
  body->ret_nodes = nodes + in->num_nodes - body->num_rets;
  body->control_ret_nodes = control_rets;
  return graph_fixup_source_and_sink_edges(body->graph, NULL, in->status);
}

/* --- the body --- */

/* The body shares values with the function and its attrs. Those that may be freed before the body are
 * copied: all attrs, and a function that is not in the library. */
static bool copy_sources(Instantiation *in) {
  const AttrEntry **attrs = arena_calloc(in->arena, in->num_attrs, sizeof *attrs);
  if (!attrs) return instantiation_oom(in);
  for (int i = 0; i < in->num_attrs; i++) {
    attrs[i] = proto_copy(in->attrs[i], in->arena);
    if (!attrs[i]) return instantiation_oom(in);
  }
  in->attrs = attrs;
  const OpDef *signature = in->function->signature;
  if (!in->library || !signature || graph_find_function(in->library, signature->name) != in->function)
    in->function = proto_copy(in->function, in->arena);
  return in->function || instantiation_oom(in);
}

static bool instantiate(Instantiation *in, Graph *library, bool shares) {
  FunctionBody *body = in->body;
  body->graph = library ? graph_new_body(library) : graph_new();
  in->scratch = arena_new();
  if (!body->graph || !in->scratch) return instantiation_oom(in);
  in->arena = graph_arena(body->graph);
  return (shares || copy_sources(in)) && make_nodes(in) && make_graph(in);
}

static bool new_body(Graph *library, const FunctionDef *function, const AttrEntry *const *attrs,
                     int num_attrs, bool shares, FunctionBody **body, Status *status) {
  Instantiation in = {.library = library,
                      .function = function,
                      .attrs = attrs,
                      .num_attrs = num_attrs,
                      .status = status};
  in.body = mem_calloc(1, sizeof *in.body);
  if (!in.body) return instantiation_oom(&in);
  bool ok = instantiate(&in, library, shares);
  string_map_free(&in.arg_map);
  string_map_free(&in.node_map);
  arena_free(in.scratch);
  if (ok) *body = in.body;
  else function_body_free(in.body);
  return ok;
}

bool function_body_new_without_shapes(Graph *library, const FunctionDef *function,
                                      const AttrEntry *const *attrs, int num_attrs, FunctionBody **body,
                                      Status *status) {
  return new_body(library, function, attrs, num_attrs, false, body, status);
}

bool function_body_new_to_splice(Graph *library, const FunctionDef *function, const AttrEntry *const *attrs,
                                 int num_attrs, FunctionBody **body, Status *status) {
  return new_body(library, function, attrs, num_attrs, true, body, status);
}

/* Infers shapes as far as possible: errors in a body are reported when it runs. */
static bool infer_shapes(Graph *graph, Status *status) {
  bool ok = false;
  Node **order;
  int64_t count;
  Arena *arena = arena_new();
  if (!arena) return status_oom(status, "the body of a function");
  const Walk walk = {.follow = walk_follow_forward};
  TRY_DONE(graph_reverse_post_order(graph, &walk, arena, &order, &count, status));
  for (int64_t i = 0; i < count; i++) {
    if (order[i]->id > SINK_ID) TRY_DONE(graph_infer_leniently(graph, order[i], status));
  }
  ok = true;
done:
  arena_free(arena);
  return ok;
}

bool function_body_new(Graph *library, const FunctionDef *function, const AttrEntry *const *attrs,
                       int num_attrs, FunctionBody **body, Status *status) {
  TRY(function_body_new_without_shapes(library, function, attrs, num_attrs, body, status));
  if (infer_shapes((*body)->graph, status)) return true;
  function_body_free(*body);
  *body = NULL;
  return false;
}
