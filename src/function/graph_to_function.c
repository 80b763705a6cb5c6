/* From a part of a graph to a FunctionDef. */
#include "function/graph_to_function.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "graph/node_class.h"

typedef struct Builder {
  const Graph *graph;
  const GraphToFunctionOptions *options;
  Arena *arena;
  Status *status;
  FunctionDef *function;
  int *first_input; /* per node id: 1 + the last option input that is an output of this node; 0 without one */
  int *next_input;  /* per option input: 1 + another input from the same node */
  uint8_t *in_body; /* per node id */
  const char **names;     /* per node id, of nodes in the body */
  const char **arg_names; /* per option input */
  int **starts;           /* per node id: output ranges, made on demand */
  StringMap used;         /* from a used name to the next suffix to try */
} Builder;

static bool oom(Builder *b) { return status_oom(b->status, "making a function of a graph"); }

/* --- names --- */

static bool take_name(Builder *b, const char *name) {
  return string_map_set(&b->used, name, (void *)(intptr_t)0, b->status);
}

/* `base`, or base_0, base_1, ...; in the arena. NULL when out of memory. */
static const char *unique_name(Builder *b, const char *base) {
  const char *name = base;
  if (string_map_contains(&b->used, base)) {
    intptr_t suffix = (intptr_t)string_map_find(&b->used, base);
    do {
      name = arena_printf(b->arena, "%s_%lld", base, (long long)suffix++);
    } while (name && string_map_contains(&b->used, name));
    if (!name || !string_map_set(&b->used, base, (void *)suffix, b->status)) return NULL;
  } else {
    name = arena_strdup(b->arena, base);
  }
  return name && take_name(b, name) ? name : NULL;
}

/* Makes a valid argument name: [a-z][a-z0-9_]* */
static const char *unique_arg_name(Builder *b, const char *name) {
  char *text = arena_strdup(b->arena, name);
  if (!text) return NULL;
  for (char *p = text; *p; p++) {
    if (*p >= 'A' && *p <= 'Z') *p = (char)(*p - 'A' + 'a');
    if (!((*p >= 'a' && *p <= 'z') || (*p >= '0' && *p <= '9'))) *p = '_';
  }
  while (*text && !(*text >= 'a' && *text <= 'z')) text++;
  return unique_name(b, *text ? text : "unknown");
}

/* --- inputs --- */

static bool check_value(Builder *b, NodeOutput value) {
  const Node *node = value.node;
  if (!node) return status_invalid(b->status, "Node is null");
  TRY(graph_check_node(b->graph, node, b->status));
  if (value.index < 0 || value.index >= node->num_outputs) {
    return status_set(b->status, CODE_OUT_OF_RANGE,
                      "Node '%s' (type: '%s', num of outputs: %d) does not have output %d", node->name,
                      node->def->op, node->num_outputs, value.index);
  }
  DataType type = node_output_type(value);
  if (!dtype_is_ref(type)) return true;
  return status_invalid(b->status, "Output %d of node '%s' has a reference type %s", value.index, node->name,
                        dtype_name(type));
}

static bool check_values(Builder *b) {
  const GraphToFunctionOptions *options = b->options;
  for (int i = 0; i < options->num_inputs; i++) {
    if (check_value(b, options->inputs[i])) continue;
    return status_append(b->status, "\n\tEncountered while processing input %d into function '%s'", i,
                         options->name);
  }
  for (int i = 0; i < options->num_outputs; i++) {
    if (check_value(b, options->outputs[i])) continue;
    return status_append(b->status, "\n\tEncountered while processing output %d from function '%s'", i,
                         options->name);
  }
  return true;
}

/* The argument for a value; -1 without one. */
static int find_input(const Builder *b, NodeOutput value) {
  for (int i = b->first_input[value.node->id]; i > 0; i = b->next_input[i - 1]) {
    if (b->options->inputs[i - 1].index == value.index) return i - 1;
  }
  return -1;
}

static bool index_inputs(Builder *b) {
  for (int i = 0; i < b->options->num_inputs; i++) {
    NodeOutput value = b->options->inputs[i];
    if (find_input(b, value) >= 0) {
      return status_invalid(b->status, "TF_Output %s:%d appears more than once in the input list",
                            value.node->name, value.index);
    }
    b->next_input[i] = b->first_input[value.node->id];
    b->first_input[value.node->id] = i + 1;
  }
  return true;
}

typedef Tensorflow__FunctionDef__ArgAttrEntry ArgAttrs;
typedef Tensorflow__FunctionDef__ArgAttrs__AttrEntry ArgAttr;

