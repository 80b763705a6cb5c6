/* Binding the attrs of a function: TensorFlow's InstantiateFunction. */
#include "function/instantiate.h"

#include <stdlib.h>
#include <string.h>

#include "function/function_internal.h"
#include "op/op_def_builder.h"

typedef struct Instantiation {
  const Graph *graph;
  const FunctionDef *function;
  const AttrEntry *const *attrs;
  int num_attrs;
  Arena *arena;
  Status *status;
  FunctionBody *body;
  int **output_starts;  /* per node where each of its output args begins, one more at the end */
  int *arg_starts;      /* per input arg of the signature the index of its first `_Arg`, one more at the end */
  StringMap args, nodes; /* to index + 1 */
} Instantiation;

/* The values that an input or a result names: outputs [index, index + count) of a node, or `count` argument nodes. */
typedef struct Item {
  int node, index, count;
  bool is_arg;
} Item;

static bool oom(Instantiation *in) { return status_oom(in->status, "instantiating a function"); }

static const AttrValue *find_attr(const AttrEntry *const *attrs, int count, const char *name) {
  for (int i = 0; i < count; i++) {
    if (strcmp(attrs[i]->key, name) == 0) return attrs[i]->value;
  }
  return NULL;
}

/* The value of one of the function's attrs: given, or the signature's default. */
static const AttrValue *attr_of(const Instantiation *in, const char *name) {
  const AttrValue *value = find_attr(in->attrs, in->num_attrs, name);
  if (value != NULL) return value;
  const AttrDef *def = op_def_attr(in->function->signature, name);
  return def == NULL ? NULL : def->default_value;
}

/* --- signature --- */

static bool has_type(const AttrValue *value, const char *type) {
  if (strcmp(type, "any") == 0) return true;
  if (value->value_case == (int)ATTR_NOT_SET) return text_starts_with(type, "list(");
  const char *kind = attr_value_kind_name(value);
  if (strcmp(kind, type) == 0) return true;
  if (value->value_case != (int)ATTR_LIST || !text_starts_with(type, "list(")) return false;
  const AttrListValue *list = value->list;
  return list->n_s + list->n_i + list->n_f + list->n_b + list->n_type + list->n_shape + list->n_tensor + list->n_func == 0;
}

static bool check_signature(Instantiation *in) {
  const OpDef *signature = in->function->signature;
  for (size_t i = 0; i < signature->n_attr; i++) {
    const AttrDef *def = signature->attr[i];
    const AttrValue *value = find_attr(in->attrs, in->num_attrs, def->name);
    if (value == NULL && def->default_value == NULL) {
      StrBuf text = {0};
      op_def_summarize(signature, &text);
      status_set(in->status, CODE_NOT_FOUND, "Attr %s is not found from %s", def->name, strbuf_text(&text));
      strbuf_free(&text);
      return false;
    }
    if (value != NULL && !has_type(value, def->type)) {
      return status_invalid(in->status, "AttrValue had value with type '%s' when '%s' expected\n\tfor attr '%s'",
                            attr_value_kind_name(value), def->type, def->name);
    }
  }
  return true;
}

