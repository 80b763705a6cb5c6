/* From a part of a graph to a FunctionDef: what TF_GraphToFunction does, and how the gradient of a loss is
 * shown as text. */
#ifndef TFCORE_FUNCTION_GRAPH_TO_FUNCTION_H_
#define TFCORE_FUNCTION_GRAPH_TO_FUNCTION_H_

#include "graph/graph.h"

typedef struct GraphToFunctionOptions {
  const char *name;
  const NodeOutput *inputs; /* become the arguments, in this order; no value twice */
  int num_inputs;
  const NodeOutput *outputs; /* become the results; may be inputs, and may repeat */
  int num_outputs;
  const char *const *output_names; /* NULL: made from the names of the nodes */
  Node *const *nodes;              /* the body; NULL: what the outputs need, up to the inputs */
  int64_t num_nodes;
  Node *const *control_outputs; /* nodes of the body that run in every call; outputs need not need them */
  int num_control_outputs;
  const char *const *control_output_names; /* NULL: the names of the nodes */
} GraphToFunctionOptions;

/* Everything in `arena`; attr values are shared with the graph. Arguments and results are named after their
 * nodes, in lower case with '_' for what an argument's name cannot hold, and unique; nodes keep their
 * names, made unique beside the arguments. Types are concrete: the function has no attrs. INVALID_ARGUMENT
 * for values that do not belong to the graph, references, repeated inputs, and for a node of the body that
 * needs a value which is neither an input nor in the body. Control edges from outside the body are dropped.
 */
MUST_CHECK bool graph_to_function(const Graph *graph, const GraphToFunctionOptions *options, Arena *arena,
                                  FunctionDef **function, Status *status);

#endif