/* A list of one shape, as arg_attr stores the shape of an argument. NULL when out of memory. */
static AttrValue *output_shapes(Builder *b, const TensorShapeProto *shape) {
  return attr_value_shape_list(b->arena, &shape, 1);
}

/* The name and value under which attr `entry` of an input's node is kept; NULL when it is dropped. */
static const char *kept_as(Builder *b, const Node *node, DataType type, const AttrEntry *entry,
                           AttrValue **value) {
  *value = entry->value;
  if (entry->key[0] == '_') return entry->key;
  bool is_shape =
      strcmp(entry->key, "shape") == 0 && type != DT_RESOURCE && entry->value->value_case == (int)ATTR_SHAPE;
  bool is_value = strcmp(entry->key, "value") == 0 && node_is_const(node) &&
                  entry->value->value_case == (int)ATTR_TENSOR && entry->value->tensor->tensor_shape;
  if (!is_shape && !is_value) return NULL;
  *value = output_shapes(b, is_shape ? entry->value->shape : entry->value->tensor->tensor_shape);
  return "_output_shapes";
}

static bool add_arg_attrs(Builder *b, int arg, NodeOutput input) {
  ArgAttrs *attrs = NULL;
  for (size_t i = 0; i < input.node->def->n_attr; i++) {
    AttrValue *value;
    const char *name = kept_as(b, input.node, node_output_type(input), input.node->def->attr[i], &value);
    if (!name) continue;
    ArgAttr *attr = proto_new(&tensorflow__function_def__arg_attrs__attr_entry__descriptor, b->arena);
    if (!attrs) {
      attrs = proto_new(&tensorflow__function_def__arg_attr_entry__descriptor, b->arena);
      if (!attrs) return oom(b);
      attrs->key = (uint32_t)arg;
      attrs->value = proto_new(&tensorflow__function_def__arg_attrs__descriptor, b->arena);
      TRY(proto_append(b->arena, (void ***)&b->function->arg_attr, &b->function->n_arg_attr, attrs,
                       b->status));
    }
    if (!attr || !attrs->value || !value) return oom(b);
    attr->key = (char *)name;
    attr->value = value;
    TRY(proto_append(b->arena, (void ***)&attrs->value->attr, &attrs->value->n_attr, attr, b->status));
  }
  return true;
}

static bool add_inputs(Builder *b) {
  OpDef *signature = b->function->signature;
  for (int i = 0; i < b->options->num_inputs; i++) {
    NodeOutput value = b->options->inputs[i];
    ArgDef *arg = proto_new(&tensorflow__op_def__arg_def__descriptor, b->arena);
    b->arg_names[i] = unique_arg_name(b, value.node->name);
    if (!arg || !b->arg_names[i]) return oom(b);
    arg->name = (char *)b->arg_names[i];
    arg->type = (Tensorflow__DataType)node_output_type(value);
    TRY(proto_append(b->arena, (void ***)&signature->input_arg, &signature->n_input_arg, arg, b->status));
    if (b->options->keep_arg_attrs) TRY(add_arg_attrs(b, i, value));
  }
  return true;
}

/* --- the body --- */

/* What the outputs need, up to the inputs. */
static bool reach_body(Builder *b) {
  Node **stack = NULL;
  int64_t top = 0, capacity = 0;
  bool ok = false;
  int num_outputs = b->options->num_outputs;
  for (int i = 0; i < num_outputs + b->options->num_control_outputs; i++) {
    Node *node = i < num_outputs ? b->options->outputs[i].node : b->options->control_outputs[i - num_outputs];
    if (b->in_body[node->id] || (i < num_outputs && find_input(b, b->options->outputs[i]) >= 0)) continue;
    if (!mem_grow((void **)&stack, &capacity, top + 1, sizeof(Node *))) goto out_of_memory;
    b->in_body[node->id] = 1;
    stack[top++] = node;
    while (top > 0) {
      Node *next = stack[--top];
      for (int64_t k = 0; k < node_num_in_edges(next); k++) {
        const Edge *edge = node_in_edge(next, k);
        if (!edge || b->in_body[edge->src->id]) continue;
        bool stop =
            edge_is_control(edge) ? b->first_input[edge->src->id] > 0 : find_input(b, edge_value(edge)) >= 0;
        if (stop) continue;
        if (!mem_grow((void **)&stack, &capacity, top + 1, sizeof(Node *))) goto out_of_memory;
        b->in_body[edge->src->id] = 1;
        stack[top++] = edge->src;
      }
    }
  }
  ok = true;
  goto done;
out_of_memory:
  oom(b);
done:
  mem_free(stack);
  return ok;
}

