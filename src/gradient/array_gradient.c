#include "gradient/array_gradient.h"

#include <string.h>

static bool oom(Status *status) { return status_oom(status, "gradients"); }

static bool is_array_of_gradients(const NodeDef *node) {
  return strncmp(node->op, "TensorArrayGrad", strlen("TensorArrayGrad")) == 0;
}

bool array_gradient_is_handle(const Edge *edge) {
  return !edge_is_control(edge) && dtype_base(edge->src->output_types[edge->src_output]) == DT_RESOURCE &&
         strncmp(edge->dst->def->op, "TensorArray", strlen("TensorArray")) == 0;
}

bool array_gradient_origin(NodeOutput handle, NodeOutput *origin, const char **source, Arena *arena,
                           Status *status) {
  Str name;
  *origin = handle;
  *source = NULL;
  if (!is_array_of_gradients(handle.node->def) || handle.index != 0 || !handle.node->inputs[0]) return true;
  if (handle.node->num_inputs > 2) {
    status_set(status, CODE_UNIMPLEMENTED,
               "Gradients of arrays of gradients that have a shape in front are not known (op: %s)",
               handle.node->def->op);
    return node_attach(handle.node->name, status);
  }
  TRY(node_attr_string(handle.node->def, "source", &name, status));
  *source = arena_strndup(arena, name.data, name.length);
  *origin = (NodeOutput){handle.node->inputs[0]->src, handle.node->inputs[0]->src_output};
  return *source || oom(status);
}

static bool set_source(NodeDef *node, const char *call, const char *array, Arena *arena, Status *status) {
  Str text;
  TRY(node_attr_string(node, "source", &text, status));
  const char *name = arena_printf(arena, "%s%s%s%s%.*s", array ? array : "", array ? ":" : "",
                                  call ? call : "", call ? "/" : "", (int)text.length, text.data);
  AttrValue *value = name ? attr_value_string(arena, name, strlen(name)) : NULL;
  return value ? node_def_set_attr(node, arena, "source", value, status) : oom(status);
}

static bool set_keeps(NodeDef *node, Arena *arena, Status *status) {
  AttrValue *value = attr_value_bool(arena, true);
  return value ? node_def_set_attr(node, arena, "_keeps_elements", value, status) : oom(status);
}

bool array_gradient_rename(FunctionDef *function, const char *call, const char *array, Arena *arena,
                           Status *status) {
  for (size_t i = 0; i < function->n_node_def; i++) {
    NodeDef *node = function->node_def[i];
    if (!is_array_of_gradients(node)) continue;
    TRY(set_source(node, call, array, arena, status));
    if (array) TRY(set_keeps(node, arena, status));
  }
  return true;
}
