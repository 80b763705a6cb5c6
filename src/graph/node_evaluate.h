/* Checks of a node before it runs. The types that follow from its attrs are compared with those that it was
 * made with: attrs can be changed later (TF_SetAttr, TF_ClearAttr), while slots and edges stay as they
 * were. */
#ifndef TFCORE_GRAPH_NODE_EVALUATE_H_
#define TFCORE_GRAPH_NODE_EVALUATE_H_

#include "graph/graph.h"

/* INVALID_ARGUMENT when the numbers or types of inputs or outputs differ. */
MUST_CHECK bool node_compare_types(const Node *node, const DataType *input_types, int num_inputs,
                                   const DataType *output_types, int num_outputs, Status *status);
/* INVALID_ARGUMENT "Input 1 of node y is not connected" with the node attached. */
MUST_CHECK bool node_check_connected(const Node *node, Status *status);
/* op_evaluate for a node, after that comparison. `inputs` and `outputs` have the node's numbers of
 * entries. */
MUST_CHECK bool node_evaluate(const Node *node, const Tensor *const *inputs, Tensor *outputs, Status *status);

#endif