static bool take_all(Builder *b) {
  for (int64_t id = SINK_ID + 1; id < graph_num_node_ids(b->graph); id++) {
    const Node *node = graph_node(b->graph, id);
    if (!node) continue;
    b->in_body[id] = b->first_input[id] == 0;
    if (b->in_body[id] || node->num_outputs == 1) continue;
    return status_invalid(b->status,
                          "When `num_opers` is set to -1, nodes referenced in `inputs` must have a single "
                          "output. Node %s has %d outputs. Encountered while creating function '%s'",
                          node->name, node->num_outputs, b->options->name);
  }
  return true;
}

static bool choose_body(Builder *b) {
  if (b->options->all_nodes) return take_all(b);
  if (!b->options->nodes) return reach_body(b);
  for (int64_t i = 0; i < b->options->num_nodes; i++) {
    if (!b->options->nodes[i]) return status_invalid(b->status, "Node is null");
    TRY(graph_check_node(b->graph, b->options->nodes[i], b->status));
    if (b->options->nodes[i]->id > SINK_ID) b->in_body[b->options->nodes[i]->id] = 1;
  }
  return true;
}

/* "node:output_arg:index" */
static bool value_text(Builder *b, NodeOutput value, char **text) {
  int64_t id = value.node->id;
  const OpDef *op = value.node->op->def;
  if (!b->starts[id])
    TRY(node_def_arg_ranges(value.node->def, op, true, b->arena, &b->starts[id], b->status));
  size_t arg = 0;
  while (arg + 1 < op->n_output_arg && b->starts[id][arg + 1] <= value.index) arg++;
  *text = arena_printf(b->arena, "%s:%s:%d", b->names[id], op->output_arg[arg]->name,
                       value.index - b->starts[id][arg]);
  return *text || oom(b);
}

/* How the function refers to a value: by an argument's name or as a node's output; NULL when it is
 * neither. */
static bool write_value(Builder *b, NodeOutput value, char **text) {
  int input = find_input(b, value);
  if (input < 0 && b->in_body[value.node->id]) return value_text(b, value, text);
  *text = input < 0 ? NULL : (char *)b->arg_names[input];
  return true;
}

static bool add_inputs_of(Builder *b, const Node *node, NodeDef *def) {
  for (int i = 0; i < node->num_inputs; i++) {
    const Edge *edge = node->inputs[i];
    if (!edge) return status_invalid(b->status, "Input %d of node '%s' is not connected", i, node->name);
    char *text;
    TRY(write_value(b, edge_value(edge), &text));
    if (!text) {
      return status_invalid(b->status,
                            "Input %d, '%s:%d', of node '%s' in function '%s' is not available. You might "
                            "need to "
                            "include it in inputs or include its source node in the body",
                            i, edge->src->name, edge->src_output, node->name, b->options->name);
    }
    TRY(proto_append(b->arena, (void ***)&def->input, &def->n_input, text, b->status));
  }
  return true;
}

/* The name of a node in the function: a node of its body, or the last argument that is an output of the
 * node. NULL for other nodes. */
static const char *node_name(const Builder *b, const Node *node) {
  if (b->in_body[node->id]) return b->names[node->id];
  return b->first_input[node->id] > 0 ? b->arg_names[b->first_input[node->id] - 1] : NULL;
}

static int by_source_name(const void *a, const void *b) {
  return strcmp((*(const Edge *const *)a)->src->name, (*(const Edge *const *)b)->src->name);
}

static bool add_controls(Builder *b, const Node *node, NodeDef *def) {
  size_t count = (size_t)node->num_control_inputs;
  if (count == 0) return true;
  const Edge **edges = arena_calloc(b->arena, node->num_control_inputs, sizeof *edges);
  if (!edges) return oom(b);
  for (size_t i = 0; i < count; i++) edges[i] = node->control_inputs[i];
  qsort(edges, count, sizeof *edges, by_source_name);
  for (size_t i = 0; i < count; i++) {
    const char *name = node_name(b, edges[i]->src);
    if (!name) {
      StrBuf edge = {0};
      edge_print(edges[i], &edge);
      if (strbuf_ok(&edge, b->status)) {
        status_invalid(b->status,
                       "The source of control edge %s is not in the body. Encountered while creating "
                       "function '%s'",
                       strbuf_text(&edge), b->options->name);
      }
      strbuf_free(&edge);
      return false;
    }
    char *text = arena_printf(b->arena, "^%s", name);
    if (!text) return oom(b);
    TRY(proto_append(b->arena, (void ***)&def->input, &def->n_input, text, b->status));
  }
  return true;
}

