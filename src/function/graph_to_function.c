/* From a part of a graph to a FunctionDef. */
#include "function/graph_to_function.h"

#include <string.h>

#include "base/alloc.h"

typedef struct Builder {
  const Graph *graph;
  const GraphToFunctionOptions *options;
  Arena *arena;
  Status *status;
  FunctionDef *function;
  int *first_input;       /* per node id: 1 + the last option input that is an output of this node; 0: none */
  int *next_input;        /* per option input: 1 + another one of the same node */
  uint8_t *in_body;       /* per node id */
  const char **names;     /* per node id, of nodes in the body */
  const char **arg_names; /* per option input */
  int **starts;           /* per node id: output ranges, made when asked for */
  StringMap used;         /* names in use, to the last suffix tried + 1 */
} Builder;

static bool oom(Builder *b) { return status_oom(b->status, "making a function of a graph"); }

/* --- names --- */

/* `base`, or base_1, base_2, ...; NULL when out of memory. Lives in the arena. */
static const char *unique_name(Builder *b, const char *base) {
  intptr_t suffix = (intptr_t)string_map_find(&b->used, base);
  const char *name = base;
  if (suffix > 0) {
    do {
      name = arena_printf(b->arena, "%s_%lld", base, (long long)suffix++);
    } while (name != NULL && string_map_contains(&b->used, name));
    if (name == NULL || !string_map_set(&b->used, base, (void *)suffix, b->status)) return NULL;
  } else {
    name = arena_strdup(b->arena, base);
  }
  if (name == NULL || !string_map_set(&b->used, name, (void *)(intptr_t)1, b->status)) return NULL;
  return name;
}

/* What an argument may be called: [a-z][a-z0-9_]* */
static const char *unique_arg_name(Builder *b, const char *name) {
  char *text = arena_printf(b->arena, "%s%s", name[0] >= '0' && name[0] <= '9' ? "arg_" : "", name);
  if (text == NULL) return NULL;
  for (char *p = text; *p; p++) {
    if (*p >= 'A' && *p <= 'Z') *p = (char)(*p - 'A' + 'a');
    if (!((*p >= 'a' && *p <= 'z') || (*p >= '0' && *p <= '9'))) *p = '_';
  }
  char *begin = text;
  while (*begin == '_') begin++;
  if (*begin == 0) begin = arena_strdup(b->arena, "arg");
  if (begin != NULL && *begin >= '0' && *begin <= '9') begin = arena_printf(b->arena, "arg_%s", begin);
  return begin == NULL ? NULL : unique_name(b, begin);
}

/* --- inputs --- */

static bool check_value(Builder *b, NodeOutput value, const char *what, int i) {
  if (value.node == NULL)
    return status_invalid(b->status, "%s %d of function '%s' is null", what, i, b->options->name);
  TRY(graph_check_node(b->graph, value.node, b->status));
  if (value.index < 0 || value.index >= value.node->num_outputs) {
    return status_invalid(b->status, "%s %d of function '%s': node '%s' has %d outputs, no output %d", what,
                          i, b->options->name, value.node->name, value.node->num_outputs, value.index);
  }
  if (dtype_is_ref(node_output_type(value))) {
    return status_invalid(
        b->status, "%s %d of function '%s': '%s:%d' is a reference, which a function cannot take or give",
        what, i, b->options->name, value.node->name, value.index);
  }
  return true;
}

/* The argument that stands for a value; -1: none. */
static int find_input(const Builder *b, NodeOutput value) {
  for (int i = b->first_input[value.node->id]; i > 0; i = b->next_input[i - 1]) {
    if (b->options->inputs[i - 1].index == value.index) return i - 1;
  }
  return -1;
}

