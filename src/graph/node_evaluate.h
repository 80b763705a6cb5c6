/* What must hold of a node before it runs. Types that follow from its attrs are compared with those that it
 * was made with: attrs can be changed afterwards (TF_SetAttr, TF_ClearAttr); places of values and edges stay
 * as they were. */
#ifndef TFCORE_GRAPH_NODE_EVALUATE_H_
#define TFCORE_GRAPH_NODE_EVALUATE_H_

#include "graph/graph.h"

/* INVALID_ARGUMENT when numbers or types of inputs or outputs differ. */
MUST_CHECK bool node_compare_types(const Node *node, const DataType *input_types, int num_inputs,
                                   const DataType *output_types, int num_outputs, Status *status);
/* INVALID_ARGUMENT "Input 1 of node y is not connected" with the node attached. */
MUST_CHECK bool node_check_connected(const Node *node, Status *status);
/* op_evaluate of a node, whose inputs and outputs are as many as the node has, after that comparison. */
MUST_CHECK bool node_evaluate(const Node *node, const Tensor *const *inputs, Tensor *outputs, Status *status);

#endif
