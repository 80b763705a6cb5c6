/* Binding the attrs of a function: TensorFlow's InstantiateFunction. */
#include "function/instantiate_internal.h"

bool instantiation_oom(Instantiation *in) { return status_oom(in->status, "instantiating a function"); }

/* --- nodes and their names --- */

static InstantiatedNode *add_node(Instantiation *in) { return &in->body->nodes[in->body->num_nodes++]; }

/* `_Arg` or `_Retval` number `index`. Integers stay on the host's side of a device only when the function
 * does not say otherwise. */
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
    if (string_map_contains(&in->args, name))
      return status_invalid(in->status, "Duplicated arg name: %s", name);
    TRY(map_index(in, &in->args, name, (int)i));
    in->arg_starts[i] = in->body->num_nodes;
    for (int j = 0; j < counts[i]; j++) {
      int index = in->body->num_nodes;
      flat[index] = types[i][j];
      char *node_name =
          counts[i] == 1 ? arena_strdup(in->arena, name) : arena_printf(in->arena, "%s_%d", name, j);
      TRY(add_boundary(in, boundary_op(in, true, flat[index]), node_name, flat[index], index));
      InstantiatedNode *node = &in->body->nodes[index];
      node->num_outputs = 1;
      node->output_types = &flat[index];
    }
  }
  in->arg_starts[signature->n_input_arg] = in->body->num_nodes;
  return true;
}

static bool check_arg_attr(Instantiation *in, const NodeDef *node, const char *kind, const char *attr) {
  if (attr[0] == 0 || node_def_attr(node, attr)) return true;
  return status_set(in->status, CODE_NOT_FOUND, "%s attr not found: %s", kind, attr);
}

/* The attrs are there on which number and types of the args depend. */
static bool check_arg_attrs(Instantiation *in, const NodeDef *node, ArgDef *const *args, size_t count) {
  for (size_t i = 0; i < count; i++) {
    TRY(check_arg_attr(in, node, "type list", args[i]->type_list_attr));
    TRY(check_arg_attr(in, node, "number", args[i]->number_attr));
    TRY(check_arg_attr(in, node, "type", args[i]->type_attr));
  }
  return true;
}

/* Its outputs, under its name. */
static bool index_body_node(Instantiation *in, const NodeDef *def, int index) {
  InstantiatedNode *node = &in->body->nodes[index];
  OpDef op = *node->op->def;
  if (string_map_contains(&in->nodes, def->name)) {
    return status_invalid(in->status, "Duplicated ret name: %s%s%s", def->name,
                          op.n_output_arg > 0 ? ":" : "", op.n_output_arg > 0 ? op.output_arg[0]->name : "");
  }
  TRY(map_index(in, &in->nodes, def->name, index));
  DataType *inputs, *outputs;
  int num_inputs;
  op.n_input_arg = 0; /* what is wrong with inputs shows later */
  if (!check_arg_attrs(in, node->def, op.output_arg, op.n_output_arg) ||
      !node_def_types(node->def, &op, in->arena, &inputs, &num_inputs, &outputs, &node->num_outputs,
                      in->status) ||
      !node_def_arg_ranges(node->def, &op, true, in->arena, &in->output_starts[index], in->status)) {
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

/* In TensorFlow's order, which decides what is reported when several things are wrong: attrs of all nodes,
 * their outputs, their inputs. */
static bool add_body_nodes(Instantiation *in) {
  const FunctionDef *function = in->function;
  int first = in->body->num_nodes, count = (int)function->n_node_def;
  for (int i = 0; i < count; i++) TRY(instantiation_bind_attrs(in, function->node_def[i], add_node(in)));
  for (int i = 0; i < count; i++) TRY(index_body_node(in, function->node_def[i], first + i));
  for (int i = 0; i < count; i++)
    TRY(connect_body_node(in, function->node_def[i], &in->body->nodes[first + i]));
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
    InstantiatedInput *input = arena_calloc(in->arena, 1, sizeof(InstantiatedInput));
    if (!input) return instantiation_oom(in);
    *input = item_input(&item, i);
    char *name = count == 1 ? arena_printf(in->arena, "%s_RetVal", ret->name)
                            : arena_printf(in->arena, "%s_RetVal_%d", ret->name, i);
    InstantiatedNode *node = &in->body->nodes[in->body->num_nodes];
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
  int *controls = arena_calloc(in->arena, (int64_t)function->n_control_ret + 1, sizeof(int));
  if (!controls) return instantiation_oom(in);
  in->body->control_rets = controls;
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

/* --- all of it --- */

static bool sum_args(Instantiation *in, ArgDef *const *args, size_t n, const DataType ***types, int **counts,
                     int *total) {
  *types = arena_calloc(in->arena, (int64_t)n + 1, sizeof(DataType *));
  *counts = arena_calloc(in->arena, (int64_t)n + 1, sizeof(int));
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

static bool instantiate(Instantiation *in) {
  const FunctionDef *function = in->function;
  const OpDef *signature = function->signature;
  TRY(instantiation_check_signature(in));
  const DataType **in_types, **ret_types;
  int *in_counts, *ret_counts, num_args, num_rets;
  TRY(sum_args(in, signature->input_arg, signature->n_input_arg, &in_types, &in_counts, &num_args));
  TRY(sum_args(in, signature->output_arg, signature->n_output_arg, &ret_types, &ret_counts, &num_rets));
  if (function->n_node_def > INT32_MAX / 2)
    return status_invalid(in->status, "Function %s has too many nodes", signature->name);
  int64_t nodes = (int64_t)num_args + (int64_t)function->n_node_def + num_rets;
  in->body->nodes = arena_calloc(in->arena, nodes + 1, sizeof(InstantiatedNode));
  in->output_starts = arena_calloc(in->arena, nodes + 1, sizeof(int *));
  in->arg_starts = arena_calloc(in->arena, (int64_t)signature->n_input_arg + 1, sizeof(int));
  if (!in->body->nodes || !in->output_starts || !in->arg_starts) return instantiation_oom(in);
  TRY(add_args(in, in_types, in_counts, num_args));
  TRY(add_body_nodes(in));
  TRY(add_rets(in, ret_types, ret_counts, num_rets));
  return add_control_rets(in);
}

bool function_instantiate(const Graph *graph, const FunctionDef *function, const AttrEntry *const *attrs,
                          int num_attrs, Arena *arena, InstantiationResult **body, Status *status) {
  if (!function->signature)
    return status_invalid(status, "A function without signature cannot be instantiated");
  Instantiation in = {.graph = graph,
                      .function = function,
                      .attrs = attrs,
                      .num_attrs = num_attrs,
                      .arena = arena,
                      .status = status};
  in.body = arena_calloc(arena, 1, sizeof(InstantiationResult));
  if (!in.body) return instantiation_oom(&in);
  in.body->name = function->signature->name;
  bool ok = instantiate(&in);
  string_map_free(&in.args);
  string_map_free(&in.nodes);
  if (ok) *body = in.body;
  return ok;
}
