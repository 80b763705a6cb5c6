#include "graph/node_evaluate.h"

bool node_compare_types(const Node *node, const DataType *input_types, int num_inputs,
                        const DataType *output_types, int num_outputs, Status *status) {
  bool same = num_inputs == node->num_inputs && num_outputs == node->num_outputs;
  for (int i = 0; same && i < num_inputs; i++) same = input_types[i] == node->input_types[i];
  for (int i = 0; same && i < num_outputs; i++) same = output_types[i] == node->output_types[i];
  return same || status_invalid(status,
                                "Attrs of node '%s' were changed since it was added: they no longer give its "
                                "inputs and outputs",
                                node->name);
}

bool node_check_connected(const Node *node, Status *status) {
  for (int i = 0; i < node->num_inputs; i++) {
    if (node->inputs[i]) continue;
    status_invalid(status, "Input %d of node %s is not connected", i, node->name);
    return node_attach(node->name, status);
  }
  return true;
}

bool node_evaluate(const Node *node, const Tensor *const *inputs, Tensor *outputs, Status *status) {
  Arena *arena = arena_new();
  if (!arena) return status_oom(status, "the types of a node");
  DataType *input_types, *output_types;
  int num_inputs, num_outputs;
  bool ok = node_def_types(node->def, node->op->def, arena, &input_types, &num_inputs, &output_types,
                           &num_outputs, status) &&
            node_compare_types(node, input_types, num_inputs, output_types, num_outputs, status);
  arena_free(arena);
  return ok && op_evaluate(node->op, node->def, inputs, outputs, status);
}
