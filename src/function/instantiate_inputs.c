/* Resolves the inputs of a function's nodes and connects them. */
#include <stdlib.h>

#include "function/instantiate_internal.h"

/* --- what inputs and results name --- */

static bool parse_index(const char *text, int *index) {
  if (text[0] < '0' || text[0] > '9' || strspn(text, "0123456789") != strlen(text) || strlen(text) > 9)
    return false;
  *index = atoi(text);
  return true;
}

/* "arg" and "arg:i" */
static bool find_arg(const Instantiation *in, const char *name, size_t length, const char *rest, Item *item) {
  int arg = (int)(intptr_t)string_map_find_bytes(&in->arg_map, name, length) - 1;
  if (arg < 0) return false;
  int begin = in->arg_starts[arg], count = in->arg_starts[arg + 1] - begin, index;
  *item = (Item){begin, 0, count, true};
  if (!rest) return true;
  if (!parse_index(rest, &index) || index >= count) return false;
  *item = (Item){begin + index, 0, 1, true};
  return true;
}

/* "node:out" and "node:out:i" */
static bool find_output(const Instantiation *in, const char *name, size_t length, const char *rest,
                        Item *item) {
  int node = (int)(intptr_t)string_map_find_bytes(&in->node_map, name, length) - 1;
  if (node < 0) return false;
  const OpDef *op = in->nodes[node].op->def;
  const char *colon = strchr(rest, ':');
  size_t arg_length = !colon ? strlen(rest) : (size_t)(colon - rest);
  for (size_t i = 0; i < op->n_output_arg; i++) {
    if (strlen(op->output_arg[i]->name) != arg_length ||
        memcmp(op->output_arg[i]->name, rest, arg_length) != 0)
      continue;
    int begin = in->output_starts[node][i], count = in->output_starts[node][i + 1] - begin, index;
    *item = (Item){node, begin, count, false};
    if (!colon) return true;
    if (!parse_index(colon + 1, &index) || index >= count) return false;
    *item = (Item){node, begin + index, 1, false};
    return true;
  }
  return false;
}

bool instantiation_find(const Instantiation *in, const char *text, Item *item) {
  const char *colon = strchr(text, ':');
  size_t length = !colon ? strlen(text) : (size_t)(colon - text);
  if (find_arg(in, text, length, !colon ? NULL : colon + 1, item)) return true;
  return colon && find_output(in, text, length, colon + 1, item);
}

int instantiation_find_control(const Instantiation *in, const char *name) {
  int node = (int)(intptr_t)string_map_find(&in->node_map, name) - 1;
  if (node >= 0) return node;
  Item item;
  return find_arg(in, name, strlen(name), NULL, &item) && item.count > 0 ? item.node : -1;
}

DataType item_type(const Instantiation *in, const Item *item, int k) {
  return item->is_arg ? in->body->arg_types[item->node + k]
                      : in->nodes[item->node].output_types[item->index + k];
}

InstantiatedInput item_input(const Item *item, int k) {
  return item->is_arg ? (InstantiatedInput){item->node + k, 0}
                      : (InstantiatedInput){item->node, item->index + k};
}

bool instantiation_write_input(Instantiation *in, NodeDef *def, InstantiatedInput input) {
  const char *name = in->nodes[input.node].def->name;
  char *text =
      input.index == 0 ? arena_strdup(in->arena, name) : arena_printf(in->arena, "%s:%d", name, input.index);
  if (!text) return instantiation_oom(in);
  return proto_append(in->arena, (void ***)&def->input, &def->n_input, text, in->status);
}

/* --- inputs --- */

typedef struct InputCursor {
  const NodeDef *def; /* as in the FunctionDef */
  InstantiatedInput *inputs;
  int next, filled;
} InputCursor;

/* Consumes inputs until they have given the `count` tensors of one input arg. */
static bool take_arg(Instantiation *in, InputCursor *at, const char *arg, const DataType *types, int count) {
  for (int j = 0; j < count;) {
    if ((size_t)at->next >= at->def->n_input) {
      return status_invalid(in->status, "Attempt to access beyond input size: %d >= %d", at->next,
                            (int)at->def->n_input);
    }
    const char *name = at->def->input[at->next++];
    Item item;
    if (!instantiation_find(in, name, &item))
      return status_invalid(in->status, "input %s is not found: {{node %s}}", name, at->def->name);
    if (item.count > count - j) return status_invalid(in->status, "Input %s too long for %s", name, arg);
    for (int k = 0; k < item.count; k++, j++) {
      DataType type = item_type(in, &item, k);
      if (!item_type_fits(type, types[j])) {
        return status_invalid(in->status, "input %s[%d] expected type %s != %s, the type of %s[%d]", arg, j,
                              dtype_name(types[j]), dtype_name(type), name, k);
      }
      at->inputs[at->filled++] = item_input(&item, k);
    }
  }
  return true;
}

/* Skips an empty list before an arg that takes no tensors. */
static void skip_empty_list(Instantiation *in, InputCursor *at) {
  Item item;
  if ((size_t)at->next < at->def->n_input && instantiation_find(in, at->def->input[at->next], &item) &&
      item.count == 0)
    at->next++;
}

static bool take_controls(Instantiation *in, InputCursor *at, InstantiatedNode *node) {
  int count = (int)at->def->n_input - at->next;
  int *controls = arena_calloc(in->scratch, count + 1, sizeof(int));
  if (!controls) return instantiation_oom(in);
  for (int i = 0; i < count; i++) {
    const char *input = at->def->input[at->next + i];
    if (input[0] != '^') {
      return status_invalid(in->status, "Expected input[%d] == '%s' to be a control input.", at->next + i,
                            input);
    }
    controls[i] = instantiation_find_control(in, input + 1);
    if (controls[i] < 0)
      return status_invalid(in->status, "input[%d] == '%s', is not found.", at->next + i, input);
    char *text = arena_printf(in->arena, "^%s", in->nodes[controls[i]].def->name);
    if (!text) return instantiation_oom(in);
    TRY(proto_append(in->arena, (void ***)&node->def->input, &node->def->n_input, text, in->status));
  }
  node->controls = controls;
  node->num_controls = count;
  return true;
}

bool instantiation_connect(Instantiation *in, const NodeDef *def, InstantiatedNode *node) {
  DataType *inputs, *outputs;
  int num_outputs, *starts;
  TRY(node_def_types(node->def, node->op->def, in->scratch, &inputs, &node->num_inputs, &outputs,
                     &num_outputs, in->status));
  TRY(node_def_arg_ranges(node->def, node->op->def, false, in->scratch, &starts, in->status));
  if (node->num_inputs > FUNCTION_MAX_EXPANDED)
    return status_invalid(in->status, "{{node %s}} has too many inputs", def->name);
  InputCursor at = {.def = def,
                    .inputs = arena_calloc(in->scratch, node->num_inputs + 1, sizeof(InstantiatedInput))};
  if (!at.inputs) return instantiation_oom(in);
  for (size_t i = 0; i < node->op->def->n_input_arg; i++) {
    int count = starts[i + 1] - starts[i];
    TRY(take_arg(in, &at, node->op->def->input_arg[i]->name, inputs + starts[i], count));
    if (count == 0) skip_empty_list(in, &at);
  }
  node->inputs = at.inputs;
  for (int i = 0; i < node->num_inputs; i++) TRY(instantiation_write_input(in, node->def, at.inputs[i]));
  return take_controls(in, &at, node);
}
