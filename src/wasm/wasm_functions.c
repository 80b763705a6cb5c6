#include "wasm/wasm_functions.h"

#include "base/alloc.h"
#include "c_api/c_api_internal.h"
#include "function/function_def_builder.h"

/* Tensors arrive as raw content; in a function they get the usual encoding, so that function text can show
 * them. */
static bool encode_tensor(AttrValue *value, Arena *arena, Status *status) {
  Tensor tensor = {0};
  bool ok = tensor_from_proto(value->tensor, &tensor, status) &&
            tensor_to_proto(&tensor, arena, &value->tensor, status);
  tensor_clear(&tensor);
  return ok;
}

static bool read_node(const TF_WasmFunctionNode *from, Arena *arena, FunctionNode *node, Status *status) {
  FunctionAttr *attrs = arena_calloc(arena, from->num_attrs, sizeof *attrs);
  if (!attrs) return status_oom(status, "a function");
  for (int i = 0; i < from->num_attrs; i++) {
    void *value;
    TRY(proto_parse(kAttrValue, from->attrs[i].proto, from->attrs[i].length, arena, &value, status));
    attrs[i] = (FunctionAttr){from->attrs[i].name, value};
    if (attrs[i].value->value_case == (int)ATTR_TENSOR) TRY(encode_tensor(value, arena, status));
  }
  *node = (FunctionNode){.rets = from->rets,
                         .op = from->op,
                         .args = from->args,
                         .attrs = attrs,
                         .num_attrs = from->num_attrs,
                         .deps = from->deps,
                         .device = from->device};
  return true;
}

static bool read_returns(const char *const *pairs, Arena *arena, const FunctionReturn **returns, int *count,
                         Status *status) {
  int length = 0;
  while (pairs && pairs[length]) length++;
  FunctionReturn *list = arena_calloc(arena, length / 2 + 1, sizeof *list);
  if (!list) return status_oom(status, "a function");
  *count = length / 2;
  for (int i = 0; i < *count; i++) list[i] = (FunctionReturn){pairs[2 * i], pairs[2 * i + 1]};
  *returns = list;
  return true;
}

static bool build_function(const TF_WasmFunctionSpec *from, Arena *arena, TF_Buffer *proto, Status *status) {
  if (!arena) return status_oom(status, "a function");
  FunctionNode *nodes = arena_calloc(arena, from->num_nodes, sizeof *nodes);
  if (!nodes) return status_oom(status, "a function");
  FunctionSpec spec = {.name = from->name,
                       .args = from->args,
                       .rets = from->rets,
                       .attrs = from->attrs,
                       .nodes = nodes,
                       .num_nodes = from->num_nodes};
  for (int i = 0; i < from->num_nodes; i++) TRY(read_node(&from->nodes[i], arena, &nodes[i], status));
  TRY(read_returns(from->returns, arena, &spec.returns, &spec.num_returns, status));
  TRY(read_returns(from->control_returns, arena, &spec.control_returns, &spec.num_control_returns, status));
  FunctionDef *function;
  TRY((from->define ? function_define : function_create)(&spec, NULL, arena, &function, status));
  return fill_buffer_with_message(function, proto, status);
}

void TF_WasmBuildFunction(const TF_WasmFunctionSpec *spec, TF_Buffer *proto, TF_Status *status) {
  start_status(status);
  Arena *arena = arena_new();
  reported(build_function(spec, arena, proto, &status->status));
  arena_free(arena);
}

static bool add_gradient(Graph *graph, const char *function, const char *gradient, Status *status) {
  const Op *op;
  if (!graph_find_function(graph, gradient))
    return status_invalid(status, "there is no function '%s' in the graph", gradient);
  if (!graph_look_up_op(graph, function, &op, status)) {
    return status->code == CODE_RESOURCE_EXHAUSTED
               ? false
               : status_invalid(status, "there is no function or op '%s'", function);
  }
  return graph_add_gradient_def(graph, function, gradient, status);
}

void TF_WasmGraphAddGradient(TF_Graph *graph, const char *function, const char *gradient, TF_Status *status) {
  start_status(status);
  reported(add_gradient(graph->graph, function, gradient, &status->status));
}

const char *TF_WasmGraphFindGradient(TF_Graph *graph, const char *function) {
  const char *gradient = graph_find_gradient_def(graph->graph, function);
  return gradient ? gradient : "";
}

void TF_WasmGraphFindFunction(TF_Graph *graph, const char *name, TF_Buffer *proto, TF_Status *status) {
  start_status(status);
  const FunctionDef *function = graph_find_function(graph->graph, name);
  reported(function ? fill_buffer_with_message(function, proto, &status->status)
                    : status_set(&status->status, CODE_NOT_FOUND, "Function %s is not defined.", name));
}