static const AttrDef *find_attr_def(const OpDef *op, const char *name) {
  for (size_t i = 0; i < op->n_attr; i++) {
    if (strcmp(op->attr[i]->name, name) == 0) return op->attr[i];
  }
  return NULL;
}

/* Placeholders in the node's attrs become attrs of the function, each once. */
static bool add_placeholders(Builder *b, const Node *node) {
  OpDef *signature = b->function->signature;
  for (size_t i = 0; i < node->def->n_attr; i++) {
    const AttrEntry *entry = node->def->attr[i];
    if (entry->value->value_case != (int)ATTR_PLACEHOLDER) continue;
    if (find_attr_def(signature, entry->value->placeholder)) continue;
    const AttrDef *of_op = find_attr_def(node->op->def, entry->key);
    if (!of_op) {
      return status_set(b->status, CODE_UNIMPLEMENTED,
                        "Placeholder value is not supported for attributes not in OpDef. Attribute: %s, "
                        "OpDef: %s",
                        entry->key, node->op->def->name);
    }
    AttrDef *attr = proto_new(&tensorflow__op_def__attr_def__descriptor, b->arena);
    if (!attr) return oom(b);
    attr->name = entry->value->placeholder;
    attr->type = of_op->type;
    TRY(proto_append(b->arena, (void ***)&signature->attr, &signature->n_attr, attr, b->status));
  }
  return true;
}

static bool add_node(Builder *b, const Node *node) {
  NodeDef *def = proto_new(kNodeDef, b->arena);
  if (!def) return oom(b);
  *def = *node->def;
  def->name = (char *)b->names[node->id];
  def->input = NULL, def->n_input = 0;
  TRY(add_inputs_of(b, node, def));
  TRY(add_controls(b, node, def));
  TRY(add_placeholders(b, node));
  if (node->op->def->is_stateful) b->function->signature->is_stateful = true;
  return proto_append(b->arena, (void ***)&b->function->node_def, &b->function->n_node_def, def, b->status);
}

static bool add_body(Builder *b) {
  int64_t ids = graph_num_node_ids(b->graph);
  for (int64_t id = 0; id < ids; id++) {
    if (b->in_body[id] && !(b->names[id] = unique_name(b, graph_node(b->graph, id)->name))) return oom(b);
  }
  for (int64_t id = 0; id < ids; id++) {
    if (b->in_body[id]) TRY(add_node(b, graph_node(b->graph, id)));
  }
  return true;
}

/* --- outputs --- */

/* The name of result `i`; NULL with status. */
static const char *output_name(Builder *b, int i) {
  const char *const *names = b->options->output_names;
  if (!names) {
    const char *name = unique_arg_name(b, b->options->outputs[i].node->name);
    if (!name) oom(b);
    return name;
  }
  if (!names[i]) {
    status_invalid(b->status, "The name of output %d of function '%s' is null", i, b->options->name);
    return NULL;
  }
  if (string_map_contains(&b->used, names[i])) {
    status_invalid(b->status,
                   "Cannot have duplicate output names. Name '%s' appears more than once in 'output_names' "
                   "array.",
                   names[i]);
    return NULL;
  }
  const char *name = arena_strdup(b->arena, names[i]);
  if (name && take_name(b, name)) return name;
  oom(b);
  return NULL;
}

/* Results are named first, so that names given by the caller are free. */
static bool add_outputs(Builder *b) {
  OpDef *signature = b->function->signature;
  for (int i = 0; i < b->options->num_outputs; i++) {
    ArgDef *arg = proto_new(&tensorflow__op_def__arg_def__descriptor, b->arena);
    if (!arg) return oom(b);
    const char *name = output_name(b, i);
    if (!name) return false;
    arg->name = (char *)name;
    arg->type = (Tensorflow__DataType)node_output_type(b->options->outputs[i]);
    TRY(proto_append(b->arena, (void ***)&signature->output_arg, &signature->n_output_arg, arg, b->status));
  }
  return true;
}

