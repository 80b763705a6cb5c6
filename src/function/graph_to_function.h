/* Makes a FunctionDef of a part of a graph, as TF_GraphToFunction does. The gradient of a loss is also
 * shown as text in this way. */
#ifndef TFCORE_FUNCTION_GRAPH_TO_FUNCTION_H_
#define TFCORE_FUNCTION_GRAPH_TO_FUNCTION_H_

#include "graph/graph.h"

typedef struct GraphToFunctionOptions {
  const char *name;
  const NodeOutput *inputs; /* become the arguments, in this order; without duplicates */
  int num_inputs;
  const NodeOutput *outputs; /* become the results; may be inputs, and may be repeated */
  int num_outputs;
  const char *const *output_names; /* NULL: made from the names of the nodes */
  Node *const *nodes;              /* the body; NULL: what the outputs need, up to the inputs */
  int64_t num_nodes;
  bool all_nodes; /* the body is every node that is not an input; input nodes then have one output */
  Node *const
      *control_outputs; /* nodes of the body that run in every call, whether or not outputs need them */
  int num_control_outputs;
  const char *const *control_output_names; /* NULL: the names of the nodes */
  bool keep_arg_attrs;                     /* arg_attr gets the internal attrs and the shape of input nodes */
} GraphToFunctionOptions;

/* Everything in `arena`; attr values are shared with the graph.
 *
 * Results, arguments and nodes share one space of names and take theirs in this order: a name that is
 * taken gets the suffix _0, _1, ... Arguments, and results without `output_names`, are named after their
 * nodes, in lower case from the first letter on, with '_' for what an argument's name cannot hold; nodes
 * keep their names. Types are concrete. Placeholders of attrs in the body become attrs of the function.
 * With `keep_arg_attrs` arg_attr of an argument has the attrs of its node that begin with '_', and
 * `_output_shapes` from attr `shape` of any node but a resource's, and from the value of a Const.
 *
 * INVALID_ARGUMENT for values that do not belong to the graph, references, repeated inputs and output
 * names, and for a node of the body that needs a value or a control edge from outside. OUT_OF_RANGE for
 * outputs that nodes do not have. UNIMPLEMENTED for a placeholder of an attr that the op does not have. */
MUST_CHECK bool graph_to_function(const Graph *graph, const GraphToFunctionOptions *options, Arena *arena,
                                  FunctionDef **function, Status *status);

#endif