/* The types of one argument or result of the signature. */
static bool arg_types(Instantiation *in, const ArgDef *arg, const DataType **types, int *count) {
  if (arg->type_list_attr[0] != 0) {
    const AttrValue *list = attr_of(in, arg->type_list_attr);
    if (list == NULL || list->value_case != (int)ATTR_LIST) {
      return status_set(in->status, CODE_NOT_FOUND, "type list attr not found: %s", arg->type_list_attr);
    }
    if (list->list->n_type > FUNCTION_MAX_EXPANDED) return status_invalid(in->status, "Argument %s expands to too many tensors", arg->name);
    *count = (int)list->list->n_type;
    DataType *copy = arena_calloc(in->arena, *count + 1, sizeof(DataType));
    if (copy == NULL) return oom(in);
    for (int i = 0; i < *count; i++) copy[i] = (DataType)list->list->type[i];
    *types = copy;
    return true;
  }
  int64_t number = 1;
  if (arg->number_attr[0] != 0) {
    const AttrValue *n = attr_of(in, arg->number_attr);
    if (n == NULL || n->value_case != (int)ATTR_INT) {
      return status_set(in->status, CODE_NOT_FOUND, "number attr not found: %s", arg->number_attr);
    }
    number = n->i;
    if (number < 0) return status_invalid(in->status, "Value for number_attr() %lld < 0", (long long)number);
    if (number > FUNCTION_MAX_EXPANDED) return status_invalid(in->status, "Argument %s expands to too many tensors: %lld", arg->name, (long long)number);
  }
  DataType type = (DataType)arg->type;
  if (arg->type_attr[0] != 0) {
    const AttrValue *t = attr_of(in, arg->type_attr);
    if (t == NULL || t->value_case != (int)ATTR_TYPE) {
      return status_set(in->status, CODE_NOT_FOUND, "type attr not found: %s", arg->type_attr);
    }
    type = (DataType)t->type;
  }
  if (!dtype_is_valid(type)) return status_invalid(in->status, "Argument %s has no valid type", arg->name);
  if (arg->is_ref) type = (DataType)dtype_ref(type);
  *count = (int)number;
  DataType *filled = arena_calloc(in->arena, number + 1, sizeof(DataType));
  if (filled == NULL) return oom(in);
  for (int64_t i = 0; i < number; i++) filled[i] = type;
  *types = filled;
  return true;
}

/* --- nodes and their names --- */

static FunctionBodyNode *add_node(Instantiation *in) { return &in->body->nodes[in->body->num_nodes++]; }

/* `_Arg` or `_Retval` number `index`. Integers stay on the host's side of a device only when the function does not say otherwise. */
static bool add_boundary(Instantiation *in, const char *op, char *name, DataType type, int index) {
  FunctionBodyNode *node = add_node(in);
  node->def = node_def_new(in->arena, "", op);
  AttrValue *t = attr_value_type(in->arena, type), *i = attr_value_int(in->arena, index);
  if (node->def == NULL || name == NULL || t == NULL || i == NULL) return oom(in);
  node->def->name = name;
  TRY(node_def_set_attr(node->def, in->arena, "T", t, in->status));
  return node_def_set_attr(node->def, in->arena, "index", i, in->status);
}