static bool add_rets(Builder *b) {
  for (int i = 0; i < b->options->num_outputs; i++) {
    NodeOutput value = b->options->outputs[i];
    Tensorflow__FunctionDef__RetEntry *ret =
        proto_new(&tensorflow__function_def__ret_entry__descriptor, b->arena);
    if (!ret) return oom(b);
    ret->key = b->function->signature->output_arg[i]->name;
    TRY(write_value(b, value, &ret->value));
    if (!ret->value) {
      return status_invalid(b->status,
                            "TF_Output %s:%d is neither in the function body nor among function inputs. "
                            "Encountered "
                            "while creating function '%s'",
                            value.node->name, value.index, b->options->name);
    }
    TRY(proto_append(b->arena, (void ***)&b->function->ret, &b->function->n_ret, ret, b->status));
  }
  return true;
}

static bool check_control_outputs(Builder *b) {
  for (int i = 0; i < b->options->num_control_outputs; i++) {
    Node *node = b->options->control_outputs[i];
    if (!node)
      return status_invalid(b->status, "Control output %d of function '%s' is null", i, b->options->name);
    TRY(graph_check_node(b->graph, node, b->status));
  }
  return true;
}

static int by_key(const void *a, const void *b) {
  typedef Tensorflow__FunctionDef__ControlRetEntry Entry;
  return strcmp((*(const Entry *const *)a)->key, (*(const Entry *const *)b)->key);
}

static bool add_control_outputs(Builder *b) {
  FunctionDef *function = b->function;
  OpDef *signature = function->signature;
  for (int i = 0; i < b->options->num_control_outputs; i++) {
    const Node *node = b->options->control_outputs[i];
    const char *const *names = b->options->control_output_names;
    const char *key = names && names[i] ? names[i] : node->name;
    const char *name = node_name(b, node);
    if (key[0] == 0) return status_invalid(b->status, "Control output name must be not empty");
    if (!name) return status_invalid(b->status, "Control output node name must be not empty");
    Tensorflow__FunctionDef__ControlRetEntry *ret =
        proto_new(&tensorflow__function_def__control_ret_entry__descriptor, b->arena);
    if (!ret || !(ret->key = arena_strdup(b->arena, key))) return oom(b);
    ret->value = (char *)name;
    TRY(proto_append(b->arena, (void ***)&function->control_ret, &function->n_control_ret, ret, b->status));
  }
  if (function->n_control_ret == 0) return true;
  qsort(function->control_ret, function->n_control_ret, sizeof *function->control_ret, by_key);
  for (size_t i = 0; i < function->n_control_ret; i++) {
    char *key = function->control_ret[i]->key;
    if (i > 0 && strcmp(function->control_ret[i - 1]->key, key) == 0)
      return status_invalid(b->status, "Repeated control output name: %s", key);
    TRY(proto_append(b->arena, (void ***)&signature->control_output, &signature->n_control_output, key,
                     b->status));
  }
  return true;
}

static bool build(Builder *b) {
  const GraphToFunctionOptions *options = b->options;
  int64_t ids = graph_num_node_ids(b->graph);
  b->function = proto_new(kFunctionDef, b->arena);
  b->first_input = mem_calloc(ids, sizeof(int));
  b->next_input = mem_calloc(options->num_inputs + 1, sizeof(int));
  b->in_body = mem_calloc(ids, 1);
  b->names = mem_calloc(ids, sizeof(char *));
  b->arg_names = mem_calloc(options->num_inputs + 1, sizeof(char *));
  b->starts = mem_calloc(ids, sizeof(int *));
  if (!b->function || !b->first_input || !b->next_input || !b->in_body || !b->names || !b->arg_names ||
      !b->starts)
    return oom(b);
  b->function->signature = proto_new(kOpDef, b->arena);
  if (!b->function->signature) return oom(b);
  b->function->signature->name = arena_strdup(b->arena, options->name);
  if (!b->function->signature->name) return oom(b);
  TRY(check_values(b));
  TRY(index_inputs(b));
  TRY(check_control_outputs(b));
  TRY(choose_body(b));
  TRY(add_outputs(b));
  TRY(add_inputs(b));
  TRY(add_body(b));
  TRY(add_rets(b));
  return add_control_outputs(b);
}

bool graph_to_function(const Graph *graph, const GraphToFunctionOptions *options, Arena *arena,
                       FunctionDef **function, Status *status) {
  Builder b = {.graph = graph, .options = options, .arena = arena, .status = status};
  bool ok = build(&b);
  mem_free(b.first_input);
  mem_free(b.next_input);
  mem_free(b.in_body);
  mem_free(b.names);
  mem_free(b.arg_names);
  mem_free(b.starts);
  string_map_free(&b.used);
  if (ok) *function = b.function;
  return ok;
}
