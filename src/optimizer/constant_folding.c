#include "optimizer/constant_folding.h"

#include "graph/node_class.h"
#include "graph/node_evaluate.h"

/* Assign may give a variable another shape than was declared. */
static bool reads_references(const Node *node) {
  for (int i = 0; i < node->num_inputs; i++) {
    const Edge *edge = node->inputs[i];
    if (edge && dtype_is_ref(edge->src->output_types[edge->src_output])) return true;
  }
  return false;
}

bool node_reads_only_shapes(const Node *node) { return node_is_shape_query(node) && !reads_references(node); }

static void clear_outputs(const Node *node, Tensor *outputs) {
  for (int i = 0; i < node->num_outputs; i++) tensor_clear(&outputs[i]);
}

/* The outputs of a shape op, when inference knows all of them. */
static bool fold_shapes(Graph *graph, const Node *node, Tensor *outputs, bool *folded, Status *status) {
  *folded = true;
  for (int i = 0; i < node->num_outputs && *folded; i++) {
    if (!graph_constant_value(graph, (NodeOutput){(Node *)node, i}, &outputs[i], folded, status)) {
      clear_outputs(node, outputs);
      return *folded = false;
    }
  }
  if (!*folded) clear_outputs(node, outputs);
  return true;
}

bool node_fold_constant(Graph *graph, const Node *node, const Tensor *const *inputs, bool trust_shapes,
                        Tensor *outputs, bool *folded, Status *status) {
  *folded = false;
  if (!node->op || node->op->def->is_stateful || node->num_outputs == 0) return true;
  if (trust_shapes && node_reads_only_shapes(node)) {
    TRY(fold_shapes(graph, node, outputs, folded, status));
    if (*folded) return true;
  }
  for (int i = 0; i < node->num_inputs; i++) {
    if (!inputs[i]) return true;
  }
  Status failure;
  status_init(&failure);
  if (!node_evaluate(node, inputs, outputs, &failure)) {
    clear_outputs(node, outputs);
    return true;
  }
  int64_t bytes = 0;
  for (int i = 0; i < node->num_outputs; i++) bytes += tensor_bytes(&outputs[i]);
  *folded = bytes <= CONSTANT_FOLDING_MAX_BYTES;
  if (!*folded) clear_outputs(node, outputs);
  return true;
}