static const char *boundary_op(const Instantiation *in, bool is_arg, DataType type) {
  const FunctionDef *function = in->function;
  bool on_device = false;
  for (size_t i = 0; i < function->n_attr; i++) {
    const AttrValue *value = function->attr[i]->value;
    if (strcmp(function->attr[i]->key, "experimental_ints_on_device") == 0 && value != NULL && value->value_case == (int)ATTR_BOOL) {
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
  if (flat == NULL) return oom(in);
  in->body->arg_types = flat;
  in->body->num_args = total;
  for (size_t i = 0; i < signature->n_input_arg; i++) {
    const char *name = signature->input_arg[i]->name;
    if (string_map_contains(&in->args, name)) return status_invalid(in->status, "Duplicated arg name: %s", name);
    TRY(map_index(in, &in->args, name, (int)i));
    in->arg_starts[i] = in->body->num_nodes;
    for (int j = 0; j < counts[i]; j++) {
      int index = in->body->num_nodes;
      flat[index] = types[i][j];
      char *node_name = counts[i] == 1 ? arena_strdup(in->arena, name) : arena_printf(in->arena, "%s_%d", name, j);
      TRY(add_boundary(in, boundary_op(in, true, flat[index]), node_name, flat[index], index));
      FunctionBodyNode *node = &in->body->nodes[index];
      node->num_outputs = 1;
      node->output_types = &flat[index];
    }
  }
  in->arg_starts[signature->n_input_arg] = in->body->num_nodes;
  return true;
}

/* --- attrs of the body's nodes --- */

static bool bind_failed(Instantiation *in, const char *placeholder, const NodeDef *node) {
  status_invalid(in->status, "Failed to bind all placeholders in $%s", placeholder);
  return status_append(in->status, "\n\tIn {{node %s}}", node->name);
}

static bool bind_value(Instantiation *in, const NodeDef *node, const AttrValue *value, int depth, const AttrValue **bound);

static bool bind_func(Instantiation *in, const NodeDef *node, const NameAttrList *func, int depth, NameAttrList **bound) {
  *bound = proto_new(func->base.descriptor, in->arena);
  if (*bound == NULL) return oom(in);
  (*bound)->name = func->name;
  for (size_t i = 0; i < func->n_attr; i++) {
    FuncAttrEntry *entry = proto_new(func->attr[i]->base.descriptor, in->arena);
    if (entry == NULL) return oom(in);
    entry->key = func->attr[i]->key;
    const AttrValue *value = NULL;
    if (func->attr[i]->value != NULL) TRY(bind_value(in, node, func->attr[i]->value, depth + 1, &value));
    entry->value = (AttrValue *)value;
    TRY(proto_append(in->arena, (void ***)&(*bound)->attr, &(*bound)->n_attr, entry, in->status));
  }
  return true;
}

/* Values without placeholders are shared; recursion is bounded like the depth of messages. */
static bool bind_value(Instantiation *in, const NodeDef *node, const AttrValue *value, int depth, const AttrValue **bound) {
  *bound = value;
  if (depth > PROTO_MAX_DEPTH) return status_invalid(in->status, "attr values nested too deep in {{node %s}}", node->name);
  if (value->value_case == (int)ATTR_PLACEHOLDER) {
    *bound = attr_of(in, value->placeholder);
    return *bound != NULL || bind_failed(in, value->placeholder, node);
  }
  bool is_func = value->value_case == (int)ATTR_FUNC && value->func->n_attr > 0;
  bool is_list = value->value_case == (int)ATTR_LIST && value->list->n_func > 0;
  if (!is_func && !is_list) return true;
  AttrValue *copy = proto_new(kAttrValue, in->arena);
  if (copy == NULL) return oom(in);
  *bound = copy;
  copy->value_case = value->value_case;
  if (is_func) return bind_func(in, node, value->func, depth, &copy->func);
  copy->list = proto_new(value->list->base.descriptor, in->arena);
  if (copy->list == NULL) return oom(in);
  for (size_t i = 0; i < value->list->n_func; i++) {
    NameAttrList *func;
    TRY(bind_func(in, node, value->list->func[i], depth, &func));
    TRY(proto_append(in->arena, (void ***)&copy->list->func, &copy->list->n_func, func, in->status));
  }
  return true;
}

/* The dtype that a number written as a tensor shall have: only where the text left it open. */
static DataType literal_type(const NodeDef *def, const NodeDef *bound) {
  const AttrValue *written = node_def_attr(def, "dtype"), *value = node_def_attr(bound, "dtype");
  const AttrValue *tensor = node_def_attr(def, "value");
  if (value == NULL || value->value_case != (int)ATTR_TYPE) return DT_INVALID;
  bool open = written != NULL && written->value_case == (int)ATTR_PLACEHOLDER;
  if (!open && tensor != NULL && tensor->value_case == (int)ATTR_TENSOR) return DT_INVALID;
  return (DataType)value->type;
}

static bool look_up_op(Instantiation *in, const NodeDef *def, const Op **op) {
  if (in->graph != NULL) return graph_look_up_op(in->graph, def->op, op, in->status);
  return op_registry_look_up(def->op, op, in->status);
}

/* Attrs bound, defaults added, numbers made into what the op wants. */
static bool bind_attrs(Instantiation *in, const NodeDef *def, FunctionBodyNode *node) {
  node->def = node_def_new(in->arena, def->name, def->op);
  if (node->def == NULL) return oom(in);
  node->def->device = def->device;
  TRY(look_up_op(in, def, &node->op));
  for (size_t i = 0; i < def->n_attr; i++) {
    const AttrValue *value = def->attr[i]->value;
    if (value == NULL) continue;
    TRY(bind_value(in, def, value, 0, &value));
    TRY(node_def_set_attr(node->def, in->arena, def->attr[i]->key, (AttrValue *)value, in->status));
  }
  TRY(node_def_add_defaults(node->def, node->op->def, in->arena, in->status));
  DataType literal = literal_type(def, node->def);
  for (size_t i = 0; i < node->def->n_attr; i++) {
    const AttrDef *attr = op_def_attr(node->op->def, node->def->attr[i]->key);
    const AttrValue *value = node->def->attr[i]->value;
    if (attr == NULL) continue;
    if (!value_coerce(attr->type, literal, in->arena, &value, in->status)) return node_attach(def->name, in->status);
    node->def->attr[i]->value = (AttrValue *)value;
  }
  return true;
}

static bool add_body_node(Instantiation *in, const NodeDef *def) {
  int index = in->body->num_nodes;
  FunctionBodyNode *node = add_node(in);
  TRY(bind_attrs(in, def, node));
  if (string_map_contains(&in->nodes, def->name)) {
    bool outputs = node->op->def->n_output_arg > 0;
    return status_invalid(in->status, "Duplicated ret name: %s%s%s", def->name, outputs ? ":" : "",
                          outputs ? node->op->def->output_arg[0]->name : "");
  }
  TRY(map_index(in, &in->nodes, def->name, index));
  DataType *inputs, *outputs;
  int num_inputs;
  if (!node_def_types(node->def, node->op->def, in->arena, &inputs, &num_inputs, &outputs, &node->num_outputs, in->status) ||
      !node_def_arg_ranges(node->def, node->op->def, true, in->arena, &in->output_starts[index], in->status)) {
    return node_attach(def->name, in->status);
  }
  node->output_types = outputs;
  return true;
}

/* --- what inputs and results name --- */

static bool parse_index(const char *text, int *index) {
  if (text[0] < '0' || text[0] > '9' || strspn(text, "0123456789") != strlen(text) || strlen(text) > 9) return false;
  *index = atoi(text);
  return true;
}

/* "arg" and "arg:i" */
static bool find_arg(const Instantiation *in, const char *name, size_t length, const char *rest, Item *item) {
  int arg = (int)(intptr_t)string_map_find_bytes(&in->args, name, length) - 1;
  if (arg < 0) return false;
  int begin = in->arg_starts[arg], count = in->arg_starts[arg + 1] - begin, index;
  *item = (Item){begin, 0, count, true};
  if (rest == NULL) return true;
  if (!parse_index(rest, &index) || index >= count) return false;
  *item = (Item){begin + index, 0, 1, true};
  return true;
}

/* "node:out" and "node:out:i" */
static bool find_output(const Instantiation *in, const char *name, size_t length, const char *rest, Item *item) {
  int node = (int)(intptr_t)string_map_find_bytes(&in->nodes, name, length) - 1;
  if (node < 0) return false;
  const OpDef *op = in->body->nodes[node].op->def;
  const char *colon = strchr(rest, ':');
  size_t arg_length = colon == NULL ? strlen(rest) : (size_t)(colon - rest);
  for (size_t i = 0; i < op->n_output_arg; i++) {
    if (strlen(op->output_arg[i]->name) != arg_length || memcmp(op->output_arg[i]->name, rest, arg_length) != 0) continue;
    int begin = in->output_starts[node][i], count = in->output_starts[node][i + 1] - begin, index;
    *item = (Item){node, begin, count, false};
    if (colon == NULL) return true;
    if (!parse_index(colon + 1, &index) || index >= count) return false;
    *item = (Item){node, begin + index, 1, false};
    return true;
  }
  return false;
}

static bool find_item(const Instantiation *in, const char *text, Item *item) {
  const char *colon = strchr(text, ':');
  size_t length = colon == NULL ? strlen(text) : (size_t)(colon - text);
  if (find_arg(in, text, length, colon == NULL ? NULL : colon + 1, item)) return true;
  return colon != NULL && find_output(in, text, length, colon + 1, item);
}

/* "^n", a node or an argument; -1 when there is none. */
static int find_control(const Instantiation *in, const char *name) {
  int node = (int)(intptr_t)string_map_find(&in->nodes, name) - 1;
  if (node >= 0) return node;
  Item item;
  return find_arg(in, name, strlen(name), NULL, &item) && item.count > 0 ? item.node : -1;
}

static DataType item_type(const Instantiation *in, const Item *item, int k) {
  return item->is_arg ? in->body->arg_types[item->node + k] : in->body->nodes[item->node].output_types[item->index + k];
}

static FunctionBodyInput item_input(const Item *item, int k) {
  return item->is_arg ? (FunctionBodyInput){item->node + k, 0} : (FunctionBodyInput){item->node, item->index + k};
}

/* "n", "n:1" into the NodeDef. */
static bool write_input(Instantiation *in, NodeDef *def, FunctionBodyInput input) {
  const char *name = in->body->nodes[input.node].def->name;
  char *text = input.index == 0 ? arena_strdup(in->arena, name) : arena_printf(in->arena, "%s:%d", name, input.index);
  if (text == NULL) return oom(in);
  return proto_append(in->arena, (void ***)&def->input, &def->n_input, text, in->status);
}

/* --- inputs --- */

/* A value that is a reference may stand where a plain one is wanted. */
static bool type_fits(DataType have, DataType want) { return have == want || (DataType)dtype_base(have) == want; }

typedef struct InputCursor {
  const NodeDef *def; /* as in the FunctionDef */
  FunctionBodyInput *inputs;
  int next, filled;
} InputCursor;

/* Takes inputs until they have given the `count` tensors of one input arg. */
static bool take_arg(Instantiation *in, InputCursor *at, const char *arg, const DataType *types, int count) {
  for (int j = 0; j < count;) {
    if ((size_t)at->next >= at->def->n_input) {
      return status_invalid(in->status, "Attempt to access beyond input size: %d >= %d", at->next, (int)at->def->n_input);
    }
    const char *name = at->def->input[at->next++];
    Item item;
    if (!find_item(in, name, &item)) return status_invalid(in->status, "input %s is not found: {{node %s}}", name, at->def->name);
    if (item.count > count - j) return status_invalid(in->status, "Input %s too long for %s", name, arg);
    for (int k = 0; k < item.count; k++, j++) {
      DataType type = item_type(in, &item, k);
      if (!type_fits(type, types[j])) {
        return status_invalid(in->status, "input %s[%d] expected type %s != %s, the type of %s[%d]", arg, j, dtype_name(types[j]),
                              dtype_name(type), name, k);
      }
      at->inputs[at->filled++] = item_input(&item, k);
    }
  }
  return true;
}

/* A list without elements in front of an arg that wants none. */
static void skip_empty_list(Instantiation *in, InputCursor *at) {
  Item item;
  if ((size_t)at->next < at->def->n_input && find_item(in, at->def->input[at->next], &item) && item.count == 0) at->next++;
}

static bool take_controls(Instantiation *in, InputCursor *at, FunctionBodyNode *node) {
  int count = (int)at->def->n_input - at->next;
  int *controls = arena_calloc(in->arena, count + 1, sizeof(int));
  if (controls == NULL) return oom(in);
  for (int i = 0; i < count; i++) {
    const char *input = at->def->input[at->next + i];
    if (input[0] != '^') {
      return status_invalid(in->status, "Expected input[%d] == '%s' to be a control input.", at->next + i, input);
    }
    controls[i] = find_control(in, input + 1);
    if (controls[i] < 0) return status_invalid(in->status, "input[%d] == '%s', is not found.", at->next + i, input);
    char *text = arena_printf(in->arena, "^%s", in->body->nodes[controls[i]].def->name);
    if (text == NULL) return oom(in);
    TRY(proto_append(in->arena, (void ***)&node->def->input, &node->def->n_input, text, in->status));
  }
  node->controls = controls;
  node->num_controls = count;
  return true;
}

static bool connect(Instantiation *in, const NodeDef *def, FunctionBodyNode *node) {
  DataType *inputs, *outputs;
  int num_outputs, *starts;
  TRY(node_def_types(node->def, node->op->def, in->arena, &inputs, &node->num_inputs, &outputs, &num_outputs, in->status));
  TRY(node_def_arg_ranges(node->def, node->op->def, false, in->arena, &starts, in->status));
  if (node->num_inputs > FUNCTION_MAX_EXPANDED) return status_invalid(in->status, "{{node %s}} has too many inputs", def->name);
  InputCursor at = {.def = def, .inputs = arena_calloc(in->arena, node->num_inputs + 1, sizeof(FunctionBodyInput))};
  if (at.inputs == NULL) return oom(in);
  for (size_t i = 0; i < node->op->def->n_input_arg; i++) {
    int count = starts[i + 1] - starts[i];
    TRY(take_arg(in, &at, node->op->def->input_arg[i]->name, inputs + starts[i], count));
    if (count == 0) skip_empty_list(in, &at);
  }
  node->inputs = at.inputs;
  for (int i = 0; i < node->num_inputs; i++) TRY(write_input(in, node->def, at.inputs[i]));
  return take_controls(in, &at, node);
}

/* --- results --- */

static const char *ret_value(const FunctionDef *function, const char *name) {
  for (size_t i = 0; i < function->n_ret; i++) {
    if (strcmp(function->ret[i]->key, name) == 0) return function->ret[i]->value;
  }
  return NULL;
}

static void append_types(StrBuf *text, const Instantiation *in, const Item *item, const DataType *types, int count) {
  for (int i = 0; i < count; i++) {
    strbuf_printf(text, "%s%s", i == 0 ? "" : ", ", dtype_name(types != NULL ? types[i] : item_type(in, item, i)));
  }
}

static bool ret_types_differ(Instantiation *in, const ArgDef *ret, const Item *item, const DataType *types, int count) {
  StrBuf want = {0}, have = {0};
  append_types(&want, in, item, types, count);
  append_types(&have, in, item, NULL, item->count);
  status_invalid(in->status, "Invalid ret types %s : %s vs. %s", ret->name, strbuf_text(&want), strbuf_text(&have));
  strbuf_free(&want);
  strbuf_free(&have);
  return false;
}

static bool add_ret(Instantiation *in, const ArgDef *ret, const DataType *types, int count, int first) {
  const char *value = ret_value(in->function, ret->name);
  if (value == NULL) return status_invalid(in->status, "Return %s missing.", ret->name);
  Item item;
  if (!find_item(in, value, &item)) return status_invalid(in->status, "Return %s -> %s is not found.", ret->name, value);
  bool same = item.count == count;
  for (int i = 0; same && i < count; i++) same = type_fits(item_type(in, &item, i), types[i]);
  if (!same) return ret_types_differ(in, ret, &item, types, count);
  for (int i = 0; i < count; i++) {
    FunctionBodyInput *input = arena_calloc(in->arena, 1, sizeof(FunctionBodyInput));
    if (input == NULL) return oom(in);
    *input = item_input(&item, i);
    char *name = count == 1 ? arena_printf(in->arena, "%s_RetVal", ret->name) : arena_printf(in->arena, "%s_RetVal_%d", ret->name, i);
    FunctionBodyNode *node = &in->body->nodes[in->body->num_nodes];
    TRY(add_boundary(in, boundary_op(in, false, types[i]), name, types[i], first + i));
    node->inputs = input;
    node->num_inputs = 1;
    TRY(write_input(in, node->def, *input));
  }
  return true;
}

static bool add_rets(Instantiation *in, const DataType *const *types, const int *counts, int total) {
  const OpDef *signature = in->function->signature;
  DataType *flat = arena_calloc(in->arena, total + 1, sizeof(DataType));
  if (flat == NULL) return oom(in);
  in->body->ret_types = flat;
  in->body->num_rets = total;
  int first = 0;
  for (size_t i = 0; i < signature->n_output_arg; i++) {
    const ArgDef *ret = signature->output_arg[i];
    if (!add_ret(in, ret, types[i], counts[i], first)) {
      const char *type = ret->type_list_attr[0] ? ret->type_list_attr : ret->type_attr[0] ? ret->type_attr : dtype_name((int)ret->type);
      return status_append(in->status, "\n\tIn function output %s:%s%s%s", ret->name, ret->number_attr, ret->number_attr[0] ? "*" : "", type);
    }
    for (int j = 0; j < counts[i]; j++) flat[first++] = types[i][j];
  }
  return true;
}

static bool add_control_rets(Instantiation *in) {
  const FunctionDef *function = in->function;
  int *controls = arena_calloc(in->arena, (int64_t)function->n_control_ret + 1, sizeof(int));
  if (controls == NULL) return oom(in);
  in->body->control_rets = controls;
  for (size_t i = 0; i < function->n_control_ret; i++) {
    int node = find_control(in, function->control_ret[i]->value);
    if (node < 0) {
      return status_invalid(in->status, "Control return %s -> %s is not found.", function->control_ret[i]->key, function->control_ret[i]->value);
    }
    controls[in->body->num_control_rets++] = node;
  }
  return true;
}

/* --- all of it --- */

static bool sum_args(Instantiation *in, ArgDef *const *args, size_t n, const DataType ***types, int **counts, int *total) {
  *types = arena_calloc(in->arena, (int64_t)n + 1, sizeof(DataType *));
  *counts = arena_calloc(in->arena, (int64_t)n + 1, sizeof(int));
  if (*types == NULL || *counts == NULL) return oom(in);
  *total = 0;
  for (size_t i = 0; i < n; i++) {
    TRY(arg_types(in, args[i], &(*types)[i], &(*counts)[i]));
    if ((*counts)[i] > FUNCTION_MAX_EXPANDED - *total) {
      return status_invalid(in->status, "Function %s has too many arguments or results", in->function->signature->name);
    }
    *total += (*counts)[i];
  }
  return true;
}

static bool instantiate(Instantiation *in) {
  const FunctionDef *function = in->function;
  const OpDef *signature = function->signature;
  TRY(check_signature(in));
  const DataType **in_types, **ret_types;
  int *in_counts, *ret_counts, num_args, num_rets;
  TRY(sum_args(in, signature->input_arg, signature->n_input_arg, &in_types, &in_counts, &num_args));
  TRY(sum_args(in, signature->output_arg, signature->n_output_arg, &ret_types, &ret_counts, &num_rets));
  if (function->n_node_def > INT32_MAX / 2) return status_invalid(in->status, "Function %s has too many nodes", signature->name);
  int64_t nodes = (int64_t)num_args + (int64_t)function->n_node_def + num_rets;
  in->body->nodes = arena_calloc(in->arena, nodes + 1, sizeof(FunctionBodyNode));
  in->output_starts = arena_calloc(in->arena, nodes + 1, sizeof(int *));
  in->arg_starts = arena_calloc(in->arena, (int64_t)signature->n_input_arg + 1, sizeof(int));
  if (in->body->nodes == NULL || in->output_starts == NULL || in->arg_starts == NULL) return oom(in);
  TRY(add_args(in, in_types, in_counts, num_args));
  for (size_t i = 0; i < function->n_node_def; i++) TRY(add_body_node(in, function->node_def[i]));
  for (size_t i = 0; i < function->n_node_def; i++) {
    TRY(connect(in, function->node_def[i], &in->body->nodes[num_args + (int)i]));
  }
  TRY(add_rets(in, ret_types, ret_counts, num_rets));
  return add_control_rets(in);
}

bool function_instantiate(const Graph *graph, const FunctionDef *function, const AttrEntry *const *attrs, int num_attrs, Arena *arena,
                          FunctionBody **body, Status *status) {
  if (function->signature == NULL) return status_invalid(status, "A function without signature cannot be instantiated");
  Instantiation in = {.graph = graph, .function = function, .attrs = attrs, .num_attrs = num_attrs, .arena = arena, .status = status};
  in.body = arena_calloc(arena, 1, sizeof(FunctionBody));
  if (in.body == NULL) return oom(&in);
  in.body->name = function->signature->name;
  bool ok = instantiate(&in);
  string_map_free(&in.args);
  string_map_free(&in.nodes);
  if (ok) *body = in.body;
  return ok;
}