static bool add_inputs(Builder *b) {
  const GraphToFunctionOptions *options = b->options;
  OpDef *signature = b->function->signature;
  for (int i = 0; i < options->num_inputs; i++) {
    NodeOutput value = options->inputs[i];
    TRY(check_value(b, value, "Input", i));
    if (find_input(b, value) >= 0) {
      return status_invalid(b->status, "TF_Output %s:%d appears more than once in the input list",
                            value.node->name, value.index);
    }
    b->next_input[i] = b->first_input[value.node->id];
    b->first_input[value.node->id] = i + 1;
    ArgDef *arg = proto_new(&tensorflow__op_def__arg_def__descriptor, b->arena);
    b->arg_names[i] = unique_arg_name(b, value.node->name);
    if (arg == NULL || b->arg_names[i] == NULL) return oom(b);
    arg->name = (char *)b->arg_names[i];
    arg->type = (Tensorflow__DataType)node_output_type(value);
    TRY(proto_append(b->arena, (void ***)&signature->input_arg, &signature->n_input_arg, arg, b->status));
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
      for (int64_t k = 0; k < next->num_inputs + next->num_control_inputs; k++) {
        const Edge *edge =
            k < next->num_inputs ? next->inputs[k] : next->control_inputs[k - next->num_inputs];
        if (edge == NULL || b->in_body[edge->src->id]) continue;
        bool stop = edge_is_control(edge) ? b->first_input[edge->src->id] > 0
                                          : find_input(b, (NodeOutput){edge->src, edge->src_output}) >= 0;
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

static bool choose_body(Builder *b) {
  if (b->options->nodes == NULL) return reach_body(b);
  for (int64_t i = 0; i < b->options->num_nodes; i++) {
    TRY(graph_check_node(b->graph, b->options->nodes[i], b->status));
    if (b->options->nodes[i]->id > SINK_ID) b->in_body[b->options->nodes[i]->id] = 1;
  }
  return true;
}

/* "node:output_arg:index" */
static char *value_text(Builder *b, NodeOutput value) {
  int64_t id = value.node->id;
  const OpDef *op = value.node->op->def;
  if (b->starts[id] == NULL &&
      !node_def_arg_ranges(value.node->def, op, true, b->arena, &b->starts[id], b->status))
    return NULL;
  size_t arg = 0;
  while (arg + 1 < op->n_output_arg && b->starts[id][arg + 1] <= value.index) arg++;
  char *text = arena_printf(b->arena, "%s:%s:%d", b->names[id], op->output_arg[arg]->name,
                            value.index - b->starts[id][arg]);
  if (text == NULL) oom(b);
  return text;
}

/* How the function writes a value: an argument's name or a node's output. NULL with status when it is
 * neither. */
static char *write_value(Builder *b, NodeOutput value) {
  int input = find_input(b, value);
  if (input >= 0) return (char *)b->arg_names[input];
  if (b->in_body[value.node->id]) return value_text(b, value);
  status_invalid(b->status, "'%s:%d' is neither an input of function '%s' nor computed by a node of its body",
                 value.node->name, value.index, b->options->name);
  return NULL;
}

static bool add_controls(Builder *b, const Node *node, NodeDef *def) {
  for (int64_t i = 0; i < node->num_control_inputs; i++) {
    int64_t id = node->control_inputs[i]->src->id;
    const char *name = b->in_body[id] ? b->names[id] : NULL;
    if (name == NULL && b->first_input[id] > 0) name = b->arg_names[b->first_input[id] - 1];
    if (name == NULL) continue;
    char *text = arena_printf(b->arena, "^%s", name);
    if (text == NULL) return oom(b);
    TRY(proto_append(b->arena, (void ***)&def->input, &def->n_input, text, b->status));
  }
  return true;
}

static bool add_node(Builder *b, const Node *node) {
  NodeDef *def = proto_new(kNodeDef, b->arena);
  if (def == NULL) return oom(b);
  *def = *node->def;
  def->name = (char *)b->names[node->id];
  def->input = NULL, def->n_input = 0;
  for (int i = 0; i < node->num_inputs; i++) {
    const Edge *edge = node->inputs[i];
    if (edge == NULL)
      return status_invalid(b->status, "Input %d of node '%s' is not connected", i, node->name);
    char *text = write_value(b, (NodeOutput){edge->src, edge->src_output});
    if (text == NULL) return status_append(b->status, "; it is input %d of node '%s'", i, node->name);
    TRY(proto_append(b->arena, (void ***)&def->input, &def->n_input, text, b->status));
  }
  TRY(add_controls(b, node, def));
  if (node->op->def->is_stateful) b->function->signature->is_stateful = true;
  return proto_append(b->arena, (void ***)&b->function->node_def, &b->function->n_node_def, def, b->status);
}

static bool add_body(Builder *b) {
  int64_t ids = graph_num_node_ids(b->graph);
  for (int64_t id = 0; id < ids; id++) {
    if (b->in_body[id] && (b->names[id] = unique_name(b, graph_node(b->graph, id)->name)) == NULL)
      return oom(b);
  }
  for (int64_t id = 0; id < ids; id++) {
    if (b->in_body[id]) TRY(add_node(b, graph_node(b->graph, id)));
  }
  return true;
}

/* --- outputs --- */

static bool add_outputs(Builder *b) {
  OpDef *signature = b->function->signature;
  string_map_free(&b->used); /* results have names of their own */
  b->used = (StringMap){0};
  for (int i = 0; i < b->options->num_outputs; i++) {
    NodeOutput value = b->options->outputs[i];
    ArgDef *arg = proto_new(&tensorflow__op_def__arg_def__descriptor, b->arena);
    Tensorflow__FunctionDef__RetEntry *ret =
        proto_new(&tensorflow__function_def__ret_entry__descriptor, b->arena);
    if (arg == NULL || ret == NULL) return oom(b);
    const char *name = b->options->output_names != NULL ? b->options->output_names[i] : NULL;
    if (name != NULL && string_map_contains(&b->used, name))
      return status_invalid(b->status, "Duplicate output name '%s'", name);
    ret->key = (char *)(name != NULL ? unique_name(b, name) : unique_arg_name(b, value.node->name));
    if (ret->key == NULL) return oom(b);
    ret->value = write_value(b, value);
    if (ret->value == NULL) return false;
    arg->name = ret->key;
    arg->type = (Tensorflow__DataType)node_output_type(value);
    TRY(proto_append(b->arena, (void ***)&signature->output_arg, &signature->n_output_arg, arg, b->status));
    TRY(proto_append(b->arena, (void ***)&b->function->ret, &b->function->n_ret, ret, b->status));
  }
  return true;
}

static bool check_control_outputs(Builder *b) {
  for (int i = 0; i < b->options->num_control_outputs; i++) {
    Node *node = b->options->control_outputs[i];
    if (node == NULL)
      return status_invalid(b->status, "Control output %d of function '%s' is null", i, b->options->name);
    TRY(graph_check_node(b->graph, node, b->status));
    if (node->id > SINK_ID && b->first_input[node->id] == 0) continue;
    return status_invalid(b->status, "Control output '%s' of function '%s' is not a node of its body",
                          node->name, b->options->name);
  }
  return true;
}

static bool add_control_outputs(Builder *b) {
  OpDef *signature = b->function->signature;
  string_map_free(&b->used);
  b->used = (StringMap){0};
  for (int i = 0; i < b->options->num_control_outputs; i++) {
    const Node *node = b->options->control_outputs[i];
    const char *const *names = b->options->control_output_names;
    const char *name = names != NULL && names[i] != NULL ? names[i] : node->name;
    if (!b->in_body[node->id]) {
      return status_invalid(b->status, "Control output '%s' of function '%s' is not a node of its body",
                            node->name, b->options->name);
    }
    if (string_map_contains(&b->used, name))
      return status_invalid(b->status, "Repeated control output name: %s", name);
    Tensorflow__FunctionDef__ControlRetEntry *ret =
        proto_new(&tensorflow__function_def__control_ret_entry__descriptor, b->arena);
    char *key = (char *)unique_name(b, name);
    if (ret == NULL || key == NULL) return oom(b);
    ret->key = key;
    ret->value = (char *)b->names[node->id];
    TRY(proto_append(b->arena, (void ***)&signature->control_output, &signature->n_control_output, key,
                     b->status));
    TRY(proto_append(b->arena, (void ***)&b->function->control_ret, &b->function->n_control_ret, ret,
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
  if (b->function == NULL || !b->first_input || !b->next_input || !b->in_body || !b->names || !b->arg_names ||
      !b->starts)
    return oom(b);
  b->function->signature = proto_new(kOpDef, b->arena);
  if (b->function->signature == NULL) return oom(b);
  b->function->signature->name = arena_strdup(b->arena, options->name);
  if (b->function->signature->name == NULL) return oom(b);
  TRY(add_inputs(b));
  for (int i = 0; i < options->num_outputs; i++) TRY(check_value(b, options->outputs[i], "Output", i));
  TRY(check_control_outputs(b));
  TRY(choose_body(b));
  TRY(add_body(b));
  TRY(add_outputs(b));
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
